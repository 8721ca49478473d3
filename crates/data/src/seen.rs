//! The trials a model has seen, and the fingerprint of a whole set.

use crate::identity::ids;
use crate::{DataError, Factor, Result, TrialId, Trials, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// What a model knows of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Nothing: its decision says how well the model decides.
    #[default]
    New,
    /// It chose when to stop, or which penalty to take.
    Chose,
    /// The parameters were fitted on it.
    Trained,
}

impl Role {
    /// Names what the trial did for the model, where it did something.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::New => None,
            Self::Chose => Some("chose"),
            Self::Trained => Some("trained"),
        }
    }
}

/// The trials a model was made with: those it was trained on, and those that chose its epoch or its penalty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Seen {
    /// Trials that the parameters were fitted on.
    pub trained: BTreeSet<TrialId>,
    /// Trials that only chose when to stop, or which penalty to take.
    pub stopped: BTreeSet<TrialId>,
    /// The matrices of both where their recordings are known, for trials that come without.
    matrices: [BTreeSet<TrialId>; 2],
}

impl Seen {
    /// Remembers the trials of a fit.
    pub fn of(training: &Trials, validation: &Trials) -> Self {
        let mut seen = Self::default();
        seen.learn(training);
        let stopped = validation.identities().into_iter();
        seen.stopped = stopped.filter(|id| !seen.trained.contains(id)).collect();
        if validation.has_recordings() {
            seen.matrices[1].extend(validation.matrix_identities());
        }
        seen
    }

    /// Remembers trials that a model was trained on.
    pub fn learn(&mut self, trials: &Trials) {
        self.trained.extend(trials.identities());
        if trials.has_recordings() {
            self.matrices[0].extend(trials.matrix_identities());
        }
    }

    /// Counts those that only chose as trained on, too.
    pub fn learn_stopped(&mut self) {
        self.trained.append(&mut self.stopped);
        let [trained, stopped] = &mut self.matrices;
        trained.append(stopped);
    }

    /// Tells whether nothing is remembered, as of a model that another program wrote.
    pub fn is_empty(&self) -> bool {
        self.trained.is_empty() && self.stopped.is_empty()
    }

    /// Tells what is known of the trial of a recording.
    pub fn role(&self, id: &TrialId) -> Role {
        match (self.trained.contains(id), self.stopped.contains(id)) {
            (true, _) => Role::Trained,
            (false, true) => Role::Chose,
            (false, false) => Role::New,
        }
    }

    /// Places of the trials by what the model knows of them: trained on, stopped on, new.
    pub fn divide(&self, trials: &Trials) -> [Vec<usize>; 3] {
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        let matrices = trials.matrix_identities();
        for (place, (id, matrix)) in trials.identities().iter().zip(&matrices).enumerate() {
            let knows = |ids: &BTreeSet<TrialId>, matrices: &BTreeSet<TrialId>| {
                [id, matrix]
                    .iter()
                    .any(|id| ids.contains(id) || matrices.contains(id))
            };
            let part = match [
                knows(&self.trained, &self.matrices[0]),
                knows(&self.stopped, &self.matrices[1]),
            ] {
                [true, _] => 0,
                [false, true] => 1,
                [false, false] => 2,
            };
            parts[part].push(place);
        }
        parts
    }
}

/// Identities as one text of hexadecimal digits each, 32 to a trial.
#[derive(Serialize, Deserialize)]
struct Text {
    trained: String,
    stopped: String,
    #[serde(default, skip_serializing_if = "no_matrices")]
    matrices: [String; 2],
}

fn no_matrices(texts: &[String; 2]) -> bool {
    texts.iter().all(String::is_empty)
}

impl From<Seen> for Text {
    fn from(seen: Seen) -> Self {
        let text = |ids: &BTreeSet<TrialId>| ids.iter().map(ToString::to_string).collect();
        Self {
            trained: text(&seen.trained),
            stopped: text(&seen.stopped),
            matrices: seen.matrices.each_ref().map(text),
        }
    }
}

impl TryFrom<Text> for Seen {
    type Error = DataError;

    fn try_from(text: Text) -> Result<Self> {
        Ok(Self {
            trained: ids(&text.trained)?,
            stopped: ids(&text.stopped)?,
            matrices: [ids(&text.matrices[0])?, ids(&text.matrices[1])?],
        })
    }
}

/// SHA-256 of everything in a set of trials that can change a result.
pub fn fingerprint(trials: &Trials) -> String {
    let mut hash = Sha256::new();
    let mut text = |parts: &[String]| {
        hash.update((parts.len() as u64).to_le_bytes());
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    };
    text(trials.channels().unwrap_or_default());
    let factors = [
        Some(trials.classes()),
        Some(trials.domains()),
        trials.runs(),
    ];
    for factor in factors.iter().flatten() {
        text(factor.names());
    }
    for factor in factors {
        hash.update([u8::from(factor.is_some())]);
        for &index in factor.map_or(&[][..], Factor::indices) {
            hash.update((index as u64).to_le_bytes());
        }
    }
    for view in 0..trials.views() {
        for values in trials.view(view).data().chunks(4096) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            hash.update(bytes);
        }
    }
    hex(&hash.finalize())
}
