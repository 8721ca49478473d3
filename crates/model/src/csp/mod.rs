//! Per-domain CSP targets: filters are drawn towards what separates the classes of their own
//! domain.
//!
//! ```text
//! M_dc ← (1 − μ) M_dc + μ·mean{X_i : d_i = d, y_i = c} over the batch      the first batch sets M_dc
//! U_d  = orthonormal basis of the s leading CSP filters of {M_dc}          n × s, no gradient
//! L_csp = λ·mean_i ‖(I − W_i W_iᵀ) U_{d_i}‖_F²/s                           W_i: orthonormal basis of the sample's filter
//! ```
//!
//! The loss is the mean squared sine of the angles between the CSP subspace and the filter: 0 where
//! the filter keeps it whole, 1 where it is lost. It reads the labels of training trials only.
//! Filters that are not orthonormal enter with the span of their columns. A domain of which fewer
//! than two classes have been seen has no target yet; its samples are left out of the mean.

mod filters;

pub use filters::{csp_basis, generalised_eigen};

use crate::sizes::Sizes;
use crate::{Batch, ModelError, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_autodiff::{Axis, Var};
use stiefel_linalg::{MatBatch, Scalar};

const OP: &str = "CSP targets";

/// What the targets are made of; the weight of the loss is `losses.csp`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CspConfig {
    /// Leading filters per domain, `s`, at most the directions a filter keeps.
    #[schemars(range(min = 1))]
    pub filters: usize,
    /// Share of a batch in the running class means, `μ`.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub momentum: f64,
}

impl Default for CspConfig {
    /// Four filters, two for each of two classes as a rule; a memory of about ten batches.
    fn default() -> Self {
        Self {
            filters: 4,
            momentum: 0.1,
        }
    }
}

/// The term a network asks training for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CspTerm {
    /// `λ`.
    pub weight: f64,
    /// The targets.
    pub config: CspConfig,
    /// Channels, classes and domains.
    pub sizes: Sizes,
}

/// Running class means of every domain: part of the state of training, like the optimiser's
/// moments.
#[derive(Debug, Clone, PartialEq)]
pub struct CspState {
    sizes: Sizes,
    /// `M_dc` at `d·C + c`, `n × n`; `None` before the first trial.
    means: Vec<Option<Vec<f64>>>,
}

impl CspState {
    /// Before any trial.
    pub fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            means: vec![None; sizes.domains * sizes.classes],
        }
    }

    /// The running mean of a class of a domain, `n × n`, once a trial of it has been seen.
    pub fn mean(&self, domain: usize, class: usize) -> Option<&[f64]> {
        let at = domain.checked_mul(self.sizes.classes)?.checked_add(class)?;
        self.means.get(at)?.as_deref()
    }

    /// Takes in the covariances, classes and domains of a batch.
    pub fn observe<T: Scalar>(&mut self, batch: &Batch<'_, T>, momentum: f64) -> Result<()> {
        let (n, cells) = (self.sizes.channels, self.means.len());
        let data = batch.data.covariances();
        let (labels, domains) = (batch.labels(), batch.domains());
        let mut sums: Vec<(usize, Vec<f64>)> = vec![(0, Vec::new()); cells];
        for (at, &i) in batch.indices.iter().enumerate() {
            let cell = domains[at] * self.sizes.classes + labels[at];
            let fits = labels[at] < self.sizes.classes && cell < cells && data.rows() == n;
            if !fits {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: format!(
                        "trial {i} is of domain {} and class {} with {} channels, the targets are \
                         for {:?}",
                        domains[at],
                        labels[at],
                        data.rows(),
                        self.sizes
                    ),
                    remedy: "continue with the network and the data that the state was made with",
                });
            }
            let (count, sum) = &mut sums[cell];
            *count += 1;
            sum.resize(n * n, 0.0);
            for (s, x) in sum.iter_mut().zip(data.matrix(i)) {
                *s += x.to_f64();
            }
        }
        for (mean, (count, sum)) in self.means.iter_mut().zip(sums) {
            if count == 0 {
                continue;
            }
            let batch = sum.into_iter().map(|s| s / count as f64);
            *mean = Some(match mean.take() {
                None => batch.collect(),
                Some(old) => (old.into_iter().zip(batch))
                    .map(|(old, new)| (1.0 - momentum) * old + momentum * new)
                    .collect(),
            });
        }
        Ok(())
    }

    /// `U_d`, `1 × n × s`, over the classes seen; `None` while there are fewer than two.
    pub fn target(&self, domain: usize, s: usize) -> Result<Option<MatBatch<f64>>> {
        let means = self.class_means(domain)?;
        means.map(|means| csp_basis(&means, s)).transpose()
    }

    /// The means of the classes seen, where they are two or more.
    fn class_means(&self, domain: usize) -> Result<Option<MatBatch<f64>>> {
        let n = self.sizes.channels;
        let seen: Vec<&[f64]> = (0..self.sizes.classes)
            .filter_map(|c| self.mean(domain, c))
            .collect();
        if seen.len() < 2 {
            return Ok(None);
        }
        Ok(Some(MatBatch::from_vec(seen.len(), n, n, seen.concat())?))
    }

    /// The loss of a batch whose filters span `directions`, `B × n × k` with orthonormal columns;
    /// not weighted.
    pub(crate) fn loss<'t, T: Scalar>(
        &self,
        directions: Var<'t, T>,
        batch: &Batch<'_, T>,
        s: usize,
    ) -> Result<Var<'t, T>> {
        let domains = batch.domains();
        let (mut known, mut means) = (Vec::new(), Vec::new());
        for d in (0..self.sizes.domains).filter(|d| domains.contains(d)) {
            if let Some(own) = self.class_means(d)? {
                known.push(d);
                means.push(own);
            }
        }
        if known.is_empty() {
            return Ok(directions.tape().constant(&MatBatch::zeros(1, 1, 1)));
        }
        let bases: MatBatch<T> = filters::csp_bases(&means, s)?.cast();
        let place = |i: &usize| known.iter().position(|d| *d == domains[*i]);
        let with: Vec<usize> = (0..domains.len()).filter(|i| place(i).is_some()).collect();
        let places: Vec<usize> = with.iter().filter_map(place).collect();
        csp_loss(directions.gather(&with)?, &bases.select(&places))
    }
}

/// `mean_i ‖(I − W_i W_iᵀ) U_i‖_F²/s` of orthonormal `W_i` (`B × n × k`) and targets `U_i` (`B × n
/// × s`).
pub fn csp_loss<'t, T: Scalar>(
    directions: Var<'t, T>,
    targets: &MatBatch<T>,
) -> Result<Var<'t, T>> {
    let (count, _, s) = targets.shape();
    let u = directions.tape().constant(targets);
    let lost = u.sub(directions.matmul(directions.matmul_tn(u)?)?)?;
    let sum = lost.frobenius_squared()?.sum(Axis::All)?;
    Ok(sum.scale(1.0 / (count * s) as f64)?)
}
