//! Which model, and how it is trained: the method of a study by its name, with what the user changes.

use clap::Args;
use serde_json::json;
use stiefel::model::scaling::Recommendation;
use stiefel::model::{Architecture, FitConfig};
use stiefel::study::peers::Peer;
use stiefel::study::{Family, Method, Study, StudyConfig};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The model, by the name it has in studies
    #[arg(long, value_name = "NAME", default_value = "recommended")]
    model: String,
    /// Sizes of a network: auto (the scaling rule, see `recommend`), or the paper's for weibo2014, bnci2014001, bnci2015001 [default: auto]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Directions k that a filter keeps; of the broad view for recommended [default: the scaling rule's; 16 for recommended and recommended-1]
    #[arg(long, value_name = "K")]
    filters: Option<usize>,
    /// Experts in the pool of a routed network [default: the scaling rule's]
    #[arg(long, value_name = "N")]
    experts: Option<usize>,
    /// Train a routed network without a domain embedding: for people the model has never seen (input-only)
    #[arg(long)]
    no_embedding: bool,
    /// Seed of the split and, in networks, of the first values and the order of trials
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Epochs of a network at most [default: 40]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Epochs without a better validation score before stopping [default: 10]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Learning rate of a network [default: 0.01]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Trials per step of a network [default: 32]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Number type of a network: f32 or f64 [default: f32]
    #[arg(long, value_name = "TYPE")]
    precision: Option<String>,
    /// recommended: prior variance of the weights everybody shares [default: 0.1]
    #[arg(long, value_name = "VARIANCE")]
    shared_variance: Option<f64>,
    /// recommended: prior variance of what a domain adds to them; 0: the same weights for everybody [default: 2]
    #[arg(long, value_name = "VARIANCE")]
    own_variance: Option<f64>,
    /// recommended-1: inverse penalties C to choose from on the validation trials [default: 1,3,10,30]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    c: Option<Vec<f64>>,
    /// recommended-1: variance of a domain's own weights over that of the shared ones; 0: the same head for everybody [default: 8]
    #[arg(long, value_name = "RATIO")]
    rho: Option<f64>,
    /// recommended, recommended-1: do not fit again on training and validation trials together
    #[arg(long)]
    no_refit: bool,
}

/// What is to be fitted.
pub(super) struct Chosen {
    /// Its name in studies.
    pub(super) name: String,
    /// Whether it takes all views of a trial.
    pub(super) takes_views: bool,
    pub(super) fit: FitConfig,
    /// Why its sizes were chosen, where the rule chose them.
    pub(super) explained: Option<Recommendation>,
    /// Epochs at most, and trials per step, of a network.
    pub(super) epochs: Option<usize>,
    pub(super) batch: usize,
}

