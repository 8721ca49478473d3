//! Labelled trials as Python hands them over.

use crate::error::value_error;
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;
use stiefel::data::{Factor, Preparation, Recorded, Span, Trials};

/// Labelled trials as Python hands them over.
#[derive(FromPyObject)]
pub(crate) struct Labelled<'py> {
    #[pyo3(item)]
    x: PyReadonlyArray3<'py, f64>,
    /// Matrices of a trial, one after the other in `x`.
    #[pyo3(item)]
    views: usize,
    #[pyo3(item)]
    classes: Vec<usize>,
    #[pyo3(item)]
    class_names: Vec<String>,
    #[pyo3(item)]
    domains: Vec<usize>,
    #[pyo3(item)]
    domain_names: Vec<String>,
    #[pyo3(item)]
    channels: Option<Vec<String>>,
    #[pyo3(item)]
    weights: Option<Vec<f64>>,
    /// JSON.
    #[pyo3(item)]
    preparation: Option<String>,
    /// The recordings of the trials, and where each trial lies: JSON, as `identity` gives it.
    #[pyo3(item, default)]
    identity: Option<String>,
}

/// Returns the recordings of trials, and where each trial lies, as JSON.
pub(crate) fn identity(trials: &Trials) -> PyResult<Option<String>> {
    let known = trials.recordings();
    let text = known.map(|known| serde_json::to_string(&known)).transpose();
    text.map_err(value_error)
}

impl Labelled<'_> {
    pub(crate) fn trials(self) -> PyResult<Trials> {
        let mut views = crate::array::apart(crate::array::view(&self.x)?, self.views)?.into_iter();
        let x = views.next().ok_or_else(|| value_error("no view"))?;
        let located: Option<(Vec<Recorded>, Vec<Span>)> = match &self.identity {
            Some(text) => Some(serde_json::from_str(text).map_err(value_error)?),
            None => None,
        };
        let build = || {
            let classes = Factor::new("class", self.class_names, self.classes)?;
            let domains = Factor::new("domain", self.domain_names, self.domains)?;
            let mut trials = Trials::new(x, classes, domains)?;
            for view in views {
                trials = trials.with_view(view)?;
            }
            if let Some(channels) = self.channels {
                trials = trials.with_channels(channels)?;
            }
            if let Some(weights) = self.weights {
                trials = trials.with_weights(weights)?;
            }
            match located {
                Some((recordings, spans)) => trials.with_recordings(recordings, spans),
                None => Ok(trials),
            }
        };
        let trials = build().map_err(|e: stiefel::data::DataError| value_error(e))?;
        let Some(preparation) = self.preparation else {
            return Ok(trials);
        };
        let preparation: Preparation = serde_json::from_str(&preparation).map_err(value_error)?;
        Ok(trials.with_preparation(preparation))
    }

    /// The training trials, and those to validate on. Without enough trials for a part of their
    /// own, the training trials are both.
    pub(crate) fn split(self, validation: &[usize]) -> PyResult<(Trials, Trials)> {
        let trials = self.trials()?;
        let mut held = vec![false; trials.len()];
        for &i in validation {
            *held
                .get_mut(i)
                .ok_or_else(|| value_error(format!("there is no trial {i} to validate on")))? =
                true;
        }
        let train: Vec<usize> = (0..trials.len()).filter(|&i| !held[i]).collect();
        let watched = if validation.is_empty() {
            &train
        } else {
            validation
        };
        let part = |at: &[usize]| trials.select(at).map_err(value_error);
        Ok((part(&train)?, part(watched)?))
    }
}
