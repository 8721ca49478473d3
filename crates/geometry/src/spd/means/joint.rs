//! The log-Euclidean mean in the basis of an approximate joint diagonaliser (ALE).
//!
//! `B` (`n × n`, invertible) makes all `B X_i Bᵀ` as diagonal as it can; in that basis matrices
//! nearly commute, and the log-Euclidean mean is close to the Fréchet mean: `M = B⁻¹ E B⁻ᵀ`, `E =
//! exp(Σ w_i log(B X_i Bᵀ))`. The rows of `B` are scaled until the diagonal `δ` of `E` is one: `B ←
//! δ^{-1/2} B`. The residual is `(Σ ln² δ)^{1/2}`.
//!
//! The diagonaliser minimises `Σ_i (log det D(B X_i Bᵀ) − log det B X_i Bᵀ)`, pair of rows by pair
//! of rows, until a sweep gains little (Pham's rule); matrices that commute are made diagonal to
//! rounding. Sources: Pham 2001; Congedo, Afsari, Barachant & Moakher 2015.

use super::{Step, given_start, iterate};
use crate::Result;
use crate::spd::fast::sum_spectral;
use crate::spd::mean::normalised;
use crate::spd::{FrechetMean, FrechetOptions, SpectralFn, check_spd, check_symmetric, exp, power};
use crate::tolerance;
use stiefel_linalg::{MatBatch, MatView, Scalar, congruence};

/// A basis and its inverse, `n × n` each.
struct Basis<T> {
    b: MatBatch<T>,
    inverse: MatBatch<T>,
}

/// The ALE mean. A start is a basis `B`, SPD; without one the joint diagonaliser is found first.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, mean_joint};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0_f64, 4.0])?;
/// let found = mean_joint(x.view(), &FrechetOptions::default())?;
/// assert!((found.mean.get(0, 0, 0) - 2.0).abs() < 1e-14);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_joint<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "ALE mean";
    let n = check_symmetric(OP, x)?;
    check_spd(x)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    let mut basis = match given_start(OP, options, n)? {
        Some(b) => Basis {
            inverse: power(b.view(), -T::ONE)?,
            b,
        },
        None => diagonaliser(x),
    };
    let mean_here = |basis: &Basis<T>| -> Result<MatBatch<T>> {
        let logs = sum_spectral(Some(basis.b.view()), x, SpectralFn::Log, &weights)?;
        exp(logs.view())
    };
    let start = mean_here(&basis)?;
    let mut found = iterate(OP, options, start, |e| {
        let mut square = T::ZERO;
        for r in 0..n {
            let delta = e.get(0, r, r);
            let log = Scalar::ln(delta);
            square += log * log;
            let root = Scalar::sqrt(delta);
            for c in 0..n {
                basis.b.matrix_mut(0)[r * n + c] /= root;
                basis.inverse.matrix_mut(0)[c * n + r] *= root;
            }
        }
        Ok(Step {
            next: mean_here(&basis)?,
            residual: Scalar::sqrt(square),
            scale: T::ONE,
        })
    })?;
    found.mean = congruence(basis.inverse.transposed().view(), found.mean.view())?;
    Ok(found)
}

/// The approximate joint diagonaliser of SPD matrices.
fn diagonaliser<T: Scalar>(x: MatView<'_, T>) -> Basis<T> {
    let n = x.rows();
    let mut a = x.to_owned();
    let mut basis = Basis {
        b: MatBatch::identity(1, n),
        inverse: MatBatch::identity(1, n),
    };
    let pairs = (n * n.saturating_sub(1)) as f64;
    for _ in 0..tolerance::JOINT_SWEEPS {
        let mut gain = 0.0;
        for i in 1..n {
            for j in 0..i {
                gain += turn(&mut a, &mut basis, i, j);
            }
        }
        // Matrices that commute go on: sweeps lead to diagonals, and their mean is exact there.
        let goal = if is_diagonal(&a) {
            tolerance::JOINT_GAIN_DIAGONAL
        } else {
            tolerance::JOINT_GAIN
        };
        if gain < goal * pairs {
            break;
        }
    }
    basis
}

/// Whether no entry off a diagonal is larger, beside those of its row and its column on it, than
/// sweeps that stop would leave it.
fn is_diagonal<T: Scalar>(a: &MatBatch<T>) -> bool {
    let n = a.rows();
    let small = |m: &[T], i: usize, j: usize| {
        let [ij, ii, jj] = [m[i * n + j], m[i * n + i], m[j * n + j]].map(Scalar::to_f64);
        ij * ij <= tolerance::JOINT_GAIN * ii * jj
    };
    (a.data().chunks_exact((n * n).max(1))).all(|m| (1..n).all(|i| (0..i).all(|j| small(m, i, j))))
}

/// Pham's step for rows `i` and `j`; gives what the criterion gains by it.
fn turn<T: Scalar>(a: &mut MatBatch<T>, basis: &mut Basis<T>, i: usize, j: usize) -> f64 {
    let (n, count) = (a.rows(), a.count());
    let (mut g_ij, mut g_ji, mut o_ij, mut o_ji) = (0.0, 0.0, 0.0, 0.0);
    for m in a.data().chunks_exact(n * n) {
        let (ii, jj) = (m[i * n + i].to_f64(), m[j * n + j].to_f64());
        let ij = m[i * n + j].to_f64();
        g_ij += ij / ii;
        g_ji += ij / jj;
        o_ij += jj / ii;
        o_ji += ii / jj;
    }
    let share = 1.0 / count as f64;
    let (g_ij, g_ji, o_ij, o_ji) = (g_ij * share, g_ji * share, o_ij * share, o_ji * share);
    let omega = (o_ij * o_ji).sqrt();
    let ratio = (o_ji / o_ij).sqrt();
    let even = (ratio * g_ij + g_ji) / (omega + 1.0);
    // Where the diagonals are proportional, the difference is not determined, and the floor leaves
    // it small.
    let odd = (ratio * g_ij - g_ji) / (omega - 1.0).max(tolerance::JOINT_CURVATURE);
    let (h_ij, h_ji) = (even + odd, (even - odd) / ratio);
    let scale = 1.0 + (1.0 - h_ij * h_ji).max(0.0).sqrt();
    let (p, q) = (-h_ij / scale, -h_ji / scale);
    let determinant = 1.0 - p * q;
    if !(determinant.abs() > f64::EPSILON && p.is_finite() && q.is_finite()) {
        return 0.0;
    }
    let [p, q, over] = [p, q, 1.0 / determinant].map(T::from_f64);
    for m in a.data_mut().chunks_exact_mut(n * n) {
        for c in 0..n {
            mix(m, i * n + c, j * n + c, p, q);
        }
        for r in 0..n {
            mix(m, r * n + i, r * n + j, p, q);
        }
    }
    for c in 0..n {
        mix(basis.b.matrix_mut(0), i * n + c, j * n + c, p, q);
        let inverse = basis.inverse.matrix_mut(0);
        let (x, y) = (inverse[c * n + i], inverse[c * n + j]);
        inverse[c * n + i] = (x - q * y) * over;
        inverse[c * n + j] = (y - p * x) * over;
    }
    count as f64 * (g_ij * h_ij + g_ji * h_ji) / 2.0
}

/// `(x, y) ← (x + p y, y + q x)` at two places.
fn mix<T: Scalar>(m: &mut [T], x: usize, y: usize, p: T, q: T) {
    (m[x], m[y]) = (m[x] + p * m[y], m[y] + q * m[x]);
}
