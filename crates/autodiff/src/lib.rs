//! A small reverse-mode tape over batches of matrices, with exact pull-backs on SPD(n) and St(n,
//! k).
//!
//! Write the forward computation; [`Tape::backward`] gives the gradient of its last number in every
//! parameter.
//!
//! # Conventions
//! * Every value is a batch `count × rows × cols`, matrix after matrix, each row-major, in `f32` or
//!   `f64`. A table with one row per sample is `1 × samples × features`; [`Var::reshape`] to
//!   `samples × 1 × features` is free.
//! * Entry-wise operations broadcast over every axis of size one; products use a single matrix with
//!   every matrix of the other operand. Reductions keep the axis with size one. Softmax, cosines
//!   and cross-entropy run over the last axis.
//! * A gradient is `∂ℓ/∂x` entry by entry in the ambient Euclidean space, in the shape of `x`; in a
//!   symmetric matrix it is symmetric. Riemannian gradients are its projections.
//! * Methods compute at once and return a [`Result`]: an error names the operation, the line that
//!   applied it and the shapes, or the matrix a kernel refused.
//! * Sums run in a fixed order: the same computation gives the same bits, on any machine thread.
//! * Numbers such as the factor of [`Var::scale`] are `f64` in either precision.
//!
//! # A layer
//! A layer is a function of [`Var`]s. Here the routing and mixing of expert filters, and the
//! spectral tail:
//!
//! ```
//! use stiefel_autodiff::{Axis, Result, Tape, Var};
//! use stiefel_linalg::{MatBatch, Scalar};
//!
//! /// α_i = softmax(q_i Eᵀ/√m), W_i = qf(W + Σ_j α_ij P_W(W_j)).
//! fn routed_filters<'t, T: Scalar>(
//!     q: Var<'t, T>,       // 1 × B × m
//!     keys: Var<'t, T>,    // 1 × K × m
//!     experts: Var<'t, T>, // K × n × k
//!     anchor: Var<'t, T>,  // 1 × n × k
//! ) -> Result<Var<'t, T>> {
//!     let m = keys.shape().2 as f64;
//!     let alpha = q
//!         .matmul_nt(keys.detach())?
//!         .scale(1.0 / m.sqrt())?
//!         .softmax()?;
//!     let delta = alpha.mix(anchor.project_tangent(experts)?)?; // B × n × k
//!     anchor.retract_qr(delta)
//! }
//!
//! /// upper(log max(WᵀXW, ε)).
//! fn spectral_tail<'t, T: Scalar>(w: Var<'t, T>, x: Var<'t, T>) -> Result<Var<'t, T>> {
//!     w.congruence(x)?.reeig_log(1e-4)?.upper()
//! }
//!
//! let mut tape = Tape::<f64>::new();
//! let experts =
//!     MatBatch::from_fn(2, 3, 2, |j, r, c| if (r + j) % 3 == c { 1.0 } else { 0.0 });
//! let trials = MatBatch::from_fn(
//!     4,
//!     3,
//!     3,
//!     |i, r, c| if r == c { 1.0 + (i + r) as f64 } else { 0.5 },
//! );
//! for epoch in 0..2 {
//!     let w = tape.parameter(&experts);
//!     let q = tape.parameter(&MatBatch::from_fn(1, 4, 2, |_, r, c| {
//!         (r as f64 - c as f64) / 2.0
//!     }));
//!     let keys = tape.parameter(&MatBatch::identity(1, 2));
//!     let filters = routed_filters(q, keys, w, w.gather(&[0])?)?;
//!     let z = spectral_tail(filters, tape.constant(&trials))?; // 4 × 1 × 3
//!     let loss = z.cross_entropy(&[0, 1, 0, 2], None)?;
//!     let gradients = tape.backward(loss)?;
//!     assert_eq!(gradients.get(w).unwrap().shape(), (2, 3, 2));
//!     assert!(gradients.get(keys).is_none()); // detached above
//!     tape.reset(); // the next step uses the same buffers
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A loss
//! A loss is a layer that ends in one number. Its gradient is tested with one line:
//!
//! ```
//! use stiefel_autodiff::{Axis, Result, Var, gradient_error};
//! use stiefel_linalg::{MatBatch, Scalar};
//!
//! /// λ·mean_i H(α_i)/log K of routing weights given by their logits, 1 × B × K.
//! fn entropy_loss<T: Scalar>(logits: Var<'_, T>, lambda: f64) -> Result<Var<'_, T>> {
//!     let log_alpha = logits.log_softmax()?; // finite where the softmax underflows
//!     let entropy = log_alpha.exp()?.mul(log_alpha)?.sum(Axis::Cols)?;
//!     let experts = logits.shape().2 as f64;
//!     entropy.mean(Axis::All)?.scale(-lambda / experts.ln())
//! }
//!
//! let logits = MatBatch::from_fn(1, 5, 3, |_, r, c| ((r * c) as f64).sin());
//! assert!(gradient_error(&[logits], |v| entropy_loss(v[0], 0.1))? < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A fused operation
//! Where a profile shows that an expression is too slow, implement [`Operation`] with its own
//! pull-back (there is an example on its page) and apply it with [`Tape::apply`]. It writes
//! straight into the tape's buffers, may save [`Buffer`]s from forward to backward, and adds
//! straight into the gradients of its inputs.
//!
//! # When a number is not finite
//! Nothing fails silently: a non-finite loss or gradient is an error of [`Tape::backward`] that
//! names the first operation (and line) whose value, or whose pull-back, was not finite, the entry,
//! and the ranges of its inputs; a kernel that refuses a NaN reports where it came from.
//! [`Var::named`] puts your names into these messages.
//!
//! # Buffers
//! All values and gradients come from an [`Arena`] that keeps one list of idle buffers per size.
//! After [`Tape::reset`] the next identical step takes them from there:
//! [`Arena::fresh_allocations`] stays constant. Maps of `stiefel_geometry` allocate
//! their own results.

mod adam;
mod alone;
mod applied;
mod arena;
mod backward;
mod check;
mod error;
mod finite;
mod fused;
mod gelu;
mod operation;
mod ops;
mod store;
mod tape;

pub use adam::{AdamRates, adam_flat, adam_tall};
pub use applied::{Applied, Kernel};
pub use arena::{Arena, Buffer};
pub use backward::Gradients;
pub use check::{gradient_error, gradient_error_along};
pub use error::{OpError, OpResult, Result, TapeError};
pub use fused::{Covariances, Filters};
pub use gelu::{gelu, gelu_with_slope};
pub use operation::{Context, Forward, Gradient, Operation, PullBack};
pub use ops::Axis;
pub use tape::{Mark, Tape, Var};

/// The shape of a value: `(count, rows, cols)`.
pub type Shape = (usize, usize, usize);
