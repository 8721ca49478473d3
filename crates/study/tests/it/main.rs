//! Integration tests of the study crate, in one binary.

mod logistic;
mod peers;
mod peers_bad_input;
mod report;
mod stats;
mod studies;
