//! Properties and bad input, one file per subject.

mod identity;
mod labels;
mod preparation;
mod settings;
mod split;
mod trials;
