//! The networks among the kinds of models: the routed one and the one with a single filter.

mod settings;
mod stored;

pub use settings::{
    LAMBDA_BALANCE, LAMBDA_CSP, LAMBDA_ENTROPY, NetworkSettings, Precision, Sizing,
};

use crate::decoder::{Decision, Decoder, Domain, DomainHandle};
use crate::diagnostics::{RoutingReport, assess, traits_of};
use crate::file::{Archive, Found, inconsistent};
use crate::kind::settings as by_name;
use crate::kind::{
    DataSizes, Describe, Engine, Examination, Fit, Kind, Model as FittedKind, ModelSpec, Names,
    Picture, Start, Variant,
};
use crate::net::{Routing, RoutingRule};
use crate::precondition::{Adaptation, Reference, Tikhonov};
use crate::scaling::Recommendation;
use crate::{Architecture, Model, ModelConfig, ModelError, Result, TrainingRecord, Trials};
use serde_json::Value;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use stiefel_linalg::{MatBatch, Scalar};

/// One of the two networks.
#[derive(Debug)]
pub struct NetworkKind {
    routed: bool,
}

impl NetworkKind {
    /// The kind `dasp`: a filter for every trial, routed from a pool of experts.
    pub const DASP: Self = Self { routed: true };
    /// The kind `spdnet`: one filter for everybody.
    pub const SPDNET: Self = Self { routed: false };

    /// Returns the kind of an architecture.
    pub fn for_architecture(architecture: &Architecture) -> &'static Self {
        match architecture {
            Architecture::Dasp(_) => &Self::DASP,
            Architecture::Spdnet(_) => &Self::SPDNET,
        }
    }

    fn settings(&self, settings: &Value) -> Result<NetworkSettings> {
        let parsed: NetworkSettings = by_name::parse(self.name(), settings)?;
        if matches!(parsed.architecture, Architecture::Dasp(_)) == self.routed {
            return Ok(parsed);
        }
        Err(ModelError::Impossible {
            op: "settings",
            why: format!("the architecture is not that of {}", self.name()),
            remedy: "give the architecture of the kind that is asked for",
        })
    }
}

impl Kind for NetworkKind {
    fn name(&self) -> &'static str {
        if self.routed { "dasp" } else { "spdnet" }
    }

    fn about(&self) -> &'static str {
        if self.routed {
            "a filter for every trial, routed from a pool of expert filters on the Stiefel manifold"
        } else {
            "SPDNet: one filter for everybody"
        }
    }

    fn variants(&self) -> &'static [Variant] {
        if self.routed {
            &settings::OF_DASP
        } else {
            &settings::OF_SPDNET
        }
    }

    fn defaults(&self, variant: Option<&str>, given: &Value, sizes: DataSizes) -> Result<Value> {
        let sizing = match given.get("sizes") {
            None => Sizing::default(),
            // A name that there is not is refused with the other settings.
            Some(sizing) => by_name::parse(self.name(), sizing).unwrap_or_default(),
        };
        let auto = sizing.recommendation(sizes)?;
        let mut settings = NetworkSettings::sized(self.routed, sizing, &auto);
        if let Some(variant) = variant {
            settings.vary(variant);
        }
        by_name::tree(&settings)
    }

    fn schema(&self) -> &'static Value {
        settings::schema_of_network(self.routed)
    }

    fn takes_views(&self) -> bool {
        false
    }

    fn single_expert(&self, settings: &Value) -> Result<Option<Value>> {
        let mut settings = self.settings(settings)?;
        let Architecture::Dasp(network) = &mut settings.architecture else {
            return Ok(None);
        };
        network.experts = 1;
        network.routing = RoutingRule::Soft;
        by_name::tree(&settings).map(Some)
    }

    fn scaling(&self, settings: &Value, sizes: DataSizes) -> Result<Option<Recommendation>> {
        let settings = self.settings(settings)?;
        let Architecture::Dasp(network) = settings.architecture else {
            return Ok(None);
        };
        let auto = settings.sizes.recommendation(sizes)?;
        // What the user chose is not what the rule explains.
        let own = (network.filters, network.experts) != (auto.filters.value, auto.experts.value);
        Ok((!own).then_some(auto))
    }

    fn steps(&self, settings: &Value, training_count: usize) -> usize {
        self.settings(settings).map_or(0, |settings| {
            let training = settings.training;
            training.epochs * training_count.div_ceil(training.batch.max(1))
        })
    }

    fn fit(&'static self, settings: &Value, fit: Fit<'_>) -> Result<Arc<dyn FittedKind>> {
        let settings = self.settings(settings)?;
        match settings.precision {
            Precision::F32 => fitted::<f32>(&settings.config(), fit),
            Precision::F64 => fitted::<f64>(&settings.config(), fit),
        }
    }

    fn read(&'static self, names: Names, file: &mut Archive) -> Found<Arc<dyn FittedKind>> {
        let mut header = stored::Header::default();
        file.text("model", &mut header)?;
        if matches!(header.settings.architecture, Architecture::Dasp(_)) != self.routed {
            let kind = self.name();
            return Err(inconsistent(&format!(
                "its architecture is not that of {kind}"
            )));
        }
        Ok(match stored::precision(&header) {
            Precision::F32 => Arc::new(stored::read::<f32>(header, names, file)?),
            Precision::F64 => Arc::new(stored::read::<f64>(header, names, file)?),
        })
    }
}

