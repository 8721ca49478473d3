//! A network's part of a model file.

use super::{NetworkSettings, Precision};
use crate::error::check_count;
use crate::file::{Archive, FileProblem, Found, inconsistent};
use crate::kind::Names;
use crate::means::DomainMeans;
use crate::net::{HeadKind, Sizes};
use crate::{
    Architecture, DspEncoder, Frontend, Manifold, Model, Parameters, Result, TrainingRecord,
    Whitener,
};
use serde::{Deserialize, Serialize};
use stiefel_data::settings;
use stiefel_linalg::{MatBatch, Scalar};

/// The tensor of the encoder.
const ENCODER: &str = "encoder.projection";

/// What is not a number of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) settings: NetworkSettings,
    sizes: Sizes,
    /// Training trials of each domain.
    domain_trials: Vec<usize>,
    /// How many columns of the encoder are between-domain directions, where there is an encoder.
    encoder_between: Option<usize>,
    /// Rows of the mean routing weights, where there are any.
    routed_domains: Option<usize>,
    record: TrainingRecord,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            settings: NetworkSettings::default(),
            sizes: Sizes {
                channels: 0,
                classes: 0,
                domains: 0,
                encoded: 0,
                views: 0,
            },
            domain_trials: Vec::new(),
            encoder_between: None,
            routed_domains: None,
            record: TrainingRecord {
                trials: 0,
                validation: 0,
                best_epoch: 0,
                cancelled: false,
                history: Vec::new(),
            },
        }
    }
}

impl Header {
    fn from_model<T: Scalar>(model: &Model<T>) -> Self {
        let whitener = &model.frontend.whitener;
        let domains = 0..model.names.domains.len();
        let encoder = model.frontend.encoder.as_ref();
        Self {
            settings: NetworkSettings::from_model(model),
            sizes: model.sizes,
            domain_trials: domains.map(|d| whitener.trial_count(d)).collect(),
            encoder_between: encoder.map(DspEncoder::between),
            routed_domains: model.routing.as_ref().map(MatBatch::rows),
            record: model.record.clone(),
        }
    }

    /// Returns the domains with training trials, ascending.
    fn known_domains(&self) -> Vec<usize> {
        let trials = self.domain_trials.iter().enumerate();
        trials.filter(|(_, t)| **t > 0).map(|(d, _)| d).collect()
    }

    /// Counts the weights of a trial's experts, over all views.
    fn weight_count(&self) -> usize {
        match &self.settings.architecture {
            Architecture::Dasp(c) => {
                let each = c.view_routing.count(self.sizes.views);
                c.experts.saturating_mul(each)
            }
            Architecture::Spdnet(_) => 0,
        }
    }

    /// Checks that names, sizes and lists agree.
    fn check(&self, names: &Names) -> Result<()> {
        let s = &self.sizes;
        settings::check("network", &self.settings)?;
        let tangent = s.channels.saturating_mul(s.channels.saturating_add(1)) / 2;
        let with_encoder = usize::from(self.settings.encoder.is_some());
        let unencoded = if with_encoder == 0 {
            s.encoded
        } else {
            tangent
        };
        let routed = self.routed_domains.unwrap_or(s.domains).min(s.domains);
        for (what, expected, found) in [
            ("channels", names.channel_count, s.channels),
            ("views", names.view_count, s.views),
            ("classes", names.classes.len(), s.classes),
            ("domains", names.domains.len(), s.domains),
            ("numbers of trials", s.domains, self.domain_trials.len()),
            (
                "encoders",
                with_encoder,
                usize::from(self.encoder_between.is_some()),
            ),
            ("columns of the query without encoder", tangent, unencoded),
            (
                "rows of mean routing weights, at most",
                routed,
                self.routed_domains.unwrap_or(routed),
            ),
        ] {
            check_count("model file", what, expected, found)?;
        }
        Ok(())
    }

    /// Returns a lower bound of the numbers its parameters hold, so that nobody reserves memory for
    /// what the file cannot contain.
    fn numbers(&self) -> u128 {
        let s = &self.sizes;
        let product = |factors: &[usize]| -> u128 {
            (factors.iter()).fold(1, |product: u128, &f| product.saturating_mul(f as u128))
        };
        let (filters, experts, width, norm) = match &self.settings.architecture {
            Architecture::Dasp(c) => (c.filters, c.experts, c.embedding, c.batch_norm),
            Architecture::Spdnet(c) => (c.filters, 1, 0, c.batch_norm),
        };
        let normalised = norm.map_or(0, |norm| norm.size(s.channels, filters));
        let own = match &self.settings.architecture {
            Architecture::Dasp(c) if c.head != HeadKind::Shared => experts,
            _ => 0,
        };
        let domains = match &self.settings.architecture {
            Architecture::Dasp(c) if c.domain_embedding => s.domains,
            _ => 0,
        };
        [
            product(&[s.views, experts, s.channels, filters]),
            product(&[domains.max(experts), width]),
            product(&[2, width, if width > 0 { s.encoded } else { 0 }]),
            product(&[2, width, width]),
            product(&[s.views, s.classes, filters, filters]) / 2,
            product(&[s.views, own, s.classes, filters, filters]) / 2,
            product(&[s.domains, normalised, normalised]),
        ]
        .into_iter()
        .fold(0, u128::saturating_add)
    }
}

