//! Golden files, finite differences, manifold laws and bad input, one file per subject.

mod divided_differences;
mod geometry_bad_input;
mod geometry_golden;
mod geometry_laws;
mod means;
mod metrics;
mod spd_bad_input;
mod spectral_golden;
mod spectral_gradient;
mod stiefel_bad_input;
mod stiefel_golden;
mod stiefel_gradient;
mod stiefel_laws;
mod support;
mod vector;
