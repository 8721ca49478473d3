//! Leading right singular directions of `m` rows of length `p`, without ever forming more than a
//! `min(m, p)`-square matrix.
//!
//! 1. Eigenvectors of the smaller Gram matrix, `A Aᵀ` or `AᵀA`, largest first, decide the rank and
//!    span the directions; where few are needed of many, a block Krylov iteration finds them.
//! 2. Squaring costs half the digits of the small ones. A Rayleigh–Ritz step gives them back: `Q`
//!    an orthonormal basis of that span, the singular value decomposition `A Q = U Σ Vᵀ` (`m × s`),
//!    directions `Q V`.

mod krylov;

use crate::gram::{Layout, gram_lower};
use crate::jacobi::orthogonalise;
use crate::qr::triangular_factor;
use crate::sums::dot;
use crate::{
    EigenWorkspace, LinalgError, MatBatch, MatView, Op, Result, Wanted, product, product_into, qr,
    tolerance,
};

const OP: &str = "leading directions";

/// At most `most` directions of the rows of `a` (one `m × p` matrix) as orthonormal columns (`1 × p
/// × s`), largest first, orthogonal to the columns of `taken` (one `p × t` matrix, orthonormal).
/// `total` is the sum of squares of the rows before anything was removed from them: what is below
/// its rounding is no direction.
///
/// ```
/// use stiefel_linalg::{MatBatch, leading_directions};
///
/// // Two rows along the second axis.
/// let rows = MatBatch::from_vec(1, 2, 3, vec![0.0, 1.0, 0.0, 0.0, 2.0, 0.0])?;
/// let found = leading_directions(rows.view(), 2, 5.0, MatBatch::zeros(1, 3, 0).view())?;
/// assert_eq!(found.shape(), (1, 3, 1));
/// assert!((found.get(0, 1, 0).abs() - 1.0).abs() < 1e-15);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn leading_directions(
    a: MatView<'_, f64>,
    most: usize,
    total: f64,
    taken: MatView<'_, f64>,
) -> Result<MatBatch<f64>> {
    let (one, _, p) = a.shape();
    if one != 1 || taken.count() != 1 || taken.rows() != p || taken.cols() > p {
        return Err(LinalgError::Shape {
            op: OP,
            expected: "one matrix of rows, and one of at most as many columns of their length"
                .into(),
            found: format!("{:?} and {:?}", a.shape(), taken.shape()),
        });
    }
    directions(a, most.min(p - taken.cols()), total, taken)
}

fn directions(
    a: MatView<'_, f64>,
    most: usize,
    total: f64,
    taken: MatView<'_, f64>,
) -> Result<MatBatch<f64>> {
    let (_, m, p) = a.shape();
    a.check_finite(OP)?;
    let wide = p > m;
    let gram = whole_gram(a, wide)?;
    let leading = match krylov::leading(gram.view(), most)? {
        Some(leading) => leading,
        None => leading_eigenvectors(gram.view(), most)?,
    };
    // Rounding of the data enters squared, rounding of the products does not.
    let relative = tolerance::direction_rank(m, p);
    let largest = leading.values.first().copied().unwrap_or_default();
    let floor = (relative * largest).max(relative * relative * total);
    let s = leading.values.iter().filter(|&&l| l > floor).count();
    if s == 0 {
        return Ok(MatBatch::zeros(1, p, 0));
    }
    let top = first_columns(&leading.vectors, s);
    let mut span = if wide {
        let mut span = product(a, Op::T, top.view(), Op::N)?;
        for row in span.data_mut().chunks_exact_mut(s) {
            for (x, &square) in row.iter_mut().zip(&leading.values) {
                *x *= 1.0 / square.sqrt();
            }
        }
        span
    } else {
        top
    };
    let along = product(taken, Op::T, span.view(), Op::N)?;
    let (remove, add) = (-1.0, true);
    product_into(
        span.view_mut(),
        add,
        remove,
        taken,
        Op::N,
        along.view(),
        Op::N,
    )?;
    let q = qr(span.view())?.q;
    let image = product(a, Op::N, q.view(), Op::N)?;
    product(q.view(), Op::N, right_vectors(image.view())?.view(), Op::N)
}

/// The first columns of one matrix.
fn first_columns(x: &MatBatch<f64>, count: usize) -> MatBatch<f64> {
    MatBatch::from_fn(1, x.rows(), count, |_, r, c| x.get(0, r, c))
}

