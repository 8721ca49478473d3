//! The chain for live use: blocks of samples in, one covariance per hop out.
//!
//! ```text
//! block ──causal filter, state carried on──▶ ring of the last W samples ──every H samples──▶ C of the window
//! ```
//!
//! With `c` a fixed centre, `S = Σ(x_t − c)` and `Q = Σ(x_t − c)(x_t − c)ᵀ` over the window, the covariance divided by `W` is
//! `Q/W − (S/W)(S/W)ᵀ`. A hop adds the products of `H` new samples and takes off those of the `H` oldest. Rounding
//! errors of what was added and taken off stay behind, so an upper bound of them is carried along, and as soon as it exceeds
//! [`DRIFT_BOUND`] of the window's power (or every [`EXACT_EVERY`] hops) the sums are taken anew from the ring.
//!
//! What comes out does not depend on how the samples were cut into blocks, to the bit. After the first window nothing is
//! allocated. Blocks are sample-major, as amplifiers deliver them: all channels of the first sample, then of the second.

mod window;

use std::ops::ControlFlow;

use crate::covariance::Estimator;
use crate::signal::{FilterState, Sos, kernel};
use crate::{EegError, Result};
use window::SlidingCovariance;
pub use window::{DRIFT_BOUND, EXACT_EVERY};

/// What the live chain computes.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveConfig {
    /// Number of channels.
    pub channels: usize,
    /// The causal filter, or none for samples that are filtered already.
    pub filter: Option<Sos>,
    /// Samples in a window.
    pub window: usize,
    /// Samples from one window to the next.
    pub hop: usize,
    /// How the covariance is estimated. `Sample` and `Oas` are updated from hop to hop; the others need all products of
    /// a window and are computed afresh.
    pub estimator: Estimator,
}

/// The covariance of one window, borrowed from the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveWindow<'a> {
    /// Place of the first sample of the window since the start of the stream.
    pub start: u64,
    /// Place after the last sample of the window.
    pub end: u64,
    /// The covariance, `n × n`.
    pub covariance: &'a [f64],
}

/// A causal filter, a sliding window and its covariance.
///
/// ```
/// use stiefel_eeg::covariance::Estimator;
/// use stiefel_eeg::live::{Live, LiveConfig};
/// use stiefel_eeg::signal::{Band, Sos};
/// let filter = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0)?;
/// let mut live = Live::new(LiveConfig { channels: 2, filter: Some(filter), window: 500, hop: 50, estimator: Estimator::Sample })?;
/// let mut windows = 0;
/// for block in (0..100).map(|b| (0..20).map(|i| f64::from((b * 20 + i) * 37 % 101)).collect::<Vec<_>>()) {
///     windows += live.push(&block, |window| assert_eq!(window.covariance.len(), 4))?;
/// }
/// assert_eq!(windows, 1 + (1000 - 500) / 50);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    config: LiveConfig,
    filter: Option<(Sos, FilterState)>,
    lanes: Vec<kernel::Lane>,
    frames: Vec<f64>,
    sliding: SlidingCovariance,
}

