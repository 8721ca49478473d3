//! The Cholesky and the log-Cholesky metric: Euclidean geometry of the Cholesky factor.
//!
//! `X = L Lᵀ` (`n × n`, `L` lower triangular with a positive diagonal) has two charts `φ`, both
//! onto lower triangular matrices. `⌊·⌋` is the part below the diagonal, `D(·)` the diagonal.
//!
//! | chart | `φ(X)` | source |
//! |---|---|---|
//! | [`CholeskyChart::Factor`] | `L` | Dryden, Koloydenko & Zhou 2009 |
//! | [`CholeskyChart::LogFactor`] | `⌊L⌋ + log D(L)` | Lin 2019 |
//!
//! In a chart everything is flat: the distance is `‖φ(A) − φ(B)‖_F`, the geodesic `φ⁻¹((1 − t)φ(A)
//! + tφ(B))`, the mean `φ⁻¹(Σ w_i φ(X_i))`. Of the log-Cholesky metric, whose chart has no border,
//! there are also tangent spaces. With `S = L⁻¹VL⁻ᵀ`, `S_½` its lower triangle with half the
//! diagonal, and `T = L S_½`:
//!
//! | verb | formula |
//! |---|---|
//! | derivative of the chart | `Dφ(C)[V] = ⌊T⌋ + D(T)/D(L)` |
//! | its inverse | `W ↦ L Tᵀ + T Lᵀ`, `T = ⌊W⌋ + D(L)D(W)` |
//! | logarithm at C | `Dφ(C)⁻¹[φ(X) − φ(C)]` |
//! | exponential at C | `φ⁻¹(φ(C) + Dφ(C)[V])` |
//! | transport from A to B | `Dφ(B)⁻¹ Dφ(A)[V]` |
//! | inner product | `⟨Dφ(C)[U], Dφ(C)[V]⟩` |
//!
//! A single operand is broadcast everywhere.

use super::check_symmetric;
use super::fast::{in_parts, of_range};
use super::mean::{normalised, weighted_sum};
use super::whiten::{Factor, factor, whiten};
use crate::Result;
use crate::batch::{broadcast, common_count, position, zip_with};
use crate::error::shape_error;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product, symmetrise};

/// Coordinates of SPD matrices made of their Cholesky factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CholeskyChart {
    /// The factor.
    Factor,
    /// The factor with the logarithms of its diagonal: every lower triangular matrix belongs to one
    /// SPD matrix.
    LogFactor,
}

/// `φ(X_i)`, lower triangular.
pub(crate) fn coordinates<T: Scalar>(
    op: &'static str,
    chart: CholeskyChart,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    Ok(in_chart(chart, factor(op, x)?.l))
}

pub(crate) fn in_chart<T: Scalar>(chart: CholeskyChart, mut l: MatBatch<T>) -> MatBatch<T> {
    if chart == CholeskyChart::LogFactor {
        on_diagonals(&mut l, Scalar::ln);
    }
    l
}

/// `φ⁻¹(Y_i)`, exactly symmetric.
fn from_coordinates<T: Scalar>(chart: CholeskyChart, mut y: MatBatch<T>) -> Result<MatBatch<T>> {
    if chart == CholeskyChart::LogFactor {
        on_diagonals(&mut y, Scalar::exp);
    }
    let mut x = product(y.view(), Op::N, y.view(), Op::T)?;
    symmetrise(&mut x.view_mut())?;
    Ok(x)
}

fn on_diagonals<T: Scalar>(x: &mut MatBatch<T>, f: impl Fn(T) -> T) {
    let n = x.rows();
    for matrix in x.data_mut().chunks_exact_mut((n * n).max(1)) {
        for value in matrix.iter_mut().step_by(n + 1) {
            *value = f(*value);
        }
    }
}

/// `φ⁻¹(Σ w_i φ(X_i))` as a batch of one. Without weights, `1/N` each.
///
/// ```
/// use stiefel_geometry::spd::{CholeskyChart, mean_cholesky};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0_f64, 9.0])?;
/// assert_eq!(
///     mean_cholesky(CholeskyChart::Factor, x.view(), None)?.data(),
///     [4.0]
/// );
/// let geometric = mean_cholesky(CholeskyChart::LogFactor, x.view(), None)?;
/// assert!((geometric.get(0, 0, 0) - 3.0).abs() < 1e-14);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_cholesky<T: Scalar>(
    chart: CholeskyChart,
    x: MatView<'_, T>,
    weights: Option<&[T]>,
) -> Result<MatBatch<T>> {
    const OP: &str = "Cholesky mean";
    let weights = normalised(OP, x.count(), weights)?;
    let mean = weighted_sum(coordinates(OP, chart, x)?.view(), &weights);
    from_coordinates(chart, mean)
}

/// The point at `t` of the geodesic from `A_i` to `B_i`; `t` is one number for all pairs, or one
/// for each.
pub fn geodesic_cholesky<T: Scalar>(
    chart: CholeskyChart,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        geodesic_of_part(chart, a, b, of_range(t, &range))
    })
}

fn geodesic_of_part<T: Scalar>(
    chart: CholeskyChart,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    let count = common_count("geodesic", a, b)?;
    let a = coordinates("geodesic, first argument", chart, a)?;
    let b = coordinates("geodesic, second argument", chart, b)?;
    let mut out = MatBatch::zeros(count, a.rows(), a.cols());
    for i in 0..count {
        let t = position("geodesic", t, count, i)?;
        let pairs = broadcast(a.view(), i).iter().zip(broadcast(b.view(), i));
        for (out, (&a, &b)) in out.matrix_mut(i).iter_mut().zip(pairs) {
            *out = (T::ONE - t) * a + t * b;
        }
    }
    from_coordinates(chart, out)
}

