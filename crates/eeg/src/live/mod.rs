//! The signal part of live decoding: blocks of samples in, the covariances of any window of the
//! recent past out.
//!
//! ```text
//!            ┌─ causal filter of band 1 ─▶ ring, sums of 16, 64, 256 samples ─┐
//! samples ───┤                                                               ├─▶ C_v(start) of every view v
//!            └─ causal filter of band 2 ─▶ ring, sums of 16, 64, 256 samples ─┘
//! ```
//!
//! Bands are filtered once, however many views look at them. The work of a window is done while its
//! samples arrive: of every [`BLOCK`] samples, and of every four and sixteen such blocks, the mean
//! `m_b` and the centred products `G_b` are kept, and a window of `W` samples that consists of
//! blocks `b` of `w_b` samples has
//!
//! ```text
//! m = Σ w_b m_b / W        C = (Σ G_b + Σ w_b (m_b − m)(m_b − m)ᵀ) / W
//! ```
//!
//! (Chan, Golub, LeVeque, Am. Stat. 37, 1983). Nothing is ever taken off a sum, so rounding does
//! not build up, and large offsets cancel within blocks. Ledoit–Wolf and Schäfer–Strimmer need
//! fourth moments and are computed from the ring.
//!
//! What comes out does not depend on how the samples were cut into blocks, to the bit. Once made,
//! the chain allocates nothing but at a restart. Samples are sample-major, as amplifiers deliver
//! them: all channels of the first sample, then of the second.

mod blocks;

use crate::covariance::Estimator;
use crate::signal::{FilterState, Sos, kernel};
use crate::tolerance::SETTLED;
use crate::{EegError, Result};
pub use blocks::BLOCK;
use blocks::{Blocks, Pieces, Summary};
use stiefel_data::DataError;

/// One covariance of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSpec {
    /// The band, by its place in [`LiveConfig::bands`].
    pub band: usize,
    /// Samples in the window.
    pub samples: usize,
}

/// What the live chain computes.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveConfig {
    /// Number of channels.
    pub channels: usize,
    /// The causal filter of every band; none for samples that are filtered already.
    pub bands: Vec<Option<Sos>>,
    /// The views.
    pub views: Vec<WindowSpec>,
    /// How many of the last samples can be looked at; at least as many as the longest view has.
    pub memory: usize,
    /// How covariances are estimated.
    pub estimator: Estimator,
}

/// Causal filters, their recent output, and covariances of it.
///
/// ```
/// use stiefel_eeg::covariance::Estimator;
/// use stiefel_eeg::live::{Live, LiveConfig, WindowSpec};
/// use stiefel_eeg::signal::{Band, Sos};
/// let filter = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0)?;
/// let views = vec![
///     WindowSpec {
///         band: 0,
///         samples: 500,
///     },
///     WindowSpec {
///         band: 0,
///         samples: 250,
///     },
/// ];
/// let mut live = Live::new(LiveConfig {
///     channels: 2,
///     bands: vec![Some(filter)],
///     views,
///     memory: 600,
///     estimator: Estimator::Sample,
/// })?;
/// for block in (0..100).map(|b| {
///     (0..20)
///         .map(|i| f64::from((b * 20 + i) * 37 % 101))
///         .collect::<Vec<_>>()
/// }) {
///     live.push(&block)?;
/// }
/// let mut covariance = [0.0; 4];
/// live.covariance(1, live.samples() - 250, &mut covariance)?;
/// assert!(covariance[0] > 0.0);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    config: LiveConfig,
    filters: Vec<Option<(Sos, FilterState)>>,
    blocks: Vec<Blocks>,
    lanes: Vec<kernel::Lane>,
    frames: Vec<f64>,
    /// Samples since the start, those that were skipped included.
    seen: u64,
    /// Where the present stretch without a gap began.
    began: u64,
    summary: Summary,
    /// Of the window of every view that was asked for, or announced, last.
    pieces: Vec<Pieces>,
}

