//! A fitted model: everything learnt from training trials, in one piece.
//!
//! ```text
//! trials ─▶ whitener ─▶ upper(log X) ─▶ encoder ─▶ network ─▶ class probabilities         a whitener per view, the encoder on the broad one
//!           └──────────────── fitted on the training trials only ────────────────┘
//! ```

use crate::error::check_count;
use crate::means::DomainMeans;
use crate::names::Names;
use crate::net::{DaspConfig, DaspNet, FilterSlots, LossWeights, Network, Routing};
use crate::net::{Sizes, SpdNet, SpdNetConfig};
use crate::scaling::Recommendation;
use crate::train::{
    Ended, Evaluation, Observer, TrainConfig, TrainingRecord, evaluate, train_from,
};
use crate::{
    DspConfig, DspEncoder, Parameters, Preconditioning, Prepared, Result, Trials, Whitener,
    tangent_vectors,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_linalg::{MatBatch, Scalar};

/// Which network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "network", rename_all = "kebab-case")]
pub enum Architecture {
    /// The routed network.
    Dasp(DaspConfig),
    /// The baseline.
    Spdnet(SpdNetConfig),
}

impl Architecture {
    /// The network for data of these sizes.
    pub fn network<T: Scalar>(&self, sizes: Sizes) -> Result<Box<dyn Network<T>>> {
        Ok(match *self {
            Self::Dasp(config) => Box::new(DaspNet::new(sizes, config)?),
            Self::Spdnet(config) => Box::new(SpdNet::new(sizes, config)?),
        })
    }
}

/// Everything that is decided before training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// How covariances are whitened and scaled.
    pub preconditioning: Preconditioning,
    /// The domain-separating encoder in front of the query; `None` gives the query the whole
    /// tangent vector.
    pub encoder: Option<DspConfig>,
    /// The network.
    pub architecture: Architecture,
    /// The protocol of training.
    pub training: TrainConfig,
    /// Whether the Fréchet means of the training domains are kept, which the stand-in
    /// [`NearestRiemannian`](crate::AdaptEmbedding::NearestRiemannian) for an embedding needs.
    #[serde(default)]
    pub frechet_means: bool,
}

impl ModelConfig {
    /// The configuration a [`Recommendation`] stands for; where it turns routing off, the baseline
    /// of the same size.
    pub fn sized(auto: &Recommendation, training: TrainConfig) -> Self {
        let (network, encoder) = DaspConfig::sized(auto);
        let architecture = if auto.routing.value {
            Architecture::Dasp(network)
        } else {
            Architecture::Spdnet(SpdNetConfig {
                filters: network.filters,
                ..SpdNetConfig::default()
            })
        };
        Self {
            preconditioning: Preconditioning::default(),
            encoder: encoder.filter(|_| auto.routing.value),
            architecture,
            training,
            frechet_means: false,
        }
    }
}

impl DaspConfig {
    /// The routed network of a recommendation, and its encoder.
    pub fn sized(auto: &Recommendation) -> (Self, Option<DspConfig>) {
        let network = Self {
            filters: auto.filters.value,
            experts: auto.experts.value,
            embedding: auto.embedding.value,
            decoupled_keys: auto.decouple_keys.value,
            losses: LossWeights {
                alignment: auto.lambda_align.value,
                ..LossWeights::default()
            },
            ..Self::default()
        };
        let encoder = auto.dsp_rank.value.map(|rank| DspConfig {
            rank,
            ..DspConfig::default()
        });
        (network, encoder)
    }
}

/// What is fitted on the training trials before the network: whitening and encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontend {
    /// Whitening per domain; with several views, of the broad one.
    pub whitener: Whitener,
    /// The same of the further views, in order.
    pub further: Vec<Whitener>,
    /// The query's encoder, where there is one.
    pub encoder: Option<DspEncoder>,
}

/// Training trials as they are needed: whitened once, their logarithms taken once.
#[derive(Debug)]
pub struct Ready<T> {
    /// What whitened and encoded them.
    pub frontend: Frontend,
    /// As the network takes them.
    pub prepared: Prepared<T>,
    /// The whitened trials, all views.
    pub whitened: Trials,
    /// The tangent vectors of their broad view.
    pub tangent: MatBatch<f64>,
}

