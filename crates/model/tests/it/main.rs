//! Golden files, properties and bad input, one file per subject.

mod allocation;
mod batch_norm;
mod cost;
mod csp;
mod data;
mod decoder;
mod dsp;
mod full_rank;
mod gradients;
mod metrics;
mod models;
mod pooled;
mod pooled_model;
mod precondition;
mod precondition_bad_input;
mod precondition_golden;
mod routed_head;
mod routing_stats;
mod sample_weights;
mod scaling;
mod sparse;
mod split;
mod support;
mod tangent;
mod transductive;
mod whitening_inside;
