//! Whose trial it is: a training domain, or a new one under policies that the caller names.
//!
//! A network trained with domains has two questions about a new one: what whitens its trials
//! ([`Adaptation`]) and what stands in for its row of the embedding ([`AdaptEmbedding`]; both are
//! [`AdaptPolicy`]). [`Decoder::adapt_domain`] answers both once and gives a [`DomainHandle`] for
//! all decisions that follow.

use super::{Decoder, OP};
use crate::adapt::{AdaptedEmbedding, TransductiveConfig, Unlabelled, adapt_embedding};
use crate::error::check_count;
use crate::net::batch_norm::{Norm, NormStatistics, norm_input};
use crate::policy::{AdaptEmbedding, AdaptPolicy};
use crate::precondition::{Adaptation, DomainState};
use crate::prepared::{NewDomain, NormFrame, Row};
use crate::{ModelError, Prepared, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar, symmetrise};

/// The domain of a trial to be decoded.
#[derive(Debug)]
pub enum Domain<'a, T> {
    /// A domain with training trials, by its number.
    Known(usize),
    /// A domain with training trials, by its name.
    Named(&'a str),
    /// A domain without training trials; the handle comes from [`Decoder::adapt_domain`] and
    /// changes under [`Adaptation::Causal`], which learns from every trial decoded.
    New(&'a mut DomainHandle<T>),
}

/// The training domain a new one is nearest to.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// Its number.
    pub domain: usize,
    /// Number of and distance to every training domain.
    pub distances: Vec<(usize, f64)>,
}

/// A new domain, ready for decisions; made by [`Decoder::adapt_domain`], valid for models with the
/// same pre-conditioning and embedding.
#[derive(Debug, Clone)]
pub struct DomainHandle<T> {
    whitening: DomainState,
    /// Whitening of the further views.
    further: Vec<DomainState>,
    new: NewDomain<T>,
    adapted: Option<AdaptedEmbedding<f64>>,
    nearest: Option<Nearest>,
    embedding: AdaptEmbedding,
}

impl<T: Scalar> DomainHandle<T> {
    /// Whether a causal mean stays as it is from now on.
    pub fn freeze(&mut self, frozen: bool) {
        self.whitening.freeze(frozen);
        for view in &mut self.further {
            view.freeze(frozen);
        }
    }

    /// The nearest training domain, where the embedding is borrowed from it.
    pub fn nearest(&self) -> Option<&Nearest> {
        self.nearest.as_ref()
    }

    /// The row found for it and the routing entropy before and after, where it was adapted.
    pub fn adapted(&self) -> Option<&AdaptedEmbedding<f64>> {
        self.adapted.as_ref()
    }

    /// How its trials are whitened.
    pub fn whitening(&self) -> Adaptation {
        self.whitening.policy()
    }

    /// What the network knows of it.
    pub(super) fn new_domain(&self) -> &NewDomain<T> {
        &self.new
    }

    /// What stands in for its embedding.
    pub fn embedding(&self) -> AdaptEmbedding {
        self.embedding
    }
}

impl<T: Scalar> Decoder<T> {
    /// Prepares decisions for a domain without training trials.
    ///
    /// `trials` are raw, unlabelled covariances of the new domain, `count × n × n`. Own-mean
    /// whitening takes its mean from them, causal whitening starts with them in the order
    /// given, a nearest domain or an adapted row is found with them; the other policies do not look
    /// at them, and an empty batch will do. Where the network has batch normalisation, the
    /// trials also give the new domain's statistics, drawn towards the mean over training
    /// domains with the policy's κ; under the pooled policy, or without trials, that mean stands
    /// in. A model of several views needs them all: [`adapt_views`](Self::adapt_views).
    pub fn adapt_domain(
        &self,
        name: &str,
        trials: MatView<'_, f64>,
        adapt: &AdaptPolicy,
    ) -> Result<DomainHandle<T>> {
        self.adapt_views(name, &[trials], adapt)
    }

