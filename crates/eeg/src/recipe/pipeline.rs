//! One recipe on one recording after the other, each let go as soon as its covariances are there.
//!
//! ```text
//! channels ─▶ reference ─▶ rate ─▶ band-pass ─▶ trials around the events ─▶ covariance and peak ─▶ rejection by domain
//! ```
//!
//! A trial has one covariance per view. A band is filtered once, however many windows look at it.
//! Rejection needs all trials of a domain, but only their peaks in the first view. Data that comes
//! in trials is filtered trial by trial, then cropped to the window.
//!
//! A reference that is made of the recipe's own channels leaves these one direction short: their
//! mean, weighted as the reference is, vanishes. A window without more samples than channels leaves
//! them short as well. The sample covariance is then shrunk by the oracle approximating rule, and
//! the recipe that travels with the trials says so.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use stiefel_data::{
    Fingerprint, LabelUse, Labels, Phase, Preparation, Provenance, Quality, Recipe, Recorded,
    Reference, Span, Trials,
};
use stiefel_linalg::MatBatch;

use super::looking::{look_at, look_at_epochs};
use super::meaning::{LabelledRecording, sample_at};
use crate::covariance::{Estimator, names, reduce, trials_of};
use crate::io::{excerpt, listed};
use crate::montage::canonical;
use crate::quality::{self, SignalLook};
use crate::signal::{
    self, Band, DomainRejection, Outside, Plan, Rejection, Sos, peak, reject_peaks, resample,
};
use crate::{Channel, ChannelKind, EegError, Epochs, Recording, Result, TrialInfo};

/// Trials of all recordings, and what was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineOutput {
    /// The trials that were kept, with their channels and their preparation.
    pub trials: Trials,
    /// The recipe as it was run, and the signals it was run on.
    pub provenance: Provenance,
    /// Which were kept, and how many of each domain were not.
    pub rejection: Rejection,
    /// Events whose window left their recording, with the place of the recording.
    pub outside: Vec<(usize, Outside)>,
    /// Labels that stand for no class, with their numbers of events.
    pub not_selected: BTreeMap<String, usize>,
    /// Labels that stand for a class, with their numbers of events.
    pub selected: BTreeMap<String, usize>,
    /// Samples of the first view of each trial.
    pub samples: usize,
    /// Amplitudes, and what is wrong with the signals.
    pub quality: Quality,
}

/// A recipe at work.
///
/// ```
/// use stiefel_data::Recipe;
/// use stiefel_eeg::recipe::Preparing;
/// # use stiefel_eeg::{Channel, ChannelKind, Event, Recording};
/// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// # let event = |onset: f64| Event { sample: (onset * 100.0) as usize, onset, duration: 0.0, label: "T2".into() };
/// # let samples = (0..2000).map(|t| f64::from(t * 37 % 101)).collect();
/// # let recording = Recording::new(vec![cz], 100.0, samples, vec![event(2.0), event(9.0)])?;
/// let recipe = Recipe { classes: vec![("T2".into(), "feet".into())], ..Recipe::default() };
/// let mut preparing = Preparing::new(&recipe)?;
/// preparing.add(recording, "S001", Some("R06"))?;
/// let made = preparing.finish()?;
/// assert_eq!((made.trials.len(), made.provenance.rate()), (2, 100.0));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Preparing {
    recipe: Recipe,
    channels: Vec<String>,
    unit: String,
    /// Samples per second as recorded, and as filtered, of the first recording.
    rates: (f64, f64),
    trialwise: bool,
    // One vector of matrices per view.
    views: Vec<Vec<f64>>,
    trials: Vec<TrialInfo>,
    /// Recordings that trials come from, and where each of them lies.
    sources: Vec<Recorded>,
    spans: Vec<Span>,
    peaks: Vec<f64>,
    recordings: usize,
    labels: Labels,
    outside: Vec<(usize, Outside)>,
    not_selected: BTreeMap<String, usize>,
    selected: BTreeMap<String, usize>,
    samples: usize,
    look: SignalLook,
}

