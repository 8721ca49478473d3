//! A model of a network that was trained elsewhere: its parameters come from outside, everything
//! around them is fitted here.
//!
//! ```text
//! training trials ─▶ whitener, means of the domains, mean routing, distances     parameters, encoder ─▶ network
//! ```
//!
//! The parameters must have the names and shapes of the network ([`Network::initial`]), finite
//! values, and orthonormal columns where they live on the Stiefel manifold.

use super::{About, Distances, FittedModel};
use crate::model::{mean_routing, sizes};
use crate::net::{Network, Sizes};
use crate::{
    Architecture, DspEncoder, Frontend, Manifold, Model, ModelConfig, ModelError, Parameter,
    Parameters, Ready, Result, TrainingRecord,
};
use stiefel_data::{Seen, Trials};
use stiefel_geometry::spd;
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Scalar};

const OP: &str = "network from elsewhere";

/// Parameters by name.
pub type Named<T> = Vec<(String, MatBatch<T>)>;

impl FittedModel {
    /// The model of a network whose parameters were learnt elsewhere, on these training trials:
    /// whitening, the means of the domains, their mean routing and what is familiar are fitted
    /// on them. The encoder is the one the network was trained with, where its query has one.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::net::{Network, Sizes, SpdNetConfig};
    /// use stiefel_model::train::TrainConfig;
    /// use stiefel_model::{
    ///     Architecture, Factor, FittedModel, ModelConfig, Preconditioning, Trials,
    /// };
    ///
    /// let x = MatBatch::from_fn(4, 3, 3, |i, r, c| {
    ///     if r == c {
    ///         1.0 + ((i + r) % 3) as f64
    ///     } else {
    ///         0.2
    ///     }
    /// });
    /// let trials = Trials::new(
    ///     x,
    ///     Factor::from_labels(["a", "b", "a", "b"]),
    ///     Factor::from_labels(["s", "s", "t", "t"]),
    /// )?;
    /// let architecture = Architecture::Spdnet(SpdNetConfig {
    ///     filters: 2,
    ///     ..SpdNetConfig::default()
    /// });
    /// let config = ModelConfig {
    ///     preconditioning: Preconditioning::default(),
    ///     encoder: None,
    ///     architecture,
    ///     training: TrainConfig::default(),
    ///     frechet_means: false,
    /// };
    /// let sizes = Sizes {
    ///     channels: 3,
    ///     classes: 2,
    ///     domains: 2,
    ///     encoded: 6,
    ///     views: 1,
    /// };
    /// let learnt = architecture.network::<f64>(sizes)?.initial(7);
    /// let learnt = learnt
    ///     .iter()
    ///     .map(|p| (p.name.to_owned(), p.value.clone()))
    ///     .collect();
    /// let model = FittedModel::assemble::<f64>(&trials, &config, None, learnt)?;
    /// assert_eq!(
    ///     model.decide(&trials, None)?.probabilities.shape(),
    ///     (1, 4, 2)
    /// );
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn assemble<T: Scalar>(
        training: &Trials,
        config: &ModelConfig,
        encoder: Option<DspEncoder>,
        learnt: Named<T>,
    ) -> Result<Self> {
        let model = assembled(training, config, encoder, learnt)?;
        let mut model = Self::from(model).with_about(|about| {
            *about = About::new(training.preparation().clone());
            about.seen = Seen::of(training, training);
        });
        model.about.distances = Distances::from_training(&model, training);
        Ok(model)
    }
}

/// The parameters of a network as it starts from a seed, before any data have a say.
pub fn initial<T: Scalar>(
    architecture: &Architecture,
    sizes: Sizes,
    seed: u64,
) -> Result<Parameters<T>> {
    Ok(architecture.network::<T>(sizes)?.initial(seed))
}

fn assembled<T: Scalar>(
    training: &Trials,
    config: &ModelConfig,
    encoder: Option<DspEncoder>,
    learnt: Named<T>,
) -> Result<Model<T>> {
    crate::prepared::check_classes(training)?;
    config.training.check()?;
    if config.encoder.is_some() != encoder.is_some() {
        return Err(ModelError::Impossible {
            op: OP,
            why: "the configuration and the parameters do not agree on an encoder".into(),
            remedy: "give the encoder the network was trained with, or none in both",
        });
    }
    let Ready {
        frontend,
        prepared,
        whitened,
        tangent,
    } = Frontend::fit_whitener::<T>(training, &config.preconditioning, encoder)?;
    let sizes = sizes(training, &prepared);
    let network = config.architecture.network::<T>(sizes)?;
    let parameters = filled(&*network, learnt)?;
    let routing = mean_routing(&*network, &parameters, &prepared)?;
    Ok(Model {
        config: *config,
        sizes,
        frontend,
        domain_means: crate::means::DomainMeans::fit(&whitened, &tangent, config.frechet_means)?,
        routing,
        network,
        parameters,
        names: crate::kind::Names::from_trials(training),
        record: TrainingRecord {
            trials: training.len(),
            validation: 0,
            best_epoch: 0,
            cancelled: false,
            history: Vec::new(),
        },
    })
}

/// The parameters of a network with values from outside, each checked.
fn filled<T: Scalar>(network: &dyn Network<T>, learnt: Named<T>) -> Result<Parameters<T>> {
    let mut parameters = network.initial(0);
    let mut missing: Vec<&'static str> = parameters.iter().map(|p| p.name).collect();
    for (name, value) in learnt {
        value.view().check_finite(OP)?;
        parameters.set(&name, value)?;
        missing.retain(|m| *m != name);
    }
    if let Some(name) = missing.first() {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("there is no value for the parameter \"{name}\""),
            remedy: "give a value for every parameter of the network",
        });
    }
    for parameter in &parameters {
        check(parameter)?;
    }
    Ok(parameters)
}

fn check<T: Scalar>(parameter: &Parameter<T>) -> Result<()> {
    let view = parameter.value.view();
    match parameter.manifold {
        Manifold::Stiefel => stiefel::check_orthonormal(OP, view)?,
        Manifold::State => spd::check_spd(view)?,
        Manifold::Euclidean => {}
        Manifold::Cayley { .. } => {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("\"{}\" is in Cayley coordinates", parameter.name),
                remedy: "give points, with the orthogonality \"riemannian\"",
            });
        }
    }
    Ok(())
}
