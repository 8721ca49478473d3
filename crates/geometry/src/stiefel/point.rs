//! Points of St(n, k): drawing them uniformly, averaging them, and how far a matrix is from being
//! one.

use super::qr::check_columns;
use super::{orthonormal_factor, project, retract_qr};
use crate::error::shape_error;
use crate::tolerance;
use crate::{GeometryError, Result};
use rand::{Rng, RngExt};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product};

/// `count` points drawn uniformly (Haar measure): `qf` of matrices with independent standard normal
/// entries.
///
/// Drawn and orthonormalised in `f64`, so that a seed gives the same points in both precisions.
///
/// ```
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
/// use stiefel_geometry::stiefel::{orthonormality_defect, random_points};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let w = random_points::<f64, _>(&mut rng, 3, 5, 2)?;
/// assert_eq!(w.shape(), (3, 5, 2));
/// assert!(orthonormality_defect(w.view())?.iter().all(|&d| d < 1e-14));
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn random_points<T: Scalar, R: Rng + ?Sized>(
    rng: &mut R,
    count: usize,
    n: usize,
    k: usize,
) -> Result<MatBatch<T>> {
    let mut spare = None;
    let gaussian = MatBatch::from_fn(count, n, k, |_, _, _| standard_normal(rng, &mut spare));
    Ok(orthonormal_factor(gaussian.view())?.q.cast())
}

/// A standard normal number by Box and Muller, who give two at a time; the second waits in `spare`.
fn standard_normal<R: Rng + ?Sized>(rng: &mut R, spare: &mut Option<f64>) -> f64 {
    if let Some(x) = spare.take() {
        return x;
    }
    // 1 − u is in (0, 1], where the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
    *spare = Some(radius * sin);
    radius * cos
}

/// `max|W_iᵀW_i − I|` of each matrix.
pub fn orthonormality_defect<T: Scalar>(w: MatView<'_, T>) -> Result<Vec<T>> {
    let k = w.cols();
    let gram = product(w, Op::T, w, Op::N)?;
    let worst = |i: usize| {
        let entries = gram.matrix(i).iter().enumerate();
        entries.fold(T::ZERO, |worst, (at, &x)| {
            let eye = if at / k == at % k { T::ONE } else { T::ZERO };
            let gap = Scalar::abs(x - eye);
            // A NaN must not hide behind a comparison.
            if gap <= worst { worst } else { gap }
        })
    };
    Ok((0..w.count()).map(worst).collect())
}

/// An error unless the columns of every matrix are orthonormal to [`tolerance::orthonormality`].
pub fn check_orthonormal<T: Scalar>(op: &'static str, w: MatView<'_, T>) -> Result<()> {
    check_columns(op, w)?;
    w.check_finite(op)?;
    let limit = tolerance::orthonormality::<T>();
    for (matrix, defect) in orthonormality_defect(w)?.into_iter().enumerate() {
        if defect > limit {
            return Err(GeometryError::NotOrthonormal {
                op,
                matrix,
                defect: defect.to_f64(),
            });
        }
    }
    Ok(())
}

/// The one-step barycenter `qf(W_1 + Σ_j w_j P_{W_1}(W_j))` of a batch; without weights `w_j =
/// 1/K`.
///
/// The weights are used as they are: they should sum to one.
pub fn barycenter<T: Scalar>(w: MatView<'_, T>, weights: Option<&[T]>) -> Result<MatBatch<T>> {
    const OP: &str = "barycenter";
    let (count, n, k) = w.shape();
    if count == 0 {
        return Err(GeometryError::Empty { op: OP });
    }
    if let Some(weights) = weights
        && weights.len() != count
    {
        return Err(shape_error(OP, format!("{count} weights"), weights.len()));
    }
    check_orthonormal(OP, w)?;
    let first = w.single(0);
    let tangents = project(first, w)?;
    let uniform = T::ONE / T::from_f64(count as f64);
    let mut mean = MatBatch::zeros(1, n, k);
    for j in 0..count {
        let weight = weights.map_or(uniform, |w| w[j]);
        for (m, &t) in mean.data_mut().iter_mut().zip(tangents.matrix(j)) {
            *m += weight * t;
        }
    }
    Ok(retract_qr(first, mean.view())?.q)
}
