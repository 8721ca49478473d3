//! Where trials come from, and which of them are one: recordings, spans and sketches.

use super::Trials;
use crate::sketch::{Sketch, Sketches};
use crate::{DataError, Fingerprint, Recorded, Recordings, Result, Span, TrialId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

const OP: &str = "recordings of trials";

/// Recordings, and the span of each trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Located {
    recordings: Arc<Vec<Recorded>>,
    spans: Vec<Span>,
}

impl Located {
    pub(super) fn select(&self, at: &[usize]) -> Self {
        Self {
            recordings: Arc::clone(&self.recordings),
            spans: at.iter().map(|&i| self.spans[i]).collect(),
        }
    }

    /// Joins two lists: a recording that is in both is one.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let mut met: Recordings = self.recordings.iter().map(|r| &r.fingerprint).collect();
        let mut recordings = self.recordings.to_vec();
        let own = self.recordings.len();
        let same = Arc::ptr_eq(&self.recordings, &other.recordings);
        let place = |(place, recorded): (usize, &Recorded)| {
            let known = met.find(&recorded.fingerprint);
            // Recordings of one list stay apart.
            known
                .filter(|&known| known < own && !same)
                .unwrap_or_else(|| {
                    if same {
                        return place;
                    }
                    recordings.push(recorded.clone());
                    met.add(&recorded.fingerprint)
                })
        };
        let places: Vec<usize> = other.recordings.iter().enumerate().map(place).collect();
        let later = other.spans.iter().map(|span| Span {
            recording: places[span.recording],
            ..*span
        });
        Self {
            spans: self.spans.iter().copied().chain(later).collect(),
            recordings: Arc::new(recordings),
        }
    }
}

impl fmt::Display for LabelOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (correlation, pairs) = (self.correlation, self.pairs);
        write!(
            f,
            "labels of neighbours correlate by {correlation:+.2} ({pairs} pairs)"
        )
    }
}

/// How labels follow each other within recordings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelOrder {
    /// The correlation of the label of a trial with that of the next one: 1 where classes come in
    /// one stretch each, about 0 where their order is random, below 0 where they alternate.
    pub correlation: f64,
    /// Pairs of neighbours.
    pub pairs: usize,
}

impl LabelOrder {
    /// Tells whether labels come in stretches, beyond what a random order makes.
    pub fn is_blocked(&self) -> bool {
        // Four standard errors of a random order.
        self.correlation > 0.3_f64.max(4.0 / (self.pairs as f64).sqrt())
    }
}

impl Trials {
    /// Says which recordings the trials come from, and where each of them lies.
    pub fn with_recordings(mut self, recordings: Vec<Recorded>, spans: Vec<Span>) -> Result<Self> {
        super::check_count("spans", self.len(), spans.len())?;
        let count = recordings.len();
        if let Some(trial) = spans.iter().position(|s| s.recording >= count) {
            return Err(DataError::IndexOutOfRange {
                op: OP,
                what: "recording",
                trial,
                index: spans[trial].recording,
                count,
            });
        }
        self.located = Some(Located {
            recordings: Arc::new(recordings),
            spans,
        });
        Ok(self)
    }

    /// Returns the recordings, and where each trial lies, where that is known.
    pub fn recordings(&self) -> Option<(&[Recorded], &[Span])> {
        let located = self.located.as_ref()?;
        Some((&located.recordings, &located.spans))
    }

    /// Says which trials of recordings these are; their windows are not known.
    pub fn with_identities(self, identities: &[TrialId]) -> Result<Self> {
        let mut places: BTreeMap<&Fingerprint, usize> = BTreeMap::new();
        let (mut recordings, mut spans) = (Vec::new(), Vec::new());
        for id in identities {
            let recording = *places.entry(&id.recording).or_insert_with(|| {
                recordings.push(Recorded {
                    fingerprint: id.recording.clone(),
                    rate: 0.0,
                });
                recordings.len() - 1
            });
            spans.push(Span {
                recording,
                onset: id.onset,
                window: [0, 0],
            });
        }
        self.with_recordings(recordings, spans)
    }

    /// Returns the identity of each trial, where their recordings are known.
    pub fn identities(&self) -> Option<Vec<TrialId>> {
        let (recordings, spans) = self.recordings()?;
        let id = |s: &Span| TrialId::at(&recordings[s.recording].fingerprint, s.onset);
        Some(spans.iter().map(id).collect())
    }

    /// Sketches the first view of each trial, its channels in the order of these names where it has
    /// them all.
    pub(crate) fn sketches(&self, channels: Option<&[String]>) -> Vec<Sketch> {
        let broad = self.broad.as_ref().unwrap_or(&self.views[0]);
        let n = broad.rows();
        let named = |names: &[String]| -> Option<Vec<usize>> {
            let own = self.channels.as_ref()?;
            let place = |name: &String| own.iter().position(|own| own == name);
            names.iter().map(place).collect()
        };
        let order = channels.and_then(named).unwrap_or_else(|| (0..n).collect());
        (0..self.len())
            .map(|i| Sketch::of(broad.matrix(i), n, &order))
            .collect()
    }

