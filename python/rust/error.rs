//! Errors of the core as the exceptions Python users expect: `ValueError` for data and parameters,
//! `OSError` for files.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError,
    PyTypeError, PyValueError,
};
use serde_json::Value;
use std::io::ErrorKind;
use stiefel::data::settings::SettingError;
use stiefel::eeg::EegError;
use stiefel::eeg::io::FormatError;
use stiefel::model::ModelError;
use stiefel::model::file::FileProblem;
use stiefel::study::StudyError;

/// A `ValueError` with the text of any error.
pub(crate) fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Arrays of two precisions.
pub(crate) fn mixed_precision() -> PyErr {
    PyTypeError::new_err("arrays of one precision are needed, float32 or float64")
}

/// The `OSError` of what the system said, with the text of the whole error.
pub(crate) fn os_error(kind: ErrorKind, error: impl ToString) -> PyErr {
    let text = error.to_string();
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// A model's error: files that cannot be opened are `OSError`s, everything else is a `ValueError`.
pub(crate) fn model_error(error: ModelError) -> PyErr {
    match &error {
        ModelError::File {
            problem: FileProblem::Io { kind, .. },
            ..
        } => os_error(*kind, &error),
        ModelError::File {
            problem: FileProblem::Exists,
            ..
        } => PyFileExistsError::new_err(error.to_string()),
        ModelError::Setting(error) => setting_error(error),
        _ => value_error(error),
    }
}

/// The error of a setting, which stands as an argument of a call: `experts=0`.
pub(crate) fn setting_error(error: &SettingError) -> PyErr {
    let (name, sentence) = (error.name().replace('.', "__"), error.sentence());
    let SettingError::Value { value, .. } = error else {
        return value_error(format!("{name}: {sentence}"));
    };
    let value = match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    };
    value_error(format!("{name}={value}: {sentence}"))
}

/// An error about the bytes of a model file.
pub(crate) fn file_error(problem: FileProblem) -> PyErr {
    match &problem {
        FileProblem::Io { kind, .. } => os_error(*kind, &problem),
        _ => value_error(problem),
    }
}

/// An error of recordings and datasets: files that cannot be opened are `OSError`s, too much for
/// the memory is a `MemoryError`, everything else is a `ValueError`.
pub(crate) fn eeg_error(error: impl Into<EegError>) -> PyErr {
    let error = error.into();
    match &error {
        EegError::Io { source, .. } | EegError::Format(FormatError::Io { source, .. }) => {
            os_error(source.kind(), &error)
        }
        EegError::Format(FormatError::OutOfMemory { .. }) => {
            PyMemoryError::new_err(error.to_string())
        }
        _ => value_error(error),
    }
}

/// A study's error: files that cannot be read or written are `OSError`s, everything else is a
/// `ValueError`.
pub(crate) fn study_error(error: StudyError) -> PyErr {
    match error {
        StudyError::Model(error) => model_error(error),
        StudyError::Eeg(error) => eeg_error(error),
        StudyError::Settings(error) => setting_error(&error),
        StudyError::File { .. } => PyOSError::new_err(error.to_string()),
        _ => value_error(error),
    }
}
