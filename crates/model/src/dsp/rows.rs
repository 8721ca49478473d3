//! Tangent vectors by domain: what their means and their rest span.

use super::OP;
use crate::{ModelError, Result};
use faer::{Mat, MatRef};
use stiefel_linalg::{MatView, peak};

/// Tangent vectors with their domains numbered from zero without gaps.
pub(super) struct Rows<'a> {
    x: MatRef<'a, f64>,
    domains: Vec<usize>,
    counts: Vec<usize>,
    /// `D × p`.
    means: Mat<f64>,
}

impl<'a> Rows<'a> {
    /// One vector and one domain per trial, all finite.
    pub(super) fn new(x: MatView<'a, f64>, domains: &[usize]) -> Result<Self> {
        let (count, rows, p) = x.shape();
        if rows != 1 || p == 0 {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("tangent vectors of {rows} × {p} values"),
                remedy: "pass them as count × 1 × n(n+1)/2",
            });
        }
        if domains.len() != count {
            return Err(ModelError::Count {
                op: OP,
                what: "domains",
                expected: count,
                found: domains.len(),
            });
        }
        if count == 0 {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "fit on at least one training trial",
            });
        }
        x.check_finite(OP)?;
        let mut present = domains.to_vec();
        present.sort_unstable();
        present.dedup();
        let number = |d: &usize| present.binary_search(d).unwrap_or_default();
        let domains: Vec<usize> = domains.iter().map(number).collect();
        let mut counts = vec![0_usize; present.len()];
        let mut means = Mat::zeros(present.len(), p);
        let x = MatRef::from_row_major_slice(x.data(), count, p);
        for (i, &d) in domains.iter().enumerate() {
            counts[d] += 1;
            for c in 0..p {
                means[(d, c)] += x[(i, c)];
            }
        }
        for c in 0..p {
            for (d, &count) in counts.iter().enumerate() {
                means[(d, c)] /= count as f64;
            }
        }
        Ok(Self {
            x,
            domains,
            counts,
            means,
        })
    }

    pub(super) fn trials(&self) -> usize {
        self.x.nrows()
    }

    pub(super) fn domains(&self) -> usize {
        self.counts.len()
    }

    /// `Σ_i ‖x_i‖²`, before any mean is removed.
    pub(super) fn total_square(&self) -> f64 {
        self.x.squared_norm_l2()
    }

    /// `√n_d·(μ_d − μ)`, one row per domain: `S_B` is the Gram matrix of the columns.
    pub(super) fn between(&self) -> Mat<f64> {
        let total = self.trials() as f64;
        let mut rows = self.means.clone();
        for c in 0..rows.ncols() {
            let weighted = (self.counts.iter().enumerate()).map(|(d, &n)| n as f64 * rows[(d, c)]);
            let mu = weighted.sum::<f64>() / total;
            for (d, &n) in self.counts.iter().enumerate() {
                rows[(d, c)] = (n as f64).sqrt() * (rows[(d, c)] - mu);
            }
        }
        rows
    }

    /// `x_i − μ_{d_i}`, with the directions in `taken` removed.
    pub(super) fn within(&self, taken: &Mat<f64>) -> Mat<f64> {
        let mut rows = Mat::from_fn(self.trials(), self.x.ncols(), |i, c| {
            self.x[(i, c)] - self.means[(self.domains[i], c)]
        });
        let along = &rows * taken;
        rows -= along * taken.transpose();
        rows
    }
}

/// Turns every column so that its entry of largest magnitude is positive.
pub(super) fn with_positive_peaks(columns: &mut Mat<f64>) {
    for mut column in columns.col_iter_mut() {
        if peak(column.as_ref().iter().copied()) < 0.0 {
            column *= faer::Scale(-1.0);
        }
    }
}
