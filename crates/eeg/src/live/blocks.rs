//! The filtered samples of one band, with the mean and the centred products of every block of them;
//! the formulas are in the parent module.

use crate::covariance::{Estimator, Scratch, estimate, mirror, oas, unbiased};
use stiefel_linalg::{Layout, Result, gram_lower};

/// Samples of a block.
pub const BLOCK: usize = 16;

/// Blocks of every next size are four of the size before. A window of three seconds at 160 Hz is
/// then made of about ten pieces; of blocks of one size it would be made of thirty or more, and
/// adding them up was most of a decision at 64 channels.
const SIZES: [usize; 3] = [BLOCK, 4 * BLOCK, 16 * BLOCK];

/// The recent past of one band.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    n: usize,
    /// The last samples, sample-major; sample `t` is at `t % capacity`, and `capacity` is a
    /// multiple of every size.
    ring: Vec<f64>,
    capacity: usize,
    levels: Vec<Level>,
    /// Where the last block of the smallest size ended, and where its stretch began, as long as
    /// the larger blocks that end there too are not made.
    due: Option<(u64, u64)>,
    /// Buffers of one block.
    centred: Vec<f64>,
    gram: Vec<f64>,
}

/// Of every block of one size its mean and the lower triangle of its centred products, row by row;
/// block `b` is at `b % (capacity/size)`.
#[derive(Debug, Clone)]
struct Level {
    size: usize,
    means: Vec<f64>,
    products: Vec<f64>,
}

impl Level {
    /// Mean and products of the block at a place of the ring.
    fn at(&self, place: usize, n: usize) -> (&[f64], &[f64]) {
        let (block, packed) = (place / self.size, triangle(n));
        (
            &self.means[block * n..][..n],
            &self.products[block * packed..][..packed],
        )
    }
}

/// Samples in the ring. One block more than the memory: the one that is being filled must not
/// overwrite what can still be asked for.
pub(super) fn capacity(memory: usize) -> usize {
    let largest = SIZES[SIZES.len() - 1];
    (memory.div_ceil(largest) + 1) * largest
}

/// The pieces of one window that have been added up so far: those before sample `at`. Which pieces
/// a window is made of follows from where it begins and ends, and they are added in order, so that
/// it makes no difference to the bit when that is done.
#[derive(Debug, Clone)]
pub(super) struct Pieces {
    start: u64,
    end: u64,
    at: u64,
    /// The means of the pieces, `w_b` of each, and the sum of their products.
    means: Vec<f64>,
    weights: Vec<usize>,
    products: Vec<f64>,
}

impl Pieces {
    pub(super) fn new(n: usize, memory: usize) -> Self {
        let pieces = memory / BLOCK + 2;
        Self {
            start: 0,
            end: 0,
            at: 0,
            means: Vec::with_capacity(pieces * n),
            weights: Vec::with_capacity(pieces),
            products: vec![0.0; triangle(n)],
        }
    }

    /// Nothing of a window yet.
    fn restart(&mut self, start: u64, end: u64) {
        (self.start, self.end, self.at) = (start, end, start);
        self.means.clear();
        self.weights.clear();
        self.products.fill(0.0);
    }
}

/// Buffers for the covariance of a window.
#[derive(Debug, Clone)]
pub(super) struct Summary {
    mean: Vec<f64>,
    piece: Vec<f64>,
    gathered: Vec<f64>,
    scratch: Scratch,
}

impl Summary {
    pub(super) fn new(n: usize, memory: usize) -> Self {
        Self {
            mean: vec![0.0; n],
            piece: vec![0.0; triangle(n)],
            gathered: Vec::with_capacity(n * memory),
            scratch: Scratch::default(),
        }
    }
}

fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

impl Blocks {
    pub(super) fn new(n: usize, memory: usize) -> Self {
        let capacity = capacity(memory);
        let level = |size: usize| Level {
            size,
            means: vec![0.0; n * (capacity / size)],
            products: vec![0.0; triangle(n) * (capacity / size)],
        };
        Self {
            n,
            ring: vec![0.0; n * capacity],
            capacity,
            levels: SIZES.map(level).into(),
            due: None,
            centred: vec![0.0; n * BLOCK],
            gram: vec![0.0; n * n],
        }
    }

    /// Takes in frames that begin at sample `at` of a stretch that began at sample `began`.
    pub(super) fn push(&mut self, mut frames: &[f64], mut at: u64, began: u64) -> Result<()> {
        while !frames.is_empty() {
            self.settle()?;
            let inside = (at % BLOCK as u64) as usize;
            let count = (frames.len() / self.n).min(BLOCK - inside);
            let (now, later) = frames.split_at(count * self.n);
            let place = (at % self.capacity as u64) as usize;
            self.ring[place * self.n..][..count * self.n].copy_from_slice(now);
            at += count as u64;
            frames = later;
            if at.is_multiple_of(BLOCK as u64) && at.saturating_sub(BLOCK as u64) >= began {
                self.finish(0, at - BLOCK as u64)?;
                self.due = Some((at, began));
            }
        }
        Ok(())
    }

