//! Networks: a composition of layers that reads like the equations.
//!
//! A [`Network`] is an architecture: sizes and options, no numbers. Its numbers are [`Parameters`],
//! kept apart so that the optimiser, checkpoints and model files treat every network alike.
//! `forward` writes the computation on a tape.

pub mod batch_norm;
mod bound;
mod config;
mod dasp;
mod layer;
mod layout;
mod losses;
mod options;
pub(crate) mod pool;
mod query;
pub(crate) mod sparse;
mod spdnet;
mod start;
mod tail;

pub use crate::parameters::StateUpdate;
pub use crate::sizes::Sizes;
pub use batch_norm::{BatchNormConfig, NormPosition};
pub use bound::Bound;
pub(crate) use config::{ANCHOR_NOISE, HEAD_RIDGE};
pub use config::{
    Anchor, DaspConfig, HeadKind, InitialAnchor, InitialExperts, LossWeights, Orthogonality,
    Retraction, SpdNetConfig,
};
pub use dasp::DaspNet;
pub use layer::{LayerInput, LayerOutput, Recorded, RoutedLayer};
pub use losses::{Losses, alignment, balance, barrier, entropy, shrink};
pub use options::{BarrierKind, ExpertKind, RoutingRule, ViewRouting};
pub(crate) use query::Router;
pub use spdnet::SpdNet;

use crate::csp::CspTerm;
use crate::error::check_count;
use crate::parameters::Slot;
use crate::prepared::PerSample;
use crate::{Batch, Parameters, Prepared, Result};
use batch_norm::{Norm, NormValues};
use bound::Points;
use pool::PoolValues;
use smallvec::SmallVec;
use stiefel_autodiff::{Mark, Tape, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// Lists with an entry for every view of a trial; those of more than eight views are allocated.
pub(crate) type PerView<X> = SmallVec<[X; 8]>;

/// Returns a list of a batch.
fn few(count: usize, of: impl FnMut(usize) -> usize) -> PerSample<usize> {
    (0..count).map(of).collect()
}

/// What a network computes of its parameters alone, once for all samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct Derived {
    /// The filter of every view, where there is one for everybody.
    filters: PerView<Mark>,
    /// The pool of every view, where trials are routed.
    pools: PerView<PoolValues>,
    /// The keys of every routing.
    keys: PerView<Mark>,
    /// What batch normalisation needs.
    norm: Option<NormValues>,
}

/// The parameters on which reports look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterSlots {
    /// One filter for everybody.
    Shared(Slot),
    /// Experts, and their scales where they are polar.
    Pool(Slot, Option<Slot>),
}

/// An error unless a batch has the views of the network.
fn check_views<T: Scalar>(batch: &Batch<'_, T>, expected: usize) -> Result<()> {
    check_count("network", "views of a trial", expected, batch.data.views())
}

/// Which routing weights a forward pass uses.
#[derive(Debug, Clone, Copy)]
pub enum Routing<'a, T> {
    /// Those the network computes.
    Learnt,
    /// `1/K` for every expert, inside a routed anchor too: the K = 1 proxy.
    Uniform,
    /// One-hot at the winner.
    HardTop1,
    /// Given weights, `1 × B × K`.
    Given(&'a MatBatch<T>),
}

/// What a forward pass gives.
#[derive(Debug, Clone)]
pub struct Outputs<'t, T: Scalar> {
    /// Class scores before the softmax, `1 × B × C`.
    pub logits: Var<'t, T>,
    /// What happened in the router, where the network has one; with several views, to the experts
    /// of the broad one.
    pub routed: Option<Routed<'t, T>>,
    /// Those of the further views, in order. With one routing per trial they differ in the experts
    /// alone.
    pub further: SmallVec<[Routed<'t, T>; 7]>,
    /// The weights of the experts, `1 × B × K`; with one routing per view `1 × B × V·K`, those of
    /// a view summing to one.
    pub weights: Option<Var<'t, T>>,
    /// Penalties on parameters, by name and already weighted.
    pub penalties: Vec<(&'static str, Var<'t, T>)>,
    /// In training, the running statistics after this batch.
    pub state: Vec<StateUpdate<T>>,
}

