//! How good decisions are: confusion matrix, balanced accuracy, ROC-AUC, Cohen's kappa, over all
//! trials and per domain.
//!
//! * Recall of class c: the share of its trials decided as c. Balanced accuracy: the mean recall of
//!   the classes **present**.
//! * ROC-AUC (two classes): `P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)` of a trial of class 1 against one of class
//!   0, by mid-ranks.
//! * Kappa: `(p_o − p_e)/(1 − p_e)`, `p_o` the share decided rightly, `p_e = Σ_c row_c·col_c/N²`
//!   (Cohen 1960).
//!
//! The same numbers as scikit-learn's; what does not exist (AUC of one class) is undefined with a
//! reason, never NaN.

use crate::error::check_count;
use crate::{Factor, Measure, ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_linalg::argmax;

const OP: &str = "scores";

/// Counts of decisions: rows are true classes, columns decided ones.
///
/// ```
/// use stiefel_model::metrics::Confusion;
///
/// let c = Confusion::new(&[0, 0, 0, 1], &[0, 0, 1, 1], 2)?;
/// assert_eq!(c.row(0), [2, 1]);
/// assert!((c.balanced_accuracy().value().unwrap() - 5.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    classes: usize,
    counts: Vec<usize>,
}

impl Confusion {
    /// Counts true and decided classes, one of each per trial.
    pub fn new(truth: &[usize], decided: &[usize], classes: usize) -> Result<Self> {
        check_count(OP, "decisions", truth.len(), decided.len())?;
        for (what, values) in [("true class", truth), ("decided class", decided)] {
            if let Some(trial) = values.iter().position(|&c| c >= classes) {
                return Err(ModelError::IndexOutOfRange {
                    op: OP,
                    what,
                    trial,
                    index: values[trial],
                    count: classes,
                });
            }
        }
        let mut counts = vec![0; classes * classes];
        for (&t, &p) in truth.iter().zip(decided) {
            counts[t * classes + p] += 1;
        }
        Ok(Self { classes, counts })
    }

    /// How many classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many trials.
    pub fn trials(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How the trials of a class were decided.
    ///
    /// # Panics
    /// If `class >= self.classes()`.
    pub fn row(&self, class: usize) -> &[usize] {
        &self.counts[class * self.classes..(class + 1) * self.classes]
    }

    /// The share of trials decided rightly.
    pub fn accuracy(&self) -> Measure {
        let right: usize = (0..self.classes).map(|c| self.row(c)[c]).sum();
        ratio(right, self.trials(), "no trials")
    }

    /// The share of a class's trials decided rightly.
    ///
    /// # Panics
    /// If `class >= self.classes()`.
    pub fn recall(&self, class: usize) -> Measure {
        let row = self.row(class);
        ratio(row[class], row.iter().sum(), "no trial of this class")
    }

    /// The mean recall over the classes present.
    pub fn balanced_accuracy(&self) -> Measure {
        let recalls: Vec<f64> = (0..self.classes)
            .filter_map(|c| self.recall(c).value())
            .collect();
        if recalls.is_empty() {
            return Measure::undefined("no trials");
        }
        Measure::Value(recalls.iter().sum::<f64>() / recalls.len() as f64)
    }

    /// Cohen's kappa: agreement beyond chance.
    pub fn kappa(&self) -> Measure {
        let total = self.trials() as f64;
        if total == 0.0 {
            return Measure::undefined("no trials");
        }
        let column = |c: usize| (0..self.classes).map(|r| self.row(r)[c]).sum::<usize>();
        let chance: f64 = (0..self.classes)
            .map(|c| self.row(c).iter().sum::<usize>() as f64 * column(c) as f64)
            .sum::<f64>()
            / (total * total);
        if chance >= 1.0 {
            return Measure::undefined("there is only one class, and every decision is for it");
        }
        let right: usize = (0..self.classes).map(|c| self.row(c)[c]).sum();
        Measure::Value((right as f64 / total - chance) / (1.0 - chance))
    }
}

fn ratio(part: usize, whole: usize, reason: &str) -> Measure {
    if whole == 0 {
        return Measure::undefined(reason);
    }
    Measure::Value(part as f64 / whole as f64)
}

/// Scores of probabilities, `N × classes` one after the other: a trial is decided for its most
/// probable class, the first of equals.
pub fn score(truth: &[usize], probabilities: &[f64], classes: usize) -> Result<Scores> {
    let rows = || probabilities.chunks_exact(classes.max(1));
    let decided: Vec<usize> = rows().map(argmax).collect();
    let values: Option<Vec<f64>> = (classes == 2).then(|| rows().map(|p| p[1]).collect());
    Decisions {
        truth,
        decided: &decided,
        values: values.as_deref(),
        classes,
    }
    .scores()
}

/// The area under the ROC curve of scores for class 1 (probabilities, logits: only their order
/// counts); ties count half.
///
/// ```
/// use stiefel_model::metrics::roc_auc;
///
/// assert_eq!(
///     roc_auc(&[0, 0, 1, 1], &[0.1, 0.4, 0.35, 0.8])?.value(),
///     Some(0.75)
/// );
/// assert!(roc_auc(&[1, 1], &[0.2, 0.3])?.reason().is_some());
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn roc_auc(truth: &[usize], scores: &[f64]) -> Result<Measure> {
    check_count(OP, "decision values", truth.len(), scores.len())?;
    if let Some(trial) = scores.iter().position(|s| s.is_nan()) {
        return Err(ModelError::NotFinite {
            op: OP,
            what: "the decision value",
            trial,
            value: scores[trial],
        });
    }
    if let Some(&class) = truth.iter().find(|&&c| c > 1) {
        return Ok(Measure::undefined(format!(
            "ROC-AUC is for two classes, but there is a class {class}"
        )));
    }
    let positives = truth.iter().filter(|&&c| c == 1).count();
    let negatives = truth.len() - positives;
    if positives == 0 || negatives == 0 {
        return Ok(Measure::undefined("ROC-AUC needs trials of both classes"));
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    // Twice the number of (positive, negative) pairs in the right order, ties counting half: whole
    // numbers, no rounding.
    let (mut doubled, mut below) = (0_u128, 0_u128);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let own = tied.iter().filter(|&&i| truth[i] == 1).count() as u128;
        let others = tied.len() as u128 - own;
        doubled += own * (2 * below + others);
        below += others;
    }
    let pairs = positives as f64 * negatives as f64;
    Ok(Measure::Value(doubled as f64 / (2.0 * pairs)))
}

/// All scores of a set of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// How many trials.
    pub trials: usize,
    /// Mean recall over the classes present.
    pub balanced_accuracy: Measure,
    /// ROC-AUC, for two classes and where decision values are given.
    pub roc_auc: Measure,
    /// Cohen's kappa.
    pub kappa: Measure,
    /// The counts behind them.
    pub confusion: Confusion,
}

