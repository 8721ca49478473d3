//! What the header says about a model, in words and small numbers; see the [module](super).

use super::FileProblem;
use super::container::{PREFIX, Table, TensorInfo};
use crate::fitted::About;
use crate::net::{HeadKind, Sizes};
use crate::scaling::Recommendation;
use crate::{Architecture, ModelConfig, TrainingRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format this library writes, and the newest it reads.
pub const FORMAT_VERSION: u64 = 2;

/// The value of `format` of a trained network.
pub(super) const FORMAT: &str = "stiefel-model";

/// The value of `format` of a fitted preset `recommended-1`.
pub(super) const POOLED_FORMAT: &str = "stiefel-pooled";

/// The value of `format` of a fitted preset `recommended`.
pub(super) const VIEWS_FORMAT: &str = "stiefel-views";

/// The description of a model file; made by [`inspect_any`](super::inspect_any).
#[derive(Debug, Clone, PartialEq)]
pub struct FileHeader<M = Description> {
    /// The version of the format.
    pub format_version: u64,
    /// The version of the library that wrote it.
    pub library_version: String,
    /// `"f32"` or `"f64"`: the type to load it as.
    pub precision: String,
    /// The model.
    pub model: M,
    /// Where it comes from; files of version 1 do not say.
    pub about: About,
    /// The tensors, by name.
    pub tensors: BTreeMap<String, TensorInfo>,
}

/// A model without its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What was decided before training.
    pub config: ModelConfig,
    /// What the data fixed.
    pub sizes: Sizes,
    /// Names of the channels, where known.
    pub channels: Option<Vec<String>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Training trials of each domain.
    pub domain_trials: Vec<usize>,
    /// How many columns of the encoder are between-domain directions.
    pub encoder_between: Option<usize>,
    /// Why the options were chosen, where the scaling rule did.
    pub scaling: Option<Recommendation>,
    /// How it was trained.
    pub record: TrainingRecord,
}

impl Description {
    /// Domains with training trials, ascending.
    pub(super) fn known_domains(&self) -> Vec<usize> {
        let trials = self.domain_trials.iter().enumerate();
        trials.filter(|(_, t)| **t > 0).map(|(d, _)| d).collect()
    }

    /// Whether mean weights of this many domains and experts can be its own.
    pub(super) fn routes(&self, domains: u64, experts: u64) -> bool {
        match &self.config.architecture {
            Architecture::Dasp(c) => {
                let each = c.view_routing.count(self.sizes.views);
                let weights = (c.experts as u64).saturating_mul(each as u64);
                domains <= self.sizes.domains as u64 && experts == weights
            }
            Architecture::Spdnet(_) => false,
        }
    }

    /// A lower bound of the numbers its parameters hold, so that nobody reserves memory for what the file cannot contain.
    pub(super) fn numbers(&self) -> u128 {
        let s = &self.sizes;
        let product = |factors: &[usize]| -> u128 {
            (factors.iter()).fold(1, |product: u128, &f| product.saturating_mul(f as u128))
        };
        let (filters, experts, width, norm) = match &self.config.architecture {
            Architecture::Dasp(c) => (c.filters, c.experts, c.embedding, c.batch_norm),
            Architecture::Spdnet(c) => (c.filters, 1, 0, c.batch_norm),
        };
        let normalised = norm.map_or(0, |norm| norm.size(s.channels, filters));
        let own = match &self.config.architecture {
            Architecture::Dasp(c) if c.head != HeadKind::Shared => experts,
            _ => 0,
        };
        let domains = match &self.config.architecture {
            Architecture::Dasp(c) if c.domain_embedding => s.domains,
            _ => 0,
        };
        [
            product(&[s.views, experts, s.channels, filters]),
            product(&[domains.max(experts), width]),
            product(&[2, width, if width > 0 { s.encoded } else { 0 }]),
            product(&[2, width, width]),
            product(&[s.views, s.classes, filters, filters]) / 2,
            product(&[s.views, own, s.classes, filters, filters]) / 2,
            product(&[s.domains, normalised, normalised]),
        ]
        .into_iter()
        .fold(0, u128::saturating_add)
    }
}

impl<M: serde::de::DeserializeOwned> FileHeader<M> {
    /// From the container's header, which has been checked; the file must be of the kind `wanted`.
    pub(super) fn from_table(table: Table, wanted: &'static str) -> Result<Self, FileProblem> {
        let about = Metadata::read(&table, wanted)?;
        Ok(Self {
            format_version: about.format_version,
            library_version: about.library_version,
            precision: about.precision,
            model: about.model,
            about: about.about,
            tensors: table.tensors,
        })
    }
}

/// The metadata of a file of one kind.
pub(super) struct Metadata<M> {
    pub(super) format_version: u64,
    library_version: String,
    pub(super) precision: String,
    pub(super) model: M,
    pub(super) about: About,
}

impl<M: serde::de::DeserializeOwned> Metadata<M> {
    /// Reads the metadata of a file that must be of the kind `wanted`.
    pub(super) fn read(table: &Table, wanted: &'static str) -> Result<Self, FileProblem> {
        let text = |key: &str| -> Result<&str, FileProblem> {
            (table.metadata.get(key).map(String::as_str))
                .ok_or_else(|| FileProblem::NotAModel(format!("its header has no \"{key}\"")))
        };
        let format = text("format")?;
        if format != wanted {
            return Err(match format {
                FORMAT | POOLED_FORMAT | VIEWS_FORMAT => FileProblem::Kind {
                    found: format.to_owned(),
                    wanted,
                },
                _ => FileProblem::NotAModel(format!("its format is \"{format}\"")),
            });
        }
        let library_version = text("library_version")?.to_owned();
        let format_version = version(text("format_version")?, &library_version)?;
        let precision = text("precision")?.to_owned();
        let model = serde_json::from_str(text("model")?).map_err(|error| FileProblem::Damaged {
            offset: PREFIX,
            why: format!("the description of the model: {error}"),
        })?;
        let about = match table.metadata.get("about") {
            Some(text) => serde_json::from_str(text).map_err(|error| FileProblem::Damaged {
                offset: PREFIX,
                why: format!("what the model knows of itself: {error}"),
            })?,
            None => About::default(),
        };
        Ok(Self {
            format_version,
            library_version,
            precision,
            model,
            about,
        })
    }
}

/// A format version this library reads.
fn version(text: &str, library: &str) -> Result<u64, FileProblem> {
    let found: u64 = text.parse().map_err(|_| FileProblem::Damaged {
        offset: PREFIX,
        why: format!("the format version is \"{text}\""),
    })?;
    match found {
        1..=FORMAT_VERSION => Ok(found),
        0 => Err(FileProblem::Damaged {
            offset: PREFIX,
            why: "the format version is 0; the first one is 1".into(),
        }),
        _ => Err(FileProblem::Newer {
            found,
            supported: FORMAT_VERSION,
            library: library.to_owned(),
        }),
    }
}