impl Live {
    /// Checks the configuration and reserves all memory the chain will ever need.
    pub fn new(config: LiveConfig) -> Result<Self> {
        check(&config)?;
        let n = config.channels;
        let blocks = vec![Blocks::new(n, config.memory); config.bands.len()];
        let filters = config.bands.iter().cloned();
        let filters = filters.map(|sos| {
            sos.map(|sos| {
                let state = FilterState::new(&sos, n);
                (sos, state)
            })
        });
        Ok(Self {
            filters: filters.collect(),
            lanes: vec![kernel::ZERO; kernel::CHUNK],
            frames: Vec::with_capacity(kernel::CHUNK * n),
            summary: Summary::new(n, config.memory),
            // Each made anew: a clone has no room beyond what it holds.
            pieces: (0..config.views.len())
                .map(|_| Pieces::new(n, config.memory))
                .collect(),
            blocks,
            seen: 0,
            began: 0,
            config,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &LiveConfig {
        &self.config
    }

    /// Samples since the start, those that were skipped included.
    pub fn samples(&self) -> u64 {
        self.seen
    }

    /// The first sample of the present stretch without a gap.
    pub fn began(&self) -> u64 {
        self.began
    }

    /// The first sample from which on the filters have forgotten how they started, to [`SETTLED`].
    pub fn settled(&self) -> u64 {
        self.began + self.settling() as u64
    }

    /// How many samples the filters take for that.
    pub fn settling(&self) -> usize {
        let slowest = self.config.bands.iter().flatten().map(Sos::settling);
        slowest.max().unwrap_or(0)
    }

    /// Takes in a block of any number of samples.
    ///
    /// Refuses a block that is no whole number of samples or holds a value that is not finite; the
    /// chain is then as it was before.
    pub fn push(&mut self, block: &[f64]) -> Result<()> {
        let n = self.config.channels;
        self.check_block(block)?;
        if self.seen == self.began
            && let Some(first) = block.get(..n)
        {
            self.settle(first);
        }
        for piece in block.chunks(kernel::CHUNK * n) {
            for (filter, blocks) in self.filters.iter_mut().zip(&mut self.blocks) {
                self.frames.clear();
                self.frames.extend_from_slice(piece);
                if let Some((sos, state)) = filter {
                    filter_frames(sos, state, &mut self.frames, n, &mut self.lanes);
                }
                blocks
                    .push(&self.frames, self.seen, self.began)
                    .map_err(DataError::from)?;
            }
            self.seen += (piece.len() / n) as u64;
        }
        Ok(())
    }

    /// Samples are missing here: `count` are counted and none is made up. The filters start again,
    /// with the next sample.
    pub fn skip(&mut self, count: u64) {
        self.seen = self.seen.saturating_add(count);
        self.began = self.seen;
    }

    /// Does what can be done by now of the covariance of a view over its window from sample `start`
    /// on, which will be asked for next. The covariance is the same to the bit; it is there
    /// sooner after the last sample.
    pub fn anticipate(&mut self, view: usize, start: u64) {
        let Some(&WindowSpec { band, samples }) = self.config.views.get(view) else {
            return;
        };
        let moments = matches!(self.config.estimator, Estimator::Sample | Estimator::Oas);
        let oldest = self.seen.saturating_sub(self.config.memory as u64);
        if moments && start >= self.began.max(oldest) {
            let window = (start, start.saturating_add(samples as u64));
            let (blocks, pieces) = (&mut self.blocks[band], &mut self.pieces[view]);
            // A refusal is found again, and said, where the covariance is asked for.
            let _ = blocks
                .settle()
                .and_then(|()| blocks.advance(window, self.seen, pieces, &mut self.summary));
        }
    }

    /// The covariance of a view over its window from sample `start` on, `n × n`.
    ///
    /// Refuses a window that is not wholly in the present stretch and in memory.
    pub fn covariance(&mut self, view: usize, start: u64, out: &mut [f64]) -> Result<()> {
        let n = self.config.channels;
        let Some(&WindowSpec { band, samples }) = self.config.views.get(view) else {
            return Err(EegError::invalid(
                format!("view {view} of {} was asked for", self.config.views.len()),
                "count views from 0",
            ));
        };
        let end = start.saturating_add(samples as u64);
        let oldest = self.seen.saturating_sub(self.config.memory as u64);
        if start < self.began.max(oldest) || end > self.seen || out.len() != n * n {
            return Err(EegError::invalid(
                format!(
                    "a window of samples {start} to {end} into {} values was asked for; there are \
                     samples {} to {} of {n} channels",
                    out.len(),
                    self.began.max(oldest),
                    self.seen
                ),
                "ask for a window after the last gap and within the memory",
            ));
        }
        let found = self.blocks[band].covariance(
            (start, samples),
            self.config.estimator,
            &mut self.pieces[view],
            &mut self.summary,
            out,
        );
        Ok(found.map_err(DataError::from)?)
    }

    fn check_block(&self, block: &[f64]) -> Result<()> {
        let n = self.config.channels;
        if !block.len().is_multiple_of(n) {
            return Err(EegError::invalid(
                format!(
                    "a block of {} values is not a whole number of samples of {n} channels (at \
                     sample {})",
                    block.len(),
                    self.seen
                ),
                "pass all channels of the first sample, then of the second, and so on",
            ));
        }
        let Some(at) = block.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        Err(EegError::invalid(
            format!(
                "sample {}, channel {}: the value is {}",
                self.seen + (at / n) as u64,
                at % n,
                block[at]
            ),
            "leave the sample out and skip it",
        ))
    }

    /// The filters as if the first sample had been there for ever.
    fn settle(&mut self, first: &[f64]) {
        for (sos, state) in self.filters.iter_mut().flatten() {
            *state = FilterState::settled(sos, first);
        }
    }
}

/// Values a chain may hold: 2 GiB, far beyond any amplifier.
const MAX_VALUES: usize = 1 << 28;

fn check(config: &LiveConfig) -> Result<()> {
    let (n, memory, bands) = (config.channels, config.memory, config.bands.len());
    // A memory beyond any bound is refused before the ring is rounded up to whole blocks; blocks of
    // all sizes together are fewer than two for every sixteen samples.
    let ring = (memory <= MAX_VALUES).then(|| blocks::capacity(memory));
    let size = ring.and_then(|ring| {
        let products = n.checked_mul(n)?.checked_mul(2 * ring / BLOCK)?;
        ring.checked_mul(n)?
            .checked_add(products)?
            .checked_mul(bands)
    });
    let view = |v: &WindowSpec| v.samples < 2 || v.samples > memory || v.band >= bands;
    let bad = config.views.iter().position(view);
    if n > 0 && size.is_some_and(|s| s <= MAX_VALUES) && bad.is_none() && !config.views.is_empty() {
        return Ok(());
    }
    let views: Vec<usize> = config.views.iter().map(|v| v.samples).collect();
    Err(EegError::invalid(
        format!(
            "a live chain of {n} channels, {bands} bands, windows of {views:?} samples and a \
             memory of {memory} samples was asked for"
        ),
        format!(
            "take at least one channel and one view, at least two samples per window and no more \
             than the memory, and at most {MAX_VALUES} values in memory"
        ),
    ))
}

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
        // A whole group is a register, a part of one a call for every sample.
        for (lane, frame) in lanes.iter_mut().zip(frames.chunks_exact(n)) {
            if let Some(whole) = frame[first..].first_chunk() {
                *lane = *whole;
            } else {
                *lane = kernel::ZERO;
                lane[..width].copy_from_slice(&frame[first..]);
            }
        }
        kernel::cascade(
            sos.sections(),
            state.group_mut(first / kernel::LANES),
            lanes,
            kernel::Direction::Forward,
        );
        for (lane, frame) in lanes.iter().zip(frames.chunks_exact_mut(n)) {
            match frame[first..].first_chunk_mut() {
                Some(whole) => *whole = *lane,
                None => frame[first..].copy_from_slice(&lane[..width]),
            }
        }
    }
}

impl Sos {
    /// After how many samples what a filter remembers has fallen to [`SETTLED`] of itself: that of
    /// its slowest pole.
    pub fn settling(&self) -> usize {
        let radius = |&[.., a1, a2]: &[f64; 6]| {
            let discriminant = a1 * a1 - 4.0 * a2;
            if discriminant < 0.0 {
                a2.sqrt()
            } else {
                f64::midpoint(a1.abs(), discriminant.sqrt())
            }
        };
        let slowest = self.sections().iter().map(radius).fold(0.0, f64::max);
        (SETTLED.ln() / slowest.ln()).ceil().max(0.0) as usize
    }
}
