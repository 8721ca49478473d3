//! Logistic regression with an L2 penalty, to the minimum: `min ½‖W‖² + C Σ_i loss(y_i, W x_i +
//! b)`, the intercept free.
//!
//! Two classes: one row of weights, `loss = log(1 + e^z) − y z`. More: one row per class, `loss =
//! log Σ_c e^{z_c} − z_y`. This is scikit-learn's `LogisticRegression(C=…)`, conventions included
//! (with two classes the two forms differ in their penalty).
//!
//! # How
//! Newton's method; the steps by conjugate gradients, one pass over the features each
//! (`newton.rs`). The penalty bounds the condition of the Hessian `I + C Xᵀ D X`. Where trials are
//! few, the features are first replaced by a square factor of their Gram matrix, which
//! does not depend on `C` (`features.rs`).
//! Each fit ends where the gradient is at most
//! [`LOGISTIC_GRADIENT`](crate::tolerance::LOGISTIC_GRADIENT) of the one at `W = 0, b = 0`.
//!
//! ```
//! use stiefel_model::peers::logistic::Logistic;
//!
//! // One feature, four trials, two classes.
//! let problem = Logistic::new(vec![-2.0, -1.0, 1.0, 2.0], 1, &[0, 0, 1, 1], 2)?;
//! let model = &problem.fit(&[1.0])?[0];
//! assert!(model.decisions(&[0.5])?[0] > 0.0);
//! assert!((model.probabilities(&[0.0])?[0] - 0.5).abs() < 1e-12);
//! # Ok::<(), stiefel_model::ModelError>(())
//! ```

mod features;
mod loss;
mod newton;
mod update;

use crate::error::check_count;
use crate::{ModelError, Result};
use features::Features;
use loss::Loss;
use serde::{Deserialize, Serialize};
use stiefel_linalg::sums::dot;
use stiefel_linalg::{argmax, softmax};

const OP: &str = "logistic regression";

/// Features and classes to fit on, with what does not depend on `C`.
#[derive(Debug)]
pub struct Logistic {
    features: Features,
    loss: Loss,
}

/// A fitted logistic regression.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogisticModel {
    /// The inverse penalty it was fitted with.
    pub c: f64,
    /// Weights, `m` rows of `p`: one row for two classes, else one per class.
    #[serde(skip)]
    pub weights: Vec<f64>,
    /// Intercepts, `m`; with more than two classes their sum is zero.
    #[serde(skip)]
    pub intercepts: Vec<f64>,
    /// Newton steps taken.
    pub steps: usize,
    /// The norm of the gradient at the end, as a share of the one at zero.
    pub gradient: f64,
}

impl Logistic {
    /// From features, row by row with `features` numbers each, and one class per row.
    pub fn new(x: Vec<f64>, features: usize, labels: &[usize], classes: usize) -> Result<Self> {
        check_features(&x, features)?;
        check_count(OP, "features in all", labels.len() * features, x.len())?;
        if let Some(trial) = labels.iter().position(|&l| l >= classes) {
            return Err(ModelError::IndexOutOfRange {
                op: OP,
                what: "class",
                trial,
                index: labels[trial],
                count: classes,
            });
        }
        for class in 0..classes.max(2) {
            if !labels.contains(&class) {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: format!("class {class} has no trials"),
                    remedy: "leave it out, or fit on trials that have it",
                });
            }
        }
        let features = Features::new(labels.len(), features, x)?;
        Ok(Self {
            features,
            loss: Loss::new(labels, classes),
        })
    }

    /// One model per inverse penalty, in the order given; each starts from the one before.
    pub fn fit(&self, inverse_penalties: &[f64]) -> Result<Vec<LogisticModel>> {
        let mut start = None;
        let mut models = Vec::with_capacity(inverse_penalties.len());
        for &c in inverse_penalties {
            if !(c.is_finite() && c > 0.0) {
                return Err(ModelError::Parameter {
                    op: OP,
                    name: "C",
                    value: c,
                    expected: "a positive finite number",
                });
            }
            let found = newton::minimise(&self.features, &self.loss, c, start)?;
            let at = found.at;
            models.push(LogisticModel {
                c,
                weights: self.features.weights(&at.theta, c, &at.h),
                intercepts: self.intercepts(&at.theta),
                steps: found.steps,
                gradient: found.gradient,
            });
            start = Some(at.theta);
        }
        Ok(models)
    }

    /// The number of features, `p`.
    pub fn features(&self) -> usize {
        self.features.given()
    }

    /// The last of the parameters; only their differences count where there is one per class.
    fn intercepts(&self, theta: &[f64]) -> Vec<f64> {
        let m = self.loss.columns();
        let b = &theta[theta.len() - m..];
        let mean = if m == 1 {
            0.0
        } else {
            b.iter().sum::<f64>() / m as f64
        };
        b.iter().map(|b| b - mean).collect()
    }
}

impl LogisticModel {
    /// Classes it tells apart.
    pub fn classes(&self) -> usize {
        self.intercepts.len().max(2)
    }

    /// `W x + b`: one number per trial for two classes (above zero: class 1), else one row of `C`
    /// numbers.
    pub fn decisions(&self, x: &[f64]) -> Result<Vec<f64>> {
        let m = self.intercepts.len();
        let p = self.weights.len() / m;
        check_features(x, p)?;
        let decide = |(x, c): (&[f64], usize)| {
            dot(x, &self.weights[c * p..(c + 1) * p]) + self.intercepts[c]
        };
        Ok(x.chunks_exact(p)
            .flat_map(|x| (0..m).map(move |c| (x, c)))
            .map(decide)
            .collect())
    }

    /// Class probabilities, one row of `C` per trial.
    pub fn probabilities(&self, x: &[f64]) -> Result<Vec<f64>> {
        let mut z = self.decisions(x)?;
        if self.intercepts.len() == 1 {
            return Ok(z
                .iter()
                .flat_map(|&z| [loss::sigmoid(-z), loss::sigmoid(z)])
                .collect());
        }
        for row in z.chunks_exact_mut(self.intercepts.len()) {
            softmax(row);
        }
        Ok(z)
    }

    /// The class decided for each trial; the first one of equals.
    pub fn decide(&self, x: &[f64]) -> Result<Vec<usize>> {
        let z = self.decisions(x)?;
        if self.intercepts.len() == 1 {
            return Ok(z.iter().map(|&z| usize::from(z > 0.0)).collect());
        }
        Ok(z.chunks_exact(self.intercepts.len()).map(argmax).collect())
    }
}

/// Whole rows of finite numbers.
fn check_features(x: &[f64], features: usize) -> Result<()> {
    if features == 0 || !x.len().is_multiple_of(features) {
        return Err(ModelError::Count {
            op: OP,
            what: "features per trial",
            expected: features.max(1),
            found: x.len() % features.max(1),
        });
    }
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(k) => Err(ModelError::NotFinite {
            op: OP,
            what: "a feature",
            trial: k / features,
            value: x[k],
        }),
    }
}
