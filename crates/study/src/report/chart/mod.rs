//! Charts: what figures have in common, without knowing what they show.

pub(super) mod forest;
pub(super) mod lines;
pub(super) mod matrix;
pub(super) mod rows;
pub(super) mod scalp;
pub(super) mod scatter;
pub(super) mod swarm;
