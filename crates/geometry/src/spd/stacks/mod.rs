//! The fast ways over whole stacks: the functions of [`spd`](super) where many matrices go through one formula.
//!
//! | | formula |
//! |---|---|
//! | [`spectral`] | `f(X_i)` |
//! | [`distance()`], [`pairwise_distances`], [`mutual_distances`], [`short_distance`] | `d(A_i, B_i)`, `d(A_i, B_j)`, `d(X_i, X_j)` |
//! | [`inner_product`] | `tr(M_i⁻¹ U_i M_i⁻¹ V_i)` |
//! | [`mean_log_euclidean`], [`inverses`] | `exp(Σ w_i log X_i)`, `X_i⁻¹` |
//! | [`geodesic`], [`log_map`], [`exp_map`] | `L f(L⁻¹ X_i L⁻ᵀ) Lᵀ`, `M = LLᵀ` |
//! | [`recentre`], [`whitened_log`], [`tangent_space`] | `R X_i R`, its logarithm, and the vector of that, `R = M^{-1/2}` |
//! | [`coloured_exp`], [`untangent_space`] | `S exp(V_i) S`, `S = M^{1/2}` |
//! | [`sandwich`], [`blend`] | `E X_i Eᵀ`, `(1 − t) A_i + t B_i` |
//! | [`geodesic_cholesky`], [`geodesic_wasserstein`], [`geodesic_thompson`] | points of other geodesics |
//! | [`log_map_log_cholesky`], [`exp_map_log_cholesky`], [`log_map_wasserstein`], [`exp_map_wasserstein`] | maps of other metrics |
//! | [`to_log_cholesky`], [`from_log_cholesky`] | `Dφ(C_i)[V_i]` of the log-Cholesky chart, and back |
//! | [`sum_spectral`], [`sum_inverses`] | `Σ w_i f(R X_i Rᵀ)`, `Σ w_i X_i⁻¹` |
//! | [`differential`], [`log_map_log_euclidean`], [`exp_map_log_euclidean`] | `U (L ∘ (Uᵀ X_i U)) Uᵀ`, and around it |
//!
//! Stacks are `count × n × n`; a stack of one is broadcast. A few matrices at a time go through all steps, in buffers that stay in the cache,
//! over the threads of the current rayon pool. These fast functions leave doubtful matrices to the careful ones: where a matrix is not symmetric, not finite, not positive
//! definite or badly conditioned, the careful function of the same name computes the whole stack, or says what is wrong with it. Both agree to rounding, not to
//! the bit. A matrix's result depends neither on its neighbours nor on the number of threads, as long as all take the same way.
//!
//! ```
//! use stiefel_geometry::spd::{self, Metric, stacks};
//! use stiefel_linalg::MatBatch;
//!
//! let x = MatBatch::from_fn(100, 3, 3, |i, r, c| if r == c { 1.0 + i as f64 } else { 0.5 });
//! let one = MatBatch::<f64>::identity(1, 3);
//! let fast = stacks::distance(Metric::AffineInvariant, x.view(), one.view())?;
//! let careful = spd::distance(Metric::AffineInvariant, x.view(), one.view())?;
//! assert!(fast.iter().zip(careful).all(|(a, b)| (a - b).abs() < 1e-13));
//! # Ok::<(), stiefel_geometry::GeometryError>(())
//! ```

mod distance;
mod parts;
mod point;
mod steps;

pub use distance::inverses;
pub use parts::{sum_inverses, sum_spectral};
pub use point::{differential, exp_map_log_euclidean, exp_map_wasserstein, log_map_log_euclidean};

use super::wasserstein::LogarithmAt;
use super::{CholeskyChart, Metric, SpectralFn};
use crate::Result;
use crate::batch::zip_with;
use parts::in_parts;
use steps::{around, chain, tangent, untangent};
use stiefel_linalg::{MatBatch, MatView, Scalar, congruence};

/// `f(X_i)`: [`spectral_map`](super::spectral_map) without the decomposition.
pub fn spectral<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    f.check()?;
    let careful = || super::spectral_map(f, x).map(|s| s.value);
    chain(None, x, Some(f), None).map_or_else(careful, Ok)
}

