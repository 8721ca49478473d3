//! A sketch of a matrix: sixteen numbers that tell it from others, whatever unit and CPU it has.
//!
//! ```text
//! ρ_ij = x_ij / √(x_ii x_jj)          l_i = ln x_ii − mean_j ln x_jj
//! s_k  = (Σ_i ±l_i + Σ_{i<j} ±ρ_ij) / √(n(n+1)/2)        k = 1 … 16, signs from i, j and k
//! ```
//!
//! Two matrices are the same where all sixteen agree to 1e-5: rounding of single precision, another
//! order of summation and a common scale leave them alone, a window that is one sample later does
//! not. A matrix of one or two channels, or a multiple of the identity, holds too few numbers for
//! that, and is known by its bits.

use crate::Result;
use crate::identity::words;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// How many numbers there are.
const COUNT: usize = 16;

/// Steps to one.
const STEPS: f64 = (1_u32 << 20) as f64;

/// Steps that two sketches of one matrix may be apart: 1e-5, rounded down.
const TOLERANCE: u32 = 10;

/// Sixteen numbers of a matrix, in steps of 2⁻²⁰.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sketch([i32; COUNT]);

impl Sketch {
    /// Returns the sketch of a matrix whose channels are taken in an order.
    pub(crate) fn of(matrix: &[f64], size: usize, order: &[usize]) -> Self {
        let at = |r: usize, c: usize| matrix[order[r] * size + order[c]];
        let n = order.len();
        if n < 3 {
            return Self::of_bits((0..n * n).map(|i| at(i / n, i % n)));
        }
        let diagonal: Vec<f64> = (0..n).map(|i| at(i, i)).collect();
        let alive = diagonal.iter().filter(|x| **x > 0.0);
        let count = alive.clone().count().max(1);
        let mean = alive.map(|x| x.ln()).sum::<f64>() / count as f64;
        // A channel without variance says nothing.
        let scale = |x: f64| if x > 0.0 { 1.0 / x.sqrt() } else { 0.0 };
        let scales: Vec<f64> = diagonal.iter().map(|&x| scale(x)).collect();
        let mut sums = [0.0; COUNT];
        for i in 0..n {
            let level = if diagonal[i] > 0.0 {
                diagonal[i].ln() - mean
            } else {
                0.0
            };
            accumulate(&mut sums, level, i, i);
            for j in i + 1..n {
                accumulate(&mut sums, at(i, j) * scales[i] * scales[j], i, j);
            }
        }
        let root = ((n * (n + 1) / 2) as f64).sqrt();
        // Beyond ± 2048 numbers are cut off.
        let own = Self(sums.map(|sum| (sum / root * STEPS).round() as i32));
        // A multiple of the identity, as shrinkage leaves of noise, says nothing of its trial.
        if own.is_same(&Self([0; COUNT])) {
            return Self::of_bits((0..n * n).map(|i| at(i / n, i % n)));
        }
        own
    }

    fn of_bits(values: impl Iterator<Item = f64>) -> Self {
        // Zero has two signs, and one meaning.
        let bytes: Vec<u8> = values.flat_map(|x| (x + 0.0).to_le_bytes()).collect();
        let digest = Sha256::digest(bytes);
        let number = |k: usize| u16::from_le_bytes([digest[2 * k], digest[2 * k + 1]]);
        Self(std::array::from_fn(|k| i32::from(number(k)) << 5))
    }

    /// Tells whether two sketches are of one matrix.
    fn is_same(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        pairs.all(|(a, b)| a.abs_diff(*b) <= TOLERANCE)
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(8 * COUNT);
        for number in self.0 {
            // Writing to a string does not fail.
            let _ = write!(text, "{number:08x}");
        }
        text
    }
}

/// Adds a value to each sum, with signs from a hash of its place (SplitMix64).
fn accumulate(sums: &mut [f64; COUNT], value: f64, row: usize, col: usize) {
    let mut z = ((row as u64) << 32 | col as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    for (k, sum) in sums.iter_mut().enumerate() {
        *sum += f64::from_bits(value.to_bits() ^ ((z >> k & 1) << 63));
    }
}

/// Sketches in order, and the places they had.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketches(Vec<(Sketch, usize)>);

impl FromIterator<Sketch> for Sketches {
    fn from_iter<I: IntoIterator<Item = Sketch>>(sketches: I) -> Self {
        let mut all: Vec<(Sketch, usize)> = (sketches.into_iter().enumerate())
            .map(|(place, sketch)| (sketch, place))
            .collect();
        all.sort_unstable();
        Self(all)
    }
}

impl Sketches {
    /// Returns the places of the sketches of one matrix, ascending.
    pub(crate) fn find(&self, sketch: &Sketch) -> Vec<usize> {
        let least = sketch.0[0].saturating_sub_unsigned(TOLERANCE);
        let from = self.0.partition_point(|(s, _)| s.0[0] < least);
        let near =
            |(s, _): &&(Sketch, usize)| s.0[0] <= sketch.0[0].saturating_add_unsigned(TOLERANCE);
        let mut places: Vec<usize> = (self.0[from..].iter().take_while(near))
            .filter(|(s, _)| s.is_same(sketch))
            .map(|(_, place)| *place)
            .collect();
        places.sort_unstable();
        places
    }
}

/// Writes sketches as hexadecimal digits, 128 each.
pub(crate) fn text(sketches: &[Sketch]) -> String {
    sketches.iter().map(Sketch::text).collect()
}

/// Reads sketches.
pub(crate) fn sketches(text: &str) -> Result<Vec<Sketch>> {
    let numbers = words(text)?;
    let chunks = numbers.as_chunks::<COUNT>();
    if !chunks.1.is_empty() {
        return Err(crate::DataError::Impossible {
            op: "identities of trials",
            why: format!("{} numbers are not whole sketches", numbers.len()),
            remedy: "a sketch has sixteen numbers",
        });
    }
    Ok((chunks.0.iter())
        .map(|chunk| Sketch(chunk.map(u32::cast_signed)))
        .collect())
}