/// The inside of a router.
#[derive(Debug, Clone, Copy)]
pub struct Routed<'t, T: Scalar> {
    /// Queries, `1 × B × m`.
    pub query: Var<'t, T>,
    /// Keys, `1 × K × m`.
    pub keys: Var<'t, T>,
    /// Scaled scores of the keys before the softmax, `1 × B × K`.
    pub scores: Var<'t, T>,
    /// The softmax of the scores, `1 × B × K`.
    pub soft: Var<'t, T>,
    /// Routing weights in use, `1 × B × K`.
    pub alpha: Var<'t, T>,
    /// What is mixed, `K × n × k`: experts as tangent vectors at the anchor (as seen from the
    /// first sample's where each has its own), or unconstrained experts as they are.
    pub tangents: Var<'t, T>,
    /// The filters `W_i`, `B × n × k`, where they are a value of their own: the fused Stiefel
    /// layer keeps them to itself.
    pub filters: Option<Var<'t, T>>,
    /// Orthonormal bases of the filters' columns, `B × n × k`, where the CSP loss needs them.
    pub directions: Option<Var<'t, T>>,
}

/// What the layers of a network show the rest of the crate.
pub(crate) trait Layers<T: Scalar> {
    /// Computes what depends on the parameters alone.
    fn derive(&self, p: &Points<'_, '_, T>) -> Result<Derived>;

    /// Returns the matrices that enter batch normalisation, one per sample.
    fn norm_input<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        position: NormPosition,
    ) -> Result<Var<'t, T>>;

    /// Returns batch normalisation, where the network has it.
    fn norm(&self) -> Option<&Norm>;

    /// Returns the router, where trials are routed.
    fn router(&self) -> Option<&Router> {
        None
    }

    /// Says where its filters are among the parameters.
    fn filter_slots(&self) -> FilterSlots;
}

/// An architecture that decodes covariances. There are two; options make of them what there is.
#[allow(private_bounds, reason = "networks are of this crate")]
pub trait Network<T: Scalar>: Layers<T> + std::fmt::Debug + Send + Sync {
    /// What reports call it.
    fn name(&self) -> &'static str;

    /// Fresh parameters from a seed.
    fn initial(&self, seed: u64) -> Parameters<T>;

    /// First parameters for this training set: [`initial`](Self::initial), with what the options
    /// say is fitted on the data.
    fn initial_for(&self, seed: u64, _training: &Prepared<T>) -> Result<Parameters<T>> {
        Ok(self.initial(seed))
    }

    /// Puts parameters on a tape, for training.
    fn bind(&self, tape: &Tape<T>, parameters: &Parameters<T>) -> Result<Bound> {
        let mut bound = Bound::training(parameters, tape)?;
        bound.derived = self.derive(&bound.on(tape))?;
        Ok(bound)
    }

    /// Puts parameters on a tape as constants, for evaluation: nothing is recorded for a backward
    /// pass.
    fn bind_frozen(&self, tape: &Tape<T>, parameters: &Parameters<T>) -> Result<Bound> {
        let mut bound = Bound::frozen(parameters, tape)?;
        bound.derived = self.derive(&bound.on(tape))?;
        Ok(bound)
    }

    /// The computation, on the tape to which the parameters are bound: the same for training, for
    /// evaluation and for a single decision.
    fn forward<'t>(
        &self,
        tape: &'t Tape<T>,
        parameters: &Bound,
        batch: &Batch<'_, T>,
        routing: Routing<'_, T>,
    ) -> Result<Outputs<'t, T>>;

    /// The losses of a forward pass.
    fn losses<'t>(&self, outputs: &Outputs<'t, T>, labels: &[usize]) -> Result<Losses<'t, T>>;

    /// The CSP targets its filters are drawn to; training keeps them and adds the term. `None`
    /// where it has no such term.
    fn csp(&self) -> Option<CspTerm> {
        None
    }

    /// The number of experts, of each view where there are several; 1 where nothing is routed.
    fn expert_count(&self) -> usize;

    /// Routings of a trial: one, or one per view.
    fn routing_count(&self) -> usize {
        1
    }
}
