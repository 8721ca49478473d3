//! What a network learns, said once: name, shape, first value and manifold of every parameter.
//!
//! A layer declares its parameters in a [`Layout`] and keeps their [`Slot`]s; values, tapes, files
//! and optimisers follow the order of the layout.

use crate::parameters::Slot;
use crate::{Manifold, Parameter, Parameters, random};
use stiefel_autodiff::Shape;
use stiefel_linalg::{MatBatch, Scalar};

/// The first value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Initial {
    /// Standard normal entries.
    Normal,
    /// Uniform entries in ±1/√fan_in.
    Uniform {
        fan_in: usize,
    },
    /// Uniform points of St(n, k).
    Orthonormal,
    Zeros,
    Ones,
    Identity,
}

/// Where a parameter lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Euclidean,
    Stiefel,
    Cayley,
    State,
}

/// One parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) initial: Initial,
    pub(super) space: Space,
}

/// The parameters of a network, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout(Vec<Spec>);

impl Layout {
    /// Declares a parameter.
    pub(super) fn add(&mut self, spec: Spec) -> Slot {
        self.0.push(spec);
        Slot(self.0.len() - 1)
    }

    /// Declares a free parameter.
    pub(super) fn free(&mut self, name: &'static str, shape: Shape, initial: Initial) -> Slot {
        let space = Space::Euclidean;
        self.add(Spec {
            name,
            shape,
            initial,
            space,
        })
    }

    /// Counts the parameters declared so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Lists the parameters.
    pub(super) fn specs(&self) -> &[Spec] {
        &self.0
    }

    /// Returns fresh values from a seed.
    pub(super) fn initial<T: Scalar>(&self, seed: u64) -> Parameters<T> {
        Parameters::new(self.0.iter().map(|spec| spec.draw(seed)).collect())
    }
}

impl Spec {
    fn draw<T: Scalar>(&self, seed: u64) -> Parameter<T> {
        let (name, (count, n, k)) = (self.name, self.shape);
        let fill = |x| MatBatch::from_fn(count, n, k, |_, _, _| x);
        let value = match (self.space, self.initial) {
            (Space::Cayley, _) | (_, Initial::Zeros) => fill(T::ZERO),
            (_, Initial::Ones) => fill(T::ONE),
            (_, Initial::Identity) => MatBatch::identity(count, n),
            (_, Initial::Normal) => random::gaussian(seed, name, self.shape),
            (_, Initial::Uniform { fan_in }) => random::linear(seed, name, (n, k), fan_in),
            (_, Initial::Orthonormal) => random::points(seed, name, count, n, k).cast(),
        };
        let manifold = match self.space {
            Space::Euclidean => Manifold::Euclidean,
            Space::Stiefel => Manifold::Stiefel,
            Space::State => Manifold::State,
            Space::Cayley => Manifold::Cayley {
                base: random::points(seed, name, count, n, n).cast(),
            },
        };
        Parameter {
            name,
            value,
            manifold,
        }
    }
}