    /// Makes the larger blocks that ended with the last sample. No window that ends there has one
    /// among its [pieces](Self::advance): they can wait until it was decided.
    pub(super) fn settle(&mut self) -> Result<()> {
        let Some((at, began)) = self.due.take() else {
            return Ok(());
        };
        for (level, &size) in SIZES.iter().enumerate().skip(1) {
            let start = at.saturating_sub(size as u64);
            if !at.is_multiple_of(size as u64) || start < began {
                break;
            }
            self.finish(level, start)?;
        }
        Ok(())
    }

    /// Mean and products of the block of a level that begins at a sample: from its samples, or from
    /// the four blocks it is made of.
    fn finish(&mut self, level: usize, start: u64) -> Result<()> {
        let place = (start % self.capacity as u64) as usize;
        let (n, packed) = (self.n, triangle(self.n));
        let (smaller, rest) = self.levels.split_at_mut(level);
        let Level {
            size,
            means,
            products,
        } = &mut rest[0];
        let block = place / *size;
        let mean = &mut means[block * n..][..n];
        let products = &mut products[block * packed..][..packed];
        let buffers = (&mut self.centred[..], &mut self.gram[..]);
        let Some(parts) = smaller.last() else {
            return sums(
                &self.ring[place * n..][..*size * n],
                n,
                buffers,
                mean,
                products,
            );
        };
        let (first, count) = (place / parts.size, *size / parts.size);
        sums(
            &parts.means[first * n..][..count * n],
            n,
            buffers,
            mean,
            products,
        )?;
        for product in products.iter_mut() {
            *product *= parts.size as f64;
        }
        for part in parts.products[first * packed..][..count * packed].chunks_exact(packed) {
            add(products, part);
        }
        Ok(())
    }

    /// The covariance of `samples` samples from `start` on.
    pub(super) fn covariance(
        &mut self,
        (start, samples): (u64, usize),
        estimator: Estimator,
        pieces: &mut Pieces,
        summary: &mut Summary,
        out: &mut [f64],
    ) -> Result<()> {
        match estimator {
            Estimator::Sample | Estimator::Oas => {
                let end = start + samples as u64;
                self.advance((start, end), end, pieces, summary)?;
                central_moments(pieces, self.n, &mut summary.mean, out)?;
                // The means are spent.
                pieces.restart(0, 0);
                mirror(out, self.n);
                match estimator {
                    Estimator::Oas => oas(out, self.n, samples),
                    _ => unbiased(out, samples),
                }
                Ok(())
            }
            Estimator::LedoitWolf | Estimator::SchaeferStrimmer => {
                let n = self.n;
                summary.gathered.clear();
                for c in 0..n {
                    let place = |t| (t % self.capacity as u64) as usize;
                    let column =
                        (start..start + samples as u64).map(|t| self.ring[place(t) * n + c]);
                    summary.gathered.extend(column);
                }
                let rows = summary.gathered.chunks_exact(samples);
                estimate(estimator, rows, samples, &mut summary.scratch, out)
            }
        }
    }

    /// Adds up the pieces of a window that are whole by sample `now`: the largest blocks that fit,
    /// of which those larger than the smallest end a block before the window does.
    pub(super) fn advance(
        &mut self,
        (start, end): (u64, u64),
        now: u64,
        sum: &mut Pieces,
        summary: &mut Summary,
    ) -> Result<()> {
        let n = self.n;
        if (sum.start, sum.end) != (start, end) {
            sum.restart(start, end);
        }
        let mut pieces: [&[f64]; TOGETHER] = [&[]; TOGETHER];
        let mut held = 0;
        while sum.at < end {
            let at = sum.at;
            let place = (at % self.capacity as u64) as usize;
            let fits = |level: &&Level| {
                let before = if level.size > BLOCK { BLOCK } else { 0 };
                place.is_multiple_of(level.size) && at + (level.size + before) as u64 <= end
            };
            let whole = self.levels.iter().rev().find(fits);
            let rest = (BLOCK - place % BLOCK).min((end - at) as usize);
            let count = whole.map_or(rest, |level| level.size);
            if at + count as u64 > now {
                break;
            }
            if let Some(level) = whole {
                let (mean, products) = level.at(place, n);
                sum.means.extend_from_slice(mean);
                pieces[held] = products;
                held += 1;
            } else {
                let first = sum.means.len();
                sum.means.resize(first + n, 0.0);
                sums(
                    &self.ring[place * n..][..count * n],
                    n,
                    (&mut self.centred, &mut self.gram),
                    &mut sum.means[first..],
                    &mut summary.piece,
                )?;
                add_all(&mut sum.products, &pieces[..held]);
                add_all(&mut sum.products, &[&summary.piece]);
                held = 0;
            }
            if held == TOGETHER {
                add_all(&mut sum.products, &pieces);
                held = 0;
            }
            sum.weights.push(count);
            sum.at += count as u64;
        }
        add_all(&mut sum.products, &pieces[..held]);
        Ok(())
    }
}

