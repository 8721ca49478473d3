//! The model file: everything a decision needs, in one
//! [safetensors](https://github.com/huggingface/safetensors) file.
//!
//! ```text
//! u64 little-endian: length of the header │ header: JSON, padded with spaces │ tensors, little-endian
//! header = { "__metadata__": { format, format_version, library_version, kind, names, model, about,
//!            checksum }, name: { dtype, shape, data_offsets }, … }
//! ```
//!
//! `kind` is the name of the model's [`Kind`](crate::kind::Kind), `names` its
//! [`Names`](crate::kind::Names) as JSON text. `model` is JSON text too: settings, sizes, how it
//! was trained. `about` says how the training trials were made, which they were, and the type of
//! the classes ([`About`](crate::fitted::About)). `checksum` is the SHA-256 of the whole file with
//! zeros in its own place. The tensors of a network:
//!
//! | name | shape | |
//! |---|---|---|
//! | `whitener.v.means`, `whitener.v.matrices` | `D′ × n × n` | of view `v`, domains with training trials, in order |
//! | `whitener.v.scales` | `D′` | their scales |
//! | `whitener.v.pooled.mean`, `whitener.v.pooled.matrix` | `n × n` | pooled mean, its whitening matrix |
//! | `whitener.v.pooled.moments` | `2` | mean trace and mean square under it |
//! | `encoder.projection` | `n(n+1)/2 × r` | where there is an encoder |
//! | `domains.tangent` | `D′ × n(n+1)/2` | where training domains lie |
//! | `domains.riemannian` | `D′ × n × n` | their Fréchet means, where the settings ask for them |
//! | `domains.routing` | `D × K` | mean routing weights of each domain's training trials |
//! | `parameter.NAME` | as the network says | in its precision; running statistics too |
//! | `base.NAME` | `count × n × n` | for parameters in Cayley coordinates |
//!
//! CHOIR has `anchor` (`n × k`), `typical` (`V × n × n`), `scale` (`p`), `shared` (`L × p`) and, of
//! every domain `d` with labelled trials, `person.d.frame.v` (`n × k_v`), `person.d.mean` (`n ×
//! n`), `person.d.centre` (`p`), `person.d.own` (`L × p`), `person.d.rows` (`m × p`),
//! `person.d.weights` (`m`), and `person.d.trials.v` (`m × n × n`) where the domain calibrated the
//! model. A peer has the `whitener` tensors too, `pooled.weights` and `pooled.intercepts` of its
//! regression (`domain.d.…` of those of single domains) or the `means` of its classes. Everything
//! but the parameters of a network is f64.
//!
//! Nothing in a file is trusted: no memory is reserved beyond a multiple of the file's size, every
//! shape is checked against the settings, every number is finite, every filter orthonormal that
//! should be. Other tools that read safetensors can read the tensors.

mod archive;
mod container;
mod read;
mod write;

pub use crate::problem::FileProblem;
pub use archive::{Archive, Found};
pub(crate) use archive::{inconsistent, parse};
pub use container::{Dtype, TensorInfo, seal};
pub use read::kind_of;
pub(crate) use read::{open, open_in};
pub(crate) use write::pack;

use std::collections::BTreeMap;

/// The version of the format, the only one there is.
pub const FORMAT_VERSION: u64 = 1;

/// The value of `format`.
const FORMAT: &str = "stiefel-model";

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The version of the library that wrote it.
    pub library_version: String,
    /// The tensors, by name.
    pub tensors: BTreeMap<String, TensorInfo>,
}
