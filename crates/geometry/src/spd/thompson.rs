//! The Thompson geometry of the cone of SPD matrices: distances and geodesics made of extreme
//! eigenvalues only.
//!
//! With the smallest and the largest eigenvalue `l`, `u` of `A⁻¹B`, all matrices `n × n`,
//! * the distance is `max(ln u, −ln l)` ([`Metric::Thompson`](super::Metric::Thompson));
//! * a geodesic is `γ_t = β B + α A`, `β = (uᵗ − lᵗ)/(u − l)`, `α = (u lᵗ − l uᵗ)/(u − l)`.
//!
//! Both coefficients are divided differences, `β = xᵗ[u, l]` and `α = −u l·xᵗ⁻¹[u, l]`, which
//! [`SpectralFn`] has without cancellation however close `u` and `l` are. For `0 ≤ t ≤ 1` both are
//! positive. The metric has other geodesics, too; this one needs no function of a matrix, and is
//! the affine-invariant one for `n = 2`.
//!
//! Sources: Nussbaum 1994; Mostajeran, Da Costa, Van Goffrier & Sepulchre 2024. A single operand is
//! broadcast.

use super::SpectralFn;
use super::fast::{in_parts, of_range};
use super::whiten::{factor, log_eigenvalues};
use crate::Result;
use crate::batch::{broadcast, common_count, position};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// The point at `t` of the geodesic from `A_i` to `B_i`; `t` is one number for all pairs, or one
/// for each.
///
/// ```
/// use stiefel_geometry::spd::geodesic_thompson;
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0_f64])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![16.0])?;
/// assert!(
///     (geodesic_thompson(a.view(), b.view(), &[0.25])?.get(0, 0, 0) - 2.0).abs() < 1e-14
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn geodesic_thompson<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        geodesic_of_part(a, b, of_range(t, &range))
    })
}

fn geodesic_of_part<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    let count = common_count("geodesic", a, b)?;
    let left = factor("geodesic, first argument", a)?;
    let logs = log_eigenvalues("geodesic, second argument", &left, b)?;
    let n = a.rows();
    let mut out = MatBatch::zeros(count, n, n);
    for (i, logs) in logs.chunks_exact(n).enumerate() {
        let t = position("geodesic", t, count, i)?;
        let (l, u) = (Scalar::exp(logs[0]), Scalar::exp(logs[n - 1]));
        let beta = SpectralFn::Pow(t).divided_difference(u, l);
        let alpha = -u * l * SpectralFn::Pow(t - T::ONE).divided_difference(u, l);
        let pairs = broadcast(a, i).iter().zip(broadcast(b, i));
        for (out, (&a, &b)) in out.matrix_mut(i).iter_mut().zip(pairs) {
            *out = beta * b + alpha * a;
        }
    }
    Ok(out)
}
