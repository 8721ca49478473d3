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
//! A fitted preset `recommended-1` ([`PooledModel`](crate::PooledModel)) has the same container with `format` `stiefel-pooled`, the same
//! `whitener.*` tensors, and `anchor` (`n × k`), `head.centre` (`p`), `head.shared` (`L × p`), `head.intercept` (`L`) and, where domains have
//! weights of their own, `head.own` (`D′ × L × p`), all f64.
//!
//! A fitted preset `recommended` ([`ViewsModel`](crate::ViewsModel)) has `format` `stiefel-views` and, all f64, `anchor` (`n × k`), `typical` (`V × n × n`), `scale`
//! (`p`), `shared` (`L × p`) and of every domain `d` with labelled trials `person.d.frame.v` (`n × k_v`), `person.d.centre` (`p`), `person.d.own` (`L × p`),
//! `person.d.rows` (`m × p`), `person.d.weights` (`m`), and `person.d.trials.v` (`m × n × n`) where the domain calibrated the model.
//!
//! All but the parameters are f64. A file is read in the precision it was written in, so that a model always gives the same numbers.
//!
//! Nothing in a file is trusted: no memory is reserved beyond a multiple of the file's size, every shape is checked against the
//! architecture, every number is finite, every filter orthonormal that should be. Other tools that read safetensors can read the tensors.

mod container;
mod header;
mod inspect;
mod pooled;
mod read;
mod views;
mod write;

pub use crate::problem::FileProblem;
pub use container::{Dtype, TensorInfo, seal};
pub use header::{Description, FORMAT_VERSION, FileHeader};
pub use inspect::{AnyHeader, inspect_any};
pub use pooled::{PooledDescription, PooledSizes};

pub use views::{PersonDescription, ViewsDescription, ViewsSizes};