/// The place of a view among the views, and its window.
type ViewWindow = (usize, [f64; 2]);

impl Preparing {
    /// Starts without recordings.
    pub fn new(recipe: &Recipe) -> Result<Self> {
        recipe.check()?;
        Ok(Self {
            recipe: recipe.clone(),
            channels: Vec::new(),
            unit: String::new(),
            rates: (0.0, 0.0),
            trialwise: false,
            views: vec![Vec::new(); recipe.views.len()],
            trials: Vec::new(),
            sources: Vec::new(),
            spans: Vec::new(),
            peaks: Vec::new(),
            recordings: 0,
            labels: Labels::default(),
            outside: Vec::new(),
            not_selected: BTreeMap::new(),
            selected: BTreeMap::new(),
            samples: 0,
            look: SignalLook::default(),
        })
    }

    /// Lists the bands, each with the views that look at it: places and windows.
    fn bands(&self) -> Vec<(Band, Vec<ViewWindow>)> {
        let mut bands: Vec<(Band, Vec<ViewWindow>)> = Vec::new();
        for (place, view) in self.recipe.views.iter().enumerate() {
            let (band, look) = (
                Band::BandPass(view.band[0], view.band[1]),
                (place, view.window),
            );
            match bands.iter_mut().find(|(known, _)| *known == band) {
                Some((_, views)) => views.push(look),
                None => bands.push((band, vec![look])),
            }
        }
        bands
    }

    /// Filters a recording and takes its trials in.
    pub fn add(&mut self, recording: Recording, domain: &str, run: Option<&str>) -> Result<()> {
        let classes = &self.recipe.classes;
        let labelled = LabelledRecording::new(Path::new(""), recording, run, classes);
        self.add_labelled(labelled, domain)
    }

