//! The trials a model has seen, and the fingerprint of a whole set.

use crate::identity::{Recordings, hex};
use crate::sketch::{self, Sketch, Sketches};
use crate::{DataError, Factor, Fingerprint, Result, Span, TrialId, Trials};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

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

/// The trials a model was made with: those it was trained on, and those that chose its epoch or its
/// penalty.
///
/// A trial is known by its recording and onset, and by a sketch of its first view: whichever of the
/// two a set of trials has. A trial that shares samples with one of these is known, too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Seen {
    /// The channels of the sketches, in order, where they have names.
    channels: Option<Vec<String>>,
    recordings: Vec<Fingerprint>,
    trained: Known,
    stopped: Known,
}

/// Trials by what they are known by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Known {
    spans: Vec<Span>,
    // One for each trial.
    sketches: Vec<Sketch>,
}

impl Seen {
    /// Remembers the trials of a fit.
    pub fn of(training: &Trials, validation: &Trials) -> Self {
        let mut seen = Self::default();
        seen.learn(training);
        let [.., new] = seen.parts(validation, Span::is_same);
        seen.add(validation, &new, Role::Chose);
        seen
    }

    /// Remembers trials that a model was trained on.
    pub fn learn(&mut self, trials: &Trials) {
        if self.is_empty() {
            self.channels = trials.channels().map(<[String]>::to_vec);
        }
        let [known, ..] = self.parts(trials, Span::is_same);
        let known: std::collections::BTreeSet<usize> = known.into_iter().collect();
        let new: Vec<usize> = (0..trials.len()).filter(|i| !known.contains(i)).collect();
        self.add(trials, &new, Role::Trained);
    }

    /// Counts those that only chose as trained on, too.
    pub fn learn_stopped(&mut self) {
        self.trained.spans.append(&mut self.stopped.spans);
        self.trained.sketches.append(&mut self.stopped.sketches);
    }

    /// Tells whether nothing is remembered, as of a model that another program wrote.
    pub fn is_empty(&self) -> bool {
        self.trained_count() + self.stopped_count() == 0
    }

    /// Returns how many trials the parameters were fitted on.
    pub fn trained_count(&self) -> usize {
        self.trained.sketches.len()
    }

    /// Returns how many trials only chose when to stop, or which penalty to take.
    pub fn stopped_count(&self) -> usize {
        self.stopped.sketches.len()
    }

    /// Returns places of the trials by what the model knows of them: trained on, stopped on, new.
    pub fn divide(&self, trials: &Trials) -> [Vec<usize>; 3] {
        self.parts(trials, Span::overlaps)
    }

    /// Returns the places of trials that the model was made with: the same ones, not those that
    /// merely share samples with one.
    pub fn repeated(&self, trials: &Trials) -> Vec<usize> {
        let [trained, stopped, _] = self.parts(trials, Span::is_same);
        let mut known = [trained, stopped].concat();
        known.sort_unstable();
        known
    }

    /// Returns what is known of the trial of a recording, or of one that shares samples with it
    /// where its windows are those of the model's own trials.
    ///
    /// ```
    /// use stiefel_data::{Factor, Fingerprint, Recorded, Role, Seen, Span, TrialId, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let fingerprint = Fingerprint::of([&[0.0, 1.0, 3.0, 2.0][..]]);
    /// let one = || Factor::from_labels(["a"]);
    /// let span = Span {
    ///     recording: 0,
    ///     onset: 160,
    ///     window: [80, 560],
    /// };
    /// let recorded = Recorded {
    ///     fingerprint: fingerprint.clone(),
    ///     rate: 160.0,
    /// };
    /// let trials = Trials::new(MatBatch::identity(1, 3), one(), one())?
    ///     .with_recordings(vec![recorded], vec![span])?;
    /// let mut seen = Seen::default();
    /// seen.learn(&trials);
    /// assert_eq!(seen.role(&TrialId::at(&fingerprint, 160)), Role::Trained);
    /// assert_eq!(seen.role(&TrialId::at(&fingerprint, 960)), Role::New);
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn role(&self, id: &TrialId) -> Role {
        let mut recordings = self.recordings.iter();
        let Some(recording) = recordings.position(|r| r.is_same(&id.recording)) else {
            return Role::New;
        };
        let meets = |other: &Span| {
            let window = other.window;
            let onset = id.onset;
            other.overlaps(&Span {
                recording,
                onset,
                window,
            })
        };
        let known = |part: &Known| part.spans.iter().any(meets);
        match (known(&self.trained), known(&self.stopped)) {
            (true, _) => Role::Trained,
            (false, true) => Role::Chose,
            (false, false) => Role::New,
        }
    }