/// The lower triangle of `C`, of a window whose pieces are all there; their means are overwritten.
fn central_moments(sum: &mut Pieces, n: usize, mean: &mut [f64], out: &mut [f64]) -> Result<()> {
    let samples = (sum.end - sum.start) as f64;
    between(sum, mean, samples);
    // The products of the pieces' means about the mean of the window, onto those within the pieces.
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        row[..=i].copy_from_slice(&sum.products[triangle(i)..][..=i]);
    }
    let pieces = sum.weights.len();
    gram_lower(out, true, 1.0, &sum.means, (n, pieces), Layout::Columns)?;
    pulp::Arch::new().dispatch(DivideLower {
        out,
        n,
        by: samples,
    });
    Ok(())
}

/// Pieces of a window whose products are added in one pass.
const TOGETHER: usize = 16;

/// `sum ← ((sum + x_1) + x_2) + …`, entry by entry: as one after the other, but the sum is read and
/// written once.
fn add_all(sum: &mut [f64], pieces: &[&[f64]]) {
    pulp::Arch::new().dispatch(AddAll { sum, pieces });
}

/// A struct, because its method is certain to be compiled for the processor's vector width.
struct AddAll<'a> {
    sum: &'a mut [f64],
    pieces: &'a [&'a [f64]],
}

impl pulp::WithSimd for AddAll<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        const WIDE: usize = 8;
        let (chunks, rest) = self.sum.as_chunks_mut::<WIDE>();
        for (i, chunk) in chunks.iter_mut().enumerate() {
            let mut sum = *chunk;
            for piece in self.pieces {
                if let Some(x) = piece[i * WIDE..].first_chunk::<WIDE>() {
                    for k in 0..WIDE {
                        sum[k] += x[k];
                    }
                }
            }
            *chunk = sum;
        }
        let first = chunks.len() * WIDE;
        for piece in self.pieces {
            add(rest, &piece[first..]);
        }
    }
}

/// The lower triangle divided by a number.
struct DivideLower<'a> {
    out: &'a mut [f64],
    n: usize,
    by: f64,
}

impl pulp::WithSimd for DivideLower<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for (i, row) in self.out.chunks_exact_mut(self.n).enumerate() {
            for x in &mut row[..=i] {
                *x /= self.by;
            }
        }
    }
}

/// Turns the means of the pieces into `√w_b (m_b − m)`; `m` into `mean`.
fn between(sum: &mut Pieces, mean: &mut [f64], samples: f64) {
    let n = mean.len();
    mean.fill(0.0);
    for (piece, &w) in sum.means.chunks_exact(n).zip(&sum.weights) {
        for (m, x) in mean.iter_mut().zip(piece) {
            *m += w as f64 * x;
        }
    }
    for m in mean.iter_mut() {
        *m /= samples;
    }
    for (piece, &w) in sum.means.chunks_exact_mut(n).zip(&sum.weights) {
        let root = (w as f64).sqrt();
        for (x, m) in piece.iter_mut().zip(mean.iter()) {
            *x = root * (*x - m);
        }
    }
}

/// Mean and packed centred products of frames that lie one after the other.
fn sums(
    frames: &[f64],
    n: usize,
    (centred, gram): (&mut [f64], &mut [f64]),
    mean: &mut [f64],
    products: &mut [f64],
) -> Result<()> {
    let count = frames.len() / n;
    mean.fill(0.0);
    for frame in frames.chunks_exact(n) {
        add(mean, frame);
    }
    for m in mean.iter_mut() {
        *m /= count as f64;
    }
    let centred = &mut centred[..frames.len()];
    for (out, frame) in centred.chunks_exact_mut(n).zip(frames.chunks_exact(n)) {
        for ((y, x), m) in out.iter_mut().zip(frame).zip(mean.iter()) {
            *y = x - m;
        }
    }
    gram_lower(gram, false, 1.0, centred, (n, count), Layout::Columns)?;
    for (i, row) in gram.chunks_exact(n).enumerate() {
        products[triangle(i)..][..=i].copy_from_slice(&row[..=i]);
    }
    Ok(())
}

fn add(sum: &mut [f64], x: &[f64]) {
    for (s, x) in sum.iter_mut().zip(x) {
        *s += x;
    }
}
