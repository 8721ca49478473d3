//! What is learnt: named batches of matrices, each on its manifold.
//!
//! A network says which parameters it has ([`Parameters`]); the optimiser moves each one on its
//! [`Manifold`]; the tape sees them as leaves ([`Network::bind`](crate::net::Network::bind)).
//! Nobody else needs to know how a point stays on its manifold.

use crate::{ModelError, Result};
use stiefel_geometry::stiefel;
use stiefel_linalg::{LinalgError, MatBatch, Scalar};

/// Where a parameter lives and how it moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Manifold<T> {
    /// Any value.
    Euclidean,
    /// Orthonormal columns; moves along tangent vectors and is retracted.
    Stiefel,
    /// Orthonormal columns through free coordinates `X`: `W = B·cayley(A(X))[:, :k]` with a fixed
    /// orthogonal `B` per matrix. The value held is `X`, which moves freely.
    Cayley {
        /// `B`, one `n × n` per matrix.
        base: MatBatch<T>,
    },
    /// Not learnt: running statistics, which a training step replaces. They have no gradient.
    State,
}

/// A named parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter<T> {
    /// Its name, unique within the network.
    pub name: &'static str,
    /// Its coordinates: the point itself, or `X` under [`Manifold::Cayley`].
    pub value: MatBatch<T>,
    /// Where it lives.
    pub manifold: Manifold<T>,
}

impl<T: Scalar> Parameter<T> {
    /// A free parameter.
    pub fn euclidean(name: &'static str, value: MatBatch<T>) -> Self {
        Self {
            name,
            value,
            manifold: Manifold::Euclidean,
        }
    }

    /// Points with orthonormal columns.
    pub fn stiefel(name: &'static str, value: MatBatch<T>) -> Self {
        Self {
            name,
            value,
            manifold: Manifold::Stiefel,
        }
    }

    /// Running statistics.
    pub fn state(name: &'static str, value: MatBatch<T>) -> Self {
        Self {
            name,
            value,
            manifold: Manifold::State,
        }
    }

    /// The point itself, whatever the coordinates.
    pub fn point(&self) -> Result<MatBatch<T>> {
        match &self.manifold {
            Manifold::Cayley { base } => {
                Ok(stiefel::cayley_parametrisation(base.view(), self.value.view())?.w)
            }
            Manifold::Euclidean | Manifold::Stiefel | Manifold::State => Ok(self.value.clone()),
        }
    }

    /// Whether the point has orthonormal columns.
    pub fn is_orthonormal(&self) -> bool {
        matches!(self.manifold, Manifold::Stiefel | Manifold::Cayley { .. })
    }
}

/// The place of a parameter among those of its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) usize);

/// The parameters of a network, in the order in which it names them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters<T> {
    list: Vec<Parameter<T>>,
}

pub(crate) fn other_network(why: &str) -> ModelError {
    ModelError::Impossible {
        op: "network",
        why: format!("what is bound {why}"),
        remedy: "bind the parameters of this network to this tape",
    }
}

impl<T: Scalar> Parameters<T> {
    /// From a list with distinct names.
    pub fn new(list: Vec<Parameter<T>>) -> Self {
        debug_assert!(
            list.iter()
                .enumerate()
                .all(|(i, p)| list[..i].iter().all(|q| q.name != p.name)),
            "names are distinct"
        );
        Self { list }
    }

    /// All of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Parameter<T>> {
        self.list.iter()
    }

    /// All of them, to be moved.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Parameter<T>> {
        self.list.iter_mut()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many numbers are learnt; running statistics do not count.
    pub fn size(&self) -> usize {
        let learnt = self.iter().filter(|p| p.manifold != Manifold::State);
        learnt.map(|p| p.value.data().len()).sum()
    }

    /// The one called `name`.
    pub fn get(&self, name: &str) -> Option<&Parameter<T>> {
        self.iter().find(|p| p.name == name)
    }

    /// Replaces the coordinates of `name` by others of the same shape.
    pub fn set(&mut self, name: &str, value: MatBatch<T>) -> Result<()> {
        let known = self.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let Some(parameter) = self.list.iter_mut().find(|p| p.name == name) else {
            let what = "parameter";
            return Err(ModelError::UnknownName {
                what,
                found: name.into(),
                known,
            });
        };
        if parameter.value.shape() != value.shape() {
            return Err(ModelError::Impossible {
                op: "set parameter",
                why: format!(
                    "\"{name}\" has shape {:?}, not {:?}",
                    parameter.value.shape(),
                    value.shape()
                ),
                remedy: "give values of the same shape",
            });
        }
        parameter.value = value;
        Ok(())
    }

    /// Replaces rows of running statistics.
    pub fn update(&mut self, updates: &[StateUpdate<T>]) -> Result<()> {
        for update in updates {
            let state = self.list.get_mut(update.slot.0);
            let Some(state) = state.filter(|p| p.manifold == Manifold::State) else {
                return Err(other_network("has no such running statistic"));
            };
            for (i, &row) in update.rows.iter().enumerate() {
                let (count, rows, cols) = state.value.shape();
                if (rows, cols) != (update.values.rows(), update.values.cols()) {
                    return Err(LinalgError::Shape {
                        op: "running statistics",
                        expected: format!("{rows} × {cols} values of {}", state.name),
                        found: format!("{} × {}", update.values.rows(), update.values.cols()),
                    }
                    .into());
                }
                if row >= count {
                    return Err(ModelError::NoSuchDomain {
                        op: "running statistics",
                        domain: row,
                        count,
                    });
                }
                let to = state.value.matrix_mut(row);
                to.copy_from_slice(update.values.matrix(i));
            }
        }
        Ok(())
    }

    /// Returns the value of a parameter by its place.
    pub(crate) fn at(&self, slot: Slot) -> Option<&Parameter<T>> {
        self.list.get(slot.0)
    }

    /// Returns a parameter by its place, to be moved.
    pub(crate) fn at_mut(&mut self, slot: Slot) -> Option<&mut Parameter<T>> {
        self.list.get_mut(slot.0)
    }
}

impl<'a, T> IntoIterator for &'a Parameters<T> {
    type Item = &'a Parameter<T>;
    type IntoIter = std::slice::Iter<'a, Parameter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Parameters<T> {
    type Item = &'a mut Parameter<T>;
    type IntoIter = std::slice::IterMut<'a, Parameter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter_mut()
    }
}

/// New rows of a state, after a training step.
#[derive(Debug, Clone)]
pub struct StateUpdate<T> {
    /// Which state.
    pub(crate) slot: Slot,
    /// Which of its matrices.
    pub(crate) rows: Vec<usize>,
    /// Their new values.
    pub(crate) values: MatBatch<T>,
}
