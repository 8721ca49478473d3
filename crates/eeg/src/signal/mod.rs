//! From a recording to clean trials: filters, resampling, references, epochs, rejection.
//!
//! The order used throughout: band-pass the continuous recording (zero phase), cut trials around the
//! cues, reject by amplitude within each domain. Data that comes already cut is filtered trial by trial.

mod butterworth;
mod epoching;
mod filter;
pub(crate) mod kernel;
mod reference;
mod rejection;
mod resample;
mod sos;

pub use butterworth::{Band, MAX_ORDER};
pub(crate) use epoching::Plan;
pub use epoching::{Cut, Outside, Window};
pub use filter::{FilterState, filter, filter_zero_phase};
pub use reference::Reference;
pub(crate) use rejection::peak;
pub use rejection::{DEFAULT_DEVIATIONS, DomainRejection, Rejection, reject_peaks};
pub use resample::{MAX_FACTOR, resample};
pub use sos::Sos;
