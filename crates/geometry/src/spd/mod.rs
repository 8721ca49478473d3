//! SPD(n): symmetric positive definite matrices.
//!
//! | verb | formula | function |
//! |---|---|---|
//! | spectral functions | `f(X) = U f(λ) Uᵀ` | [`spectral_map`], [`log`], [`exp`], [`sqrt`], [`inv_sqrt`], [`power`], [`reeig`], [`reeig_log`] |
//! | vectors | `⟨A, B⟩ = upper(A)·upper(B)` | [`upper`], [`from_upper`] |
//! | the check at the door | `λ_min > floor·λ_max` | [`check_spd`] |

mod check;
mod function;
mod spectral;
mod vector;

pub use check::check_spd;
pub use function::SpectralFn;
pub use spectral::{
    Spectral, apply, exp, inv_sqrt, log, power, pull_back, reeig, reeig_log, spectral_map, sqrt,
};
pub use vector::{
    from_upper, from_upper_pull_back, side_of_upper, upper, upper_len, upper_pull_back,
};

pub(crate) use check::{check_spectrum, check_symmetric};