/// `d(A_i, B_i)`: [`distance`](super::distance()).
pub fn distance<T: Scalar>(metric: Metric, a: MatView<'_, T>, b: MatView<'_, T>) -> Result<Vec<T>> {
    let short = match metric {
        // The short way would take matrices that are not symmetric.
        Metric::Euclidean => None,
        _ => short_distance(metric, a, b),
    };
    short.map_or_else(|| super::distance(metric, a, b), Ok)
}

/// `d(A_i, B_i)` by the short formula, or nothing where a matrix does not allow it: for callers with another careful way, such as one for
/// matrices that are invertible and not positive definite. The Euclidean distance is that of any square matrices.
///
/// ```
/// use stiefel_geometry::spd::{Metric, stacks};
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![-0.25])?;
/// assert_eq!(stacks::short_distance(Metric::Harmonic, a.view(), a.view()), Some(vec![0.0]));
/// assert_eq!(stacks::short_distance(Metric::Harmonic, a.view(), b.view()), None);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn short_distance<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<Vec<T>> {
    distance::of_metric(metric, a, b)
}

/// `⟨U_i, V_i⟩` of tangent vectors at `M_i`, and `⟨U_i, U_i⟩` without `V`: [`inner_product`](super::inner_product).
///
/// ```
/// use stiefel_geometry::spd::stacks;
/// use stiefel_linalg::MatBatch;
///
/// let m = MatBatch::from_vec(1, 1, 1, vec![4.0])?;
/// let u = MatBatch::from_vec(2, 1, 1, vec![8.0, 12.0])?;
/// assert_eq!(stacks::inner_product(m.view(), u.view(), Some(m.view()))?, [2.0, 3.0]);
/// assert_eq!(stacks::inner_product(m.view(), u.view(), None)?, [4.0, 9.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn inner_product<T: Scalar>(
    m: MatView<'_, T>,
    u: MatView<'_, T>,
    v: Option<MatView<'_, T>>,
) -> Result<Vec<T>> {
    let careful = || super::inner_product(m, u, v.unwrap_or(u));
    distance::inner_product(m, u, v).map_or_else(careful, Ok)
}

/// All `d(A_i, B_j)`, `1 × Na × Nb`: [`pairwise_distances`](super::pairwise_distances).
pub fn pairwise_distances<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    let short = match metric {
        Metric::AffineInvariant | Metric::Thompson => distance::pairwise_riemann(metric, a, b),
        _ => None,
    };
    short.map_or_else(|| super::pairwise_distances(metric, a, b), Ok)
}

/// All distances within a stack: [`mutual_distances`](super::mutual_distances).
pub fn mutual_distances<T: Scalar>(metric: Metric, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let short = match metric {
        Metric::AffineInvariant | Metric::Thompson => distance::mutual_riemann(metric, x),
        _ => None,
    };
    short.map_or_else(|| super::mutual_distances(metric, x), Ok)
}

/// `exp(Σ w_i log X_i)`: [`mean_log_euclidean`](super::mean_log_euclidean).
pub fn mean_log_euclidean<T: Scalar>(
    x: MatView<'_, T>,
    weights: Option<&[T]>,
) -> Result<MatBatch<T>> {
    let logs = spectral(SpectralFn::Log, x)?;
    let mean = super::mean_euclidean(logs.view(), weights)?;
    spectral(SpectralFn::Exp, mean.view())
}

/// The points at `t` of the geodesics from `A_i` to `B_i`: [`geodesic`](super::geodesic).
pub fn geodesic<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>, t: T) -> Result<MatBatch<T>> {
    let short = Scalar::is_finite(t).then(|| around(a, b, SpectralFn::Pow(t)));
    short.flatten().map_or_else(|| super::geodesic(a, b, t), Ok)
}

/// The tangent vectors at `M_i` that point to `X_i`: [`log_map`](super::log_map).
pub fn log_map<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    around(m, x, SpectralFn::Log).map_or_else(|| super::log_map(m, x), Ok)
}

/// The ends of the geodesics that leave `M_i` with velocity `V_i`: [`exp_map`](super::exp_map).
pub fn exp_map<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    around(m, v, SpectralFn::Exp).map_or_else(|| super::exp_map(m, v), Ok)
}

/// `M^{-1/2} X_i M^{-1/2}`: [`recentre`](super::recentre).
pub fn recentre<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = spectral(SpectralFn::InvSqrt, m)?;
    sandwich(root.view(), x).map_or_else(|| super::recentre(m, x), Ok)
}

