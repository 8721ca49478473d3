//! Short ways for whole stacks, where only eigenvalues are needed or one foot point serves all matrices.
//!
//! | | short way |
//! |---|---|
//! | `δ(A, B)` | `(Σ ln² λ)^{1/2}`, λ the eigenvalues of `L⁻¹BL⁻ᵀ`, `A = LLᵀ`: no eigenvectors |
//! | Bures–Wasserstein | `tr A + tr B − 2 Σ √λ`, λ the eigenvalues of `LᵀBL` |
//! | `R X_i R` for one symmetric `R` | two products of all rows at once |
//!
//! They take no decision: a matrix that is not symmetric, not finite, not positive definite or badly conditioned makes them give
//! `None`, and the careful functions of the geometry compute the stack or say what is wrong with it.

use stiefel::linalg::{
    MatBatch, MatView, Op, Scalar, cholesky, congruence, eigenvalues, inverse_cholesky, product,
    tolerance, trace,
};

/// Eigenvalues below this share of the largest have lost digits their logarithm or root would need.
const RESOLVED: f64 = 1e-6;

/// Differences of traces below this share have lost digits the root of the difference would need.
const APART: f64 = 1e-3;

/// `δ(A_i, B_i)`.
pub(crate) fn distance_riemann<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let n = plain(a, b)?;
    let l_inv = inverse_cholesky(a).ok()?;
    let c = congruence(l_inv.transposed().view(), b).ok()?;
    norms_of_logarithms(&eigenvalues(c.view()).ok()?, n)
}

/// `δ(A_i, B_j)` of all pairs, `1 × Na × Nb`.
pub(crate) fn pairwise_riemann<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let n = plain(a, b)?;
    let l_inv = inverse_cholesky(a).ok()?;
    let mut out = Vec::with_capacity(a.count() * b.count());
    for i in 0..a.count() {
        let left = MatView::new(1, n, n, l_inv.matrix(i)).ok()?;
        let c = both_sides(left, b)?;
        out.extend(norms_of_logarithms(&eigenvalues(c.view()).ok()?, n)?);
    }
    MatBatch::from_vec(1, a.count(), b.count(), out).ok()
}

/// `δ(X_i, X_j)` of all pairs, `1 × N × N`, zero on the diagonal.
pub(crate) fn mutual_riemann<T: Scalar>(x: MatView<'_, T>) -> Option<MatBatch<T>> {
    let n = plain(x, x)?;
    let count = x.count();
    let l_inv = inverse_cholesky(x).ok()?;
    let mut out = MatBatch::zeros(1, count, count);
    for i in 0..count.saturating_sub(1) {
        let left = MatView::new(1, n, n, l_inv.matrix(i)).ok()?;
        let rest = MatView::new(count - 1 - i, n, n, &x.data()[(i + 1) * n * n..]).ok()?;
        let c = both_sides(left, rest)?;
        let row = norms_of_logarithms(&eigenvalues(c.view()).ok()?, n)?;
        for (j, d) in (i + 1..count).zip(row) {
            out.data_mut()[i * count + j] = d;
            out.data_mut()[j * count + i] = d;
        }
    }
    Some(out)
}

/// The Bures–Wasserstein distance of pairs.
pub(crate) fn distance_wasserstein<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<Vec<T>> {
    let n = plain(a, b)?;
    let l = cholesky(a).ok()?;
    let c = congruence(l.view(), b).ok()?;
    let values = eigenvalues(c.view()).ok()?;
    let (left, right) = (trace(a).ok()?, trace(b).ok()?);
    let of = |traces: &[T], i: usize| traces[if traces.len() == 1 { 0 } else { i }];
    let rows = values.chunks_exact(n).enumerate();
    rows.map(|(i, lambda)| {
        if !resolved(lambda) {
            return None;
        }
        let sum = of(&left, i) + of(&right, i);
        let roots: T = lambda.iter().map(|&l| Scalar::sqrt(l)).sum();
        let squared = sum - roots - roots;
        (squared.to_f64() > APART * sum.to_f64()).then(|| Scalar::sqrt(squared))
    })
    .collect()
}

/// `L X_i Lᵀ` for one `L` and every matrix of a stack: symmetric to rounding, made exactly so.
pub(crate) fn both_sides<T: Scalar>(l: MatView<'_, T>, x: MatView<'_, T>) -> Option<MatBatch<T>> {
    let (count, n, _) = x.shape();
    let rows = MatView::new(1, count * n, n, x.data()).ok()?;
    // (X Lᵀ)ᵀ = L X: transposed, it is multiplied from the right once more.
    let half = product(rows, Op::N, l, Op::T).ok()?;
    let half = MatBatch::from_vec(count, n, n, half.into_vec()).ok()?;
    let turned = half.transposed();
    let rows = MatView::new(1, count * n, n, turned.data()).ok()?;
    let whole = product(rows, Op::N, l, Op::T).ok()?;
    let mut whole = MatBatch::from_vec(count, n, n, whole.into_vec()).ok()?;
    stiefel::linalg::symmetrise(&mut whole.view_mut()).ok()?;
    Some(whole)
}

/// The size of matrices that fit together, are symmetric to rounding and finite.
fn plain<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<usize> {
    let n = a.rows();
    let fits = (a.cols(), b.rows(), b.cols()) == (n, n, n) && n > 0 && a.count() * b.count() > 0;
    (fits && symmetric(a) && symmetric(b)).then_some(n)
}

/// Whether all matrices are finite and symmetric to rounding; NaN compares as neither.
pub(crate) fn symmetric<T: Scalar>(x: MatView<'_, T>) -> bool {
    let n = x.rows();
    let share = tolerance::symmetry::<T>();
    (0..x.count()).all(|i| {
        let m = x.matrix(i);
        let largest = m
            .iter()
            .fold(T::ZERO, |a, &v| Scalar::max(a, Scalar::abs(v)));
        Scalar::is_finite(m.iter().copied().sum::<T>())
            && (1..n).all(|r| {
                (0..r).all(|c| Scalar::abs(m[r * n + c] - m[c * n + r]) <= share * largest)
            })
    })
}

fn resolved<T: Scalar>(lambda: &[T]) -> bool {
    lambda[0].to_f64() > RESOLVED * lambda[lambda.len() - 1].to_f64()
}

/// `(Σ ln² λ)^{1/2}` of each group of `n` ascending eigenvalues.
fn norms_of_logarithms<T: Scalar>(values: &[T], n: usize) -> Option<Vec<T>> {
    let norm = |lambda: &[T]| {
        let square = |&l: &T| Scalar::ln(l) * Scalar::ln(l);
        resolved(lambda).then(|| Scalar::sqrt(lambda.iter().map(square).sum::<T>()))
    };
    values.chunks_exact(n).map(norm).collect()
}
