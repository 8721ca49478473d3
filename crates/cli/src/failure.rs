//! How a command ends.

use std::io;

use stiefel::data::DataError;
use stiefel::eeg::EegError;
use stiefel::eeg::catalogue::CatalogueError;
use stiefel::eeg::io::FormatError;
use stiefel::live::LiveError;
use stiefel::model::ModelError;
use stiefel::study::StudyError;

use crate::voice::plain;

/// The exit code of an interrupted program.
pub(crate) const INTERRUPTED: u8 = 130;

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was asked for something that does not exist: exit code 2.
    Misuse(String),
    /// It could not be done: exit code 1.
    Failed(String),
    /// Somebody asked to stop: exit code 130.
    Interrupted(String),
    /// Whoever read the output has gone away; that is no failure.
    Unread,
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        match error {
            CatalogueError::UnknownDataset { .. }
            | CatalogueError::Selection { .. }
            | CatalogueError::Setting { .. } => Self::Misuse(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<EegError> for Failure {
    fn from(error: EegError) -> Self {
        match error {
            EegError::Catalogue(inner) => (*inner).into(),
            EegError::Data(inner) => inner.into(),
            EegError::Setting { .. } | EegError::Format(FormatError::Setting { .. }) => {
                Self::Misuse(error.to_string())
            }
            EegError::Unreadable { .. } => Self::Failed(format!("{error} (--skip-unreadable)")),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        EegError::from(error).into()
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Parameter { .. } | DataError::Setting { .. } => {
                Self::Misuse(error.to_string())
            }
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Data(inner) => inner.into(),
            ModelError::NewDomain { .. } => Self::Misuse(format!("{error} (--adapt, --embedding)")),
            ModelError::Parameter { .. }
            | ModelError::Channels { .. }
            | ModelError::Empty { .. }
            | ModelError::UnknownName { .. }
            | ModelError::Contradiction(_)
            | ModelError::Setting(_)
            | ModelError::Impossible { .. } => Self::Misuse(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Eeg(inner) => inner.into(),
            LiveError::Model(inner) => inner.into(),
            LiveError::Write(inner) => inner.into(),
            LiveError::Setting { .. } | LiveError::Mismatch { .. } => {
                Self::Misuse(error.to_string())
            }
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Eeg(inner) => inner.into(),
            StudyError::Data(inner) => inner.into(),
            StudyError::Model(inner) => inner.into(),
            StudyError::Setting { .. } | StudyError::Settings(_) => Self::Misuse(error.to_string()),
            StudyError::Occupied { .. } => Self::Misuse(format!("{error} (--output, --overwrite)")),
            StudyError::Interrupted => Self::Interrupted(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(format!("a result could not be written as JSON: {error}"))
    }
}

/// What cannot happen, told rather than hidden.
pub(crate) fn unexpected(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!(
        "{error}; this is a fault of the program, please report it"
    ))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::Failed(format!("the output could not be written: {error}")),
        }
    }
}

/// Says what went wrong and gives the exit code.
pub(crate) fn report(outcome: Outcome) -> u8 {
    let (message, code) = match outcome {
        Ok(()) | Err(Failure::Unread) => return 0,
        Err(Failure::Failed(message)) => (message, 1),
        Err(Failure::Misuse(message)) => (message, 2),
        Err(Failure::Interrupted(message)) => (message, INTERRUPTED),
    };
    // Without a standard error there is nobody to tell.
    let line = format!("error: {}\n", plain(&message));
    let _ = io::Write::write_all(&mut io::stderr(), line.as_bytes());
    code
}
