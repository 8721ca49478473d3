//! What the routing figures mean: the one rule of the program, the study and Python.
//!
//! With `a_f` the balanced accuracy on the set `f` of test trials (one set, or the folds of a
//! study) and `c_f` that of a control on the same trials, `Δ_c = mean_f(a_f − c_f)`. Trials of `C`
//! classes, the smallest of `n_min` trials, cannot tell a difference below
//!
//! ```text
//! resolution = 6/(C·n_min)
//! ```
//!
//! from none: one trial is worth at most `1/(C·n_min)`, and a sign test of five trials that differ
//! is never significant ([`tolerance::TELLING_TRIALS`]). It is the best case: a difference above it
//! may still be chance. The rule, first match wins:
//!
//! 1. the model does not route, or its trials also chose the epoch: there is nothing to tell, or it
//!    cannot be told;
//! 2. `Δ_K1 ≤ 0.01` in more than 40 % of the sets: no (consistent) gain. Otherwise the paper calls
//!    the routing genuine;
//! 3. `Δ_K1` below the resolution: cannot be told. `Δ_c ≤ 0.01` for one expert trained from
//!    scratch, or for the weights of other trials: it is not the routing that helps;
//! 4. `Δ_c` of these controls below the resolution: cannot be told;
//! 5. `Δ_c ≤ 0.01` for the mean weights of the domain, or the model routes by domain alone: routing
//!    by domain;
//! 6. `Δ_c` of the domain's mean weights below the resolution: cannot be told; otherwise routing by
//!    trial.
//!
//! Hard top-1 is shown beside the verdict and does not change it: a sharp router loses nothing by
//! it. Source: the paper's "Routing Diagnostics" (rule 2); the controls and the resolution are
//! ours.

use super::{RoutingReport, balanced};
use crate::tolerance::{self, EQUAL_SCORES, ROUTING_GAIN};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Balanced accuracies of one routed model on one set of test trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoutingFigures {
    /// Of the model as it is.
    pub accuracy: f64,
    /// With uniform weights (K = 1 proxy).
    pub proxy: f64,
    /// With the weights of other trials.
    pub permuted: f64,
    /// With the mean weights of each trial's domain; nothing where the domains had no training
    /// trials.
    #[serde(default)]
    pub domain_mean: Option<f64>,
    /// With the strongest expert alone.
    #[serde(default)]
    pub hard_top1: Option<f64>,
    /// Of one expert trained from scratch, where it was asked for.
    #[serde(default)]
    pub retrained: Option<f64>,
}

/// What a model's routing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoutedBy {
    /// The trial, and maybe its domain: networks.
    #[default]
    Trial,
    /// The domain alone, as in CHOIR.
    Domain,
}

/// Everything that a verdict on routing reads.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RoutingEvidence {
    /// One for each set of test trials; none where the model does not route.
    pub sets: Vec<RoutingFigures>,
    /// How many different trials of each class were judged, all sets together.
    pub trials: Vec<usize>,
    /// What routing depends on.
    #[serde(default)]
    pub routed_by: RoutedBy,
    /// Whether the trials also trained the model or chose its epoch or penalty, which makes its
    /// figures too good.
    #[serde(default)]
    pub chosen: bool,
}

/// The kinds of verdict; the [module](self) has the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingFinding {
    /// The model does not route.
    Unrouted,
    /// These trials cannot tell.
    CannotTell,
    /// With uniform weights the model is as good.
    NoGain,
    /// Better on average, but in too few sets.
    Inconsistent,
    /// One expert trained from scratch is as good.
    OneExpert,
    /// The weights of other trials are as good.
    AnyWeights,
    /// Routing is used, and it follows the domain.
    ByDomain,
    /// Routing is used, and it follows the trial.
    ByTrial,
}

/// A verdict and its sentence, which is what it displays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutingVerdict {
    /// What kind of verdict.
    pub finding: RoutingFinding,
    /// The same in words, with the figures behind it.
    pub sentence: String,
}

impl fmt::Display for RoutingVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl RoutingReport {
    /// The figures that a verdict reads; nothing where the model does not route.
    pub fn figures(&self) -> Option<RoutingFigures> {
        let controls = self.controls.as_ref()?;
        Some(RoutingFigures {
            accuracy: balanced(&self.scores),
            proxy: self.proxy_accuracy.value()?,
            permuted: controls.permuted,
            domain_mean: Some(controls.domain_mean),
            hard_top1: Some(controls.hard_top1),
            retrained: controls.retrained,
        })
    }
}

