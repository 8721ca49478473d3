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
    FrechetOptions, SpectralFn, frechet_mean, mean_euclidean, pair_spectrum, spectral_map,
};
use stiefel_linalg::sums::add_scaled;
use stiefel_linalg::{MatBatch, MatRef, MatView};

/// The mean of a batch, with equal weights.
pub(crate) fn mean(reference: Reference, x: &MatBatch<f64>) -> Result<Vec<f64>> {
    weighted_mean(reference, x, &vec![1.0; x.count()])
}

/// The mean of a batch and of a prior that counts for κ matrices: `(κ·prior + Σ X)/(κ + t)` for the
/// Euclidean reference.
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
        Reference::LogEuclidean => {
            let logs = map(SpectralFn::Log, x.view())?;
            map(
                SpectralFn::Exp,
                mean_euclidean(logs.view(), weights)?.view(),
            )?
        }
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
                        "the Riemannian mean of {} matrices did not converge: residual {:e} after \
                         {} evaluations",
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

/// `f(X_i)` with the same bits alone and among others.
fn map(f: SpectralFn<f64>, x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    Ok(spectral_map(f, x)?.value)
}

/// What a running mean starts from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prior {
    mean: Vec<f64>,
    /// For how many trials it counts.
    kappa: f64,
    /// Whether it has no scale of its own, and takes that of the trials.
    of_trace: bool,
}

impl Prior {
    /// A mean in the unit of the trials.
    pub(crate) fn fixed(mean: &[f64], kappa: f64) -> Self {
        Self {
            mean: mean.to_vec(),
            kappa,
            of_trace: false,
        }
    }

    /// A mean of trace 1, which counts times the mean trace of the trials.
    pub(crate) fn from_unit_trace(mean: &[f64], kappa: f64) -> Self {
        Self {
            of_trace: true,
            ..Self::fixed(mean, kappa)
        }
    }
}

/// A mean that trials join one by one, drawn towards a prior:
///
/// ```text
/// Euclidean        M = (κ·s·P + Σ X)/(κ + t)        s = 1, or the mean trace of the trials
/// log-Euclidean    M = exp((κ·log P + Σ log X)/(κ + t))
/// Riemannian       M_t = M_{t−1} #_{1/(κ+t)} X_t    M_0 = P
/// ```
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunningMean {
    reference: Reference,
    n: usize,
    /// The prior; of the log-Euclidean reference its logarithm.
    prior: Prior,
    count: usize,
    /// The sum (of logarithms), or the Riemannian mean itself.
    state: Vec<f64>,
}

impl RunningMean {
    /// Starts at the prior.
    pub(crate) fn new(reference: Reference, n: usize, mut prior: Prior) -> Result<Self> {
        let mut state = vec![0.0; n * n];
        match reference {
            Reference::Riemannian => state.copy_from_slice(&prior.mean),
            Reference::Euclidean => {}
            Reference::LogEuclidean => {
                let log = map(SpectralFn::Log, MatRef::new(n, n, &prior.mean).view())?;
                prior.mean = log.into_vec();
            }
        }
        Ok(Self {
            reference,
            n,
            prior,
            count: 0,
            state,
        })
    }

    /// Counts the trials that have joined.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes in one more matrix; unchanged where that fails.
    pub(crate) fn push(&mut self, x: &[f64]) -> Result<()> {
        let (n, matrix) = (self.n, MatRef::new(self.n, self.n, x));
        match self.reference {
            Reference::Euclidean => add_scaled(&mut self.state, 1.0, x),
            Reference::LogEuclidean => {
                let log = map(SpectralFn::Log, matrix.view())?;
                add_scaled(&mut self.state, 1.0, log.data());
            }
            Reference::Riemannian => {
                let weight = self.prior.kappa + self.count as f64;
                if weight == 0.0 {
                    // Without a prior the first matrix is the mean.
                    self.state.copy_from_slice(x);
                } else {
                    let here = MatRef::new(n, n, &self.state);
                    let pair = pair_spectrum(here.view(), matrix.view())?;
                    self.state = pair.geodesic(1.0 / (weight + 1.0))?.into_vec();
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Returns the mean so far.
    pub(crate) fn mean(&self) -> Result<Vec<f64>> {
        if self.reference == Reference::Riemannian {
            return Ok(self.state.clone());
        }
        let (kappa, t) = (self.prior.kappa, self.count as f64);
        let scale = match (self.prior.of_trace, self.count) {
            (true, 0) => return Ok(self.prior.mean.clone()),
            (true, _) => self.state.iter().step_by(self.n + 1).sum::<f64>() / t,
            (false, _) => 1.0,
        };
        let mix = |(m, s): (&f64, &f64)| (kappa * scale * m + s) / (kappa + t);
        let mean: Vec<f64> = self.prior.mean.iter().zip(&self.state).map(mix).collect();
        if self.reference == Reference::Euclidean {
            return Ok(mean);
        }
        let mean = MatRef::new(self.n, self.n, &mean);
        Ok(map(SpectralFn::Exp, mean.view())?.into_vec())
    }
}
