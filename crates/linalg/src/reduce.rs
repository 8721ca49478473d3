//! Traces, norms, symmetry, and what is read off a row of numbers: its largest, its softmax.

use crate::{MatView, MatViewMut, Result, Scalar, kernel, sums, tiles};

/// `tr X_i` of each square matrix.
pub fn trace<T: Scalar>(x: MatView<'_, T>) -> Result<Vec<T>> {
    let n = x.check_square("trace")?;
    Ok((0..x.count())
        .map(|i| x.matrix(i).iter().step_by(n + 1).copied().sum())
        .collect())
}

/// `‖X_i‖_F` of each matrix.
pub fn frobenius_norm<T: Scalar>(x: MatView<'_, T>) -> Vec<T> {
    (0..x.count())
        .map(|i| Scalar::sqrt(sums::dot(x.matrix(i), x.matrix(i))))
        .collect()
}

/// `X_i ← (X_i + X_iᵀ)/2`, in place.
///
/// ```
/// use stiefel_linalg::{MatBatch, symmetrise};
///
/// let mut x = MatBatch::from_vec(1, 2, 2, vec![1.0, 4.0, 0.0, 1.0])?;
/// symmetrise(&mut x.view_mut())?;
/// assert_eq!(x.data(), [1.0, 2.0, 2.0, 1.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn symmetrise<T: Scalar>(x: &mut MatViewMut<'_, T>) -> Result<()> {
    let n = x.as_view().check_square("symmetrise")?;
    for i in 0..x.shape().0 {
        symmetrise_one(x.matrix(i), n);
    }
    Ok(())
}

kernel! {
    fn symmetrise_one<'a, S, T>(simd: S, m: &'a mut [T], n: usize) {
        tiles::symmetrise(simd, n, m, n);
    }
}

/// The entry `(matrix, row, column)` below the diagonal that differs most from its mirror image, of
/// the first matrix where the two differ by more than `share` of its largest entry; `None` where
/// all are symmetric. [`symmetry`](crate::tolerance::symmetry) is the share to ask for. The
/// matrices are square and finite.
///
/// ```
/// use stiefel_linalg::{MatBatch, asymmetry, tolerance};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![1.0, 0.5, 0.25, 1.0])?;
/// assert_eq!(
///     asymmetry(x.view(), tolerance::symmetry::<f64>()),
///     Some((0, 1, 0))
/// );
/// assert_eq!(asymmetry(x.view(), 0.3), None);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn asymmetry<T: Scalar>(x: MatView<'_, T>, share: T) -> Option<(usize, usize, usize)> {
    let n = x.rows();
    (0..x.count()).find_map(|i| {
        let m = x.matrix(i);
        // Covariances usually are symmetric, to the bit.
        if is_symmetric(m, n) {
            return None;
        }
        let abs = |a: T, &v: &T| Scalar::max(a, Scalar::abs(v));
        let largest = m.iter().fold(T::ZERO, abs);
        let mut worst = (T::ZERO, 0, 0);
        for (r, c) in (1..n).flat_map(|r| (0..r).map(move |c| (r, c))) {
            let gap = Scalar::abs(m[r * n + c] - m[c * n + r]);
            if gap > worst.0 {
                worst = (gap, r, c);
            }
        }
        let (gap, row, col) = worst;
        (gap > share * largest).then_some((i, row, col))
    })
}

kernel! {
    /// Whether `m = mᵀ`.
    fn is_symmetric<'a, S, T>(_simd: S, m: &'a [T], n: usize) -> bool {
        tiles::is_symmetric(n, m)
    }
}

/// Where the largest number of a row is, the first among equals; 0 for an empty row.
///
/// ```
/// assert_eq!(stiefel_linalg::argmax(&[1.0, 3.0, 3.0]), 1);
/// ```
pub fn argmax<T: PartialOrd>(row: &[T]) -> usize {
    (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best })
}

/// The entry of largest magnitude, the first among equals: signs without meaning are chosen so that
/// it is positive.
///
/// ```
/// assert_eq!(stiefel_linalg::peak([1.0, -3.0, 3.0]), -3.0);
/// ```
pub fn peak<T: Scalar>(values: impl IntoIterator<Item = T>) -> T {
    let larger = |a: T, x: T| {
        if Scalar::abs(x) > Scalar::abs(a) {
            x
        } else {
            a
        }
    };
    values.into_iter().fold(T::ZERO, larger)
}

/// `e^{x_c}/Σ e^{x}` in place, shifted by the row's maximum `m` so that nothing overflows. Gives
/// `(m, Σ e^{x−m})`.
///
/// ```
/// let mut row = [1000.0, 1000.0_f64];
/// assert_eq!(stiefel_linalg::softmax(&mut row), (1000.0, 2.0));
/// assert_eq!(row, [0.5, 0.5]);
/// ```
pub fn softmax<T: Scalar>(row: &mut [T]) -> (T, T) {
    let top = maximum(row);
    let mut sum = T::ZERO;
    for x in row.iter_mut() {
        *x = Scalar::exp(*x - top);
        sum += *x;
    }
    for x in row {
        *x /= sum;
    }
    (top, sum)
}

/// `(m, log Σ e^{x − m})` with `m` the row's maximum; adding the two would lose the digits that a
/// common offset takes.
pub fn log_sum_exp<T: Scalar>(row: &[T]) -> (T, T) {
    let top = maximum(row);
    let sum: T = row.iter().map(|&x| Scalar::exp(x - top)).sum();
    (top, Scalar::ln(sum))
}

/// The largest entry; a NaN anywhere makes the sums that follow NaN, so it cannot hide.
fn maximum<T: Scalar>(row: &[T]) -> T {
    let first = row.first().copied().unwrap_or(T::ZERO);
    row.iter().fold(first, |top, &x| Scalar::max(top, x))
}
