//! Means that are fixed points, `M = F(M)`.
//!
//! | mean | step | residual |
//! |---|---|---|
//! | Bures–Wasserstein | `R⁻¹ G² R⁻¹`, `G = Σ w_i (R X_i R)^{1/2}`, `R = M^{1/2}` | `‖Σ w_i log_M X_i‖_F = ‖R⁻¹GR + RGR⁻¹ − 2M‖_F` |
//! | log-det | `(Σ w_i ((X_i + M)/2)⁻¹)⁻¹` | `‖step(M) − M‖_F` |
//! | power, `0 < p < 1` | `R H^{3/(4p)} R`, `H = Σ w_i (R⁻¹X_iR⁻¹)^p` | `‖H − I‖_F/√n` |
//! | Thompson | the point at `1/(k + 2)` from `M` to `X_{k mod N}`, step `k` | `‖step(M) − M‖_F` |
//!
//! The first two minimise `Σ w_i d²(M, X_i)` of their distances. The power mean solves `M = Σ w_i M
//! #_p X_i`; for negative exponents it is the inverse of the mean of the inverses, for `p → 0` the
//! Fréchet mean. The mean of Thompson's geodesics is inductive: it depends on the order of the
//! matrices, has no weights and converges like `1/k`.
//!
//! Sources: Álvarez-Esteban et al. 2016; Chebbi & Moakher 2012; Lim & Pálfia 2012, Congedo,
//! Barachant & Kharati Koopaei 2017; Mostajeran et al. 2024.

use super::{Step, given_start, iterate, size};
use crate::spd::fast::{sum_inverses, sum_spectral};
use crate::spd::mean::normalised;
use crate::spd::{
    FrechetMean, FrechetOptions, SpectralFn, apply, check_spd, check_spectrum, check_symmetric,
    frechet_mean, geodesic_thompson, mean_euclidean, power,
};
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, congruence, eigh, product};

/// `M^{1/2}` and `M^{-1/2}` of a single matrix.
fn roots<T: Scalar>(op: &'static str, m: &MatBatch<T>) -> Result<(MatBatch<T>, MatBatch<T>)> {
    let eigen = eigh(m.view())?;
    check_spectrum(op, m.rows(), &eigen.values)?;
    Ok((
        apply(SpectralFn::Sqrt, &eigen)?,
        apply(SpectralFn::InvSqrt, &eigen)?,
    ))
}

/// The matrix to start from: the one given, or the Euclidean mean. The matrices are checked to be
/// SPD.
fn start<T: Scalar>(
    op: &'static str,
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<MatBatch<T>> {
    let n = check_symmetric(op, x)?;
    check_spd(x)?;
    match given_start(op, options, n)? {
        Some(start) => Ok(start),
        None => mean_euclidean(x, options.weights),
    }
}

/// The mean of the Bures–Wasserstein metric, the barycentre of centred Gaussians.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, mean_wasserstein};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0_f64, 9.0])?;
/// let found = mean_wasserstein(x.view(), &FrechetOptions::default())?;
/// assert!((found.mean.get(0, 0, 0) - 4.0).abs() < 1e-13 && found.report.converged);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_wasserstein<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "Bures–Wasserstein mean";
    let weights = normalised(OP, x.count(), options.weights)?;
    iterate(OP, options, start(OP, x, options)?, |m| {
        let (root, inverse) = roots(OP, m)?;
        let g = sum_spectral(Some(root.view()), x, SpectralFn::Sqrt, &weights)?;
        let half = product(inverse.view(), Op::N, g.view(), Op::N)?;
        let drift = product(half.view(), Op::N, root.view(), Op::N)?;
        let n = m.rows();
        let drift = MatBatch::from_fn(1, n, n, |_, r, c| {
            let m = m.get(0, r, c);
            drift.get(0, r, c) + drift.get(0, c, r) - (m + m)
        });
        let squared = product(g.view(), Op::N, g.view(), Op::N)?;
        Ok(Step {
            next: congruence(inverse.view(), squared.view())?,
            residual: size(&drift),
            scale: size(m),
        })
    })
}

