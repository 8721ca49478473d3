//! Recordings, epochs, covariances and synthetic studies for Python.

use crate::array::give;
use crate::error::{eeg_error, value_error};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use stiefel::data::{DataError, Estimator, Factor, Preparation, Trials};
use stiefel::eeg::io::{Content, ReadOptions, Source, read_with};
use stiefel::eeg::recipe::{Input, Inputs, Recipe, read_options, run};
use stiefel::eeg::select::{Selection, without_repeats};
use stiefel::eeg::{Channel, ChannelKind, Epochs, Recording, TrialInfo};
use stiefel::eeg::{covariance, load};

pub(crate) fn estimator(name: &str) -> PyResult<Estimator> {
    name.parse().map_err(|error: DataError| value_error(error))
}

/// Covariances of trials `trials × channels × samples`.
#[pyfunction]
fn covariances<'py>(
    py: Python<'py>,
    epochs: PyReadonlyArray3<'py, f64>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let estimator = estimator(name)?;
    let view = crate::array::view(&epochs)?;
    let (count, n, samples) = view.shape();
    let found = py.detach(|| {
        let channel = |i: usize| Channel {
            name: i.to_string(),
            kind: ChannelKind::Eeg,
            unit: "µV".into(),
        };
        let info = TrialInfo {
            label: String::new(),
            domain: String::new(),
            run: None,
        };
        let channels = (0..n).map(channel).collect();
        let epochs = Epochs::new(
            channels,
            1.0,
            samples,
            view.data().to_vec(),
            vec![info; count],
        )?;
        covariance::covariances(&epochs, estimator)
    });
    give(py, found.map_err(eeg_error)?.covariances().clone())
}

/// How a file is to be read.
fn options(
    partial: bool,
    sfreq: Option<f64>,
    markers: Option<&str>,
    mat: Option<&str>,
    stream: Option<String>,
    channels: Option<Vec<String>>,
    max_expanded: Option<u64>,
) -> PyResult<ReadOptions> {
    let input = Input {
        partial,
        sampling_rate: sfreq,
        markers: markers.map(str::to_owned),
        mat: mat.map(str::to_owned),
        stream,
        max_expanded,
        ..Input::default()
    };
    let options = read_options(&input).map_err(eeg_error)?;
    Ok(ReadOptions {
        channels,
        ..options
    })
}

/// The recordings of a file, each a dictionary; with names of channels, these alone, in their
/// order.
#[pyfunction]
#[pyo3(signature = (path, partial=false, sfreq=None, markers=None, mat=None, stream=None, channels=None, max_expanded=None))]
fn read_recordings<'py>(
    py: Python<'py>,
    path: PathBuf,
    partial: bool,
    sfreq: Option<f64>,
    markers: Option<&str>,
    mat: Option<&str>,
    stream: Option<String>,
    channels: Option<Vec<String>>,
    max_expanded: Option<u64>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let options = options(partial, sfreq, markers, mat, stream, channels, max_expanded)?;
    let found = py.detach(|| read_with(Source::open(&path)?, &options));
    match found.map_err(eeg_error)? {
        Content::Recordings(all) => {
            let picked = |r: Recording| match &options.channels {
                Some(names) if !r.channels().iter().map(|c| &c.name).eq(names) => r.pick(names),
                _ => Ok(r),
            };
            let one = |r: Recording| recording(py, picked(r).map_err(eeg_error)?);
            all.into_iter().map(one).collect()
        }
        Content::Epochs(epochs) => Err(value_error(format!(
            "{} holds {} epochs of {} s, not a continuous recording; load_dataset reads them as \
             trials, mne.read_epochs or mne.read_epochs_eeglab as signals for from_epochs",
            path.display(),
            epochs.trials().len(),
            epochs.samples() as f64 / epochs.sampling_rate()
        ))),
        Content::Trials(_) => Err(value_error(format!(
            "{} holds covariances, not a continuous recording; read it with load_dataset",
            path.display()
        ))),
    }
}

/// A recording as a dictionary; its samples become the array's, without a copy.
fn recording(py: Python<'_>, r: Recording) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("sfreq", r.sampling_rate())?;
    let names: Vec<&str> = r.channels().iter().map(|c| c.name.as_str()).collect();
    let kinds: Vec<&str> = r.channels().iter().map(|c| kind(c.kind)).collect();
    let units: Vec<&str> = r.channels().iter().map(|c| c.unit.as_str()).collect();
    out.set_item("ch_names", names)?;
    out.set_item("ch_types", kinds)?;
    out.set_item("units", units)?;
    let events: Vec<(usize, f64, f64, &str)> = (r.events().iter())
        .map(|e| (e.sample, e.onset, e.duration, e.label.as_str()))
        .collect();
    out.set_item("events", events)?;
    out.set_item("notes", r.notes().to_vec())?;
    out.set_item("started", r.started())?;
    let (n, samples) = (r.channels().len(), r.samples());
    let flat = PyArray1::from_vec(py, r.into_data());
    out.set_item("data", flat.reshape([n, samples])?)?;
    Ok(out)
}

