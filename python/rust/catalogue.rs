//! Public datasets that are on this machine, from files to covariances: 8–32 Hz, the dataset's window, rejection per domain.

use crate::eeg::{eeg_error, estimator, trials_dict};
use crate::error::value_error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiefel::eeg::catalogue::{Cache, Dataset, DatasetRun, Selection, Signal, find};
use stiefel::eeg::covariance::{Covariances, Estimator, Pipeline};
use stiefel::eeg::signal::{Band, DEFAULT_DEVIATIONS, Sos, Window, reject_peaks};
use stiefel::eeg::{Epochs, TrialInfo};

/// What decoding looks at.
const BAND: Band = Band::BandPass(8.0, 32.0);

/// Labelled covariances of a dataset of the catalogue.
#[pyfunction]
pub(crate) fn dataset<'py>(
    py: Python<'py>,
    name: &str,
    subjects: Option<Vec<u16>>,
    classes: Option<Vec<String>>,
    covariance: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let estimator = estimator(covariance)?;
    let dataset = find(name).map_err(value_error)?;
    let mut selection = subjects.map_or_else(Selection::all, Selection::subjects);
    if let Some(classes) = classes {
        selection = selection.with_classes(classes);
    }
    let found = py.detach(|| covariances(dataset, &selection, estimator))?;
    trials_dict(py, stiefel::trials_of(found).map_err(value_error)?)
}

fn covariances(
    dataset: &'static Dataset,
    selection: &Selection,
    estimator: Estimator,
) -> PyResult<Covariances> {
    let cache = Cache::from_env().map_err(value_error)?;
    let window = dataset.window;
    let names: Vec<&str> = dataset.classes().iter().map(|c| c.name).collect();
    let mut pipeline = Pipeline::new(BAND, Window::new(window.start, window.end, &names));
    pipeline.estimator = estimator;
    let mut prepared = pipeline.start();
    let mut cut = Vec::new();
    for run in dataset.recordings(&cache, selection).map_err(value_error)? {
        let run = run.map_err(value_error)?;
        let (domain, number) = (run.domain(dataset.domain), run.run.to_string());
        let DatasetRun { signal, .. } = run;
        match signal {
            Signal::Recording(recording) => prepared
                .add(recording, &domain, Some(&number))
                .map_err(eeg_error)?,
            Signal::Epochs(epochs) => cut.push(filtered(epochs, dataset)?),
        }
    }
    if cut.is_empty() {
        return Ok(prepared.finish().map_err(eeg_error)?.covariances);
    }
    let epochs = Epochs::concat(&cut).map_err(eeg_error)?;
    let domains: Vec<&str> = epochs.trials().iter().map(|t| t.domain.as_str()).collect();
    let kept = reject_peaks(&epochs.peaks(), &domains, DEFAULT_DEVIATIONS)
        .map_err(eeg_error)?
        .kept;
    let epochs = epochs.select(&kept).map_err(eeg_error)?;
    Covariances::estimate(&epochs, estimator).map_err(eeg_error)
}

/// Trials filtered one by one, then cut to the dataset's window.
fn filtered(mut epochs: Epochs, dataset: &Dataset) -> PyResult<Epochs> {
    let rate = epochs.sampling_rate();
    let sos = Sos::butterworth(4, BAND, rate).map_err(eeg_error)?;
    epochs.filter_zero_phase(&sos).map_err(eeg_error)?;
    let samples = epochs.samples();
    let at = |seconds: f64| ((seconds * rate).round().max(0.0) as usize).min(samples);
    let (from, to) = (at(dataset.window.start), at(dataset.window.end));
    let data = (0..epochs.trials().len())
        .flat_map(|i| epochs.trial(i).chunks_exact(samples))
        .flat_map(|row| row[from..to].iter().copied())
        .collect();
    let trials: Vec<TrialInfo> = epochs.trials().to_vec();
    Epochs::new(epochs.channels().to_vec(), rate, to - from, data, trials).map_err(eeg_error)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dataset, module)?)
}