impl Frontend {
    /// Fits whitening and encoder on the training trials and prepares these.
    pub fn fit<T: Scalar>(
        training: &Trials,
        preconditioning: &Preconditioning,
        encoder: Option<&DspConfig>,
    ) -> Result<Ready<T>> {
        Self::ready(training, preconditioning, |tangent| {
            let fit = |config: &DspConfig| config.fit(tangent.view(), training.domains().indices());
            encoder.map(fit).transpose()
        })
    }

    /// The same with an encoder that is there already, or none.
    pub(crate) fn fit_whitener<T: Scalar>(
        training: &Trials,
        preconditioning: &Preconditioning,
        encoder: Option<DspEncoder>,
    ) -> Result<Ready<T>> {
        Self::ready(training, preconditioning, |_| Ok(encoder))
    }

    fn ready<T: Scalar>(
        training: &Trials,
        preconditioning: &Preconditioning,
        encoder: impl FnOnce(&MatBatch<f64>) -> Result<Option<DspEncoder>>,
    ) -> Result<Ready<T>> {
        let further: Result<Vec<Whitener>> = (1..training.views())
            .map(|v| preconditioning.fit(&training.pick_views(&[v])?))
            .collect();
        let mut frontend = Self {
            whitener: preconditioning.fit(&training.pick_views(&[0])?)?,
            further: further?,
            encoder: None,
        };
        let whitened = frontend.whiten(training)?;
        let tangent = tangent_vectors::<f64>(&whitened)?;
        frontend.encoder = encoder(&tangent)?;
        Ok(Ready {
            prepared: Prepared::with_tangent(&whitened, &tangent, frontend.encoder.as_ref())?,
            frontend,
            whitened,
            tangent,
        })
    }

    /// The whiteners of all views, the broad one first.
    pub fn whiteners(&self) -> impl Iterator<Item = &Whitener> {
        std::iter::once(&self.whitener).chain(&self.further)
    }

    /// How many covariances of a trial it takes.
    pub fn views(&self) -> usize {
        1 + self.further.len()
    }

    /// Every view of the trials of training domains, whitened.
    fn whiten(&self, trials: &Trials) -> Result<Trials> {
        let (expected, found) = (self.views(), trials.views());
        check_count("pre-conditioning", "views of a trial", expected, found)?;
        let mut all = self.whitener.transform(&trials.pick_views(&[0])?)?;
        for (v, whitener) in self.further.iter().enumerate() {
            let one = whitener.transform(&trials.pick_views(&[v + 1])?)?;
            all = all.with_view(one.covariances().clone())?;
        }
        Ok(all)
    }

    /// Trials of training domains as the network takes them.
    pub fn prepare<T: Scalar>(&self, trials: &Trials) -> Result<Prepared<T>> {
        Prepared::new(&self.whiten(trials)?, self.encoder.as_ref())
    }
}

/// A fitted model.
#[derive(Debug)]
pub struct Model<T: Scalar> {
    pub(crate) config: ModelConfig,
    pub(crate) sizes: Sizes,
    pub(crate) frontend: Frontend,
    pub(crate) domain_means: DomainMeans,
    /// Mean routing weights of each training domain's trials, `1 × D × K`; zeros without trials.
    pub(crate) routing: Option<MatBatch<f64>>,
    pub(crate) network: Box<dyn Network<T>>,
    pub(crate) parameters: Parameters<T>,
    pub(crate) names: Names,
    pub(crate) record: TrainingRecord,
}

impl<T: Scalar> Model<T> {
    /// Fits whitening and encoder on `training`, then trains the network, watching `validation` to
    /// know when to stop.
    ///
    /// Both are selected from one set of trials, so that names and numbers of classes and domains
    /// agree.
    pub fn fit(
        training: &Trials,
        validation: &Trials,
        config: &ModelConfig,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        Self::fit_with(training, validation, config, None, observer)
    }

    /// From a start of its own, or from a fitted model of the same shape.
    pub(crate) fn fit_with(
        training: &Trials,
        validation: &Trials,
        config: &ModelConfig,
        start: Option<&Self>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        crate::prepared::check_classes(training)?;
        let Ready {
            frontend,
            prepared,
            whitened,
            tangent,
        } = match start {
            None => Frontend::fit::<T>(training, &config.preconditioning, config.encoder.as_ref())?,
            Some(start) => Frontend::fit_whitener(
                training,
                &config.preconditioning,
                start.frontend.encoder.clone(),
            )?,
        };
        let domain_means = DomainMeans::fit(&whitened, &tangent, config.frechet_means)?;
        let validation_set = frontend.prepare(validation)?;
        let sizes = sizes(training, &prepared);
        let network = config.architecture.network::<T>(sizes)?;
        let parameters = match start {
            None => network.initial_for(config.training.seed, &prepared)?,
            Some(start) => start.parameters.clone(),
        };
        let fitted = train_from(
            &*network,
            &prepared,
            &validation_set,
            &config.training,
            parameters,
            observer,
        )?;
        let record = TrainingRecord {
            trials: training.len(),
            validation: validation.len(),
            best_epoch: fitted.best_epoch,
            cancelled: fitted.ended == Ended::Cancelled,
            history: fitted.history,
        };
        let routing = mean_routing(&*network, &fitted.parameters, &prepared)?;
        Ok(Self {
            config: *config,
            sizes,
            frontend,
            domain_means,
            routing,
            network,
            parameters: fitted.parameters,
            names: Names::from_trials(training),
            record,
        })
    }

