//! A fitted model: one type for networks of either precision and for the preset, held by studies, the program, Python and live decoding.
//!
//! ```text
//! Trials ──fit──▶ FittedModel ──decide──▶ probabilities, routing
//!                     │  ▲
//!                 save│  │load          a file that needs nothing beside it
//! ```
//!
//! With the parameters travel the names of classes, domains and channels, the [`Preparation`] that made the training trials, and which trials
//! these were ([`Seen`]): a model refuses matrices that were made another way, and says of every score how many of the judged trials it knew.

mod about;
mod judge;
mod session;

pub use about::{About, ClassType};
pub use judge::{Judged, Part};
pub use session::Session;

use crate::decoder::Weights;
use crate::diagnostics::{RoutingReport, assess, balanced, traits_of};
use crate::metrics::{Scores, score};
use crate::net::{Routing, RoutingRule};
use crate::scaling::Recommendation;
use crate::train::{Flow, Observer};
use crate::{
    Architecture, Model, ModelConfig, ModelError, PooledConfig, PooledModel, Preconditioning,
    Result, TrainingRecord, Unseen, Whitener,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;
use stiefel_data::{Preparation, Seen, Trials};
use stiefel_linalg::{MatBatch, MatView, Scalar};

const OP: &str = "fitted model";

/// The number type of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single.
    #[default]
    F32,
    /// Double.
    F64,
}

/// Everything that decides a fit, but the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FitConfig {
    /// A network.
    Network {
        /// Pre-conditioning, encoder, architecture and training.
        model: Box<ModelConfig>,
        /// Its number type.
        #[serde(default)]
        precision: Precision,
    },
    /// The preset `recommended`.
    Preset {
        /// Its choices.
        config: Box<PooledConfig>,
    },
}

impl Default for FitConfig {
    /// The preset `recommended`.
    fn default() -> Self {
        Self::Preset {
            config: Box::default(),
        }
    }
}

impl FitConfig {
    /// A network in single precision.
    pub fn network(model: ModelConfig) -> Self {
        Self::Network {
            model: Box::new(model),
            precision: Precision::F32,
        }
    }

    /// The same with another seed; the preset has none.
    pub fn seeded(mut self, seed: u64) -> Self {
        if let Self::Network { model, .. } = &mut self {
            model.training.seed = seed;
        }
        self
    }

    /// The same network with one expert, where it routes: a control.
    pub fn single(&self) -> Option<Self> {
        let mut single = self.clone();
        let Self::Network { model, .. } = &mut single else {
            return None;
        };
        let Architecture::Dasp(network) = &mut model.architecture else {
            return None;
        };
        network.experts = 1;
        network.routing = RoutingRule::Soft;
        Some(single)
    }

    /// The pre-conditioning.
    pub fn preconditioning(&self) -> &Preconditioning {
        match self {
            Self::Network { model, .. } => &model.preconditioning,
            Self::Preset { config } => &config.preconditioning,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Single(Arc<Model<f32>>),
    Double(Arc<Model<f64>>),
    Preset(Arc<PooledModel>),
}

/// Runs an expression on the network of either precision, and another on the preset.
macro_rules! each {
    ($model:expr, $m:ident => $network:expr, $p:ident => $preset:expr) => {
        match &$model.kind {
            crate::fitted::Kind::Single($m) => $network,
            crate::fitted::Kind::Double($m) => $network,
            crate::fitted::Kind::Preset($p) => $preset,
        }
    };
}

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

/// What a model says of a set of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// `1 × N × C`.
    pub probabilities: MatBatch<f64>,
    /// Weights of the experts, `1 × N × K`, where a network routes.
    pub routing: Option<MatBatch<f64>>,
    /// Queries of the router, `1 × N × m`.
    pub queries: Option<MatBatch<f64>>,
    /// What was done for domains without training trials.
    pub notes: Vec<String>,
}

impl Decided {
    /// The most probable class of each trial; the first of equals.
    pub fn classes(&self) -> Vec<usize> {
        let rows = self.probabilities.data();
        rows.chunks_exact(self.probabilities.cols())
            .map(stiefel_linalg::argmax)
            .collect()
    }
}

impl FittedModel {
    /// Fits on training trials; validation trials choose the epoch of a network, or the penalty of the preset. An observer that stops a network
    /// gets the best epoch so far; stopping the preset is [`ModelError::Cancelled`].
    pub fn fit(
        training: &Trials,
        validation: &Trials,
        config: &FitConfig,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        Self::fit_from(training, validation, config, None, observer)
    }