impl RoutingEvidence {
    /// The evidence of one report.
    pub fn from_report(report: &RoutingReport, routed_by: RoutedBy, chosen: bool) -> Self {
        let confusion = &report.scores.confusion;
        let counts = (0..confusion.classes()).map(|c| confusion.row(c).iter().sum());
        Self {
            sets: report.figures().into_iter().collect(),
            trials: counts.collect(),
            routed_by,
            chosen,
        }
    }

    /// The smallest difference of balanced accuracy that these trials could tell from none; above
    /// one where they are too few for any.
    pub fn resolution(&self) -> f64 {
        let present = self.trials.iter().filter(|n| **n > 0);
        let smallest = present.clone().min().copied().unwrap_or(0);
        tolerance::TELLING_TRIALS as f64 / (present.count() * smallest) as f64
    }

    /// What they mean.
    ///
    /// ```
    /// use stiefel_model::diagnostics::{RoutingEvidence, RoutingFigures, RoutingFinding};
    ///
    /// // 30 of 37 trials are right, and one less with any other weights: nobody can tell that from chance.
    /// let figures = RoutingFigures {
    ///     accuracy: 0.811,
    ///     proxy: 0.784,
    ///     permuted: 0.784,
    ///     domain_mean: Some(0.784),
    ///     hard_top1: None,
    ///     retrained: None,
    /// };
    /// let mut evidence = RoutingEvidence { sets: vec![figures], trials: vec![18, 19], ..Default::default() };
    /// assert_eq!(evidence.verdict().finding, RoutingFinding::CannotTell);
    /// // The same shares of a hundred times as many trials can be told.
    /// evidence.trials = vec![1800, 1900];
    /// assert_eq!(evidence.verdict().finding, RoutingFinding::ByTrial);
    /// ```
    pub fn verdict(&self) -> RoutingVerdict {
        let Some(proxy) = self.control("uniform weights", |s| Some(s.proxy)) else {
            return RoutingVerdict {
                finding: RoutingFinding::Unrouted,
                sentence: "The model does not route: all trials have the same weights, and there \
                           are only its scores to judge."
                    .into(),
            };
        };
        let scratch = self.control(SCRATCH, |s| s.retrained);
        let others = match self.routed_by {
            RoutedBy::Trial => "the weights of other trials",
            RoutedBy::Domain => "the weights of other domains",
        };
        let permuted = self.control(others, |s| Some(s.permuted));
        let controls: Vec<Control> = scratch.into_iter().chain(permuted).collect();
        let (finding, sentence) = (self.in_chosen_trials(&proxy))
            .or_else(|| self.without_gain(&proxy))
            .or_else(|| self.beside_routing(&proxy, &controls))
            .unwrap_or_else(|| self.used(&proxy, &controls));
        RoutingVerdict { finding, sentence }
    }

    fn in_chosen_trials(&self, proxy: &Control) -> Option<Said> {
        let text = format!(
            "Whether routing helps cannot be told from trials that also trained the model or \
             chose its epoch or penalty (Δ_K1 = {:+.3} on them): judge it on trials that were \
             held out.",
            proxy.difference
        );
        self.chosen.then_some((RoutingFinding::CannotTell, text))
    }

    /// Rule 2: too few sets with a gain.
    fn without_gain(&self, proxy: &Control) -> Option<Said> {
        let (won, sets) = (self.won_count(), self.sets.len());
        if 100 * won >= tolerance::ROUTING_FOLDS_PERCENT * sets {
            return None;
        }
        let gain = self.gain(proxy);
        if is_gain(proxy.difference) {
            let text = format!("No consistent gain from routing is seen ({gain}).");
            return Some((RoutingFinding::Inconsistent, text));
        }
        let unseen = match self.resolution() {
            r if r > ROUTING_GAIN => format!(
                " A gain below {:.3} could not be told with these {} trials.",
                r.min(1.0),
                self.trials.iter().sum::<usize>()
            ),
            _ => String::new(),
        };
        let text = format!(
            "Routing is not what helps here: with uniform weights the model scores {:.3} \
             ({gain}).{unseen}",
            proxy.accuracy
        );
        Some((RoutingFinding::NoGain, text))
    }

