//! Whether the raw signal of a window can be decided at all, electrode by electrode.
//!
//! With `R_c = max − min` of channel `c` within the window, in the unit of the model: **flat** where `R_c ≤ `[`FLAT_SHARE`]` · median_c R_c` or no value
//! changes for [`FLAT_SECONDS`]; **saturated** where the largest or the smallest value stays for [`SATURATED_SECONDS`]; **out of range** where
//! `R_c > `[`OUT_OF_RANGE`] µV. One bad electrode is enough: a covariance mixes all of them.

use stiefel_linalg::tolerance::{
    FLAT_SECONDS, FLAT_SHARE, OUT_OF_RANGE, SATURATED_SAMPLES, SATURATED_SECONDS,
};

/// Why a window gets no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Samples are missing within the window.
    Gap,
    /// The filters have not forgotten the last gap, or the start, yet.
    Settling,
    /// A value that is no finite number.
    NonFinite,
    /// A sample with too few values.
    Short,
    /// An electrode without a signal.
    Flat,
    /// An electrode at the end of the amplifier's range.
    Saturated,
    /// An electrode with a voltage that no brain makes.
    OutOfRange,
    /// The stream has another rate than the model was trained on.
    Rate,
    /// The window is in the past and not in memory any more, or reaches before the start.
    Late,
    /// The model could not decide the covariances.
    Model,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Gap,
        Self::Settling,
        Self::NonFinite,
        Self::Short,
        Self::Flat,
        Self::Saturated,
        Self::OutOfRange,
        Self::Rate,
        Self::Late,
        Self::Model,
    ];

    /// Its name in lines and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Settling => "settling",
            Self::NonFinite => "non-finite",
            Self::Short => "short",
            Self::Flat => "flat",
            Self::Saturated => "saturated",
            Self::OutOfRange => "out-of-range",
            Self::Rate => "rate",
            Self::Late => "late",
            Self::Model => "model",
        }
    }
}

/// What is wrong with one electrode, or nothing, and its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Electrode {
    /// What is wrong.
    pub fault: Option<Reason>,
    /// Largest minus smallest value.
    pub range: f64,
}

/// Looks windows over; nothing is allocated after it was made.
#[derive(Debug, Clone)]
pub struct Quality {
    flat: usize,
    saturated: usize,
    limit: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Per channel: values in a row that are equal up to here, the longest such run, and the longest at an extreme.
    run: Vec<usize>,
    longest: Vec<usize>,
    extreme: Vec<usize>,
    last: Vec<f64>,
    ranges: Vec<f64>,
    electrodes: Vec<Electrode>,
}

impl Quality {
    /// For so many channels at a rate; `microvolts` are in a unit of the samples, none where it is no voltage.
    pub fn new(channels: usize, rate: f64, microvolts: Option<f64>) -> Self {
        let zeros = vec![0.0; channels];
        Self {
            flat: (FLAT_SECONDS * rate).ceil() as usize,
            saturated: ((SATURATED_SECONDS * rate).ceil() as usize).max(SATURATED_SAMPLES),
            limit: microvolts.map_or(f64::INFINITY, |m| OUT_OF_RANGE / m),
            low: zeros.clone(),
            high: zeros.clone(),
            run: vec![0; channels],
            longest: vec![0; channels],
            extreme: vec![0; channels],
            last: zeros.clone(),
            ranges: zeros,
            electrodes: vec![
                Electrode {
                    fault: None,
                    range: 0.0
                };
                channels
            ],
        }
    }

    /// The electrodes of the last window that was looked at.
    pub fn electrodes(&self) -> &[Electrode] {
        &self.electrodes
    }

    /// Looks at the frames of a window, in order. The first fault and its channel, where there is one.
    pub fn judge<'a>(
        &mut self,
        frames: impl Iterator<Item = &'a [f64]> + Clone,
    ) -> Option<(Reason, usize)> {
        self.extremes(frames.clone());
        self.runs(frames);
        let n = self.low.len();
        for c in 0..n {
            self.ranges[c] = self.high[c] - self.low[c];
        }
        self.ranges.sort_unstable_by(f64::total_cmp);
        let median = self.ranges[n / 2];
        let mut first = None;
        for c in 0..n {
            let range = self.high[c] - self.low[c];
            let fault = if range <= FLAT_SHARE * median || self.longest[c] >= self.flat {
                Some(Reason::Flat)
            } else if range > self.limit {
                Some(Reason::OutOfRange)
            } else if self.extreme[c] >= self.saturated {
                Some(Reason::Saturated)
            } else {
                None
            };
            self.electrodes[c] = Electrode { fault, range };
            first = first.or(fault.map(|reason| (reason, c)));
        }
        first
    }

    fn extremes<'a>(&mut self, frames: impl Iterator<Item = &'a [f64]>) {
        self.low.fill(f64::INFINITY);
        self.high.fill(f64::NEG_INFINITY);
        for frame in frames {
            let all = self.low.iter_mut().zip(&mut self.high).zip(frame);
            for ((low, high), &x) in all {
                *low = if x < *low { x } else { *low };
                *high = if x > *high { x } else { *high };
            }
        }
    }

    /// The longest run of equal values of every channel, anywhere and at an extreme.
    fn runs<'a>(&mut self, frames: impl Iterator<Item = &'a [f64]>) {
        self.run.fill(0);
        self.longest.fill(0);
        self.extreme.fill(0);
        self.last.fill(f64::NAN);
        for frame in frames {
            for c in 0..frame.len() {
                let x = frame[c];
                let run = if x == self.last[c] {
                    self.run[c] + 1
                } else {
                    1
                };
                self.run[c] = run;
                self.last[c] = x;
                self.longest[c] = self.longest[c].max(run);
                if x == self.low[c] || x == self.high[c] {
                    self.extreme[c] = self.extreme[c].max(run);
                }
            }
        }
    }
}
