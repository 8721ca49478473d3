//! Golden files, properties and bad input, one file per subject.

mod allocation;
mod data;
mod decoder;
mod dsp;
mod metrics;
mod models;
mod precondition;
mod precondition_bad_input;
mod precondition_golden;
mod routing_stats;
mod sample_weights;
mod scaling;
mod split;
mod support;
mod tangent;