impl Live {
    /// Checks the configuration and reserves all memory the chain will ever need.
    pub fn new(config: LiveConfig) -> Result<Self> {
        let (n, w, h) = (config.channels, config.window, config.hop);
        let size = w
            .checked_mul(n)
            .and_then(|s| s.checked_add(n.checked_mul(n)?));
        if n == 0 || w < 2 || h == 0 || size.is_none_or(|s| s > MAX_VALUES) {
            return Err(EegError::Invalid {
                what: format!(
                    "a live chain of {n} channels, windows of {w} samples and hops of {h} was asked for"
                ),
                remedy: format!(
                    "take at least one channel, two samples per window, one per hop, and at most {MAX_VALUES} values in memory"
                ),
            });
        }
        let filter = config.filter.clone().map(|sos| {
            let state = FilterState::new(&sos, n);
            (sos, state)
        });
        Ok(Self {
            filter,
            lanes: vec![kernel::ZERO; kernel::CHUNK],
            frames: Vec::with_capacity(kernel::CHUNK * n),
            sliding: SlidingCovariance::new(n, w, h, config.estimator),
            config,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &LiveConfig {
        &self.config
    }

    /// Samples taken in since the start.
    pub fn samples(&self) -> u64 {
        self.sliding.samples()
    }

    /// Takes in a block of any number of samples, calls `on_window` for every window it completes, and
    /// returns how many there were.
    ///
    /// Refuses a block that is no whole number of samples or holds a value that is not finite; the chain is
    /// then as it was before.
    pub fn push(
        &mut self,
        block: &[f64],
        mut on_window: impl FnMut(LiveWindow<'_>),
    ) -> Result<usize> {
        let n = self.config.channels;
        if !block.len().is_multiple_of(n) {
            return Err(EegError::Invalid {
                what: format!(
                    "a block of {} values is no whole number of samples of {n} channels (at sample {})",
                    block.len(),
                    self.samples()
                ),
                remedy: "pass all channels of the first sample, then of the second, and so on"
                    .into(),
            });
        }
        if let Some(at) = block.iter().position(|x| !x.is_finite()) {
            return Err(EegError::Invalid {
                what: format!(
                    "sample {}, channel {}: the value is {}",
                    self.samples() + (at / n) as u64,
                    at % n,
                    block[at]
                ),
                remedy: "drop the block, or repeat the last good sample in its place".into(),
            });
        }
        let mut windows = 0;
        for piece in block.chunks(kernel::CHUNK * n) {
            self.frames.clear();
            self.frames.extend_from_slice(piece);
            if let Some((sos, state)) = &mut self.filter {
                filter_frames(sos, state, &mut self.frames, n, &mut self.lanes);
            }
            windows += self.sliding.push(&self.frames, &mut on_window);
        }
        Ok(windows)
    }

    /// Takes in a stream of blocks until it ends, fails, or `on_window` breaks.
    pub fn run<B: AsRef<[f64]>>(
        &mut self,
        blocks: impl IntoIterator<Item = B>,
        mut on_window: impl FnMut(LiveWindow<'_>) -> ControlFlow<()>,
    ) -> Result<usize> {
        let mut windows = 0;
        for block in blocks {
            let mut flow = ControlFlow::Continue(());
            windows += self.push(block.as_ref(), |window| {
                if flow.is_continue() {
                    flow = on_window(window);
                }
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(windows)
    }

    /// Forgets all samples, as if newly made.
    pub fn reset(&mut self) {
        if let Some((sos, state)) = &mut self.filter {
            *state = FilterState::new(sos, self.config.channels);
        }
        self.sliding.reset();
    }
}

/// Values a chain may hold: 2 GiB, far beyond any amplifier.
const MAX_VALUES: usize = 1 << 28;

/// Filters sample-major frames in place, a group of channels at a time.
fn filter_frames(
    sos: &Sos,
    state: &mut FilterState,
    frames: &mut [f64],
    n: usize,
    lanes: &mut [kernel::Lane],
) {
    let lanes = &mut lanes[..frames.len() / n];
    for first in (0..n).step_by(kernel::LANES) {
        let width = kernel::LANES.min(n - first);
        for (lane, frame) in lanes.iter_mut().zip(frames.chunks_exact(n)) {
            *lane = kernel::ZERO;
            lane[..width].copy_from_slice(&frame[first..first + width]);
        }
        kernel::cascade(
            sos.sections(),
            state.group_mut(first / kernel::LANES),
            lanes,
            kernel::Direction::Forward,
        );
        for (lane, frame) in lanes.iter().zip(frames.chunks_exact_mut(n)) {
            frame[first..first + width].copy_from_slice(&lane[..width]);
        }
    }
}
