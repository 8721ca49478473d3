//! Tangent vectors and coordinates of St(n, k).
//!
//! * Projection `Z − W sym(WᵀZ)` of `Z` to the tangent space at `W`, both `count × n × k`, a single one broadcast.
//! * Cayley parametrisation `base·cayley(A)[:, :k]`, `A = tril(X, −1)` embedded in `n × n` minus its transpose, `X` `count × n × k`, `base` `n × n` and
//!   constant.

use crate::operation::{view, view_mut};
use crate::{Buffer, Context, Gradient, OpError, OpResult, Operation, Result, Shape, Var};
use stiefel_geometry::stiefel::{
    CayleyParametrisation, cayley_parametrisation, project_keeping, project_pull_back_into,
};
use stiefel_linalg::{MatView, MatViewMut, Scalar};

/// Inputs `(W, Z)`.
#[derive(Debug)]
struct Project<T: Scalar> {
    /// `sym(WᵀZ)`.
    symmetric: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for Project<T> {
    fn name(&self) -> &'static str {
        "project_tangent"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (w, z) = (inputs[0], inputs[1]);
        let counts_fit = w.0 == z.0 || w.0 == 1 || z.0 == 1;
        if counts_fit && (w.1, w.2) == (z.1, z.2) && w.1 >= w.2 {
            return Ok((if w.0 == 1 { z.0 } else { w.0 }, w.1, w.2));
        }
        Err(OpError::Shape {
            needs: "equally sized matrices, not wider than tall, and equal counts or a count of one",
            found: inputs.to_vec(),
        })
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        context: &Context<'_, T>,
    ) -> OpResult {
        let z = inputs[1].data();
        for z_here in output.data().chunks_exact_mut(z.len().max(1)) {
            z_here.copy_from_slice(z);
        }
        let (count, _, k) = output.shape();
        let mut symmetric = context.buffer(count * k * k);
        project_keeping(
            inputs[0],
            output,
            &mut view_mut((count, k, k), &mut symmetric),
        )?;
        self.symmetric = context.wants_gradient().then_some(symmetric);
        Ok(())
    }

    fn pull_back(
        &self,
        inputs: &[MatView<'_, T>],
        _: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        _: &Context<'_, T>,
    ) -> OpResult {
        let (in_w, in_z) = gradients.split_at_mut(1);
        let wanted = (
            in_w[0].as_mut().map(Gradient::accumulator_view),
            in_z[0].as_mut().map(Gradient::place_view),
        );
        let Some(symmetric) = &self.symmetric else {
            return Ok(());
        };
        let (count, _, k) = g.shape();
        let given = (inputs[0], inputs[1], view((count, k, k), symmetric));
        Ok(project_pull_back_into(given, g, wanted)?)
    }
}

/// Inputs `(base, X)`, `base` detached.
#[derive(Debug)]
struct Cayley<T> {
    saved: Option<CayleyParametrisation<T>>,
}

impl<T: Scalar> Operation<T> for Cayley<T> {
    fn name(&self) -> &'static str {
        "cayley_parametrisation"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (base, x) = (inputs[0], inputs[1]);
        let base_fits = base.1 == x.1 && base.2 == x.1 && (base.0 == 1 || base.0 == x.0);
        if base_fits && x.1 >= x.2 {
            return Ok(x);
        }
        Err(OpError::Shape {
            needs: "a base of one or count n × n matrices and coordinates n × k with k ≤ n",
            found: inputs.to_vec(),
        })
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        context: &Context<'_, T>,
    ) -> OpResult {
        let saved = cayley_parametrisation(inputs[0], inputs[1])?;
        output.data().copy_from_slice(saved.w.data());
        self.saved = context.wants_gradient().then_some(saved);
        Ok(())
    }

    fn pull_back(
        &self,
        _: &[MatView<'_, T>],
        _: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        _: &Context<'_, T>,
    ) -> OpResult {
        if let (Some(dx), Some(saved)) = (&mut gradients[1], &self.saved) {
            dx.add(saved.pull_back(g)?.data());
        }
        Ok(())
    }
}

/// The projection by itself, inputs `(W, Z)`.
pub(crate) fn operation<T: Scalar>() -> Box<dyn Operation<T>> {
    Box::new(Project { symmetric: None })
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `Z − W sym(WᵀZ)`: `z` projected to the tangent space of St(n, k) at `self`.
    #[track_caller]
    pub fn project_tangent(self, z: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Project { symmetric: None }, &[self, z])
    }

    /// Points of St(n, k) from free coordinates: `self` is `X`, `base` is orthogonal `n × n` and gets no gradient.
    #[track_caller]
    pub fn cayley_parametrisation(self, base: Var<'t, T>) -> Result<Self> {
        self.tape
            .apply(Cayley { saved: None }, &[base.detach(), self])
    }
}
