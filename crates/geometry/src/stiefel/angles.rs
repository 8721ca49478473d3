//! Principal angles between the column spaces of `V`, `W` in St(n, k).
//!
//! `cos θ = σ(VᵀW)` loses angles below √ε and `sin θ = σ(W − V VᵀW)` those near 90°; each angle is
//! taken from the one that is exact there, with the change at 45° (Björck & Golub 1973; Knyazev &
//! Argentati 2002; SciPy's `subspace_angles`). Angles are in radians, ascending.

use super::point::check_orthonormal;
use crate::Result;
use crate::batch::{common_count, zip_with};
use crate::error::shape_error;
use crate::singular::singular_values;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product};

const OP: &str = "principal angles";

/// The k principal angles of each pair `(V_i, W_i)`, as `count × 1 × k`, ascending, in radians; a
/// single `V` or `W` is broadcast.
///
/// ```
/// use stiefel_geometry::stiefel::principal_angles;
/// use stiefel_linalg::MatBatch;
///
/// let v = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let tiny = 1e-12_f64;
/// let w = MatBatch::from_vec(1, 2, 1, vec![tiny.cos(), tiny.sin()])?;
/// let angle = principal_angles(v.view(), w.view())?.get(0, 0, 0);
/// assert!((angle / tiny - 1.0).abs() < 1e-12);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn principal_angles<T: Scalar>(v: MatView<'_, T>, w: MatView<'_, T>) -> Result<MatBatch<T>> {
    let count = common_count(OP, v, w)?;
    check_orthonormal(OP, v)?;
    check_orthonormal(OP, w)?;
    let k = v.cols();
    let overlap = product(v, Op::T, w, Op::N)?;
    let inside = product(v, Op::N, overlap.view(), Op::N)?;
    let outside = zip_with(OP, w, inside.view(), |w, inside| w - inside)?;
    let cosines = singular_values(overlap.view())?;
    let sines = singular_values(outside.view())?;
    // Cosines descend, so that angles ascend; the sines of the same angles ascend.
    Ok(MatBatch::from_fn(count, 1, k, |i, _, j| {
        let (cos, sin) = (cosines[i * k + j], sines[i * k + k - 1 - j]);
        angle(cos, sin)
    }))
}

/// The angle from its cosine and its sine, each exact in its own half.
fn angle<T: Scalar>(cos: T, sin: T) -> T {
    let half = T::from_f64(0.5);
    let leg = |x: T| Scalar::sqrt(Scalar::max(T::ONE - x * x, T::ZERO));
    if cos * cos >= half {
        let sin = Scalar::min(sin, T::ONE);
        Scalar::atan2(sin, leg(sin))
    } else {
        Scalar::atan2(leg(cos), cos)
    }
}

/// The mean over all pairs of a batch of the mean of their principal angles, in radians.
///
/// At least two matrices are needed.
pub fn mean_pairwise_angle<T: Scalar>(w: MatView<'_, T>) -> Result<T> {
    let (count, _, k) = w.shape();
    if count < 2 {
        return Err(shape_error(OP, "at least two matrices", w.shape()));
    }
    check_orthonormal(OP, w)?;
    let mut sum = T::ZERO;
    for j in 0..count - 1 {
        sum += principal_angles(w.single(j), w.range(j + 1..count))?
            .data()
            .iter()
            .copied()
            .sum::<T>();
    }
    let pairs = count * (count - 1) / 2;
    Ok(sum / T::from_f64((pairs * k) as f64))
}
