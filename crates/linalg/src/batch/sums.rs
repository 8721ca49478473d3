//! Sums and multiples over entries, with several running sums so that additions overlap, compiled
//! for the instructions of the processor.
//!
//! | | formula |
//! |---|---|
//! | [`dot`] | `Σ x_i y_i` |
//! | [`gap`] | `(Σ (x_i − y_i)²)^{1/2}` |
//! | [`all_finite`] | `Σ 0·x_i = 0` |
//! | [`mean`] | `Σ X_i / N`, a matrix |
//! | [`add_scaled`] | `y_i ← y_i + t x_i` |
//! | [`scale`] | `x_i ← a x_i` |
//!
//! The order of additions depends on the length alone, and nothing is fused: the same bits with
//! every instruction set. What runs off the end of the shorter operand is left out.

use crate::{MatBatch, MatView, Scalar, kernel};

/// Running sums.
const SUMS: usize = 16;

#[derive(Clone, Copy)]
enum Term {
    /// `x y`.
    Product,
    /// `(x − y)²`.
    SquaredGap,
    /// `0 x`, which is zero unless `x` is NaN or infinite.
    Nothing,
}

kernel! {
    /// `Σ term(x_i, y_i)`.
    fn total<'a, S, T>(_simd: S, x: &'a [T], y: &'a [T], term: Term) -> T {
        match term {
            Term::Product => sum(x, y, |x, y| x * y),
            Term::SquaredGap => sum(x, y, |x, y| (x - y) * (x - y)),
            Term::Nothing => sum(x, y, |x, _| x * T::ZERO),
        }
    }
}

#[inline(always)]
fn sum<T: Scalar>(x: &[T], y: &[T], term: impl Fn(T, T) -> T) -> T {
    let mut sums = [T::ZERO; SUMS];
    let (xs, ys) = (x.chunks_exact(SUMS), y.chunks_exact(SUMS));
    let rest = xs.remainder().iter().zip(ys.remainder());
    for (sum, (&x, &y)) in sums.iter_mut().zip(rest) {
        *sum += term(x, y);
    }
    for (x, y) in xs.zip(ys) {
        for i in 0..SUMS {
            sums[i] += term(x[i], y[i]);
        }
    }
    sums.into_iter().sum()
}

/// `Σ x_i y_i`.
pub fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    total(x, y, Term::Product)
}

/// `‖x − y‖`.
///
/// ```
/// use stiefel_linalg::sums::{dot, gap};
///
/// assert_eq!(gap(&[1.0, 2.0], &[4.0, 6.0]), 5.0);
/// assert_eq!(dot(&[1.0, 2.0], &[4.0, 6.0]), 16.0);
/// ```
pub fn gap<T: Scalar>(x: &[T], y: &[T]) -> T {
    Scalar::sqrt(total(x, y, Term::SquaredGap))
}

/// Whether no value is NaN or infinite.
pub fn all_finite<T: Scalar>(x: &[T]) -> bool {
    total(x, x, Term::Nothing) == T::ZERO
}

/// `Σ X_i / N`, added in the order of the stack, as NumPy does; a value that is not finite stays
/// one.
pub fn mean<T: Scalar>(x: MatView<'_, T>) -> MatBatch<T> {
    let mut sum = MatBatch::zeros(1, x.rows(), x.cols());
    add(sum.data_mut(), x.data());
    let count = T::from_f64(x.count() as f64);
    for x in sum.data_mut() {
        *x /= count;
    }
    sum
}

kernel! {
    /// `y ← y + t x`, entry by entry.
    ///
    /// ```
    /// let mut y = [1.0, 2.0];
    /// stiefel_linalg::sums::add_scaled(&mut y, 0.5, &[4.0, 6.0]);
    /// assert_eq!(y, [3.0, 5.0]);
    /// ```
    pub fn add_scaled<'a, S, T>(_simd: S, y: &'a mut [T], t: T, x: &'a [T]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += t * x;
        }
    }
}

kernel! {
    /// `x ← a x`, entry by entry.
    ///
    /// ```
    /// let mut x = [1.0, 2.0];
    /// stiefel_linalg::sums::scale(&mut x, 3.0);
    /// assert_eq!(x, [3.0, 6.0]);
    /// ```
    pub fn scale<'a, S, T>(_simd: S, x: &'a mut [T], a: T) {
        for x in x {
            *x *= a;
        }
    }
}

kernel! {
    /// `sum ← sum + Σ X_i`, four matrices at a time.
    fn add<'a, S, T>(_simd: S, sum: &'a mut [T], matrices: &'a [T]) {
        let size = sum.len();
        if size == 0 {
            return;
        }
        let groups = matrices.chunks_exact(4 * size);
        let rest = groups.remainder();
        for group in groups {
            let (first, second) = group.split_at(2 * size);
            let ((a, b), (c, d)) = (first.split_at(size), second.split_at(size));
            let others = b.iter().zip(c.iter().zip(d));
            for ((sum, &a), (&b, (&c, &d))) in sum.iter_mut().zip(a).zip(others) {
                *sum = *sum + a + b + c + d;
            }
        }
        for matrix in rest.chunks_exact(size) {
            for (sum, &x) in sum.iter_mut().zip(matrix) {
                *sum += x;
            }
        }
    }
}
