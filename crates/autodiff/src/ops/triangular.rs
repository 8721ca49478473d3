//! Triangular systems `X_i = op(L_i)⁻¹ B_i` with lower-triangular `L_i` (`count × n × n`) and `B_i` (`count × n × p`).
//!
//! With `H = op(L)⁻ᵀ G`: `∂ℓ/∂B = H`, `∂ℓ/∂L = −tril(H Xᵀ)` for `L` as it is and `−tril(X Hᵀ)` for its transpose.

use super::cholesky::lower;
use super::wrong_shape;
use crate::{Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{MatBatch, Op, Scalar, product, solve_lower};

#[derive(Debug, Clone, Copy)]
struct SolveLower(Op);

impl<T: Scalar> Operation<T> for SolveLower {
    fn name(&self) -> &'static str {
        match self.0 {
            Op::N => "solve_lower",
            Op::T => "solve_lower_transposed",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (l, b) = (inputs[0], inputs[1]);
        if l.1 == l.2 && l.0 == b.0 && l.1 == b.1 {
            return Ok(b);
        }
        wrong_shape(
            "square matrices and as many right-hand sides with as many rows",
            inputs,
        )
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let l = pass.inputs[0];
        for matrix in 0..l.count() {
            let diagonal = l.matrix(matrix).iter().step_by(l.rows() + 1);
            if let Some(row) = diagonal.copied().position(|d: T| d == T::ZERO) {
                return Err(OpError::Singular { matrix, row });
            }
        }
        pass.output
            .data()
            .copy_from_slice(solve_lower(l, self.0, pass.inputs[1])?.data());
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let other = if self.0 == Op::N { Op::T } else { Op::N };
        let h = solve_lower(pass.inputs[0], other, g)?;
        if let Some(dl) = &mut pass.gradients[0] {
            let outer = match self.0 {
                Op::N => product(h.view(), Op::N, pass.output, Op::T)?,
                Op::T => product(pass.output, Op::N, h.view(), Op::T)?,
            };
            dl.add_map(lower(outer.view()).data(), |v| -v);
        }
        if let Some(db) = &mut pass.gradients[1] {
            db.add(h.data());
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `L_i⁻¹ B_i`; `self` is `L`, read from its lower triangle.
    #[track_caller]
    pub fn solve_lower(self, b: Var<'t, T>) -> Result<Self> {
        self.tape.apply(SolveLower(Op::N), &[self, b])
    }

    /// `L_i⁻ᵀ B_i`; `self` is `L`, read from its lower triangle.
    #[track_caller]
    pub fn solve_lower_transposed(self, b: Var<'t, T>) -> Result<Self> {
        self.tape.apply(SolveLower(Op::T), &[self, b])
    }

    /// `L_i⁻¹`, read from the lower triangle of `L`.
    #[track_caller]
    pub fn invert_lower(self) -> Result<Self> {
        let (count, n, _) = self.shape();
        let identity = self.tape.constant(&MatBatch::identity(count, n));
        self.solve_lower(identity)
    }
}
