//! Choosing channels by the electrode that their names mean.
//!
//! Names are compared without regard to case, trailing dots (`"Fc5."`), an `EEG` prefix
//! (`"EEG Fz"`, `"EEG-Fz"`), a reference suffix (`"C3-REF"`, `"C3-LE"`), and with the older 10–20
//! names `T3 = T7`, `T4 = T8`, `T5 = P7`, `T6 = P8`.

use crate::units::{excerpt, listed};
use crate::{Channel, ChannelKind, Epochs, FormatError, Recording, Result};

/// Returns the spelling under which electrodes are compared: upper case, without prefix, suffix or
/// dots.
///
/// ```
/// use stiefel_formats::electrode::key;
/// assert_eq!(key("EEG T3-REF"), "T7");
/// assert_eq!(key("Fc5."), key("FC5"));
/// ```
pub fn key(name: &str) -> String {
    let upper = name.trim().to_ascii_uppercase();
    let mut rest = upper.as_str();
    if let Some(stripped) = rest.strip_prefix("EEG") {
        // "EEG Fz" and "EEG-Fz" name an electrode; "EEG1" and "EEG-0" number a channel.
        let electrode = stripped.trim_start_matches([' ', '-', '_', ':']);
        let named = electrode.starts_with(|c: char| c.is_ascii_alphabetic());
        if named && electrode.len() < stripped.len() {
            rest = electrode;
        }
    }
    for suffix in ["-REF", "-LE", "-AVG", "-AVE", "-AR"] {
        if let Some(stripped) = rest.strip_suffix(suffix).filter(|s| !s.is_empty()) {
            rest = stripped.trim_end();
        }
    }
    let rest = rest.trim_end_matches('.').trim();
    match rest {
        "T3" => "T7".into(),
        "T4" => "T8".into(),
        "T5" => "P7".into(),
        "T6" => "P8".into(),
        _ => rest.into(),
    }
}

/// Finds each of the named channels. An exact name wins over one that only means the same
/// electrode.
pub fn find(channels: &[Channel], names: &[impl AsRef<str>]) -> Result<Vec<usize>> {
    let keys: Vec<String> = channels.iter().map(|c| key(&c.name)).collect();
    let mut found = Vec::with_capacity(names.len());
    let mut missing = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let wanted = key(name);
        let exact: Vec<usize> = (0..channels.len())
            .filter(|&i| channels[i].name == name)
            .collect();
        let alike: Vec<usize> = (0..channels.len()).filter(|&i| keys[i] == wanted).collect();
        let candidates = if exact.is_empty() { alike } else { exact };
        match candidates[..] {
            [] => missing.push(name.to_string()),
            [one] if found.contains(&one) => return Err(twice(name, &channels[one].name)),
            [one] => found.push(one),
            _ => {
                return Err(ambiguous(
                    name,
                    candidates.iter().map(|&i| channels[i].name.as_str()),
                ));
            }
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
    Err(FormatError::Setting {
        what: format!(
            "there is no channel {}; the channels are {}",
            listed(&missing),
            listed(&names)
        ),
        remedy: "choose among the channels there are, or rename them".into(),
    })
}

/// Tells which channels a reader decodes: those that are named or mean the same electrode, and
/// marker channels; all of them where one of the names is not there, so that whoever picks can say
/// which there are.
pub(crate) fn wanted(channels: &[(&str, ChannelKind)], names: Option<&[String]>) -> Vec<bool> {
    let Some(names) = names else {
        return vec![true; channels.len()];
    };
    let keys: Vec<String> = names.iter().map(|n| key(n)).collect();
    let own: Vec<String> = channels.iter().map(|(name, _)| key(name)).collect();
    if keys.iter().any(|k| !own.contains(k)) {
        return vec![true; channels.len()];
    }
    let found = own.iter().map(|k| keys.contains(k));
    let marker = |kind: ChannelKind| kind == ChannelKind::Stim;
    let all = channels.iter().zip(found);
    all.map(|((_, kind), found)| found || marker(*kind))
        .collect()
}

fn twice(name: &str, channel: &str) -> FormatError {
    FormatError::Invalid {
        what: format!(
            "channel {} was asked for twice, the second time as {}",
            excerpt(channel),
            excerpt(name)
        ),
        remedy: "name every channel once".into(),
    }
}

fn ambiguous<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> FormatError {
    FormatError::Invalid {
        what: format!(
            "{} may be any of the channels {}",
            excerpt(name),
            listed(&candidates.collect::<Vec<_>>())
        ),
        remedy: "give the exact name, or rename the channels".into(),
    }
}

impl Recording {
    /// Returns the named channels, in the order of the names, with all events.
    ///
    /// ```
    /// # use stiefel_formats::{Channel, ChannelKind, Recording};
    /// # let channel = |name: &str| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "µV".into() };
    /// let recording = Recording::new(vec![channel("EEG T3-REF"), channel("Cz..")], 100.0, vec![1., 2.], vec![])?;
    /// let picked = recording.pick(&["Cz", "T7"])?;
    /// assert_eq!(picked.data(), [2.0, 1.0]);
    /// # Ok::<(), stiefel_formats::FormatError>(())
    /// ```
    pub fn pick(&self, names: &[impl AsRef<str>]) -> Result<Recording> {
        self.pick_at(&find(self.channels(), names)?)
    }

    /// Returns the channels of one kind, in order. Refuses to leave none.
    pub fn pick_kind(&self, kind: ChannelKind) -> Result<Recording> {
        let places: Vec<usize> = (0..self.channels().len())
            .filter(|&i| self.channels()[i].kind == kind)
            .collect();
        if places.is_empty() {
            return Err(FormatError::Invalid {
                what: format!(
                    "none of the {} channels is of kind {kind:?}",
                    self.channels().len()
                ),
                remedy: "pick channels by name instead".into(),
            });
        }
        self.pick_at(&places)
    }

    fn pick_at(&self, places: &[usize]) -> Result<Recording> {
        let picked = Recording::new(
            places.iter().map(|&i| self.channels()[i].clone()).collect(),
            self.sampling_rate(),
            places
                .iter()
                .flat_map(|&i| self.channel(i).iter().copied())
                .collect(),
            self.events().to_vec(),
        )?;
        Ok(picked.told_like(self))
    }
}

impl Epochs {
    /// Returns the named channels of every trial, in the order of the names.
    pub fn pick(&self, names: &[impl AsRef<str>]) -> Result<Epochs> {
        let places = find(self.channels(), names)?;
        let t = self.samples();
        let mut data = Vec::with_capacity(self.trials().len() * places.len() * t);
        for trial in 0..self.trials().len() {
            for &i in &places {
                data.extend_from_slice(&self.trial(trial)[i * t..(i + 1) * t]);
            }
        }
        Epochs::new(
            places.iter().map(|&i| self.channels()[i].clone()).collect(),
            self.sampling_rate(),
            t,
            data,
            self.trials().to_vec(),
        )
    }
}
