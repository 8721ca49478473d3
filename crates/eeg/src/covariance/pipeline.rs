//! The whole way from recordings to covariances, one recording in memory at a time.
//!
//! ```text
//! zero-phase band-pass ─▶ trials around the events ─▶ covariance and peak of each ─▶ rejection within each domain
//! ```
//!
//! Rejection needs all trials of a domain, but only their peaks, so the samples of a recording are let go as soon
//! as its covariances are there. Data that comes in trials is filtered trial by trial, then cropped to the window.

use std::collections::BTreeMap;

use super::{Covariances, Estimator};
use crate::signal::{Band, DomainRejection, Outside, Rejection, Sos, Window, reject_peaks};
use crate::{EegError, Epochs, Recording, Result, TrialInfo};

/// The steps from a recording to covariances.
///
/// ```
/// use stiefel_eeg::covariance::{Estimator, Pipeline};
/// use stiefel_eeg::montage::Montage;
/// use stiefel_eeg::signal::{Band, Window};
/// use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
/// let study = Synthetic::new(SyntheticConfig::of(Montage::Bnci2015001, 128.0, vec![1, 1], 1, 5, &[Imagery::RightHand, Imagery::Feet]))?;
/// let pipeline = Pipeline::new(Band::BandPass(8.0, 32.0), Window::new(0.5, 3.5, &["right_hand", "feet"]));
/// let mut prepared = pipeline.start();
/// for item in study.recordings() {
///     let item = item?;
///     prepared.add(item.recording, &format!("S{}", item.subject + 1), None)?;
/// }
/// let prepared = prepared.finish()?;
/// assert_eq!(prepared.rejection.domains.len(), 2);
/// assert_eq!(prepared.covariances.len(), prepared.rejection.kept.len());
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// Order of the Butterworth prototype; 4 by default.
    pub order: usize,
    /// What the filter lets through.
    pub band: Band,
    /// Which events become trials.
    pub window: Window,
    /// `c` of the rejection; 5 by default. Infinite: every trial is kept.
    pub deviations: f64,
    /// The estimator; the sample covariance by default.
    pub estimator: Estimator,
}

/// What a pipeline made of its recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The covariances of the trials that were kept.
    pub covariances: Covariances,
    /// Which trials were rejected, counted per domain.
    pub rejection: Rejection,
    /// Events whose window leaves their recording, with the place of the recording.
    pub outside: Vec<(usize, Outside)>,
    /// How often each event label was seen that was not asked for.
    pub not_selected: BTreeMap<String, usize>,
    /// Samples of a trial.
    pub samples: usize,
}

/// A pipeline at work.
#[derive(Debug, Clone)]
pub struct Preparing<'a> {
    pipeline: &'a Pipeline,
    parts: Vec<Covariances>,
    peaks: Vec<f64>,
    outside: Vec<(usize, Outside)>,
    not_selected: BTreeMap<String, usize>,
    samples: usize,
}

impl Pipeline {
    /// Order 4, `c` = 5, sample covariance.
    pub fn new(band: Band, window: Window) -> Self {
        Self {
            order: 4,
            band,
            window,
            deviations: crate::signal::DEFAULT_DEVIATIONS,
            estimator: Estimator::Sample,
        }
    }

    /// Begins with no recordings.
    pub fn start(&self) -> Preparing<'_> {
        Preparing {
            pipeline: self,
            parts: Vec::new(),
            peaks: Vec::new(),
            outside: Vec::new(),
            not_selected: BTreeMap::new(),
            samples: 0,
        }
    }
}

