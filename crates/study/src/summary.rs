//! A study in figures: what tables, JSON and the report are made of.

use crate::stats::MeanStd;
use crate::{DatasetSummary, Made, UnitRecord};
use serde::{Deserialize, Serialize};
use stiefel_model::diagnostics::RoutingVerdict;

/// One unit's balanced accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnitScore {
    /// The fold.
    pub fold: usize,
    /// The seed.
    pub seed: u64,
    /// Balanced accuracy on the test trials.
    pub accuracy: f64,
}

/// A method in the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The method.
    pub method: String,
    /// What it is, in a line, where the name alone does not say.
    #[serde(default)]
    pub about: Option<String>,
    /// The part of the data it ran on, where the study has several.
    #[serde(default)]
    pub cell: Option<String>,
    /// Labelled trials of each new person, in a study of calibration; none under a running mean.
    #[serde(default)]
    pub labels: Option<usize>,
    /// Channels and domains of its part of the data, in a study of scaling.
    #[serde(default)]
    pub size: Option<(usize, usize)>,
    /// Balanced accuracy over folds and seeds.
    pub accuracy: MeanStd,
    /// ROC-AUC, where there are two classes.
    pub roc_auc: Option<MeanStd>,
    /// Cohen's kappa.
    pub kappa: Option<MeanStd>,
    /// `Δ_base`: mean difference to the baseline on the same fold and seed.
    pub over_baseline: Option<f64>,
    /// Folds (of each seed) in which it beats the baseline, and how many there are.
    pub folds_won: Option<(usize, usize)>,
    /// `Δ_K1`, where the method routes.
    pub proxy_gap: Option<MeanStd>,
    /// Folds in which `Δ_K1` is above its threshold, and how many there are.
    pub genuine: Option<(usize, usize)>,
    /// What routing does, where the method routes.
    #[serde(default)]
    pub routing: Option<RoutingVerdict>,
    /// Routing entropy.
    pub entropy: Option<f64>,
    /// Domain alignment, domains weighted by their trials.
    pub alignment: Option<f64>,
    /// Domain alignment by the paper's formula, domains unweighted.
    #[serde(default)]
    pub alignment_paper: Option<f64>,
    /// Mean balanced accuracy under each control, by name.
    pub controls: Vec<(String, f64)>,
    /// Every unit.
    pub units: Vec<UnitScore>,
    /// Balanced accuracy of each subject over all its test trials, averaged over folds and seeds.
    pub per_subject: Vec<(String, f64)>,
    /// Summed confusion matrix, rows are true classes.
    pub confusion: Vec<Vec<usize>>,
    /// Mean seconds of a unit, where they were measured.
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// One person's difference between two methods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonDifference {
    /// The subject.
    pub subject: String,
    /// Balanced accuracy of the one minus that of the other, averaged over folds and seeds.
    pub difference: f64,
    /// The interval that the person's trials leave to it; nothing for fewer than two trials.
    pub interval: Option<(f64, f64)>,
    /// Different test trials.
    pub trials: usize,
}

/// Two methods compared, paired by subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The one.
    pub method: String,
    /// The other.
    pub against: String,
    /// Subjects.
    pub subjects: usize,
    /// Mean difference.
    pub difference: f64,
    /// The interval of the mean difference over people, see
    /// [`mean_interval`](crate::stats::mean_interval).
    #[serde(default)]
    pub interval: Option<(f64, f64)>,
    /// The difference of each subject, in the order of the dataset.
    #[serde(default)]
    pub people: Vec<PersonDifference>,
    /// Mean difference over its standard deviation; nothing where all differences are equal.
    pub effect: Option<f64>,
    /// Wilcoxon signed-rank, two-sided.
    pub wilcoxon: Option<f64>,
    /// Sign-flip permutation of the mean difference, two-sided.
    pub sign_flip: Option<f64>,
    /// The sign-flip p-value after Holm's correction over the comparisons of the table.
    pub holm: Option<f64>,
}

/// A figure of the paper, to be set beside ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperRow {
    /// The method, named as ours.
    pub method: String,
    /// Balanced accuracy.
    pub accuracy: f64,
    /// Its standard deviation.
    pub std: Option<f64>,
    /// `Δ_base`.
    pub over_baseline: Option<f64>,
    /// `Δ_K1`.
    pub proxy_gap: Option<f64>,
    /// Folds with a positive gap, of how many.
    pub folds: Option<(usize, usize)>,
    /// Routing entropy.
    pub entropy: Option<f64>,
    /// Domain alignment by its own formula.
    pub alignment: Option<f64>,
}

/// The result in a sentence, and the comparison it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The sentence.
    pub sentence: String,
    /// The one method.
    pub method: String,
    /// The other, the strongest peer where the study has peers.
    pub against: String,
}

/// Everything a study found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudySummary {
    /// Which study: `main`, `ablation`, `loso`, …
    pub study: String,
    /// What it ran on.
    pub dataset: DatasetSummary,
    /// How trials were split, in words.
    pub protocol: String,
    /// The whole resolved configuration; running it again gives the same table.
    pub settings: serde_json::Value,
    /// Version of the code, and the instruction set it ran on.
    pub code: String,
    /// The table.
    pub rows: Vec<Row>,
    /// Tests, paired by subject.
    pub comparisons: Vec<Comparison>,
    /// The paper's figures, where the dataset is one of its three.
    pub paper: Vec<PaperRow>,
    /// The result in a sentence, where two methods were compared.
    #[serde(default)]
    pub headline: Option<Headline>,
    /// What it means, in words, one sentence each.
    pub verdict: Vec<String>,
    /// The methods paragraph, ready to paste.
    pub methods: String,
    /// When and where the summary was made; only [`conclude`](crate::conclude) says, for it
    /// differs from run to run.
    #[serde(default)]
    pub made: Option<Made>,
    /// The records behind it.
    pub units: Vec<UnitRecord>,
}
