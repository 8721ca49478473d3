//! Golden files, finite differences, manifold laws and bad input, one file per subject.

mod divided_differences;
mod spd_bad_input;
mod spectral_golden;
mod spectral_gradient;
mod support;
mod vector;
