//! A study in figures: what tables, JSON and the report are made of.

use crate::{DatasetSummary, UnitRecord};
use serde::{Deserialize, Serialize};
use stiefel_model::diagnostics::RoutingVerdict;

/// Mean and sample standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanStd {
    /// The mean.
    pub mean: f64,
    /// The standard deviation with `n − 1`; 0 for one value.
    pub std: f64,
    /// How many values.
    pub count: usize,
}

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
    /// The part of the data it ran on, where the study has several.
    #[serde(default)]
    pub cell: Option<String>,
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
    /// Version of the code.
    pub code: String,
    /// The table.
    pub rows: Vec<Row>,
    /// Tests, paired by subject.
    pub comparisons: Vec<Comparison>,
    /// The paper's figures, where the dataset is one of its three.
    pub paper: Vec<PaperRow>,
    /// What it means, in words, one sentence each.
    pub verdict: Vec<String>,
    /// The methods paragraph, ready to paste.
    pub methods: String,
    /// The records behind it.
    pub units: Vec<UnitRecord>,
}
