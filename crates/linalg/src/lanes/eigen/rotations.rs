//! Plane rotations recorded by the QL sweeps and applied to the eigenvectors many sweeps at a time.
//!
//! Rotation `i` mixes columns `i` and `i + 1` of every row of `Z`:
//! `z_{i+1} ← s z_i + c z_{i+1}`, `z_i ← c z_i − s z_{i+1}`, for `i` from high to low within a
//! sweep. It is three shears, of one fused operation each, with `t = s/(1 + c)`, the tangent of
//! half the angle; `c ≥ 0`, so that `|t| ≤ 1` and no shear magnifies:
//!
//! ```text
//! z_i ← z_i − t z_{i+1},   z_{i+1} ← z_{i+1} + s z_i,   z_i ← z_i − t z_{i+1}
//! ```
//!
//! Two sweeps run through a block of rows together, the second one column behind the first: each
//! entry is loaded and stored once for both. A block of rows stays in the first-level cache while
//! all recorded sweeps pass over it.

use crate::Scalar;
use crate::simd::{Lane, Lanes, V};
use pulp::Simd;

/// Rows that go through a sweep together: enough to hide the latency of the carried values.
const ROWS: usize = 4;

/// Sweeps that are recorded at most before they are applied.
pub(super) const MOST: usize = 16;

/// A store of sweeps over `R` registers.
pub(super) struct Rotations<'a, X> {
    n: usize,
    registers: usize,
    capacity: usize,
    /// `[sweep][register][i] → (s, t)`; zeros turn nothing.
    pairs: &'a mut [[X; 2]],
    /// The range of `i` of each sweep; the first `recorded` are there.
    ranges: [(usize, usize); MOST],
    recorded: usize,
    zero: X,
}

/// The sweep being recorded.
pub(super) struct Sweep<'a, X> {
    n: usize,
    pairs: &'a mut [[X; 2]],
}

impl<X: Copy> Sweep<'_, X> {
    /// Records rotation `i` of a register.
    #[inline(always)]
    pub(super) fn push(&mut self, register: usize, i: usize, pair: [X; 2]) {
        self.pairs[register * self.n + i] = pair;
    }
}

impl<'a, X: Copy> Rotations<'a, X> {
    /// A store over `pairs`, which holds `sweeps · registers · n` of them.
    pub(super) fn new(n: usize, registers: usize, zero: X, pairs: &'a mut [[X; 2]]) -> Self {
        let capacity = (pairs.len() / (registers * n).max(1)).min(MOST);
        Self {
            n,
            registers,
            capacity,
            pairs,
            ranges: [(0, 0); MOST],
            recorded: 0,
            zero,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.recorded == self.capacity
    }

    pub(super) fn clear(&mut self) {
        self.recorded = 0;
    }

    /// Opens a sweep over rotations `low..high`. Two sweeps that run together need one range: what
    /// lies outside the narrower one is filled with zeros.
    pub(super) fn begin(&mut self, low: usize, high: usize) -> Sweep<'_, X> {
        let (size, at) = (self.registers * self.n, self.recorded);
        let (mut low, mut high) = (low, high);
        let none = [self.zero; 2];
        if at % 2 == 1 {
            let (a, b) = self.ranges[at - 1];
            let (from, to) = (low.min(a), high.max(b));
            for r in 0..self.registers {
                let before = (at - 1) * size + r * self.n;
                self.pairs[before + from..before + a].fill(none);
                self.pairs[before + b..before + to].fill(none);
                let here = at * size + r * self.n;
                self.pairs[here + from..here + low].fill(none);
                self.pairs[here + high..here + to].fill(none);
            }
            self.ranges[at - 1] = (from, to);
            (low, high) = (from, to);
        }
        self.ranges[at] = (low, high);
        self.recorded += 1;
        Sweep {
            n: self.n,
            pairs: &mut self.pairs[at * size..(at + 1) * size],
        }
    }

    /// Applies everything recorded to the rows of `z`, one square per register; an empty `z` asks
    /// for nothing.
    #[inline(always)]
    pub(super) fn apply<S: Simd, T: Scalar + Lane<V<S> = X>>(&self, l: Lanes<S, T>, z: &mut [X]) {
        for (register, square) in z.chunks_exact_mut(self.n * self.n).enumerate() {
            let rest = self.apply_blocks::<S, T, ROWS>(l, register, square);
            let rest = self.apply_blocks::<S, T, 2>(l, register, rest);
            self.apply_blocks::<S, T, 1>(l, register, rest);
        }
    }

