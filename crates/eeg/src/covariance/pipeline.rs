//! The whole way from recordings to covariances, one recording in memory at a time.
//!
//! ```text
//! band-pass ─▶ trials around the events ─▶ covariance and peak of each ─▶ rejection within each domain
//! ```
//!
//! A trial has one covariance per view: the broad band and window, and as many others as are asked for. A band is filtered once, however many
//! windows look at it. Rejection needs all trials of a domain, but only their peaks in the broad view, so the samples of a recording are let
//! go as soon as its covariances are there. Data that comes in trials is filtered trial by trial, then cropped to the window.

use std::cell::Cell;
use std::collections::BTreeMap;

use stiefel_data::{Phase, Trials, View};
use stiefel_linalg::MatBatch;

use super::{Estimator, names, reduce, trials_of};
use crate::io::{excerpt, listed};
use crate::signal::{
    self, Band, DomainRejection, Outside, Plan, Rejection, Sos, Window, peak, reject_peaks,
};
use crate::{Channel, EegError, Epochs, Recording, Result, TrialInfo};

/// The steps between a recording and its covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// Order of the Butterworth filter.
    pub order: usize,
    /// Whether it runs both ways, or forwards only.
    pub phase: Phase,
    /// Its band.
    pub band: Band,
    /// Where trials are, relative to their events, and which events.
    pub window: Window,
    /// Further views of each trial.
    pub others: Vec<View>,
    /// Trials are rejected where their peak exceeds median + `deviations`·MAD of their domain; infinity keeps all.
    pub deviations: f64,
    /// How covariances are estimated.
    pub estimator: Estimator,
}

/// What came of the recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The trials that were kept.
    pub trials: Trials,
    /// Which were kept, and how many of each domain were not.
    pub rejection: Rejection,
    /// Events whose window left their recording, with the place of the recording.
    pub outside: Vec<(usize, Outside)>,
    /// Labels that stand for no class, with their numbers of events.
    pub not_selected: BTreeMap<String, usize>,
    /// Labels that stand for a class, with their numbers of events.
    pub selected: BTreeMap<String, usize>,
    /// Samples of the broad view of each trial.
    pub samples: usize,
}

/// A preparation under way.
#[derive(Debug, Clone)]
pub struct Preparing<'a> {
    pipeline: &'a Pipeline,
    channels: Vec<String>,
    // One vector of matrices per view.
    views: Vec<Vec<f64>>,
    trials: Vec<TrialInfo>,
    peaks: Vec<f64>,
    recordings: usize,
    outside: Vec<(usize, Outside)>,
    not_selected: BTreeMap<String, usize>,
    selected: BTreeMap<String, usize>,
    samples: usize,
    rate: f64,
}

/// The place of a view among the views, and its window.
type Look = (usize, [f64; 2]);

impl Pipeline {
    /// One view: zero-phase, order 4, sample covariance, rejection beyond five deviations.
    pub fn new(band: Band, window: Window) -> Self {
        Self {
            order: 4,
            phase: Phase::Zero,
            band,
            window,
            others: Vec::new(),
            deviations: crate::signal::DEFAULT_DEVIATIONS,
            estimator: Estimator::Sample,
        }
    }

    /// Starts without recordings.
    pub fn start(&self) -> Preparing<'_> {
        Preparing {
            pipeline: self,
            channels: Vec::new(),
            views: vec![Vec::new(); 1 + self.others.len()],
            trials: Vec::new(),
            peaks: Vec::new(),
            recordings: 0,
            outside: Vec::new(),
            not_selected: BTreeMap::new(),
            selected: BTreeMap::new(),
            samples: 0,
            rate: 0.0,
        }
    }

    /// Bands, each with the views that look at it: places and windows.
    fn bands(&self) -> Vec<(Band, Vec<Look>)> {
        let broad = (self.band, (0, [self.window.tmin, self.window.tmax]));
        let others = self.others.iter().enumerate().map(|(i, view)| {
            let [low, high] = view.band;
            (Band::BandPass(low, high), (i + 1, view.window))
        });
        let mut bands: Vec<(Band, Vec<Look>)> = Vec::new();
        for (band, view) in std::iter::once(broad).chain(others) {
            match bands.iter_mut().find(|(known, _)| *known == band) {
                Some((_, views)) => views.push(view),
                None => bands.push((band, vec![view])),
            }
        }
        bands
    }

    fn windows(&self) -> Vec<[f64; 2]> {
        let broad = [self.window.tmin, self.window.tmax];
        std::iter::once(broad)
            .chain(self.others.iter().map(|v| v.window))
            .collect()
    }
}

