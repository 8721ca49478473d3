//! Decisions from raw covariances, one at a time: whiten, route, filter, classify.
//!
//! ```text
//! covariance (n × n, f64) ─▶ whitener ─▶ upper(log X) P ─▶ query ─▶ α ─▶ W = R(W_base + Σ_j α_j Δ_j) ─▶ upper(log WᵀXW) ─▶ class
//! ```
//!
//! A [`Decoder`] owns a fitted [`Model`] and every buffer a decision needs: after the first
//! decision nothing is allocated (causal whitening, which updates a mean, excepted). The network is
//! the one that was trained: its parameters, and what depends on them alone, stay on a tape, and
//! every decision is a forward pass of one sample behind them. [`Model::evaluate`] gives the same
//! numbers to rounding, for it fills registers with matrices of several samples.
//!
//! ```
//! use stiefel_linalg::MatBatch;
//! use stiefel_model::decoder::{Decoder, Domain};
//! use stiefel_model::net::DaspConfig;
//! use stiefel_model::precondition::{Adaptation, Preconditioning};
//! use stiefel_model::train::{Silent, TrainConfig};
//! use stiefel_model::{
//!     AdaptEmbedding, AdaptPolicy, Architecture, Factor, Model, ModelConfig, Trials,
//! };
//!
//! let x = MatBatch::from_fn(8, 3, 3, |i, r, c| {
//!     if r == c {
//!         1.0 + ((i * 3 + r) % 5) as f64
//!     } else {
//!         0.2
//!     }
//! });
//! let classes = Factor::from_labels([
//!     "hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet",
//! ]);
//! let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
//! let trials = Trials::new(x, classes, domains)?;
//! let config = ModelConfig {
//!     preconditioning: Preconditioning::default(),
//!     encoder: None,
//!     architecture: Architecture::Dasp(DaspConfig {
//!         filters: 2,
//!         experts: 2,
//!         embedding: 4,
//!         ..DaspConfig::default()
//!     }),
//!     training: TrainConfig {
//!         epochs: 2,
//!         ..TrainConfig::default()
//!     },
//!     frechet_means: false,
//! };
//! let mut decoder =
//!     Decoder::new(Model::<f64>::fit(&trials, &trials, &config, &mut Silent)?)?;
//!
//! let covariance = [1.5, 0.2, 0.1, 0.2, 2.0, 0.0, 0.1, 0.0, 1.0];
//! let decision = decoder.decide(&covariance, Domain::Named("s2"))?;
//! assert!((decision.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! assert_eq!(decision.routing.map(<[f64]>::len), Some(2));
//!
//! // A new person: say what whitens their trials and what stands in for their embedding.
//! let unlabelled = MatBatch::from_vec(1, 3, 3, covariance.to_vec())?;
//! let adapt = AdaptPolicy {
//!     whitening: Adaptation::OwnMean { kappa: 10.0 },
//!     embedding: AdaptEmbedding::NearestTangent,
//! };
//! let mut new = decoder.adapt_domain("s3", unlabelled.view(), &adapt)?;
//! let decision = decoder.decide(&covariance, Domain::New(&mut new))?;
//! assert!(decision.class < 2);
//! # Ok::<(), stiefel_model::ModelError>(())
//! ```

mod domain;

pub use crate::means::DomainMeans;
pub use domain::{Domain, DomainHandle, Nearest};

use crate::error::check_count;
use crate::net::Routing;
use crate::precondition::WhitenScratch;
use crate::tangent::Encode;
use crate::{Bound, Model, ModelError, Prepared, Result};
use std::sync::Arc;
use stiefel_autodiff::{Mark, Tape};
use stiefel_linalg::{MatBatch, Scalar};

/// Named in errors.
const OP: &str = "decoder";

