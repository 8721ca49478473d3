//! Golden files, properties and bad input, one file per subject.

mod data;
mod dsp;
mod precondition;
mod precondition_bad_input;
mod precondition_golden;
mod support;
