//! The manifolds SPD(n) (symmetric positive definite matrices) and St(n, k) (matrices with
//! orthonormal columns).
//!
//! # Conventions
//! * Every function takes whole batches (`MatView`) and gives batches (`MatBatch`); a batch of one
//!   is used with every matrix of the other operand where the function says *broadcast*.
//! * What networks are made of stands beside its adjoint, `pull_back`: spectral functions, vectors,
//!   the squared affine-invariant distance, projections, retractions and the Cayley
//!   parametrisation. For `y = f(x)` and the gradient `G` of a scalar in `y`, it gives the gradient
//!   in `x`, in the ambient Euclidean space. Where `x` is symmetric, so is its gradient. Means,
//!   geodesics, transport, angles and the other distances are computed, not differentiated: they
//!   have none.
//! * `sym(A) = (A + Aᵀ)/2`, `⟨A, B⟩ = tr(AᵀB)`.
//! * The vector of a symmetric matrix is its upper triangle, row by row, off-diagonals times √2:
//!   `⟨A, B⟩ = upper(A)·upper(B)`.
//! * Everything works in `f32` and `f64`.
//!
//! ```
//! use stiefel_geometry::spd::{self, SpectralFn};
//! use stiefel_linalg::MatBatch;
//!
//! let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
//! let log = spd::spectral_map(SpectralFn::Log, x.view())?;
//! // log has the eigenvalues ln 1 and ln 3 in the same basis.
//! assert!((log.value.get(0, 0, 0) - 0.5 * 3.0_f64.ln()).abs() < 1e-15);
//! // The gradient of ⟨G, log X⟩ in X.
//! let gradient = log.pull_back(MatBatch::identity(1, 2).view())?;
//! assert!((gradient.get(0, 0, 0) - 2.0 / 3.0).abs() < 1e-15); // = X⁻¹
//!     
//! # Ok::<(), stiefel_geometry::GeometryError>(())
//! ```
//!
//! # Errors
//! A matrix that is not SPD, a NaN, an asymmetric matrix or a shape that does not fit is a
//! [`GeometryError`] that names the trial and the numbers; nothing panics on bad input.

mod batch;
mod error;
mod singular;
pub mod spd;
pub mod stiefel;
pub mod tolerance;

pub use error::{GeometryError, Result, SpdDefect};
