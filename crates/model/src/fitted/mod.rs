//! A fitted model: one type for networks of either precision and for the preset, held by studies, the program, Python and live decoding.
//!
//! ```text
//! Trials ──fit──▶ FittedModel ──decide──▶ probabilities, routing
//!                     │  ▲
//!                 save│  │load          a file that needs nothing beside it
//! ```
//!
//! With the parameters travel the names of classes, domains and channels, the [`Preparation`] that made the training trials, and which trials
//! these were (`stiefel_data::Seen`): a model refuses matrices that were made another way, and says of every score how many of the judged trials it knew.

mod about;
mod assembled;
mod calibrate;
mod config;
mod decide;
mod examine;
mod familiar;
mod fit;
mod judge;
mod session;

pub use about::{About, ClassType};
pub use assembled::{Named, initial};
pub use config::{FitConfig, Precision};
pub use decide::Decided;
pub use familiar::{Distances, Yardstick};
pub use judge::{Judged, Part};
pub use session::Session;

use crate::metrics::Scores;
use crate::scaling::Recommendation;
use crate::{
    Architecture, Model, ModelConfig, PooledModel, Result, TrainingRecord, ViewsModel, Whitener,
};
use std::sync::Arc;
use stiefel_data::Preparation;
use stiefel_linalg::{MatBatch, Scalar};

const OP: &str = "fitted model";

/// The number type of a network.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Single(Arc<Model<f32>>),
    Double(Arc<Model<f64>>),
    Preset(Arc<PooledModel>),
    Views(Arc<ViewsModel>),
}

/// Runs an expression on the network of either precision, and another on either preset, or one on each.
macro_rules! each {
    ($model:expr, $m:ident => $network:expr, $p:ident => $preset:expr) => {
        crate::fitted::each!($model, $m => $network, $p => $preset, $p => $preset)
    };
    ($model:expr, $m:ident => $network:expr, $p:ident => $preset:expr, $v:ident => $views:expr) => {
        match &$model.kind {
            crate::fitted::Kind::Single($m) => $network,
            crate::fitted::Kind::Double($m) => $network,
            crate::fitted::Kind::Preset($p) => $preset,
            crate::fitted::Kind::Views($v) => $views,
        }
    };
}
use each;

/// A model, fitted.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::train::Silent;
/// use stiefel_model::{Factor, FitConfig, FittedModel, Trials};
///
/// let x = MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { 1.0 + ((i * 3 + r) % 5) as f64 } else { 0.2 });
/// let classes = Factor::from_labels(["hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet"]);
/// let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
/// let trials = Trials::new(x, classes, domains)?;
/// let model = FittedModel::fit(&trials, &trials, &FitConfig::default(), &mut Silent)?;
/// let decided = model.decide(&trials, None)?;
/// assert_eq!(decided.probabilities.shape(), (1, 8, 2));
/// // It was trained on all of them: there is no score.
/// assert!(model.judge(&trials, None)?.new.is_none());
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FittedModel {
    pub(crate) kind: Kind,
    pub(crate) about: About,
}

impl FittedModel {
    /// What the model knows of itself beside its parameters.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The same model with something more to know of it.
    pub fn with_about(mut self, change: impl FnOnce(&mut About)) -> Self {
        change(&mut self.about);
        self
    }

    /// How it was fitted.
    pub fn config(&self) -> FitConfig {
        let network = |model: &ModelConfig, precision| FitConfig::Network {
            model: Box::new(*model),
            precision,
        };
        match &self.kind {
            Kind::Single(m) => network(m.config(), Precision::F32),
            Kind::Double(m) => network(m.config(), Precision::F64),
            Kind::Preset(p) => FitConfig::Preset {
                config: Box::new(p.config().clone()),
            },
            Kind::Views(v) => FitConfig::Views {
                config: Box::new(v.config().clone()),
            },
        }
    }

    /// The preset `recommended`, where it is that.
    pub fn views_model(&self) -> Option<&ViewsModel> {
        match &self.kind {
            Kind::Views(views) => Some(views),
            _ => None,
        }
    }

    /// The preset `recommended-1`, where it is that.
    pub fn preset(&self) -> Option<&PooledModel> {
        match &self.kind {
            Kind::Preset(preset) => Some(preset),
            _ => None,
        }
    }

    /// The network, where it is one of this precision.
    pub fn network<T: Scalar>(&self) -> Option<&Model<T>> {
        let any: &dyn std::any::Any = match &self.kind {
            Kind::Single(m) => &**m,
            Kind::Double(m) => &**m,
            Kind::Preset(_) | Kind::Views(_) => return None,
        };
        any.downcast_ref()
    }

