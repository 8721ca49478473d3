//! Readers, signals, estimators and the catalogue, one file per subject. What counts its allocations has a process of its own beside this.

mod catalogue_archives;
mod catalogue_fetch;
mod catalogue_recordings;
mod catalogue_tables;
mod catalogue_trouble;
mod common;
mod covariances;
mod filters;
mod io_brainvision;
mod io_defects;
mod io_detect;
mod io_edf;
mod io_eeglab;
mod io_fif;
mod io_gdf;
mod io_matlab;
mod io_numpy;
mod io_text;
mod io_xdf;
mod live;
mod numbers;
mod pipeline;
mod resampling;
mod support;
mod synthetic;
mod trials;
