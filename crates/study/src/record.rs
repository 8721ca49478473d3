//! What a unit of work leaves behind.

use serde::{Deserialize, Serialize};
use stiefel_data::{Quality, Trials, fingerprint};
use stiefel_eeg::montage::position;
use stiefel_eeg::quality::of_trials;
use stiefel_model::diagnostics::Carried;
use stiefel_model::diagnostics::RoutingReport;
use stiefel_model::metrics::Scores;
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::EpochRecord;

/// What a study ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetSummary {
    /// Its name, or the name of its file.
    pub name: String,
    /// SHA-256 of matrices, classes, domains, runs and names.
    pub fingerprint: String,
    /// Trials.
    pub trials: usize,
    /// Names of the channels; `1`, `2`, … where they are not known.
    pub channels: Vec<String>,
    /// The place of each channel on the unit sphere (to the right, to the nose, up), where its
    /// name tells it.
    #[serde(default)]
    pub places: Vec<Option<[f64; 3]>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Names of the subjects.
    pub subjects: Vec<String>,
    /// The subject of each domain.
    pub subject_of_domain: Vec<usize>,
    /// Trials left out for their amplitude, per domain, where it is known.
    pub rejected: Vec<(String, usize)>,
    /// How the covariances were made: band, window, estimator.
    pub preparation: Option<String>,
    /// Amplitudes of the electrodes, and what is wrong with the signals.
    #[serde(default, skip_serializing_if = "Quality::is_empty")]
    pub quality: Quality,
    /// Licence of the recordings.
    pub licence: Option<String>,
    /// How to cite them.
    pub citation: Option<String>,
}

impl DatasetSummary {
    /// Of a set of trials.
    pub fn of(trials: &Trials) -> Self {
        let (origin, subjects) = (trials.origin(), trials.subjects());
        let channels = trials.channel_names();
        Self {
            name: origin.name.clone(),
            fingerprint: fingerprint(trials),
            trials: trials.len(),
            places: channels.iter().map(|name| position(name)).collect(),
            channels,
            classes: trials.classes().names().to_vec(),
            domains: trials.domains().names().to_vec(),
            subjects: subjects.names().to_vec(),
            subject_of_domain: trials.subject_of_domain(),
            rejected: origin.rejected.clone(),
            preparation: trials.preparation().known().map(ToString::to_string),
            quality: quality(trials),
            licence: origin.licence.clone(),
            citation: origin.citation.clone(),
        }
    }
}

/// Returns the quality of the signals, or of covariances that came without.
fn quality(trials: &Trials) -> Quality {
    match &trials.origin().quality {
        known if !known.is_empty() => known.clone(),
        // What cannot be looked at is refused by whoever fits it.
        _ => of_trials(trials).unwrap_or_default(),
    }
}

/// The result of a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitRecord {
    /// Its identity: SHA-256 of everything that decides the result.
    pub id: String,
    /// The version of the code that computed it, and the instruction set it ran on.
    pub code: String,
    /// Fingerprint of the data.
    pub dataset: String,
    /// What the table calls the method.
    pub method: String,
    /// The method's whole configuration.
    pub settings: serde_json::Value,
    /// Zero-based.
    pub fold: usize,
    /// What is held out, where it has a name (a subject, a run).
    pub held_out: Option<String>,
    /// The seed of initial values, batches and split.
    pub seed: u64,
    /// What came out.
    pub outcome: Outcome,
    /// Wall-clock seconds, where they were measured; the only part that differs from run to run,
    /// and therefore kept apart from the record's file.
    #[serde(skip)]
    pub seconds: Option<f64>,
}

/// Decisions on the test trials, and how they came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Indices of the test trials in the dataset.
    pub test: Vec<usize>,
    /// Their classes.
    pub truth: Vec<usize>,
    /// Their domains.
    pub domains: Vec<usize>,
    /// The classes decided.
    pub decided: Vec<usize>,
    /// Class probabilities, one row of `C` per test trial.
    pub probabilities: Vec<f64>,
    /// Scores over all test trials.
    pub scores: Scores,
    /// What routing did, where the method routes.
    pub routing: Option<RoutingRecord>,
    /// Which views and electrodes carry the decision, of a model on several views that tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// What its filters see on the sensors, where it has filters.
    #[serde(default)]
    pub patterns: Vec<Patterns>,
    /// The epochs of training, where there were any.
    pub history: Vec<EpochRecord>,
    /// Choices made on validation and anything a reader should know, one sentence each.
    pub notes: Vec<String>,
    /// Test domains without training trials.
    #[serde(default)]
    pub new_domains: Option<NewDomains>,
}

/// The test domains without training trials, and how they were whitened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewDomains {
    /// Their names.
    pub names: Vec<String>,
    /// The policy; nothing where the method does not whiten.
    pub policy: Option<Adaptation>,
}

/// Figures and pictures of a router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoutingRecord {
    /// The routing report on the test trials.
    pub report: RoutingReport,
    /// Mean routing weights of each domain's test trials, `D` rows of `K`; empty where a domain
    /// has none.
    pub domain_weights: Vec<Vec<f64>>,
    /// Queries of the test trials on their first two principal axes, in the order of `test`.
    pub queries: Vec<[f64; 2]>,
    /// Mean principal angle between experts, degrees, `K` rows of `K`.
    pub angles: Vec<Vec<f64>>,
}

/// Activation patterns of one filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    /// Which filter: `expert 1`, or `filter` where there is one.
    pub filter: String,
    /// The leading patterns, most important first, one value per channel.
    pub patterns: Vec<Vec<f64>>,
}
