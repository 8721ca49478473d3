//! Readers, one file per format. What counts its allocations has a process of its own beside this.

mod brainvision;
mod common;
mod defects;
mod detect;
mod edf;
mod eeglab;
mod fif;
mod gdf;
mod matlab;
mod met;
mod numpy;
mod text;
mod xdf;
