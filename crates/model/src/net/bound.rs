//! Parameters on a tape, as layers read them.

use super::Derived;
use crate::parameters::{Slot, other_network};
use crate::{Manifold, Parameters, Result};
use stiefel_autodiff::{Mark, Tape, Var};
use stiefel_linalg::Scalar;

/// Parameters on a tape, and what a network computes of them alone.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The leaves, whose gradients the optimiser takes.
    pub leaves: Vec<Mark>,
    points: Vec<Mark>,
    training: bool,
    pub(crate) derived: Derived,
}

impl Bound {
    /// Binds points that are on a tape already.
    pub(crate) fn from_points(points: Vec<Mark>) -> Self {
        Self {
            leaves: points.clone(),
            points,
            training: true,
            derived: Derived::default(),
        }
    }

    /// Puts all parameters on a tape, for training.
    pub(crate) fn training<T: Scalar>(parameters: &Parameters<T>, tape: &Tape<T>) -> Result<Self> {
        let mut bound = Self::from_points(Vec::with_capacity(parameters.len()));
        for parameter in parameters {
            let leaf = match &parameter.manifold {
                Manifold::State => tape.constant(&parameter.value),
                _ => tape.parameter(&parameter.value),
            };
            let leaf = leaf.named(parameter.name);
            let point = match &parameter.manifold {
                Manifold::Cayley { base } => leaf.cayley_parametrisation(tape.constant(base))?,
                Manifold::Euclidean | Manifold::Stiefel | Manifold::State => leaf,
            };
            bound.leaves.push(leaf.mark());
            bound.points.push(point.mark());
        }
        Ok(bound)
    }

    /// Puts all points on a tape as constants, for evaluation: nothing is recorded for a backward
    /// pass.
    pub(crate) fn frozen<T: Scalar>(parameters: &Parameters<T>, tape: &Tape<T>) -> Result<Self> {
        let mut bound = Self::from_points(Vec::with_capacity(parameters.len()));
        bound.training = false;
        for parameter in parameters {
            let point = match &parameter.manifold {
                Manifold::Cayley { .. } => tape.constant(&parameter.point()?),
                Manifold::Euclidean | Manifold::Stiefel | Manifold::State => {
                    tape.constant(&parameter.value)
                }
            };
            bound.points.push(point.named(parameter.name).mark());
        }
        Ok(bound)
    }

    /// Looks at the parameters where they stand.
    pub(crate) fn on<'t, 'p, T: Scalar>(&'p self, tape: &'t Tape<T>) -> Points<'t, 'p, T> {
        Points { tape, bound: self }
    }
}

/// Bound parameters and their tape: what layers read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Points<'t, 'p, T: Scalar> {
    tape: &'t Tape<T>,
    bound: &'p Bound,
}

impl<'t, 'p, T: Scalar> Points<'t, 'p, T> {
    /// Returns the tape.
    pub(crate) fn tape(&self) -> &'t Tape<T> {
        self.tape
    }

    /// Returns what the network computed of the parameters alone.
    pub(crate) fn derived(&self) -> &'p Derived {
        &self.bound.derived
    }

    /// Tells whether layers with running statistics take the batch in (training) or use the
    /// statistics as they stand (evaluation).
    pub(crate) fn is_training(&self) -> bool {
        self.bound.training
    }

    /// Returns the point of a parameter.
    pub(crate) fn at(&self, slot: Slot) -> Result<Var<'t, T>> {
        self.bound.points.get(slot.0).map_or_else(
            || Err(other_network("has other parameters")),
            |&mark| self.var(mark),
        )
    }

    /// Returns the matrices of one of so many views. With one view nothing is added to the tape.
    pub(crate) fn of_view(&self, slot: Slot, view: usize, views: usize) -> Result<Var<'t, T>> {
        let all = self.at(slot)?;
        if views == 1 {
            return Ok(all);
        }
        let each = all.shape().0 / views;
        let own: Vec<usize> = (view * each..(view + 1) * each).collect();
        Ok(all.gather(&own)?)
    }

    /// Returns a value that was marked when the parameters were bound.
    pub(crate) fn var(&self, mark: Mark) -> Result<Var<'t, T>> {
        let found = self.tape.marked(mark);
        found.ok_or_else(|| other_network("was bound to another tape, or to an earlier step"))
    }
}
