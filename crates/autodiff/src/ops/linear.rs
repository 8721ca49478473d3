//! A linear layer on inputs that stand side by side: `Y = [X_1 … X_p] Wᵀ + b`, with `X_i` of `1 ×
//! rows × c_i`, `W` of `1 × out × Σ c_i` and `b` of `1 × 1 × out`.
//!
//! With `G = ∂ℓ/∂Y`: `∂ℓ/∂W = Gᵀ[X_1 … X_p]`, `∂ℓ/∂b = Σ_r G_r`, and `∂ℓ/∂X_i = G W_i` with the
//! columns of `W` that go with `X_i`. An input whose gradient nobody wants, as that of data, costs
//! nothing beside another whose gradient is.

use super::arrange::side_by_side;
use crate::operation::view;
use crate::tape::Few;
use crate::{Buffer, Context, Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{MatView, Op, Scalar, product_into, sums};

/// Inputs: `X_1 … X_p`, `W`, `b`.
struct Linear<T> {
    /// The inputs side by side, where there are several.
    joined: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for Linear<T> {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let misfit = || OpError::Shape {
            needs: "inputs of one matrix each with as many rows, then weights with a column for \
                    each of their columns, and a bias",
            found: inputs.to_vec(),
        };
        let [parts @ .., w, b] = inputs else {
            return Err(misfit());
        };
        let rows = parts.first().ok_or_else(misfit)?.1;
        let columns: usize = parts.iter().map(|x| x.2).sum();
        let fit = parts.iter().all(|x| (x.0, x.1) == (1, rows));
        if !fit || (w.0, w.2) != (1, columns) || *b != (1, 1, w.1) {
            return Err(misfit());
        }
        Ok((1, rows, w.1))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let [parts @ .., w, b] = pass.inputs else {
            return Ok(());
        };
        if parts.len() > 1 {
            let joined = pass.context.buffer(parts[0].rows() * w.cols());
            side_by_side(parts, self.joined.insert(joined));
        }
        let x = self.rows(parts, w.cols());
        let out = crate::operation::view_mut(pass.output.shape(), pass.output.data());
        product_into(out, false, T::ONE, x, Op::N, *w, Op::T)?;
        for row in pass.output.data().chunks_exact_mut(w.rows().max(1)) {
            sums::add_scaled(row, T::ONE, b.data());
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let ([parts @ .., w, _], [in_parts @ .., in_w, in_b]) = (pass.inputs, &mut *pass.gradients)
        else {
            return Ok(());
        };
        let mut from = 0;
        for (x, in_x) in parts.iter().zip(in_parts) {
            if let Some(in_x) = in_x {
                let own = columns(*w, from, x.cols(), pass.context);
                let own = view((1, w.rows(), x.cols()), &own);
                in_x.add_product(T::ONE, g, Op::N, own, Op::N)?;
            }
            from += x.cols();
        }
        if let Some(in_w) = in_w {
            let x = self.rows(parts, w.cols());
            in_w.add_product(T::ONE, g, Op::T, x, Op::N)?;
        }
        if let Some(in_b) = in_b {
            let in_b = in_b.accumulator();
            for row in g.data().chunks_exact(w.rows().max(1)) {
                sums::add_scaled(in_b, T::ONE, row);
            }
        }
        Ok(())
    }
}

impl<T: Scalar> Linear<T> {
    /// `[X_1 … X_p]`.
    fn rows<'a>(&'a self, parts: &[MatView<'a, T>], columns: usize) -> MatView<'a, T> {
        match &self.joined {
            Some(joined) => view((1, parts[0].rows(), columns), joined),
            None => parts[0],
        }
    }
}

/// Columns of a matrix, as a matrix of their own.
fn columns<T: Scalar>(
    w: MatView<'_, T>,
    from: usize,
    count: usize,
    context: &Context<'_, T>,
) -> Buffer<T> {
    let mut own = context.buffer(w.rows() * count);
    let rows = w.data().chunks_exact(w.cols().max(1));
    for (own, row) in own.chunks_exact_mut(count.max(1)).zip(rows) {
        own.copy_from_slice(&row[from..from + count]);
    }
    own
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `[X_0 X_1 …] Wᵀ + b`: a linear layer on this value and others beside it, each `1 × rows ×
    /// cols`, with weights `1 × out × Σ cols` and a bias `1 × 1 × out`.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.constant(&MatBatch::from_vec(1, 1, 2, vec![1.0, 2.0])?);
    /// let y = tape.constant(&MatBatch::from_vec(1, 1, 1, vec![3.0])?);
    /// let w = tape.parameter(&MatBatch::from_vec(1, 1, 3, vec![1.0, 10.0, 100.0])?);
    /// let b = tape.parameter(&MatBatch::from_vec(1, 1, 1, vec![0.5])?);
    /// assert_eq!(x.linear(&[y], w, b)?.item(), Some(321.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn linear(
        self,
        beside: &[Var<'t, T>],
        weights: Var<'t, T>,
        bias: Var<'t, T>,
    ) -> Result<Self> {
        let mut inputs = Few::from_slice(&[self]);
        inputs.extend_from_slice(beside);
        inputs.extend([weights, bias]);
        self.tape.apply(Linear { joined: None }, &inputs)
    }
}
