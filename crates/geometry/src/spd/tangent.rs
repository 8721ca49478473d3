//! SPD(n) with the affine-invariant metric `⟨U, V⟩_M = tr(M⁻¹ U M⁻¹ V)`: geodesics, tangent spaces, transport.
//!
//! | map | formula |
//! |---|---|
//! | geodesic | `γ_t = A^{1/2}(A^{-1/2} B A^{-1/2})ᵗ A^{1/2}` |
//! | logarithm at M | `M^{1/2} log(M^{-1/2} X M^{-1/2}) M^{1/2}` |
//! | exponential at M | `M^{1/2} exp(M^{-1/2} V M^{-1/2}) M^{1/2}` |
//! | transport of V from A to B | `E V Eᵀ`, `E = (B A⁻¹)^{1/2}` |
//! | recentring | `M^{-1/2} X M^{-1/2}` |
//! | tangent vector at M | `upper(log(M^{-1/2} X M^{-1/2}))` |
//!
//! The first four do not depend on which square root of `M` is used and take the Cholesky factor; the last two are
//! defined with the symmetric one (pyRiemann's `tangent_space`, metric `riemann`). Sources: Pennec, Fillard & Ayache 2006;
//! Barachant et al. 2013; transport: Sra & Hosseini 2015. A single operand is broadcast everywhere.

use super::whiten::{colour, exp_scaled, factor, log_spectrum, whiten};
use super::{SpectralFn, check_symmetric, exp, from_upper, log, spectral_map, upper};
use crate::Result;
use crate::batch::common_count;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, congruence, product, symmetrise};

/// The point at `t` on the geodesic with `γ_0 = A`, `γ_1 = B`; `t = ½` is the geometric mean, any real `t` is allowed.
///
/// ```
/// use stiefel_geometry::spd::geodesic;
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0_f64])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![16.0])?;
/// assert!((geodesic(a.view(), b.view(), 0.25)?.get(0, 0, 0) - 2.0).abs() < 1e-14);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn geodesic<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>, t: T) -> Result<MatBatch<T>> {
    common_count("geodesic", a, b)?;
    if !Scalar::is_finite(t) {
        return Err(crate::GeometryError::Parameter {
            op: "geodesic",
            name: "t",
            value: t.to_f64(),
            expected: "a finite number",
        });
    }
    let left = factor("geodesic, first argument", a)?;
    let logs = log_spectrum("geodesic, second argument", &left, b)?;
    colour(&left, exp_scaled(&logs, t)?.view())
}

/// The tangent vector at `M` that points to `X`: `exp_map(M, log_map(M, X)) = X`.
pub fn log_map<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count("logarithm map", m, x)?;
    let at = factor("logarithm map, foot point", m)?;
    let logs = log_spectrum("logarithm map", &at, x)?;
    colour(&at, diagonalised(&logs)?.view())
}

/// The end of the geodesic that leaves `M` with velocity `V` (symmetric), at time 1.
pub fn exp_map<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count("exponential map", m, v)?;
    check_symmetric("exponential map, velocity", v)?;
    let at = factor("exponential map, foot point", m)?;
    colour(&at, exp(whiten(&at, v)?.view())?.view())
}

/// Parallel transport of tangent vectors `V` at `A` to `B` along the geodesic between them.
///
/// `A`, `B` and `V` have equal counts, or a count of one.
pub fn transport<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    v: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    common_count("parallel transport", a, b)?;
    check_symmetric("parallel transport, tangent vector", v)?;
    let from = factor("parallel transport, from", a)?;
    let logs = log_spectrum("parallel transport, to", &from, b)?;
    // E = (B A⁻¹)^{1/2} = L C^{1/2} L⁻¹.
    let root = exp_scaled(&logs, T::from_f64(0.5))?;
    let half = product(from.l.view(), Op::N, root.view(), Op::N)?;
    let e = product(half.view(), Op::N, from.l_inv.view(), Op::N)?;
    Ok(congruence(e.transposed().view(), v)?)
}

/// `⟨U_i, V_i⟩_M = tr(M⁻¹ U M⁻¹ V)` of each pair of tangent vectors.
pub fn inner_product<T: Scalar>(
    m: MatView<'_, T>,
    u: MatView<'_, T>,
    v: MatView<'_, T>,
) -> Result<Vec<T>> {
    const OP: &str = "inner product";
    common_count(OP, m, u)?;
    common_count(OP, u, v)?;
    check_symmetric(OP, u)?;
    check_symmetric(OP, v)?;
    let at = factor("inner product, foot point", m)?;
    let (u, v) = (whiten(&at, u)?, whiten(&at, v)?);
    let products = crate::batch::zip_with(OP, u.view(), v.view(), |u, v| u * v)?;
    Ok((0..products.count())
        .map(|i| products.matrix(i).iter().copied().sum())
        .collect())
}

/// `M^{-1/2} X_i M^{-1/2}`, which moves `M` to the identity: what makes people and sessions comparable.
pub fn recentre<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count("recentring", m, x)?;
    check_symmetric("recentring", x)?;
    let root = spectral_map(SpectralFn::InvSqrt, m)?.value;
    Ok(congruence(root.view(), x)?)
}

/// Tangent vectors `upper(log(M^{-1/2} X_i M^{-1/2}))` at `M`, `count × 1 × n(n+1)/2`: an isometry at `M`.
pub fn tangent_space<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    upper(log(recentre(m, x)?.view())?.view())
}

/// The SPD matrices `M^{1/2} exp(from_upper(v_i)) M^{1/2}` of tangent vectors at `M`: the inverse of [`tangent_space`].
pub fn untangent_space<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    const OP: &str = "untangent space";
    let s = from_upper(v)?;
    common_count(OP, m, s.view())?;
    let root = spectral_map(SpectralFn::Sqrt, m)?.value;
    Ok(congruence(root.view(), exp(s.view())?.view())?)
}

/// `U diag(values) Uᵀ`.
fn diagonalised<T: Scalar>(logs: &stiefel_linalg::Eigen<T>) -> Result<MatBatch<T>> {
    let n = logs.vectors.rows();
    let u = logs.vectors.view();
    let scaled = MatBatch::from_fn(u.count(), n, n, |i, r, c| {
        u.matrix(i)[r * n + c] * logs.values[i * n + c]
    });
    let mut out = product(scaled.view(), Op::N, u, Op::T)?;
    symmetrise(&mut out.view_mut())?;
    Ok(out)
}
