//! Tangent vectors and coordinates of St(n, k).
//!
//! * Projection `Z − W sym(WᵀZ)` of `Z` to the tangent space at `W`, both `count × n × k`, a single
//!   one broadcast.
//! * Cayley parametrisation `base·cayley(A)[:, :k]`, `A = tril(X, −1)` embedded in `n × n` minus
//!   its transpose, `X` `count × n × k`, `base` `n × n` and constant.

use super::{tall_pairs, wrong_shape};
use crate::operation::{view, view_mut};
use crate::{Buffer, Forward, Gradient, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_geometry::stiefel::{
    CayleyParametrisation, cayley_parametrisation, project_keeping, project_pull_back,
};
use stiefel_linalg::Scalar;

/// Inputs `(W, Z)`.
#[derive(Debug)]
pub(crate) struct Project<T: Scalar> {
    /// `sym(WᵀZ)`.
    pub(crate) symmetric: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for Project<T> {
    fn name(&self) -> &'static str {
        "project_tangent"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        tall_pairs(inputs[0], inputs[1])
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let z = pass.inputs[1].data();
        for z_here in pass.output.data().chunks_exact_mut(z.len().max(1)) {
            z_here.copy_from_slice(z);
        }
        let (count, _, k) = pass.output.shape();
        let mut symmetric = pass.context.buffer(count * k * k);
        project_keeping(
            pass.inputs[0],
            pass.output,
            &mut view_mut((count, k, k), &mut symmetric),
        )?;
        self.symmetric = pass.context.wants_gradient().then_some(symmetric);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let (in_w, in_z) = pass.gradients.split_at_mut(1);
        let wanted = (
            in_w[0].as_mut().map(Gradient::accumulator_view),
            in_z[0].as_mut().map(Gradient::place_view),
        );
        let Some(symmetric) = &self.symmetric else {
            return Ok(());
        };
        let (count, _, k) = g.shape();
        let given = (
            pass.inputs[0],
            pass.inputs[1],
            view((count, k, k), symmetric),
        );
        Ok(project_pull_back(given, g, wanted)?)
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
        wrong_shape(
            "a base of one or count n × n matrices and coordinates n × k with k ≤ n",
            inputs,
        )
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let saved = cayley_parametrisation(pass.inputs[0], pass.inputs[1])?;
        pass.output.data().copy_from_slice(saved.w.data());
        self.saved = pass.context.wants_gradient().then_some(saved);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        if let (Some(dx), Some(saved)) = (&mut pass.gradients[1], &self.saved) {
            dx.add(saved.pull_back(pass.g)?.data());
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    /// `Z − W sym(WᵀZ)`: `z` projected to the tangent space of St(n, k) at `self`.
    #[track_caller]
    pub fn project_tangent(self, z: Var<'t, T>) -> Result<Self> {
        self.tape.apply(Project { symmetric: None }, &[self, z])
    }

    /// Points of St(n, k) from free coordinates: `self` is `X`, `base` is orthogonal `n × n` and
    /// gets no gradient.
    #[track_caller]
    pub fn cayley_parametrisation(self, base: Var<'t, T>) -> Result<Self> {
        self.tape
            .apply(Cayley { saved: None }, &[base.detach(), self])
    }
}
