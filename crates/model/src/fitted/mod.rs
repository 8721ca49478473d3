//! A fitted model of any kind: the one type that studies, the program, Python and live decoding
//! hold.
//!
//! ```text
//! Trials ──fit──▶ FittedModel ──decide──▶ probabilities, routing
//!                     │  ▲
//!                 save│  │load          a file that needs nothing beside it
//! ```
//!
//! With the parameters travel the names of classes, domains and channels, the [`Preparation`] that
//! made the training trials, and which trials these were (`stiefel_data::Seen`): a model refuses
//! matrices that were made another way, and says of every score how many of the judged trials it
//! knew.

mod about;
mod assembled;
mod calibrate;
mod decide;
mod examine;
mod familiar;
mod familiarity;
mod fit;
mod judge;
mod session;
mod stored;

pub use about::{About, ClassType};
pub use assembled::{Named, initial};
pub use familiar::{Distances, FamiliarityBaseline};
pub use familiarity::{Familiarity, FamiliarityCheck};
pub use judge::{Judged, JudgedPart};
pub use session::DecisionSession;

use crate::kind::{Describe, Model, ModelSpec, Names};
use crate::metrics::Scores;
use crate::scaling::Recommendation;
use crate::train::TrainingRecord;
use crate::{ModelError, Result};
use std::any::Any;
use std::sync::Arc;
use stiefel_data::Preparation;
use stiefel_linalg::MatBatch;

const OP: &str = "fitted model";

/// A model, fitted.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::train::Silent;
/// use stiefel_model::{Factor, FittedModel, ModelSpec, Trials};
///
/// let diagonal = |i: usize, r: usize| 1.0 + ((i * 3 + r) % 5) as f64;
/// let x = MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { diagonal(i, r) } else { 0.2 });
/// let classes = Factor::from_labels(["hand", "feet"].repeat(4));
/// let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
/// let trials = Trials::new(x, classes, domains)?;
/// let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent)?;
/// let decided = model.decide(&trials, None)?;
/// assert_eq!(decided.probabilities.shape(), (1, 8, 2));
/// // It was trained on all of them: there is no score.
/// assert!(model.judge(&trials, None)?.new.is_none());
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FittedModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) about: About,
}

impl FittedModel {
    /// Returns a model of whose origin nothing is known.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            about: About::default(),
        }
    }

    /// Returns what the model knows of itself beside its parameters.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Changes what the model knows of itself.
    pub fn with_about(mut self, change: impl FnOnce(&mut About)) -> Self {
        change(&mut self.about);
        self
    }

    /// Gives each class a weight that its probability is multiplied by before they add up to 1: the
    /// odds of two classes change by the ratio of their weights. A kind whose fit weighs all
    /// classes alike prefers a class in this way.
    pub fn with_class_weights(self, weights: Vec<f64>) -> Result<Self> {
        let (expected, found) = (self.classes().len(), weights.len());
        if expected != found {
            return Err(ModelError::Count {
                op: OP,
                what: "class weights",
                expected,
                found,
            });
        }
        if let Some(&value) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(ModelError::Parameter {
                op: OP,
                name: "the weight of a class",
                value,
                expected: "a finite number above 0",
            });
        }
        Ok(self.with_about(|about| about.class_weights = Some(weights)))
    }

    /// Returns the model as what it is, where it is a `M`.
    pub fn get<M: Model>(&self) -> Option<&M> {
        let any: &dyn Any = &*self.model;
        any.downcast_ref()
    }

    /// Returns the model, whatever its kind.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// Returns how it was fitted.
    pub fn spec(&self) -> Result<ModelSpec> {
        let spec = ModelSpec::complete(self.model.kind(), self.model.settings()?)?;
        Ok(if self.view_count() > 1 {
            spec.on_all_views()
        } else {
            spec
        })
    }

    /// Returns the name of its kind.
    pub fn name(&self) -> &'static str {
        self.model.kind().name()
    }

    /// Returns what it knows by name.
    pub fn names(&self) -> &Names {
        self.model.names()
    }

    /// Returns the names of the classes, in the order of the probabilities.
    pub fn classes(&self) -> &[String] {
        &self.names().classes
    }

    /// Returns the names of the domains that were named at training.
    pub fn domains(&self) -> &[String] {
        &self.names().domains
    }

    /// Returns the names of the channels, in the order of the rows, where known.
    pub fn channels(&self) -> Option<&[String]> {
        self.names().channels.as_deref()
    }

    /// Counts the channels of a trial.
    pub fn channel_count(&self) -> usize {
        self.names().channel_count
    }

    /// Counts the covariances of a trial.
    pub fn view_count(&self) -> usize {
        self.names().view_count
    }

    /// Returns how its training trials were made.
    pub fn preparation(&self) -> &Preparation {
        &self.about.preparation
    }

    /// Returns scores on the validation trials, of a model that was not fitted on them.
    pub fn validation(&self) -> Option<&Scores> {
        self.about.validation.as_ref()
    }

    /// Tells whether a domain had training trials, or calibrated the model.
    pub fn knows(&self, domain: &str) -> bool {
        self.known(domain).is_some()
    }

    /// Returns the number of a domain that had training trials, or calibrated the model.
    pub(super) fn known(&self, domain: &str) -> Option<usize> {
        let at = self.names().domain(domain)?;
        (self.model.trial_count(at) > 0).then_some(at)
    }

    /// Lists the domains that had training trials.
    pub fn known_domains(&self) -> Vec<&str> {
        let all = self.domains().iter().enumerate();
        let known = all.filter(|(d, _)| self.model.trial_count(*d) > 0);
        known.map(|(_, name)| name.as_str()).collect()
    }

    /// Tells whether something must stand in for the embedding of a new domain.
    pub fn has_embedding(&self) -> bool {
        self.model.has_embedding()
    }

    /// Counts the experts among which trials are routed; where every view has weights of its own,
    /// those of all views.
    pub fn expert_count(&self) -> Option<usize> {
        self.model.expert_count()
    }

    /// Returns the filters as points, `K × n × k`, where it has any: the experts of the broad view
    /// of a network that routes, or the one filter of everybody.
    pub fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        self.model.filters()
    }

    /// Returns how it was trained, epoch by epoch, where it was.
    pub fn record(&self) -> Option<&TrainingRecord> {
        self.model.record()
    }

    /// Returns why it has its sizes, where the scaling rule chose them.
    pub fn scaling(&self) -> Option<&Recommendation> {
        self.about.scaling.as_ref()
    }

    /// Describes it line by line, for people.
    pub fn describe(&self) -> Vec<Describe> {
        self.model.describe()
    }
}

impl<M: Model> From<M> for FittedModel {
    fn from(model: M) -> Self {
        Self::new(Arc::new(model))
    }
}
