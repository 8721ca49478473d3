//! Integration tests of the study crate, in one binary.

mod report;
mod stats;
mod studies;