/// `Dφ(C_i)[V_i]` of the log-Cholesky chart, lower triangular: coordinates in which the metric is
/// that of Euclid.
pub fn to_log_cholesky<T: Scalar>(c: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    const OP: &str = "log-Cholesky coordinates";
    in_parts([c, v], |_, [c, v]| {
        common_count(OP, c, v)?;
        check_symmetric("log-Cholesky coordinates, tangent vector", v)?;
        derivative(&factor("log-Cholesky coordinates, foot point", c)?, v)
    })
}

fn derivative<T: Scalar>(at: &Factor<T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = v.rows();
    let half = T::from_f64(0.5);
    let mut s = whiten(at, v)?;
    let mut diagonals = Vec::with_capacity(s.count() * n);
    for matrix in s.data_mut().chunks_exact_mut(n * n) {
        for (r, row) in matrix.chunks_exact_mut(n).enumerate() {
            row[r] *= half;
            diagonals.push(row[r]);
            row[r + 1..].fill(T::ZERO);
        }
    }
    let mut w = product(at.l.view(), Op::N, s.view(), Op::N)?;
    for (matrix, diagonal) in w
        .data_mut()
        .chunks_exact_mut(n * n)
        .zip(diagonals.chunks_exact(n))
    {
        for (r, row) in matrix.chunks_exact_mut(n).enumerate() {
            // D(T)/D(L) = D(S)/2.
            row[r] = diagonal[r];
            row[r + 1..].fill(T::ZERO);
        }
    }
    Ok(w)
}

/// `Dφ(C_i)⁻¹[W_i]`, the tangent vectors of coordinates of [`to_log_cholesky`], exactly symmetric.
pub fn from_log_cholesky<T: Scalar>(c: MatView<'_, T>, w: MatView<'_, T>) -> Result<MatBatch<T>> {
    const OP: &str = "log-Cholesky tangent vectors";
    in_parts([c, w], |_, [c, w]| {
        common_count(OP, c, w)?;
        w.check_finite(OP)?;
        let n = w.rows();
        let above =
            |m: &[T]| (0..n).any(|r| m[r * n + r + 1..(r + 1) * n].iter().any(|&x| x != T::ZERO));
        if (0..w.count()).any(|i| above(w.matrix(i))) {
            return Err(shape_error(
                OP,
                "lower triangular coordinates",
                "a value above the diagonal",
            ));
        }
        inverse_derivative(&factor("log-Cholesky tangent vectors, foot point", c)?, w)
    })
}

fn inverse_derivative<T: Scalar>(at: &Factor<T>, w: MatView<'_, T>) -> Result<MatBatch<T>> {
    let (n, l) = (w.rows(), at.l.view());
    let count = if l.count() == 1 { w.count() } else { l.count() };
    let t = MatBatch::from_fn(count, n, n, |i, r, c| {
        let value = broadcast(w, i)[r * n + c];
        if r == c {
            value * broadcast(l, i)[r * n + r]
        } else {
            value
        }
    });
    let mut v = product(t.view(), Op::N, l, Op::T)?;
    symmetrise(&mut v.view_mut())?;
    for value in v.data_mut() {
        *value += *value;
    }
    Ok(v)
}

/// The tangent vector at `C_i` that points to `X_i` in the log-Cholesky metric.
///
/// ```
/// use stiefel_geometry::spd::{exp_map_log_cholesky, log_map_log_cholesky};
/// use stiefel_linalg::MatBatch;
///
/// let c = MatBatch::<f64>::identity(1, 2);
/// let x = MatBatch::from_vec(1, 2, 2, vec![4.0, 2.0, 2.0, 2.0])?;
/// let v = log_map_log_cholesky(c.view(), x.view())?;
/// let back = exp_map_log_cholesky(c.view(), v.view())?;
/// assert!(
///     back.data()
///         .iter()
///         .zip(x.data())
///         .all(|(a, b)| (a - b).abs() < 1e-14)
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn log_map_log_cholesky<T: Scalar>(
    c: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    const OP: &str = "log-Cholesky logarithm map";
    in_parts([c, x], |_, [c, x]| {
        common_count(OP, c, x)?;
        let at = factor("log-Cholesky logarithm map, foot point", c)?;
        let there = coordinates(OP, CholeskyChart::LogFactor, x)?;
        let here = in_chart(CholeskyChart::LogFactor, at.l.clone());
        let apart = zip_with(OP, there.view(), here.view(), |x, c| x - c)?;
        inverse_derivative(&at, apart.view())
    })
}

/// The end of the log-Cholesky geodesic that leaves `C_i` with velocity `V_i` (symmetric), at time
/// 1.
pub fn exp_map_log_cholesky<T: Scalar>(
    c: MatView<'_, T>,
    v: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    const OP: &str = "log-Cholesky exponential map";
    in_parts([c, v], |_, [c, v]| {
        common_count(OP, c, v)?;
        check_symmetric("log-Cholesky exponential map, velocity", v)?;
        let at = factor("log-Cholesky exponential map, foot point", c)?;
        let moved = derivative(&at, v)?;
        let here = in_chart(CholeskyChart::LogFactor, at.l);
        let there = zip_with(OP, here.view(), moved.view(), |c, w| c + w)?;
        from_coordinates(CholeskyChart::LogFactor, there)
    })
}
