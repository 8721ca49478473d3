//! The discriminative anchor: the directions in which classes differ within domains.
//!
//! ```text
//! C = 2   S_d = mean(X | d, class 1) − mean(X | d, class 0),        A = mean_d S_d²
//! C > 2   A = mean_d Σ_c (mean(X | d, c) − mean(X | d))²            over the classes present in d
//! W (n × k): eigenvectors of A, largest eigenvalue first, the largest entry of each column positive
//! ```
//!
//! A domain in which fewer than two classes have trials says nothing about their difference and is
//! left out of the mean; with more than two classes, a class that is missing in a domain is left
//! out of that domain's sum.

use crate::error::check_count;
use crate::{ModelError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, eigh, peak, product_into};

const OP: &str = "discriminative anchor";

/// The first `k` columns of a square matrix.
pub(crate) fn first_columns(basis: &MatBatch<f64>, k: usize) -> MatBatch<f64> {
    MatBatch::from_fn(1, basis.rows(), k, |_, r, c| basis.get(0, r, c))
}

/// All `n` directions, most discriminative first: an orthogonal `n × n` matrix whose first `k`
/// columns are the anchor.
///
/// `x` is `N × n × n`, with a class and a domain for each matrix.
pub fn discriminative_basis(
    x: MatView<'_, f64>,
    classes: &[usize],
    domains: &[usize],
) -> Result<MatBatch<f64>> {
    let n = x.check_square(OP)?;
    for (what, found) in [("classes", classes.len()), ("domains", domains.len())] {
        check_count(OP, what, x.count(), found)?;
    }
    let count = |indices: &[usize]| indices.iter().max().map_or(0, |i| i + 1);
    let mut differences = Differences::new(n, count(classes));
    for domain in 0..count(domains) {
        let own = (0..x.count()).filter(|&i| domains[i] == domain);
        differences.add_domain(own.map(|i| (x.matrix(i), classes[i])))?;
    }
    differences.basis()
}

/// `A`, added up domain by domain: of the trials, only those of one domain are needed at a time.
pub(crate) struct Differences {
    sum: MatBatch<f64>,
    domains: usize,
    classes: usize,
}

impl Differences {
    pub(crate) fn new(n: usize, classes: usize) -> Self {
        Self {
            sum: MatBatch::zeros(1, n, n),
            domains: 0,
            classes,
        }
    }

    /// Adds `S_d²`, or its counterpart for more than two classes, of a domain's trials and their
    /// classes.
    pub(crate) fn add_domain<'a>(
        &mut self,
        trials: impl Iterator<Item = (&'a [f64], usize)>,
    ) -> Result<()> {
        let (n, c) = (self.sum.rows(), self.classes);
        let mut sums = MatBatch::<f64>::zeros(c, n, n);
        let mut counts = vec![0_usize; c];
        for (x, class) in trials {
            counts[class] += 1;
            let sum = sums.matrix_mut(class).iter_mut();
            sum.zip(x).for_each(|(s, v)| *s += v);
        }
        let present: Vec<usize> = (0..c).filter(|&class| counts[class] > 0).collect();
        if present.len() < 2 {
            return Ok(());
        }
        self.domains += 1;
        let mean = |class: usize, e: usize| sums.matrix(class)[e] / counts[class] as f64;
        if c == 2 {
            let s = difference(n, |e| mean(1, e) - mean(0, e));
            return add_square(&mut self.sum, &s);
        }
        let trials: usize = counts.iter().sum();
        let centre: Vec<f64> = (0..n * n)
            .map(|e| present.iter().map(|&k| sums.matrix(k)[e]).sum::<f64>() / trials as f64)
            .collect();
        for class in present {
            let s = difference(n, |e| mean(class, e) - centre[e]);
            add_square(&mut self.sum, &s)?;
        }
        Ok(())
    }

    /// The eigenvectors of `A`, see [`discriminative_basis`].
    pub(crate) fn basis(mut self) -> Result<MatBatch<f64>> {
        if self.domains == 0 {
            return Err(ModelError::Impossible {
                op: OP,
                why: "no domain has trials of two classes".into(),
                remedy: "give at least one domain training trials of every class",
            });
        }
        let domains = self.domains as f64;
        self.sum.data_mut().iter_mut().for_each(|v| *v /= domains);
        let n = self.sum.rows();
        let eigen = eigh(self.sum.view())?;
        Ok(MatBatch::from_fn(1, n, n, |_, r, j| {
            let from = n - 1 - j;
            let column = (0..n).map(|row| eigen.vectors.get(0, row, from));
            peak(column).signum() * eigen.vectors.get(0, r, from)
        }))
    }
}

fn difference(n: usize, value: impl Fn(usize) -> f64) -> MatBatch<f64> {
    MatBatch::from_fn(1, n, n, |_, r, c| value(r * n + c))
}

/// Adds `SᵀS`, which for symmetric `S` is its square.
fn add_square(total: &mut MatBatch<f64>, s: &MatBatch<f64>) -> Result<()> {
    let (s, out) = (s.view(), total.view_mut());
    Ok(product_into(out, true, 1.0, s, Op::T, s, Op::N)?)
}
