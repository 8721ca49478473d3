//! Operations that move entries without changing them: transpose, the lower triangle, the diagonal,
//! columns side by side, and the symmetric part `(X + Xᵀ)/2`. Each is linear; its pull-back is its
//! adjoint.

use super::wrong_shape;
use crate::{Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{MatView, Scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrange {
    Transpose,
    Symmetrise,
    /// Entries with `col − row ≤ offset`.
    Tril(isize),
    /// `n × n` to `1 × n`.
    Diagonal,
    /// `1 × n` to `n × n`.
    ToDiagonal,
}

/// Calls `add(to, from)` for every entry of the output that reads an entry of the `rows × cols`
/// input; both directions use it.
fn moves(kind: Arrange, rows: usize, cols: usize, mut add: impl FnMut(usize, usize)) {
    match kind {
        Arrange::Diagonal => (0..rows).for_each(|r| add(r, r * cols + r)),
        Arrange::ToDiagonal => (0..cols).for_each(|c| add(c * cols + c, c)),
        Arrange::Tril(offset) => {
            for r in 0..rows {
                let end = (r + 1).saturating_add_signed(offset).min(cols);
                (0..end).for_each(|c| add(r * cols + c, r * cols + c));
            }
        }
        Arrange::Transpose => {
            for r in 0..rows {
                (0..cols).for_each(|c| add(c * rows + r, r * cols + c));
            }
        }
        Arrange::Symmetrise => {
            for r in 0..rows {
                for c in 0..cols {
                    add(r * cols + c, r * cols + c);
                    add(c * cols + r, r * cols + c);
                }
            }
        }
    }
}

impl<T: Scalar> Operation<T> for Arrange {
    fn name(&self) -> &'static str {
        match self {
            Self::Transpose => "transpose",
            Self::Symmetrise => "symmetrise",
            Self::Tril(_) => "tril",
            Self::Diagonal => "diagonal",
            Self::ToDiagonal => "to_diagonal",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (count, rows, cols) = inputs[0];
        match self {
            Self::Transpose => Ok((count, cols, rows)),
            Self::Tril(_) => Ok(inputs[0]),
            Self::Symmetrise => super::square(inputs).map(|n| (count, n, n)),
            Self::Diagonal => super::square(inputs).map(|n| (count, 1, n)),
            Self::ToDiagonal if rows == 1 => Ok((count, cols, cols)),
            Self::ToDiagonal => wrong_shape("one row per matrix", inputs),
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (count, rows, cols) = pass.inputs[0].shape();
        let half = weight::<T>(*self);
        pass.output.data().fill(T::ZERO);
        for i in 0..count {
            let (x, y) = (pass.inputs[0].matrix(i), pass.output.matrix(i));
            moves(*self, rows, cols, |to, from| y[to] += half * x[from]);
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        if let Some(dx) = &mut pass.gradients[0] {
            let (count, rows, cols) = pass.inputs[0].shape();
            let half = weight::<T>(*self);
            let mut dx = dx.accumulator_view();
            for i in 0..count {
                let (dx, g) = (dx.matrix(i), g.matrix(i));
                moves(*self, rows, cols, |to, from| dx[from] += half * g[to]);
            }
        }
        Ok(())
    }
}

/// Each entry of the symmetric part is the mean of two.
fn weight<T: Scalar>(kind: Arrange) -> T {
    T::from_f64(if kind == Arrange::Symmetrise {
        0.5
    } else {
        1.0
    })
}

/// The rows of several values, one behind the other.
pub(super) fn side_by_side<T: Scalar>(parts: &[MatView<'_, T>], out: &mut [T]) {
    let total: usize = parts.iter().map(MatView::cols).sum();
    let mut start = 0;
    for x in parts.iter().filter(|x| x.cols() > 0) {
        let rows = out.chunks_exact_mut(total);
        for (y, x) in rows.zip(x.data().chunks_exact(x.cols())) {
            y[start..start + x.len()].copy_from_slice(x);
        }
        start += x.cols();
    }
}

#[derive(Debug)]
struct Concat;

impl<T: Scalar> Operation<T> for Concat {
    fn name(&self) -> &'static str {
        "concat"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let misfit = || OpError::Shape {
            needs: "at least one value, all with the same count and rows",
            found: inputs.to_vec(),
        };
        let &(count, rows, _) = inputs.first().ok_or_else(misfit)?;
        if inputs.iter().any(|s| (s.0, s.1) != (count, rows)) {
            return Err(misfit());
        }
        Ok((count, rows, inputs.iter().map(|s| s.2).sum()))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        side_by_side(pass.inputs, pass.output.data());
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let (total, mut start) = (g.cols(), 0);
        for (x, dx) in pass.inputs.iter().zip(pass.gradients.iter_mut()) {
            let cols = x.cols();
            if let Some(dx) = dx {
                dx.add_each(|e| g.data()[e / cols * total + start + e % cols]);
            }
            start += cols;
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// Each matrix transposed.
    #[track_caller]
    pub fn transpose(self) -> Result<Self> {
        self.tape.apply(Arrange::Transpose, &[self])
    }

    /// `(X + Xᵀ)/2`, exactly symmetric.
    #[track_caller]
    pub fn symmetrise(self) -> Result<Self> {
        self.tape.apply(Arrange::Symmetrise, &[self])
    }

    /// The entries with `col − row ≤ offset`, the others zero: 0 keeps the diagonal, −1 drops it.
    #[track_caller]
    pub fn tril(self, offset: isize) -> Result<Self> {
        self.tape.apply(Arrange::Tril(offset), &[self])
    }

    /// The diagonals of square matrices, `count × 1 × n`.
    #[track_caller]
    pub fn diagonal(self) -> Result<Self> {
        self.tape.apply(Arrange::Diagonal, &[self])
    }

    /// Diagonal matrices from `count × 1 × n`.
    #[track_caller]
    pub fn to_diagonal(self) -> Result<Self> {
        self.tape.apply(Arrange::ToDiagonal, &[self])
    }

    /// `tril(X, −1) + diag(exp(diag X))`: any square matrix to a lower-triangular one with positive
    /// diagonal.
    #[track_caller]
    pub fn lower_exp_diagonal(self) -> Result<Self> {
        let diagonal = self.diagonal()?.exp()?.to_diagonal()?;
        self.tril(-1)?.add(diagonal)
    }

    /// `tr X_i`, `count × 1 × 1`.
    #[track_caller]
    pub fn trace(self) -> Result<Self> {
        self.diagonal()?.sum(crate::Axis::Cols)
    }

    /// The values side by side along the columns.
    #[track_caller]
    pub fn concat(self, others: &[Var<'t, T>]) -> Result<Self> {
        let mut all = crate::tape::Few::from_slice(&[self]);
        all.extend_from_slice(others);
        self.tape.apply(Concat, &all)
    }
}