    fn parts(&self, trials: &Trials, meets: fn(&Span, &Span) -> bool) -> [Vec<usize>; 3] {
        let here = self.spans(trials);
        let sketches = trials.sketches(self.channels.as_deref());
        let known = [&self.trained, &self.stopped].map(|part| part.find(&here, &sketches, meets));
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for place in 0..trials.len() {
            let part = known.iter().position(|known| known[place]).unwrap_or(2);
            parts[part].push(place);
        }
        parts
    }

    /// Returns where trials lie among the recordings of this, those of unknown recordings nowhere.
    fn spans(&self, trials: &Trials) -> Vec<Option<Span>> {
        let Some((recordings, spans)) = trials.recordings() else {
            return vec![None; trials.len()];
        };
        let met: Recordings = self.recordings.iter().collect();
        let places: Vec<Option<usize>> = (recordings.iter())
            .map(|r| met.find(&r.fingerprint))
            .collect();
        let of = |span: &Span| {
            let recording = places[span.recording]?;
            Some(Span { recording, ..*span })
        };
        spans.iter().map(of).collect()
    }

    fn add(&mut self, trials: &Trials, at: &[usize], part: Role) {
        let sketches = trials.sketches(self.channels.as_deref());
        let mut spans = Vec::new();
        if let Some((recordings, all)) = trials.recordings() {
            let mut met: Recordings = self.recordings.iter().collect();
            let mut places: BTreeMap<usize, usize> = BTreeMap::new();
            for &i in at {
                let here = all[i].recording;
                let recording = *places.entry(here).or_insert_with(|| {
                    let fingerprint = &recordings[here].fingerprint;
                    met.find(fingerprint).unwrap_or_else(|| {
                        self.recordings.push(fingerprint.clone());
                        met.add(fingerprint)
                    })
                });
                spans.push(Span {
                    recording,
                    ..all[i]
                });
            }
        }
        let known = match part {
            Role::Trained => &mut self.trained,
            Role::Chose => &mut self.stopped,
            Role::New => return,
        };
        known.spans.extend(spans);
        known.sketches.extend(at.iter().map(|&i| sketches[i]));
    }
}

impl Known {
    /// Tells of each trial whether it is among these.
    fn find(
        &self,
        spans: &[Option<Span>],
        sketches: &[Sketch],
        meets: fn(&Span, &Span) -> bool,
    ) -> Vec<bool> {
        let known: Sketches = self.sketches.iter().copied().collect();
        let mut of: BTreeMap<usize, Vec<&Span>> = BTreeMap::new();
        for span in &self.spans {
            of.entry(span.recording).or_default().push(span);
        }
        let met = |span: &Span| {
            let mut others = of.get(&span.recording).into_iter().flatten();
            others.any(|other| meets(other, span))
        };
        (spans.iter().zip(sketches))
            .map(|(span, sketch)| span.as_ref().is_some_and(met) || !known.find(sketch).is_empty())
            .collect()
    }
}

/// What a file keeps.
#[derive(Serialize, Deserialize)]
struct Text {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channels: Option<Vec<String>>,
    recordings: Vec<Fingerprint>,
    trained: PartText,
    stopped: PartText,
}

#[derive(Serialize, Deserialize)]
struct PartText {
    spans: Vec<Span>,
    sketches: String,
}

impl From<Seen> for Text {
    fn from(seen: Seen) -> Self {
        let part = |known: Known| PartText {
            spans: known.spans,
            sketches: sketch::text(&known.sketches),
        };
        Self {
            channels: seen.channels,
            recordings: seen.recordings,
            trained: part(seen.trained),
            stopped: part(seen.stopped),
        }
    }
}

impl TryFrom<Text> for Seen {
    type Error = DataError;

    fn try_from(text: Text) -> Result<Self> {
        let count = text.recordings.len();
        let part = |part: PartText| {
            if let Some(span) = part.spans.iter().find(|s| s.recording >= count) {
                return Err(DataError::Impossible {
                    op: "identities of trials",
                    why: format!(
                        "there is no recording {}, there are {count}",
                        span.recording
                    ),
                    remedy: "recordings are counted from 0",
                });
            }
            Ok(Known {
                spans: part.spans,
                sketches: sketch::sketches(&part.sketches)?,
            })
        };
        Ok(Self {
            channels: text.channels,
            trained: part(text.trained)?,
            stopped: part(text.stopped)?,
            recordings: text.recordings,
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
