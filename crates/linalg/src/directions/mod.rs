//! Leading right singular directions of `m` rows of length `p`, without ever forming more than a `min(m, p)`-square matrix.
//!
//! 1. Eigenvectors of the smaller Gram matrix, `A Aᵀ` or `AᵀA`, largest first, decide the rank and span the directions; where
//!    few are needed of many, a block Krylov iteration finds them.
//! 2. Squaring costs half the digits of the small ones. A Rayleigh–Ritz step gives them back: `Q` an orthonormal basis of that
//!    span, the singular value decomposition `A Q = U Σ Vᵀ` (`m × s`), directions `Q V`.

mod krylov;

use crate::dense::{gram, release_vector_registers};
use crate::{LinalgError, MatBatch, MatView, Result, tolerance};
use faer::{Mat, MatRef, Side};

const OP: &str = "leading directions";

/// At most `most` directions of the rows of `a` (one `m × p` matrix) as orthonormal columns (`1 × p × s`), largest first, orthogonal to the columns of `taken`
/// (one `p × t` matrix, orthonormal). `total` is the sum of squares of the rows before anything was removed from them: what is below its rounding is no
/// direction.
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
    let (one, m, p) = a.shape();
    if one != 1 || taken.count() != 1 || taken.rows() != p || taken.cols() > p {
        return Err(LinalgError::Shape {
            op: OP,
            expected: "one matrix of rows, and one of at most as many columns of their length"
                .into(),
            found: format!("{:?} and {:?}", a.shape(), taken.shape()),
        });
    }
    let rows = MatRef::from_row_major_slice(a.matrix(0), m, p);
    let taken = MatRef::from_row_major_slice(taken.matrix(0), p, taken.cols());
    let found = directions(rows, most.min(p - taken.ncols()), total, taken)?;
    release_vector_registers();
    Ok(MatBatch::from_fn(1, p, found.ncols(), |_, r, c| {
        found[(r, c)]
    }))
}

fn directions(
    a: MatRef<'_, f64>,
    most: usize,
    total: f64,
    taken: MatRef<'_, f64>,
) -> Result<Mat<f64>> {
    let (m, p) = a.shape();
    let wide = p > m;
    let gram = whole_gram(if wide { a } else { a.transpose() });
    let leading = match krylov::leading(&gram, most) {
        Some(leading) => leading,
        None => leading_eigenvectors(&gram, most)?,
    };
    // Rounding of the data enters squared, rounding of the products does not.
    let relative = tolerance::direction_rank(m, p);
    let largest = leading.values.first().copied().unwrap_or_default();
    let floor = (relative * largest).max(relative * relative * total);
    let s = leading.values.iter().filter(|&&l| l > floor).count();
    if s == 0 {
        return Ok(Mat::zeros(p, 0));
    }
    let top = leading.vectors.subcols(0, s);
    let mut span = if wide {
        let mut span = a.transpose() * top;
        for (mut column, &square) in span.col_iter_mut().zip(&leading.values) {
            column *= faer::Scale(1.0 / square.sqrt());
        }
        span
    } else {
        top.to_owned()
    };
    let along = taken.transpose() * &span;
    span -= taken * along;
    let q = span.qr().compute_thin_Q();
    let ritz = (a * &q).thin_svd().map_err(|_| diverged(OP))?;
    Ok(q * ritz.V())
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
    let of = |i: usize| {
        let values = MatRef::from_row_major_slice(x.matrix(i), rows, cols).singular_values();
        let values = values.map_err(|_| diverged(op))?;
        Ok(values.into_iter().fold(f64::INFINITY, f64::min))
    };
    let smallest = (0..count).map(of).collect();
    release_vector_registers();
    smallest
}

/// Eigenvalues of a Gram matrix, descending, and their eigenvectors (columns).
pub(crate) struct Leading {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
}

/// The leading eigenpairs from a decomposition of the whole.
fn leading_eigenvectors(gram: &Mat<f64>, most: usize) -> Result<Leading> {
    let eigen = (gram.self_adjoint_eigen(Side::Lower)).map_err(|_| diverged(OP))?;
    let size = gram.nrows();
    let s = most.min(size);
    let lambda = eigen.S().column_vector();
    Ok(Leading {
        values: (0..s).map(|j| lambda[size - 1 - j]).collect(),
        vectors: Mat::from_fn(size, s, |r, c| eigen.U()[(r, size - 1 - c)]),
    })
}

/// `x·xᵀ`: the lower triangle is computed, the upper one copied.
fn whole_gram(x: MatRef<'_, f64>) -> Mat<f64> {
    let size = x.nrows();
    let mut out = Mat::zeros(size, size);
    gram(out.as_mut(), false, 1.0, x);
    for c in 1..size {
        for r in 0..c {
            out[(r, c)] = out[(c, r)];
        }
    }
    out
}

fn diverged(op: &'static str) -> LinalgError {
    LinalgError::NotDecomposed { op }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_testkit::random_batch;

    /// The Gram matrix of Gaussian rows whose columns have standard deviations `decay^c`.
    fn scatter(size: usize, p: usize, decay: f64) -> Mat<f64> {
        let g = random_batch::<f64>(7, 1, size, p);
        let rows = Mat::from_fn(size, p, |r, c| g.get(0, r, c) * decay.powi(c as i32));
        &rows * rows.transpose()
    }

    #[test]
    fn krylov_and_the_whole_decomposition_agree() {
        let gram = scatter(420, 640, 0.96);
        for most in [1, 12] {
            let fast = krylov::leading(&gram, most).expect("it converges on a decaying spectrum");
            let full = leading_eigenvectors(&gram, most).unwrap();
            for (x, y) in fast.values.iter().zip(&full.values) {
                assert!((x / y - 1.0).abs() < 1e-12, "{x:e} {y:e}");
            }
            // The distance between the two spans: what is left of one outside the other.
            let along = full.vectors.transpose() * &fast.vectors;
            let outside = &fast.vectors - &full.vectors * along;
            assert!(outside.norm_l2() < 1e-10, "{:e}", outside.norm_l2());
        }
    }

    #[test]
    fn krylov_leaves_what_it_cannot_do_quickly() {
        let flat = Mat::from_fn(
            420,
            420,
            |r, c| {
                if r == c { 1.0 + 1e-6 * r as f64 } else { 0.0 }
            },
        );
        assert!(krylov::leading(&flat, 3).is_none());
        assert!(krylov::leading(&scatter(50, 60, 0.9), 2).is_none(), "small");
        assert!(
            krylov::leading(&scatter(420, 420, 0.96), 300).is_none(),
            "many"
        );
        assert!(
            krylov::leading(&scatter(420, 5, 1.0), 3).is_none(),
            "low rank"
        );
        assert!(
            krylov::leading(&Mat::zeros(420, 420), 3).is_none(),
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
            let a = MatRef::from_row_major_slice(a.data(), 420, 430);
            let v = MatRef::from_row_major_slice(v.data(), 430, rank);
            // Right singular vectors: AᵀA v = σ² v.
            let image = a.transpose() * (a * v);
            let along = v.transpose() * &image;
            let outside = &image - v * along;
            assert!(outside.norm_l2() < 1e-9 * image.norm_l2());
        }
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
