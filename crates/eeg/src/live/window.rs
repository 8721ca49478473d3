//! The covariance of a sliding window, updated hop by hop; the formulas are in the parent module.

use super::LiveWindow;
use crate::covariance::{Estimator, Layout, Scratch, estimate, gram_lower, mirror, oas, unbiased};

pub use stiefel_linalg::tolerance::{DRIFT_BOUND, EXACT_EVERY};

#[derive(Debug, Clone)]
pub(super) struct SlidingCovariance {
    n: usize,
    window: usize,
    hop: usize,
    estimator: Estimator,
    /// Whether a hop changes the sums, rather than taking them anew: it must touch less than a window.
    incremental: bool,
    /// The last samples, sample-major; sample `t` is at `t % capacity`.
    ring: Vec<f64>,
    capacity: usize,
    seen: u64,
    /// Where the next window ends.
    end: u64,
    /// `c`, `S` and the lower triangle of `Q`.
    centre: Vec<f64>,
    sum: Vec<f64>,
    products: Vec<f64>,
    /// Hops since the sums were last taken anew, and the bound of each channel's rounding error since.
    hops: u32,
    error: Vec<f64>,
    gathered: Vec<f64>,
    covariance: Vec<f64>,
    scratch: Scratch,
}

impl SlidingCovariance {
    pub(super) fn new(n: usize, window: usize, hop: usize, estimator: Estimator) -> Self {
        let incremental =
            matches!(estimator, Estimator::Sample | Estimator::Oas) && hop < window / 2;
        // A hop's worth of old samples is still needed when the new ones are there.
        let capacity = if incremental { window + hop } else { window };
        Self {
            n,
            window,
            hop,
            estimator,
            incremental,
            ring: vec![0.0; n * capacity],
            capacity,
            seen: 0,
            end: window as u64,
            centre: vec![0.0; n],
            sum: vec![0.0; n],
            products: vec![0.0; n * n],
            hops: EXACT_EVERY,
            error: vec![0.0; n],
            gathered: vec![0.0; n * window],
            covariance: vec![0.0; n * n],
            scratch: Scratch::default(),
        }
    }

    pub(super) fn samples(&self) -> u64 {
        self.seen
    }

    pub(super) fn reset(&mut self) {
        self.seen = 0;
        self.end = self.window as u64;
        self.hops = EXACT_EVERY;
    }

    /// Takes in finite frames and reports the windows they complete. All arithmetic happens at the end of
    /// a window, on samples that do not depend on how they arrived.
    pub(super) fn push(
        &mut self,
        mut frames: &[f64],
        on_window: &mut impl FnMut(LiveWindow<'_>),
    ) -> usize {
        let mut windows = 0;
        while !frames.is_empty() {
            let at = (self.seen % self.capacity as u64) as usize;
            let until_end = usize::try_from(self.end - self.seen).unwrap_or(usize::MAX);
            let count = (frames.len() / self.n)
                .min(self.capacity - at)
                .min(until_end);
            let (now, later) = frames.split_at(count * self.n);
            self.ring[at * self.n..(at + count) * self.n].copy_from_slice(now);
            self.seen += count as u64;
            frames = later;
            if self.seen == self.end {
                self.finish();
                self.end = self.end.saturating_add(self.hop as u64);
                on_window(LiveWindow {
                    start: self.seen - self.window as u64,
                    end: self.seen,
                    covariance: &self.covariance,
                });
                windows += 1;
            }
        }
        windows
    }

    /// The covariance of the window that ends with the last sample.
    fn finish(&mut self) {
        match self.estimator {
            Estimator::Sample | Estimator::Oas => {
                if self.incremental && self.hops < EXACT_EVERY {
                    self.slide();
                } else {
                    self.renew();
                }
                self.central_moments();
                if self.has_drifted() {
                    self.renew();
                    self.central_moments();
                }
                mirror(&mut self.covariance, self.n);
                match self.estimator {
                    Estimator::Oas => oas(&mut self.covariance, self.n, self.window),
                    _ => unbiased(&mut self.covariance, self.window),
                }
            }
            Estimator::LedoitWolf | Estimator::SchaeferStrimmer => {
                self.gather_channels();
                estimate(
                    self.estimator,
                    self.gathered.chunks_exact(self.window),
                    self.window,
                    &mut self.scratch,
                    &mut self.covariance,
                );
            }
        }
    }

    /// Takes off the oldest hop and adds the newest.
    fn slide(&mut self) {
        let hop = self.hop as u64;
        self.add(self.seen - self.window as u64 - hop, self.hop, -1.0);
        self.add(self.seen - hop, self.hop, 1.0);
        self.hops += 1;
    }

    /// Takes the sums anew, about the mean of the window.
    fn renew(&mut self) {
        let start = self.seen - self.window as u64;
        self.centre.fill(0.0);
        for t in start..self.seen {
            let frame = frame(&self.ring, self.capacity, self.n, t);
            for (c, x) in self.centre.iter_mut().zip(frame) {
                *c += x;
            }
        }
        for c in &mut self.centre {
            *c /= self.window as f64;
        }
        self.sum.fill(0.0);
        self.products.fill(0.0);
        self.error.fill(0.0);
        self.hops = 0;
        self.add(start, self.window, 1.0);
        self.error.fill(0.0);
    }

    /// Adds (`sign` 1) or takes off (−1) `count` samples from place `start` on.
    fn add(&mut self, start: u64, count: usize, sign: f64) {
        let n = self.n;
        let shifted = &mut self.gathered[..count * n];
        for (t, out) in (start..).zip(shifted.chunks_exact_mut(n)) {
            let frame = frame(&self.ring, self.capacity, n, t);
            for i in 0..n {
                out[i] = frame[i] - self.centre[i];
                self.sum[i] += sign * out[i];
                // Each product is rounded once when formed and once more when added.
                self.error[i] += 2.0 * f64::EPSILON * out[i] * out[i];
            }
        }
        gram_lower(
            shifted,
            n,
            count,
            Layout::SampleMajor,
            sign,
            true,
            &mut self.products,
        );
        for i in 0..n {
            self.error[i] += 2.0 * f64::EPSILON * self.products[i * n + i].abs();
        }
    }

    /// The lower triangle of `Q/W − (S/W)(S/W)ᵀ`.
    fn central_moments(&mut self) {
        let (n, w) = (self.n, self.window as f64);
        for i in 0..n {
            for j in 0..=i {
                self.covariance[i * n + j] =
                    self.products[i * n + j] / w - self.sum[i] / w * (self.sum[j] / w);
            }
        }
    }

    /// Whether rounding may have reached [`DRIFT_BOUND`] of any channel's power.
    fn has_drifted(&self) -> bool {
        let w = self.window as f64;
        (0..self.n)
            .any(|i| self.error[i] > DRIFT_BOUND * w * self.covariance[i * self.n + i].max(0.0))
    }

    fn gather_channels(&mut self) {
        let (n, w) = (self.n, self.window);
        for t in 0..w {
            let frame = frame(&self.ring, self.capacity, n, self.seen - (w - t) as u64);
            for i in 0..n {
                self.gathered[i * w + t] = frame[i];
            }
        }
    }
}

fn frame(ring: &[f64], capacity: usize, n: usize, t: u64) -> &[f64] {
    let at = (t % capacity as u64) as usize;
    &ring[at * n..(at + 1) * n]
}
