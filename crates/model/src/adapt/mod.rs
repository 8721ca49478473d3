//! Transductive adaptation: a new domain's embedding from its unlabelled trials.
//!
//! ```text
//! e* = argmin_e  mean_i H(softmax(q_i Eᵀ/√m))/log K,   q_i = MLP([x̃_i; e])        a few steps of Adam from a named start
//! ```
//!
//! `e` has `m` values; queries see `x̃_i` (`N × 1 × r`) of the new domain's pre-conditioned trials.
//! Nothing but `e` moves, and no label can be read: [`Unlabelled`] has none. Routing becomes
//! sharper, which helps where the experts are right for the new domain and sharpness was
//! what the missing embedding took away; it cannot tell a right expert from a wrong one. The
//! entropy is that of the softmax, also where routing keeps only the best experts.

use crate::error::check_count;
use crate::net::{Bound, Network, Router};
use crate::optim::Adam;
use crate::parameters::Slot;
use crate::{AdamConfig, DspEncoder, ModelError, Parameter, Parameters, Prepared, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_autodiff::{Axis, Tape, Var};
use stiefel_geometry::spd::log_vectors;
use stiefel_linalg::{Mat, MatBatch, MatView, Scalar};

const OP: &str = "transductive adaptation";

/// Where the search starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartRow {
    /// Zeros: the mean of the distribution embeddings are drawn from.
    #[default]
    Zero,
    /// A row of the embedding: the untrained one of a domain that was held out, or that of a
    /// similar training domain.
    Row(usize),
}

/// How an embedding is adapted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransductiveConfig {
    /// Steps of Adam; 0 keeps the start.
    pub steps: usize,
    /// Their size.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub learning_rate: f64,
    /// Where they start.
    #[serde(default)]
    pub start: StartRow,
}

impl Default for TransductiveConfig {
    /// Ten steps of 0.05 from zero: short beside the spread of embeddings, which start as N(0, 1).
    fn default() -> Self {
        Self {
            steps: 10,
            learning_rate: 0.05,
            start: StartRow::Zero,
        }
    }
}

/// Pre-conditioned trials as the query sees them; classes are left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Unlabelled<T> {
    encoded: MatBatch<T>,
}

impl<T: Scalar> Unlabelled<T> {
    /// From pre-conditioned covariances `N × n × n`: `upper(log X)`, projected by the encoder where
    /// there is one.
    pub fn new(whitened: MatView<'_, f64>, encoder: Option<&DspEncoder>) -> Result<Self> {
        let tangent = log_vectors(whitened)?;
        let encoded = match encoder {
            Some(encoder) => encoder.encode(tangent.view())?,
            None => tangent,
        };
        Ok(Self {
            encoded: encoded.cast(),
        })
    }

