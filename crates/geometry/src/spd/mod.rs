//! SPD(n): symmetric positive definite matrices.
//!
//! | verb | formula | function |
//! |---|---|---|
//! | spectral functions | `f(X) = U f(λ) Uᵀ` | [`map`], [`log`], [`exp`], [`sqrt`], [`inv_sqrt`], [`power`] |
//! | their derivatives | `U (L ∘ (Uᵀ G U)) Uᵀ` | [`spectral_map`], [`apply`], [`pull_back`], [`differential`] |
//! | inverses | `X⁻¹` | [`inverses`] |
//! | vectors | `⟨A, B⟩ = upper(A)·upper(B)` | [`upper`], [`from_upper`] |
//! | tangent vectors at the identity | `upper(log X)` | [`log_vectors`] |
//! | the check at the door | `λ_min > floor·λ_max` | [`check_spd`] |
//! | distances | `‖log(A^{-1/2}BA^{-1/2})‖_F` and others | [`distance()`], [`pairwise_distances`], [`mutual_distances`] |
//! | their parts | squares with gradients, short formulas | [`squared_distance`], [`short_distance`] |
//! | the spectrum of a pair | `ln λ(A⁻¹B)` | [`pair_spectrum`] |
//! | means | `argmin Σ w_i d²(M, X_i)` | [`frechet_mean`], [`mean_euclidean`], [`mean_log_euclidean`], [`mean_cholesky`], [`mean_wasserstein`], [`mean_log_det`] |
//! | other means | close to the Fréchet mean, or between it and others | [`mean_power`], [`mean_recursive`], [`mean_joint`], [`mean_thompson`], [`masked_mean`] |
//! | medians | `argmin Σ w_i d(M, X_i)` | [`median_euclidean`], [`median_affine_invariant`] |
//! | geodesics and tangent spaces | `γ_t`, `log_M`, `exp_M` | [`geodesic`], [`log_map`], [`exp_map`], [`transport`], [`inner_product`] |
//! | geodesics of other metrics | | [`blend`], [`geodesic_cholesky`], [`geodesic_wasserstein`], [`geodesic_thompson`] |
//! | maps of other metrics | | [`log_map_log_euclidean`], [`log_map_wasserstein`], [`log_map_log_cholesky`] and their inverses |
//! | log-Cholesky coordinates | | [`to_log_cholesky`], [`from_log_cholesky`] |
//! | vectors and a Gaussian | `(xᵀC⁻¹x)^{1/2}` | [`mahalanobis()`] |
//! | the nearest SPD matrix | `U max(λ, 0) Uᵀ` | [`nearest_spd`] |
//! | recentring | `M^{-1/2}XM^{-1/2}` | [`recentre`], [`whitened_log`], [`tangent_space`] |
//! | its inverses | `M^{1/2}exp(V)M^{1/2}` | [`coloured_exp`], [`untangent_space`] |
//! | two-sided products | `E X Eᵀ` | [`sandwich`] |
//!
//! Every function takes the fast way over the batch, and a careful one for the whole batch where a
//! matrix is too badly conditioned for it. Both agree to rounding, not to the bit. Fits, and
//! decisions that must have the same bits alone and among others, are made of [`spectral_map`],
//! [`pair_spectrum`] and [`frechet_mean`].

mod check;
mod cholesky;
mod distance;
mod fast;
mod frechet;
mod function;
mod mahalanobis;
mod mean;
mod means;
mod nearest;
mod pair;
mod spectra;
mod spectral;
mod squared;
mod tangent;
mod thompson;
mod vector;
mod wasserstein;
mod whiten;

pub use check::{check_spd, check_spectrum, check_symmetric};
pub use cholesky::{
    CholeskyChart, exp_map_log_cholesky, from_log_cholesky, geodesic_cholesky,
    log_map_log_cholesky, mean_cholesky, to_log_cholesky,
};
pub use distance::{Metric, distance, mutual_distances, pairwise_distances, short_distance};
pub use fast::{differential, exp_map_log_euclidean, inverses, log_map_log_euclidean};
pub use frechet::{FrechetMean, FrechetOptions, FrechetReport, frechet_mean};
pub use function::SpectralFn;
pub use mahalanobis::mahalanobis;
pub use mean::{blend, mean_euclidean, mean_log_euclidean};
pub use means::{
    RecursiveMean, masked_mean, mean_joint, mean_log_det, mean_power, mean_recursive,
    mean_thompson, mean_wasserstein, median_affine_invariant, median_euclidean,
};
pub use nearest::nearest_spd;
pub use pair::{PairSpectrum, pair_spectrum};
pub use spectral::{
    Spectral, apply, exp, inv_sqrt, log, map, power, pull_back, spectral_map, sqrt,
};
pub use squared::{SquaredDistance, squared_distance};
pub use tangent::{
    coloured_exp, exp_map, geodesic, inner_product, log_map, recentre, sandwich, tangent_space,
    transport, untangent_space, whitened_log,
};
pub use thompson::geodesic_thompson;
pub use vector::{
    from_upper, from_upper_pull_back, log_vectors, side_of_upper, upper, upper_into, upper_len,
    upper_pull_back,
};
pub use wasserstein::{exp_map_wasserstein, geodesic_wasserstein, log_map_wasserstein};