/// A fitted model that decides; see the [module](self).
#[derive(Debug)]
pub struct Decoder<T: Scalar> {
    model: Arc<Model<T>>,
    tape: Tape<T>,
    bound: Bound,
    /// The trial that is decided, as the network takes it.
    trial: Prepared<T>,
    encode: Encode,
    scratch: WhitenScratch,
    whitened: Vec<f64>,
    probabilities: Vec<f64>,
    routing: Vec<f64>,
    query: Option<Mark>,
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
        let model: Arc<Model<T>> = model.into();
        let sizes = model.sizes;
        let n = sizes.channels;
        let mut tape = Tape::new();
        let bound = model.network.bind_frozen(&tape, &model.parameters)?;
        tape.keep();
        tape.decide_along_rows();
        let one = MatBatch::zeros(1, n, n);
        let encoded = MatBatch::zeros(1, 1, sizes.encoded);
        let mut trial = Prepared::from_parts(one.clone(), encoded, vec![0], vec![0])?;
        for _ in 1..sizes.views {
            trial = trial.with_view(one.clone())?;
        }
        let routed = model.network.router().is_some();
        let weights = model.network.expert_count() * model.network.routing_count();
        Ok(Self {
            tape,
            bound,
            trial,
            encode: Encode::new(n, model.frontend.encoder.as_ref()),
            scratch: WhitenScratch::default(),
            whitened: vec![0.0; sizes.views * n * n],
            probabilities: vec![0.0; sizes.classes],
            routing: vec![0.0; if routed { weights } else { 0 }],
            query: None,
            model,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model<T> {
        &self.model
    }

    /// Decodes one raw covariance, `n × n` row-major; of a model of several views all of them, one
    /// after the other.
    pub fn decide(&mut self, covariance: &[f64], domain: Domain<'_, T>) -> Result<Decision<'_>> {
        self.decide_with(covariance, domain, Routing::Learnt)
    }

    /// Decodes a trial with given weights of the experts, `1 × 1 × K`, or by another rule than the
    /// router's own, for controls.
    pub fn decide_with(
        &mut self,
        covariance: &[f64],
        mut domain: Domain<'_, T>,
        routing: Routing<'_, f64>,
    ) -> Result<Decision<'_>> {
        let given: MatBatch<T>;
        let routing = match routing {
            Routing::Learnt => Routing::Learnt,
            Routing::Uniform => Routing::Uniform,
            Routing::HardTop1 => Routing::HardTop1,
            Routing::Given(weights) => {
                check_count(
                    OP,
                    "routing weights",
                    self.routing.len(),
                    weights.data().len(),
                )?;
                given = weights.cast();
                Routing::Given(&given)
            }
        };
        self.run(covariance, &mut domain, routing)?;
        let p = &self.probabilities;
        Ok(Decision {
            class: stiefel_linalg::argmax(p),
            probabilities: p,
            routing: (!self.routing.is_empty()).then_some(&self.routing[..]),
        })
    }

    /// The query of the last trial that was routed, where the network routes.
    pub fn query(&self) -> Option<Vec<f64>> {
        let query = self.tape.marked(self.query?)?.value();
        Some(query.data().iter().map(|q| q.to_f64()).collect())
    }

    fn run(
        &mut self,
        covariance: &[f64],
        domain: &mut Domain<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<()> {
        let known = self.whiten(covariance, domain)?;
        let new = match domain {
            Domain::New(handle) => Some(handle.new_domain()),
            Domain::Known(_) | Domain::Named(_) => None,
        };
        let n = self.model.sizes.channels;
        let encoded: &[f64] = if self.routing.is_empty() {
            &[]
        } else {
            let encoder = self.model.frontend.encoder.as_ref();
            self.encode.run(&self.whitened[..n * n], encoder)?
        };
        self.trial.load(&self.whitened, encoded, known);
        self.tape.rewind();
        let batch = self.trial.batch(&[0_usize][..]).for_new(new);
        let network = &self.model.network;
        let outputs = network.forward(&self.tape, &self.bound, &batch, routing)?;
        let log_p = outputs.logits.log_softmax()?.value();
        for (p, log) in self.probabilities.iter_mut().zip(log_p.data()) {
            *p = log.to_f64().exp();
        }
        if let Some(bad) = self.probabilities.iter().find(|p| !p.is_finite()) {
            return Err(ModelError::NotFinite {
                op: OP,
                what: "a class probability",
                trial: 0,
                value: *bad,
            });
        }
        if let (Some(routed), Some(weights)) = (outputs.routed, outputs.weights) {
            for (out, alpha) in self.routing.iter_mut().zip(weights.value().data()) {
                *out = alpha.to_f64();
            }
            self.query = Some(routed.query.mark());
        }
        Ok(())
    }
}