/// `V` of `A = U Σ Vᵀ` (one matrix), the largest singular value first: rotations of the columns of
/// `R`, where `A = Q R`.
fn right_vectors(a: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    let factor = if a.rows() > a.cols() {
        triangular_factor(a)?
    } else {
        a.to_owned()
    };
    let side = factor.rows();
    let found =
        orthogonalise(factor.transposed().data(), side, true)?.ok_or_else(|| diverged(OP))?;
    let squares = found.columns.chunks_exact(side).map(|c| dot(c, c));
    let mut order: Vec<(f64, usize)> = squares.zip(0..).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let s = a.cols();
    Ok(MatBatch::from_fn(1, s, s, |_, r, c| {
        found.v[order[c].1 * s + r]
    }))
}

/// The smallest singular value of every matrix.
///
/// ```
/// use stiefel_linalg::{MatBatch, smallest_singular_values};
///
/// let x = MatBatch::from_vec(1, 3, 2, vec![3.0, 0.0, 0.0, -2.0, 0.0, 0.0])?;
/// assert!((smallest_singular_values(x.view())?[0] - 2.0).abs() < 1e-15);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn smallest_singular_values(x: MatView<'_, f64>) -> Result<Vec<f64>> {
    let op = "singular values";
    x.check_finite(op)?;
    let (count, rows, cols) = x.shape();
    if rows == 0 || cols == 0 {
        return Ok(vec![f64::INFINITY; count]);
    }
    let of = |i: usize| {
        let one = x.single(i);
        let turned;
        let tall = if rows < cols {
            turned = one.to_owned().transposed();
            turned.view()
        } else {
            one
        };
        // The rows of `R`: those of a triangular factor are nearer to orthogonal than its columns.
        let (side, factor) = (tall.cols(), triangular_factor(tall)?);
        let found = orthogonalise(factor.data(), side, false)?.ok_or_else(|| diverged(op))?;
        let norms = found.columns.chunks_exact(side);
        let norms = norms.map(|c| dot(c, c).sqrt());
        Ok(norms.fold(f64::INFINITY, f64::min))
    };
    (0..count).map(of).collect()
}

/// Eigenvalues of a Gram matrix, descending, and their eigenvectors (columns).
pub(crate) struct Leading {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: MatBatch<f64>,
}

/// The leading eigenpairs from a decomposition of the whole.
fn leading_eigenvectors(gram: MatView<'_, f64>, most: usize) -> Result<Leading> {
    let size = gram.rows();
    let mut values = vec![0.0; size];
    let mut vectors = MatBatch::zeros(1, size, size);
    let wanted = Wanted::Vectors(vectors.data_mut());
    EigenWorkspace::default().decompose_one(gram.matrix_ref(0), &mut values, wanted)?;
    let s = most.min(size);
    Ok(Leading {
        values: (0..s).map(|j| values[size - 1 - j]).collect(),
        vectors: MatBatch::from_fn(1, size, s, |_, r, c| vectors.get(0, r, size - 1 - c)),
    })
}

/// `A·Aᵀ` where `A` is `wide`, else `AᵀA`: the lower triangle is computed, the upper one copied.
fn whole_gram(a: MatView<'_, f64>, wide: bool) -> Result<MatBatch<f64>> {
    let (_, m, p) = a.shape();
    let (size, terms, layout) = if wide {
        (m, p, Layout::Rows)
    } else {
        (p, m, Layout::Columns)
    };
    let mut out = MatBatch::zeros(1, size, size);
    let g = out.data_mut();
    gram_lower(g, false, 1.0, a.matrix(0), (size, terms), layout)?;
    for r in 1..size {
        for c in 0..r {
            g[c * size + r] = g[r * size + c];
        }
    }
    Ok(out)
}

