//! Singular values of small matrices by one-sided Jacobi rotations (Hestenes), to high relative accuracy.
//!
//! Columns of `A` (`m × n`) are rotated in pairs until they are orthogonal; their norms are the singular values. The small
//! ones keep their digits where `A` is a well-conditioned matrix times a diagonal one, which an eigen-decomposition of
//! `AᵀA` cannot give (Demmel & Veselić 1992). Slower than the eigen kernel: for what needs the digits.

use stiefel_linalg::{LinalgError, MatBatch, MatView, Scalar, tolerance};

/// `count × n` singular values, descending within each matrix.
pub(crate) fn singular_values<T: Scalar>(a: MatView<'_, T>) -> Result<Vec<T>, LinalgError> {
    let (count, m, n) = a.shape();
    if m == 0 {
        return Ok(vec![T::ZERO; count * n]);
    }
    let columns = orthogonal_columns(a)?;
    let mut sigma: Vec<T> = columns.data().chunks_exact(m).map(norm).collect();
    for values in sigma.chunks_exact_mut(n.max(1)) {
        values.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    }
    Ok(sigma)
}

/// `(A V)ᵀ` for the orthogonal `V` that makes the columns of `A V` orthogonal: row j is `σ_j u_jᵀ`, in no particular order.
pub(crate) fn orthogonal_columns<T: Scalar>(a: MatView<'_, T>) -> Result<MatBatch<T>, LinalgError> {
    a.check_finite("singular values")?;
    let (count, m, n) = a.shape();
    // Columns become rows, which are contiguous.
    let mut columns: MatBatch<T> = a.to_owned().transposed();
    for i in 0..count {
        let c = columns.matrix_mut(i);
        // Scaled to a largest entry of one, squares underflow only for columns that do not matter.
        let largest = c
            .iter()
            .fold(T::ZERO, |m, &x| Scalar::max(m, Scalar::abs(x)));
        if largest == T::ZERO {
            continue;
        }
        for x in c.iter_mut() {
            *x /= largest;
        }
        let sweeps = tolerance::JACOBI_MAX_SWEEPS;
        if !(0..sweeps).any(|_| sweep(c, m, n)) {
            return Err(LinalgError::NoConvergence { matrix: i, sweeps });
        }
        for x in c.iter_mut() {
            *x *= largest;
        }
    }
    Ok(columns)
}

/// `‖x‖₂`.
pub(crate) fn norm<T: Scalar>(x: &[T]) -> T {
    Scalar::sqrt(dot(x, x))
}

fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(&x, &y)| x * y).sum()
}

/// One rotation of every pair; true where all pairs were orthogonal to rounding already.
fn sweep<T: Scalar>(c: &mut [T], m: usize, n: usize) -> bool {
    // The rounding of a dot product of m terms.
    let limit = tolerance::noise::<T>(m);
    let mut orthogonal = true;
    for p in 0..n {
        for q in p + 1..n {
            let (head, tail) = c.split_at_mut(q * m);
            let (x, y) = (&mut head[p * m..(p + 1) * m], &mut tail[..m]);
            let (a, b, g) = (dot(x, x), dot(y, y), dot(x, y));
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

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_linalg::{Op, eigh, product, qr};
    use stiefel_testkit::{assert_close, random_batch};

    #[test]
    fn squares_are_the_eigenvalues_of_the_gram_matrix() {
        let a = random_batch::<f64>(1, 3, 7, 4);
        let sigma = singular_values(a.view()).unwrap();
        let gram = product(a.view(), Op::T, a.view(), Op::N).unwrap();
        let lambda = eigh(gram.view()).unwrap().values;
        for i in 0..3 {
            let mut squares: Vec<f64> = sigma[4 * i..4 * i + 4].iter().map(|s| s * s).collect();
            squares.reverse();
            assert_close("σ²", &squares, &lambda[4 * i..4 * i + 4], 1e-13);
        }
    }

    #[test]
    fn graded_matrices_keep_their_small_values() {
        // Orthogonal times diagonal: the singular values are the diagonal, over 24 decades.
        let q = qr(random_batch::<f64>(2, 1, 6, 4).view()).unwrap().q;
        let d = [1e12, 1.0, 1e-4, 1e-12];
        let a = MatBatch::from_fn(1, 6, 4, |_, r, c| q.get(0, r, c) * d[c]);
        for (got, expected) in singular_values(a.view()).unwrap().iter().zip(d) {
            assert!((got / expected - 1.0).abs() < 1e-14, "{got:e} {expected:e}");
        }
    }

    #[test]
    fn rank_deficient_in_single_precision() {
        // The smallest column falls far below ε of the others, where squares come near underflow.
        let mut a = random_batch::<f32>(4, 1, 6, 4);
        for r in 0..6 {
            let m = a.matrix_mut(0);
            m[4 * r + 3] = m[4 * r];
        }
        let sigma = singular_values(a.view()).unwrap();
        assert!(sigma[2] > 0.1 && sigma[3] < 1e-6, "{sigma:?}");
    }

    #[test]
    fn zeros_single_precision_and_odd_shapes() {
        let zero = MatBatch::<f64>::zeros(2, 3, 2);
        assert_eq!(singular_values(zero.view()).unwrap(), [0.0; 4]);
        assert_eq!(
            singular_values(MatBatch::<f64>::zeros(1, 0, 2).view()).unwrap(),
            [0.0; 2]
        );
        let a = random_batch::<f64>(3, 2, 5, 5);
        let exact = singular_values(a.view()).unwrap();
        assert_close(
            "f32",
            &singular_values(a.cast::<f32>().view()).unwrap(),
            &exact,
            1e-6,
        );
        let wide = singular_values(a.view()).unwrap();
        assert_close(
            "transpose",
            &singular_values(a.transposed().view()).unwrap(),
            &wide,
            1e-13,
        );
    }
}
