//! A toy among the kinds, in no release: tests add a kind in this file and find it at every door.
//!
//! The class of the nearest mean in log-Euclidean distance, `argmin_c ‖log X − L_c‖_F` with `L_c`
//! the mean logarithm of the training trials of class `c`; probabilities `softmax_c(−s·‖log X −
//! L_c‖²)`.

use crate::decoder::Decision;
use crate::file::{Archive, Found, inconsistent};
use crate::kind::{DataSizes, Describe, Engine, Fit, Kind, Model, Names, Start, settings};
use crate::net::Routing;
use crate::train::Flow;
use crate::{ModelError, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use stiefel_data::settings::schema_of;
use stiefel_geometry::spd::{log_vectors, upper_len};
use stiefel_linalg::{MatView, argmax, softmax};

const OP: &str = "toy";

/// The kind `toy`.
#[derive(Debug)]
pub(super) struct ToyKind;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    /// The factor `s` of squared distances in the probabilities.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    sharpness: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sharpness: 1.0 }
    }
}

#[derive(Debug, Clone, Default)]
struct Toy {
    names: Names,
    settings: Settings,
    /// Training trials of each domain.
    trial_counts: Vec<usize>,
    /// `C × n(n+1)/2`.
    means: Vec<f64>,
}

impl Kind for ToyKind {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn about(&self) -> &'static str {
        "nearest mean of a class in log-Euclidean distance"
    }

    fn defaults(&self, _: Option<&str>, _: &Value, _: DataSizes) -> Result<Value> {
        settings::tree(&Settings::default())
    }

    fn schema(&self) -> &'static Value {
        schema_of::<Settings>()
    }

    fn takes_views(&self) -> bool {
        false
    }

    fn adapts(&self) -> bool {
        false
    }

    fn fit(&'static self, settings: &Value, fit: Fit<'_>) -> Result<Arc<dyn Model>> {
        fit.refuse_start()?;
        if fit.observer.step(0) == Flow::Stop {
            return Err(ModelError::Cancelled { op: OP });
        }
        let (trials, classes) = (fit.training, fit.training.classes());
        let rows = log_vectors(trials.covariances().view())?;
        let mut means = Vec::new();
        for c in 0..classes.names().len() {
            let own: Vec<usize> = (0..trials.len())
                .filter(|&i| classes.indices()[i] == c)
                .collect();
            if own.is_empty() {
                return Err(ModelError::Empty {
                    op: OP,
                    remedy: "every class needs training trials",
                });
            }
            let mean = |j| own.iter().map(|&i| rows.matrix(i)[j]).sum::<f64>() / own.len() as f64;
            means.extend((0..rows.cols()).map(mean));
        }
        let domains = 0..trials.domains().names().len();
        Ok(Arc::new(Toy {
            names: Names::from_trials(trials),
            settings: settings::parse(OP, settings)?,
            trial_counts: domains.map(|d| trials.of_domain(d).len()).collect(),
            means,
        }))
    }

    fn read(&'static self, names: Names, file: &mut Archive) -> Found<Arc<dyn Model>> {
        let mut toy = Toy {
            names,
            ..Toy::default()
        };
        toy.parts(file)?;
        if toy.trial_counts.len() == toy.names.domains.len() {
            return Ok(Arc::new(toy));
        }
        Err(inconsistent(&"its counts of trials are not by its domains"))
    }
}

impl Toy {
    fn parts(&mut self, file: &mut Archive) -> Found<()> {
        let shape = [
            self.names.classes.len(),
            upper_len(self.names.channel_count),
        ];
        file.text("model", &mut self.settings)?;
        file.text("trials", &mut self.trial_counts)?;
        file.tensor("means", &shape, &mut self.means)
    }
}

impl Model for Toy {
    fn kind(&self) -> &'static dyn Kind {
        &ToyKind
    }

    fn settings(&self) -> Result<Value> {
        settings::tree(&self.settings)
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn trial_count(&self, domain: usize) -> usize {
        self.trial_counts.get(domain).copied().unwrap_or(0)
    }

    fn start(self: Arc<Self>, _: &Start<'_>) -> Result<Box<dyn Engine>> {
        Ok(Box::new(ToyEngine {
            probabilities: Vec::new(),
            toy: self,
        }))
    }

    fn write(&self, file: &mut Archive) -> Found<()> {
        self.clone().parts(file)
    }

    fn describe(&self) -> Vec<Describe> {
        vec![Describe::line(
            "sharpness",
            self.settings.sharpness.to_string(),
        )]
    }
}

#[derive(Debug)]
struct ToyEngine {
    toy: Arc<Toy>,
    probabilities: Vec<f64>,
}

impl Engine for ToyEngine {
    fn decide(&mut self, covariances: &[f64], _: Routing<'_, f64>) -> Result<Decision<'_>> {
        let n = self.toy.names.channel_count;
        let row = log_vectors(MatView::new(1, n, n, covariances)?)?;
        let square = |mean: &[f64]| -> f64 {
            let gaps = mean.iter().zip(row.data()).map(|(m, x)| m - x);
            gaps.map(|gap| gap * gap).sum()
        };
        let means = self.toy.means.chunks_exact(row.cols());
        let closeness = means.map(|mean| -self.toy.settings.sharpness * square(mean));
        self.probabilities = closeness.collect();
        softmax(&mut self.probabilities);
        Ok(Decision {
            class: argmax(&self.probabilities),
            probabilities: &self.probabilities,
            routing: None,
        })
    }
}