impl Preparing<'_> {
    /// Filters and cuts a recording and keeps the covariances of its trials. All recordings must have the same channels
    /// and the same number of samples in a trial.
    pub fn add(&mut self, recording: Recording, domain: &str, run: Option<&str>) -> Result<()> {
        let steps = self.pipeline;
        let sos = Sos::butterworth(steps.order, steps.band, recording.sampling_rate())?;
        let recording = recording.into_zero_phase(&sos)?;
        let plan = recording.plan(&steps.window, domain, run)?;
        let (part, peaks) = Covariances::of_plan(&recording, &plan, steps.estimator)?;
        self.keep(part, peaks, plan.length, domain)?;
        let place = self.parts.len() - 1;
        self.outside
            .extend(plan.outside.into_iter().map(|o| (place, o)));
        self.count(plan.not_selected);
        Ok(())
    }

    /// Filters trials one by one, crops them to the window (which counts from their first sample) and keeps their covariances.
    /// Trials of labels that were not asked for are left out; a window without classes takes all of them.
    pub fn add_epochs(&mut self, epochs: &Epochs) -> Result<()> {
        let steps = self.pipeline;
        let classes = &steps.window.classes;
        let (mut chosen, mut named) = (Vec::new(), Vec::new());
        let mut not_selected = BTreeMap::new();
        for (index, info) in epochs.trials().iter().enumerate() {
            let class = classes.iter().find(|(label, _)| *label == info.label);
            if class.is_none() && !classes.is_empty() {
                *not_selected.entry(info.label.clone()).or_default() += 1;
                continue;
            }
            chosen.push(index);
            named.push(TrialInfo {
                label: class.map_or(&info.label, |(_, class)| class).clone(),
                ..info.clone()
            });
        }
        if chosen.is_empty() {
            let asked: Vec<_> = classes.iter().map(|(label, _)| label).collect();
            return Err(EegError::Invalid {
                what: format!(
                    "none of the labels {asked:?} occurs; the trials have {not_selected:?}"
                ),
                remedy: "select among the labels that occur".into(),
            });
        }
        let mut trials = epochs.select(&chosen)?;
        let sos = Sos::butterworth(steps.order, steps.band, trials.sampling_rate())?;
        trials.filter_zero_phase(&sos)?;
        let trials = trials.crop(steps.window.tmin, steps.window.tmax)?;
        let trials = Epochs::new(
            trials.channels().to_vec(),
            trials.sampling_rate(),
            trials.samples(),
            trials.data().to_vec(),
            named,
        )?;
        let part = Covariances::estimate(&trials, steps.estimator)?;
        let domain = trials.trials()[0].domain.clone();
        self.keep(part, trials.peaks(), trials.samples(), &domain)?;
        self.count(not_selected);
        Ok(())
    }

    fn count(&mut self, not_selected: BTreeMap<String, usize>) {
        for (label, count) in not_selected {
            *self.not_selected.entry(label).or_default() += count;
        }
    }

    /// Takes the covariances and peaks of one recording in.
    fn keep(
        &mut self,
        part: Covariances,
        peaks: Vec<f64>,
        length: usize,
        domain: &str,
    ) -> Result<()> {
        if let Some(first) = self.parts.first()
            && (first.channels() != part.channels() || self.samples != length)
        {
            return Err(EegError::Invalid {
                what: format!(
                    "recording {} (domain {domain:?}) has other channels than the first, or {} samples per trial instead of {}",
                    self.parts.len(),
                    length,
                    self.samples
                ),
                remedy: "pick the same channels in the same order and resample to one rate first"
                    .into(),
            });
        }
        self.samples = length;
        self.peaks.extend(peaks);
        self.parts.push(part);
        Ok(())
    }

    /// Rejects by amplitude within each domain and joins what is left.
    pub fn finish(self) -> Result<Prepared> {
        let Some(channels) = self.parts.first().map(|p| p.channels().to_vec()) else {
            return Err(EegError::Invalid {
                what: "no recording was given".into(),
                remedy: "add at least one recording before finishing".into(),
            });
        };
        let trials: Vec<_> = self
            .parts
            .iter()
            .flat_map(|p| p.trials().iter().cloned())
            .collect();
        let domains: Vec<&str> = trials.iter().map(|t| t.domain.as_str()).collect();
        let rejection = if self.pipeline.deviations == f64::INFINITY {
            keep_all(&domains)
        } else {
            reject_peaks(&self.peaks, &domains, self.pipeline.deviations)?
        };
        let matrices: Vec<&[f64]> = self
            .parts
            .iter()
            .flat_map(|p| (0..p.len()).map(|i| p.matrix(i)))
            .collect();
        let data = rejection
            .kept
            .iter()
            .flat_map(|&i| matrices[i].iter().copied())
            .collect();
        let kept = rejection.kept.iter().map(|&i| trials[i].clone()).collect();
        Ok(Prepared {
            covariances: Covariances::new(data, channels, kept)?,
            rejection,
            outside: self.outside,
            not_selected: self.not_selected,
            samples: self.samples,
        })
    }
}

/// No rejection.
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
