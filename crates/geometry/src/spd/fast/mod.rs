//! The fast ways of the functions of [`spd`](super) over whole batches.
//!
//! | file | formula |
//! |---|---|
//! | `steps` | `A f(R X_i Rᵀ) Aᵀ`: [`chain`], [`around`], [`tangent`], [`untangent`] |
//! | `distance` | distances and inner products without eigenvectors; inverses |
//! | `point` | derivatives of functions of eigenvalues at one point, and maps made of them |
//! | `parts` | any function part by part, and weighted sums |
//!
//! A few matrices at a time go through all steps, in buffers that stay in the cache, over the
//! threads of the current rayon pool. A fast way refuses (`None`) matrices that are not symmetric,
//! not finite, not positive definite or badly conditioned; its caller then takes the careful
//! formula for the whole batch, or says what is wrong with it. Both agree to rounding, not to the
//! bit. As long as all matrices take the same way, a result depends neither on neighbours nor on
//! the number of threads.

mod distance;
mod parts;
mod point;
mod steps;
#[cfg(test)]
mod tests;

pub(super) use distance::{inner_product, mutual_riemann, of_metric, pairwise_riemann};
pub(super) use parts::{in_parts, of_range, sum_inverses, sum_spectral};
pub(super) use point::exp_map_wasserstein;
pub(super) use steps::{around, chain, tangent, untangent};

pub use distance::inverses;
pub use point::{differential, exp_map_log_euclidean, log_map_log_euclidean};
