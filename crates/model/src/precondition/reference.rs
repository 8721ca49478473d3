//! Weighted means of SPD matrices under the three geometries, at once or one trial at a time.
//!
//! | reference | mean of `X_i` with weights `w_i`, `s = Σ w_i` | one more trial |
//! |---|---|---|
//! | Euclidean | `Σ w_i X_i/s` | the same sum |
//! | log-Euclidean | `exp(Σ w_i log X_i/s)` | the same sum |
//! | Riemannian | the minimum of `Σ w_i δ²(X_i, M)` | `M ← M #_{1/(s+1)} X`, a step along the geodesic (Ho et al. 2013) |

use super::OP;
use super::config::Reference;
use crate::{ModelError, Result};
use stiefel_geometry::spd::{
    FrechetOptions, exp, frechet_mean, geodesic, log, mean_euclidean, mean_log_euclidean,
};
use stiefel_linalg::sums::add_scaled;
use stiefel_linalg::{MatBatch, MatView};

/// The mean of a batch, with equal weights.
pub(crate) fn mean(reference: Reference, x: &MatBatch<f64>) -> Result<Vec<f64>> {
    weighted_mean(reference, x, &vec![1.0; x.count()])
}

/// The mean of a batch and of a prior that counts for κ matrices: `(κ·prior + Σ X)/(κ + t)` for the Euclidean reference.
pub(crate) fn shrunk_mean(
    reference: Reference,
    prior: &[f64],
    kappa: f64,
    x: &MatBatch<f64>,
) -> Result<Vec<f64>> {
    if kappa == 0.0 {
        return mean(reference, x);
    }
    let (count, n, _) = x.shape();
    let mut all = x.data().to_vec();
    all.extend_from_slice(prior);
    let mut weights = vec![1.0; count];
    weights.push(kappa);
    weighted_mean(
        reference,
        &MatBatch::from_vec(count + 1, n, n, all)?,
        &weights,
    )
}

fn weighted_mean(reference: Reference, x: &MatBatch<f64>, weights: &[f64]) -> Result<Vec<f64>> {
    let weights = Some(weights);
    let mean = match reference {
        Reference::Euclidean => mean_euclidean(x.view(), weights)?,
        Reference::LogEuclidean => mean_log_euclidean(x.view(), weights)?,
        Reference::Riemannian => {
            let options = FrechetOptions {
                weights,
                ..FrechetOptions::default()
            };
            let found = frechet_mean(x.view(), &options)?;
            if !found.report.converged {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: format!(
                        "the Riemannian mean of {} matrices did not converge: residual {:e} after {} evaluations",
                        x.count(),
                        found.report.residual,
                        found.report.iterations
                    ),
                    remedy: "use a larger diagonal loading, or the Euclidean reference",
                });
            }
            found.mean
        }
    };
    Ok(mean.into_vec())
}

/// A mean that grows by one trial at a time from a prior of weight κ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunningMean {
    reference: Reference,
    n: usize,
    weight: f64,
    /// The weighted sum (of logarithms), or the Riemannian mean itself.
    state: Vec<f64>,
}

impl RunningMean {
    /// Starts at `prior` with weight κ.
    pub(crate) fn new(reference: Reference, n: usize, prior: &[f64], kappa: f64) -> Result<Self> {
        let mut state = vec![0.0; n * n];
        match reference {
            Reference::Riemannian => state.copy_from_slice(prior),
            Reference::Euclidean => add_scaled(&mut state, kappa, prior),
            Reference::LogEuclidean => {
                let log = log(MatBatch::from_vec(1, n, n, prior.to_vec())?.view())?;
                add_scaled(&mut state, kappa, log.data());
            }
        }
        Ok(Self {
            reference,
            n,
            weight: kappa,
            state,
        })
    }

    /// Takes in one more (loaded) matrix; unchanged where that fails.
    pub(crate) fn push(&mut self, x: &[f64]) -> Result<()> {
        let x = MatBatch::from_vec(1, self.n, self.n, x.to_vec())?;
        match self.reference {
            Reference::Euclidean => add_scaled(&mut self.state, 1.0, x.data()),
            Reference::LogEuclidean => {
                add_scaled(&mut self.state, 1.0, log(x.view())?.data());
            }
            // Without a prior the first matrix is the mean.
            Reference::Riemannian if self.weight == 0.0 => self.state = x.into_vec(),
            Reference::Riemannian => {
                let here = MatView::new(1, self.n, self.n, &self.state)?;
                let step = 1.0 / (self.weight + 1.0);
                self.state = geodesic(here, x.view(), step)?.into_vec();
            }
        }
        self.weight += 1.0;
        Ok(())
    }

    /// The mean so far.
    pub(crate) fn mean(&self) -> Result<Vec<f64>> {
        if self.reference == Reference::Riemannian {
            return Ok(self.state.clone());
        }
        let average: Vec<f64> = self.state.iter().map(|s| s / self.weight).collect();
        if self.reference == Reference::Euclidean {
            return Ok(average);
        }
        let average = MatBatch::from_vec(1, self.n, self.n, average)?;
        Ok(exp(average.view())?.into_vec())
    }
}
