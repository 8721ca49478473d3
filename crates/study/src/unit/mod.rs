//! A unit of work: one method on one fold with one seed.
//!
//! Its identity is the SHA-256 of everything that decides the result: code version, instruction
//! set, matrices and labels, the method's whole configuration, the trials of each part, fold and
//! seed. The same identity means the same result to the bit.

mod model;
mod pictures;

use crate::method::Method;
use crate::{NewDomains, Outcome, Patterns, Result, RoutingRecord, StudyError, UnitRecord};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stiefel_data::split::Fold;
use stiefel_data::{Trials, hex};
use stiefel_model::diagnostics::Carried;
use stiefel_model::metrics::Decisions;
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::{EpochRecord, Flow, Observer};
use stiefel_model::{AdaptEmbedding, AdaptPolicy};

/// The version of the code that decides results: the package's, and a hash of the sources.
pub const CODE: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("STIEFEL_CODE"));

/// [`CODE`] and the instructions it runs on: sums of another width end in other last bits.
pub(crate) fn version() -> Result<String> {
    let set = stiefel_linalg::instruction_set().map_err(stiefel_model::ModelError::from)?;
    Ok(format!("{CODE}/{set}"))
}

/// Identities of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Of the unit.
    pub unit: String,
    /// Of what is trained: units that differ only in how an unseen domain's embedding is filled
    /// share it.
    pub training: String,
}

/// One method on one fold with one seed.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Derived from its content.
    pub ids: Identity,
    /// What the table calls the method.
    pub name: String,
    /// The part of the data it runs on, where a study has several (the scaling study); methods are
    /// compared within one.
    pub cell: Option<String>,
    /// The method.
    pub method: Method,
    pub(crate) trials: Arc<Trials>,
    pub(crate) dataset: String,
    pub(crate) fold: Fold,
    /// Trials of the held-out people that are labelled.
    pub(crate) labelled: Vec<usize>,
    /// The fold's number.
    pub index: usize,
    /// What is held out, where it has a name.
    pub held_out: Option<String>,
    /// The seed.
    pub seed: u64,
}

/// A stop button.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks everyone who holds a copy to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Training stops with the study.
impl Observer for Cancel {
    fn step(&mut self, _epoch: usize) -> Flow {
        if self.is_cancelled() {
            return Flow::Stop;
        }
        Flow::Continue
    }
}

pub(crate) fn identity(
    dataset: &str,
    method: &Method,
    (fold, labelled): (&Fold, &[usize]),
    index: usize,
    seed: u64,
) -> Result<Identity> {
    let version = version()?;
    let digest = |method: &Method, tested: &[usize]| -> Result<String> {
        let content = serde_json::json!({
            "code": version,
            "dataset": dataset,
            "method": method,
            "fold": index,
            "parts": [&fold.train, &fold.validation],
            "tested": tested,
            "labelled": if tested.is_empty() { &[] } else { labelled },
            "seed": seed,
        });
        Ok(hex(&Sha256::digest(content.to_string().as_bytes())))
    };
    // Validation trials are of training domains: nobody new is whitened in a fit.
    let trained = Method {
        spec: method
            .spec
            .clone()
            .with_known(&serde_json::json!({ "unseen": null }))?,
        unseen: AdaptPolicy {
            whitening: Adaptation::Pooled,
            embedding: AdaptEmbedding::Initial,
        },
        ..method.clone()
    };
    Ok(Identity {
        unit: digest(method, &fold.test)?,
        training: digest(&trained, &[])?,
    })
}

/// Runs units that share their training; gives a record for each, in order.
pub fn execute(units: &[Unit], cancel: &Cancel) -> Result<Vec<UnitRecord>> {
    if units.is_empty() {
        return Ok(Vec::new());
    }
    let start = Instant::now();
    let outcomes = model::run(units, cancel)?;
    if cancel.is_cancelled() {
        return Err(StudyError::Interrupted);
    }
    let seconds = start.elapsed().as_secs_f64() / units.len() as f64;
    let version = version()?;
    let record = |(unit, outcome): (&Unit, Outcome)| -> Result<UnitRecord> {
        Ok(UnitRecord {
            id: unit.ids.unit.clone(),
            code: version.clone(),
            dataset: unit.dataset.clone(),
            method: unit.name.clone(),
            settings: serde_json::to_value(&unit.method).map_err(|e| {
                StudyError::setting(e.to_string(), "this is a fault of the library")
            })?,
            fold: unit.index,
            held_out: unit.held_out.clone(),
            seed: unit.seed,
            outcome,
            seconds: Some(seconds),
        })
    };
    units.iter().zip(outcomes).map(record).collect()
}

impl Unit {
    /// The test trials and the labelled ones of the same people, with the views that the method
    /// takes.
    fn tested(&self) -> Result<[Trials; 2]> {
        let trials = self.method.views_of(&self.trials)?;
        Ok([
            trials.select(&self.fold.test)?,
            trials.select(&self.labelled)?,
        ])
    }

    /// Training, validation and test trials, with the views that the method takes.
    fn parts(&self) -> Result<[Trials; 3]> {
        Ok(self.fold.of(&self.method.views_of(&self.trials)?)?)
    }
}

/// What a method decided on the test trials, and how it came about.
struct Found {
    probabilities: Vec<f64>,
    decided: Vec<usize>,
    routing: Option<RoutingRecord>,
    carried: Option<Carried>,
    patterns: Vec<Patterns>,
    history: Vec<EpochRecord>,
    notes: Vec<String>,
}

impl Unit {
    /// The outcome of decisions on the test trials.
    fn outcome(&self, test: &Trials, found: Found) -> Result<Outcome> {
        let (truth, classes) = (test.classes().indices(), test.classes().names().len());
        let values: Option<Vec<f64>> =
            (classes == 2).then(|| found.probabilities.chunks_exact(2).map(|p| p[1]).collect());
        let scores = Decisions {
            truth,
            decided: &found.decided,
            values: values.as_deref(),
            classes,
        }
        .scores()?;
        Ok(Outcome {
            test: self.fold.test.clone(),
            truth: truth.to_vec(),
            domains: test.domains().indices().to_vec(),
            decided: found.decided,
            probabilities: found.probabilities,
            scores,
            routing: found.routing,
            carried: found.carried,
            patterns: found.patterns,
            history: found.history,
            notes: found.notes,
            new_domains: Some(self.new_domains(test)),
        })
    }

    /// The test domains without training trials, and the policy that whitened them.
    fn new_domains(&self, test: &Trials) -> NewDomains {
        let of = self.trials.domains().indices();
        let trained: BTreeSet<usize> = self.fold.train.iter().map(|&i| of[i]).collect();
        let present = test.domains().present().into_iter();
        let new = present.filter(|d| !trained.contains(d));
        NewDomains {
            names: new.map(|d| test.domains().name(d).to_owned()).collect(),
            policy: self.method.unseen_whitening(),
        }
    }
}
