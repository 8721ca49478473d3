//! What is learnt: named batches of matrices, each on its manifold.
//!
//! A network says which parameters it has ([`Parameters`]); the optimiser moves each one on its [`Manifold`]; the tape sees
//! them as leaves ([`Parameters::bind`]). Nobody else needs to know how a point stays on its manifold.

use crate::{ModelError, Result};
use stiefel_autodiff::{Tape, Var};
use stiefel_geometry::stiefel;
use stiefel_linalg::{LinalgError, MatBatch, Scalar};

/// Where a parameter lives and how it moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Manifold<T> {
    /// Any value.
    Euclidean,
    /// Orthonormal columns; moves along tangent vectors and is retracted.
    Stiefel,
    /// Orthonormal columns through free coordinates `X`: `W = B·cayley(A(X))[:, :k]` with a fixed orthogonal `B` per matrix. The value
    /// held is `X`, which moves freely.
    Cayley {
        /// `B`, one `n × n` per matrix.
        base: MatBatch<T>,
    },
    /// Not learnt: running statistics, which a training step replaces. They have no gradient.
    State,
}

/// What a network has for every view: filters, the experts of a pool, its anchor. They stand view by view in one batch of matrices.
const PER_VIEW: [&str; 3] = ["filter", "experts", "anchor"];

/// The matrices of a view, of `count` in all.
fn of_view(view: usize, views: usize, count: usize) -> Vec<usize> {
    let each = count / views.max(1);
    (view * each..(view + 1) * each).collect()
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

/// The parameters of a network, in the order in which it names them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters<T> {
    list: Vec<Parameter<T>>,
}

/// Parameters on a tape.
#[derive(Debug, Clone)]
pub struct Bound<'t, T: Scalar> {
    names: Vec<&'static str>,
    /// The leaves, whose gradients the optimiser takes.
    pub leaves: Vec<Var<'t, T>>,
    points: Vec<Var<'t, T>>,
    training: bool,
}

impl<'t, T: Scalar> Bound<'t, T> {
    /// Points that are on a tape already, by name.
    pub(crate) fn of_points(points: Vec<(&'static str, Var<'t, T>)>) -> Self {
        let (names, points): (Vec<_>, Vec<_>) = points.into_iter().unzip();
        Self {
            names,
            leaves: points.clone(),
            points,
            training: true,
        }
    }

    /// Whether layers with running statistics take the batch in (training) or use the statistics as they stand (evaluation).
    pub fn is_training(&self) -> bool {
        self.training
    }

    /// The point called `name`.
    ///
    /// # Panics
    /// If the network has no such parameter: names are constants of the code.
    pub fn get(&self, name: &'static str) -> Var<'t, T> {
        self.find(name).unwrap_or_else(|| {
            panic!(
                "there is no parameter {name}; the parameters are {:?}",
                self.names
            )
        })
    }

    /// The same with the filters of one of so many views alone; everything else is shared. With one view nothing is added to the tape.
    pub(crate) fn of_view(&self, view: usize, views: usize) -> Result<Self> {
        let mut own = self.clone();
        if views == 1 {
            return Ok(own);
        }
        for (name, point) in own.names.iter().zip(&mut own.points) {
            if PER_VIEW.contains(name) {
                *point = point.gather(&of_view(view, views, point.shape().0))?;
            }
        }
        Ok(own)
    }

    /// The point called `name`, where the network has one.
    pub fn find(&self, name: &'static str) -> Option<Var<'t, T>> {
        self.names
            .iter()
            .position(|n| *n == name)
            .map(|at| self.points[at])
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

    /// The same with the filters of one of so many views alone, as points; for decisions, not for training.
    pub(crate) fn of_view(&self, view: usize, views: usize) -> Result<Self> {
        let one = |parameter: &Parameter<T>| -> Result<Parameter<T>> {
            if views == 1 || !PER_VIEW.contains(&parameter.name) {
                return Ok(parameter.clone());
            }
            let all = parameter.point()?;
            let own = all.select(&of_view(view, views, all.count()));
            Ok(Parameter::stiefel(parameter.name, own))
        };
        let list: Result<Vec<_>> = self.list.iter().map(one).collect();
        Ok(Self { list: list? })
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
            let state = (self.list.iter_mut())
                .find(|p| p.name == update.name && p.manifold == Manifold::State);
            let Some(state) = state else {
                return Err(ModelError::UnknownName {
                    what: "running statistic",
                    found: update.name.into(),
                    known: self.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
                });
            };
            for (i, &row) in update.rows.iter().enumerate() {
                let (count, rows, cols) = state.value.shape();
                if (rows, cols) != (update.values.rows(), update.values.cols()) {
                    return Err(LinalgError::Shape {
                        op: "running statistics",
                        expected: format!("{rows} × {cols} values of {}", update.name),
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

    /// Puts all parameters on a tape, for training.
    pub fn bind<'t>(&self, tape: &'t Tape<T>) -> Result<Bound<'t, T>> {
        let mut bound = Bound {
            names: Vec::new(),
            leaves: Vec::new(),
            points: Vec::new(),
            training: true,
        };
        for parameter in &self.list {
            let leaf = match &parameter.manifold {
                Manifold::State => tape.constant(&parameter.value),
                _ => tape.parameter(&parameter.value),
            };
            let leaf = leaf.named(parameter.name);
            let point = match &parameter.manifold {
                Manifold::Cayley { base } => leaf.cayley_parametrisation(tape.constant(base))?,
                Manifold::Euclidean | Manifold::Stiefel | Manifold::State => leaf,
            };
            bound.names.push(parameter.name);
            bound.leaves.push(leaf);
            bound.points.push(point);
        }
        Ok(bound)
    }

    /// Puts all points on a tape as constants, for evaluation: nothing is recorded for a backward pass.
    pub fn bind_frozen<'t>(&self, tape: &'t Tape<T>) -> Result<Bound<'t, T>> {
        let mut bound = Bound {
            names: Vec::new(),
            leaves: Vec::new(),
            points: Vec::new(),
            training: false,
        };
        for parameter in &self.list {
            let point = match &parameter.manifold {
                Manifold::Cayley { .. } => tape.constant(&parameter.point()?),
                Manifold::Euclidean | Manifold::Stiefel | Manifold::State => {
                    tape.constant(&parameter.value)
                }
            };
            bound.names.push(parameter.name);
            bound.points.push(point.named(parameter.name));
        }
        Ok(bound)
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
    pub name: &'static str,
    /// Which of its matrices.
    pub rows: Vec<usize>,
    /// Their new values.
    pub values: MatBatch<T>,
}
