//! Tangent vectors by domain: what their means and their rest span.

use super::OP;
use crate::error::check_count;
use crate::{ModelError, Result};
use stiefel_linalg::{Mat, MatBatch, MatRef, MatView, Op, peak, product, product_into};

/// Tangent vectors with their domains numbered from zero without gaps.
pub(super) struct Rows<'a> {
    /// One after the other: `1 × trials × p`.
    x: MatView<'a, f64>,
    domains: Vec<usize>,
    counts: Vec<usize>,
    /// `1 × D × p`.
    means: MatBatch<f64>,
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
        check_count(OP, "domains", count, domains.len())?;
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
        let mut means = MatBatch::zeros(1, present.len(), p);
        let x = MatRef::new(count, p, x.data()).view();
        for (row, &d) in x.data().chunks_exact(p).zip(&domains) {
            counts[d] += 1;
            let mean = &mut means.data_mut()[d * p..][..p];
            for (mean, x) in mean.iter_mut().zip(row) {
                *mean += x;
            }
        }
        for (mean, &count) in means.data_mut().chunks_exact_mut(p).zip(&counts) {
            for mean in mean {
                *mean /= count as f64;
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
        self.x.rows()
    }

    pub(super) fn domains(&self) -> usize {
        self.counts.len()
    }

    /// `Σ_i ‖x_i‖²`, before any mean is removed.
    pub(super) fn total_square(&self) -> f64 {
        self.x.data().iter().map(|x| x * x).sum()
    }

    /// `√n_d·(μ_d − μ)`, one row per domain: `S_B` is the Gram matrix of the columns.
    pub(super) fn between(&self) -> MatBatch<f64> {
        let (total, p) = (self.trials() as f64, self.x.cols());
        let mut mu = vec![0.0; p];
        for (mean, &n) in self.means.data().chunks_exact(p).zip(&self.counts) {
            for (mu, mean) in mu.iter_mut().zip(mean) {
                *mu += n as f64 * mean;
            }
        }
        MatBatch::from_fn(1, self.domains(), p, |_, d, c| {
            (self.counts[d] as f64).sqrt() * (self.means.get(0, d, c) - mu[c] / total)
        })
    }

    /// `x_i − μ_{d_i}`, with the directions in `taken` (`1 × p × t`) removed.
    pub(super) fn within(&self, taken: MatView<'_, f64>) -> Result<MatBatch<f64>> {
        let (trials, p) = (self.trials(), self.x.cols());
        let mut rows = MatBatch::from(Mat::new(trials, p, self.x.data().to_vec()));
        for (row, &d) in rows.data_mut().chunks_exact_mut(p).zip(&self.domains) {
            let mean = &self.means.data()[d * p..][..p];
            for (x, mean) in row.iter_mut().zip(mean) {
                *x -= mean;
            }
        }
        let along = product(rows.view(), Op::N, taken, Op::N)?;
        product_into(
            rows.view_mut(),
            true,
            -1.0,
            along.view(),
            Op::N,
            taken,
            Op::T,
        )?;
        Ok(rows)
    }
}

/// Turns every column so that its entry of largest magnitude is positive.
pub(super) fn with_positive_peaks(columns: &mut MatBatch<f64>) {
    let (_, rows, cols) = columns.shape();
    for c in 0..cols {
        if peak((0..rows).map(|r| columns.get(0, r, c))) < 0.0 {
            for x in columns.data_mut()[c..].iter_mut().step_by(cols) {
                *x = -*x;
            }
        }
    }
}
