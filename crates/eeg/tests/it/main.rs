//! Dataset files, signals, estimators and the catalogue, one file per subject. What counts its
//! allocations has a process of its own beside this.

mod catalogue_archives;
mod catalogue_fetch;
mod catalogue_recordings;
mod catalogue_tables;
mod catalogue_trouble;
mod covariances;
mod dataset;
mod filters;
mod folders;
mod identity;
mod live;
mod numbers;
mod pipeline;
mod quality;
mod resampling;
mod support;
mod synthetic;
mod trials;
