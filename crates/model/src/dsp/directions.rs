//! Leading right singular directions of `m` rows of length `p`, without ever forming more than a `min(m, p)`-square matrix.
//!
//! 1. Eigenvectors of the smaller Gram matrix, `A Aᵀ` or `AᵀA`, largest first, decide the rank and span the directions; where
//!    few are needed of many, a block Krylov iteration finds them without it ([`krylov`]).
//! 2. Squaring costs half the digits of the small ones. A Rayleigh–Ritz step gives them back: `Q` an orthonormal basis of that
//!    span, the singular value decomposition `A Q = U Σ Vᵀ` (`m × s`), directions `Q V`.

use super::{OP, krylov};
use crate::{ModelError, Result};
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, Mat, MatRef, Par, Side};
use stiefel_linalg::{MatView, tolerance};

/// Tangent vectors with their domains numbered from zero without gaps.
pub(super) struct Rows<'a> {
    x: MatRef<'a, f64>,
    domains: Vec<usize>,
    counts: Vec<usize>,
    /// `D × p`.
    means: Mat<f64>,
}

impl<'a> Rows<'a> {
    /// One vector and one domain per trial, all finite.
    pub(super) fn new(x: MatView<'a, f64>, domains: &[usize]) -> Result<Self> {
        let (count, rows, p) = x.shape();
        if rows != 1 || p == 0 {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("tangent vectors of {rows} × {p} values"),
                remedy: "pass them as count × 1 × n(n+1)/2",
            });
        }
        if domains.len() != count {
            return Err(ModelError::Count {
                op: OP,
                what: "domains",
                expected: count,
                found: domains.len(),
            });
        }
        if count == 0 {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "fit on at least one training trial",
            });
        }
        x.check_finite(OP)?;
        let mut present = domains.to_vec();
        present.sort_unstable();
        present.dedup();
        let number = |d: &usize| present.binary_search(d).unwrap_or_default();
        let domains: Vec<usize> = domains.iter().map(number).collect();
        let mut counts = vec![0_usize; present.len()];
        let mut means = Mat::zeros(present.len(), p);
        let x = MatRef::from_row_major_slice(x.data(), count, p);
        for (i, &d) in domains.iter().enumerate() {
            counts[d] += 1;
            for c in 0..p {
                means[(d, c)] += x[(i, c)];
            }
        }
        for c in 0..p {
            for (d, &count) in counts.iter().enumerate() {
                means[(d, c)] /= count as f64;
            }
        }
        Ok(Self {
            x,
            domains,
            counts,
            means,
        })
    }

    pub(super) fn trials(&self) -> usize {
        self.x.nrows()
    }

    pub(super) fn domains(&self) -> usize {
        self.counts.len()
    }

    /// `Σ_i ‖x_i‖²`, before any mean is removed.
    pub(super) fn total_square(&self) -> f64 {
        self.x.squared_norm_l2()
    }

    /// `√n_d·(μ_d − μ)`, one row per domain: `S_B` is the Gram matrix of the columns.
    pub(super) fn between(&self) -> Mat<f64> {
        let total = self.trials() as f64;
        let mut rows = self.means.clone();
        for c in 0..rows.ncols() {
            let weighted = (self.counts.iter().enumerate()).map(|(d, &n)| n as f64 * rows[(d, c)]);
            let mu = weighted.sum::<f64>() / total;
            for (d, &n) in self.counts.iter().enumerate() {
                rows[(d, c)] = (n as f64).sqrt() * (rows[(d, c)] - mu);
            }
        }
        rows
    }

    /// `x_i − μ_{d_i}`, with the directions in `taken` removed.
    pub(super) fn within(&self, taken: &Mat<f64>) -> Mat<f64> {
        let mut rows = Mat::from_fn(self.trials(), self.x.ncols(), |i, c| {
            self.x[(i, c)] - self.means[(self.domains[i], c)]
        });
        let along = &rows * taken;
        rows -= along * taken.transpose();
        rows
    }
}

/// At most `most` directions as orthonormal columns (`p × s`), largest first, orthogonal to `taken`. `total` is the sum of squares
/// of the rows before anything was removed from them: what is below its rounding is no direction.
pub(super) fn leading_directions(
    a: &Mat<f64>,
    most: usize,
    total: f64,
    taken: &Mat<f64>,
) -> Result<Mat<f64>> {
    let (m, p) = a.shape();
    let most = most.min(p - taken.ncols());
    let leading = match krylov::leading(a, most) {
        Some(leading) => leading,
        None => leading_of_gram(a, most)?,
    };
    // Rounding of the data enters squared, rounding of the products does not.
    let relative = tolerance::direction_rank(m, p);
    let largest = leading.squares.first().copied().unwrap_or_default();
    let floor = (relative * largest).max(relative * relative * total);
    let s = leading.squares.iter().filter(|&&l| l > floor).count();
    if s == 0 {
        return Ok(Mat::zeros(p, 0));
    }
    let mut span = leading.vectors.subcols(0, s).to_owned();
    let along = taken.transpose() * &span;
    span -= taken * along;
    let q = span.qr().compute_thin_Q();
    let ritz = (a * &q).thin_svd().map_err(|_| diverged())?;
    Ok(q * ritz.V())
}

