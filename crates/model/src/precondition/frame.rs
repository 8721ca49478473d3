//! One domain's frame: `Y = β(Y)·Z (X + loading) Zᵀ`, one matrix at a time and without allocation.

use super::config::{Scaling, Tikhonov, Whitening};
use super::{OP, Preconditioning};
use crate::error::check_count;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_data::check_symmetric;
use stiefel_geometry::GeometryError;
use stiefel_geometry::spd::{SpectralFn, spectral_map};
use stiefel_linalg::{
    MatBatch, MatRef, MatViewMut, Outer, SandwichScratch, peak, sandwich_into, sums,
};

/// What whitens one domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The reference mean `M`, `n × n`.
    pub(crate) mean: Vec<f64>,
    /// `Z` with `Z M Zᵀ = I`, or the identity where nothing is whitened.
    pub(crate) z: Vec<f64>,
    /// The domain's scale, 1 unless scaling is per domain.
    pub(crate) beta: f64,
}

/// Buffers of the single-trial path; grows to the size of the trial once.
#[derive(Debug, Clone, Default)]
pub struct WhitenScratch {
    loaded: Vec<f64>,
    products: SandwichScratch<f64>,
}

impl WhitenScratch {
    fn resize(&mut self, n: usize) {
        self.loaded.resize(n * n, 0.0);
    }
}

/// `tr Y` and `‖Y‖_F²`.
pub(crate) fn trace_and_square(y: &[f64], n: usize) -> (f64, f64) {
    let trace = y.iter().step_by(n + 1).sum();
    let square = sums::dot(y, y);
    (trace, square)
}

/// `tr/‖·‖²`, or an error where it is not a positive number.
pub(crate) fn scale_of(trial: usize, trace: f64, square: f64) -> Result<f64> {
    let scale = trace / square;
    if scale.is_finite() && scale > 0.0 {
        return Ok(scale);
    }
    Err(ModelError::NoScale {
        op: OP,
        trial,
        trace,
        square,
    })
}

impl Tikhonov {
    /// What is added to the diagonal of a matrix.
    pub(crate) fn amount(self, x: &[f64], n: usize) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Absolute(epsilon) => epsilon,
            Self::Relative(epsilon) => epsilon * x.iter().step_by(n + 1).sum::<f64>() / n as f64,
        }
    }

    /// Adds the loading to the diagonal, in place.
    pub(crate) fn load(self, x: &mut [f64], n: usize) {
        if self == Self::None {
            return;
        }
        let epsilon = self.amount(x, n);
        for d in x.iter_mut().step_by(n + 1) {
            *d += epsilon;
        }
    }
}

impl Frame {
    /// The frame of a mean, with β = 1.
    pub(crate) fn from_mean(
        mean: Vec<f64>,
        n: usize,
        whitening: Whitening,
    ) -> std::result::Result<Self, GeometryError> {
        let view = MatRef::new(n, n, &mean).view();
        let root = spectral_map(SpectralFn::InvSqrt, view)?;
        let z = match whitening {
            Whitening::Symmetric => root.value.into_vec(),
            Whitening::Pca => pca_rows(&root.eigen.values, root.eigen.vectors.data(), n),
            Whitening::None => MatBatch::identity(1, n).into_vec(),
        };
        Ok(Self { mean, z, beta: 1.0 })
    }

    /// `Z (X + loading) Zᵀ` into `out`, without a scale; `x` and `out` have `n·n` values.
    pub(crate) fn whiten_into(
        &self,
        tikhonov: Tikhonov,
        n: usize,
        x: &[f64],
        out: &mut [f64],
        scratch: &mut WhitenScratch,
    ) -> Result<()> {
        scratch.resize(n);
        scratch.loaded.copy_from_slice(x);
        tikhonov.load(&mut scratch.loaded, n);
        let z = MatRef::new(n, n, &self.z).view();
        let x = MatRef::new(n, n, &scratch.loaded).view();
        let out = MatViewMut::new(1, n, n, out)?;
        sandwich_into(z, Outer::Full, x, out, &mut scratch.products)?;
        Ok(())
    }

    /// All three steps for one matrix; `trial` is used in errors.
    pub(crate) fn apply_into(
        &self,
        config: &Preconditioning,
        n: usize,
        trial: usize,
        x: &[f64],
        out: &mut [f64],
        scratch: &mut WhitenScratch,
    ) -> Result<()> {
        self.whiten_into(config.tikhonov, n, x, out, scratch)?;
        let scale = match config.scaling {
            Scaling::None => return Ok(()),
            Scaling::PerDomain => self.beta,
            Scaling::PerTrial => {
                let (trace, square) = trace_and_square(out, n);
                scale_of(trial, trace, square)?
            }
        };
        sums::scale(out, scale);
        Ok(())
    }
}

/// `Λ^{-1/2} Uᵀ` with descending eigenvalues and the largest entry of each row positive.
fn pca_rows(values: &[f64], vectors: &[f64], n: usize) -> Vec<f64> {
    let mut z = Vec::with_capacity(n * n);
    for j in (0..n).rev() {
        let column = (0..n).map(|r| vectors[r * n + j]);
        let scale = peak(column.clone()).signum() / values[j].sqrt();
        z.extend(column.map(|x| scale * x));
    }
    z
}

/// The door of the single-trial paths: size, finite values, symmetry.
pub(crate) fn check_single(n: usize, x: &[f64], trial: usize) -> Result<()> {
    check_count(OP, "values of a covariance", n * n, x.len())?;
    let x = MatRef::new(n, n, x).view();
    x.check_finite(OP)?;
    Ok(check_symmetric(x, trial)?)
}
