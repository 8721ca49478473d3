//! One large symmetric positive definite matrix `G = L Lᵀ`, factored in blocks, for many right-hand
//! sides.
//!
//! [`cholesky`](crate::cholesky()) takes many small matrices at once, one per lane; this takes one
//! that may be hundreds of rows wide.

mod blocks;

use crate::gemm::Strided;
use crate::{LinalgError, MatBatch, MatView, Result};

const OP: &str = "Cholesky factorisation";

/// The Cholesky factor of one matrix.
///
/// ```
/// use stiefel_linalg::{Factored, MatBatch};
///
/// let g = MatBatch::from_vec(1, 2, 2, vec![4.0, 2.0, 2.0, 2.0])?;
/// let mut b = MatBatch::from_vec(1, 2, 1, vec![2.0, 2.0])?;
/// Factored::new(g.view())?.solve(&mut b)?;
/// assert_eq!(b.data(), [0.0, 1.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Factored {
    /// Row after row; what is above the diagonal means nothing.
    l: Vec<f64>,
    n: usize,
}

impl Factored {
    /// Factors a batch of one matrix; only its lower triangle is read.
    pub fn new(g: MatView<'_, f64>) -> Result<Self> {
        let n = g.check_square(OP)?;
        if g.count() != 1 {
            return Err(LinalgError::Shape {
                op: OP,
                expected: "one matrix".into(),
                found: format!("{} matrices", g.count()),
            });
        }
        g.check_finite(OP)?;
        let mut l = g.matrix(0).to_vec();
        let mut room = vec![0.0; (n / 2 + 8) * n.div_ceil(2)];
        match blocks::factor(&mut l, n, n, &mut room)? {
            Ok(()) => Ok(Self { l, n }),
            Err(pivot) => Err(LinalgError::NotPositiveDefinite {
                op: OP,
                matrix: 0,
                pivot,
                value: g.matrix(0)[pivot * n + pivot],
            }),
        }
    }

    /// `L⁻¹ B` in the place of `B`, a batch of one `n × m` matrix.
    pub fn half_solve(&self, b: &mut MatBatch<f64>) -> Result<()> {
        let m = self.columns(b)?;
        blocks::solve_lower(self.factor(), self.n, b.data_mut(), m)
    }

    /// `G⁻¹ B` in the place of `B`, a batch of one `n × m` matrix.
    pub fn solve(&self, b: &mut MatBatch<f64>) -> Result<()> {
        self.half_solve(b)?;
        let m = self.columns(b)?;
        blocks::solve_upper(self.factor(), self.n, b.data_mut(), m)
    }

    fn factor(&self) -> Strided<'_, f64> {
        Strided::rows(&self.l, self.n)
    }

    /// The columns of a right-hand side that fits.
    fn columns(&self, b: &MatBatch<f64>) -> Result<usize> {
        let (count, rows, cols) = b.shape();
        if count != 1 || rows != self.n {
            return Err(LinalgError::Shape {
                op: "solution of a system",
                expected: format!("one right-hand side of {} rows", self.n),
                found: format!("{:?}", b.shape()),
            });
        }
        Ok(cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, product};
    use stiefel_testkit::random_batch;

    fn random(seed: u64, rows: usize, cols: usize) -> MatBatch<f64> {
        let g = random_batch::<f64>(seed, 1, rows, cols);
        MatBatch::from_fn(1, rows, cols, |_, r, c| g.get(0, r, c))
    }

    /// `G X = B` for sizes around those that are halved, and `L⁻¹ G L⁻ᵀ = I`.
    #[test]
    fn solutions_solve() {
        for n in (1..=34).chain([63, 64, 65, 100, 131]) {
            for m in [0, 1, 2, 9, 40] {
                let a = random(n as u64, n, n + 3);
                let mut g = product(a.view(), Op::N, a.view(), Op::T).unwrap();
                for r in 0..n {
                    g.matrix_mut(0)[r * n + r] += 1.0;
                }
                let factored = Factored::new(g.view()).unwrap();
                let b = random(7, n, m);
                let mut x = b.clone();
                factored.solve(&mut x).unwrap();
                let found = product(g.view(), Op::N, x.view(), Op::N).unwrap();
                // The condition of G is below its trace.
                let tolerance = 1e-15 * (n * n) as f64 * 10.0;
                for (f, e) in found.data().iter().zip(b.data()) {
                    assert!((f - e).abs() < tolerance, "n={n} m={m}: {f} {e}");
                }
                let mut half = g.clone();
                factored.half_solve(&mut half).unwrap();
                let mut whole = half.transposed();
                factored.half_solve(&mut whole).unwrap();
                for r in 0..n {
                    for c in 0..n {
                        let expected = f64::from(u8::from(r == c));
                        let gap = (whole.get(0, r, c) - expected).abs();
                        assert!(gap < tolerance, "n={n}: {r} {c} {gap}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_pivot_that_is_not_positive_is_named() {
        for (n, bad) in [(3, 1), (40, 0), (40, 17), (100, 99)] {
            let mut g = MatBatch::<f64>::identity(1, n);
            g.matrix_mut(0)[bad * n + bad] = -2.0;
            let error = Factored::new(g.view()).unwrap_err();
            assert!(
                matches!(error, LinalgError::NotPositiveDefinite { pivot, value, .. } if pivot == bad && value == -2.0),
                "{error}"
            );
        }
    }
}
