//! Tangent vectors at the identity, `x_i = upper(log X_i)`: `count × 1 × n(n+1)/2`, row-major upper
//! triangle, off-diagonals times √2.
//!
//! They depend on the data alone: computed once per split in f64, then cast to the precision of the
//! network.

use crate::kernel::{Spectrum, multiply};
use crate::{DspEncoder, Result, Trials};
use stiefel_geometry::spd::{SpectralFn, log_vectors, upper_len};
use stiefel_linalg::{MatBatch, Op, Scalar};

/// The tangent vectors of pre-conditioned trials.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::{Factor, Trials, tangent_vectors};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![1.0_f64.exp(), 0.0, 0.0, 1.0])?;
/// let trials = Trials::new(
///     x,
///     Factor::from_labels(["hand"]),
///     Factor::from_labels(["s1"]),
/// )?;
/// let v = tangent_vectors::<f64>(&trials)?;
/// assert_eq!(v.shape(), (1, 1, 3));
/// assert!((v.get(0, 0, 0) - 1.0).abs() < 1e-15 && v.get(0, 0, 1).abs() < 1e-15);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
///
/// A covariance that is not positive definite beyond rounding is an error that names the trial.
pub fn tangent_vectors<T: Scalar>(trials: &Trials) -> Result<MatBatch<T>> {
    Ok(log_vectors(trials.covariances().view())?.cast())
}

/// The input of the query for one trial after another, with its buffers: nothing is allocated.
#[derive(Debug, Clone)]
pub(crate) struct Encode {
    log: Spectrum<f64>,
    tangent: Vec<f64>,
    encoded: Vec<f64>,
}

impl Encode {
    /// Makes room for trials of `n` channels.
    pub(crate) fn new(n: usize, encoder: Option<&DspEncoder>) -> Self {
        Self {
            log: Spectrum::new(n),
            tangent: vec![0.0; upper_len(n)],
            encoded: vec![0.0; encoder.map_or(0, DspEncoder::outputs)],
        }
    }

    /// `upper(log X)` of a pre-conditioned trial, projected by the encoder where there is one.
    pub(crate) fn run(&mut self, x: &[f64], encoder: Option<&DspEncoder>) -> Result<&[f64]> {
        self.log.vector(SpectralFn::Log, x, &mut self.tangent)?;
        let Some(encoder) = encoder else {
            return Ok(&self.tangent);
        };
        let (p, r) = (encoder.inputs(), encoder.outputs());
        let projection = (encoder.projection().data(), (p, r), Op::N);
        let tangent = (&self.tangent[..], (1, p), Op::N);
        multiply((&mut self.encoded, (1, r)), false, tangent, projection)?;
        Ok(&self.encoded)
    }
}
