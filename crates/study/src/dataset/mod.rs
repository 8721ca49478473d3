//! What a study runs on: trials with the subject and session of each, under a name.
//!
//! A source is
//! * `synthetic:GEOMETRY` (`weibo2014`, `bnci2014001`, `bnci2015001`), with `,key=value` for `subjects`, `trials` (per class and session),
//!   `seed`, `anatomy` (how much people differ), for instance `synthetic:weibo2014,subjects=4,trials=20`;
//! * the name of a public dataset (`stiefel data list`) whose files are here, with all its subjects and classes; `weibo2014:paper`,
//!   `bnci2014001:paper` and `bnci2015001:paper` are what the paper used: right hand against feet, Weibo's subjects 1–9;
//! * a file of covariances (`.npz`), with what [`prepare`](crate::prepare) left beside it.
//!
//! A domain called `S03-2` is session 2 of subject `S03`; a run called `2/5` is run 5 of session 2.

mod bridge;
mod fingerprint;
mod select;
mod source;

pub use bridge::{synthetic_trials, trials_of};
pub use select::{ChannelChoice, DataChoice};
pub(crate) use source::of_set;
pub use source::{load, load_watched};

pub(crate) use fingerprint::{hex, of as fingerprint};
pub(crate) use select::sub_montage;

use crate::{DatasetSummary, Result};
use serde::{Deserialize, Serialize};
use stiefel_model::{Factor, Trials};

/// Trials with the subject and, where known, the session of each.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// What it is.
    pub summary: DatasetSummary,
    /// The trials.
    pub trials: Trials,
    /// The session of each trial, where known.
    pub sessions: Option<Factor>,
}

/// What is known of a dataset beside its trials.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Trials left out for their amplitude, per domain.
    pub rejected: Vec<(String, usize)>,
    /// How the covariances were made.
    pub preparation: Option<String>,
    /// Licence of the recordings.
    pub licence: Option<String>,
    /// How to cite them.
    pub citation: Option<String>,
}

impl Dataset {
    /// Names trials and finds subjects and sessions from the names of domains and runs.
    ///
    /// ```
    /// use stiefel_study::{Dataset, Provenance};
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::{Factor, Trials};
    /// let trials = Trials::new(
    ///     MatBatch::identity(3, 2),
    ///     Factor::from_labels(["hand", "feet", "hand"]),
    ///     Factor::from_labels(["S1-a", "S1-b", "S2-a"]),
    /// )?;
    /// let data = Dataset::new("mine", trials, Provenance::default())?;
    /// assert_eq!(data.summary.subjects, ["S1", "S2"]);
    /// assert_eq!(data.sessions.unwrap().names(), ["a", "b"]);
    /// # Ok::<(), stiefel_study::StudyError>(())
    /// ```
    pub fn new(name: impl Into<String>, trials: Trials, provenance: Provenance) -> Result<Self> {
        let domains = trials.domains().names().to_vec();
        let split: Vec<(&str, Option<&str>)> = domains.iter().map(|d| subject_session(d)).collect();
        let subjects = Factor::from_labels(split.iter().map(|(subject, _)| *subject));
        let of_domain = |i: usize| split[trials.domains().indices()[i]].1;
        let of_run = |i: usize| -> Option<&str> {
            let runs = trials.runs()?;
            Some(runs.name(runs.indices()[i]).split_once('/')?.0)
        };
        let each: Option<Vec<&str>> = (0..trials.len())
            .map(|i| of_domain(i).or_else(|| of_run(i)))
            .collect();
        let sessions = each.map(Factor::from_labels).filter(|f| !f.is_empty());
        let channels = match trials.channels() {
            Some(names) => names.to_vec(),
            None => (1..=trials.channels_count())
                .map(|c| c.to_string())
                .collect(),
        };
        let summary = DatasetSummary {
            name: name.into(),
            fingerprint: fingerprint::of(&trials),
            trials: trials.len(),
            channels,
            classes: trials.classes().names().to_vec(),
            subjects: subjects.names().to_vec(),
            subject_of_domain: subjects.indices().to_vec(),
            domains,
            rejected: provenance.rejected,
            preparation: provenance.preparation,
            licence: provenance.licence,
            citation: provenance.citation,
        };
        Ok(Self {
            summary,
            trials,
            sessions,
        })
    }

    /// The subject of each trial.
    pub fn subjects(&self) -> Vec<usize> {
        let of = &self.summary.subject_of_domain;
        let domains = self.trials.domains().indices();
        domains.iter().map(|&d| of[d]).collect()
    }
}

impl From<&DatasetSummary> for Provenance {
    fn from(summary: &DatasetSummary) -> Self {
        Self {
            rejected: summary.rejected.clone(),
            preparation: summary.preparation.clone(),
            licence: summary.licence.clone(),
            citation: summary.citation.clone(),
        }
    }
}

/// `S03-2` is session 2 of subject `S03`; a name whose part before the last dash has no digit (`sub-01`) is a subject.
pub(crate) fn subject_session(domain: &str) -> (&str, Option<&str>) {
    match domain.rsplit_once('-') {
        Some((subject, session))
            if subject.bytes().any(|b| b.is_ascii_digit()) && !session.is_empty() =>
        {
            (subject, Some(session))
        }
        _ => (domain, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_domains_tell_subject_and_session() {
        for (name, expected) in [
            ("S03-2", ("S03", Some("2"))),
            ("sub-01", ("sub-01", None)),
            ("7", ("7", None)),
            ("sub-01_ses-02", ("sub-01_ses", Some("02"))),
            ("S1-", ("S1-", None)),
        ] {
            assert_eq!(subject_session(name), expected);
        }
    }
}
