//! Does routing help, and is it routing that helps?
//!
//! `Δ_K1 = bAcc(adaptive) − bAcc(W†)`, where `W†` is the same model with `α = 1/K` everywhere. A positive gap alone does not show that
//! routing helps: the averaged filter may simply be bad. So every [`RoutingReport`] has controls beside it, on the same weights and
//! the same test trials:
//!
//! * *permuted*: each sample gets another one's weights;
//! * *domain mean*: each sample gets the mean weights of its domain's training trials;
//! * *hard top-1*: the winner alone;
//! * *retrained K = 1*: the same layer with one expert, trained from scratch ([`retrain_single`]), where asked for.

mod patterns;
mod report;

pub use patterns::patterns;
pub use report::{Controls, RoutingReport};

use crate::metrics::{Decisions, Scores};
use crate::net::{Network, Routing};
use crate::routing_stats::{expert_diversity, filter_rank, routing_stats};
use crate::train::{Evaluation, Silent, TrainConfig, evaluate, train};
use crate::{Architecture, ModelError, Parameters, Prepared, Result, random};
use stiefel_linalg::{MatBatch, Scalar};

/// The report of a network on labelled test trials. `training` gives the domain means; `seed` the permutation.
///
/// A network that does not route has scores only; everything about routing is undefined, with that reason.
pub fn routing_report<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    training: &Prepared<T>,
    test: &Prepared<T>,
    seed: u64,
) -> Result<RoutingReport> {
    if test.is_empty() {
        let remedy = "give at least one labelled test trial";
        return Err(ModelError::Empty {
            op: "routing report",
            remedy,
        });
    }
    let adaptive = evaluate(network, parameters, test, Routing::Learnt)?;
    let scores = score(&adaptive, test)?;
    let Some(alpha) = &adaptive.alpha else {
        return Ok(RoutingReport::unrouted(scores));
    };
    let accuracy = |routing: Routing<'_, T>| -> Result<f64> {
        Ok(balanced(&score(
            &evaluate(network, parameters, test, routing)?,
            test,
        )?))
    };
    let proxy = accuracy(Routing::Uniform)?;
    let mut rng = random::stream(seed, "permuted routing", 0);
    let order = random::permutation(&mut rng, test.len());
    let permuted = rows(alpha, |i| order[i]);
    let trained = evaluate(network, parameters, training, Routing::Learnt)?;
    let means = match &trained.alpha {
        Some(weights) => domain_means(weights, training.domains(), alpha, test.domains()),
        None => alpha.clone(),
    };
    let controls = Controls {
        permuted: accuracy(Routing::Given(&permuted.cast()))?,
        domain_mean: accuracy(Routing::Given(&means.cast()))?,
        hard_top1: accuracy(Routing::HardTop1)?,
        retrained: None,
    };
    let experts = match parameters.get("experts") {
        Some(experts) if experts.is_orthonormal() => {
            Some(expert_diversity(experts.point()?.view())?)
        }
        // Angles are between subspaces: any orthonormal basis of the columns will do.
        Some(experts) => Some(expert_diversity(
            stiefel_geometry::stiefel::orthonormal_factor(experts.value.view())?
                .q
                .view(),
        )?),
        None => None,
    };
    let stats = routing_stats(alpha.view(), test.domains())?;
    let rank = filter_rank(parameters, alpha)?;
    let report = RoutingReport::routed(scores, proxy, stats, experts, controls);
    Ok(RoutingReport { rank, ..report })
}

/// Scores of an evaluation.
pub fn score<T: Scalar>(evaluation: &Evaluation, data: &Prepared<T>) -> Result<Scores> {
    let classes = evaluation.probabilities.cols();
    let decided = evaluation.predictions();
    let values: Option<Vec<f64>> = (classes == 2).then(|| {
        let rows = evaluation.probabilities.data().chunks_exact(2);
        rows.map(|p| p[1]).collect()
    });
    Decisions {
        truth: data.labels(),
        decided: &decided,
        values: values.as_deref(),
        classes,
    }
    .scores()
}

/// Balanced accuracy of a set that is not empty.
pub(crate) fn balanced(scores: &Scores) -> f64 {
    scores.balanced_accuracy.value().unwrap_or(0.0)
}

/// The test accuracy of the same architecture with one expert, trained from scratch on the same fold: the control for "more
/// parameters and another parametrisation help, routing or not". `None` where the architecture does not route.
pub fn retrain_single<T: Scalar>(
    architecture: &Architecture,
    sizes: crate::net::Sizes,
    training: &Prepared<T>,
    validation: &Prepared<T>,
    test: &Prepared<T>,
    config: &TrainConfig,
) -> Result<Option<f64>> {
    let Architecture::Dasp(routed) = architecture else {
        return Ok(None);
    };
    let single = Architecture::Dasp(crate::net::DaspConfig {
        experts: 1,
        routing: crate::net::RoutingRule::Soft,
        ..*routed
    });
    let network = single.network::<T>(sizes)?;
    let fitted = train(&*network, training, validation, config, &mut Silent)?;
    let evaluation = evaluate(&*network, &fitted.parameters, test, Routing::Learnt)?;
    Ok(Some(balanced(&score(&evaluation, test)?)))
}

/// Row `from(i)` of `alpha` for every sample `i`.
fn rows(alpha: &MatBatch<f64>, from: impl Fn(usize) -> usize) -> MatBatch<f64> {
    MatBatch::from_fn(1, alpha.rows(), alpha.cols(), |_, i, j| {
        alpha.get(0, from(i), j)
    })
}

/// For every test sample the mean of its domain's training weights; a domain without training trials keeps its own weights.
fn domain_means(
    training: &MatBatch<f64>,
    training_domains: &[usize],
    test: &MatBatch<f64>,
    test_domains: &[usize],
) -> MatBatch<f64> {
    let experts = training.cols();
    let last = training_domains
        .iter()
        .chain(test_domains)
        .max()
        .map_or(0, |d| d + 1);
    let (mut sums, mut counts) = (vec![0.0; last * experts], vec![0_usize; last]);
    for (i, &d) in training_domains.iter().enumerate() {
        counts[d] += 1;
        for j in 0..experts {
            sums[d * experts + j] += training.get(0, i, j);
        }
    }
    MatBatch::from_fn(1, test.rows(), experts, |_, i, j| {
        let d = test_domains[i];
        if counts[d] == 0 {
            return test.get(0, i, j);
        }
        sums[d * experts + j] / counts[d] as f64
    })
}
