//! The whole way from recordings to covariances, one recording in memory at a time.
//!
//! ```text
//! zero-phase band-pass ─▶ trials around the events ─▶ covariance and peak of each ─▶ rejection within each domain
//! ```
//!
//! Rejection needs all trials of a domain, but only their peaks, so the samples of a recording are let go as soon
//! as its covariances are there.

use std::collections::BTreeMap;

use super::{Covariances, Estimator};
use crate::signal::{Band, Outside, Rejection, Sos, Window, reject_peaks};
use crate::{EegError, Recording, Result};

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
    /// `c` of the rejection; 5 by default.
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
        if let Some(first) = self.parts.first()
            && (first.channels() != part.channels() || self.samples != plan.length)
        {
            return Err(EegError::Invalid {
                what: format!(
                    "recording {} (domain {domain:?}) has other channels than the first, or {} samples per trial instead of {}",
                    self.parts.len(),
                    plan.length,
                    self.samples
                ),
                remedy: "pick the same channels in the same order and resample to one rate first"
                    .into(),
            });
        }
        let place = self.parts.len();
        self.samples = plan.length;
        self.peaks.extend(peaks);
        self.outside
            .extend(plan.outside.into_iter().map(|o| (place, o)));
        for (label, count) in plan.not_selected {
            *self.not_selected.entry(label).or_default() += count;
        }
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
        let rejection = reject_peaks(&self.peaks, &domains, self.pipeline.deviations)?;
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