impl Preparing<'_> {
    /// Filters a recording and takes its trials in.
    pub fn add(&mut self, recording: Recording, domain: &str, run: Option<&str>) -> Result<()> {
        let steps = self.pipeline;
        let plan = signal::plan(
            &recording,
            &steps.window.classes,
            &steps.windows(),
            domain,
            run,
        )?;
        let (rate, channels) = (recording.sampling_rate(), recording.channels().to_vec());
        self.check(&channels, plan.lengths[0], rate, domain)?;
        let mut unfiltered = Some(recording);
        let bands = steps.bands();
        let last = bands.len() - 1;
        for (place, (band, views)) in bands.into_iter().enumerate() {
            let sos = Sos::butterworth(steps.order, band, rate)?;
            let signal = if place == last {
                unfiltered.take()
            } else {
                unfiltered.clone()
            };
            let Some(signal) = signal else { break };
            let signal = match steps.phase {
                Phase::Zero => signal::into_zero_phase(signal, &sos)?,
                Phase::Causal => signal::into_causal(signal, &sos)?,
            };
            for (view, _) in views {
                let (matrices, peaks) = cut(&signal, &channels, &plan, view, steps.estimator)?;
                self.views[view].extend(matrices);
                if view == 0 {
                    self.peaks.extend(peaks);
                }
            }
        }
        self.trials.extend(plan.trials);
        let place = self.recordings;
        self.outside
            .extend(plan.outside.into_iter().map(|o| (place, o)));
        count(&mut self.not_selected, plan.not_selected);
        count(&mut self.selected, plan.selected);
        self.recordings += 1;
        Ok(())
    }

    /// Takes in data that comes in trials: filters each, then cuts the window out.
    pub fn add_epochs(&mut self, epochs: &Epochs) -> Result<()> {
        let steps = self.pipeline;
        let classes = &steps.window.classes;
        let (mut chosen, mut named) = (Vec::new(), Vec::new());
        let (mut not_selected, mut selected) = (BTreeMap::new(), BTreeMap::new());
        for (index, info) in epochs.trials().iter().enumerate() {
            let class = classes.iter().find(|(label, _)| *label == info.label);
            if class.is_none() && !classes.is_empty() {
                *not_selected.entry(info.label.clone()).or_default() += 1;
                continue;
            }
            *selected.entry(info.label.clone()).or_default() += 1;
            chosen.push(index);
            named.push(TrialInfo {
                label: class.map_or(&info.label, |(_, class)| class).clone(),
                ..info.clone()
            });
        }
        if chosen.is_empty() {
            let asked: Vec<_> = classes.iter().map(|(label, _)| label).collect();
            return Err(EegError::invalid(
                format!("none of the labels {asked:?} occurs; the trials have {not_selected:?}"),
                "select among the labels that occur",
            ));
        }
        let unfiltered = epochs.select(&chosen)?;
        for (band, views) in steps.bands() {
            let mut trials = unfiltered.clone();
            let sos = Sos::butterworth(steps.order, band, trials.sampling_rate())?;
            match steps.phase {
                Phase::Zero => signal::zero_phase_epochs(&mut trials, &sos)?,
                Phase::Causal => signal::causal_epochs(&mut trials, &sos)?,
            }
            for (view, [from, to]) in views {
                let part = trials.crop(from, to)?;
                let t = part.samples();
                if view == 0 {
                    let rate = part.sampling_rate();
                    self.check(part.channels(), t, rate, &named[0].domain)?;
                    self.peaks.extend(signal::peaks(&part));
                }
                let rows = |trial| part.trial(trial).chunks_exact(t.max(1));
                let matrices = reduce(part.channels(), t, &named, rows, steps.estimator)?;
                self.views[view].extend(matrices);
            }
        }
        self.trials.extend(named);
        count(&mut self.not_selected, not_selected);
        count(&mut self.selected, selected);
        self.recordings += 1;
        Ok(())
    }

    /// Every recording has the channels and the length of the first.
    fn check(
        &mut self,
        channels: &[Channel],
        length: usize,
        rate: f64,
        domain: &str,
    ) -> Result<()> {
        let channels = names(channels);
        let other = |what: String, remedy: &str| {
            let number = self.recordings + 1;
            let what = format!("recording {number} (domain {domain:?}) {what}");
            Err(EegError::invalid(what, remedy))
        };
        if self.recordings > 0 && !alike(&self.channels, &channels) {
            return other(
                difference(&self.channels, &channels),
                "pick the same channels in the same order, with --channels, and name them alike in all recordings",
            );
        }
        if self.recordings > 0 && self.samples != length {
            let (first, own) = (self.samples, self.rate);
            if rate != own {
                let what = format!("is sampled at {rate} Hz, the first at {own} Hz");
                return other(what, "resample all to one rate");
            }
            return other(
                format!("has {length} samples per trial, the first has {first}"),
                "cut the trials of all to one length",
            );
        }
        if self.recordings == 0 {
            (self.channels, self.samples, self.rate) = (channels, length, rate);
        }
        Ok(())
    }

    /// Rejects, and gives what is left.
    pub fn finish(self) -> Result<Made> {
        if self.recordings == 0 {
            return Err(EegError::invalid(
                "no recording was given",
                "add at least one recording before finishing",
            ));
        }
        let domains: Vec<&str> = self.trials.iter().map(|t| t.domain.as_str()).collect();
        let rejection = if self.pipeline.deviations == f64::INFINITY {
            keep_all(&domains)
        } else {
            reject_peaks(&self.peaks, &domains, self.pipeline.deviations)?
        };
        let n = self.channels.len();
        let kept = |matrices: &[f64]| -> Vec<f64> {
            let of = |&i: &usize| matrices[i * n * n..(i + 1) * n * n].iter().copied();
            rejection.kept.iter().flat_map(of).collect()
        };
        let info: Vec<TrialInfo> = rejection
            .kept
            .iter()
            .map(|&i| self.trials[i].clone())
            .collect();
        let mut trials = trials_of(kept(&self.views[0]), &self.channels, &info)?;
        for view in &self.views[1..] {
            let x = MatBatch::from_vec(info.len(), n, n, kept(view));
            trials = trials.with_view(x.map_err(stiefel_data::DataError::from)?)?;
        }
        Ok(Made {
            trials,
            rejection,
            outside: self.outside,
            not_selected: self.not_selected,
            selected: self.selected,
            samples: self.samples,
        })
    }
}

