//! Decisions from raw covariances, one at a time: whiten, route, filter, classify.
//!
//! ```text
//! covariance (n × n, f64) ─▶ whitener ─▶ upper(log X) P ─▶ query ─▶ α ─▶ W = R(W_base + Σ_j α_j Δ_j) ─▶ upper(log WᵀXW) ─▶ class
//! ```
//!
//! A [`Decoder`] owns a fitted [`Model`] and every buffer a decision needs: after the first decision nothing is allocated (causal
//! whitening, which updates a mean, excepted). It computes what [`Model::evaluate`] does, without a tape, and gives the same
//! numbers to rounding.
//!
//! ```
//! use stiefel_linalg::MatBatch;
//! use stiefel_model::decoder::{Decoder, Domain};
//! use stiefel_model::net::DaspConfig;
//! use stiefel_model::precondition::{Preconditioning, UnseenPolicy};
//! use stiefel_model::train::{Silent, TrainConfig};
//! use stiefel_model::{Architecture, Factor, Model, ModelConfig, Trials, Unseen, UnseenEmbedding};
//!
//! let x = MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { 1.0 + ((i * 3 + r) % 5) as f64 } else { 0.2 });
//! let classes = Factor::from_labels(["hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet"]);
//! let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
//! let trials = Trials::new(x, classes, domains)?;
//! let config = ModelConfig {
//!     preconditioning: Preconditioning::default(),
//!     encoder: None,
//!     architecture: Architecture::Dasp(DaspConfig { filters: 2, experts: 2, embedding: 4, ..DaspConfig::default() }),
//!     training: TrainConfig { epochs: 2, ..TrainConfig::default() },
//! };
//! let mut decoder = Decoder::new(Model::<f64>::fit(&trials, &trials, &config, &mut Silent)?)?;
//!
//! let covariance = [1.5, 0.2, 0.1, 0.2, 2.0, 0.0, 0.1, 0.0, 1.0];
//! let decision = decoder.decide(&covariance, Domain::Named("s2"))?;
//! assert!((decision.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! assert_eq!(decision.routing.map(<[f64]>::len), Some(2));
//!
//! // A new person: say what whitens their trials and what stands in for their embedding.
//! let unlabelled = MatBatch::from_vec(1, 3, 3, covariance.to_vec())?;
//! let unseen = Unseen { whitening: UnseenPolicy::OwnMean { kappa: 10.0 }, embedding: UnseenEmbedding::NearestTangent };
//! let mut new = decoder.adapt_domain("s3", unlabelled.view(), &unseen)?;
//! let decision = decoder.decide(&covariance, Domain::Unseen(&mut new))?;
//! assert!(decision.class < 2);
//! # Ok::<(), stiefel_model::ModelError>(())
//! ```

mod domain;
mod experts;
mod filter;
pub(crate) mod kernel;
mod network;
mod norm;

pub use crate::means::DomainMeans;
pub use domain::{Domain, DomainHandle, Nearest};
pub use network::Weights;

use crate::precondition::WhitenScratch;
use crate::{Model, ModelError, Result};
use network::{Frozen, Row};
use norm::Whose;
use std::sync::Arc;
use stiefel_linalg::{MatView, Scalar};

/// Named in errors.
const OP: &str = "decoder";

/// A fitted model that decides; see the [module](self).
#[derive(Debug)]
pub struct Decoder<T: Scalar> {
    model: Arc<Model<T>>,
    network: Frozen<T>,
    scratch: WhitenScratch,
    whitened: Vec<f64>,
    probabilities: Vec<f64>,
    routing: Vec<f64>,
}

/// What a decoder says about one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision<'a> {
    /// The most probable class; the first of equals.
    pub class: usize,
    /// The probability of every class.
    pub probabilities: &'a [f64],
    /// The weight of every expert, where the network routes.
    pub routing: Option<&'a [f64]>,
}

impl<T: Scalar> Decoder<T> {
    /// Freezes a model: everything that does not depend on the trial is computed here.
    pub fn new(model: impl Into<Arc<Model<T>>>) -> Result<Self> {
        let model = model.into();
        let network = Frozen::new(&model)?;
        let n = model.sizes.channels;
        Ok(Self {
            whitened: vec![0.0; model.sizes.views * n * n],
            probabilities: vec![0.0; model.names.classes.len()],
            routing: vec![0.0; network.experts().unwrap_or(0)],
            scratch: WhitenScratch::default(),
            network,
            model,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model<T> {
        &self.model
    }

    /// Decodes one raw covariance, `n × n` row-major; of a model of several views all of them, one after the other.
    pub fn decide(&mut self, covariance: &[f64], domain: Domain<'_>) -> Result<Decision<'_>> {
        self.decide_with(covariance, domain, Weights::Learnt)
    }

    /// The same with other weights of the experts than the router's own, for controls.
    pub fn decide_with(
        &mut self,
        covariance: &[f64],
        mut domain: Domain<'_>,
        weights: Weights<'_>,
    ) -> Result<Decision<'_>> {
        self.run(covariance, &mut domain, weights)?;
        let p = &self.probabilities;
        Ok(Decision {
            class: stiefel_linalg::argmax(p),
            probabilities: p,
            routing: self.network.experts().map(|_| &self.routing[..]),
        })
    }

    /// The query of the last trial that was routed, where the network routes.
    pub fn query(&self) -> Option<Vec<f64>> {
        self.network.query()
    }

    /// Decodes raw covariances `count × n × n` of one domain, in order, into `probabilities` (`count × C`) and, where wanted, `routing`
    /// (`count × K`). The views of a trial follow each other: `count·V × n × n`.
    pub fn decide_batch(
        &mut self,
        covariances: MatView<'_, f64>,
        mut domain: Domain<'_>,
        probabilities: &mut [f64],
        mut routing: Option<&mut [f64]>,
    ) -> Result<()> {
        let views = self.model.sizes.views;
        let (count, classes) = (covariances.count() / views, self.probabilities.len());
        check_len("matrices", count * views, covariances.count())?;
        let size = views * covariances.rows() * covariances.cols();
        let experts = self.routing.len();
        check_len("class probabilities", count * classes, probabilities.len())?;
        if let Some(routing) = &routing {
            check_len("routing weights", count * experts, routing.len())?;
        }
        for i in 0..count {
            let trial = &covariances.data()[i * size..][..size];
            self.run(trial, &mut domain, Weights::Learnt)
                .map_err(|error| error.at_trial(i))?;
            probabilities[i * classes..][..classes].copy_from_slice(&self.probabilities);
            if let Some(routing) = &mut routing {
                routing[i * experts..][..experts].copy_from_slice(&self.routing);
            }
        }
        Ok(())
    }

    fn run(
        &mut self,
        covariance: &[f64],
        domain: &mut Domain<'_>,
        weights: Weights<'_>,
    ) -> Result<()> {
        let row = self.whiten(covariance, domain)?;
        let whose = match (domain, row) {
            (Domain::Unseen(handle), _) => Whose::Given(handle.norm()),
            (_, Row::At(known)) => Whose::Domain(known),
            (_, Row::Absent | Row::Own | Row::Zero) => Whose::Given(None),
        };
        let (out, routing) = (&mut self.probabilities, &mut self.routing);
        (self.network).run(&self.whitened, (row, whose), weights, out, routing)
    }
}

fn check_len(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(ModelError::Count {
        op: OP,
        what,
        expected,
        found,
    })
}
