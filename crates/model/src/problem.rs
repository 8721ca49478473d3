//! What can be wrong with a model file.

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Bytes that are not those that were written.
    #[error("damaged: its SHA-256 is {found}, but {expected} was written into it; copy it again")]
    Checksum {
        /// What the file says.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A file that is there already.
    #[error("it exists already; choose another name, or let it be overwritten")]
    Exists,
    /// The operating system refused.
    #[error("cannot {doing}: {message}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The kind of error.
        kind: std::io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// Another kind of file.
    #[error("not a stiefel model: {0}")]
    NotAModel(String),
    /// A file that ends too early or goes on too long.
    #[error(
        "it has {found} bytes, but its header announces {expected}: the file was cut off or \
         changed; copy it again"
    )]
    Length {
        /// Bytes promised.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes that cannot be right.
    #[error("damaged at byte {offset}: {why}; copy the file again or train again")]
    Damaged {
        /// Where, from the start of the file.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// A format version that this library does not read.
    #[error(
        "written in format version {found} by stiefel {library}; this version reads {supported} \
         only"
    )]
    Version {
        /// The file's format version.
        found: u64,
        /// The one that is read.
        supported: u64,
        /// The library that wrote it.
        library: String,
    },
    /// A kind of model that this library does not have.
    #[error(
        "it holds a model of the kind \"{found}\", written by stiefel {library}; known are {known}"
    )]
    Kind {
        /// The file's kind.
        found: String,
        /// The kinds there are.
        known: String,
        /// The library that wrote it.
        library: String,
    },
    /// A tensor that is not what the architecture says.
    #[error(
        "tensor \"{name}\" at byte {offset}: {why}; the file does not fit its own description, \
         train again"
    )]
    Tensor {
        /// Its name.
        name: String,
        /// Where its values begin, from the start of the file; 0 where it is missing.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Parts that do not fit together.
    #[error("{0}; the file does not fit its own description, train again")]
    Inconsistent(String),
}

impl FileProblem {
    /// The problem with the path it is about.
    pub(crate) fn io(doing: &'static str, error: &std::io::Error) -> Self {
        Self::Io {
            doing,
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}
