//! The preset `recommended`: one discriminative filter for everybody and a head that is partly everybody's, partly each domain's own.
//!
//! ```text
//! filter    W (n × k): top-k eigenvectors of mean_d S_d²,  S_d = mean(X | d, class 1) − mean(X | d, class 0)
//! features  z_i = upper(log Wᵀ X_i W) − training mean                                   length p = k(k+1)/2
//! head      score_i = (w_0 + δ_d)·z_i + b,   w_0 ~ N(0, C/(1+ρ)),  δ_d ~ N(0, ρC/(1+ρ)),  b free
//! ```
//!
//! `X_i` are pre-conditioned covariances. The head is a hierarchical logistic regression: hard routing by domain, the domains' weights
//! drawn towards the shared ones. It is the same as logistic regression with inverse penalty `C` in the kernel
//! `(z·z′)(1 + ρ·1[d = d′])/(1 + ρ)`, and convex: [`HeadConfig::fit`] finds its minimum to rounding, in closed steps and without a
//! seed. `C` is chosen on the validation trials by balanced accuracy, ties by log-loss. With ρ = 0 nobody has weights of their own.
//! A domain without training trials is decided by `w_0` alone.
//!
//! Two classes have one score (that of class 1 against class 0), more have one each under a softmax.

mod bench;
mod config;
mod decide;
mod features;
mod head;
mod model;
mod newton;
mod regression;
mod unseen;

pub use crate::anchor::{discriminative_anchor, discriminative_basis};
pub(crate) use bench::Bench;
pub use config::{HeadConfig, PooledConfig};
pub use decide::HeadTrial;
pub use head::{HeadRouting, RoutedHead};
pub use model::PooledModel;

use features::Features;
