//! Sums and checks over entries, with several running sums so that additions overlap, compiled for the instructions of the processor.

use pulp::{Arch, Simd, WithSimd};
use stiefel::linalg::{MatBatch, MatView, Scalar, tolerance};

/// Running sums.
const SUMS: usize = 16;

/// `Σ term(x_i, y_i)`; the order of additions depends on the length alone.
struct Sum<'a, T> {
    x: &'a [T],
    y: &'a [T],
    term: Term,
}

#[derive(Clone, Copy)]
enum Term {
    /// `x y`.
    Product,
    /// `(x − y)²`.
    SquaredGap,
    /// `0 x`, which is zero unless `x` is NaN or infinite.
    Nothing,
}

// Not closures: these are not always inlined to where the instructions of the processor are known.
impl<T: Scalar> WithSimd for Sum<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        match self.term {
            Term::Product => sum(self.x, self.y, |x, y| x * y),
            Term::SquaredGap => sum(self.x, self.y, |x, y| (x - y) * (x - y)),
            Term::Nothing => sum(self.x, self.y, |x, _| x * T::ZERO),
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

fn total<T: Scalar>(x: &[T], y: &[T], term: Term) -> T {
    Arch::new().dispatch(Sum { x, y, term })
}

/// `Σ x_i y_i`.
pub(crate) fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    total(x, y, Term::Product)
}

/// `‖x − y‖`.
pub(crate) fn gap<T: Scalar>(x: &[T], y: &[T]) -> T {
    Scalar::sqrt(total(x, y, Term::SquaredGap))
}

/// Whether no value is NaN or infinite.
pub(crate) fn finite<T: Scalar>(x: &[T]) -> bool {
    total(x, x, Term::Nothing) == T::ZERO
}

/// Whether all matrices are finite and symmetric to rounding; NaN compares as neither.
pub(crate) fn symmetric<T: Scalar>(x: MatView<'_, T>) -> bool {
    let n = x.rows();
    let share = tolerance::symmetry::<T>();
    finite(x.data())
        && (0..x.count()).all(|i| {
            let m = x.matrix(i);
            // Covariances usually are, to the bit.
            if equals_transpose(m, n) {
                return true;
            }
            let largest = m
                .iter()
                .fold(T::ZERO, |a, &v| Scalar::max(a, Scalar::abs(v)));
            let close =
                |r: usize, c: usize| Scalar::abs(m[r * n + c] - m[c * n + r]) <= share * largest;
            (1..n).all(|r| (0..r).all(|c| close(r, c)))
        })
}

/// Whether `m = mᵀ`, in tiles that stay in the first-level cache.
fn equals_transpose<T: Scalar>(m: &[T], n: usize) -> bool {
    const TILE: usize = 8;
    let tiles = || (0..n).step_by(TILE);
    tiles().all(|top| {
        tiles().take_while(|&left| left <= top).all(|left| {
            let mut equal = true;
            for r in top..(top + TILE).min(n) {
                for c in left..(left + TILE).min(r) {
                    equal &= m[r * n + c] == m[c * n + r];
                }
            }
            equal
        })
    })
}

/// The upper triangles of `n × n` matrices, off-diagonals times √2.
pub(crate) fn upper<T: Scalar>(n: usize, x: &[T], out: &mut [T]) {
    let root2 = Scalar::sqrt(T::from_f64(2.0));
    let triangles = out.chunks_exact_mut(n * (n + 1) / 2);
    for (x, mut out) in x.chunks_exact(n * n).zip(triangles) {
        for (r, row) in x.chunks_exact(n).enumerate() {
            let (here, rest) = out.split_at_mut(n - r);
            here[0] = row[r];
            for (out, &x) in here[1..].iter_mut().zip(&row[r + 1..]) {
                *out = root2 * x;
            }
            out = rest;
        }
    }
}

/// The inverse of [`upper`].
pub(crate) fn from_upper<T: Scalar>(n: usize, v: &[T], out: &mut [T]) {
    let half_root2 = Scalar::sqrt(T::from_f64(0.5));
    let triangles = v.chunks_exact(n * (n + 1) / 2);
    for (mut v, out) in triangles.zip(out.chunks_exact_mut(n * n)) {
        for r in 0..n {
            let (here, rest) = v.split_at(n - r);
            out[r * n + r] = here[0];
            for (c, &x) in (r + 1..n).zip(&here[1..]) {
                out[r * n + c] = half_root2 * x;
                out[c * n + r] = half_root2 * x;
            }
            v = rest;
        }
    }
}

/// `Σ X_i / N`, added in the order of the stack, as NumPy does; a value that is not finite stays one.
pub(crate) fn mean<T: Scalar>(x: MatView<'_, T>) -> MatBatch<T> {
    let mut sum = MatBatch::zeros(1, x.rows(), x.cols());
    Arch::new().dispatch(Add {
        sum: sum.data_mut(),
        matrices: x.data(),
    });
    let count = T::from_f64(x.count() as f64);
    for x in sum.data_mut() {
        *x /= count;
    }
    sum
}

/// `sum ← sum + Σ X_i`, four matrices at a time.
struct Add<'a, T> {
    sum: &'a mut [T],
    matrices: &'a [T],
}

impl<T: Scalar> WithSimd for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { sum, matrices } = self;
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

/// `(1 − t) A_i + t B_i`; a single matrix is broadcast.
pub(crate) fn blend<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>, t: T) -> Option<MatBatch<T>> {
    let count = super::common(&[Some(a), Some(b)])?;
    let mut out = Vec::with_capacity(count * a.rows() * a.cols());
    let at = |x: MatView<'_, T>, i: usize| if x.count() == 1 { 0 } else { i };
    let s = T::ONE - t;
    for i in 0..count {
        let pairs = a.matrix(at(a, i)).iter().zip(b.matrix(at(b, i)));
        out.extend(pairs.map(|(&a, &b)| s * a + t * b));
    }
    MatBatch::from_vec(count, a.rows(), a.cols(), out).ok()
}
