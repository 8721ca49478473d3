//! Tangent vectors at the identity and logistic regression: `C` by validation, pooled or per domain.

use super::logistic::{Logistic, LogisticModel};
use super::parts::Parts;
use super::{PeerError, PeerOutcome};
use rayon::prelude::*;
use stiefel_linalg::tolerance::EQUAL_SCORES;
use stiefel_model::metrics::Confusion;
use stiefel_model::{ModelError, Trials, tangent_vectors};

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
        let x = tangent_vectors::<f64>(trials)?;
        let position = |c: &usize| classes.iter().position(|k| k == c);
        Ok(Self {
            features: x.cols(),
            x: x.into_vec(),
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
struct Chosen {
    model: LogisticModel,
    /// Balanced accuracy on validation.
    accuracy: f64,
}

/// One regression for all domains.
pub(super) fn pooled(parts: &Parts) -> Result<PeerOutcome, PeerError> {
    let [training, validation, test] = rows(parts)?;
    let chosen = choose_pooled(parts, &training, &validation)?;
    let mut notes = parts.notes.clone();
    notes.push(describe(&chosen));
    outcome(parts, &test, notes, |_| Ok(&chosen.model))
}

/// One regression per domain under one `C`; the pooled one where a domain lacks a class.
pub(super) fn per_domain(parts: &Parts) -> Result<PeerOutcome, PeerError> {
    let [training, validation, test] = rows(parts)?;
    let models = DomainModels::fit(parts, &training, &validation)?;
    let mut notes = parts.notes.clone();
    notes.extend(models.notes(parts.training.domains().names()));
    outcome(parts, &test, notes, |domain| models.of(domain))
}

/// The models of the domains; which of them have test trials changes nothing.
struct DomainModels {
    /// Domain and its model, ascending; those that lack a class in training are left out.
    own: Vec<(usize, LogisticModel)>,
    /// The one `C` of all of them, and its balanced accuracy on all their validation trials.
    chosen: Option<(f64, f64)>,
    /// Where some domain needs it.
    pooled: Option<Chosen>,
    /// Domains decided by the pooled model.
    lacking: Vec<usize>,
}

impl DomainModels {
    fn fit(parts: &Parts, training: &Rows, validation: &Rows) -> Result<Self, PeerError> {
        let has_all = |&d: &usize| {
            let own = training.of_domain(d);
            (0..parts.classes.len()).all(|c| own.labels.contains(&Some(c)))
        };
        let mut complete = parts.training.domains().present();
        complete.retain(has_all);
        let mut lacking = parts.test.domains().present();
        lacking.retain(|d| !complete.contains(d));
        let pooled = if lacking.is_empty() {
            None
        } else {
            Some(choose_pooled(parts, training, validation)?)
        };
        let fit_one = |&d: &usize| problem(parts, &training.of_domain(d))?.fit(&C_GRID);
        let fitted: Result<Vec<_>, PeerError> = complete.par_iter().map(fit_one).collect();
        let mut fitted = fitted?;
        let validated: Vec<Rows> = complete.iter().map(|&d| validation.of_domain(d)).collect();
        if !complete.is_empty() && validated.iter().all(Rows::is_empty) {
            return Err(no_validation(parts));
        }
        // A few validation trials of one domain say little about C; those of all of them together do.
        let classes = parts.classes.len();
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
            own: own
                .map(|(&d, models)| (d, models.swap_remove(best)))
                .collect(),
            pooled,
            lacking,
        })
    }

    /// The model that decides a domain's trials: one for every domain with test trials.
    fn of(&self, domain: usize) -> Result<&LogisticModel, PeerError> {
        match (
            self.own.binary_search_by_key(&domain, |(d, _)| *d),
            &self.pooled,
        ) {
            (Ok(at), _) => Ok(&self.own[at].1),
            (Err(_), Some(pooled)) => Ok(&pooled.model),
            (Err(_), None) => Err(PeerError::Model(ModelError::NoSuchDomain {
                op: "regression per domain",
                domain,
                count: self.own.len(),
            })),
        }
    }

    fn notes(&self, names: &[String]) -> Vec<String> {
        let list = |of: &[usize]| {
            let names: Vec<&str> = of.iter().map(|&d| names[d].as_str()).collect();
            names.join(", ")
        };
        let mut notes = Vec::new();
        if let Some((c, accuracy)) = self.chosen {
            notes.push(format!(
                "One regression per domain, C = {c} for all, chosen on the validation trials of all (balanced accuracy {accuracy:.3})."
            ));
        }
        if let Some(pooled) = &self.pooled {
            notes.push(format!("Pooled over domains, {}", describe(pooled)));
        }
        if !self.lacking.is_empty() {
            notes.push(format!(
                "Decided by the pooled regression, as a class lacks training trials: {}.",
                list(&self.lacking)
            ));
        }
        notes
    }
}

fn rows(parts: &Parts) -> Result<[Rows; 3], PeerError> {
    Ok([
        Rows::new(&parts.training, &parts.classes)?,
        Rows::new(&parts.validation, &parts.classes)?,
        Rows::new(&parts.test, &parts.classes)?,
    ])
}

fn no_validation(parts: &Parts) -> PeerError {
    PeerError::EmptyPart {
        peer: parts.peer.name(),
        part: "validation",
        remedy: "C is chosen on them: keep some trials for validation",
    }
}

fn problem(parts: &Parts, training: &Rows) -> Result<Logistic, PeerError> {
    // A training trial's class is among those with training trials.
    let labels: Vec<usize> = training.labels.iter().copied().flatten().collect();
    let classes = parts.classes.len();
    Logistic::new(training.x.clone(), training.features, &labels, classes)
}

fn choose_pooled(parts: &Parts, training: &Rows, validation: &Rows) -> Result<Chosen, PeerError> {
    if validation.is_empty() {
        return Err(no_validation(parts));
    }
    choose(&problem(parts, training)?, validation, parts.classes.len())
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

/// The test trials of each domain, decided by its model.
fn outcome<'a>(
    parts: &Parts,
    test: &Rows,
    notes: Vec<String>,
    model_of: impl Fn(usize) -> Result<&'a LogisticModel, PeerError>,
) -> Result<PeerOutcome, PeerError> {
    let mut probabilities = Vec::with_capacity(test.labels.len() * parts.classes.len());
    let mut decided = Vec::with_capacity(test.labels.len());
    for (x, &domain) in test.x.chunks_exact(test.features).zip(&test.domains) {
        let model = model_of(domain)?;
        probabilities.extend(model.probabilities(x)?);
        decided.extend(model.decide(x)?.into_iter().map(|c| parts.classes[c]));
    }
    Ok(PeerOutcome {
        probabilities: parts.widened(&probabilities),
        decided,
        notes,
    })
}