impl Options {
    /// The name of the model, before anything is loaded.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let known = Family::models();
        if self.model == "spdnet" || known.contains(&self.model.as_str()) {
            return Ok(());
        }
        let why = match self.model.parse::<Peer>() {
            Ok(_) => "it is a peer in studies and does not give a model",
            Err(_) => "there is no such model",
        };
        Err(Failure::Misuse(format!(
            "--model {}: {why}; the models are {}",
            self.model,
            known.join(", ")
        )))
    }

    /// The method on data of so many channels and domains. An option that the method has no use for is refused.
    pub(super) fn chosen(
        &self,
        source: &str,
        channels: usize,
        domains: usize,
    ) -> Result<Chosen, Failure> {
        let settings = [
            ("preset", self.preset.as_ref().map(|x| json!(x))),
            ("epochs", self.epochs.map(|x| json!(x))),
            ("patience", self.patience.map(|x| json!(x))),
            ("batch", self.batch.map(|x| json!(x))),
            ("learning_rate", self.learning_rate.map(|x| json!(x))),
            ("precision", self.precision.as_ref().map(|x| json!(x))),
        ];
        let given = settings
            .into_iter()
            .filter_map(|(name, x)| Some((name, x?)));
        let config = StudyConfig::with_settings(Study::Main, source, given)?;
        config.training.check()?;
        let family = config.family(channels, domains)?;
        let named = family.by_name(&self.model)?;
        let takes_views = named.method.takes_views();
        let Method::Model { mut fit, .. } = named.method else {
            return Err(Failure::Misuse(format!(
                "{} is a peer of studies, not a model",
                named.name
            )));
        };
        self.refuse(&named.name, &fit)?;
        let own = self.filters.is_some() || self.experts.is_some();
        let (mut explained, mut epochs) = (None, None);
        match &mut fit {
            FitConfig::Network { model, .. } => {
                epochs = Some(model.training.epochs);
                match &mut model.architecture {
                    Architecture::Dasp(net) => {
                        net.filters = self.filters.unwrap_or(net.filters);
                        net.experts = self.experts.unwrap_or(net.experts);
                        net.domain_embedding &= !self.no_embedding;
                        // What the user chose is not what the rule explains.
                        explained = (!own).then(|| family.auto.clone());
                    }
                    Architecture::Spdnet(net) => net.filters = self.filters.unwrap_or(net.filters),
                }
            }
            FitConfig::Preset { config } => {
                config.filters = self.filters.unwrap_or(config.filters);
                config.head.ratio = self.rho.unwrap_or(config.head.ratio);
                if let Some(c) = &self.c {
                    config.head.candidates.clone_from(c);
                }
                config.refit &= !self.no_refit;
                config.check()?;
            }
            FitConfig::Views { config } => {
                if let (Some(filters), Some(broad)) = (self.filters, config.blocks.first_mut()) {
                    broad.filters = filters;
                }
                config.shared = self.shared_variance.unwrap_or(config.shared);
                config.own = self.own_variance.unwrap_or(config.own);
                config.refit &= !self.no_refit;
                config.check()?;
            }
        }
        Ok(Chosen {
            name: named.name,
            takes_views,
            fit: fit.seeded(self.seed),
            explained,
            epochs,
            batch: config.training.batch,
        })
    }

    /// Options of another kind of model.
    fn refuse(&self, name: &str, fit: &FitConfig) -> Result<(), Failure> {
        let routed = [
            ("--experts", self.experts.is_some()),
            ("--no-embedding", self.no_embedding),
        ];
        let network = [
            ("--preset", self.preset.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--patience", self.patience.is_some()),
            ("--learning-rate", self.learning_rate.is_some()),
            ("--batch", self.batch.is_some()),
            ("--precision", self.precision.is_some()),
        ];
        let logistic = [("--c", self.c.is_some()), ("--rho", self.rho.is_some())];
        let ridge = [
            ("--shared-variance", self.shared_variance.is_some()),
            ("--own-variance", self.own_variance.is_some()),
        ];
        let refit = [("--no-refit", self.no_refit)];
        let (why, others): (&str, Vec<(&str, bool)>) = match fit {
            FitConfig::Preset { .. } => (
                "does not train a network, and chooses its penalty itself",
                [&network[..], &routed, &ridge].concat(),
            ),
            FitConfig::Views { .. } => (
                "does not train a network, and has no penalty to choose",
                [&network[..], &routed, &logistic].concat(),
            ),
            FitConfig::Network { model, .. } => match model.architecture {
                Architecture::Dasp(_) => (
                    "has no head that is solved exactly",
                    [&logistic[..], &ridge, &refit].concat(),
                ),
                Architecture::Spdnet(_) => (
                    "has one filter and no experts, and no head that is solved exactly",
                    [&logistic[..], &ridge, &refit, &routed].concat(),
                ),
            },
        };
        let given: Vec<&str> = others.iter().filter(|o| o.1).map(|o| o.0).collect();
        if given.is_empty() {
            return Ok(());
        }
        Err(Failure::Misuse(format!(
            "--model {name} {why}; leave out {}",
            given.join(", ")
        )))
    }
}
