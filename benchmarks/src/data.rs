//! Covariances as a study of several subjects has them.
//!
//! ```text
//! A_s  = Q diag(10^(−1.5 j/(n−1))) exp(S_s)           mixing of subject s: three decades of power, then a spread of its own
//! X_st = A_s diag(e^p) G Gᵀ diag(e^p) A_sᵀ/(T − 1)    trial t: p ~ N(0, 0.3²) per source, G an n × T Gaussian, demeaned
//! ```
//!
//! `S_s` is symmetric with entries N(0, 1/(4n)): its eigenvalues reach ±1, so subjects differ by up
//! to e² in power along a direction. T is from 3n to 200: the independent samples that a few
//! seconds of an 8–32 Hz band hold.

use crate::arguments::Arguments;
use ndarray::{Array3, ArrayView3};
use std::path::Path;
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::{MatBatch, Op, congruence, matmul, product};
use stiefel_testkit::{normal, random_batch, random_symmetric, rng};

/// Trials of the standard set.
pub(crate) const TRIALS: usize = 500;
/// Channels of the standard set.
pub(crate) const CHANNELS: usize = 22;
/// Subjects of the standard set.
pub(crate) const SUBJECTS: usize = 9;

/// `trials × n × n`, trial `t` of subject `t mod SUBJECTS`.
pub(crate) fn covariances(seed: u64, trials: usize, n: usize) -> MatBatch<f64> {
    let mixings = mixings(seed, n);
    let mut rng = rng(seed + 2);
    let mut all = Vec::with_capacity(trials * n * n);
    for t in 0..trials {
        let samples = 3 * n + (t * 31) % (200_usize.saturating_sub(3 * n) + 1);
        let mut g = MatBatch::from_fn(1, n, samples, |_, _, _| normal(&mut rng));
        for row in g.data_mut().chunks_exact_mut(samples) {
            let mean = row.iter().sum::<f64>() / samples as f64;
            let power = (0.3 * normal(&mut rng)).exp();
            for x in row {
                *x = power * (*x - mean) / ((samples - 1) as f64).sqrt();
            }
        }
        let sources = product(g.view(), Op::N, g.view(), Op::T).expect("matching sizes");
        let a = mixings.single(t % SUBJECTS).transposed();
        let x = congruence(a.view(), sources.view()).expect("matching sizes");
        all.extend_from_slice(x.data());
    }
    MatBatch::from_vec(trials, n, n, all).expect("as many as counted")
}

/// `A_s` of every subject.
fn mixings(seed: u64, n: usize) -> MatBatch<f64> {
    let q = stiefel::orthonormal_factor(random_batch::<f64>(seed, 1, n, n).view())
        .expect("a Gaussian matrix has full rank")
        .q;
    let decay = MatBatch::from_fn(1, n, n, |_, r, c| {
        let power = 10_f64.powf(-1.5 * c as f64 / (n - 1).max(1) as f64);
        q.get(0, r, c) * power
    });
    let mut spread = random_symmetric::<f64>(seed + 1, SUBJECTS, n);
    for x in spread.data_mut() {
        *x *= 0.5 / (n as f64).sqrt();
    }
    let spread = spd::exp(spread.view()).expect("a symmetric matrix");
    matmul(decay.view(), spread.view()).expect("matching sizes")
}

/// Reads `count × n × n` float64.
pub(crate) fn read(path: &Path) -> Result<MatBatch<f64>, String> {
    let array: Array3<f64> =
        ndarray_npy::read_npy(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (count, rows, cols) = array.dim();
    MatBatch::from_vec(count, rows, cols, array.iter().copied().collect())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a batch as `count × rows × cols` float64.
pub(crate) fn write_npy(path: &Path, batch: &MatBatch<f64>) -> Result<(), String> {
    ArrayView3::from_shape(batch.shape(), batch.data())
        .map_err(|error| error.to_string())
        .and_then(|array| ndarray_npy::write_npy(path, &array).map_err(|error| error.to_string()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The command `data`.
pub(crate) fn write(arguments: &Arguments) -> Result<(), String> {
    let path = arguments.file.as_deref().ok_or("where to? name a file")?;
    write_npy(path, &covariances(0, TRIALS, CHANNELS))
}
