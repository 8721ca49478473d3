//! Where the training domains lie: for domain `d`, the mean tangent vector `μ_d = mean upper(log X_i)` (length `n(n+1)/2`) and the Fréchet
//! mean `M_d` of the affine-invariant metric (`n × n`), both over its pre-conditioned training trials.
//!
//! A new domain borrows the embedding of the one it is nearest to; see [`UnseenEmbedding`](super::UnseenEmbedding).

use crate::precondition::Reference;
use crate::precondition::reference::mean;
use crate::{ModelError, Result, Trials};
use std::sync::OnceLock;
use stiefel_geometry::spd::{Metric, distance};
use stiefel_linalg::MatBatch;

const OP: &str = "means of the training domains";

/// Means of the domains with training trials. The Fréchet means take as long as a training of a few epochs, and few ask for them: they are
/// computed when somebody does.
#[derive(Debug, Clone)]
pub struct DomainMeans {
    domains: Vec<usize>,
    tangent: MatBatch<f64>,
    riemannian: OnceLock<MatBatch<f64>>,
    // What the Fréchet means are of, until they are known.
    whitened: Option<Trials>,
}

impl PartialEq for DomainMeans {
    fn eq(&self, other: &Self) -> bool {
        let same = self.domains == other.domains && self.tangent == other.tangent;
        same && self.riemannian().ok() == other.riemannian().ok()
    }
}

impl DomainMeans {
    /// From the pre-conditioned training trials and their tangent vectors.
    pub fn fit(whitened: &Trials, tangent: &MatBatch<f64>) -> Result<Self> {
        let domains = whitened.domains().present();
        let rows = domains.iter().flat_map(|&d| {
            let own = whitened.of_domain(d);
            mean_row(&tangent.select(&own))
        });
        let tangent = MatBatch::from_vec(domains.len(), 1, tangent.cols(), rows.collect())?;
        tangent.view().check_finite(OP)?;
        Ok(Self {
            domains,
            tangent,
            riemannian: OnceLock::new(),
            whitened: Some(whitened.clone()),
        })
    }

    /// The mean tangent vector and the Fréchet mean of pre-conditioned trials.
    pub(crate) fn of(whitened: &MatBatch<f64>) -> Result<(Vec<f64>, Vec<f64>)> {
        let tangent = crate::tangent::vectors_of(whitened.view())?;
        Ok((mean_row(&tangent), mean(Reference::Riemannian, whitened)?))
    }

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
            riemannian: OnceLock::from(riemannian),
            whitened: None,
        })
    }

    /// The domains that have means, by number.
    pub fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// Their mean tangent vectors, `D′ × 1 × n(n+1)/2`.
    pub fn tangent(&self) -> &MatBatch<f64> {
        &self.tangent
    }

    /// Their Fréchet means, `D′ × n × n`.
    pub fn riemannian(&self) -> Result<&MatBatch<f64>> {
        if let (None, Some(whitened)) = (self.riemannian.get(), &self.whitened) {
            let n = whitened.channels_count();
            let mut matrices = Vec::with_capacity(self.domains.len() * n * n);
            for &d in &self.domains {
                let own = whitened.covariances().select(&whitened.of_domain(d));
                matrices.extend(mean(Reference::Riemannian, &own)?);
            }
            let means = MatBatch::from_vec(self.domains.len(), n, n, matrices)?;
            // Whoever comes second computes the same.
            let _ = self.riemannian.set(means);
        }
        self.riemannian.get().ok_or(ModelError::Empty {
            op: OP,
            remedy: "the model knows no training domain",
        })
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
            self.riemannian()?.view(),
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
