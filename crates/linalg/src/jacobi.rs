//! One-sided Jacobi rotations (M. R. Hestenes, 1958): `A V` with orthogonal columns, whose norms
//! are the singular values.
//!
//! Small singular values keep their digits where `A` is a well-conditioned matrix times a diagonal
//! one, or triangular and graded (Demmel & Veselić, SIAM J. Matrix Anal. Appl. 13, 1992), which the
//! eigenvalues of `AᵀA` cannot give.

use crate::simd::{Lanes, V};
use crate::{Aligned, LinalgError, MatBatch, MatView, Result, Scalar, kernel, tolerance};
use pulp::Simd;

/// Columns to rotate and, with them, what begins as the identity and becomes `V`.
pub(crate) struct Rotated<T> {
    /// `A V`, column after column, each of `m` numbers.
    pub(crate) columns: Vec<T>,
    /// `V`, column after column; empty where nobody asks for it.
    pub(crate) v: Vec<T>,
}

/// Rotates the columns of `A`, given one after the other, each of `m` numbers, until they are
/// orthogonal. Nothing where [`JACOBI_MAX_SWEEPS`](tolerance::JACOBI_MAX_SWEEPS) are too few.
pub(crate) fn orthogonalise<T: Scalar>(
    columns: &[T],
    m: usize,
    vectors: bool,
) -> Result<Option<Rotated<T>>> {
    let n = columns.len() / m.max(1);
    let mut done = Rotated {
        columns: columns.to_vec(),
        v: vec![T::ZERO; if vectors { n * n } else { 0 }],
    };
    let converged = rotate(m, &mut done.columns, &mut done.v, &mut Aligned::new())?;
    Ok(converged.then_some(done))
}

/// `(A_i V_i)ᵀ` for the orthogonal `V_i` that makes the columns of `A_i V_i` orthogonal: row `j` is
/// `σ_j u_jᵀ`, in no particular order. Singular values keep their digits where
/// an eigen-decomposition of `AᵀA` would lose them.
///
/// ```
/// use stiefel_linalg::{MatBatch, orthogonal_columns};
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![3.0, 0.0, 0.0, 1e-9])?;
/// assert_eq!(orthogonal_columns(a.view())?.data(), [3.0, 0.0, 0.0, 1e-9]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// Numbers that are not finite, or rotations that do not come to an end.
pub fn orthogonal_columns<T: Scalar>(a: MatView<'_, T>) -> Result<MatBatch<T>> {
    a.check_finite("singular values")?;
    let (count, m, _) = a.shape();
    // Columns become rows, which are contiguous.
    let mut columns = a.to_owned().transposed();
    for i in 0..count {
        let found = orthogonalise(columns.matrix(i), m, false)?;
        let found = found.ok_or(LinalgError::NoConvergence {
            matrix: i,
            sweeps: tolerance::JACOBI_MAX_SWEEPS,
        })?;
        columns.matrix_mut(i).copy_from_slice(&found.columns);
    }
    Ok(columns)
}

kernel! {
    /// Rotates columns, and those of `V` behind them, until they are orthogonal; false where too few
    /// sweeps are allowed. Columns are padded with zeros to whole registers.
    fn rotate<'a, S, T>(
        l: Lanes<S, T>,
        m: usize,
        columns: &'a mut [T],
        v: &'a mut [T],
        room: &'a mut Aligned<T>,
    ) -> bool {
        if columns.is_empty() {
            return true;
        }
        let width = Lanes::<S, T>::width();
        let n = columns.len() / m;
        let (own, beside) = (
            m.div_ceil(width),
            if v.is_empty() { 0 } else { n.div_ceil(width) },
        );
        let long = (own + beside) * width;
        let rows = room.room(n * long);
        rows.fill(T::ZERO);
        // Scaled to a largest entry near one, squares underflow only for columns that do not matter.
        let mut largest = T::ZERO;
        for &x in columns.iter() {
            largest = Scalar::max(largest, Scalar::abs(x));
        }
        let scale = T::power_of_two_below(largest);
        for (c, row) in rows.chunks_exact_mut(long).enumerate() {
            for r in 0..m {
                row[r] = columns[c * m + r] / scale;
            }
            if !v.is_empty() {
                row[own * width + c] = T::ONE;
            }
        }
        let mut converged = false;
        for _ in 0..tolerance::JACOBI_MAX_SWEEPS {
            if !converged {
                converged = sweep(l, m, own, T::view_mut::<S>(rows), own + beside);
            }
        }
        for (c, row) in rows.chunks_exact(long).enumerate() {
            for r in 0..m {
                columns[c * m + r] = row[r] * scale;
            }
            if !v.is_empty() {
                v[c * n..][..n].copy_from_slice(&row[own * width..][..n]);
            }
        }
        converged
    }
}

/// One rotation of every pair of rows, of which the first `own` registers are to become orthogonal;
/// true where all pairs were so to rounding already.
#[inline(always)]
fn sweep<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    m: usize,
    own: usize,
    rows: &mut [V<S, T>],
    long: usize,
) -> bool {
    // The rounding of a dot product of m terms.
    let limit = tolerance::noise::<T>(m);
    let zero = l.splat(T::ZERO);
    let n = rows.len() / long;
    let mut orthogonal = true;
    for p in 0..n {
        for q in p + 1..n {
            let (head, tail) = rows.split_at_mut(q * long);
            let (x, y) = (&mut head[p * long..][..long], &mut tail[..long]);
            let (mut a, mut b, mut g) = (zero, zero, zero);
            for (&x, &y) in x[..own].iter().zip(&y[..own]) {
                a = l.mul_add(x, x, a);
                b = l.mul_add(y, y, b);
                g = l.mul_add(x, y, g);
            }
            let (a, b, g) = (l.sum_of_lanes(a), l.sum_of_lanes(b), l.sum_of_lanes(g));
            // Below the second bound the products themselves have no digits left.
            if Scalar::abs(g) <= limit * Scalar::sqrt(a) * Scalar::sqrt(b)
                || Scalar::abs(g) <= T::TINY / T::EPSILON
            {
                continue;
            }
            orthogonal = false;
            let t = tangent((b - a) / (g + g));
            let cos = T::ONE / Scalar::sqrt(T::ONE + t * t);
            let (sin, cos) = (l.splat(cos * t), l.splat(cos));
            for (x, y) in x.iter_mut().zip(y) {
                let turned = l.neg_mul_add(sin, *y, l.mul(cos, *x));
                *y = l.mul_add(sin, *x, l.mul(cos, *y));
                *x = turned;
            }
        }
    }
    orthogonal
}

/// The smaller root of `t² + 2ζt − 1 = 0`.
#[inline(always)]
fn tangent<T: Scalar>(zeta: T) -> T {
    let size = Scalar::abs(zeta);
    let t = if size > T::ONE / T::EPSILON {
        // ζ² may overflow, and adds nothing.
        T::ONE / (size + size)
    } else {
        T::ONE / (size + Scalar::sqrt(T::ONE + zeta * zeta))
    };
    if zeta < T::ZERO { -t } else { t }
}
