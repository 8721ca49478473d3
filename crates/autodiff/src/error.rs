//! What can go wrong: the operation, where it was written down, and the numbers.
//!
//! An operation reports an [`OpError`]; the tape adds the operation's name and the line of the
//! forward expression and returns a [`TapeError`].

use crate::Shape;
use std::panic::Location;
use stiefel_geometry::GeometryError;
use stiefel_linalg::LinalgError;

/// The result of every fallible method of this crate.
pub type Result<T> = std::result::Result<T, TapeError>;

/// The result of an operation's own methods.
pub type OpResult<T = ()> = std::result::Result<T, OpError>;

/// What an [`Operation`](crate::Operation) reports about its inputs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// Shapes that do not fit the operation or one another.
    #[error("needs {needs}, found {}", shapes(found))]
    Shape {
        /// What the operation needs.
        needs: &'static str,
        /// The shapes of all inputs, `(count, rows, cols)`.
        found: Vec<Shape>,
    },
    /// An index (a label, a row of an embedding) beyond the end.
    #[error("{what} {index} at position {position} is out of range: there are {bound}")]
    Index {
        /// What the index selects.
        what: &'static str,
        /// Its zero-based place in the list of indices.
        position: usize,
        /// The index.
        index: usize,
        /// The number of things to choose from.
        bound: usize,
    },
    /// A list whose length does not belong to the shape.
    #[error("needs {expected} {what}, found {found}")]
    Length {
        /// What is listed.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A constant argument outside its range.
    #[error("{what} is {value}, must be {needs}")]
    Argument {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        needs: &'static str,
    },
    /// An error of a kernel; it names the matrix of the batch.
    #[error(transparent)]
    Kernel(#[from] LinalgError),
    /// An error of a map on a manifold; it names the matrix of the batch.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

/// An error of the tape. Matrices, rows and columns are counted from zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// An operation refused its inputs.
    #[error("{op} ({at}): {source}")]
    Operation {
        /// The operation.
        op: &'static str,
        /// Where the forward expression applies it.
        at: &'static Location<'static>,
        /// What was wrong.
        source: OpError,
    },
    /// A variable of another tape among the inputs.
    #[error(
        "{op} ({at}): input {input} belongs to another tape; build the whole expression on one \
         tape"
    )]
    OtherTape {
        /// The operation.
        op: &'static str,
        /// Where it is applied.
        at: &'static Location<'static>,
        /// Which input, from zero.
        input: usize,
    },
    /// `backward` from something that is not one number.
    #[error("backward: the loss must be 1 × 1 × 1, found {shape:?}; reduce it with sum or mean")]
    LossNotScalar {
        /// The shape found.
        shape: Shape,
    },
    /// `backward` from a loss that depends on no parameter.
    #[error(
        "backward: the loss depends on no parameter (all its leaves are constants or detached)"
    )]
    NoParameter,
    /// The operation in which a value stopped being finite.
    #[error(
        "{op}{} ({at}) is the first to produce a non-finite value: {value} in matrix {matrix}, row {row}, column {col}; {inputs}", named(*label)
    )]
    NotFinite {
        /// The operation, or `parameter` or `constant`.
        op: &'static str,
        /// The name given with [`Var::named`](crate::Var::named), if any.
        label: Option<&'static str>,
        /// Where it is applied.
        at: &'static Location<'static>,
        /// Which matrix of its value.
        matrix: usize,
        /// Which row.
        row: usize,
        /// Which column.
        col: usize,
        /// NaN or an infinity.
        value: f64,
        /// Its inputs with their ranges.
        inputs: String,
    },
    /// The pull-back in which a gradient stopped being finite, though the loss is.
    #[error(
        "the pull-back of {op}{} ({at}) is the first to produce a non-finite gradient: {value} for its input {input}, matrix {matrix}, row {row}, column {col}; {inputs}", named(*label)
    )]
    GradientNotFinite {
        /// The operation.
        op: &'static str,
        /// The name given with [`Var::named`](crate::Var::named), if any.
        label: Option<&'static str>,
        /// Where it is applied.
        at: &'static Location<'static>,
        /// For which of its inputs.
        input: usize,
        /// Which matrix of the gradient.
        matrix: usize,
        /// Which row.
        row: usize,
        /// Which column.
        col: usize,
        /// NaN or an infinity.
        value: f64,
        /// Its inputs with their ranges.
        inputs: String,
    },
}

fn shapes(found: &[Shape]) -> String {
    let each: Vec<String> = found
        .iter()
        .map(|(b, r, c)| format!("{b} × {r} × {c}"))
        .collect();
    each.join(" and ")
}

fn named(label: Option<&'static str>) -> String {
    label.map_or_else(String::new, |l| format!(" \"{l}\""))
}
