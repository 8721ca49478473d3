//! One large symmetric positive definite matrix `G = L Lᵀ`, factored in blocks, for many right-hand sides.
//!
//! [`cholesky`](crate::cholesky()) takes many small matrices at once, one per lane; this takes one that may be hundreds of rows wide.

use crate::{LinalgError, MatBatch, MatView, Result};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par, Side};

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
    l: faer::Mat<f64>,
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
        let llt = MatRef::from_row_major_slice(g.matrix(0), n, n).llt(Side::Lower);
        let llt = llt.map_err(|error| {
            let faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index } = error;
            LinalgError::NotPositiveDefinite {
                op: OP,
                matrix: 0,
                pivot: index,
                value: g.matrix(0)[index * n + index],
            }
        })?;
        Ok(Self {
            l: llt.L().to_owned(),
        })
    }

    /// `L⁻¹ B` in the place of `B`, a batch of one `n × m` matrix.
    pub fn half_solve(&self, b: &mut MatBatch<f64>) -> Result<()> {
        let b = self.right_hand_side(b)?;
        solve_lower_triangular_in_place(self.l.as_ref(), b, Par::Seq);
        crate::dense::release_vector_registers();
        Ok(())
    }

    /// `G⁻¹ B` in the place of `B`, a batch of one `n × m` matrix.
    pub fn solve(&self, b: &mut MatBatch<f64>) -> Result<()> {
        self.half_solve(b)?;
        let b = self.right_hand_side(b)?;
        solve_upper_triangular_in_place(self.l.transpose(), b, Par::Seq);
        crate::dense::release_vector_registers();
        Ok(())
    }

    fn right_hand_side<'b>(&self, b: &'b mut MatBatch<f64>) -> Result<MatMut<'b, f64>> {
        let (count, rows, cols) = b.shape();
        if count != 1 || rows != self.l.nrows() {
            return Err(LinalgError::Shape {
                op: "solution of a system",
                expected: format!("one right-hand side of {} rows", self.l.nrows()),
                found: format!("{:?}", b.shape()),
            });
        }
        Ok(MatMut::from_row_major_slice_mut(b.data_mut(), rows, cols))
    }
}
