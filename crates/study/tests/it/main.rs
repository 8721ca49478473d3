//! Integration tests of the study crate, in one binary.

mod stats;
