//! Golden files, properties and bad input, one file per subject.

mod allocation;
mod batch_norm;
mod data;
mod decoder;
mod dsp;
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
mod scaling;
mod split;
mod support;
mod tangent;
mod whitening_inside;