    /// The same from the network and the encoder of a model that was fitted before, whose channels, classes, domains and options of the network
    /// are the same.
    pub fn fit_from(
        training: &Trials,
        validation: &Trials,
        config: &FitConfig,
        start: Option<&Self>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        check_one_view(training)?;
        check_one_view(validation)?;
        if let Some(c) = (training.preparation()).contradiction(validation.preparation()) {
            return Err(ModelError::Contradiction(c));
        }
        let mut about = About::new(training.preparation().clone());
        about.seen = Seen::of(training, validation);
        let kind = match config {
            FitConfig::Network { model, precision } => {
                let of = (training, validation, &**model);
                match (precision, start.map(|s| &s.kind)) {
                    (Precision::F32, None) => {
                        Kind::Single(network(of, None, observer, &mut about)?)
                    }
                    (Precision::F64, None) => {
                        Kind::Double(network(of, None, observer, &mut about)?)
                    }
                    (Precision::F32, Some(Kind::Single(m))) => {
                        Kind::Single(network(of, Some(m), observer, &mut about)?)
                    }
                    (Precision::F64, Some(Kind::Double(m))) => {
                        Kind::Double(network(of, Some(m), observer, &mut about)?)
                    }
                    (_, Some(_)) => {
                        return Err(other_kind(
                            "the model was trained in another precision, or is no network",
                        ));
                    }
                }
            }
            FitConfig::Preset { config } => {
                if start.is_some() {
                    return Err(other_kind(
                        "the preset is solved exactly and starts from nothing",
                    ));
                }
                let observer = RefCell::new(observer);
                let go_on = || observer.borrow_mut().step(0) == Flow::Continue;
                let chosen = PooledModel::choose_while(training, validation, config, &go_on)?;
                // Judged before a second fit has seen the trials that judge.
                about.validation = Some(chosen.score(validation)?);
                if config.refit {
                    about.seen.trained.append(&mut about.seen.stopped);
                    Kind::Preset(Arc::new(chosen.refit_while(training, validation, &go_on)?))
                } else {
                    Kind::Preset(Arc::new(chosen))
                }
            }
        };
        Ok(Self { kind, about })
    }

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
        }
    }

    /// The preset, where it is that.
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
            Kind::Preset(_) => return None,
        };
        any.downcast_ref()
    }

    /// Whether it is a network, not the preset.
    pub fn is_network(&self) -> bool {
        self.preset().is_none()
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
        self.whitener().channels_count()
    }

    /// How its training trials were made.
    pub fn preparation(&self) -> &Preparation {
        &self.about.preparation
    }

    /// What whitens.
    pub fn whitener(&self) -> &Whitener {
        each!(self, m => &m.frontend().whitener, p => p.whitener())
    }

    /// Scores on the validation trials, of a model that was not fitted on them.
    pub fn validation(&self) -> Option<&Scores> {
        self.about.validation.as_ref()
    }

    /// Whether a domain had training trials.
    pub fn knows(&self, domain: &str) -> bool {
        let at = self.domains().iter().position(|d| d == domain);
        at.is_some_and(|d| self.whitener().trials_of(d) > 0)
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

    /// Experts of a network that routes.
    pub fn experts(&self) -> Option<usize> {
        let (architecture, experts) =
            each!(self, m => (m.config().architecture, m.network().experts()), _p => return None);
        matches!(architecture, Architecture::Dasp(_)).then_some(experts)
    }

    /// The experts as points, `K × n × k`, where a network routes; the one filter of the preset.
    pub fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        each!(self, m => Ok(m.experts()?.map(|e| e.cast())), p => Ok(Some(p.anchor().clone())))
    }

    /// The trials as the model takes them: its channels in its order, where both have names. Refuses other channels, other numbers of views, and
    /// matrices that were made another way.
    pub fn accept(&self, trials: &Trials) -> Result<Trials> {
        check_one_view(trials)?;
        if let Some(c) = self.about.preparation.contradiction(trials.preparation()) {
            return Err(ModelError::Contradiction(c));
        }
        let (expected, found) = (self.channels_count(), trials.channels_count());
        let (Some(own), Some(names)) = (self.channels(), trials.channels()) else {
            return if expected == found {
                Ok(trials.clone())
            } else {
                Err(ModelError::Channels {
                    op: OP,
                    expected,
                    found,
                })
            };
        };
        if own == names {
            return Ok(trials.clone());
        }
        let place = |name: &String| {
            let at = names.iter().position(|n| n.eq_ignore_ascii_case(name));
            at.ok_or_else(|| ModelError::Impossible {
                op: OP,
                why: format!(
                    "the model needs channel {name}; the trials have {}",
                    names.join(", ")
                ),
                remedy: "give the channels the model was trained on",
            })
        };
        let at: Result<Vec<usize>> = own.iter().map(place).collect();
        // Found whatever their case; from here on they are the model's.
        Ok(trials.pick(&at?)?.with_channels(own.to_vec())?)
    }

    /// Decides every trial, in order within each domain. Domains are known by name; those without training trials are decoded as `unseen` says.
    pub fn decide(&self, trials: &Trials, unseen: Option<&Unseen>) -> Result<Decided> {
        self.decide_with(&self.accept(trials)?, unseen, Routing::Learnt)
    }

    /// Decides under other weights of the experts, for controls; trials have been accepted.
    fn decide_with(
        &self,
        trials: &Trials,
        unseen: Option<&Unseen>,
        routing: Routing<'_, f64>,
    ) -> Result<Decided> {
        let (count, classes) = (trials.len(), self.classes().len());
        let experts = self.experts().unwrap_or(0);
        let mut probabilities = MatBatch::zeros(1, count, classes);
        let mut alpha = MatBatch::zeros(1, count, experts);
        let (mut queries, mut notes) = (vec![Vec::new(); count], Vec::new());
        for domain in trials.domains().present() {
            let (name, at) = (trials.domains().name(domain), trials.of_domain(domain));
            let own = trials.covariances().select(&at);
            let mut session = self.session_for(name, own.view(), unseen)?;
            notes.extend(session.note());
            for (place, &i) in at.iter().enumerate() {
                let weights = match routing {
                    Routing::Learnt => Weights::Learnt,
                    Routing::Uniform => Weights::Uniform,
                    Routing::HardTop1 => Weights::HardTop1,
                    Routing::Given(all) => {
                        Weights::Given(&all.matrix(0)[i * all.cols()..][..all.cols()])
                    }
                };
                let decision = session
                    .decide_with(own.matrix(place), weights)
                    .map_err(|error| error.at_trial(i))?;
                probabilities.matrix_mut(0)[i * classes..][..classes]
                    .copy_from_slice(decision.probabilities);
                let given = decision.routing.unwrap_or_default();
                alpha.matrix_mut(0)[i * experts..][..experts].copy_from_slice(given);
                queries[i] = session.query().unwrap_or_default();
            }
        }
        let width = queries.first().map_or(0, Vec::len);
        let queries = MatBatch::from_vec(1, count, width, queries.concat())?;
        Ok(Decided {
            probabilities,
            routing: (experts > 0).then_some(alpha),
            queries: (experts > 0).then_some(queries),
            notes,
        })
    }

    /// A domain whose trials are all at hand: own means and nearest domains look at all of them, a causal mean at none before it decides.
    pub fn session_for(
        &self,
        domain: &str,
        trials: MatView<'_, f64>,
        unseen: Option<&Unseen>,
    ) -> Result<Session> {
        let causal = unseen.is_some_and(Unseen::is_causal);
        if causal && unseen.is_some_and(|u| u.embedding.uses_target_data()) && !self.knows(domain) {
            return Err(ModelError::Impossible {
                op: OP,
                why: "a nearest or adapted embedding is found with all trials, and causal whitening knows only those so far".into(),
                remedy: "choose own-mean whitening, or the embedding zero",
            });
        }
        let none = MatBatch::zeros(0, trials.rows(), trials.cols());
        let seen = if causal { none.view() } else { trials };
        self.session(domain, unseen, seen)
    }

    /// Decisions for one domain, trial by trial, with whatever they change (a causal mean) kept from one to the next. `seen` are unlabelled trials
    /// of a domain without training trials that are known beforehand; a training domain needs none.
    pub fn session(
        &self,
        domain: &str,
        unseen: Option<&Unseen>,
        seen: MatView<'_, f64>,
    ) -> Result<Session> {
        Session::new(self, domain, unseen, seen)
    }

    /// The routing report on labelled test trials: does routing help, and is it routing that helps?
    pub fn report(
        &self,
        test: &Trials,
        unseen: Option<&Unseen>,
        seed: u64,
    ) -> Result<RoutingReport> {
        Ok(self.examine(test, unseen, seed)?.0)
    }

    /// The report, and the decisions it is about. Of the preset, whose routing is the domain, nothing is routed where a domain had no training trials.
    pub fn examine(
        &self,
        test: &Trials,
        unseen: Option<&Unseen>,
        seed: u64,
    ) -> Result<(RoutingReport, Decided)> {
        let test = self.accept(test)?;
        let mut decided = None;
        if let Kind::Preset(preset) = &self.kind {
            let found = self.decide_with(&test, unseen, Routing::Learnt)?;
            let known =
                (test.domains().present().iter()).all(|&d| self.knows(test.domains().name(d)));
            let report = if known {
                preset.report(&self.numbered(&test)?, seed)?
            } else {
                let p = &found.probabilities;
                RoutingReport::unrouted(score(&self.truth(&test)?, p.data(), p.cols())?)
            };
            return Ok((report, found));
        }
        let truth = self.truth(&test)?;
        let means = each!(self, m => m.routing.as_ref(), _p => None);
        let names = test.domains();
        let place = |d: &usize| self.domains().iter().position(|n| n == names.name(*d));
        let of: Vec<Option<usize>> = names.indices().iter().map(place).collect();
        let mean = |i: usize| -> Option<&[f64]> {
            let means = means?;
            let at = of[i].filter(|&d| d < means.rows() && self.whitener().trials_of(d) > 0)?;
            let row = &means.matrix(0)[at * means.cols()..][..means.cols()];
            // Zeros stand for a domain that was adapted later and had no training trials.
            row.iter().any(|w| *w > 0.0).then_some(row)
        };
        let report = assess(
            &truth,
            names.indices(),
            &mean,
            seed,
            |routing| {
                let found = self.decide_with(&test, unseen, routing)?;
                let assessed = (found.probabilities.clone(), found.routing.clone());
                // The first are those under the router's own weights.
                decided.get_or_insert(found);
                Ok(assessed)
            },
            |alpha| each!(self, m => traits_of(m.parameters(), alpha), _p => Ok((None, None))),
        )?;
        let decided = decided.ok_or(ModelError::Empty {
            op: OP,
            remedy: "give at least one labelled test trial",
        })?;
        Ok((report, decided))
    }

    /// The control *retrained K = 1*: balanced accuracy of the same network with one expert, trained from scratch. None where nothing is routed.
    pub fn retrain_single(
        &self,
        (training, validation, test): (&Trials, &Trials, &Trials),
        unseen: Option<&Unseen>,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>> {
        let Some(config) = self.config().single() else {
            return Ok(None);
        };
        let single = Self::fit(training, validation, &config, observer)?;
        let p = single.decide(test, unseen)?.probabilities;
        let scores = score(&single.truth(test)?, p.data(), p.cols())?;
        Ok(Some(balanced(&scores)))
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
            Kind::Preset(_) => {}
        }
        self
    }

    /// What the filters see on the sensors, `K × count × n`: of each expert, or of the one filter, the patterns along which the classes of the
    /// training trials differ most. None for a network without experts.
    pub fn patterns(&self, training: &Trials, count: usize) -> Result<Option<MatBatch<f64>>> {
        let training = self.numbered(&self.accept(training)?)?;
        let Some(filters) = self.filters()? else {
            return Ok(None);
        };
        crate::diagnostics::patterns(filters.view(), self.whitener(), &training, count).map(Some)
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

fn other_kind(why: &str) -> ModelError {
    ModelError::Impossible {
        op: "warm start",
        why: why.into(),
        remedy: "start afresh, or keep the precision",
    }
}

fn network<T: Scalar>(
    (training, validation, config): (&Trials, &Trials, &ModelConfig),
    start: Option<&Model<T>>,
    observer: &mut dyn Observer,
    about: &mut About,
) -> Result<Arc<Model<T>>> {
    let model = match start {
        None => Model::fit(training, validation, config, observer)?,
        Some(start) => start.fit_on(training, validation, config, observer)?,
    };
    about.validation.clone_from(&model.validation);
    Ok(Arc::new(model))
}

fn check_one_view(trials: &Trials) -> Result<()> {
    match trials.views() {
        1 => Ok(()),
        views => Err(ModelError::Impossible {
            op: OP,
            why: format!("trials of {views} views, and the model takes one"),
            remedy: "prepare the trials with one view",
        }),
    }
}
