//! The scaling rule: from channels `n` and training domains `D` to the shape of the network.
//!
//! `ρ = n(n+1)/(2D)`, the tangent dimensions per domain.
//!
//! | | `ρ > 50` | `ρ ≤ 50` |
//! |---|---|---|
//! | DSP encoder | on, `r = 40` | off |
//! | `λ_align` | 0.05 | 0 |
//! | keys | decoupled from the classification loss | coupled |
//!
//! `K = D − 1` for `D ≤ 10`, `round(D/2)` for `D ≥ 20`, `round(9 + (D − 10)/10)` in between, at
//! least 1; `D = 1` turns routing off. `k = ⌊n/2⌋` for `n ≥ 40`, else `n − max(1, round(n/11))`, at
//! least 1. `m = 20`. Source: the paper's "Unified Scaling Methodology" and its table; `K` and `k`
//! interpolate the values it used.

use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The constants of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScalingRule {
    /// The threshold `ρ*`.
    pub threshold: f64,
    /// Columns of the encoder above it.
    pub rank: usize,
    /// `λ_align` above it.
    pub lambda_align: f64,
    /// The width `m` of queries, keys and domain embeddings.
    pub embedding: usize,
}

impl Default for ScalingRule {
    fn default() -> Self {
        Self {
            threshold: 50.0,
            rank: 40,
            lambda_align: 0.05,
            embedding: 20,
        }
    }
}

/// On which side of the threshold `ρ` lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// Many tangent dimensions per domain: the encoder has to find the domains.
    HighRho,
    /// Few: the query network finds them unaided.
    LowRho,
}

/// A value and why it was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice<T> {
    /// The value.
    pub value: T,
    /// Why, for the user.
    pub reason: String,
}

fn choice<T>(value: T, reason: impl Into<String>) -> Choice<T> {
    Choice {
        value,
        reason: reason.into(),
    }
}

/// What the rule recommends; its `Display` explains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// Where it comes from: the rule, or a preset.
    pub source: String,
    /// Channels `n`.
    pub channels: usize,
    /// Training domains `D`.
    pub domains: usize,
    /// `ρ = n(n+1)/(2D)`.
    pub rho: f64,
    /// The threshold it is compared with.
    pub threshold: f64,
    /// The side of the threshold.
    pub regime: Regime,
    /// Whether trials are routed at all.
    pub routing: Choice<bool>,
    /// Experts `K`.
    pub experts: Choice<usize>,
    /// Columns `k` of a filter.
    pub filters: Choice<usize>,
    /// Width `m` of queries, keys and embeddings.
    pub embedding: Choice<usize>,
    /// Columns `r` of the encoder; none where it is off.
    pub dsp_rank: Choice<Option<usize>>,
    /// Weight of the alignment loss.
    pub lambda_align: Choice<f64>,
    /// Whether keys learn from the alignment loss alone.
    pub decouple_keys: Choice<bool>,
}

impl ScalingRule {
    /// The recommendation for `n` channels and `D` **training** domains.
    ///
    /// ```
    /// use stiefel_model::scaling::{Regime, ScalingRule};
    ///
    /// let auto = ScalingRule::default().recommend(60, 9)?;
    /// assert_eq!(
    ///     (auto.experts.value, auto.filters.value, auto.dsp_rank.value),
    ///     (8, 30, Some(40))
    /// );
    /// assert_eq!(auto.regime, Regime::HighRho);
    /// println!("{auto}");
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn recommend(&self, n: usize, d: usize) -> Result<Recommendation> {
        for (name, value) in [("the number of channels", n), ("the number of domains", d)] {
            if value == 0 {
                return Err(ModelError::Parameter {
                    op: "scaling rule",
                    name,
                    value: 0.0,
                    expected: "at least 1",
                });
            }
        }
        let dimensions = n as f64 * (n as f64 + 1.0) / 2.0;
        let rho = dimensions / d as f64;
        let high = rho > self.threshold && d > 1;
        Ok(Recommendation {
            source: "the scaling rule".into(),
            channels: n,
            domains: d,
            rho,
            threshold: self.threshold,
            regime: if rho > self.threshold {
                Regime::HighRho
            } else {
                Regime::LowRho
            },
            routing: if d == 1 {
                choice(
                    false,
                    "one training domain: there is nothing to route between",
                )
            } else {
                choice(true, format!("{d} training domains"))
            },
            experts: experts(d),
            filters: filters(n),
            embedding: choice(self.embedding, "the same for every dataset"),
            dsp_rank: self.dsp_rank(high, d, dimensions),
            lambda_align: self.lambda_align(high, d),
            decouple_keys: decouple_keys(high, d),
        })
    }

    fn dsp_rank(&self, high: bool, d: usize, dimensions: f64) -> Choice<Option<usize>> {
        if high {
            let reason = format!(
                "ρ > {}: domain identity is spread over {dimensions} tangent dimensions, the \
                 encoder finds it (fewer columns where the data span fewer)",
                self.threshold
            );
            return choice(Some(self.rank), reason);
        }
        if d == 1 {
            return choice(None, "routing is off");
        }
        let reason = format!(
            "ρ ≤ {}: the query network finds the domains unaided",
            self.threshold
        );
        choice(None, reason)
    }