/// The scores of one domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomainScores {
    /// The domain's index.
    pub domain: usize,
    /// The domain's name.
    pub name: String,
    /// Its scores.
    pub scores: Scores,
}

/// True classes, decisions and, where there are two classes, decision values for class 1.
#[derive(Debug, Clone, Copy)]
pub struct Decisions<'a> {
    /// True classes.
    pub truth: &'a [usize],
    /// Decided classes.
    pub decided: &'a [usize],
    /// Decision values for class 1, one per trial, where there are two classes.
    pub values: Option<&'a [f64]>,
    /// How many classes there are.
    pub classes: usize,
}

impl Decisions<'_> {
    /// The scores over all trials.
    pub fn scores(&self) -> Result<Scores> {
        let confusion = Confusion::new(self.truth, self.decided, self.classes)?;
        let roc_auc = match (self.classes, self.values) {
            (2, Some(values)) => roc_auc(self.truth, values)?,
            (2, None) => Measure::undefined("no decision values given"),
            (c, _) => Measure::undefined(format!("ROC-AUC is for two classes, but there are {c}")),
        };
        Ok(Scores {
            trials: confusion.trials(),
            balanced_accuracy: confusion.balanced_accuracy(),
            roc_auc,
            kappa: confusion.kappa(),
            confusion,
        })
    }

    /// The scores of each domain that has trials, in the order of their indices.
    pub fn per_domain(&self, domains: &Factor) -> Result<Vec<DomainScores>> {
        check_count(OP, "domains", self.truth.len(), domains.len())?;
        check_count(OP, "decisions", self.truth.len(), self.decided.len())?;
        if let Some(values) = self.values {
            check_count(OP, "decision values", self.truth.len(), values.len())?;
        }
        let one = |domain: usize| {
            let at: Vec<usize> = (0..domains.len())
                .filter(|&i| domains.indices()[i] == domain)
                .collect();
            let pick = |v: &[usize]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
            let values = (self.values).map(|v| at.iter().map(|&i| v[i]).collect::<Vec<_>>());
            let scores = Decisions {
                truth: &pick(self.truth),
                decided: &pick(self.decided),
                values: values.as_deref(),
                classes: self.classes,
            }
            .scores()?;
            Ok(DomainScores {
                domain,
                name: domains.name(domain).to_owned(),
                scores,
            })
        };
        domains.present().into_iter().map(one).collect()
    }
}