    /// What kind of model it is, in a word.
    pub fn name(&self) -> &'static str {
        let architecture = each!(self, m => m.config().architecture,
            _p => return "recommended-1", _v => return "recommended");
        match architecture {
            Architecture::Dasp(_) => "dasp",
            Architecture::Spdnet(_) => "spdnet",
        }
    }

    /// Whether it is a network, not a preset.
    pub fn is_network(&self) -> bool {
        each!(self, _m => true, _p => false)
    }

    /// Names of the classes, in the order of the probabilities.
    pub fn classes(&self) -> &[String] {
        each!(self, m => m.classes(), p => p.classes())
    }

    /// Names of the domains that were named at training.
    pub fn domains(&self) -> &[String] {
        each!(self, m => m.domains(), p => p.domains())
    }

    /// Names of the channels, in the order of the rows, where known.
    pub fn channels(&self) -> Option<&[String]> {
        each!(self, m => m.channels(), p => p.channels())
    }

    /// How many channels.
    pub fn channels_count(&self) -> usize {
        each!(self, m => m.frontend().whitener.channels_count(), p => p.whitener().channels_count(), v => v.channels_count())
    }

    /// How many covariances of a trial it takes.
    pub fn views(&self) -> usize {
        each!(self, m => m.frontend().views(), _p => 1, v => v.views())
    }

    /// How its training trials were made.
    pub fn preparation(&self) -> &Preparation {
        &self.about.preparation
    }

    /// What whitens the broad view; the preset `recommended` has frames of its own.
    pub fn whitener(&self) -> Option<&Whitener> {
        each!(self, m => Some(&m.frontend().whitener), p => Some(p.whitener()), _v => None)
    }

    /// Scores on the validation trials, of a model that was not fitted on them.
    pub fn validation(&self) -> Option<&Scores> {
        self.about.validation.as_ref()
    }

    /// Whether a domain had training trials, or calibrated the model.
    pub fn knows(&self, domain: &str) -> bool {
        let at = self.domains().iter().position(|d| d == domain);
        at.is_some_and(|d| self.trials_of(d) > 0)
    }

    /// How many trials of a domain it was trained or calibrated on, by number.
    pub(super) fn trials_of(&self, domain: usize) -> usize {
        match (&self.kind, self.whitener()) {
            (Kind::Views(v), _) => v.person(domain).map_or(0, crate::views::Person::labels),
            (_, Some(whitener)) => whitener.trials_of(domain),
            (_, None) => 0,
        }
    }

    /// The domains that had training trials.
    pub fn known_domains(&self) -> Vec<&str> {
        let all = self.domains().iter().map(String::as_str);
        all.filter(|d| self.knows(d)).collect()
    }

    /// Whether something must stand in for the embedding of a new domain.
    pub fn has_embedding(&self) -> bool {
        let architecture = each!(self, m => m.config().architecture, _p => return false);
        matches!(architecture, Architecture::Dasp(c) if c.domain_embedding)
    }

    /// Experts of a network that routes; where every view has weights of its own, those of all views.
    pub fn experts(&self) -> Option<usize> {
        let (architecture, experts) = each!(self,
            m => (m.config().architecture, m.network().experts() * m.network().routings()),
            _p => return None);
        matches!(architecture, Architecture::Dasp(_)).then_some(experts)
    }

    /// The experts as points, `K × n × k`, where a network routes, those of the broad view; the one filter of the preset.
    pub fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        each!(self, m => Ok(m.experts()?.map(|e| e.cast())), p => Ok(Some(p.anchor().clone())))
    }

    /// How a network was trained.
    pub fn record(&self) -> Option<&TrainingRecord> {
        each!(self, m => Some(m.record()), _p => None)
    }

    /// Why a network has its sizes, where the scaling rule chose them.
    pub fn scaling(&self) -> Option<&Recommendation> {
        each!(self, m => m.scaling(), _p => None)
    }

    /// Says why a network has its sizes; where others hold the same network, nothing changes.
    pub fn with_scaling(mut self, recommendation: Recommendation) -> Self {
        match &mut self.kind {
            Kind::Single(m) => {
                if let Some(m) = Arc::get_mut(m) {
                    m.scaling = Some(recommendation);
                }
            }
            Kind::Double(m) => {
                if let Some(m) = Arc::get_mut(m) {
                    m.scaling = Some(recommendation);
                }
            }
            Kind::Preset(_) | Kind::Views(_) => {}
        }
        self
    }
}

impl From<Model<f32>> for FittedModel {
    fn from(model: Model<f32>) -> Self {
        Self {
            kind: Kind::Single(Arc::new(model)),
            about: About::default(),
        }
    }
}

impl From<Model<f64>> for FittedModel {
    fn from(model: Model<f64>) -> Self {
        Self {
            kind: Kind::Double(Arc::new(model)),
            about: About::default(),
        }
    }
}

impl From<PooledModel> for FittedModel {
    fn from(model: PooledModel) -> Self {
        Self {
            kind: Kind::Preset(Arc::new(model)),
            about: About::default(),
        }
    }
}

impl From<ViewsModel> for FittedModel {
    fn from(model: ViewsModel) -> Self {
        Self {
            kind: Kind::Views(Arc::new(model)),
            about: About::default(),
        }
    }
}