    /// Whole blocks of `B` rows; gives what is left.
    #[inline(always)]
    fn apply_blocks<'z, S: Simd, T: Scalar + Lane<V<S> = X>, const B: usize>(
        &self,
        l: Lanes<S, T>,
        register: usize,
        rows: &'z mut [X],
    ) -> &'z mut [X] {
        let mut blocks = rows.chunks_exact_mut(B * self.n);
        for block in &mut blocks {
            self.apply_rows::<S, T, B>(l, register, block);
        }
        blocks.into_remainder()
    }

    #[inline(always)]
    fn sweep(&self, at: usize, register: usize) -> &[[X; 2]] {
        let start = (at * self.registers + register) * self.n;
        let (low, high) = self.ranges[at];
        &self.pairs[start + low..start + high]
    }

    #[inline(always)]
    fn apply_rows<S: Simd, T: Scalar + Lane<V<S> = X>, const B: usize>(
        &self,
        l: Lanes<S, T>,
        register: usize,
        block: &mut [X],
    ) {
        let mut rows = split_rows::<_, B>(block, self.n);
        let mut at = 0;
        while at < self.recorded {
            let (low, high) = self.ranges[at];
            // Two sweeps need two rotations to run staggered; a range of one is rotated one by one.
            if at + 1 < self.recorded && high - low >= 2 {
                let (first, second) = (self.sweep(at, register), self.sweep(at + 1, register));
                two_sweeps::<S, T, B>(l, low, high, first, second, &mut rows);
                at += 2;
            } else {
                one_sweep::<S, T, B>(l, low, high, self.sweep(at, register), &mut rows);
                at += 1;
            }
        }
    }
}

/// The rows of a block as separate slices.
#[inline(always)]
fn split_rows<X, const B: usize>(block: &mut [X], n: usize) -> [&mut [X]; B] {
    let mut rest = block;
    std::array::from_fn(|_| {
        let (row, tail) = std::mem::take(&mut rest).split_at_mut(n);
        rest = tail;
        row
    })
}

/// The rotation with this sine and this tangent of half the angle, as three shears.
#[inline(always)]
pub(crate) fn rotate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    [s, t]: [V<S, T>; 2],
    lower: V<S, T>,
    upper: V<S, T>,
) -> (V<S, T>, V<S, T>) {
    let sheared = l.neg_mul_add(t, upper, lower);
    let upper = l.mul_add(s, sheared, upper);
    (l.neg_mul_add(t, upper, sheared), upper)
}

#[inline(always)]
fn one_sweep<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    low: usize,
    high: usize,
    sweep: &[[V<S, T>; 2]],
    rows: &mut [&mut [V<S, T>]; B],
) {
    let mut carry = [rows[0][high]; B];
    for b in 1..B {
        carry[b] = rows[b][high];
    }
    for (i, &pair) in (low..high).zip(sweep).rev() {
        for b in 0..B {
            let upper;
            (carry[b], upper) = rotate(l, pair, rows[b][i], carry[b]);
            rows[b][i + 1] = upper;
        }
    }
    for b in 0..B {
        rows[b][low] = carry[b];
    }
}

/// Both sweeps over rotations `low..high`, `high − low ≥ 2`, the second one column behind.
#[inline(always)]
fn two_sweeps<S: Simd, T: Scalar, const B: usize>(
    l: Lanes<S, T>,
    low: usize,
    high: usize,
    first: &[[V<S, T>; 2]],
    second: &[[V<S, T>; 2]],
    rows: &mut [&mut [V<S, T>]; B],
) {
    let width = high - low;
    let rows = rows.each_mut().map(|row| &mut row[low..=high]);
    let (first, second) = (&first[..width], &second[..width]);
    let mut lead = [rows[0][width]; B];
    let mut lag = lead;
    for b in 0..B {
        (lead[b], lag[b]) = rotate(l, first[width - 1], rows[b][width - 1], rows[b][width]);
    }
    for i in (0..width - 1).rev() {
        let (a, z) = (first[i], second[i + 1]);
        for b in 0..B {
            let middle;
            (lead[b], middle) = rotate(l, a, rows[b][i], lead[b]);
            let upper;
            (lag[b], upper) = rotate(l, z, middle, lag[b]);
            rows[b][i + 2] = upper;
        }
    }
    for b in 0..B {
        let (lower, upper) = rotate(l, second[0], lead[b], lag[b]);
        rows[b][1] = upper;
        rows[b][0] = lower;
    }
}
