//! Recordings, epochs, covariances and synthetic studies for Python.

use crate::array::give;
use crate::error::{eeg_error, value_error};
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use stiefel::data::{Estimator, Factor, Preparation, Trials};
use stiefel::eeg::io::{Content, read};
use stiefel::eeg::prepare::{PrepareOptions, prepare};
use stiefel::eeg::select::DataChoice;
use stiefel::eeg::{Channel, ChannelKind, Epochs, Recording, TrialInfo};
use stiefel::eeg::{covariance, load};
use stiefel::linalg::MatBatch;

pub(crate) fn estimator(name: &str) -> PyResult<Estimator> {
    Ok(match name {
        "scm" | "cov" => Estimator::Sample,
        "lwf" => Estimator::LedoitWolf,
        "oas" => Estimator::Oas,
        "sch" => Estimator::SchaeferStrimmer,
        _ => {
            return Err(value_error(format!(
                "unknown covariance estimator {name:?}; one of 'scm', 'lwf', 'oas', 'sch'"
            )));
        }
    })
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

/// The recordings of a file, each a dictionary.
#[pyfunction]
fn read_recordings(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Bound<'_, PyDict>>> {
    match py.detach(|| read(&path)).map_err(eeg_error)? {
        Content::Recordings(all) => all.into_iter().map(|r| recording(py, &r)).collect(),
        _ => Err(value_error(format!(
            "{} holds trials, not a continuous recording; read it with load_dataset",
            path.display()
        ))),
    }
}

fn recording<'py>(py: Python<'py>, r: &Recording) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let (n, samples) = (r.channels().len(), r.samples());
    let data = MatBatch::from_vec(1, n, samples, r.data().to_vec()).map_err(value_error)?;
    out.set_item("data", give(py, data)?)?;
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
    out.set_item("x", give(py, trials.covariances().clone())?)?;
    Ok(out)
}

/// Trials of a source by name: a synthetic study, or a dataset file.
#[pyfunction]
fn load_source<'py>(py: Python<'py>, source: &str) -> PyResult<Bound<'py, PyDict>> {
    let trials = py.detach(|| load(source, &DataChoice::default()));
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
    let options = PrepareOptions {
        subjects,
        classes: classes.into_iter().map(|c| (c.clone(), c)).collect(),
        estimator: estimator(estimator_name)?,
        ..PrepareOptions::default()
    };
    stiefel::eeg::catalogue::find(name).map_err(value_error)?;
    let made = py.detach(|| prepare(&[name.to_owned()], &options, &mut |_| {}));
    trials_dict(py, made.map_err(eeg_error)?.0)
}

/// The covariances, or the epochs, of a file of trials.
#[pyfunction]
fn read_trials<'py>(py: Python<'py>, path: PathBuf, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let estimator = estimator(name)?;
    let trials = py.detach(|| match read(&path).map_err(eeg_error)? {
        Content::Trials(trials) => Ok(trials),
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
