//! Norms: `‖X_i‖_F²`, rows scaled to length one, cosines.
//!
//! For a row `x` with length `s = ‖x‖`, `y = x/s` and the pull-back is `(g − ⟨g, y⟩y)/s`. A row of
//! zeros stays zero and passes no gradient.

use crate::{Axis, Buffer, Forward, OpResult, Operation, PullBack, Result, Var};
use stiefel_linalg::Scalar;

#[derive(Debug)]
struct NormaliseRows<T> {
    /// 1/s, zero for a row of zeros.
    inverse: Option<Buffer<T>>,
}

/// The length, scaled by the largest entry so that the squares neither overflow nor vanish.
fn length<T: Scalar>(x: &[T]) -> T {
    let top = x
        .iter()
        .fold(T::ZERO, |m, &v| Scalar::max(m, Scalar::abs(v)));
    if top == T::ZERO {
        // Not a plain zero: a row of NaN has no maximum either, and must stay NaN.
        return x.iter().map(|&v| v * T::ZERO).sum();
    }
    top * Scalar::sqrt(x.iter().map(|&v| (v / top) * (v / top)).sum::<T>())
}

impl<T: Scalar> Operation<T> for NormaliseRows<T> {
    fn name(&self) -> &'static str {
        "normalise_rows"
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (count, rows, cols) = pass.inputs[0].shape();
        if cols == 0 {
            return Ok(());
        }
        let mut inverse = pass.context.buffer(count * rows);
        let pairs = pass.output.data().chunks_exact_mut(cols);
        for ((y, x), inverse) in pairs
            .zip(pass.inputs[0].data().chunks_exact(cols))
            .zip(&mut *inverse)
        {
            let s = length(x);
            *inverse = if s == T::ZERO { T::ZERO } else { T::ONE / s };
            let s = if s == T::ZERO { T::ONE } else { s };
            y.iter_mut().zip(x).for_each(|(y, &x)| *y = x / s);
        }
        self.inverse = Some(inverse);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let (Some(dx), Some(inverse)) = (&mut pass.gradients[0], &self.inverse) else {
            return Ok(());
        };
        let cols = g.cols();
        let rows = dx.accumulator().chunks_exact_mut(cols).zip(&**inverse);
        let given = pass
            .output
            .data()
            .chunks_exact(cols)
            .zip(g.data().chunks_exact(cols));
        for ((dx, &inverse), (y, g)) in rows.zip(given) {
            let along: T = y.iter().zip(g).map(|(&y, &g)| y * g).sum();
            for ((d, &y), &g) in dx.iter_mut().zip(y).zip(g) {
                *d += inverse * (g - along * y);
            }
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// Every row divided by its length; a row of zeros stays zero and passes no gradient.
    #[track_caller]
    pub fn normalise_rows(self) -> Result<Self> {
        self.tape.apply(NormaliseRows { inverse: None }, &[self])
    }

    /// The cosine of the angle between matching rows, broadcast like [`mul`](Self::mul): `count ×
    /// rows × 1`; 0 where a row is zero.
    #[track_caller]
    pub fn cosine(self, other: Var<'t, T>) -> Result<Self> {
        let product = self.normalise_rows()?.mul(other.normalise_rows()?)?;
        product.sum(Axis::Cols)
    }

    /// `‖X_i‖_F²`, `count × 1 × 1`.
    #[track_caller]
    pub fn frobenius_squared(self) -> Result<Self> {
        self.square()?.sum(Axis::Matrix)
    }
}
