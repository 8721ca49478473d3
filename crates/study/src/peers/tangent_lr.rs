//! Tangent vectors at the identity and logistic regression: `C` by validation, pooled or per domain.

use super::logistic::{Logistic, LogisticModel};
use super::parts::Parts;
use super::{PeerError, PeerOutcome};
use rayon::prelude::*;
use stiefel_model::metrics::Confusion;
use stiefel_model::{Trials, tangent_vectors};

/// Inverse penalties to choose from, ascending.
pub const C_GRID: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];

/// Balanced accuracies closer than this are equal: they are the same recalls summed in another order.
const EQUAL_ACCURACY: f64 = 1e-12;

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
    outcome(parts, &test, notes, |_| &chosen.model)
}

/// One regression per domain; the pooled one where a domain lacks a class.
pub(super) fn per_domain(parts: &Parts) -> Result<PeerOutcome, PeerError> {
    let [training, validation, test] = rows(parts)?;
    let names = parts.training.domains().names();
    let domains = parts.test.domains().present();
    let has_all = |d: usize| {
        let own = training.of_domain(d);
        (0..parts.classes.len()).all(|c| own.labels.contains(&Some(c)))
    };
    let lacking: Vec<usize> = domains.iter().copied().filter(|&d| !has_all(d)).collect();
    let unvalidated: Vec<usize> = domains
        .iter()
        .copied()
        .filter(|&d| !lacking.contains(&d) && !validation.domains.contains(&d))
        .collect();
    let needs_pooled = !lacking.is_empty() || !unvalidated.is_empty();
    let pooled = needs_pooled
        .then(|| choose_pooled(parts, &training, &validation))
        .transpose()?;
    let own: Result<Vec<(usize, Option<LogisticModel>)>, PeerError> = domains
        .par_iter()
        .map(|&d| {
            if lacking.contains(&d) {
                return Ok((d, None));
            }
            let (training, validation) = (training.of_domain(d), validation.of_domain(d));
            let problem = problem(parts, &training)?;
            let model = match &pooled {
                Some(pooled) if validation.is_empty() => problem.fit(&[pooled.model.c])?.remove(0),
                _ => choose(&problem, &validation, parts.classes.len())?.model,
            };
            Ok((d, Some(model)))
        })
        .collect();
    let own = own?;
    let mut models: Vec<Option<&LogisticModel>> = vec![None; names.len()];
    for (d, model) in &own {
        models[*d] = model.as_ref().or(pooled.as_ref().map(|p| &p.model));
    }
    let list = |of: &[usize]| {
        let names: Vec<&str> = of.iter().map(|&d| names[d].as_str()).collect();
        names.join(", ")
    };
    let mut notes = parts.notes.clone();
    let cs: Vec<String> = own
        .iter()
        .filter_map(|(d, m)| Some(format!("{} {}", names[*d], m.as_ref()?.c)))
        .collect();
    if !cs.is_empty() {
        notes.push(format!("C per domain: {}.", cs.join(", ")));
    }
    if let Some(pooled) = &pooled {
        notes.push(format!("Pooled over domains, {}", describe(pooled)));
    }
    if !lacking.is_empty() {
        notes.push(format!(
            "Decided by the pooled regression, as a class lacks training trials: {}.",
            list(&lacking)
        ));
    }
    if !unvalidated.is_empty() {
        notes.push(format!(
            "C of the pooled regression, as there are no validation trials: {}.",
            list(&unvalidated)
        ));
    }
    // Every domain with test trials has a model: its own, or the pooled one, which exists where a class is lacking.
    let fallback = own.iter().find_map(|(_, m)| m.as_ref());
    let Some(any) = pooled.as_ref().map(|p| &p.model).or(fallback) else {
        return Err(no_validation(parts));
    };
    outcome(parts, &test, notes, |d| models[d].unwrap_or(any))
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
    let mut best: Option<Chosen> = None;
    // A class without training trials is never decided: its trials are wrong under every C.
    let truth: Vec<usize> = validation
        .labels
        .iter()
        .map(|l| l.unwrap_or(classes))
        .collect();
    let mut models = problem.fit(&C_GRID)?;
    for model in models.drain(..) {
        let decided = model.decide(&validation.x)?;
        let scored = Confusion::new(&truth, &decided, classes + 1)?.balanced_accuracy();
        let accuracy = scored.value().unwrap_or(0.0);
        if best
            .as_ref()
            .is_none_or(|b| accuracy > b.accuracy + EQUAL_ACCURACY)
        {
            best = Some(Chosen { model, accuracy });
        }
    }
    best.ok_or(PeerError::Count {
        op: "choice of C",
        what: "values to choose from",
        expected: C_GRID.len(),
        found: 0,
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
    model_of: impl Fn(usize) -> &'a LogisticModel,
) -> Result<PeerOutcome, PeerError> {
    let mut probabilities = Vec::with_capacity(test.labels.len() * parts.classes.len());
    let mut decided = Vec::with_capacity(test.labels.len());
    for (x, &domain) in test.x.chunks_exact(test.features).zip(&test.domains) {
        let model = model_of(domain);
        probabilities.extend(model.probabilities(x)?);
        decided.extend(model.decide(x)?.into_iter().map(|c| parts.classes[c]));
    }
    Ok(PeerOutcome {
        probabilities: parts.widened(&probabilities),
        decided,
        notes,
    })
}