/// The mean of the log-det divergence.
pub fn mean_log_det<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "log-det mean";
    let weights = normalised(OP, x.count(), options.weights)?;
    iterate(OP, options, start(OP, x, options)?, |m| {
        let inverse = sum_inverses(x, Some(m.view()), &weights)?;
        let next = power(inverse.view(), -T::ONE)?;
        let gap = MatBatch::from_fn(1, m.rows(), m.rows(), |_, r, c| {
            next.get(0, r, c) - m.get(0, r, c)
        });
        Ok(Step {
            residual: size(&gap),
            scale: size(m),
            next,
        })
    })
}

/// The power mean of exponent `p` in [−1, 1]: 1 is the arithmetic, −1 the harmonic, 0 the Fréchet
/// mean.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, mean_power};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0_f64, 9.0])?;
/// let found = mean_power(x.view(), 0.5, &FrechetOptions::default())?;
/// assert!((found.mean.get(0, 0, 0) - 4.0).abs() < 1e-8); // ((1 + 3)/2)²
///     
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_power<T: Scalar>(
    x: MatView<'_, T>,
    p: T,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "power mean";
    if Scalar::abs(p) > T::ONE || !Scalar::is_finite(p) {
        return Err(GeometryError::Parameter {
            op: OP,
            name: "the exponent",
            value: p.to_f64(),
            expected: "a number in [-1, 1]",
        });
    }
    if p == T::ZERO {
        return frechet_mean(x, options);
    }
    if p < T::ZERO {
        return inverse_power(OP, x, -p, options);
    }
    let n = check_symmetric(OP, x)?;
    check_spd(x)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    let start = if let Some(start) = given_start(OP, options, n)? {
        start
    } else {
        let sum = sum_spectral(None, x, SpectralFn::Pow(p), &weights)?;
        power(sum.view(), T::ONE / p)?
    };
    let exponent = T::from_f64(0.75) / p;
    let root_n = Scalar::sqrt(T::from_f64(n as f64));
    iterate(OP, options, start, |m| {
        let (root, inverse) = roots(OP, m)?;
        let h = sum_spectral(Some(inverse.view()), x, SpectralFn::Pow(p), &weights)?;
        let gap = MatBatch::from_fn(1, n, n, |_, r, c| {
            h.get(0, r, c) - if r == c { T::ONE } else { T::ZERO }
        });
        let moved = power(h.view(), exponent)?;
        Ok(Step {
            next: congruence(root.view(), moved.view())?,
            residual: size(&gap) / root_n,
            scale: T::ONE,
        })
    })
}

/// `P_{-p}(X) = P_p(X⁻¹)⁻¹`.
fn inverse_power<T: Scalar>(
    op: &'static str,
    x: MatView<'_, T>,
    p: T,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    check_symmetric(op, x)?;
    let turned = power(x, -T::ONE)?;
    let start = options.start.map(|s| power(s, -T::ONE)).transpose()?;
    let options = FrechetOptions {
        start: start.as_ref().map(MatBatch::view),
        ..*options
    };
    let mut found = mean_power(turned.view(), p, &options)?;
    found.mean = power(found.mean.view(), -T::ONE)?;
    Ok(found)
}

/// The inductive mean of Thompson's geodesics.
pub fn mean_thompson<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "Thompson mean";
    if options.weights.is_some() {
        return Err(GeometryError::NoWeights { op: OP });
    }
    let mut k = 0;
    iterate(OP, options, start(OP, x, options)?, |m| {
        let next_one = x.single(k % x.count());
        let t = T::ONE / T::from_f64((k + 2) as f64);
        k += 1;
        let next = geodesic_thompson(m.view(), next_one, &[t])?;
        let gap = MatBatch::from_fn(1, m.rows(), m.rows(), |_, r, c| {
            next.get(0, r, c) - m.get(0, r, c)
        });
        Ok(Step {
            residual: size(&gap),
            scale: size(m),
            next,
        })
    })
}
