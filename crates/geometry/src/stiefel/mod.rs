//! St(n, k): `n × k` matrices with orthonormal columns, `WᵀW = I`.
//!
//! | verb | formula | function |
//! |---|---|---|
//! | project to the tangent space at W | `Z − W sym(WᵀZ)` | [`project()`] |
//! | retract by QR | `qf(W + Δ)`, positive diagonal of R | [`retract_qr`] |
//! | retract by the polar factor | `(W + Δ)(I + ΔᵀΔ)^{-1/2}` | [`retract_polar`] |
//! | orthonormalise | `qf(A)`, `A(AᵀA)^{-1/2}` | [`orthonormal_factor`], [`polar_factor`] |
//! | parametrise | `base·cayley(A)[:, :k]` | [`cayley_parametrisation`] |
//! | draw uniformly | `qf` of a Gaussian matrix | [`random_points`] |
//! | compare subspaces | `arccos σ(VᵀW)` | [`principal_angles`], [`mean_pairwise_angle`] |
//! | average | `qf(W_1 + Σ_j w_j P_{W_1}(W_j))` | [`barycenter`] |
//! | measure the drift | `max|WᵀW − I|` | [`orthonormality_defect`] |

mod angles;
mod cayley;
mod point;
mod polar;
mod project;
mod qr;

pub use angles::{mean_pairwise_angle, principal_angles};
pub use cayley::{CayleyParametrisation, cayley_parametrisation};
pub use point::{barycenter, check_orthonormal, orthonormality_defect, random_points};
pub use polar::{PolarFactor, polar_factor, retract_polar};
pub use project::{project, project_in_place, project_keeping, project_pull_back};
pub use qr::{OrthonormalFactor, orthonormal_factor, retract_qr};