/// `log(M^{-1/2} X_i M^{-1/2})`.
pub fn whitened_log<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = spectral(SpectralFn::InvSqrt, m)?;
    chain(Some(root.view()), x, Some(SpectralFn::Log), None)
        .map_or_else(|| super::log(super::recentre(m, x)?.view()), Ok)
}

/// Tangent vectors `upper(log(M^{-1/2} X_i M^{-1/2}))`, `count × 1 × n(n+1)/2`: [`tangent_space`](super::tangent_space).
pub fn tangent_space<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = spectral(SpectralFn::InvSqrt, m)?;
    tangent(root.view(), x).map_or_else(|| super::tangent_space(m, x), Ok)
}

/// `M^{1/2} exp(V_i) M^{1/2}` of symmetric matrices.
pub fn coloured_exp<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = spectral(SpectralFn::Sqrt, m)?;
    let careful = || Ok(congruence(root.view(), super::exp(v)?.view())?);
    chain(None, v, Some(SpectralFn::Exp), Some(root.view())).map_or_else(careful, Ok)
}

/// The same of tangent vectors `count × 1 × n(n+1)/2`: [`untangent_space`](super::untangent_space).
pub fn untangent_space<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let root = spectral(SpectralFn::Sqrt, m)?;
    untangent(root.view(), v).map_or_else(|| super::untangent_space(m, v), Ok)
}

/// `E_i X_i E_iᵀ` of symmetric matrices, exactly symmetric; nothing where one is not, or the sizes do not fit.
pub fn sandwich<T: Scalar>(e: MatView<'_, T>, x: MatView<'_, T>) -> Option<MatBatch<T>> {
    chain(Some(e), x, None, None)
}

/// `(1 − t) A_i + t B_i` of any matrices: the Euclidean geodesic.
pub fn blend<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>, t: T) -> Result<MatBatch<T>> {
    let s = T::ONE - t;
    zip_with("blend", a, b, |a, b| s * a + t * b)
}

/// The part of one number for all, or of one for each.
fn of_range<'a, T>(t: &'a [T], range: &std::ops::Range<usize>) -> &'a [T] {
    t.get(range.clone()).filter(|_| t.len() > 1).unwrap_or(t)
}

/// Points of Cholesky or log-Cholesky geodesics: [`geodesic_cholesky`](super::geodesic_cholesky).
pub fn geodesic_cholesky<T: Scalar>(
    chart: CholeskyChart,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        super::geodesic_cholesky(chart, a, b, of_range(t, &range))
    })
}

/// Points of Bures–Wasserstein geodesics: [`geodesic_wasserstein`](super::geodesic_wasserstein).
pub fn geodesic_wasserstein<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        super::geodesic_wasserstein(a, b, of_range(t, &range))
    })
}

/// Points of Thompson geodesics: [`geodesic_thompson`](super::geodesic_thompson).
pub fn geodesic_thompson<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        super::geodesic_thompson(a, b, of_range(t, &range))
    })
}

/// The log-Cholesky logarithmic map: [`log_map_log_cholesky`](super::log_map_log_cholesky).
pub fn log_map_log_cholesky<T: Scalar>(
    m: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    in_parts([m, x], |_, [m, x]| super::log_map_log_cholesky(m, x))
}

/// The log-Cholesky exponential map: [`exp_map_log_cholesky`](super::exp_map_log_cholesky).
pub fn exp_map_log_cholesky<T: Scalar>(
    m: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    in_parts([m, x], |_, [m, x]| super::exp_map_log_cholesky(m, x))
}

/// Log-Cholesky coordinates of tangent vectors: [`to_log_cholesky`](super::to_log_cholesky).
pub fn to_log_cholesky<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    in_parts([m, x], |_, [m, x]| super::to_log_cholesky(m, x))
}

/// Tangent vectors of log-Cholesky coordinates: [`from_log_cholesky`](super::from_log_cholesky).
pub fn from_log_cholesky<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    in_parts([m, x], |_, [m, x]| super::from_log_cholesky(m, x))
}

/// The Bures–Wasserstein logarithmic map: [`log_map_wasserstein`](super::log_map_wasserstein).
pub fn log_map_wasserstein<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    if m.count() > 1 {
        return in_parts([m, x], |_, [m, x]| super::log_map_wasserstein(m, x));
    }
    let at = LogarithmAt::new(m, x)?;
    in_parts([x], |_, [x]| at.of(x))
}