    fn lambda_align(&self, high: bool, d: usize) -> Choice<f64> {
        if high {
            let reason = format!("ρ > {}: keys are drawn to the queries", self.threshold);
            choice(self.lambda_align, reason)
        } else if d == 1 {
            choice(0.0, "routing is off")
        } else {
            choice(0.0, format!("ρ ≤ {}: not needed", self.threshold))
        }
    }
}

fn decouple_keys(high: bool, d: usize) -> Choice<bool> {
    if high {
        choice(
            true,
            "the alignment loss alone moves the keys, towards stable domain attractors",
        )
    } else if d == 1 {
        choice(false, "routing is off")
    } else {
        choice(
            false,
            "without alignment loss the keys learn from the classification",
        )
    }
}

/// `K` of `D`.
fn experts(d: usize) -> Choice<usize> {
    let half = |x: f64| x.round() as usize;
    match d {
        1 => choice(1, "one training domain"),
        2..=10 => choice(d - 1, "D ≤ 10: one fewer than the domains"),
        11..20 => choice(
            half(9.0 + (d as f64 - 10.0) / 10.0),
            "10 < D < 20: between 9 and 10, so that K never falls as D grows",
        ),
        _ => choice(
            half(d as f64 / 2.0),
            "D ≥ 20: half of the domains, because more capacity helps less and less",
        ),
    }
}

/// `k` of `n`.
fn filters(n: usize) -> Choice<usize> {
    if n >= 40 {
        return choice(n / 2, "n ≥ 40: half of the channels");
    }
    let dropped = ((n as f64 / 11.0).round() as usize).max(1);
    choice(
        n.saturating_sub(dropped).max(1),
        "n < 40: compact already, about one channel in eleven is dropped",
    )
}

/// The settings the paper used for its three datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preset {
    /// 60 channels, 9 subjects.
    Weibo2014,
    /// 13 channels, 28 subject-sessions.
    #[serde(rename = "BNCI2015001")]
    Bnci2015001,
    /// 22 channels, 9 subjects.
    #[serde(rename = "BNCI2014001")]
    Bnci2014001,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Weibo2014, Self::Bnci2015001, Self::Bnci2014001];

    /// The dataset's name, as MOABB spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weibo2014 => "Weibo2014",
            Self::Bnci2015001 => "BNCI2015001",
            Self::Bnci2014001 => "BNCI2014001",
        }
    }

    /// The paper's settings.
    pub fn recommendation(self) -> Recommendation {
        let (n, d, k, experts, aligned) = match self {
            Self::Weibo2014 => (60, 9, 30, 8, true),
            Self::Bnci2015001 => (13, 28, 12, 16, false),
            Self::Bnci2014001 => (22, 9, 20, 8, false),
        };
        let rule = ScalingRule::default();
        let paper = "the paper's value for this dataset";
        Recommendation {
            source: format!("the paper's preset {}", self.name()),
            channels: n,
            domains: d,
            rho: (n * (n + 1)) as f64 / (2 * d) as f64,
            threshold: rule.threshold,
            regime: if aligned {
                Regime::HighRho
            } else {
                Regime::LowRho
            },
            routing: choice(true, paper),
            experts: choice(experts, paper),
            filters: choice(k, paper),
            embedding: choice(rule.embedding, paper),
            dsp_rank: choice(aligned.then_some(rule.rank), paper),
            lambda_align: choice(if aligned { rule.lambda_align } else { 0.0 }, paper),
            decouple_keys: choice(aligned, paper),
        }
    }
}

impl FromStr for Preset {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self> {
        let found = (Self::ALL.into_iter()).find(|p| p.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| ModelError::UnknownName {
            what: "preset",
            found: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

impl fmt::Display for Recommendation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = |on: bool| if on { "on" } else { "off" };
        let side = match self.regime {
            Regime::HighRho => "above",
            Regime::LowRho => "not above",
        };
        writeln!(
            f,
            "{} channels and {} training domain(s), by {}",
            self.channels, self.domains, self.source
        )?;
        writeln!(
            f,
            "ρ = n(n+1)/(2D) = {:.1}, {side} the threshold {}",
            self.rho, self.threshold
        )?;
        let rank = (self.dsp_rank.value).map_or_else(|| "off".to_owned(), |r| r.to_string());
        let keys = if self.decouple_keys.value {
            "decoupled"
        } else {
            "coupled"
        };
        let rows = [
            (
                "routing",
                on(self.routing.value).to_owned(),
                &self.routing.reason,
            ),
            (
                "experts K",
                self.experts.value.to_string(),
                &self.experts.reason,
            ),
            (
                "filters k",
                self.filters.value.to_string(),
                &self.filters.reason,
            ),
            (
                "embedding m",
                self.embedding.value.to_string(),
                &self.embedding.reason,
            ),
            ("DSP columns r", rank, &self.dsp_rank.reason),
            (
                "λ_align",
                self.lambda_align.value.to_string(),
                &self.lambda_align.reason,
            ),
            ("keys", keys.to_owned(), &self.decouple_keys.reason),
        ];
        for (at, (name, value, reason)) in rows.into_iter().enumerate() {
            let end = if at == 6 { "" } else { "\n" };
            write!(f, "  {name:<13}  {value:<9}  {reason}{end}")?;
        }
        Ok(())
    }
}
