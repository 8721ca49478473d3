//! The report itself, and how it reads.

use super::balanced;
use crate::Measure;
use crate::metrics::Scores;
use crate::routing_stats::{ExpertDiversity, FilterRank, RoutingStats};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Balanced accuracies under other routing weights, on the same test trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Controls {
    /// Each sample with another one's weights.
    pub permuted: f64,
    /// Each sample with the mean weights of its domain.
    pub domain_mean: f64,
    /// The winner alone.
    pub hard_top1: f64,
    /// One expert, trained from scratch; `None` where it was not asked for.
    pub retrained: Option<f64>,
}

/// What routing does on a set of labelled trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoutingReport {
    /// Scores of the model as it is.
    pub scores: Scores,
    /// Balanced accuracy with uniform weights.
    pub proxy_accuracy: Measure,
    /// `Δ_K1`: the model's balanced accuracy minus the proxy's.
    pub proxy_gap: Measure,
    /// Entropy and domain alignment.
    pub stats: Option<RoutingStats>,
    /// How different the experts are.
    pub diversity: Option<ExpertDiversity>,
    /// Smallest singular values, where experts need not be orthonormal.
    pub rank: Option<FilterRank>,
    /// The same model under other weights.
    pub controls: Option<Controls>,
}

impl RoutingReport {
    pub(crate) fn unrouted(scores: Scores) -> Self {
        let reason = "the network does not route";
        Self {
            scores,
            proxy_accuracy: Measure::undefined(reason),
            proxy_gap: Measure::undefined(reason),
            stats: None,
            diversity: None,
            rank: None,
            controls: None,
        }
    }

    pub(crate) fn routed(
        scores: Scores,
        proxy: f64,
        stats: RoutingStats,
        diversity: Option<ExpertDiversity>,
        controls: Controls,
    ) -> Self {
        Self {
            proxy_accuracy: Measure::Value(proxy),
            proxy_gap: Measure::Value(balanced(&scores) - proxy),
            scores,
            stats: Some(stats),
            diversity,
            rank: None,
            controls: Some(controls),
        }
    }

    /// The same report with the retrained control.
    pub fn with_retrained(mut self, accuracy: Option<f64>) -> Self {
        if let Some(controls) = &mut self.controls {
            controls.retrained = accuracy;
        }
        self
    }
}

/// A signed difference, three digits.
struct Gap(f64);

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.3}", self.0)
    }
}

impl fmt::Display for RoutingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accuracy = balanced(&self.scores);
        writeln!(
            f,
            "balanced accuracy        {accuracy:.3}  ({} trials)",
            self.scores.trials
        )?;
        for (name, measure) in [
            ("ROC-AUC", &self.scores.roc_auc),
            ("Cohen's kappa", &self.scores.kappa),
            ("K=1 proxy", &self.proxy_accuracy),
            ("proxy gap Δ_K1", &self.proxy_gap),
        ] {
            line(f, name, measure)?;
        }
        if let Some(stats) = &self.stats {
            line(f, "routing entropy H̄", &stats.entropy)?;
            line(f, "domain alignment r_d", &stats.domain_alignment)?;
            line(f, "  by the paper's formula", &stats.domain_alignment_paper)?;
        }
        if let Some(diversity) = &self.diversity {
            line(f, "expert angle, degrees", &diversity.mean_angle)?;
            line(f, "  share of the largest", &diversity.share_of_largest)?;
            line(f, "  of random experts", &diversity.random_mean_angle)?;
        }
        if let Some(rank) = &self.rank {
            let values = [
                ("smallest σ, experts", rank.smallest_expert()),
                ("  routed filters", rank.smallest_routed()),
            ];
            for (name, value) in values {
                line(f, name, &Measure::Value(value))?;
            }
        }
        if let Some(c) = &self.controls {
            writeln!(f, "controls (difference to the model)")?;
            for (name, value) in [
                ("permuted routing", Some(c.permuted)),
                ("domain-mean routing", Some(c.domain_mean)),
                ("hard top-1", Some(c.hard_top1)),
                ("retrained K=1", c.retrained),
            ] {
                if let Some(value) = value {
                    writeln!(f, "  {name:<22} {value:.3}  {}", Gap(value - accuracy))?;
                }
            }
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, measure: &Measure) -> fmt::Result {
    // Padded by characters, not bytes: H̄ is two of them.
    let width = 24 + name.chars().filter(|c| *c == '\u{304}').count();
    match measure {
        Measure::Value(value) => writeln!(f, "{name:<width$} {value:.3}"),
        Measure::Undefined(reason) => writeln!(f, "{name:<width$} –  ({reason})"),
    }
}
