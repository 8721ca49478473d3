//! Where data is kept, told by the environment.
//!
//! | | first of |
//! |---|---|
//! | own files | `STIEFEL_DATA`; Linux: `XDG_DATA_HOME/stiefel`, `~/.local/share/stiefel`; macOS: `~/Library/Application Support/stiefel`; Windows: `LOCALAPPDATA\stiefel` |
//! | files of MNE and MOABB | all of `MNE_DATASETS_<set>_PATH`, `MNE_DATA`, both also from `~/.mne/mne-python.json`, and `~/mne_data` |

use std::ffi::OsString;
use std::path::PathBuf;

use super::datasets;
use crate::error::catalogue::{CatalogueError, Result};
use crate::io::read_at_most;

/// Where data is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The folder for own files.
    pub own: PathBuf,
    /// Folders that MNE keeps files in: `Some(key)` for one data set, `None` for all.
    pub(super) mne: Vec<(Option<String>, PathBuf)>,
}

impl Folders {
    /// What the environment of this process says.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| std::env::var_os(name), std::env::home_dir())
    }

    /// Only this folder: nothing of MNE's is used.
    pub fn only(own: impl Into<PathBuf>) -> Self {
        Self {
            own: own.into(),
            mne: Vec::new(),
        }
    }

    /// The same, looking into one more folder of MNE's.
    pub fn with_mne(mut self, folder: impl Into<PathBuf>) -> Self {
        self.mne.push((None, folder.into()));
        self
    }

    /// What these variables and this home folder say.
    ///
    /// ```
    /// use stiefel_eeg::catalogue::Folders;
    /// let set = |name: &str| (name == "STIEFEL_DATA").then(|| "/data/eeg".into());
    /// let folders = Folders::from_variables(set, Some("/data/ada".into()))?;
    /// assert_eq!(folders.own, std::path::Path::new("/data/eeg"));
    /// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
    /// ```
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = home.filter(|h| !h.as_os_str().is_empty());
        let platform = || -> Option<PathBuf> {
            let base = if cfg!(windows) {
                set("LOCALAPPDATA")
            } else if cfg!(target_os = "macos") {
                Some(home.as_ref()?.join("Library/Application Support"))
            } else {
                // The XDG specification: a relative path is to be ignored.
                let xdg = set("XDG_DATA_HOME").filter(|p| p.is_absolute());
                xdg.or_else(|| Some(home.as_ref()?.join(".local/share")))
            };
            Some(base?.join("stiefel"))
        };
        let own = set("STIEFEL_DATA").or_else(platform);
        let mne = mne_folders(set, home.as_ref());
        Ok(Self {
            own: own.ok_or(CatalogueError::NoFolder)?,
            mne,
        })
    }
}

fn mne_folders(
    set: impl Fn(&str) -> Option<PathBuf>,
    home: Option<&PathBuf>,
) -> Vec<(Option<String>, PathBuf)> {
    let config = home.and_then(|h| read_at_most(&h.join(".mne/mne-python.json"), 16 << 20).ok());
    let config = config.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let configured = |name: &str| {
        let text = config.as_ref()?.get(name)?.as_str()?;
        Some(match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        })
    };
    let both = |name: &str| [set(name), configured(name)].into_iter().flatten();
    let mut folders = Vec::new();
    let mut keys: Vec<_> = datasets().iter().map(|d| d.files.mne_key).collect();
    keys.dedup();
    for key in keys.into_iter().filter(|key| !key.is_empty()) {
        let found = both(&format!("MNE_DATASETS_{key}_PATH"));
        folders.extend(found.map(|path| (Some(key.to_string()), path)));
    }
    folders.extend(both("MNE_DATA").map(|path| (None, path)));
    folders.extend(home.map(|home| (None, home.join("mne_data"))));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(variables: &[(&str, &str)], home: Option<&str>) -> Result<Folders> {
        let get = |name: &str| {
            let found = variables.iter().find(|v| v.0 == name);
            found.map(|v| v.1.into())
        };
        Folders::from_variables(get, home.map(Into::into))
    }

    #[test]
    fn the_environment_decides() {
        let set = [
            ("STIEFEL_DATA", "/d"),
            ("XDG_DATA_HOME", "/x"),
            ("MNE_DATA", "/m"),
            ("MNE_DATASETS_BNCI_PATH", "/b"),
        ];
        let found = folders(&set, Some("/h")).unwrap();
        assert_eq!(found.own, PathBuf::from("/d"));
        let mne: Vec<_> = found
            .mne
            .iter()
            .map(|(k, p)| (k.as_deref(), p.to_str().unwrap()))
            .collect();
        assert_eq!(
            mne,
            [(Some("BNCI"), "/b"), (None, "/m"), (None, "/h/mne_data")]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn xdg_then_home_then_nothing() {
        assert_eq!(
            folders(&[("XDG_DATA_HOME", "/x")], Some("/h")).unwrap().own,
            PathBuf::from("/x/stiefel")
        );
        for ignored in [
            vec![],
            vec![("XDG_DATA_HOME", "")],
            vec![("XDG_DATA_HOME", "here")],
            vec![("STIEFEL_DATA", "")],
        ] {
            assert_eq!(
                folders(&ignored, Some("/h")).unwrap().own,
                PathBuf::from("/h/.local/share/stiefel")
            );
        }
        assert!(matches!(folders(&[], None), Err(CatalogueError::NoFolder)));
    }
}
