//! Does routing help, and is it routing that helps?
//!
//! `Δ_K1 = bAcc(adaptive) − bAcc(W†)`, where `W†` is the same model with `α = 1/K` everywhere. A
//! positive gap alone does not show that routing helps: the averaged filter may simply be bad. So
//! every [`RoutingReport`] has controls beside it, on the same weights and the same test trials:
//!
//! * *permuted*: each sample gets another one's weights;
//! * *domain mean*: each sample gets the mean weights of its domain's training trials;
//! * *hard top-1*: the winner alone;
//! * *retrained K = 1*: the same layer with one expert, trained from scratch
//!   ([`FittedModel::retrain_single`](crate::FittedModel::retrain_single)), where asked for.
//!
//! What they mean together is a [`RoutingVerdict`], by one rule for all who ask.

mod carried;
mod patterns;
mod report;
pub mod verdict;

pub use carried::{Carried, CarriedBy};
pub use patterns::patterns;
pub use report::{Controls, RoutingReport};
pub use verdict::{RoutedBy, RoutingEvidence, RoutingFigures, RoutingFinding, RoutingVerdict};

use crate::error::check_count;
use crate::metrics::{Scores, score};
use crate::net::{FilterSlots, Network, Routing};
use crate::routing_stats::{
    ExpertDiversity, FilterRank, expert_diversity, filter_rank, routing_stats,
};
use crate::{ModelError, Parameters, Result, random};
use std::collections::BTreeMap;
use stiefel_linalg::{MatBatch, Scalar};

/// The routing report of whatever decides labelled test trials: `decide` gives probabilities and
/// weights under a routing. `means` are the mean weights of each domain over its training trials,
/// none where it had none; `experts` are any bases `K × n × k` of what the experts see.
///
/// For networks that live elsewhere, in another framework; fitted models have
/// [`FittedModel::report`](crate::FittedModel::report).
pub fn report_of(
    (truth, domains): (&[usize], &[usize]),
    means: &BTreeMap<usize, Vec<f64>>,
    experts: Option<&MatBatch<f64>>,
    seed: u64,
    decide: impl FnMut(Routing<'_, f64>) -> Result<Assessed>,
) -> Result<RoutingReport> {
    let count = truth.len();
    check_count("routing report", "domains", count, domains.len())?;
    let mut decide = decide;
    let checked = |routing: Routing<'_, f64>| {
        let (probabilities, alpha) = decide(routing)?;
        let rows = alpha.as_ref().map_or(count, MatBatch::rows);
        for found in [probabilities.rows(), rows] {
            check_count("routing report", "rows of decisions", count, found)?;
        }
        Ok((probabilities, alpha))
    };
    let mean = |i: usize| means.get(&domains[i]).map(Vec::as_slice);
    assess(truth, domains, &mean, seed, checked, |_| {
        let basis = |x: &MatBatch<f64>| stiefel_geometry::stiefel::orthonormal_factor(x.view());
        let diversity = experts.map(|x| expert_diversity(basis(x)?.q.view()));
        Ok((diversity.transpose()?, None))
    })
}

/// Probabilities `1 × N × C` of the test trials and, where there is routing, weights `1 × N × K`.
pub type Assessed = (MatBatch<f64>, Option<MatBatch<f64>>);

/// Diversity and rank of the experts.
pub(crate) type Traits = (Option<ExpertDiversity>, Option<FilterRank>);

/// The report, from whatever decides the test trials under given weights of the experts. `mean` is
/// the mean weights of a trial's domain over its training trials, none where it had none: the trial
/// then keeps its own.
pub(crate) fn assess<'a>(
    truth: &[usize],
    domains: &[usize],
    mean: &dyn Fn(usize) -> Option<&'a [f64]>,
    seed: u64,
    mut decide: impl FnMut(Routing<'_, f64>) -> Result<Assessed>,
    traits: impl FnOnce(&MatBatch<f64>) -> Result<Traits>,
) -> Result<RoutingReport> {
    if truth.is_empty() {
        return Err(ModelError::Empty {
            op: "routing report",
            remedy: "give at least one labelled test trial",
        });
    }
    let (probabilities, alpha) = decide(Routing::Learnt)?;
    let classes = probabilities.cols();
    let scores = score(truth, probabilities.data(), classes)?;
    let Some(alpha) = alpha else {
        return Ok(RoutingReport::unrouted(scores));
    };
    let mut accuracy = |routing: Routing<'_, f64>| -> Result<f64> {
        let (probabilities, _) = decide(routing)?;
        Ok(balanced(&score(truth, probabilities.data(), classes)?))
    };
    let mut rng = random::stream(seed, "permuted routing", 0);
    let order = random::permutation(&mut rng, truth.len());
    let rows = |from: &dyn Fn(usize, usize) -> f64| {
        MatBatch::from_fn(1, alpha.rows(), alpha.cols(), |_, i, j| from(i, j))
    };
    let permuted = rows(&|i, j| alpha.get(0, order[i], j));
    let means = rows(&|i, j| mean(i).map_or(alpha.get(0, i, j), |mean| mean[j]));
    let proxy = accuracy(Routing::Uniform)?;
    let controls = Controls {
        permuted: accuracy(Routing::Given(&permuted))?,
        domain_mean: accuracy(Routing::Given(&means))?,
        hard_top1: accuracy(Routing::HardTop1)?,
        retrained: None,
    };
    let stats = routing_stats(alpha.view(), domains)?;
    let (diversity, rank) = traits(&alpha)?;
    let report = RoutingReport::routed(scores, proxy, stats, diversity, controls);
    Ok(RoutingReport { rank, ..report })
}

/// How different the experts of a network are, and how far they are from losing a direction. Of
/// several views, whose experts stand one view after the other, those of the broad one: across
/// views there is nothing to compare.
pub(crate) fn traits_of<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    alpha: &MatBatch<f64>,
) -> Result<Traits> {
    let experts = match network.filter_slots() {
        FilterSlots::Pool(experts, _) => parameters.at(experts),
        FilterSlots::Shared(_) => None,
    };
    let diversity = match experts {
        Some(experts) if experts.is_orthonormal() => {
            let broad: Vec<usize> = (0..network.expert_count()).collect();
            let point = experts.point()?.select(&broad);
            Some(expert_diversity(point.view())?)
        }
        // Angles are between subspaces: any orthonormal basis of the columns will do.
        Some(experts) => Some(expert_diversity(
            stiefel_geometry::stiefel::orthonormal_factor(experts.value.view())?
                .q
                .view(),
        )?),
        None => None,
    };
    Ok((diversity, filter_rank(network, parameters, alpha)?))
}

pub(crate) fn balanced(scores: &Scores) -> f64 {
    scores.balanced_accuracy.value().unwrap_or(0.0)
}
