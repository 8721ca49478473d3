//! Features `X` (`N × p`) as the solver sees them, `Z` (`N × r`): `X` itself, or where trials are
//! few (`2N ≤ p`) the factor of `X Xᵀ = Z Zᵀ` (Cholesky, `r = N`), which has the same inner
//! products and so the same regression in fewer coordinates.
//!
//! One pass over the rows does it all: decision values `V z_i + b`, a function of them, and the
//! sums `Σ_i h_i z_iᵀ`, `Σ_i h_i`. Sums are taken in blocks of a fixed size and order, so that
//! results do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;
use stiefel_linalg::sums::{add_scaled, dot};
use stiefel_linalg::{LinalgError, MatRef, MatViewMut, Op, product, product_into, tolerance};

/// Rows of a partial sum: few enough that they stay in the cache between the two products.
const BLOCK: usize = 32;

/// Below this many features in all, one thread is as fast as several.
const WORTH_THREADS: usize = 1 << 17;

#[derive(Debug)]
pub(super) struct Features {
    rows: usize,
    /// `p`.
    given: usize,
    x: Vec<f64>,
    /// The factor, where it stands in for `X`.
    factor: Option<Vec<f64>>,
}

/// What a pass over the rows gives.
#[derive(Default)]
pub(super) struct Pass {
    /// `Σ_i` of what the function returned.
    pub(super) value: f64,
    /// `h_i`, `N` rows of `m`.
    pub(super) h: Vec<f64>,
    /// `Σ_i h_i z_iᵀ` (`m` rows of `r`), then `Σ_i h_i` (`m`).
    pub(super) sums: Vec<f64>,
}

impl Features {
    /// From `rows × features` numbers, row by row.
    pub(super) fn new(rows: usize, features: usize, x: Vec<f64>) -> Result<Self, LinalgError> {
        let factor = if 2 * rows <= features {
            let view = MatRef::new(rows, features, &x).view();
            Some(semidefinite_factor(
                product(view, Op::N, view, Op::T)?.into_vec(),
                rows,
            ))
        } else {
            None
        };
        Ok(Self {
            rows,
            given: features,
            x,
            factor,
        })
    }

    /// `p`.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// `r`.
    pub(super) fn cols(&self) -> usize {
        if self.factor.is_some() {
            self.rows
        } else {
            self.given
        }
    }

    /// For every row `i`, `f(i, V z_i + b)` turns decision values into `h_i` in place and returns a
    /// number to sum. `theta` is `V` (`m` rows of `r`), then `b` (`m`).
    pub(super) fn pass<F>(&self, theta: &[f64], f: F) -> Result<Pass, LinalgError>
    where
        F: Fn(usize, &mut [f64]) -> f64 + Sync,
    {
        let block = |b: usize| self.block(b * BLOCK..((b + 1) * BLOCK).min(self.rows), theta, &f);
        let blocks = self.rows.div_ceil(BLOCK);
        let parts: Result<Vec<Pass>, LinalgError> = if self.rows * self.cols() < WORTH_THREADS {
            (0..blocks).map(block).collect()
        } else {
            (0..blocks).into_par_iter().map(block).collect()
        };
        let mut all = Pass {
            sums: vec![0.0; theta.len()],
            ..Pass::default()
        };
        for part in parts? {
            all.value += part.value;
            all.h.extend(part.h);
            add_scaled(&mut all.sums, 1.0, &part.sums);
        }
        Ok(all)
    }

    /// A pass over some of the rows.
    fn block<F>(&self, rows: Range<usize>, theta: &[f64], f: F) -> Result<Pass, LinalgError>
    where
        F: Fn(usize, &mut [f64]) -> f64,
    {
        let z = self.factor.as_ref().unwrap_or(&self.x);
        let r = self.cols();
        let m = theta.len() / (r + 1);
        let mut out = Pass {
            value: 0.0,
            h: vec![0.0; rows.len() * m],
            sums: vec![0.0; theta.len()],
        };
        let here = MatRef::new(rows.len(), r, &z[rows.start * r..rows.end * r]).view();
        let v = MatRef::new(m, r, &theta[..m * r]).view();
        let h = MatViewMut::one(rows.len(), m, &mut out.h);
        product_into(h, false, 1.0, here, Op::N, v, Op::T)?;
        for (i, h) in rows.clone().zip(out.h.chunks_exact_mut(m)) {
            add_scaled(h, 1.0, &theta[m * r..]);
            out.value += f(i, h);
            add_scaled(&mut out.sums[m * r..], 1.0, h);
        }
        let h = MatRef::new(rows.len(), m, &out.h).view();
        let sums = MatViewMut::one(m, r, &mut out.sums[..m * r]);
        product_into(sums, false, 1.0, h, Op::T, here, Op::N)?;
        Ok(out)
    }

    /// The weights of the given features (`m` rows of `p`) at the minimum `theta`, where `h` is the
    /// gradient of the loss in the decision values: there `W = −C hᵀ X`.
    pub(super) fn weights(&self, theta: &[f64], c: f64, h: &[f64]) -> Vec<f64> {
        let m = theta.len() / (self.cols() + 1);
        if self.factor.is_none() {
            return theta[..m * self.given].to_vec();
        }
        let mut weights = vec![0.0; m * self.given];
        for (row, h) in self.x.chunks_exact(self.given).zip(h.chunks_exact(m)) {
            for (w, h) in weights.chunks_exact_mut(self.given).zip(h) {
                add_scaled(w, -c * h, row);
            }
        }
        weights
    }
}

/// The lower factor of a positive semi-definite matrix (row-major, in place). A pivot below
/// rounding becomes rounding: that is a change of the diagonal by as much, where dropping it would
/// lose the column.
fn semidefinite_factor(mut k: Vec<f64>, n: usize) -> Vec<f64> {
    let largest = (0..n).map(|i| k[i * n + i]).fold(0.0, f64::max);
    let floor = (tolerance::noise::<f64>(n) * largest).max(f64::MIN_POSITIVE);
    for i in 0..n {
        let (above, rest) = k.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        row[i] = pivot.max(floor).sqrt();
        row[i + 1..].fill(0.0);
    }
    k
}