    /// The same with a batch of raw trials for every view, the broad one first; none at all is an
    /// empty list.
    pub fn adapt_views(
        &self,
        name: &str,
        trials: &[MatView<'_, f64>],
        adapt: &AdaptPolicy,
    ) -> Result<DomainHandle<T>> {
        let frontend = &self.model.frontend;
        let n = self.model.sizes.channels;
        let none = MatView::new(0, n, n, &[])?;
        if !trials.is_empty() {
            let (expected, found) = (frontend.views(), trials.len());
            check_count(OP, "views of the new domain's trials", expected, found)?;
        }
        let view = |v: usize| trials.get(v).copied().unwrap_or(none);
        let mut further = Vec::with_capacity(frontend.further.len());
        for (v, whitener) in frontend.further.iter().enumerate() {
            further.push(whitener.adapt(view(v + 1), adapt.whitening)?);
        }
        let handle = self.adapt_broad(name, view(0), adapt)?;
        Ok(DomainHandle { further, ..handle })
    }

    /// What the broad view says of a new domain.
    fn adapt_broad(
        &self,
        name: &str,
        trials: MatView<'_, f64>,
        adapt: &AdaptPolicy,
    ) -> Result<DomainHandle<T>> {
        let AdaptPolicy {
            whitening,
            embedding,
        } = *adapt;
        whitening.check()?;
        self.check_embedding(embedding)?;
        let initial = self.initial_row(name, embedding)?;
        let own_mean = matches!(whitening, Adaptation::OwnMean { .. });
        if trials.count() == 0 && (own_mean || embedding.uses_target_data()) {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "own-mean whitening, nearest domains and adapted embeddings need \
                         unlabelled trials of the new domain",
            });
        }
        let mut state = (self.model.frontend.whitener).adapt_fresh(trials, whitening)?;
        let has_norm = self.model.network.norm().is_some();
        let for_norm = has_norm && whitening != Adaptation::Pooled;
        let whitened = if embedding.uses_target_data() || for_norm {
            Some(self.whiten_all(trials, &mut state)?)
        } else {
            state.observe_all(trials)?;
            None
        };
        let means = self.model.domain_means();
        let distances = match (embedding, &whitened) {
            (AdaptEmbedding::NearestTangent, Some(x)) => Some(means.tangent_distances(x)?),
            (AdaptEmbedding::NearestRiemannian, Some(x)) => Some(means.riemannian_distances(x)?),
            _ => None,
        };
        let nearest = match distances {
            Some(distances) => Some(Nearest {
                domain: means.nearest(&distances)?,
                distances: means.domains().iter().copied().zip(distances).collect(),
            }),
            None => None,
        };
        let adapted = match (embedding, &whitened) {
            (AdaptEmbedding::Transductive(config), Some(x)) => Some(self.adapted(x, &config)?),
            _ => None,
        };
        let row = match (embedding, &nearest, &adapted) {
            (AdaptEmbedding::InputOnly, ..) => Row::Absent,
            (_, _, Some(adapted)) => Row::Given(adapted.row.clone()),
            (AdaptEmbedding::Initial, ..) => Row::At(initial),
            (_, Some(nearest), _) => Row::At(nearest.domain),
            (..) => Row::Zero,
        };
        let mut new = NewDomain { row, norm: None };
        new.norm = self.norm_frame(whitened.as_ref(), &new, whitening)?;
        Ok(DomainHandle {
            new,
            whitening: state,
            further: Vec::new(),
            adapted: adapted.map(|found| AdaptedEmbedding {
                row: found.row.iter().map(|x| x.to_f64()).collect(),
                entropy_before: found.entropy_before,
                entropy_after: found.entropy_after,
            }),
            nearest,
            embedding,
        })
    }

    /// A row found on whitened trials.
    fn adapted(
        &self,
        whitened: &MatBatch<f64>,
        config: &TransductiveConfig,
    ) -> Result<AdaptedEmbedding<T>> {
        let encoder = self.model.frontend.encoder.as_ref();
        let trials = Unlabelled::new(whitened.view(), encoder)?;
        adapt_embedding(
            &*self.model.network,
            &self.model.parameters,
            &trials,
            config,
        )
    }

    /// The statistics of a new domain in batch normalisation, where the network has it.
    fn norm_frame(
        &self,
        whitened: Option<&MatBatch<f64>>,
        new: &NewDomain<T>,
        policy: Adaptation,
    ) -> Result<Option<NormFrame<T>>> {
        let model = &self.model;
        let Some(norm) = model.network.norm() else {
            return Ok(None);
        };
        let prior = norm.pooled(&model.parameters, model.domain_means().domains())?;
        let kappa = match policy {
            Adaptation::Pooled => None,
            Adaptation::OwnMean { kappa } | Adaptation::Causal { kappa } => Some(kappa),
        };
        let statistics = match (whitened, kappa) {
            (Some(x), Some(kappa)) if x.count() > 0 => {
                let encoder = model.frontend.encoder.as_ref();
                let data = Prepared::unlabelled(x, encoder)?;
                let (network, parameters) = (&*model.network, &model.parameters);
                let entering = norm_input(network, norm, parameters, &data, Some(new))?;
                let mut entering: MatBatch<f64> = entering.cast();
                // Symmetric to the rounding of the network's numbers alone; means in f64 want more.
                symmetrise(&mut entering.view_mut())?;
                NormStatistics::from_points(entering.view(), Some((&prior, kappa)))?
            }
            _ => prior,
        };
        statistics.frame().map(Some)
    }

    /// The trials whitened one after the other.
    fn whiten_all(
        &self,
        trials: MatView<'_, f64>,
        whitening: &mut DomainState,
    ) -> Result<MatBatch<f64>> {
        let n = self.model.sizes.channels;
        let mut out = MatBatch::zeros(trials.count(), n, n);
        for i in 0..trials.count() {
            let done = whitening.transform_into(trials.matrix(i), out.matrix_mut(i));
            done.map_err(|error| error.at_trial(i))?;
        }
        Ok(out)
    }

    /// The embedding policy fits the network.
    fn check_embedding(&self, embedding: AdaptEmbedding) -> Result<()> {
        let has = self.embedding_width().is_some();
        match embedding {
            AdaptEmbedding::InputOnly if has => Err(ModelError::Impossible {
                op: OP,
                why: "the network was trained with a domain embedding, so its query needs one"
                    .into(),
                remedy: "choose zero, initial, nearest-tangent, nearest-riemannian or \
                         transductive, or train without an embedding",
            }),
            AdaptEmbedding::InputOnly => Ok(()),
            AdaptEmbedding::Transductive(_) if self.model.network.routing_count() > 1 => {
                Err(ModelError::Impossible {
                    op: OP,
                    why: "an embedding is adapted by the entropy of one routing, but here every \
                          view has its own routing"
                        .into(),
                    remedy: "choose zero, initial, nearest-tangent or nearest-riemannian",
                })
            }
            _ if !has => Err(ModelError::Impossible {
                op: OP,
                why: "the network has no domain embedding, so nothing can stand in for it".into(),
                remedy: "choose input-only",
            }),
            _ => Ok(()),
        }
    }
}

