//! SPD(n) with the affine-invariant metric `⟨U, V⟩_M = tr(M⁻¹ U M⁻¹ V)`: geodesics, tangent spaces,
//! transport.
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
//! The first four do not depend on which square root of `M` is used and take the Cholesky factor;
//! the last two are defined with the symmetric one (pyRiemann's `tangent_space`, metric `riemann`).
//! Sources: Pennec, Fillard & Ayache 2006; Barachant et al. 2013; transport: Sra & Hosseini 2015. A
//! single operand is broadcast everywhere.

use super::fast::{self, around, chain};
use super::pair::PairSpectrum;
use super::whiten::{colour, factor, whiten};
use super::{SpectralFn, check_symmetric, exp, from_upper, inv_sqrt, log, log_vectors, sqrt};
use crate::Result;
use crate::batch::{common_count, zip_with};
use stiefel_linalg::{MatBatch, MatView, Scalar, congruence};

/// The point at `t` on the geodesic with `γ_0 = A`, `γ_1 = B`; `t = ½` is the geometric mean, any
/// real `t` is allowed.
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
    if let Some(short) = around(a, b, SpectralFn::Pow(t)) {
        return Ok(short);
    }
    let operands = ["geodesic, first argument", "geodesic, second argument"];
    PairSpectrum::named(operands, a, b)?.geodesic(t)
}

/// The tangent vector at `M` that points to `X`: `exp_map(M, log_map(M, X)) = X`.
pub fn log_map<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count("logarithm map", m, x)?;
    if let Some(short) = around(m, x, SpectralFn::Log) {
        return Ok(short);
    }
    PairSpectrum::named(["logarithm map, foot point", "logarithm map"], m, x)?.log_map()
}

/// The end of the geodesic that leaves `M` with velocity `V` (symmetric), at time 1.
pub fn exp_map<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count("exponential map", m, v)?;
    if let Some(short) = around(m, v, SpectralFn::Exp) {
        return Ok(short);
    }
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
    let operands = ["parallel transport, from", "parallel transport, to"];
    let e = PairSpectrum::named(operands, a, b)?.transport()?;
    Ok(congruence(e.transposed().view(), v)?)
}

/// `⟨U_i, V_i⟩_M = tr(M⁻¹ U M⁻¹ V)` of tangent vectors at `M`, and `⟨U_i, U_i⟩_M` without `V`.
///
/// ```
/// use stiefel_geometry::spd::inner_product;
/// use stiefel_linalg::MatBatch;
///
/// let m = MatBatch::from_vec(1, 1, 1, vec![4.0])?;
/// let u = MatBatch::from_vec(2, 1, 1, vec![8.0, 12.0])?;
/// assert_eq!(
///     inner_product(m.view(), u.view(), Some(m.view()))?,
///     [2.0, 3.0]
/// );
/// assert_eq!(inner_product(m.view(), u.view(), None)?, [4.0, 9.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn inner_product<T: Scalar>(
    m: MatView<'_, T>,
    u: MatView<'_, T>,
    v: Option<MatView<'_, T>>,
) -> Result<Vec<T>> {
    const OP: &str = "inner product";
    if let Some(short) = fast::inner_product(m, u, v) {
        return Ok(short);
    }
    let v = v.unwrap_or(u);
    common_count(OP, m, u)?;
    common_count(OP, u, v)?;
    check_symmetric(OP, u)?;
    check_symmetric(OP, v)?;
    let at = factor("inner product, foot point", m)?;
    let (u, v) = (whiten(&at, u)?, whiten(&at, v)?);
    let products = zip_with(OP, u.view(), v.view(), |u, v| u * v)?;
    Ok((0..products.count())
        .map(|i| products.matrix(i).iter().copied().sum())
        .collect())
}

/// `E_i X_i E_iᵀ` of symmetric matrices, exactly symmetric.
///
/// Nothing where a matrix is not symmetric or finite, or the sizes do not fit.
pub fn sandwich<T: Scalar>(e: MatView<'_, T>, x: MatView<'_, T>) -> Option<MatBatch<T>> {
    chain(Some(e), x, None, None)
}

/// `M^{-1/2} X_i M^{-1/2}`, which moves `M` to the identity: what makes people and sessions
/// comparable.
pub fn recentre<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = inv_sqrt(m)?;
    if let Some(short) = sandwich(root.view(), x) {
        return Ok(short);
    }
    common_count("recentring", m, x)?;
    check_symmetric("recentring", x)?;
    Ok(congruence(root.view(), x)?)
}

/// `log(M^{-1/2} X_i M^{-1/2})`.
pub fn whitened_log<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = inv_sqrt(m)?;
    let careful = || log(recentre(m, x)?.view());
    chain(Some(root.view()), x, Some(SpectralFn::Log), None).map_or_else(careful, Ok)
}

/// Tangent vectors `upper(log(M^{-1/2} X_i M^{-1/2}))` at `M`, `count × 1 × n(n+1)/2`: an isometry
/// at `M`.
pub fn tangent_space<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = inv_sqrt(m)?;
    fast::tangent(root.view(), x).map_or_else(|| log_vectors(recentre(m, x)?.view()), Ok)
}

/// `M^{1/2} exp(V_i) M^{1/2}` of symmetric matrices: the inverse of [`whitened_log`].
pub fn coloured_exp<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = sqrt(m)?;
    let careful = || Ok(congruence(root.view(), exp(v)?.view())?);
    chain(None, v, Some(SpectralFn::Exp), Some(root.view())).map_or_else(careful, Ok)
}

/// The SPD matrices `M^{1/2} exp(from_upper(v_i)) M^{1/2}` of tangent vectors at `M`: the inverse
/// of [`tangent_space`].
pub fn untangent_space<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = sqrt(m)?;
    if let Some(short) = fast::untangent(root.view(), v) {
        return Ok(short);
    }
    let s = from_upper(v)?;
    common_count("untangent space", m, s.view())?;
    coloured_exp(m, s.view())
}
