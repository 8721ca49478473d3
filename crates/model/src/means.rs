//! Where the training domains lie: for domain `d`, the mean tangent vector `μ_d = mean upper(log
//! X_i)` (length `n(n+1)/2`) and the Fréchet mean `M_d` of the affine-invariant metric (`n × n`),
//! both over its pre-conditioned training trials.
//!
//! A new domain borrows the embedding of the one it is nearest to; see
//! [`AdaptEmbedding`](super::AdaptEmbedding).

use crate::file::{Archive, Found, inconsistent};
use crate::precondition::Reference;
use crate::precondition::reference::mean;
use crate::{ModelError, Result, Trials};
use stiefel_geometry::spd::{log_vectors, pair_spectrum, upper_len};
use stiefel_linalg::{Mat, MatBatch};

const OP: &str = "means of the training domains";

/// Means of the domains with training trials; the Fréchet means take as long as a training of a few
/// epochs, and are there where the settings asked for them.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainMeans {
    domains: Vec<usize>,
    tangent: MatBatch<f64>,
    riemannian: Option<MatBatch<f64>>,
}

impl DomainMeans {
    /// Fits the means of pre-conditioned training trials, whose tangent vectors are given.
    pub fn fit(whitened: &Trials, tangent: &MatBatch<f64>, frechet: bool) -> Result<Self> {
        let domains = whitened.domains().present();
        let rows = domains.iter().flat_map(|&d| {
            let own = whitened.of_domain(d);
            mean_row(&tangent.select(&own))
        });
        let tangent = MatBatch::from_vec(domains.len(), 1, tangent.cols(), rows.collect())?;
        tangent.view().check_finite(OP)?;
        let riemannian = frechet.then(|| {
            let n = whitened.channels_count();
            let mut matrices = Vec::with_capacity(domains.len() * n * n);
            for &d in &domains {
                let own = whitened.covariances().select(&whitened.of_domain(d));
                matrices.extend(mean(Reference::Riemannian, &own)?);
            }
            Ok::<_, ModelError>(MatBatch::from_vec(domains.len(), n, n, matrices)?)
        });
        Ok(Self {
            riemannian: riemannian.transpose()?,
            domains,
            tangent,
        })
    }

    /// Returns means whose numbers are still to be read.
    pub(crate) fn blank(domains: Vec<usize>, frechet: bool) -> Self {
        Self {
            domains,
            tangent: MatBatch::default(),
            riemannian: frechet.then(MatBatch::default),
        }
    }

    /// Writes or reads the numbers.
    pub(crate) fn numbers(&mut self, n: usize, file: &mut Archive) -> Found<()> {
        let count = self.domains.len();
        let p = upper_len(n);
        let mut rows = std::mem::take(&mut self.tangent).into_vec();
        file.tensor("domains.tangent", &[count, p], &mut rows)?;
        self.tangent = MatBatch::from_vec(count, 1, p, rows).map_err(|e| inconsistent(&e))?;
        if let Some(means) = &mut self.riemannian {
            file.batch("domains.riemannian", (count, n, n), means)?;
            file.check_spd("domains.riemannian", means)?;
        }
        Ok(())
    }

    /// The domains that have means, by number.
    pub fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// Their mean tangent vectors, `D′ × 1 × n(n+1)/2`.
    pub fn tangent(&self) -> &MatBatch<f64> {
        &self.tangent
    }

    /// Returns their Fréchet means, `D′ × n × n`, where the settings asked for them.
    pub fn riemannian(&self) -> Result<&MatBatch<f64>> {
        self.riemannian.as_ref().ok_or(ModelError::Impossible {
            op: OP,
            why: "the model was trained without the Fréchet means of its domains".into(),
            remedy: "train it with frechet_means, or choose another stand-in for the embedding",
        })
    }

    /// `‖μ − μ_d‖₂` to every training domain, `μ` of pre-conditioned trials.
    pub fn tangent_distances(&self, whitened: &MatBatch<f64>) -> Result<Vec<f64>> {
        let new = mean_row(&log_vectors(whitened.view())?);
        let rows = self.tangent.data().chunks_exact(new.len());
        let square =
            |row: &[f64]| -> f64 { row.iter().zip(&new).map(|(a, b)| (a - b) * (a - b)).sum() };
        Ok(rows.map(|row| square(row).sqrt()).collect())
    }

    /// `δ(M, M_d)` to every training domain, `M` of pre-conditioned trials.
    pub fn riemannian_distances(&self, whitened: &MatBatch<f64>) -> Result<Vec<f64>> {
        let n = whitened.rows();
        let new = Mat::new(n, n, mean(Reference::Riemannian, whitened)?);
        Ok(pair_spectrum(new.view(), self.riemannian()?.view())?.distances())
    }

    /// The domain at the smallest of distances in the order of [`domains`](Self::domains); the
    /// first of equals.
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
