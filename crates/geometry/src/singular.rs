//! Singular values of small matrices to high relative accuracy: the norms of the columns that
//! [`orthogonal_columns`] leaves. Slower than the eigen kernel: for what needs the digits.

use stiefel_linalg::{LinalgError, MatView, Scalar, orthogonal_columns, sums};

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

/// `‖x‖₂`.
pub(crate) fn norm<T: Scalar>(x: &[T]) -> T {
    Scalar::sqrt(sums::dot(x, x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_linalg::{MatBatch, Op, eigh, product, qr};
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
