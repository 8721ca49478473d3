//! A recipe on a running signal: where the views of a trial lie, in samples, and the chain that
//! computes them.
//!
//! View `v` of a trial at sample `s` begins at `s + round(from_v·fs)` and has `round((to_v −
//! from_v)·fs)` samples, halves rounded to even, as trials are cut out of recordings. All views
//! together span `s + first … s + last`; the trial is over, and is decided, with sample `s + last −
//! 1`.

use stiefel_data::{Provenance, Recipe, View};

use crate::live::{Live, LiveConfig, WindowSpec};
use crate::signal::{Band, Sos};
use crate::{EegError, Result};

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
    /// Places the views of trials that were made so.
    pub fn new(made: &Provenance) -> Result<Self> {
        let (recipe, rate) = (&made.recipe, made.rate());
        let samples = |seconds: f64| (seconds * rate).round_ties_even() as i64;
        let starts: Vec<i64> = recipe.views.iter().map(|v| samples(v.window[0])).collect();
        let ends = starts.iter().zip(&recipe.views);
        let ends = ends.map(|(start, v)| start + samples(v.window[1] - v.window[0]));
        let (first, last) = (starts.iter().copied().min(), ends.max());
        let (Some(first), Some(last)) = (first, last) else {
            return Err(EegError::setting(
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
            return Err(EegError::setting(why, remedy));
        }
        // One good window hides an empty one.
        let empty = |v: &&View| samples(v.window[1] - v.window[0]) < 1;
        if let Some(view) = recipe.views.iter().find(empty) {
            let why = format!("the view {view} has no sample at {rate} Hz");
            return Err(EegError::setting(why, remedy));
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

    /// Returns the chain that computes the views; bands that several windows look at are filtered
    /// once. Without filters where samples are filtered already. The channels must be under the
    /// recipe's reference.
    pub fn chain(&self, recipe: &Recipe, filtered: bool) -> Result<Live> {
        let mut bands: Vec<[f64; 2]> = Vec::new();
        let mut views = Vec::new();
        for view in &recipe.views {
            let known = bands.iter().position(|b| *b == view.band);
            let band = known.unwrap_or(bands.len());
            if known.is_none() {
                bands.push(view.band);
            }
            let seconds = view.window[1] - view.window[0];
            let samples = (seconds * self.rate).round_ties_even() as usize;
            views.push(WindowSpec { band, samples });
        }
        if filtered && bands.len() > 1 {
            return Err(EegError::setting(
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
            Ok(Some(Sos::butterworth(recipe.order, band, self.rate)?))
        };
        Live::new(LiveConfig {
            channels: recipe.channels.as_ref().map_or(0, Vec::len),
            bands: bands.iter().map(filter).collect::<Result<_>>()?,
            views,
            memory: self.memory(),
            estimator: recipe.estimator,
        })
    }
}