    /// Returns the trials that are one that came before, each with the first of its kind: of one
    /// recording and onset or, where recordings are not known, of one matrix.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let entry = |i: usize, r, c| {
    ///     if r == c {
    ///         1.0 + ((i % 2) * r) as f64
    ///     } else {
    ///         0.1
    ///     }
    /// };
    /// let x = MatBatch::from_fn(3, 3, 3, entry);
    /// let one = || Factor::from_labels(["a"; 3]);
    /// assert_eq!(Trials::new(x, one(), one())?.repeated(), [(2, 0)]);
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn repeated(&self) -> Vec<(usize, usize)> {
        let with_first = |first: Option<usize>, trial: usize| {
            first
                .filter(|&first| first < trial)
                .map(|first| (trial, first))
        };
        let Some((_, spans)) = self.recordings() else {
            let sketches = self.sketches(None);
            let known: Sketches = sketches.iter().copied().collect();
            let first = |sketch: &Sketch| known.find(sketch).first().copied();
            return (sketches.iter().enumerate())
                .filter_map(|(trial, sketch)| with_first(first(sketch), trial))
                .collect();
        };
        let mut met: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        (spans.iter().enumerate())
            .filter_map(|(trial, span)| {
                let first = *met.entry((span.recording, span.onset)).or_insert(trial);
                with_first(Some(first), trial)
            })
            .collect()
    }

    /// Returns the trials that share samples with each trial: none where recordings are not known.
    pub(crate) fn overlapping(&self) -> Vec<Vec<usize>> {
        let mut with = vec![Vec::new(); self.len()];
        let Some((_, spans)) = self.recordings() else {
            return with;
        };
        let begin = |i: usize| spans[i].window[0].saturating_add_unsigned(spans[i].onset);
        let longest = spans
            .iter()
            .map(|s| s.window[1].saturating_sub(s.window[0]));
        let longest = longest.max().unwrap_or(0).max(0);
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|&i| (spans[i].recording, begin(i), i));
        for (place, &i) in order.iter().enumerate() {
            let near = |&&j: &&usize| {
                spans[j].recording == spans[i].recording && begin(j) - begin(i) <= longest
            };
            for &j in order[place + 1..].iter().take_while(near) {
                if spans[i].overlaps(&spans[j]) {
                    with[i].push(j);
                    with[j].push(i);
                }
            }
        }
        with
    }

    /// Returns how labels follow each other within the recordings or, where these are not known,
    /// the runs of a domain; nothing where there is a single class, or no pair of neighbours.
    ///
    /// ```text
    /// correlation = (share of equal neighbours − Σ_c p_c²) / (1 − Σ_c p_c²)      p_c of the domain
    /// ```
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let order = |labels: [&str; 8]| {
    ///     let (labels, one) = (Factor::from_labels(labels), Factor::from_labels(["s"; 8]));
    ///     Trials::new(MatBatch::identity(8, 3), labels, one).map(|t| t.label_order())
    /// };
    /// let blocks = order(["a", "a", "a", "a", "b", "b", "b", "b"])?.unwrap();
    /// assert!(blocks.correlation > 0.7 && blocks.pairs == 7);
    /// assert!(
    ///     order(["a", "b", "a", "b", "a", "b", "a", "b"])?
    ///         .unwrap()
    ///         .correlation
    ///         < -0.9
    /// );
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn label_order(&self) -> Option<LabelOrder> {
        let (labels, domains) = (self.classes.indices(), self.domains.indices());
        let runs = self.runs.as_ref().map(crate::Factor::indices);
        let spans = self.recordings().map(|(_, spans)| spans);
        // A recording, or else the run of a domain, and the trials of it in time.
        let mut stretches: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        let mut counts: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        for i in 0..self.len() {
            let of = spans.map_or_else(|| runs.map_or(0, |r| r[i]), |spans| spans[i].recording);
            stretches.entry((domains[i], of)).or_default().push(i);
            *counts
                .entry(domains[i])
                .or_default()
                .entry(labels[i])
                .or_default() += 1;
        }
        let chance = |domain: &usize| {
            let counts = counts[domain].values();
            let all: usize = counts.clone().sum();
            counts
                .map(|&c| (c as f64 / all as f64).powi(2))
                .sum::<f64>()
        };
        let (mut pairs, mut equal, mut expected) = (0, 0.0, 0.0);
        for ((domain, _), mut trials) in stretches {
            if let Some(spans) = spans {
                trials.sort_by_key(|&i| spans[i].onset);
            }
            let by_chance = chance(&domain);
            for pair in trials.windows(2) {
                pairs += 1;
                equal += f64::from(u8::from(labels[pair[0]] == labels[pair[1]]));
                expected += by_chance;
            }
        }
        let room = pairs as f64 - expected;
        (room > 1e-9).then(|| LabelOrder {
            correlation: (equal - expected) / room,
            pairs,
        })
    }
}
