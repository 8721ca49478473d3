//! SPD(n): symmetric positive definite matrices.
//!
//! | verb | formula | function |
//! |---|---|---|
//! | spectral functions | `f(X) = U f(λ) Uᵀ` | [`spectral_map`], [`log`], [`exp`], [`sqrt`], [`inv_sqrt`], [`power`], [`reeig`], [`reeig_log`] |
//! | vectors | `⟨A, B⟩ = upper(A)·upper(B)` | [`upper`], [`from_upper`] |
//! | the check at the door | `λ_min > floor·λ_max` | [`check_spd`] |
//! | distances | `‖log(A^{-1/2}BA^{-1/2})‖_F` and others | [`distance()`], [`pairwise_distances`], [`mutual_distances`], [`squared_distance`] |
//! | means | `argmin Σ w_i d²(M, X_i)` | [`frechet_mean`], [`mean_euclidean`], [`mean_log_euclidean`] |
//! | geodesics and tangent spaces | `γ_t`, `log_M`, `exp_M` | [`geodesic`], [`log_map`], [`exp_map`], [`transport`], [`inner_product`] |
//! | recentring | `M^{-1/2}XM^{-1/2}` | [`recentre`], [`tangent_space`], [`untangent_space`] |
//! | whole stacks, fast | the same | [`stacks`] |

mod check;
mod distance;
mod frechet;
mod function;
mod mean;
mod spectra;
mod spectral;
pub mod stacks;
mod tangent;
mod vector;
mod whiten;

pub use check::{check_spd, check_spectrum, check_symmetric};
pub use distance::{
    Metric, SquaredDistance, distance, mutual_distances, pairwise_distances, squared_distance,
};
pub use frechet::{FrechetMean, FrechetOptions, FrechetReport, frechet_mean};
pub use function::SpectralFn;
pub use mean::{mean_euclidean, mean_log_euclidean};
pub use spectral::{
    Spectral, apply, exp, inv_sqrt, log, power, pull_back, reeig, reeig_log, spectral_map, sqrt,
};
pub use tangent::{
    exp_map, geodesic, inner_product, log_map, recentre, tangent_space, transport, untangent_space,
};
pub use vector::{
    from_upper, from_upper_pull_back, side_of_upper, upper, upper_into, upper_len, upper_pull_back,
};
