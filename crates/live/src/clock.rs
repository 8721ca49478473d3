//! From time stamps to places on the grid of samples: jitter is removed, gaps are found, a rate
//! that is a little off is followed.
//!
//! Sample `k` is expected at `t̂_k = t̂_{k−1} + p`; its stamp is off by `r = t_k − t̂_k`. While `|r|`
//! is within the jitter,
//!
//! ```text
//! t̂ ← t̂ + α r        p ← p + β r        s ← s + (|r| − s)/K
//! ```
//!
//! with `α = 2/K`, `β = α²/4` (a critically damped loop over `K` samples; `α = 1/j` and no `β` for
//! the first `j ≤ K/2` samples, a plain mean) and `s` the mean deviation. A stamp that is late by
//! more than `max(`[`GAP_SAMPLES`]` p, `[`GAP_DEVIATIONS`]` s)` may be a gap, or a machine that
//! hiccuped: samples are held back until a later stamp is where it was expected (a hiccup) or
//! [`GAP_SECONDS`] of them agree (a gap of `round(min r/p)` samples). Nothing is ever glued. A
//! stamp that is early by as much starts the clock anew: samples cannot be taken back.

use std::collections::VecDeque;

use crate::tolerance::{CLOCK_SECONDS, GAP_DEVIATIONS, GAP_SAMPLES, GAP_SECONDS, RATE_OFF};

/// The clock of a stream.
#[derive(Debug, Clone)]
pub struct Clock {
    nominal: f64,
    period: f64,
    expected: Option<f64>,
    deviation: f64,
    samples: f64,
    window: f64,
    /// Stamps that are not placed yet, how many of them are known to be in order, and how many
    /// must agree on a gap.
    held: VecDeque<f64>,
    certain: usize,
    agreeing: usize,
}

impl Clock {
    /// For a stream of this many samples per second.
    pub fn new(rate: f64) -> Self {
        let agreeing = ((GAP_SECONDS * rate).ceil() as usize).max(2);
        Self {
            nominal: 1.0 / rate,
            period: 1.0 / rate,
            expected: None,
            deviation: 0.0,
            samples: 0.0,
            window: (CLOCK_SECONDS * rate).max(8.0),
            held: VecDeque::with_capacity(2 * agreeing),
            certain: 0,
            agreeing,
        }
    }

    /// Takes the stamp of the next sample. [`Clock::place`] says when a sample has its place.
    pub fn offer(&mut self, stamp: f64) {
        self.held.push_back(stamp);
    }

    /// Places the oldest sample that has none yet: how many samples are missing before it. None
    /// where there is none, or it is not clear yet.
    ///
    /// ```
    /// use stiefel_live::Clock;
    /// let mut clock = Clock::new(100.0);
    /// let mut missing = Vec::new();
    /// for stamp in (0..100)
    ///     .filter(|k| !(20..24).contains(k))
    ///     .map(|k| 5.0 + f64::from(k) / 100.0)
    /// {
    ///     clock.offer(stamp);
    ///     while let Some(count) = clock.place() {
    ///         missing.push(count);
    ///     }
    /// }
    /// assert_eq!(
    ///     (missing.len(), missing[20], missing.iter().sum::<u64>()),
    ///     (96, 4, 4)
    /// );
    /// ```
    pub fn place(&mut self) -> Option<u64> {
        let first = *self.held.front()?;
        let Some(last) = self.expected else {
            self.held.pop_front();
            self.expected = Some(first);
            return Some(0);
        };
        // A clock that was set back is that of another stream: how long it was away is not known,
        // that something is missing is.
        if first < last + self.period - GAP_SECONDS {
            self.held.pop_front();
            self.expected = Some(first);
            return Some(1);
        }
        if self.certain > 0 || first - (last + self.period) <= self.limit() {
            self.certain = self.certain.saturating_sub(1);
            self.absorb();
            return Some(0);
        }
        let off = |(k, stamp): (usize, &f64)| stamp - (last + (k + 1) as f64 * self.period);
        let mut late = self.held.iter().enumerate().map(off);
        if let Some(in_order) = late.position(|off| off <= self.limit()) {
            self.certain = in_order - 1;
            self.absorb();
            return Some(0);
        }
        if self.held.len() < self.agreeing {
            return None;
        }
        let least = self
            .held
            .iter()
            .enumerate()
            .map(off)
            .fold(f64::INFINITY, f64::min);
        let missing = (least / self.period).round();
        self.expected = Some(last + missing * self.period);
        self.absorb();
        Some(missing as u64)
    }

    /// How late a stamp may be and still be jitter.
    fn limit(&self) -> f64 {
        (GAP_SAMPLES * self.period).max(GAP_DEVIATIONS * self.deviation)
    }

    /// Takes the oldest stamp as that of the next sample.
    fn absorb(&mut self) {
        let (Some(stamp), Some(last)) = (self.held.pop_front(), self.expected) else {
            return;
        };
        let expected = last + self.period;
        let off = stamp - expected;
        if off < -self.limit() {
            self.expected = Some(stamp);
            return;
        }
        self.samples += 1.0;
        let steady = self.samples > 0.5 * self.window;
        let alpha = if steady {
            2.0 / self.window
        } else {
            (1.0 / self.samples).max(2.0 / self.window)
        };
        self.expected = Some(expected + alpha * off);
        if steady {
            self.period += 0.25 * alpha * alpha * off;
        }
        self.deviation += (off.abs() - self.deviation) / self.samples.min(self.window);
    }

    /// When the last sample that has its place was taken, without jitter.
    pub fn time(&self) -> Option<f64> {
        self.expected
    }

    /// How many samples after (before, where negative) that one a moment is.
    pub fn samples_to(&self, time: f64) -> Option<f64> {
        Some((time - self.expected?) / self.period)
    }

    /// Samples per second, as measured.
    pub fn rate(&self) -> f64 {
        1.0 / self.period
    }

    /// The mean deviation of the stamps, in seconds.
    pub fn jitter(&self) -> f64 {
        self.deviation
    }

    /// Whether the measured rate is another one than it should be.
    pub fn is_off(&self) -> bool {
        (self.period / self.nominal - 1.0).abs() > RATE_OFF
    }
}