fn diverged(op: &'static str) -> LinalgError {
    LinalgError::NotDecomposed { op }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_testkit::random_batch;

    /// The Gram matrix of Gaussian rows whose columns have standard deviations `decay^c`.
    fn scatter(size: usize, p: usize, decay: f64) -> MatBatch<f64> {
        let g = random_batch::<f64>(7, 1, size, p);
        let rows = MatBatch::from_fn(1, size, p, |_, r, c| g.get(0, r, c) * decay.powi(c as i32));
        product(rows.view(), Op::N, rows.view(), Op::T).unwrap()
    }

    #[test]
    fn krylov_and_the_whole_decomposition_agree() {
        let gram = scatter(420, 640, 0.96);
        for most in [1, 12] {
            let fast = leading(&gram, most).expect("it converges on a decaying spectrum");
            let full = leading_eigenvectors(gram.view(), most).unwrap();
            for (x, y) in fast.values.iter().zip(&full.values) {
                assert!((x / y - 1.0).abs() < 1e-12, "{x:e} {y:e}");
            }
            let outside = outside(&full.vectors, &fast.vectors);
            assert!(outside < 1e-10, "{outside:e}");
        }
    }

    fn leading(gram: &MatBatch<f64>, most: usize) -> Option<Leading> {
        krylov::leading(gram.view(), most).unwrap()
    }

    /// What is left of the columns of `x` outside the span of those of `v`.
    fn outside(v: &MatBatch<f64>, x: &MatBatch<f64>) -> f64 {
        let along = product(v.view(), Op::T, x.view(), Op::N).unwrap();
        let inside = product(v.view(), Op::N, along.view(), Op::N).unwrap();
        crate::sums::gap(x.data(), inside.data())
    }

    #[test]
    fn krylov_leaves_what_it_cannot_do_quickly() {
        let flat = MatBatch::from_fn(1, 420, 420, |_, r, c| {
            if r == c { 1.0 + 1e-6 * r as f64 } else { 0.0 }
        });
        assert!(leading(&flat, 3).is_none());
        assert!(leading(&scatter(50, 60, 0.9), 2).is_none(), "small");
        assert!(leading(&scatter(420, 420, 0.96), 300).is_none(), "many");
        assert!(leading(&scatter(420, 5, 1.0), 3).is_none(), "low rank");
        assert!(
            leading(&MatBatch::zeros(1, 420, 420), 3).is_none(),
            "nothing"
        );
    }

    #[test]
    fn large_rows_of_low_rank_or_flat_spectrum_have_directions_too() {
        let g = random_batch::<f64>(8, 1, 420, 430);
        let flat = MatBatch::from_fn(1, 420, 430, |_, r, c| g.get(0, r, c));
        let low = MatBatch::from_fn(1, 420, 430, |_, r, c| flat.get(0, r, c % 2));
        for (a, rank) in [(flat, 5), (low, 2)] {
            let total = a.data().iter().map(|x| x * x).sum();
            let v = leading_directions(a.view(), 5, total, MatBatch::zeros(1, 430, 0).view());
            let v = v.unwrap();
            assert_eq!(v.shape(), (1, 430, rank));
            // Right singular vectors: AᵀA v = σ² v.
            let half = product(a.view(), Op::N, v.view(), Op::N).unwrap();
            let image = product(a.view(), Op::T, half.view(), Op::N).unwrap();
            let size = dot(image.data(), image.data()).sqrt();
            assert!(outside(&v, &image) < 1e-9 * size);
        }
    }

    #[test]
    fn right_vectors_keep_small_directions() {
        // Columns over twelve decades: the smallest one is found to all digits.
        let g = random_batch::<f64>(3, 1, 30, 4);
        let q = MatBatch::from_fn(1, 30, 4, |_, r, c| g.get(0, r, c));
        let q = qr(q.view()).unwrap().q;
        let d = [1e-12, 1.0, 1e-4, 1e-8];
        let a = MatBatch::from_fn(1, 30, 4, |_, r, c| q.get(0, r, c) * d[c]);
        let v = right_vectors(a.view()).unwrap();
        for (c, axis) in [1, 2, 3, 0].into_iter().enumerate() {
            for r in 0..4 {
                let expected = f64::from(u8::from(r == axis));
                assert!((v.get(0, r, c).abs() - expected).abs() < 1e-15);
            }
        }
        let smallest = smallest_singular_values(a.view()).unwrap()[0];
        assert!((smallest / 1e-12 - 1.0).abs() < 1e-13, "{smallest:e}");
        let wide = smallest_singular_values(a.transposed().view()).unwrap()[0];
        assert!((wide / 1e-12 - 1.0).abs() < 1e-13, "{wide:e}");
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let rows = MatBatch::<f64>::zeros(1, 2, 3);
        for taken in [(2, 3, 0), (1, 2, 0), (1, 3, 4)] {
            let taken = MatBatch::zeros(taken.0, taken.1, taken.2);
            let error = leading_directions(rows.view(), 1, 1.0, taken.view()).unwrap_err();
            assert!(
                matches!(error, LinalgError::Shape { op: OP, .. }),
                "{error}"
            );
        }
    }
}
