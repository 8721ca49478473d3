//! From a recording to clean trials: filters, resampling, references, epochs, rejection.
//!
//! The order used throughout: band-pass the continuous recording (zero phase), cut trials around
//! the cues, reject by amplitude within each domain. Data that comes already cut is filtered trial
//! by trial.

mod butterworth;
mod epoching;
mod filter;
pub(crate) mod kernel;
mod reference;
mod rejection;
mod resample;
mod sos;

pub use butterworth::{Band, MAX_ORDER};
pub use epoching::{Cut, Outside, Window, epochs};
pub(crate) use epoching::{Plan, plan, rows};
pub use filter::{
    FilterState, causal_epochs, filter, filter_zero_phase, zero_phase_epochs, zero_phase_recording,
};
pub(crate) use filter::{into_causal, into_zero_phase};
pub use reference::{rereference, rereference_epochs};
pub(crate) use rejection::peak;
pub use rejection::{
    DEFAULT_DEVIATIONS, DomainRejection, Rejection, peaks, reject_by_amplitude, reject_peaks,
};
pub use resample::{MAX_FACTOR, resample, resample_recording};
pub use sos::Sos;