impl<T: Scalar> Decoder<T> {
    /// The row of a domain that was named at training and had no trials; 0 where none is asked for.
    fn initial_row(&self, name: &str, embedding: AdaptEmbedding) -> Result<usize> {
        if embedding != AdaptEmbedding::Initial {
            return Ok(0);
        }
        let domains = &self.model.names.domains;
        let at = domains.iter().position(|d| d == name);
        let row = at.ok_or_else(|| ModelError::UnknownName {
            what: "domain",
            found: name.to_owned(),
            known: domains.join(", "),
        })?;
        match self.model.frontend.whitener.trial_count(row) {
            0 => Ok(row),
            trials => Err(ModelError::KnownDomain {
                op: OP,
                name: name.to_owned(),
                trials,
            }),
        }
    }

    /// Whitens every view of a trial into the decoder's buffer, and returns the number of its
    /// domain, zero for a new one.
    pub(super) fn whiten(&mut self, trial: &[f64], domain: &mut Domain<'_, T>) -> Result<usize> {
        let frontend = &self.model.frontend;
        let n = self.model.sizes.channels;
        let (size, views) = (n * n, frontend.views());
        if views > 1 {
            check_count(
                OP,
                "values of all views of a trial",
                views * size,
                trial.len(),
            )?;
        }
        let known = match domain {
            Domain::New(handle) => {
                if handle.further.len() != frontend.further.len() || !self.fits(&handle.new) {
                    return Err(ModelError::Impossible {
                        op: OP,
                        why: "the handle was made for another network".into(),
                        remedy: "make it with this decoder's adapt_domain",
                    });
                }
                let states = std::iter::once(&mut handle.whitening).chain(&mut handle.further);
                for (v, state) in states.enumerate() {
                    let x = view_of(trial, v, views, size);
                    state.transform_into(x, &mut self.whitened[v * size..][..size])?;
                }
                return Ok(0);
            }
            Domain::Known(index) => *index,
            Domain::Named(name) => {
                let domains = frontend.whitener.domains();
                let at = domains.iter().position(|d| d == name);
                at.ok_or_else(|| ModelError::UnknownName {
                    what: "domain",
                    found: (*name).to_owned(),
                    known: domains.join(", "),
                })?
            }
        };
        for (v, whitener) in frontend.whiteners().enumerate() {
            let x = view_of(trial, v, views, size);
            let out = &mut self.whitened[v * size..][..size];
            whitener.transform_into(known, x, out, &mut self.scratch)?;
        }
        Ok(known)
    }

    /// The width of the embedding, where there is one.
    fn embedding_width(&self) -> Option<usize> {
        let table = self.model.network.router()?.embedding()?;
        Some(self.model.parameters.at(table)?.value.cols())
    }

    /// A handle may come from another model.
    fn fits(&self, new: &NewDomain<T>) -> bool {
        let (width, count) = (self.embedding_width(), self.model.names.domains.len());
        let row = match &new.row {
            Row::Absent => width.is_none(),
            Row::Zero => width.is_some(),
            Row::At(row) => width.is_some() && *row < count,
            Row::Given(row) => width == Some(row.len()),
        };
        let side = |norm: &NormFrame<T>| norm.inverse_root.rows();
        let norm = self.model.network.norm();
        row && new.norm.as_ref().map(side) == norm.map(Norm::size)
    }
}

/// A view of a trial. Of one view it is the trial itself, whose size the whitener checks.
fn view_of(trial: &[f64], view: usize, views: usize, size: usize) -> &[f64] {
    if views == 1 {
        return trial;
    }
    &trial[view * size..][..size]
}
