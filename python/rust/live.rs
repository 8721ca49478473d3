//! Live decoding for Python: `stiefel._core.LiveSession`, the state machine of the library.

use crate::error::{eeg_error, model_error, value_error};
use crate::model::{PyModel, policies};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use stiefel::live::{At, Block, Lines, LiveError, Marker, Options, Session, StreamSpec};

/// A model at work on a stream.
#[pyclass(module = "stiefel._core", name = "LiveSession", frozen)]
pub(crate) struct PyLive {
    work: Mutex<Work>,
    notes: Vec<String>,
}

struct Work {
    session: Session,
    lines: Lines,
    block: Block,
}

/// A marker: its sample or its time, and its label.
type Marked = (Option<i64>, Option<f64>, String);

fn live_error(error: LiveError) -> PyErr {
    match error {
        LiveError::Model(error) => model_error(error),
        LiveError::Eeg(error) => eeg_error(error),
        other => value_error(other),
    }
}

#[pymethods]
impl PyLive {
    /// A session for the signal of a domain. `channels` are names in the order of the samples and
    /// `rate` and `unit` those of the stream, each the model's where it is none; `options` is
    /// JSON.
    #[new]
    fn new(
        py: Python<'_>,
        model: &PyModel,
        domain: &str,
        unseen: Option<&str>,
        channels: Option<Vec<String>>,
        rate: Option<f64>,
        unit: Option<String>,
        options: &str,
    ) -> PyResult<Self> {
        let options: Options = serde_json::from_str(options).map_err(value_error)?;
        let unseen = policies(unseen)?;
        let stream = StreamSpec {
            channels,
            rate,
            unit,
        };
        let session = py.detach(|| {
            Session::for_stream(&model.model, domain, unseen.as_ref(), &stream, options)
        });
        let session = session.map_err(live_error)?;
        Ok(Self {
            notes: session.notes(),
            work: Mutex::new(Work {
                session,
                lines: Lines::default(),
                block: Block::default(),
            }),
        })
    }

    /// Takes in samples `(samples, channels)`, their times where they have some, and markers; the
    /// lines of what there is to say.
    fn push(
        &self,
        py: Python<'_>,
        samples: PyReadonlyArray2<'_, f64>,
        times: Option<PyReadonlyArray1<'_, f64>>,
        markers: Vec<Marked>,
    ) -> PyResult<Vec<String>> {
        let samples = samples.as_slice()?;
        let times = times.as_ref().map(|t| t.as_slice()).transpose()?;
        py.detach(|| {
            let arrived = Instant::now();
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            let Work {
                session,
                lines,
                block,
            } = &mut *work;
            block.clear();
            block.samples.extend_from_slice(samples);
            block.times.extend_from_slice(times.unwrap_or_default());
            for (sample, time, label) in markers {
                let at = match (sample, time) {
                    (Some(sample), _) => At::Sample(sample),
                    (None, Some(time)) => At::Time(time),
                    (None, None) => continue,
                };
                block.markers.push(Marker::new(at, label));
            }
            let mut said = Vec::new();
            session.push(block, &mut |event| {
                said.push(lines.event(&event, arrived.elapsed()).to_owned());
            })?;
            Ok::<_, LiveError>(said)
        })
        .map_err(live_error)
    }

    /// Whether what is learnt from unlabelled windows stays as it is from now on.
    fn freeze(&self, frozen: bool) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.session.freeze(frozen);
    }

    /// What had to be assumed, and what is done for a domain without training trials, one sentence
    /// each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Samples so far, missing ones included.
    #[getter]
    fn samples(&self) -> u64 {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.session.samples()
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyLive>()
}