/// Squared singular values, descending, and right singular vectors (columns), not yet refined.
pub(super) struct Leading {
    pub(super) squares: Vec<f64>,
    pub(super) vectors: Mat<f64>,
}

/// From the eigen-decomposition of the smaller Gram matrix.
fn leading_of_gram(a: &Mat<f64>, most: usize) -> Result<Leading> {
    let (m, p) = a.shape();
    let wide = p > m;
    let gram = if wide {
        gram(a.as_ref(), a.transpose())
    } else {
        gram(a.transpose(), a.as_ref())
    };
    let eigen = (gram.self_adjoint_eigen(Side::Lower)).map_err(|_| diverged())?;
    let size = gram.nrows();
    let s = most.min(size);
    let lambda = eigen.S().column_vector();
    let squares: Vec<f64> = (0..s).map(|j| lambda[size - 1 - j]).collect();
    let top = Mat::from_fn(size, s, |r, c| eigen.U()[(r, size - 1 - c)]);
    if !wide {
        return Ok(Leading {
            squares,
            vectors: top,
        });
    }
    let mut vectors = a.transpose() * top;
    for (mut column, &square) in vectors.col_iter_mut().zip(&squares) {
        // Where it is not positive the column is below the floor and dropped.
        if square > 0.0 {
            column *= faer::Scale(1.0 / square.sqrt());
        }
    }
    Ok(Leading { squares, vectors })
}

/// The lower triangle of `l·r`, which is symmetric.
fn gram(l: MatRef<'_, f64>, r: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(l.nrows(), l.nrows());
    triangular_matmul(
        out.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        l,
        BlockStructure::Rectangular,
        r,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    out
}

fn diverged() -> ModelError {
    ModelError::Impossible {
        op: OP,
        why: "the decomposition of the scatter did not converge".into(),
        remedy: "are the tangent vectors of sane size?",
    }
}

/// Turns every column so that its entry of largest magnitude is positive.
pub(super) fn with_positive_peaks(columns: &mut Mat<f64>) {
    for mut column in columns.col_iter_mut() {
        let values = column.as_ref();
        let peak = (values.iter()).fold(0.0_f64, |a, &x| if x.abs() > a.abs() { x } else { a });
        if peak < 0.0 {
            column *= faer::Scale(-1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_testkit::random_batch;

    /// Gaussian rows whose columns have standard deviations `decay^c`.
    fn rows(m: usize, p: usize, decay: f64) -> Mat<f64> {
        let g = random_batch::<f64>(7, 1, m, p);
        Mat::from_fn(m, p, |r, c| g.get(0, r, c) * decay.powi(c as i32))
    }

    /// `1 − ` the smallest singular value of `VᵀW`: zero for equal column spaces.
    fn gap(v: &Mat<f64>, w: &Mat<f64>) -> f64 {
        let overlap = v.transpose() * w;
        let s = overlap.singular_values().unwrap();
        1.0 - s.iter().copied().fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn krylov_and_gram_agree_on_tall_and_wide_rows() {
        for (m, p) in [(420, 640), (640, 420)] {
            let a = rows(m, p, 0.96);
            for s in [1, 12] {
                let fast = krylov::leading(&a, s).expect("it converges on a decaying spectrum");
                let full = leading_of_gram(&a, s).unwrap();
                for (x, y) in fast.squares.iter().zip(&full.squares) {
                    assert!((x / y - 1.0).abs() < 1e-11, "{x:e} {y:e}");
                }
                let gap = gap(&fast.vectors, &full.vectors);
                assert!(gap < 1e-12, "{gap:e}");
            }
        }
    }

    #[test]
    fn krylov_leaves_what_it_cannot_do_quickly() {
        // Small, nearly everything asked for, of low rank, flat spectrum.
        assert!(krylov::leading(&rows(40, 50, 0.9), 2).is_none());
        assert!(krylov::leading(&rows(420, 420, 0.99), 300).is_none());
        let thin = rows(420, 5, 1.0);
        let low = &thin * rows(420, 5, 1.0).transpose();
        assert!(krylov::leading(&low, 3).is_none());
        assert!(krylov::leading(&Mat::zeros(420, 420), 3).is_none());
        let flat = rows(420, 420, 1.0).qr().compute_thin_Q();
        let bent = &flat
            * Mat::from_fn(
                420,
                420,
                |r, c| if r == c { 1.0 + 1e-6 * r as f64 } else { 0.0 },
            );
        assert!(krylov::leading(&bent, 3).is_none());
        // And the whole still gives an answer for each of them.
        for a in [low, bent] {
            let v = leading_directions(&a, 3, a.squared_norm_l2(), &Mat::zeros(420, 0)).unwrap();
            assert_eq!(v.shape(), (420, 3));
        }
    }
}