    /// How many trials.
    pub fn len(&self) -> usize {
        self.encoded.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Scalar> From<&Prepared<T>> for Unlabelled<T> {
    fn from(prepared: &Prepared<T>) -> Self {
        Self {
            encoded: prepared.encoded().clone(),
        }
    }
}

/// An embedding found for a new domain.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedEmbedding<T> {
    /// The row, `m` values.
    pub row: Vec<T>,
    /// Normalised routing entropy of the trials at the start.
    pub entropy_before: f64,
    /// The same at `row`: never higher.
    pub entropy_after: f64,
}

/// Finds an embedding row that routes the trials sharply; `parameters` are those of a routed
/// network with a domain embedding, and stay as they are.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::adapt::{TransductiveConfig, Unlabelled, adapt_embedding};
/// use stiefel_model::net::{DaspConfig, DaspNet, Network, Sizes};
///
/// let sizes = Sizes {
///     channels: 2,
///     classes: 2,
///     domains: 3,
///     encoded: 3,
///     views: 1,
/// };
/// let net = DaspNet::new(
///     sizes,
///     DaspConfig {
///         filters: 1,
///         experts: 2,
///         embedding: 4,
///         ..DaspConfig::default()
///     },
/// )?;
/// let parameters = Network::<f64>::initial(&net, 1);
/// let whitened = MatBatch::from_fn(5, 2, 2, |i, r, c| {
///     if r == c {
///         1.0 + 0.1 * (i + r) as f64
///     } else {
///         0.05
///     }
/// });
/// let trials = Unlabelled::new(whitened.view(), None)?;
/// let adapted = adapt_embedding(&net, &parameters, &trials, &TransductiveConfig::default())?;
/// assert!(adapted.row.len() == 4 && adapted.entropy_after <= adapted.entropy_before);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn adapt_embedding<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    trials: &Unlabelled<T>,
    config: &TransductiveConfig,
) -> Result<AdaptedEmbedding<T>> {
    let (router, start) = start_row(network, parameters, trials, config.start)?;
    let mut moving = Parameters::new(vec![Parameter::euclidean("embedding", start)]);
    let adam = AdamConfig {
        learning_rate: config.learning_rate,
        ..AdamConfig::default()
    };
    let mut adam = Adam::new(adam, &moving)?;
    let mut tape = Tape::new();
    let bound = Bound::frozen(parameters, &tape)?;
    tape.keep();
    let mut best: Option<AdaptedEmbedding<T>> = None;
    for step in 0..=config.steps {
        tape.rewind();
        let leaf = Bound::training(&moving, &tape)?;
        let row = leaf.on(&tape).at(Slot(0))?;
        let rows = row.gather_rows(&vec![0; trials.len()])?;
        let (count, _, width) = trials.encoded.shape();
        let encoded = tape.constant(&trials.encoded).reshape(1, count, width)?;
        let loss = entropy(router.scores(&bound.on(&tape), encoded, rows)?)?;
        let value = loss.item().unwrap_or(f64::NAN);
        let first = best.as_ref().map_or(value, |b| b.entropy_before);
        if best.as_ref().is_none_or(|b| value < b.entropy_after) {
            best = Some(AdaptedEmbedding {
                row: row.value().data().to_vec(),
                entropy_before: first,
                entropy_after: value,
            });
        }
        if step < config.steps {
            let gradients = tape.backward(loss)?;
            adam.step(&mut moving, |i| gradients.get(leaf.leaves[i]))?;
        }
    }
    best.ok_or(ModelError::Empty {
        op: OP,
        remedy: "give unlabelled trials of the new domain",
    })
}

/// `mean_i H(softmax(z_i))/log K`.
fn entropy<T: Scalar>(scores: Var<'_, T>) -> Result<Var<'_, T>> {
    let (_, samples, experts) = scores.shape();
    let log_alpha = scores.log_softmax()?;
    let unit = (experts as f64).ln() * samples as f64;
    let sum = log_alpha.exp()?.mul(log_alpha)?.sum(Axis::All)?;
    Ok(sum.scale(-1.0 / unit)?)
}

/// The router, and the row to start from, `1 × 1 × m`, after every check.
fn start_row<'n, T: Scalar>(
    network: &'n dyn Network<T>,
    parameters: &Parameters<T>,
    trials: &Unlabelled<T>,
    start: StartRow,
) -> Result<(&'n Router, MatBatch<T>)> {
    let impossible = |why: &str, remedy| ModelError::Impossible {
        op: OP,
        why: why.into(),
        remedy,
    };
    let router = network.router();
    let embedding = router.and_then(|r| parameters.at(r.embedding()?));
    let (Some(router), Some(embedding)) = (router, embedding) else {
        let why = "the network has no domain embedding to adapt";
        return Err(impossible(
            why,
            "use a routed network trained with a domain embedding",
        ));
    };
    if router.expert_count() < 2 {
        let why = "with one expert there is nothing to route, and the entropy is zero";
        return Err(impossible(why, "use a network with at least two experts"));
    }
    if trials.is_empty() {
        return Err(ModelError::Empty {
            op: OP,
            remedy: "give unlabelled trials of the new domain",
        });
    }
    let (_, domains, m) = embedding.value.shape();
    let (expected, found) = (router.width(), trials.encoded.cols() + m);
    check_count(OP, "inputs of the query", expected, found)?;
    trials.encoded.view().check_finite(OP)?;
    match start {
        StartRow::Zero => Ok((router, MatBatch::zeros(1, 1, m))),
        StartRow::Row(domain) if domain < domains => {
            let row = &embedding.value.data()[domain * m..][..m];
            Ok((router, Mat::new(1, m, row.to_vec()).into()))
        }
        StartRow::Row(domain) => Err(ModelError::NoSuchDomain {
            op: OP,
            domain,
            count: domains,
        }),
    }
}