fn fitted<T: Scalar>(config: &ModelConfig, fit: Fit<'_>) -> Result<Arc<dyn FittedKind>> {
    let Fit {
        training,
        validation,
        start,
        observer,
    } = fit;
    let Some(start) = start else {
        let model = Model::<T>::fit(training, validation, config, observer)?;
        return Ok(Arc::new(model));
    };
    let any: &dyn Any = start;
    let start: &Model<T> = any.downcast_ref().ok_or(ModelError::Impossible {
        op: "warm start",
        why: "the model was trained in another precision, or is not a network".into(),
        remedy: "start afresh, or keep the precision",
    })?;
    let model = start.fit_on(training, validation, config, observer)?;
    Ok(Arc::new(model))
}

impl From<NetworkSettings> for ModelSpec {
    fn from(settings: NetworkSettings) -> Self {
        Self::from_settings(
            NetworkKind::for_architecture(&settings.architecture),
            &settings,
        )
    }
}

impl From<ModelConfig> for ModelSpec {
    /// Returns a network in single precision.
    fn from(config: ModelConfig) -> Self {
        NetworkSettings::new(config, Precision::F32).into()
    }
}

impl<T: Scalar> FittedKind for Model<T> {
    fn kind(&self) -> &'static dyn Kind {
        NetworkKind::for_architecture(&self.config.architecture)
    }

    fn settings(&self) -> Result<Value> {
        by_name::tree(&NetworkSettings::from_model(self))
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn trial_count(&self, domain: usize) -> usize {
        self.frontend.whitener.trial_count(domain)
    }

    fn start(self: Arc<Self>, start: &Start<'_>) -> Result<Box<dyn Engine>> {
        let decoder = Decoder::new(Arc::clone(&self))?;
        let state = if let Some(domain) = start.known {
            State::Known(domain)
        } else {
            let new = decoder.adapt_views(start.name, start.seen, start.policy()?)?;
            State::New(Box::new(new))
        };
        Ok(Box::new(NetworkEngine { decoder, state }))
    }

    fn write(&self, file: &mut Archive) -> Found<()> {
        stored::write(self, file)
    }

    fn domain_mean(&self, domain: usize) -> Option<Cow<'_, [f64]>> {
        self.frontend.whitener.mean_of(domain).map(Cow::Borrowed)
    }

    fn loading(&self) -> Tikhonov {
        self.config.preconditioning.tikhonov
    }

    fn has_arithmetic_means(&self) -> bool {
        self.config.preconditioning.reference == Reference::Euclidean
    }

    fn describe(&self) -> Vec<Describe> {
        let network = match &self.config.architecture {
            Architecture::Dasp(c) => format!(
                "DASP: {} experts, {} directions each, width {}, anchor {:?}, domain embedding {}",
                c.experts,
                c.filters,
                c.embedding,
                c.anchor,
                if c.domain_embedding { "on" } else { "off" }
            ),
            Architecture::Spdnet(c) => format!("SPDNet: one filter, {} directions", c.filters),
        };
        let encoder = match &self.frontend.encoder {
            None => "off".to_owned(),
            Some(encoder) => format!("{} columns", encoder.outputs()),
        };
        let best = self.record.history.get(self.record.best_epoch);
        let validation = best.map_or("–".into(), |e| {
            format!("balanced accuracy {:.3}", e.validation_accuracy)
        });
        vec![
            Describe::line("network", network),
            Describe::line("encoder", encoder),
            Describe::line("training", training(&self.record)),
            Describe::line("validation", validation),
        ]
    }

    fn expert_count(&self) -> Option<usize> {
        let routed = matches!(self.config.architecture, Architecture::Dasp(_));
        routed.then(|| self.network.expert_count() * self.network.routing_count())
    }

    fn has_embedding(&self) -> bool {
        matches!(self.config.architecture, Architecture::Dasp(c) if c.domain_embedding)
    }

    fn filters(&self) -> Result<Option<MatBatch<f64>>> {
        Ok(Self::filters(self)?.map(|f| f.cast()))
    }

    fn examine(&self, exam: &mut Examination<'_>) -> Result<Option<RoutingReport>> {
        let means = self.routing.as_ref();
        let mean = |i: usize| -> Option<&[f64]> {
            let means = means?;
            let at = exam.domains[i].filter(|&d| d < means.rows())?;
            let row = &means.matrix(0)[at * means.cols()..][..means.cols()];
            // Zeros stand for a domain without training trials.
            row.iter().any(|w| *w > 0.0).then_some(row)
        };
        let report = assess(
            exam.truth,
            exam.test.domains().indices(),
            &mean,
            exam.seed,
            |routing| {
                let found = (exam.decide)(routing)?;
                Ok((found.probabilities, found.routing))
            },
            |alpha| traits_of(&*self.network, &self.parameters, alpha),
        )?;
        Ok(Some(report))
    }

    fn pictures(&self, training: &Trials, count: usize) -> Result<Vec<Picture>> {
        let Some(filters) = Self::filters(self)? else {
            return Ok(Vec::new());
        };
        let whitener = &self.frontend.whitener;
        let known = |name: &&String| {
            let at = self.names.domain(name);
            at.is_some_and(|d| whitener.trial_count(d) > 0)
        };
        for d in training.domains().present() {
            let name = &training.domains().names()[d];
            if !known(&name) {
                let all: Vec<&str> = self
                    .names
                    .domains
                    .iter()
                    .filter(known)
                    .map(|n| &**n)
                    .collect();
                return Err(ModelError::NewDomain {
                    name: name.clone(),
                    known: all.join(", "),
                });
            }
        }
        let numbered = self.names.renumber(training)?;
        let filters = filters.cast();
        let all = crate::diagnostics::patterns(filters.view(), whitener, &numbered, count)?;
        let one = |j: usize| Picture {
            filter: match all.count() {
                1 => "filter".to_owned(),
                _ => format!("expert {}", j + 1),
            },
            patterns: all.single(j),
        };
        Ok((0..all.count()).map(one).collect())
    }

    fn record(&self) -> Option<&TrainingRecord> {
        Some(&self.record)
    }
}