    /// Probabilities and routing of trials of known domains.
    pub fn evaluate(&self, trials: &Trials) -> Result<Evaluation> {
        let prepared = self.frontend.prepare(trials)?;
        evaluate(&*self.network, &self.parameters, &prepared, Routing::Learnt)
    }

    /// What was decided before training.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Whitening and encoder.
    pub fn frontend(&self) -> &Frontend {
        &self.frontend
    }

    /// Where the training domains lie after pre-conditioning.
    pub fn domain_means(&self) -> &DomainMeans {
        &self.domain_means
    }

    /// The sizes the data fixed.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The network.
    pub fn network(&self) -> &dyn Network<T> {
        &*self.network
    }

    /// Its parameters.
    pub fn parameters(&self) -> &Parameters<T> {
        &self.parameters
    }

    /// The experts as points, `K × n × k`, where the network routes; of polar ones the orthonormal
    /// columns, of several views those of the broad one.
    pub fn experts(&self) -> Result<Option<MatBatch<T>>> {
        match self.network.filter_slots() {
            FilterSlots::Pool(..) => self.filters(),
            FilterSlots::Shared(_) => Ok(None),
        }
    }

    /// The filters as points: the experts, `K × n × k`, or the one filter of a network that does
    /// not route, `1 × n × k`; of several views those of the broad one.
    pub fn filters(&self) -> Result<Option<MatBatch<T>>> {
        let (FilterSlots::Pool(slot, _) | FilterSlots::Shared(slot)) = self.network.filter_slots();
        let all = self.parameters.at(slot).map(crate::Parameter::point);
        let broad: Vec<usize> = (0..self.network.expert_count()).collect();
        Ok(all.transpose()?.map(|all| all.select(&broad)))
    }

    /// Names of the classes, in the order of the probabilities.
    pub fn classes(&self) -> &[String] {
        &self.names.classes
    }

    /// Names of the domains.
    pub fn domains(&self) -> &[String] {
        &self.names.domains
    }

    /// Names of the channels, where they were known.
    pub fn channels(&self) -> Option<&[String]> {
        self.names.channels.as_deref()
    }

    /// How it came to be.
    pub fn record(&self) -> &TrainingRecord {
        &self.record
    }
}

/// Mean weights of the experts over each domain's trials, where the network routes.
pub(crate) fn mean_routing<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    training: &Prepared<T>,
) -> Result<Option<MatBatch<f64>>> {
    let Some(alpha) = evaluate(network, parameters, training, Routing::Learnt)?.alpha else {
        return Ok(None);
    };
    let (experts, domains) = (alpha.cols(), training.domains());
    let count = domains.iter().max().map_or(0, |d| d + 1);
    let mut of = vec![0.0; count];
    let mut sums = MatBatch::<f64>::zeros(1, count, experts);
    for (row, &d) in alpha.data().chunks_exact(experts).zip(domains) {
        of[d] += 1.0;
        let sum = sums.matrix_mut(0)[d * experts..][..experts].iter_mut();
        sum.zip(row).for_each(|(s, a)| *s += a);
    }
    let share = |_, d: usize, j: usize| sums.get(0, d, j) / f64::max(of[d], 1.0);
    Ok(Some(MatBatch::from_fn(1, count, experts, share)))
}

/// The sizes the data fixes. Domains without training trials have a row in the embedding too: it
/// stays at its first value.
pub(crate) fn sizes<T: Scalar>(training: &Trials, prepared: &Prepared<T>) -> Sizes {
    Sizes {
        channels: training.channels_count(),
        classes: training.classes().names().len(),
        domains: training.domains().names().len(),
        encoded: prepared.encoded().cols(),
        views: prepared.views(),
    }
}
