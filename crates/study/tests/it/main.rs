//! Integration tests of the study crate, in one binary.

mod logistic;
mod peers;
mod peers_bad_input;
mod stats;
mod studies;