/// How a network was trained; one that another program trained has no epochs to tell of.
fn training(record: &TrainingRecord) -> String {
    if record.history.is_empty() && !record.cancelled {
        return format!("{} trials, by another program", record.trials);
    }
    format!(
        "{} trials, {} chose the epoch; epoch {} of {}{}",
        record.trials,
        record.validation,
        record.best_epoch + 1,
        record.history.len(),
        if record.cancelled {
            ", interrupted"
        } else {
            ""
        }
    )
}

#[derive(Debug)]
struct NetworkEngine<T: Scalar> {
    decoder: Decoder<T>,
    state: State<T>,
}

#[derive(Debug)]
enum State<T> {
    Known(usize),
    New(Box<DomainHandle<T>>),
}

impl<T: Scalar> Engine for NetworkEngine<T> {
    fn decide(&mut self, covariances: &[f64], weights: Routing<'_, f64>) -> Result<Decision<'_>> {
        let domain = match &mut self.state {
            State::Known(domain) => Domain::Known(*domain),
            State::New(handle) => Domain::New(handle),
        };
        self.decoder.decide_with(covariances, domain, weights)
    }

    fn freeze(&mut self, frozen: bool) {
        if let State::New(handle) = &mut self.state {
            handle.freeze(frozen);
        }
    }

    fn query(&self) -> Option<Vec<f64>> {
        self.decoder.query()
    }

    fn adaptation(&self) -> Option<Adaptation> {
        match &self.state {
            State::Known(_) => None,
            State::New(handle) => Some(handle.whitening()),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let State::New(handle) = &self.state else {
            return Vec::new();
        };
        let domains = &self.decoder.model().names.domains;
        let near = handle
            .nearest()
            .map(|near| format!("embedding of {}", domains[near.domain]));
        let adapted = handle.adapted().map(|adapted| {
            format!(
                "routing entropy from {:.3} to {:.3} by adaptation",
                adapted.entropy_before, adapted.entropy_after
            )
        });
        near.into_iter().chain(adapted).collect()
    }
}
