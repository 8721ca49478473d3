//! Tangent vectors at the identity and logistic regression: `C` by validation, pooled or per
//! domain.

use super::logistic::{Logistic, LogisticModel};
use crate::file::{Archive, Found};
use crate::metrics::Confusion;
use crate::tolerance::EQUAL_SCORES;
use crate::{ModelError, Result, Trials};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stiefel_geometry::spd::log_vectors;
use stiefel_linalg::{MatBatch, MatView};

/// Inverse penalties to choose from, ascending.
pub const C_GRID: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];

/// Returns the tangent vectors of one trial's views, one after the other.
pub(super) fn row_of(views: &[f64], n: usize) -> Result<Vec<f64>> {
    let x = MatView::new(views.len() / (n * n).max(1), n, n, views)?;
    Ok(log_vectors(x)?.into_vec())
}

/// Tangent vectors of a set of trials, row by row, with their classes (positions among those with
/// training trials).
pub(super) struct Rows {
    features: usize,
    x: Vec<f64>,
    labels: Vec<Option<usize>>,
    domains: Vec<usize>,
}

impl Rows {
    /// Returns those of whitened trials.
    pub(super) fn new(trials: &Trials, classes: &[usize]) -> Result<Self> {
        let views = trials.matrices().into_iter().map(|x| Ok(log_vectors(x)?));
        let views = views.collect::<Result<Vec<_>>>()?;
        let position = |c: &usize| classes.iter().position(|k| k == c);
        Ok(Self {
            features: views.iter().map(MatBatch::cols).sum(),
            x: (0..trials.len())
                .flat_map(|i| views.iter().flat_map(move |x| x.matrix(i)))
                .copied()
                .collect(),
            labels: trials.classes().indices().iter().map(position).collect(),
            domains: trials.domains().indices().to_vec(),
        })
    }

    fn in_domain(&self, domain: usize) -> Self {
        let own: Vec<usize> = (0..self.domains.len())
            .filter(|&i| self.domains[i] == domain)
            .collect();
        let row = |&i: &usize| &self.x[i * self.features..(i + 1) * self.features];
        Self {
            features: self.features,
            x: own.iter().flat_map(row).copied().collect(),
            labels: own.iter().map(|&i| self.labels[i]).collect(),
            domains: vec![domain; own.len()],
        }
    }

    fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// Training and validation rows, and how many classes have training trials.
pub(super) struct Problem {
    pub(super) op: &'static str,
    pub(super) training: Rows,
    pub(super) validation: Rows,
    pub(super) class_count: usize,
}

/// A regression and how it was chosen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    model: LogisticModel,
    /// Balanced accuracy on validation.
    accuracy: f64,
}

/// One regression for all domains, and maybe one for each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Regressions {
    pooled: Chosen,
    own: Option<DomainModels>,
}

/// One regression per domain, all under one `C`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainModels {
    /// Domain and its model, ascending; those that lack a class in training are left out.
    models: Vec<(usize, LogisticModel)>,
    /// The one `C` of all of them, and its balanced accuracy on all their validation trials.
    chosen: Option<(f64, f64)>,
}

impl Regressions {
    /// Fits one regression for all domains.
    pub(super) fn pooled(problem: &Problem) -> Result<Self> {
        let pooled = choose_pooled(problem)?;
        Ok(Self { pooled, own: None })
    }

    /// Fits one regression per domain; the pooled one decides the domains that lack a class.
    pub(super) fn per_domain(problem: &Problem) -> Result<Self> {
        Ok(Self {
            pooled: choose_pooled(problem)?,
            own: Some(DomainModels::fit(problem)?),
        })
    }

    /// Returns the regression that decides a domain.
    pub(super) fn for_domain(&self, domain: Option<usize>) -> &LogisticModel {
        let own = self.own_of(domain);
        own.unwrap_or(&self.pooled.model)
    }

    fn own_of(&self, domain: Option<usize>) -> Option<&LogisticModel> {
        self.own.as_ref()?.for_domain(domain?)
    }

    /// Says how the regressions were chosen.
    pub(super) fn choices(&self) -> Vec<String> {
        let own = self.own.as_ref().and_then(|own| own.chosen);
        match own {
            None => vec![describe(&self.pooled)],
            Some((c, accuracy)) => vec![format!(
                "One regression per domain, C = {c} for all, chosen on the validation trials of \
                 all (balanced accuracy {accuracy:.3})."
            )],
        }
    }

    /// Says why a domain is decided by the pooled regression, where each has its own.
    pub(super) fn remark(&self, domain: Option<usize>) -> Option<String> {
        let lacks = self.own.is_some() && self.own_of(domain).is_none();
        lacks.then(|| {
            format!(
                "decided by the pooled regression, because a class has no training trials ({})",
                describe(&self.pooled).trim_end_matches('.')
            )
        })
    }

    /// Writes or reads the numbers: `m` rows of `p` weights each.
    pub(super) fn numbers(&mut self, (m, p): (usize, usize), file: &mut Archive) -> Found<()> {
        let mut each = |name: &str, model: &mut LogisticModel| {
            file.tensor(&format!("{name}.weights"), &[m, p], &mut model.weights)?;
            file.tensor(&format!("{name}.intercepts"), &[m], &mut model.intercepts)
        };
        each("pooled", &mut self.pooled.model)?;
        for (domain, model) in self.own.iter_mut().flat_map(|own| &mut own.models) {
            each(&format!("domain.{domain}"), model)?;
        }
        Ok(())
    }