    /// Rules 3 and 4: something else does as well, or may do.
    fn beside_routing(&self, proxy: &Control, controls: &[Control]) -> Option<Said> {
        let question = "Whether routing helps";
        if let Some(text) = self.too_small(question, [proxy]) {
            return Some((RoutingFinding::CannotTell, text));
        }
        if let Some(c) = controls.iter().find(|c| c.is_as_good()) {
            let text = format!(
                "Routing is not what helps here: uniform weights are worse ({}), but {} score \
                 {:.3}.",
                self.gain(proxy),
                c.name,
                c.accuracy
            );
            let finding = match c.name {
                SCRATCH => RoutingFinding::OneExpert,
                _ => RoutingFinding::AnyWeights,
            };
            return Some((finding, text));
        }
        let text = self.too_small(question, controls)?;
        Some((RoutingFinding::CannotTell, text))
    }

    /// Rules 5 and 6: by the domain, or by the trial.
    fn used(&self, proxy: &Control, controls: &[Control]) -> Said {
        let over: Vec<String> = (controls.iter())
            .map(|c| format!("{:+.3} over {}", c.difference, c.name))
            .collect();
        let used = format!("({}; {})", self.gain(proxy), over.join(", "));
        let proof = match self.sets.len() {
            1 => " One set of trials is no proof: a study repeats it over folds.",
            _ => "",
        };
        if self.routed_by == RoutedBy::Domain {
            let text = format!("A domain's own weights are what helps {used}.{proof}");
            return (RoutingFinding::ByDomain, text);
        }
        let open =
            format!("Routing is used {used}, but whether it follows the trial or the domain");
        let Some(mean) = self.control("the mean weights of each domain", |s| s.domain_mean) else {
            let text = format!("{open} cannot be told: the domains had no training trials.{proof}");
            return (RoutingFinding::CannotTell, text);
        };
        if mean.is_as_good() {
            let text = format!(
                "Routing is used {used}, by the domain rather than by the trial: {} score \
                 {:.3}.{proof}",
                mean.name, mean.accuracy
            );
            return (RoutingFinding::ByDomain, text);
        }
        match self.too_small(&open, [&mean]) {
            Some(text) => (RoutingFinding::CannotTell, text),
            None => (
                RoutingFinding::ByTrial,
                format!(
                    "Routing is used, trial by trial {used}: {} score only {:.3}.{proof}",
                    mean.name, mean.accuracy
                ),
            ),
        }
    }

    /// The sentence about the first difference that so few trials cannot tell from none.
    fn too_small<'a>(
        &self,
        question: &str,
        controls: impl IntoIterator<Item = &'a Control>,
    ) -> Option<String> {
        let resolution = self.resolution();
        let small = |c: &&Control| c.difference < resolution;
        let c = controls.into_iter().find(small)?;
        Some(format!(
            "{question} cannot be told: the difference to {1} is {0:+.3}, and {2} trials cannot \
             tell less than {3:.3} from none.",
            c.difference,
            c.name,
            self.trials.iter().sum::<usize>(),
            resolution.min(1.0)
        ))
    }

    /// In how many sets `Δ_K1` exceeds its threshold.
    pub fn won_count(&self) -> usize {
        let won = |s: &&RoutingFigures| is_gain(s.accuracy - s.proxy);
        self.sets.iter().filter(won).count()
    }

    /// The gap, and in how many sets it is seen where there are several.
    fn gain(&self, proxy: &Control) -> String {
        let gap = proxy.difference;
        match self.sets.len() {
            1 => format!("Δ_K1 = {gap:+.3}"),
            sets => format!(
                "Δ_K1 = {gap:+.3}, above {ROUTING_GAIN} in {} of {sets} folds",
                self.won_count()
            ),
        }
    }

    /// A control over the sets that have it.
    fn control(
        &self,
        name: &'static str,
        of: impl Fn(&RoutingFigures) -> Option<f64>,
    ) -> Option<Control> {
        let pairs = self.sets.iter().filter_map(|s| Some((s.accuracy, of(s)?)));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let mean =
            |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / pairs.len() as f64;
        (!pairs.is_empty()).then(|| Control {
            name,
            accuracy: mean(&|p| p.1),
            difference: mean(&|p| p.0 - p.1),
        })
    }
}

/// A verdict before it has a type of its own.
type Said = (RoutingFinding, String);

/// The name of the retrained control.
const SCRATCH: &str = "models with one expert trained from scratch";

/// A control over all sets: its mean accuracy, and what the model has above it.
struct Control {
    name: &'static str,
    accuracy: f64,
    difference: f64,
}

impl Control {
    fn is_as_good(&self) -> bool {
        !is_gain(self.difference)
    }
}

/// Above the threshold, and not by rounding.
fn is_gain(difference: f64) -> bool {
    difference > ROUTING_GAIN + EQUAL_SCORES
}
