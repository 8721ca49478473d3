//! Short ways for whole stacks, where only eigenvalues are needed or one foot point serves all matrices.
//!
//! | | short way |
//! |---|---|
//! | `δ(A, B)` | `(Σ ln² λ)^{1/2}`, λ the eigenvalues of `L⁻¹BL⁻ᵀ`, `A = LLᵀ`: no eigenvectors |
//! | Bures–Wasserstein | `tr A + tr B − 2 Σ √λ`, λ the eigenvalues of `LᵀBL` |
//! | `L X_i Lᵀ` for one `L`, `U f(λ) Uᵀ` | products of which only one triangle is computed, lanes along the rows |
//!
//! They take no decision: a matrix that is not symmetric, not finite, not positive definite or badly conditioned makes them give
//! `None`, and the careful functions of the geometry compute the stack or say what is wrong with it.

use stiefel::geometry::spd::SpectralFn;
use stiefel::linalg::{
    Eigen, MatBatch, MatView, Scalar, cholesky, eigenvalues, inverse_cholesky, tolerance, trace,
};

/// Eigenvalues below this share of the largest have lost digits their logarithm or root would need.
const RESOLVED: f64 = 1e-6;

/// Differences of traces below this share have lost digits the root of the difference would need.
const APART: f64 = 1e-3;

/// `δ(A_i, B_i)`.
pub(crate) fn distance_riemann<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let n = paired(a, b)?;
    let c = if a.count() == 1 {
        both_sides(inverse_cholesky(a).ok()?.view(), b)
    } else {
        relative(cholesky(a).ok()?.view(), b)
    };
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
        let c = both_sides(left, b);
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
        let c = both_sides(left, rest);
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
    let n = paired(a, b)?;
    let l = cholesky(a).ok()?;
    let c = both_sides(l.transposed().view(), b);
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

/// `A_i X_i A_iᵀ` of symmetric matrices, exactly symmetric; a single `A` or `X` is broadcast.
pub(crate) fn both_sides<T: Scalar>(a: MatView<'_, T>, x: MatView<'_, T>) -> MatBatch<T> {
    let n = x.rows();
    let count = if x.count() == 1 { a.count() } else { x.count() };
    let at = |v: MatView<'_, T>, i: usize| if v.count() == 1 { 0 } else { i };
    let right = a.to_owned().transposed();
    let mut half = vec![T::ZERO; n * n];
    let mut out = MatBatch::zeros(count, n, n);
    // Small closures: larger ones are not inlined where the processor's features are known.
    let arch = pulp::Arch::new();
    for i in 0..count {
        let (left, x) = (a.matrix(at(a, i)), x.matrix(at(x, i)));
        let right = right.matrix(at(a, i));
        arch.dispatch(|| times(x, right, n, &mut half));
        let target = out.matrix_mut(i);
        arch.dispatch(|| lower_times(left, &half, n, target));
    }
    out
}

/// `L_i⁻¹ X_i L_i⁻ᵀ` by two forward substitutions, exactly symmetric; a single `X` is broadcast.
fn relative<T: Scalar>(l: MatView<'_, T>, x: MatView<'_, T>) -> MatBatch<T> {
    let (count, n, _) = l.shape();
    let mut half = vec![T::ZERO; n * n];
    let mut out = MatBatch::zeros(count, n, n);
    let arch = pulp::Arch::new();
    for i in 0..count {
        let (l, target) = (l.matrix(i), out.matrix_mut(i));
        half.copy_from_slice(x.matrix(if x.count() == 1 { 0 } else { i }));
        arch.dispatch(|| substitute(l, n, &mut half));
        for (r, row) in half.chunks_exact(n).enumerate() {
            for (c, &value) in row.iter().enumerate() {
                target[c * n + r] = value;
            }
        }
        arch.dispatch(|| substitute(l, n, target));
        for r in 1..n {
            for c in 0..r {
                target[c * n + r] = target[r * n + c];
            }
        }
    }
    out
}

/// `y ← L⁻¹ y`, row by row.
#[inline(always)]
fn substitute<T: Scalar>(l: &[T], n: usize, y: &mut [T]) {
    for r in 0..n {
        let (above, rest) = y.split_at_mut(r * n);
        let row = &mut rest[..n];
        for (&l, y) in l[r * n..r * n + r].iter().zip(above.chunks_exact(n)) {
            for (row, &y) in row.iter_mut().zip(y) {
                *row -= l * y;
            }
        }
        let scale = T::ONE / l[r * n + r];
        for row in row.iter_mut() {
            *row *= scale;
        }
    }
}

/// `U diag(f(λ)) Uᵀ` of every matrix, exactly symmetric.
pub(crate) fn apply<T: Scalar>(f: SpectralFn<T>, eigen: &Eigen<T>) -> MatBatch<T> {
    let (count, n, _) = eigen.vectors.shape();
    let mut out = MatBatch::zeros(count, n, n);
    let (mut scaled, mut turned) = (vec![T::ZERO; n * n], vec![T::ZERO; n * n]);
    let mut values = vec![T::ZERO; n];
    for i in 0..count {
        let u = eigen.vectors.matrix(i);
        for (value, &lambda) in values.iter_mut().zip(eigen.values_of(i)) {
            *value = f.value(lambda);
        }
        for (r, row) in u.chunks_exact(n).enumerate() {
            for c in 0..n {
                scaled[r * n + c] = row[c] * values[c];
                turned[c * n + r] = row[c];
            }
        }
        let target = out.matrix_mut(i);
        pulp::Arch::new().dispatch(|| lower_times(&scaled, &turned, n, target));
    }
    out
}

/// `out = a·b` for `n × n`, row-major: rows of `b` are added up, so that lanes run along memory.
#[inline(always)]
fn times<T: Scalar>(a: &[T], b: &[T], n: usize, out: &mut [T]) {
    for (a, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        out.fill(T::ZERO);
        for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (out, &b) in out.iter_mut().zip(b) {
                *out += a * b;
            }
        }
    }
}

/// The lower triangle of a symmetric product `a·b`, mirrored.
#[inline(always)]
fn lower_times<T: Scalar>(a: &[T], b: &[T], n: usize, out: &mut [T]) {
    for r in 0..n {
        let row = &mut out[r * n..=r * n + r];
        row.fill(T::ZERO);
        for (&a, b) in a[r * n..(r + 1) * n].iter().zip(b.chunks_exact(n)) {
            for (out, &b) in row.iter_mut().zip(&b[..=r]) {
                *out += a * b;
            }
        }
    }
    for r in 1..n {
        for c in 0..r {
            out[c * n + r] = out[r * n + c];
        }
    }
}

/// The same as [`plain`] for stacks of one length, or of one matrix.
fn paired<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<usize> {
    let pairs = a.count() == b.count() || a.count() == 1 || b.count() == 1;
    plain(a, b).filter(|_| pairs)
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
        // Covariances usually are, to the bit.
        if (1..n).all(|r| (0..r).all(|c| m[r * n + c] == m[c * n + r])) {
            return Scalar::is_finite(m.iter().copied().sum::<T>());
        }
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