/// Covariances and peaks of one view of the trials of a filtered recording.
fn cut(
    recording: &Recording,
    channels: &[Channel],
    plan: &Plan,
    view: usize,
    estimator: Estimator,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (starts, length) = (&plan.starts[view], plan.lengths[view]);
    let peaks = vec![Cell::new(0.0_f64); starts.len()];
    // The peak is taken while the row is in the cache.
    let rows = |trial: usize| {
        let highest = &peaks[trial];
        let rows = signal::rows(recording, starts[trial], length);
        rows.inspect(|row| highest.set(highest.get().max(peak(row))))
    };
    let matrices = reduce(channels, length, &plan.trials, rows, estimator)?;
    Ok((matrices, peaks.into_iter().map(Cell::into_inner).collect()))
}

fn count(all: &mut BTreeMap<String, usize>, more: BTreeMap<String, usize>) {
    for (label, count) in more {
        *all.entry(label).or_default() += count;
    }
}

fn keep_all(domains: &[&str]) -> Rejection {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for domain in domains {
        *counts.entry(domain).or_default() += 1;
    }
    Rejection {
        kept: (0..domains.len()).collect(),
        domains: (counts.into_iter())
            .map(|(domain, trials)| DomainRejection {
                domain: domain.into(),
                trials,
                rejected: 0,
                threshold: f64::INFINITY,
            })
            .collect(),
    }
}

/// Whether two recordings have the same channels. Case, and the dots that some recorders fill names with, are no difference; a reference in the name is one.
fn alike(first: &[String], other: &[String]) -> bool {
    let same = |a: &str, b: &str| {
        let bare = |name: &str| name.trim_end_matches('.').to_ascii_lowercase();
        a == b || bare(a) == bare(b)
    };
    first.len() == other.len() && first.iter().zip(other).all(|(a, b)| same(a, b))
}

/// How the channels of two recordings differ.
fn difference(first: &[String], other: &[String]) -> String {
    let mut text = format!(
        "has {} channels, the first has {}",
        other.len(),
        first.len()
    );
    let missing: Vec<&str> = (first.iter())
        .filter(|name| !other.contains(name))
        .map(String::as_str)
        .collect();
    let place = (first.iter().zip(other)).position(|(a, b)| a != b);
    if first.len() == other.len()
        && let Some(i) = place
    {
        let number = i + 1;
        text = format!(
            "has \"{}\" as its channel {number}, the first has \"{}\"",
            excerpt(&other[i]),
            excerpt(&first[i])
        );
    } else if !missing.is_empty() {
        text = format!("{text}; it has no {}", listed(&missing));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{alike, difference};

    #[test]
    fn dots_and_case_are_no_difference_a_reference_is() {
        let is = |a: &str, b: &str| alike(&[a.to_string()], &[b.to_string()]);
        assert!(is("Fc5", "FC5.") && is("C3", "C3"));
        assert!(!is("C3-REF", "C3-AVG") && !is("C3", "C3-REF") && !is("C3", "C4"));
        assert!(!alike(&["C3".to_string()], &[]));
    }

    #[test]
    fn what_differs_is_named() {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let first = names(&["C3", "Cz", "C4"]);
        assert_eq!(
            difference(&first, &names(&["C3", "C4"])),
            "has 2 channels, the first has 3; it has no Cz"
        );
        assert_eq!(
            difference(&first, &names(&["C3", "Cz.", "C4"])),
            "has \"Cz.\" as its channel 2, the first has \"Cz\""
        );
    }
}
