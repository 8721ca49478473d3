//! A small reverse-mode tape over batches of matrices.

mod arena;
mod backward;
mod check;
mod error;
mod finite;
mod fused;
mod operation;
mod ops;
mod store;
mod tape;
mod var;

pub use arena::{Arena, Buffer};
pub use backward::Gradients;
pub use check::{gradient_error, gradient_error_along};
pub use error::{OpError, OpResult, Result, TapeError};
pub use fused::Covariances;
pub use operation::{Context, Gradient, Operation};
pub use ops::Axis;
pub use tape::Tape;
pub use var::Var;

/// The shape of a value: `(count, rows, cols)`.
pub type Shape = (usize, usize, usize);
