//! One-sided Jacobi rotations (M. R. Hestenes, 1958): `A V` with orthogonal columns, whose norms are the singular values.
//!
//! Small singular values keep their digits where `A` is a well-conditioned matrix times a diagonal one, or triangular and graded (Demmel & Veselić, SIAM J. Matrix Anal.
//! Appl. 13, 1992), which the eigenvalues of `AᵀA` cannot give.

use crate::sums::dot;
use crate::{Scalar, tolerance};

/// Rotates the columns of `A`, given as rows that are `long` numbers apart and begin with the `m` of the column, until they are orthogonal; what follows in a row is rotated
/// with it, and from the identity becomes `Vᵀ`. False where [`JACOBI_MAX_SWEEPS`](tolerance::JACOBI_MAX_SWEEPS) are too few.
pub fn orthogonalise<T: Scalar>(columns: &mut [T], m: usize, long: usize) -> bool {
    if m == 0 || long == 0 {
        return true;
    }
    // Scaled to a largest entry near one, squares underflow only for columns that do not matter.
    let mut largest = T::ZERO;
    for row in columns.chunks_exact(long) {
        for &x in &row[..m] {
            largest = Scalar::max(largest, Scalar::abs(x));
        }
    }
    if largest == T::ZERO {
        return true;
    }
    let scale = T::power_of_two_below(largest);
    for row in columns.chunks_exact_mut(long) {
        for x in &mut row[..m] {
            *x /= scale;
        }
    }
    let done = (0..tolerance::JACOBI_MAX_SWEEPS).any(|_| sweep(columns, m, long));
    for row in columns.chunks_exact_mut(long) {
        for x in &mut row[..m] {
            *x *= scale;
        }
    }
    done
}

/// One rotation of every pair; true where all pairs were orthogonal to rounding already.
fn sweep<T: Scalar>(columns: &mut [T], m: usize, long: usize) -> bool {
    // The rounding of a dot product of m terms.
    let limit = tolerance::noise::<T>(m);
    let n = columns.len() / long;
    let mut orthogonal = true;
    for p in 0..n {
        for q in p + 1..n {
            let (head, tail) = columns.split_at_mut(q * long);
            let (x, y) = (&mut head[p * long..][..long], &mut tail[..long]);
            let (a, b) = (dot(&x[..m], &x[..m]), dot(&y[..m], &y[..m]));
            let g = dot(&x[..m], &y[..m]);
            // Below the second bound the products themselves have no digits left.
            if Scalar::abs(g) <= limit * Scalar::sqrt(a) * Scalar::sqrt(b)
                || Scalar::abs(g) <= T::TINY / T::EPSILON
            {
                continue;
            }
            orthogonal = false;
            let t = tangent((b - a) / (g + g));
            let cos = T::ONE / Scalar::sqrt(T::ONE + t * t);
            let sin = cos * t;
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
            }
        }
    }
    orthogonal
}

/// The smaller root of `t² + 2ζt − 1 = 0`.
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
