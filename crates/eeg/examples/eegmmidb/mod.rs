//! What the examples on PhysioNet's EEG Motor Movement/Imagery recordings share: `edf/SsssRrr.edf`,
//! 64 channels, 160 Hz.

use std::path::{Path, PathBuf};
use stiefel_eeg::recipe::Recipe;
use stiefel_eeg::{EegError, Result};

/// One recording.
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    pub(crate) subject: u32,
    pub(crate) number: u32,
}

impl Run {
    /// What the file's name says: `S001R04.edf`.
    fn named(path: PathBuf) -> Option<Self> {
        let stem = path.file_stem()?.to_str()?;
        let (subject, run) = stem.strip_prefix('S')?.split_once('R')?;
        let (subject, number) = (subject.parse().ok()?, run.parse().ok()?);
        Some(Self {
            path,
            subject,
            number,
        })
    }

    /// The classes that the cues T1 and T2 stand for; the fists take turns with fists and feet.
    fn classes(&self) -> Result<[(&'static str, &'static str); 2]> {
        match self.number {
            4 | 8 | 12 => Ok([("T1", "left_hand"), ("T2", "right_hand")]),
            6 | 10 | 14 => Ok([("T1", "both_hands"), ("T2", "feet")]),
            run => Err(invalid(
                format!("{}: run {run} holds no imagery", self.path.display()),
                "give runs 4, 6, 8, 10, 12 or 14",
            )),
        }
    }

    /// 8–32 Hz, 0.5–3.5 s, sample covariance; no trial is rejected.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        let classes = self
            .classes()?
            .map(|(label, class)| (label.into(), class.into()));
        Ok(Recipe {
            classes: classes.to_vec(),
            reject: None,
            ..Recipe::default()
        })
    }
}

/// The recordings of a folder, by name.
pub(crate) fn runs(folder: &Path) -> Result<Vec<Run>> {
    let edf = folder.join("edf");
    let io = |source| EegError::Io {
        path: edf.clone(),
        source,
    };
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(&edf).map_err(io)? {
        runs.extend(Run::named(entry.map_err(io)?.path()));
    }
    runs.sort_by(|a, b| a.path.cmp(&b.path));
    if runs.is_empty() {
        return Err(invalid(
            format!("{} holds no recording SsssRrr.edf", edf.display()),
            "name the folder that holds edf/S001R04.edf and others",
        ));
    }
    Ok(runs)
}

pub(crate) fn invalid(what: String, remedy: &str) -> EegError {
    EegError::Invalid {
        what,
        remedy: remedy.into(),
    }
}