pub(super) fn write<T: Scalar>(model: &Model<T>, file: &mut Archive) -> Found<()> {
    let mut header = Header::from_model(model);
    file.text("model", &mut header)?;
    let n = model.sizes.channels;
    for (view, whitener) in model.frontend.whiteners().enumerate() {
        whitener.clone().numbers(view, file)?;
    }
    if let Some(encoder) = &model.frontend.encoder {
        let shape = (encoder.inputs(), encoder.outputs());
        file.matrix(ENCODER, shape, &mut encoder.projection().clone())?;
    }
    model.domain_means.clone().numbers(n, file)?;
    if let Some(mut routing) = model.routing.clone() {
        let shape = (routing.rows(), routing.cols());
        file.matrix("domains.routing", shape, &mut routing)?;
    }
    parameters(&mut model.parameters.clone(), file)
}

pub(super) fn read<T: Scalar>(header: Header, names: Names, file: &mut Archive) -> Found<Model<T>> {
    header.check(&names).map_err(|e| inconsistent(&e))?;
    let n = header.sizes.channels;
    let mut whiteners = Vec::new();
    for view in 0..header.sizes.views {
        let (config, trials) = (&header.settings.preconditioning, &header.domain_trials);
        whiteners.push(Whitener::read(config, &names, trials, view, file)?);
    }
    let further = whiteners.split_off(1);
    let Some(whitener) = whiteners.pop() else {
        return Err(inconsistent(&"a model without a view"));
    };
    let mut encoder = None;
    if let Some(between) = header.encoder_between {
        let shape = (stiefel_geometry::spd::upper_len(n), header.sizes.encoded);
        let mut columns = MatBatch::default();
        file.matrix(ENCODER, shape, &mut columns)?;
        let read = DspEncoder::from_columns(columns, between);
        encoder = Some(read.map_err(|e| inconsistent(&e))?);
    }
    let frechet = header.settings.frechet_means;
    let mut domain_means = DomainMeans::blank(header.known_domains(), frechet);
    domain_means.numbers(n, file)?;
    let mut routing = None;
    if let Some(rows) = header.routed_domains {
        let mut weights = MatBatch::default();
        let shape = (rows, header.weight_count());
        file.matrix("domains.routing", shape, &mut weights)?;
        routing = Some(weights);
    }
    let promised = header.numbers();
    if promised > file.room::<T>() {
        return Err(FileProblem::Inconsistent(format!(
            "the architecture has at least {promised} numbers, more than the file"
        )));
    }
    let network = (header.settings.architecture).network::<T>(header.sizes);
    let network = network.map_err(|e| inconsistent(&e))?;
    let mut learnt = network.initial(0);
    parameters(&mut learnt, file)?;
    Ok(Model {
        config: header.settings.config(),
        sizes: header.sizes,
        frontend: Frontend {
            whitener,
            further,
            encoder,
        },
        domain_means,
        routing,
        network,
        parameters: learnt,
        names,
        record: header.record,
    })
}

/// Returns the precision that a file is to be read in.
pub(super) fn precision(header: &Header) -> Precision {
    header.settings.precision
}

fn parameters<T: Scalar>(all: &mut Parameters<T>, file: &mut Archive) -> Found<()> {
    for parameter in all {
        let name = format!("parameter.{}", parameter.name);
        let shape = parameter.value.shape();
        file.batch(&name, shape, &mut parameter.value)?;
        match &mut parameter.manifold {
            Manifold::Euclidean => {}
            // Running means and dispersions: positive definite both, the latter as 1 × 1 matrices.
            Manifold::State => file.check_spd(&name, &parameter.value)?,
            Manifold::Stiefel => file.check_orthonormal(&name, &parameter.value)?,
            Manifold::Cayley { base } => {
                let name = format!("base.{}", parameter.name);
                let shape = base.shape();
                file.batch(&name, shape, base)?;
                file.check_orthonormal(&name, base)?;
            }
        }
    }
    Ok(())
}
