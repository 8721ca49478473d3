//! A model with one domain more: its name, its whitening and its adapted embedding, as if it had been there at training.

use super::{AdaptedEmbedding, OP, TransductiveConfig, Unlabelled, adapt_embedding};
use crate::means::DomainMeans;
use crate::precondition::{UnseenPolicy, WhitenScratch, WhitenerState, check_single};
use crate::{Frontend, Model, ModelError, Parameters, Result, Whitener};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// A model that knows a new domain, and what its embedding did to the routing.
#[derive(Debug)]
pub struct Adapted<T: Scalar> {
    /// The model.
    pub model: Model<T>,
    /// The new domain's number.
    pub domain: usize,
    /// Its row, and the entropy before and after.
    pub embedding: AdaptedEmbedding<T>,
}

impl<T: Scalar> Model<T> {
    /// A model that also knows the domain `name`, from raw, unlabelled covariances `count × n × n` of it: whitened by `whitening` (pooled or
    /// own-mean; a causal mean changes with every trial and belongs to a [`Decoder`](crate::Decoder)), with an adapted embedding row. All
    /// else has the same bits. A name that was in the list without training trials keeps its number.
    pub fn adapt(
        &self,
        name: &str,
        trials: MatView<'_, f64>,
        whitening: UnseenPolicy,
        config: &TransductiveConfig,
    ) -> Result<Adapted<T>> {
        if self.frontend.views() > 1 {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!(
                    "the model takes {} views of a trial, but a domain can only be added to models of one view",
                    self.frontend.views()
                ),
                remedy: "decode the new domain under a policy for unseen domains",
            });
        }
        let domain = self.place_of(name)?;
        let whitener = self.whitener_with(name, domain, trials, whitening)?;
        let mut whitened = MatBatch::zeros(trials.count(), trials.rows(), trials.cols());
        let mut scratch = WhitenScratch::default();
        for i in 0..trials.count() {
            let out = whitened.matrix_mut(i);
            (whitener.transform_into(domain, trials.matrix(i), out, &mut scratch))
                .map_err(|error| error.at_trial(i))?;
        }
        let encoder = self.frontend.encoder.as_ref();
        let unlabelled = Unlabelled::new(whitened.view(), encoder)?;
        let embedding = adapt_embedding(&self.parameters, &unlabelled, config)?;
        let mut sizes = self.sizes;
        sizes.domains = whitener.domains().len();
        let model = Self {
            config: self.config,
            sizes,
            network: self.config.architecture.network(sizes)?,
            domain_means: self.domain_means.with_domain(domain, &whitened)?,
            parameters: with_row(&self.parameters, domain, &embedding.row)?,
            classes: self.classes.clone(),
            domains: whitener.domains().to_vec(),
            channels: self.channels.clone(),
            routing: self.routing.clone(),
            scaling: self.scaling.clone(),
            validation: self.validation.clone(),
            record: self.record.clone(),
            frontend: Frontend {
                whitener,
                further: Vec::new(),
                encoder: self.frontend.encoder.clone(),
            },
        };
        Ok(Adapted {
            model,
            domain,
            embedding,
        })
    }

    /// The number of a new domain; an error for one with training trials.
    fn place_of(&self, name: &str) -> Result<usize> {
        let Some(domain) = self.domains.iter().position(|d| d == name) else {
            return Ok(self.domains.len());
        };
        match self.frontend.whitener.trials_of(domain) {
            0 => Ok(domain),
            trials => Err(ModelError::KnownDomain {
                op: OP,
                name: name.to_owned(),
                trials,
            }),
        }
    }

    /// The whitener with a frame for the new domain.
    fn whitener_with(
        &self,
        name: &str,
        domain: usize,
        trials: MatView<'_, f64>,
        policy: UnseenPolicy,
    ) -> Result<Whitener> {
        policy.check()?;
        let (whitener, n) = (&self.frontend.whitener, self.sizes.channels);
        if trials.count() == 0 {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "give unlabelled trials of the new domain",
            });
        }
        for i in 0..trials.count() {
            check_single(n, trials.matrix(i), i).map_err(|error| error.at_trial(i))?;
        }
        let mut state = whitener.state();
        let (mean, z, beta) = match policy {
            UnseenPolicy::OwnMean { kappa } => {
                let frame = whitener.own_mean_frame(&trials.to_owned(), kappa)?;
                (frame.mean, frame.z, frame.beta)
            }
            UnseenPolicy::Pooled => (
                state.pooled_mean.clone(),
                state.pooled_whitening.clone(),
                state.pooled_trace / state.pooled_square,
            ),
            UnseenPolicy::Causal { .. } => {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: "a causal mean changes with every trial and cannot be part of a model"
                        .into(),
                    remedy: "choose pooled or own-mean, or adapt the domain with a decoder",
                });
            }
        };
        insert(
            &mut state,
            (name, domain, trials.count()),
            (&mean, &z, beta),
        );
        Whitener::from_state(&state)
    }
}

/// Puts a frame at its place among those of the domains with trials.
fn insert(
    state: &mut WhitenerState,
    (name, domain, trials): (&str, usize, usize),
    (mean, z, beta): (&[f64], &[f64], f64),
) {
    if domain == state.domains.len() {
        state.domains.push(name.to_owned());
        state.trials.push(0);
    }
    state.trials[domain] = trials;
    let before = state.trials[..domain].iter().filter(|t| **t > 0).count();
    let at = before * mean.len();
    state.means.splice(at..at, mean.iter().copied());
    state.whitening.splice(at..at, z.iter().copied());
    state.betas.insert(before, beta);
}

/// The parameters with a row of the embedding replaced, or one more.
fn with_row<T: Scalar>(
    parameters: &Parameters<T>,
    domain: usize,
    row: &[T],
) -> Result<Parameters<T>> {
    let mut all = parameters.clone();
    for parameter in all.iter_mut().filter(|p| p.name == "embedding") {
        let m = row.len();
        let mut table = parameter.value.data().to_vec();
        table.resize(table.len().max((domain + 1) * m), T::ZERO);
        table[domain * m..][..m].copy_from_slice(row);
        parameter.value = MatBatch::from_vec(1, table.len() / m, m, table)?;
    }
    Ok(all)
}

impl DomainMeans {
    /// With the means of a new domain's pre-conditioned trials, at the place of its number.
    fn with_domain(&self, domain: usize, whitened: &MatBatch<f64>) -> Result<Self> {
        let (tangent, riemannian) = Self::of(whitened)?;
        let mut domains = self.domains().to_vec();
        let at = domains.partition_point(|d| *d < domain);
        domains.insert(at, domain);
        let mut rows = self.tangent().data().to_vec();
        let mut matrices = self.riemannian()?.data().to_vec();
        let (row, matrix) = (at * tangent.len(), at * riemannian.len());
        rows.splice(row..row, tangent);
        matrices.splice(matrix..matrix, riemannian);
        Self::from_parts(domains, whitened.rows(), rows, matrices)
    }
}
