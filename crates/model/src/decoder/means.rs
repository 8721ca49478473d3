//! Where the training domains lie: for domain `d`, the mean tangent vector `μ_d = mean upper(log X_i)` (length `n(n+1)/2`) and the Fréchet
//! mean `M_d` of the affine-invariant metric (`n × n`), both over its pre-conditioned training trials.
//!
//! A new domain borrows the embedding of the one it is nearest to; see [`UnseenEmbedding`](super::UnseenEmbedding).

use crate::precondition::Reference;
use crate::precondition::reference::mean;
use crate::{ModelError, Result, Trials, tangent_vectors};
use stiefel_geometry::spd::{Metric, distance};
use stiefel_linalg::MatBatch;

const OP: &str = "means of the training domains";

/// The means of the domains that had training trials.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainMeans {
    /// Numbers of the domains with training trials, ascending.
    domains: Vec<usize>,
    /// One row per such domain, `count × 1 × n(n+1)/2`.
    tangent: MatBatch<f64>,
    /// One matrix per such domain, `count × n × n`.
    riemannian: MatBatch<f64>,
}

impl DomainMeans {
    /// Of pre-conditioned training trials.
    pub fn fit(whitened: &Trials) -> Result<Self> {
        let (n, domains) = (whitened.channels_count(), whitened.domains().present());
        let tangent = tangent_vectors::<f64>(whitened)?;
        let (mut rows, mut matrices) = (Vec::new(), Vec::new());
        for &d in &domains {
            let own: Vec<usize> = (0..whitened.len())
                .filter(|&i| whitened.domains().indices()[i] == d)
                .collect();
            rows.extend(mean_row(&tangent.select(&own)));
            let own = whitened.covariances().select(&own);
            matrices.extend(mean(Reference::Riemannian, &own)?);
        }
        Self::from_parts(domains, n, rows, matrices)
    }

    /// `μ` and `M` of one domain's pre-conditioned trials.
    pub(crate) fn of(whitened: &MatBatch<f64>) -> Result<(Vec<f64>, Vec<f64>)> {
        let tangent = crate::tangent::vectors_of(whitened.view())?;
        Ok((mean_row(&tangent), mean(Reference::Riemannian, whitened)?))
    }

    /// From the domains' numbers (ascending), the rows and the matrices, one after the other.
    pub(crate) fn from_parts(
        domains: Vec<usize>,
        n: usize,
        rows: Vec<f64>,
        matrices: Vec<f64>,
    ) -> Result<Self> {
        let count = domains.len();
        let p = n.saturating_mul(n.saturating_add(1)) / 2;
        let tangent = MatBatch::from_vec(count, 1, p, rows)?;
        let riemannian = MatBatch::from_vec(count, n, n, matrices)?;
        tangent.view().check_finite(OP)?;
        riemannian.view().check_finite(OP)?;
        Ok(Self {
            domains,
            tangent,
            riemannian,
        })
    }

    /// Numbers of the domains with training trials, ascending: the order of the means.
    pub fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// `μ_d`, as `count × 1 × n(n+1)/2`.
    pub fn tangent(&self) -> &MatBatch<f64> {
        &self.tangent
    }

    /// `M_d`, as `count × n × n`.
    pub fn riemannian(&self) -> &MatBatch<f64> {
        &self.riemannian
    }

    /// `‖μ − μ_d‖₂` to every training domain, `μ` of pre-conditioned trials.
    pub fn tangent_distances(&self, whitened: &MatBatch<f64>) -> Result<Vec<f64>> {
        let log = stiefel_geometry::spd::log(whitened.view())?;
        let new = mean_row(&stiefel_geometry::spd::upper(log.view())?);
        let rows = self.tangent.data().chunks_exact(new.len());
        let square =
            |row: &[f64]| -> f64 { row.iter().zip(&new).map(|(a, b)| (a - b) * (a - b)).sum() };
        Ok(rows.map(|row| square(row).sqrt()).collect())
    }

    /// `δ(M, M_d)` to every training domain, `M` of pre-conditioned trials.
    pub fn riemannian_distances(&self, whitened: &MatBatch<f64>) -> Result<Vec<f64>> {
        let n = whitened.rows();
        let new = MatBatch::from_vec(1, n, n, mean(Reference::Riemannian, whitened)?)?;
        Ok(distance(
            Metric::AffineInvariant,
            new.view(),
            self.riemannian.view(),
        )?)
    }

    /// The domain at the smallest of distances in the order of [`domains`](Self::domains); the first of equals.
    pub fn nearest(&self, distances: &[f64]) -> Result<usize> {
        let best = (self.domains.iter().zip(distances)).min_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(&d, _)| d).ok_or(ModelError::Empty {
            op: OP,
            remedy: "the model knows no training domain",
        })
    }
}

/// The mean of row vectors `count × 1 × p`.
fn mean_row(x: &MatBatch<f64>) -> Vec<f64> {
    let mut sum = vec![0.0; x.cols()];
    for row in x.data().chunks_exact(x.cols()) {
        sum.iter_mut().zip(row).for_each(|(s, v)| *s += v);
    }
    let count = x.count() as f64;
    for s in &mut sum {
        *s /= count;
    }
    sum
}
