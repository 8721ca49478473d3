//! Fitted models, whatever their kind.

use super::{Balance, Decided, Kind, Names};
use crate::decoder::Decision;
use crate::diagnostics::{Carried, RoutingReport};
use crate::file::{Archive, Found};
use crate::net::Routing;
use crate::precondition::{Adaptation, Preconditioning, Tikhonov};
use crate::train::TrainingRecord;
use crate::{AdaptPolicy, ModelError, Result, Trials};
use serde::Serialize;
use serde_json::Value;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use stiefel_linalg::{MatBatch, MatView};

/// A fitted model of any kind.
pub trait Model: Any + fmt::Debug + Send + Sync {
    /// Returns its kind.
    fn kind(&self) -> &'static dyn Kind;

    /// Returns the settings it was fitted with.
    fn settings(&self) -> Result<Value>;

    /// Returns what it knows by name.
    fn names(&self) -> &Names;

    /// Counts the trials of a domain, by number, that it was trained or calibrated on.
    fn trial_count(&self, domain: usize) -> usize;

    /// Starts decisions for one domain.
    fn start(self: Arc<Self>, start: &Start<'_>) -> Result<Box<dyn Engine>>;

    /// Writes everything but names and origin into its file.
    fn write(&self, file: &mut Archive) -> Found<()>;

    /// Returns the mean of the loaded covariances of a domain, by number, which tells what is
    /// familiar; none where the model keeps none.
    fn domain_mean(&self, _domain: usize) -> Option<Cow<'_, [f64]>> {
        None
    }

    /// Returns what is loaded onto a covariance before it is compared with a mean.
    fn loading(&self) -> Tikhonov {
        Preconditioning::default().tikhonov
    }

    /// Tells whether the means of domains are arithmetic.
    fn has_arithmetic_means(&self) -> bool {
        true
    }

    /// Describes it line by line, each with a heading, for people.
    fn describe(&self) -> Vec<Describe>;

    /// Returns the model after labelled trials of domains, new or known.
    fn calibrate(&self, _trials: &Trials) -> Result<Arc<dyn Model>> {
        Err(ModelError::Impossible {
            op: "calibration",
            why: format!(
                "a model {} has nothing that a few labelled trials of a domain could set",
                self.kind().name()
            ),
            remedy: "train a model that can be calibrated, such as choir",
        })
    }

    /// Tells whether a domain, by number, is known from labelled trials that calibrated it alone.
    fn is_calibrated(&self, _domain: usize) -> bool {
        false
    }

    /// Counts the labelled trials of a domain, by number, class by class, where it can be
    /// calibrated.
    fn balance(&self, _domain: usize) -> Option<Balance> {
        None
    }

    /// Counts the experts among which trials are routed, over all views.
    fn expert_count(&self) -> Option<usize> {
        None
    }

    /// Tells whether something must stand in for the embedding of a new domain.
    fn has_embedding(&self) -> bool {
        false
    }

    /// Returns the filters as points, `K × n × k`, where it has any.
    fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        Ok(None)
    }

    /// Judges its routing on labelled test trials; none where it does not route these.
    fn examine(&self, _exam: &mut Examination<'_>) -> Result<Option<RoutingReport>> {
        Ok(None)
    }

    /// Returns what its filters see on the sensors.
    fn pictures(&self, _training: &Trials, _count: usize) -> Result<Vec<Picture>> {
        Ok(Vec::new())
    }

    /// Returns which views and electrodes carry its decisions, with `people` person by person too.
    fn carried(&self, _training: &Trials, _people: bool) -> Result<Option<Carried>> {
        Ok(None)
    }

    /// Returns sentences about choices made in the fit.
    fn choices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns how it was trained, epoch by epoch, where it was.
    fn record(&self) -> Option<&TrainingRecord> {
        None
    }
}

/// A heading and a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Describe {
    /// The heading, a word.
    pub heading: &'static str,
    /// The text.
    pub text: String,
}

impl Describe {
    /// Returns a line of a description.
    pub fn line(heading: &'static str, text: impl Into<String>) -> Self {
        Self {
            heading,
            text: text.into(),
        }
    }
}

/// The patterns of one filter on the sensors.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Which filter.
    pub filter: String,
    /// One pattern per row, most important first, one value per channel.
    pub patterns: MatBatch<f64>,
}

/// Whose trials are decided, and what is known of them.
#[derive(Debug)]
pub struct Start<'a> {
    /// The domain.
    pub name: &'a str,
    /// Its number, where it had training trials or calibrated the model.
    pub known: Option<usize>,
    /// What is done about its mean and embedding, where that is not settled by training trials.
    pub adapt: Option<&'a AdaptPolicy>,
    /// Unlabelled trials of it that are known beforehand, one batch per view; none is an empty
    /// list.
    pub seen: &'a [MatView<'a, f64>],
    /// The domains that had training trials, for messages.
    pub known_domains: &'a [&'a str],
}

impl Start<'_> {
    /// Returns the policy for a domain without training trials.
    pub fn policy(&self) -> Result<&AdaptPolicy> {
        self.adapt.ok_or_else(|| ModelError::NewDomain {
            name: self.name.to_owned(),
            known: self.known_domains.join(", "),
        })
    }
}

/// Decisions for one domain, trial by trial.
pub trait Engine: fmt::Debug + Send {
    /// Decides a trial, its raw covariances one view after the other, under the given weights of
    /// the experts where it routes.
    fn decide(&mut self, covariances: &[f64], weights: Routing<'_, f64>) -> Result<Decision<'_>>;

    /// Stops, or continues, learning from unlabelled trials.
    fn freeze(&mut self, _frozen: bool) {}

    /// Returns the query of the last decision, where trials are routed.
    fn query(&self) -> Option<Vec<f64>> {
        None
    }

    /// Returns what every view added to the last decision, as log-odds of the class decided.
    fn contributions(&self) -> Option<&[f64]> {
        None
    }

    /// Returns how the trials of a domain without training trials are whitened.
    fn adaptation(&self) -> Option<Adaptation> {
        None
    }

    /// Says what else is done for such a domain, in the order of a sentence.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Labelled test trials on which routing is judged.
pub struct Examination<'a> {
    /// The trials, as the model takes them.
    pub test: &'a Trials,
    /// Their classes as the model numbers them.
    pub truth: &'a [usize],
    /// The number of each trial's domain in the model; none where it had no training trials.
    pub domains: &'a [Option<usize>],
    /// The seed of permutations.
    pub seed: u64,
    /// Decides the trials under other weights of the experts.
    pub decide: &'a mut dyn FnMut(Routing<'_, f64>) -> Result<Decided>,
}

impl fmt::Debug for Examination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Examination({} trials, seed {})",
            self.truth.len(),
            self.seed
        )
    }
}