/// MNE's name of a kind of channel.
fn kind(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Eeg => "eeg",
        ChannelKind::Eog => "eog",
        ChannelKind::Emg => "emg",
        ChannelKind::Ecg => "ecg",
        ChannelKind::Stim => "stim",
        _ => "misc",
    }
}

/// How covariances were made, as JSON and in words.
pub(crate) fn prepared(preparation: &Preparation) -> PyResult<(String, String)> {
    let json = serde_json::to_string(preparation).map_err(value_error)?;
    Ok((json, preparation.to_string()))
}

/// Trials as a dictionary of covariances, labels, domains, runs and channel names.
pub(crate) fn trials_dict(py: Python<'_>, trials: Trials) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    let names =
        |f: &Factor| -> Vec<String> { (0..f.len()).map(|i| f.label(i).to_owned()).collect() };
    out.set_item("preparation", prepared(trials.preparation())?)?;
    out.set_item("subjects", names(&trials.subjects()))?;
    out.set_item("sessions", trials.sessions().as_ref().map(names))?;
    out.set_item("y", names(trials.classes()))?;
    out.set_item("domains", names(trials.domains()))?;
    out.set_item("runs", trials.runs().map(names))?;
    out.set_item("channels", trials.channels().map(<[String]>::to_vec))?;
    let x = give(py, crate::array::together(&trials)?)?;
    let x = match trials.views() {
        1 => x,
        views => {
            let (count, n) = (trials.len(), trials.channels_count());
            x.call_method1("reshape", ((count, views, n, n),))?
        }
    };
    out.set_item("identity", crate::labelled::identity(&trials)?)?;
    out.set_item("x", x)?;
    Ok(out)
}

/// Trials of a source by name: a synthetic study, or a dataset file.
#[pyfunction]
fn load_source<'py>(py: Python<'py>, source: &str) -> PyResult<Bound<'py, PyDict>> {
    let trials = py.detach(|| load(source, &Selection::default()));
    trials_dict(py, trials.map_err(eeg_error)?)
}

/// Labelled trials of a public dataset, prepared as the program does.
#[pyfunction]
fn dataset<'py>(
    py: Python<'py>,
    name: &str,
    subjects: Option<String>,
    classes: Option<Vec<String>>,
    estimator_name: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let classes = classes.unwrap_or_default();
    let mut recipe = Recipe {
        classes: classes.into_iter().map(|c| (c.clone(), c)).collect(),
        estimator: estimator(estimator_name)?,
        ..Recipe::default()
    };
    let input = Input {
        subjects,
        ..Input::default()
    };
    stiefel::eeg::catalogue::find(name).map_err(value_error)?;
    let made = py.detach(|| {
        let mut inputs = Inputs::open(&[name.to_owned()], &input, &recipe)?;
        recipe.views = inputs.views(None, None, "broad")?;
        run(&recipe, inputs, &mut |_| {})
    });
    trials_dict(py, made.map_err(eeg_error)?.0)
}

/// The covariances, or the epochs, of a file of trials.
#[pyfunction]
#[pyo3(signature = (path, name, sfreq=None, mat=None))]
fn read_trials<'py>(
    py: Python<'py>,
    path: PathBuf,
    name: &str,
    sfreq: Option<f64>,
    mat: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let estimator = estimator(name)?;
    let options = options(false, sfreq, None, mat, None, None, None)?;
    let read = || read_with(Source::open(&path)?, &options);
    let trials = py.detach(|| match read().map_err(eeg_error)? {
        Content::Trials(trials) => {
            let refuse = stiefel::data::Duplicates::Refuse;
            without_repeats(trials, refuse).map_err(eeg_error)
        }
        Content::Epochs(epochs) => covariance::covariances(&epochs, estimator).map_err(eeg_error),
        Content::Recordings(_) => Err(value_error(format!(
            "{} holds a continuous recording, not trials; read it with read_raw",
            path.display()
        ))),
    })?;
    trials_dict(py, trials)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(covariances, module)?)?;
    module.add_function(wrap_pyfunction!(read_recordings, module)?)?;
    module.add_function(wrap_pyfunction!(read_trials, module)?)?;
    module.add_function(wrap_pyfunction!(load_source, module)?)?;
    module.add_function(wrap_pyfunction!(dataset, module)?)
}
