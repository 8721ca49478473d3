//! Where the views of a trial lie, in samples.
//!
//! View `v` of a trial at sample `s` begins at `s + round(from_v·fs)` and has `round((to_v − from_v)·fs)` samples, halves rounded to even, as trials are cut out of
//! recordings. All views together span `s + first … s + last`; the trial is over, and is decided, with sample `s + last − 1`.

use stiefel_data::Steps;
use stiefel_eeg::covariance::Estimator;
use stiefel_eeg::live::{LiveConfig, Look};
use stiefel_eeg::signal::{Band, Sos};

use crate::{LiveError, Result};

/// Seconds beyond a trial that stay in memory, for cues that arrive late.
const LATE_SECONDS: f64 = 2.0;

/// The views of a trial in samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Samples per second.
    pub rate: f64,
    /// From the trial's event to the start of every view.
    pub starts: Vec<i64>,
    /// From the event to the first sample of any view.
    pub first: i64,
    /// From the event to behind the last sample of any view.
    pub last: i64,
}

impl Timing {
    /// Of trials that were made in these steps.
    pub fn new(steps: &Steps) -> Result<Self> {
        let rate = steps.rate;
        let samples = |seconds: f64| (seconds * rate).round_ties_even() as i64;
        let starts: Vec<i64> = steps.views.iter().map(|v| samples(v.window[0])).collect();
        let ends = starts.iter().zip(&steps.views);
        let ends = ends.map(|(start, v)| start + samples(v.window[1] - v.window[0]));
        let (first, last) = (starts.iter().copied().min(), ends.max());
        let (Some(first), Some(last)) = (first, last) else {
            return Err(LiveError::setting(
                "the model's trials have no window",
                "train a model on trials that were cut out of recordings",
            ));
        };
        let remedy = "give a positive rate and windows that end after they begin";
        if !(rate.is_finite() && rate > 0.0 && last > first) {
            let why = format!(
                "windows of {} samples at {rate} Hz cannot be decided",
                last - first
            );
            return Err(LiveError::setting(why, remedy));
        }
        // One good window hides an empty one.
        let empty = |v: &&stiefel_data::View| samples(v.window[1] - v.window[0]) < 1;
        if let Some(view) = steps.views.iter().find(empty) {
            let why = format!("the view {view} has no sample at {rate} Hz");
            return Err(LiveError::setting(why, remedy));
        }
        Ok(Self {
            rate,
            starts,
            first,
            last,
        })
    }

    /// Samples from the first to behind the last of a trial.
    pub fn span(&self) -> u64 {
        (self.last - self.first) as u64
    }

    /// Samples that must stay in memory.
    pub fn memory(&self) -> usize {
        self.span() as usize + (LATE_SECONDS * self.rate).ceil() as usize
    }

    /// The chain that computes the views; bands that several windows look at are filtered once. Without filters where samples are filtered already.
    pub fn chain(&self, steps: &Steps, filtered: bool) -> Result<LiveConfig> {
        let mut bands: Vec<[f64; 2]> = Vec::new();
        let mut views = Vec::new();
        for view in &steps.views {
            let known = bands.iter().position(|b| *b == view.band);
            let band = known.unwrap_or(bands.len());
            if known.is_none() {
                bands.push(view.band);
            }
            let seconds = view.window[1] - view.window[0];
            let samples = (seconds * self.rate).round_ties_even() as usize;
            views.push(Look { band, samples });
        }
        if filtered && bands.len() > 1 {
            return Err(LiveError::setting(
                format!(
                    "the model uses {} bands, but samples that are already filtered have one",
                    bands.len()
                ),
                "stream the unfiltered signal",
            ));
        }
        let filter = |&[low, high]: &[f64; 2]| -> Result<Option<Sos>> {
            if filtered {
                return Ok(None);
            }
            let band = Band::BandPass(low, high);
            Ok(Some(Sos::butterworth(steps.order, band, self.rate)?))
        };
        let estimator: Estimator = steps.estimator;
        Ok(LiveConfig {
            channels: steps.channels.len(),
            bands: bands.iter().map(filter).collect::<Result<_>>()?,
            views,
            memory: self.memory(),
            estimator,
        })
    }
}
