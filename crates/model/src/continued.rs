//! Training that goes on from a fitted model.

use crate::train::Observer;
use crate::{Model, ModelConfig, ModelError, Result, Trials};
use serde_json::Value;
use stiefel_linalg::Scalar;

const OP: &str = "warm start";

impl<T: Scalar> Model<T> {
    /// Trains on: network and encoder start as they are in `self`, the optimiser afresh; whitening
    /// is fitted on `training`.
    ///
    /// Classes, domains, channels and all of `config` but the training must be those of `self`: the
    /// error names what differs.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::scaling::ScalingRule;
    /// use stiefel_model::train::{Silent, TrainConfig};
    /// use stiefel_model::{Factor, Model, ModelConfig, Trials};
    ///
    /// let x = MatBatch::from_fn(8, 3, 3, |i, r, c| {
    ///     if r == c {
    ///         1.0 + ((i * 3 + r) % 5) as f64
    ///     } else {
    ///         0.2
    ///     }
    /// });
    /// let classes = Factor::from_labels([
    ///     "hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet",
    /// ]);
    /// let domains = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
    /// let trials = Trials::new(x, classes, domains)?;
    /// let training = TrainConfig {
    ///     epochs: 1,
    ///     ..TrainConfig::default()
    /// };
    /// let config = ModelConfig::sized(&ScalingRule::default().recommend(3, 2)?, training);
    /// let first = Model::<f64>::fit(&trials, &trials, &config, &mut Silent)?;
    /// let second = first.fit_on(&trials, &trials, &config, &mut Silent)?;
    /// assert_ne!(first.parameters(), second.parameters());
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn fit_on(
        &self,
        training: &Trials,
        validation: &Trials,
        config: &ModelConfig,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        self.check_continues(training, config)?;
        Self::fit_with(training, validation, config, Some(self), observer)
    }

    /// An error unless data and configuration have the shape this model was trained in.
    fn check_continues(&self, training: &Trials, config: &ModelConfig) -> Result<()> {
        let differs = |why: String| {
            Err(ModelError::Impossible {
                op: OP,
                why,
                remedy: "start afresh, or keep channels, classes, domains and the network's \
                         options",
            })
        };
        let (fitted, given) = (self.sizes.channels, training.channels_count());
        if fitted != given {
            return differs(format!(
                "the model has {fitted} channels, but the trials have {given}"
            ));
        }
        let (fitted, given) = (self.sizes.views, training.views());
        if fitted != given {
            return differs(format!(
                "the model takes {fitted} views of a trial, but the trials have {given}"
            ));
        }
        for (what, fitted, given) in [
            (
                "classes",
                &self.names.classes[..],
                training.classes().names(),
            ),
            (
                "domains",
                &self.names.domains[..],
                training.domains().names(),
            ),
        ] {
            if fitted != given {
                return differs(format!(
                    "the model has the {what} {fitted:?}, but the trials have {given:?}"
                ));
            }
        }
        let same_training = ModelConfig {
            training: self.config.training,
            ..*config
        };
        if same_training == self.config {
            return Ok(());
        }
        differs(
            difference(&value(&self.config)?, &value(&same_training)?, "")
                .unwrap_or_else(|| "the configuration is different".into()),
        )
    }
}

fn value(config: &ModelConfig) -> Result<Value> {
    serde_json::to_value(config).map_err(|e| ModelError::Impossible {
        op: OP,
        why: format!("the configuration cannot be compared: {e}"),
        remedy: "give finite numbers",
    })
}

/// The first place where two configurations differ, in words.
fn difference(fitted: &Value, given: &Value, at: &str) -> Option<String> {
    if let (Value::Object(a), Value::Object(b)) = (fitted, given)
        && a.keys().eq(b.keys())
    {
        let inner = |key: &String| {
            let dot = if at.is_empty() { "" } else { "." };
            difference(&a[key], &b[key], &format!("{at}{dot}{key}"))
        };
        return a.keys().find_map(inner);
    }
    (fitted != given).then(|| format!("{at} is {given} now and was {fitted}"))
}