    /// Filters a recording whose events are called as this recipe calls them, and takes its trials
    /// in.
    pub fn add_labelled(&mut self, labelled: LabelledRecording, domain: &str) -> Result<()> {
        let LabelledRecording {
            recording,
            run,
            labels,
            fingerprint,
            ..
        } = labelled;
        let (recorded, run) = (recording.sampling_rate(), run.as_deref());
        let names = self.wanted(recording.channels());
        let (look, recipe) = (&mut self.look, &self.recipe);
        look_at(look, recipe, &names, &recording, domain, run);
        let recording = self.picked(recording)?;
        let recording = match self.factors(recorded) {
            Some((up, down)) => signal::resample_recording(&recording, up, down)?,
            None => recording,
        };
        let windows: Vec<[f64; 2]> = self.recipe.views.iter().map(|v| v.window).collect();
        let plan = signal::plan(&recording, &self.recipe.classes, &windows, domain, run)?;
        let (rate, channels) = (recording.sampling_rate(), recording.channels().to_vec());
        self.check(&channels, plan.lengths[0], (recorded, rate), domain)?;
        let mut unfiltered = Some(recording);
        let bands = self.bands();
        let last = bands.len() - 1;
        for (place, (band, views)) in bands.into_iter().enumerate() {
            let sos = Sos::butterworth(self.recipe.order, band, rate)?;
            let signal = if place == last {
                unfiltered.take()
            } else {
                unfiltered.clone()
            };
            let Some(signal) = signal else { break };
            let signal = match self.recipe.phase {
                Phase::Zero => signal::into_zero_phase(signal, &sos)?,
                Phase::Causal => signal::into_causal(signal, &sos)?,
            };
            for (view, _) in views {
                let estimator = self.recipe.estimator;
                let (matrices, peaks) = cut(&signal, &channels, &plan, view, estimator)?;
                self.views[view].extend(matrices);
                if view == 0 {
                    self.peaks.extend(peaks);
                }
            }
        }
        self.locate(&fingerprint, recorded, &plan.onsets);
        labels
            .uses()
            .iter()
            .cloned()
            .for_each(|u| self.labels.add(u));
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
        let recorded = epochs.sampling_rate();
        let (whole, epochs) = (epochs, &self.picked_epochs(epochs)?);
        let names = self.wanted(whole.channels());
        look_at_epochs(&mut self.look, &names, whole);
        let classes = &self.recipe.classes;
        let (mut chosen, mut named) = (Vec::new(), Vec::new());
        let (mut not_selected, mut selected) = (BTreeMap::new(), BTreeMap::new());
        for (index, info) in epochs.trials().iter().enumerate() {
            let class = classes.iter().find(|(label, _)| *label == info.label);
            if class.is_none() && !classes.is_empty() {
                *not_selected.entry(info.label.clone()).or_default() += 1;
                continue;
            }
            *selected.entry(info.label.clone()).or_default() += 1;
            if let Some((label, class)) = class {
                self.labels.add(LabelUse {
                    label: label.clone(),
                    class: class.clone(),
                    by_run: false,
                    meaning: None,
                    runs: info.run.clone().into_iter().collect(),
                    events: 1,
                });
            }
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
        for (band, views) in self.bands() {
            let mut trials = unfiltered.clone();
            let rate = trials.sampling_rate();
            let sos = Sos::butterworth(self.recipe.order, band, rate)?;
            match self.recipe.phase {
                Phase::Zero => signal::zero_phase_epochs(&mut trials, &sos)?,
                Phase::Causal => signal::causal_epochs(&mut trials, &sos)?,
            }
            for (view, [from, to]) in views {
                let part = trials.crop(from, to)?;
                let t = part.samples();
                if view == 0 {
                    self.check(part.channels(), t, (recorded, rate), &named[0].domain)?;
                    self.peaks.extend(signal::peaks(&part));
                }
                let rows = |trial| part.trial(trial).chunks_exact(t.max(1));
                let estimator = self.recipe.estimator;
                let matrices = reduce(part.channels(), t, &named, rows, estimator)?;
                self.views[view].extend(matrices);
            }
        }
        for (&trial, recording) in chosen.iter().zip(self.sources.len()..) {
            let window = [0, whole.samples() as i64];
            self.spans.push(Span {
                recording,
                onset: 0,
                window,
            });
            self.sources.push(Recorded {
                fingerprint: trial_fingerprint(whole, trial),
                rate: recorded,
            });
        }
        self.trials.extend(named);
        count(&mut self.not_selected, not_selected);
        count(&mut self.selected, selected);
        self.recordings += 1;
        self.trialwise = true;
        Ok(())
    }

    /// Returns the recipe's channels under its reference; all EEG channels where it names none.
    fn picked(&self, recording: Recording) -> Result<Recording> {
        let names = self.wanted(recording.channels());
        let whole = recording.channels().iter().map(|c| &c.name).eq(&names);
        let Reference::Channels(electrodes) = &self.recipe.reference else {
            let mut picked = if whole {
                recording
            } else {
                recording.pick(&names)?
            };
            signal::rereference(&mut picked, &self.recipe.reference)?;
            return Ok(picked);
        };
        let mut all = recording.pick(&with_reference(&names, electrodes))?;
        signal::rereference(&mut all, &self.recipe.reference)?;
        Ok(all.pick(&names)?)
    }

    fn picked_epochs(&self, epochs: &Epochs) -> Result<Epochs> {
        let names = self.wanted(epochs.channels());
        let mut picked = match &self.recipe.reference {
            Reference::Channels(electrodes) => epochs.pick(&with_reference(&names, electrodes))?,
            Reference::AsRecorded | Reference::Average => epochs.pick(&names)?,
        };
        signal::rereference_epochs(&mut picked, &self.recipe.reference)?;
        let picked = picked.pick(&names)?;
        let Some((up, down)) = self.factors(picked.sampling_rate()) else {
            return Ok(picked);
        };
        let (data, samples) = resample(picked.data(), picked.samples(), up, down)?;
        let rate = picked.sampling_rate() * up as f64 / down as f64;
        let (channels, trials) = (picked.channels().to_vec(), picked.trials().to_vec());
        Ok(Epochs::new(channels, rate, samples, data, trials)?)
    }

    fn wanted(&self, channels: &[Channel]) -> Vec<String> {
        let eeg = |c: &&Channel| c.kind == ChannelKind::Eeg;
        let all = || {
            channels
                .iter()
                .filter(eeg)
                .map(|c| c.name.clone())
                .collect()
        };
        self.recipe.channels.clone().unwrap_or_else(all)
    }

    /// Returns `up/down` to the recipe's rate; both rates to a thousandth of a hertz.
    fn factors(&self, rate: f64) -> Option<(usize, usize)> {
        let wanted = self.recipe.rate?;
        let thousandths = |x: f64| (x * 1000.0).round() as usize;
        (wanted != rate).then(|| (thousandths(wanted), thousandths(rate)))
    }

    /// Every recording has the channels and the length of the first.
    fn check(
        &mut self,
        channels: &[Channel],
        length: usize,
        rates: (f64, f64),
        domain: &str,
    ) -> Result<()> {
        if channels.is_empty() {
            return Err(EegError::invalid(
                format!(
                    "recording {} (domain {domain:?}) has no EEG channel",
                    self.recordings + 1
                ),
                "name the channels that are to be used",
            ));
        }
        if self.recordings == 0 {
            self.unit.clone_from(&channels[0].unit);
        }
        if let Some(other) = channels.iter().find(|c| c.unit != self.unit) {
            return Err(EegError::invalid(
                format!(
                    "channel {} is in \"{}\", others are in \"{}\"",
                    other.name, other.unit, self.unit
                ),
                "choose channels of one unit",
            ));
        }
        let labelled = channels;
        let channels = names(channels);
        let other = |what: String, remedy: &str| {
            let number = self.recordings + 1;
            let what = format!("recording {number} (domain {domain:?}) {what}");
            Err(EegError::invalid(what, remedy))
        };
        if self.recordings > 0 && !alike(&self.channels, &channels) {
            return other(
                difference(&self.channels, &channels),
                "pick the same channels in the same order, and name them alike in all recordings",
            );
        }
        if self.recordings > 0 && self.samples != length {
            let first = self.samples;
            if rates.1 != self.rates.1 {
                let what = format!(
                    "is sampled at {} Hz, the first at {} Hz",
                    rates.1, self.rates.1
                );
                return other(what, "resample all to one rate");
            }
            return other(
                format!("has {length} samples per trial, the first has {first}"),
                "cut the trials of all to one length",
            );
        }
        if self.recordings == 0 {
            (self.samples, self.rates) = (length, rates);
            if self.recipe.estimator == Estimator::Sample
                && (self.loses_rank(labelled) || self.has_few_samples(rates.1, channels.len()))
            {
                self.recipe.estimator = Estimator::Oas;
            }
            self.channels = channels;
        }
        Ok(())
    }

    /// Tells whether the reference is made of the recipe's own channels.
    fn loses_rank(&self, channels: &[Channel]) -> bool {
        match &self.recipe.reference {
            Reference::AsRecorded => false,
            Reference::Average => true,
            Reference::Channels(names) => stiefel_formats::electrode::find(channels, names).is_ok(),
        }
    }

    /// Tells whether a view has too few samples for a covariance of full rank.
    fn has_few_samples(&self, rate: f64, channels: usize) -> bool {
        let lengths = self.recipe.views.iter().map(|v| v.window[1] - v.window[0]);
        let shortest = lengths.fold(f64::INFINITY, f64::min);
        (shortest * rate).round_ties_even() as usize <= channels
    }

    /// Says where the trials of a recording lie, which begin at these seconds.
    fn locate(&mut self, fingerprint: &Fingerprint, rate: f64, onsets: &[f64]) {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for view in &self.recipe.views {
            (from, to) = (from.min(view.window[0]), to.max(view.window[1]));
        }
        let recording = self.sources.len();
        self.spans.extend(onsets.iter().map(|&onset| Span {
            recording,
            onset: sample_at(onset, rate),
            window: [from, to].map(|seconds| (seconds * rate).round_ties_even() as i64),
        }));
        self.sources.push(Recorded {
            fingerprint: fingerprint.clone(),
            rate,
        });
    }

    /// Returns the recipe as it is run, complete once a recording was added.
    pub fn provenance(&self) -> Provenance {
        Provenance {
            recipe: Recipe {
                rate: Some(self.rates.1),
                channels: Some(plain(&self.channels)),
                ..self.recipe.clone()
            },
            recorded_rate: self.rates.0,
            unit: self.unit.clone(),
            trialwise: self.trialwise,
            labels: self.labels.clone(),
            ..Provenance::default()
        }
    }

    /// Rejects, and gives what is left.
    pub fn finish(self) -> Result<PipelineOutput> {
        if self.recordings == 0 {
            return Err(EegError::invalid(
                "no recording was given",
                "add at least one recording before finishing",
            ));
        }
        let domains: Vec<&str> = self.trials.iter().map(|t| t.domain.as_str()).collect();
        let rejection = match self.recipe.reject {
            None => keep_all(&domains),
            Some(deviations) => reject_peaks(&self.peaks, &domains, deviations)?,
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
        let mut trials = trials_of(kept(&self.views[0]), &self.channels, &info)
            .map_err(|error| quality::cause(&self.look, &self.channels).unwrap_or(error))?;
        for view in &self.views[1..] {
            let x = MatBatch::from_vec(info.len(), n, n, kept(view));
            trials = trials.with_view(x.map_err(stiefel_data::DataError::from)?)?;
        }
        let provenance = self.provenance();
        let kept = rejection.kept.iter().map(|&i| self.spans[i]);
        let trials = trials.with_recordings(self.sources, kept.collect())?;
        let trials = trials.with_channels(provenance.channels().to_vec())?;
        let quality = quality::join(&self.look, &trials)?;
        Ok(PipelineOutput {
            quality,
            trials: trials.with_preparation(Preparation::from(provenance.clone())),
            provenance,
            rejection,
            outside: self.outside,
            not_selected: self.not_selected,
            selected: self.selected,
            samples: self.samples,
        })
    }
}

/// Returns the fingerprint of a recording, of all its channels but markers.
pub fn fingerprint(recording: &Recording) -> Fingerprint {
    let channels = recording.channels().iter().enumerate();
    let signals = channels.filter(|(_, channel)| channel.kind != ChannelKind::Stim);
    Fingerprint::of(signals.map(|(i, _)| recording.channel(i)))
}

/// Returns the fingerprint of a trial that came alone.
pub(super) fn trial_fingerprint(epochs: &Epochs, trial: usize) -> Fingerprint {
    Fingerprint::of(epochs.trial(trial).chunks_exact(epochs.samples().max(1)))
}

/// Names of channels in the usual spelling, unless two would then have the same name.
fn plain(names: &[String]) -> Vec<String> {
    let usual: Vec<String> = names.iter().map(|name| canonical(name)).collect();
    let mut sorted = usual.clone();
    sorted.sort();
    sorted.dedup();
    if sorted.len() < usual.len() {
        return names.to_vec();
    }
    usual
}

/// Names of channels and of the electrodes of a reference, each once.
fn with_reference(names: &[String], electrodes: &[String]) -> Vec<String> {
    let key = stiefel_formats::electrode::key;
    let known = |e: &&String| !names.iter().any(|name| name == *e || key(name) == key(e));
    names
        .iter()
        .chain(electrodes.iter().filter(known))
        .cloned()
        .collect()
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

/// Whether two recordings have the same channels. Case, and the dots that some recorders fill names
/// with, are no difference; a reference in the name is one.
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