    /// Drops the weights, which are tensors of a file.
    pub(super) fn strip(&mut self) {
        let own = self.own.iter_mut().flat_map(|own| &mut own.models);
        for model in std::iter::once(&mut self.pooled.model).chain(own.map(|(_, m)| m)) {
            (model.weights, model.intercepts) = (Vec::new(), Vec::new());
        }
    }

    /// Tells whether the domains with regressions of their own ascend and are among so many.
    pub(super) fn is_sound(&self, domain_count: usize) -> bool {
        let models = self.own.iter().flat_map(|own| &own.models);
        let domains: Vec<usize> = models.map(|(d, _)| *d).collect();
        let ascending = domains.windows(2).all(|w| w[0] < w[1]);
        ascending && domains.last().is_none_or(|d| *d < domain_count)
    }
}

impl DomainModels {
    fn fit(problem: &Problem) -> Result<Self> {
        let (classes, training) = (problem.class_count, &problem.training);
        let has_all = |&d: &usize| {
            let own = training.in_domain(d);
            (0..classes).all(|c| own.labels.contains(&Some(c)))
        };
        let mut complete = training.domains.clone();
        complete.sort_unstable();
        complete.dedup();
        complete.retain(has_all);
        let fit_one = |&d: &usize| logistic(&training.in_domain(d), classes)?.fit(&C_GRID);
        let fitted: Result<Vec<_>> = complete.par_iter().map(fit_one).collect();
        let mut fitted = fitted?;
        let validated: Vec<Rows> = (complete.iter())
            .map(|&d| problem.validation.in_domain(d))
            .collect();
        if !complete.is_empty() && validated.iter().all(Rows::is_empty) {
            return Err(no_validation(problem));
        }
        // A few validation trials of one domain say little about C; those of all together do.
        let mut accuracies = Vec::with_capacity(C_GRID.len());
        for k in 0..C_GRID.len() {
            let (mut truth, mut decided) = (Vec::new(), Vec::new());
            for (models, own) in fitted.iter().zip(&validated) {
                truth.extend(own.labels.iter().map(|l| l.unwrap_or(classes)));
                decided.extend(models[k].decide(&own.x)?);
            }
            accuracies.push(accuracy(&truth, &decided, classes)?);
        }
        let best = first_best(&accuracies);
        let own = complete.iter().zip(&mut fitted);
        Ok(Self {
            chosen: (!complete.is_empty()).then(|| (C_GRID[best], accuracies[best])),
            models: own
                .map(|(&d, models)| (d, models.swap_remove(best)))
                .collect(),
        })
    }

    fn for_domain(&self, domain: usize) -> Option<&LogisticModel> {
        let at = self.models.binary_search_by_key(&domain, |(d, _)| *d);
        at.ok().map(|at| &self.models[at].1)
    }
}

fn no_validation(problem: &Problem) -> ModelError {
    ModelError::Empty {
        op: problem.op,
        remedy: "C is chosen on validation trials: keep some",
    }
}

fn logistic(training: &Rows, classes: usize) -> Result<Logistic> {
    // A training trial's class is among those with training trials.
    let labels: Vec<usize> = training.labels.iter().copied().flatten().collect();
    Logistic::new(training.x.clone(), training.features, &labels, classes)
}

fn choose_pooled(problem: &Problem) -> Result<Chosen> {
    if problem.validation.is_empty() {
        return Err(no_validation(problem));
    }
    let classes = problem.class_count;
    choose(
        &logistic(&problem.training, classes)?,
        &problem.validation,
        classes,
    )
}

/// The model of the grid with the best balanced accuracy on validation, the smaller C of equals.
fn choose(problem: &Logistic, validation: &Rows, classes: usize) -> Result<Chosen> {
    // A class without training trials is never decided: its trials are wrong under every C.
    let truth: Vec<usize> = validation
        .labels
        .iter()
        .map(|l| l.unwrap_or(classes))
        .collect();
    let mut models = problem.fit(&C_GRID)?;
    let mut accuracies = Vec::with_capacity(models.len());
    for model in &models {
        accuracies.push(accuracy(&truth, &model.decide(&validation.x)?, classes)?);
    }
    let best = first_best(&accuracies);
    Ok(Chosen {
        model: models.swap_remove(best),
        accuracy: accuracies[best],
    })
}

/// Balanced accuracy where class `classes` is one without training trials.
fn accuracy(truth: &[usize], decided: &[usize], classes: usize) -> Result<f64> {
    let scored = Confusion::new(truth, decided, classes + 1)?.balanced_accuracy();
    Ok(scored.value().unwrap_or(0.0))
}

/// The first of the best.
fn first_best(accuracies: &[f64]) -> usize {
    (1..accuracies.len()).fold(0, |best, k| {
        if accuracies[k] > accuracies[best] + EQUAL_SCORES {
            k
        } else {
            best
        }
    })
}

fn describe(chosen: &Chosen) -> String {
    format!(
        "C = {}, chosen on validation (balanced accuracy {:.3}).",
        chosen.model.c, chosen.accuracy
    )
}
