//! Tangent vectors at the identity and logistic regression: `C` by validation, pooled or per domain.

use super::PeerError;
use super::fitted::Ready;
use super::logistic::{Logistic, LogisticModel};
use rayon::prelude::*;
use stiefel_linalg::MatBatch;
use stiefel_linalg::tolerance::EQUAL_SCORES;
use stiefel_model::metrics::Confusion;
use stiefel_model::{Factor, Trials, tangent_vectors};

/// Inverse penalties to choose from, ascending.
pub const C_GRID: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];

/// Tangent vectors of a set of trials, row by row, with their classes (positions among those with training trials).
struct Rows {
    features: usize,
    x: Vec<f64>,
    labels: Vec<Option<usize>>,
    domains: Vec<usize>,
}

impl Rows {
    fn new(trials: &Trials, classes: &[usize]) -> Result<Self, PeerError> {
        let one = |view: usize| -> Result<_, PeerError> {
            Ok(tangent_vectors::<f64>(&trials.pick_views(&[view])?)?)
        };
        let views: Result<Vec<_>, PeerError> = (0..trials.views()).map(one).collect();
        let views = views?;
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

    fn of_domain(&self, domain: usize) -> Self {
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

/// A model and how it was chosen.
#[derive(Debug, Clone)]
struct Chosen {
    model: LogisticModel,
    /// Balanced accuracy on validation.
    accuracy: f64,
}

/// One regression for all domains, and maybe one for each.
#[derive(Debug, Clone)]
pub(super) struct Regressions {
    pooled: Chosen,
    own: Option<DomainModels>,
}

/// One regression per domain, all under one `C`.
#[derive(Debug, Clone)]
struct DomainModels {
    /// Domain and its model, ascending; those that lack a class in training are left out.
    models: Vec<(usize, LogisticModel)>,
    /// The one `C` of all of them, and its balanced accuracy on all their validation trials.
    chosen: Option<(f64, f64)>,
}

impl Regressions {
    pub(super) fn pooled(ready: &Ready) -> Result<Self, PeerError> {
        let [training, validation] = rows(ready)?;
        let pooled = choose_pooled(ready, &training, &validation)?;
        Ok(Self { pooled, own: None })
    }

    /// The pooled one decides the domains that lack a class in training.
    pub(super) fn per_domain(ready: &Ready) -> Result<Self, PeerError> {
        let [training, validation] = rows(ready)?;
        Ok(Self {
            pooled: choose_pooled(ready, &training, &validation)?,
            own: Some(DomainModels::fit(ready, &training, &validation)?),
        })
    }

    /// Probabilities, row by row, and the class of every trial, each by the model of its domain.
    pub(super) fn decide(&self, trials: &Trials) -> Result<(Vec<f64>, Vec<usize>), PeerError> {
        let rows = Rows::new(trials, &[])?;
        let (mut probabilities, mut decided) = (Vec::new(), Vec::with_capacity(trials.len()));
        for (x, &domain) in rows.x.chunks_exact(rows.features).zip(&rows.domains) {
            let own = self.own.as_ref().and_then(|own| own.of(domain));
            let model = own.unwrap_or(&self.pooled.model);
            probabilities.extend(model.probabilities(x)?);
            decided.extend(model.decide(x)?);
        }
        Ok((probabilities, decided))
    }

    /// The same for all trials but the first `labelled`, by the models of their domains as these have moved them.
    pub(super) fn decide_after(
        &self,
        trials: &Trials,
        labelled: usize,
        classes: &[usize],
    ) -> Result<(Vec<f64>, Vec<usize>), PeerError> {
        let rows = Rows::new(trials, classes)?;
        let row = |i: usize| &rows.x[i * rows.features..(i + 1) * rows.features];
        let mut moved: Vec<(usize, LogisticModel)> = Vec::new();
        for domain in trials.domains().present() {
            let own = self.own.as_ref().and_then(|own| own.of(domain));
            let model = own.unwrap_or(&self.pooled.model);
            let at: Vec<usize> = (0..labelled)
                .filter(|&i| rows.domains[i] == domain && rows.labels[i].is_some())
                .collect();
            let x: Vec<f64> = at.iter().flat_map(|&i| row(i)).copied().collect();
            let labels: Vec<usize> = at.iter().filter_map(|&i| rows.labels[i]).collect();
            moved.push((domain, model.updated(&x, &labels)?));
        }
        let (mut probabilities, mut decided) = (Vec::new(), Vec::new());
        for i in labelled..rows.domains.len() {
            let own = moved.iter().find(|(d, _)| *d == rows.domains[i]);
            let model = own.map_or(&self.pooled.model, |(_, model)| model);
            probabilities.extend(model.probabilities(row(i))?);
            decided.extend(model.decide(row(i))?);
        }
        Ok((probabilities, decided))
    }

    /// How the models that decide trials of these domains were chosen.
    pub(super) fn notes(&self, domains: &Factor) -> Vec<String> {
        let Some(own) = &self.own else {
            return vec![describe(&self.pooled)];
        };
        let mut notes = Vec::new();
        if let Some((c, accuracy)) = own.chosen {
            notes.push(format!(
                "One regression per domain, C = {c} for all, chosen on the validation trials of all (balanced accuracy {accuracy:.3})."
            ));
        }
        let present = domains.present().into_iter();
        let lacking: Vec<&str> = present
            .filter(|&d| own.of(d).is_none())
            .map(|d| domains.name(d))
            .collect();
        if !lacking.is_empty() {
            notes.push(format!("Pooled over domains, {}", describe(&self.pooled)));
            notes.push(format!(
                "Decided by the pooled regression, because a class has no training trials: {}.",
                lacking.join(", ")
            ));
        }
        notes
    }
}

impl DomainModels {
    fn fit(ready: &Ready, training: &Rows, validation: &Rows) -> Result<Self, PeerError> {
        let classes = ready.classes.len();
        let has_all = |&d: &usize| {
            let own = training.of_domain(d);
            (0..classes).all(|c| own.labels.contains(&Some(c)))
        };
        let mut complete = ready.training.domains().present();
        complete.retain(has_all);
        let fit_one = |&d: &usize| problem(ready, &training.of_domain(d))?.fit(&C_GRID);
        let fitted: Result<Vec<_>, PeerError> = complete.par_iter().map(fit_one).collect();
        let mut fitted = fitted?;
        let validated: Vec<Rows> = complete.iter().map(|&d| validation.of_domain(d)).collect();
        if !complete.is_empty() && validated.iter().all(Rows::is_empty) {
            return Err(no_validation(ready));
        }
        // A few validation trials of one domain say little about C; those of all of them together do.
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

    fn of(&self, domain: usize) -> Option<&LogisticModel> {
        let at = self.models.binary_search_by_key(&domain, |(d, _)| *d);
        at.ok().map(|at| &self.models[at].1)
    }
}

fn rows(ready: &Ready) -> Result<[Rows; 2], PeerError> {
    Ok([
        Rows::new(&ready.training, &ready.classes)?,
        Rows::new(&ready.validation, &ready.classes)?,
    ])
}

fn no_validation(ready: &Ready) -> PeerError {
    PeerError::EmptyPart {
        peer: ready.peer.name(),
        part: "validation",
        remedy: "C is chosen on them: keep some trials for validation",
    }
}

fn problem(ready: &Ready, training: &Rows) -> Result<Logistic, PeerError> {
    // A training trial's class is among those with training trials.
    let labels: Vec<usize> = training.labels.iter().copied().flatten().collect();
    let classes = ready.classes.len();
    Logistic::new(training.x.clone(), training.features, &labels, classes)
}

fn choose_pooled(ready: &Ready, training: &Rows, validation: &Rows) -> Result<Chosen, PeerError> {
    if validation.is_empty() {
        return Err(no_validation(ready));
    }
    choose(&problem(ready, training)?, validation, ready.classes.len())
}

/// The model of the grid with the best balanced accuracy on validation, the smaller C of equals.
fn choose(problem: &Logistic, validation: &Rows, classes: usize) -> Result<Chosen, PeerError> {
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
fn accuracy(truth: &[usize], decided: &[usize], classes: usize) -> Result<f64, PeerError> {
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
