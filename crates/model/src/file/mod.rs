//! The model file: everything a decision needs, in one [safetensors](https://github.com/huggingface/safetensors) file.
//!
//! ```text
//! u64 little-endian: length of the header │ header: JSON, padded with spaces │ tensors, one after the other, little-endian
//! header = { "__metadata__": { format, format_version, library_version, precision, model, about, checksum }, name: { dtype, shape, data_offsets }, … }
//! ```
//!
//! `model` is JSON text: configuration, sizes, names, how it was trained ([`FileHeader`]; [`inspect_any`] tells the kind of a file too). `about` is
//! JSON text too: how the training trials were made, which they were, the type of the classes ([`About`](crate::fitted::About)). `checksum` is the
//! SHA-256 of the whole file with zeros in its own place. Files of version 1 have neither and still open. The tensors:
//!
//! | name | shape | |
//! |---|---|---|
//! | `whitener.means`, `whitener.matrices` | `D′ × n × n` | domains with training trials, in order |
//! | `whitener.betas` | `D′` | their scales |
//! | `whitener.pooled` | `2 × n × n` | pooled mean, its whitening matrix |
//! | `whitener.pooled_moments` | `2` | mean trace and mean square under it |
//! | `encoder.projection` | `n(n+1)/2 × r` | where there is an encoder |
//! | `domains.tangent`, `domains.riemannian` | `D′ × n(n+1)/2`, `D′ × n × n` | where training domains lie |
//! | `domains.routing` | `D × K` | mean routing weights of each domain's training trials |
//! | `parameter.NAME` | as the network says | in the precision of the model; running statistics too |
//! | `base.NAME` | `count × n × n` | for parameters in Cayley coordinates |
//!
//! A fitted preset `recommended` ([`PooledModel`](crate::PooledModel)) has the same container with `format` `stiefel-pooled`, the same
//! `whitener.*` tensors, and `anchor` (`n × k`), `head.centre` (`p`), `head.shared` (`L × p`), `head.intercept` (`L`) and, where domains have
//! weights of their own, `head.own` (`D′ × L × p`), all f64.
//!
//! All but the parameters are f64. A file is read in the precision it was written in, so that a model always gives the same numbers.
//!
//! Nothing in a file is trusted: no memory is reserved beyond a multiple of the file's size, every shape is checked against the
//! architecture, every number is finite, every filter orthonormal that should be. Other tools that read safetensors can read the tensors.

mod container;
mod header;
mod pooled;
mod read;
mod write;

pub use container::{Dtype, TensorInfo, seal};
pub use header::{Description, FORMAT_VERSION, FileHeader};
pub use pooled::{PooledDescription, PooledSizes};
pub use read::{AnyHeader, inspect_any};

use crate::ModelError;
use std::path::Path;

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Bytes that are not those that were written.
    #[error("damaged: its SHA-256 is {found}, and {expected} was written into it; copy it again")]
    Checksum {
        /// What the file says.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A file that is there already.
    #[error("it exists already; choose another name, or overwrite it (--overwrite)")]
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
        "{found} bytes where its header promises {expected}: the file was cut off or changed; copy it again"
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
    /// A format of the future.
    #[error(
        "written in format version {found}, this version of stiefel reads up to {supported}; use a newer stiefel (it was written \
         by {library})"
    )]
    Newer {
        /// The file's format version.
        found: u64,
        /// The newest one known.
        supported: u64,
        /// The library that wrote it.
        library: String,
    },
    /// A model of another kind.
    #[error("holds a \"{found}\", a \"{wanted}\" was asked for")]
    Kind {
        /// The file's `format`.
        found: String,
        /// The caller's.
        wanted: &'static str,
    },
    /// A tensor that is not what the architecture says.
    #[error(
        "tensor \"{name}\" at byte {offset}: {why}; the file does not fit its own description, train again"
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
    pub(crate) fn at(self, path: &Path) -> ModelError {
        ModelError::File {
            path: path.to_path_buf(),
            problem: self,
        }
    }

    fn io(doing: &'static str, error: &std::io::Error) -> Self {
        Self::Io {
            doing,
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}
