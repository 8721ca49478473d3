//! A domain without training trials, decided trial by trial: whitened under a named policy, then `score = w_0·z + b`.

use super::PooledModel;
use super::bench::Bench;
use crate::precondition::{UnseenPolicy, UnseenWhitening};
use crate::{ModelError, Result};
use stiefel_linalg::MatView;

const OP: &str = "recommended preset";

impl PooledModel {
    /// Prepares decisions for a domain without training trials.
    ///
    /// `trials` are raw, unlabelled covariances of it, `count × n × n`: own-mean whitening takes its mean from them, causal whitening starts
    /// with them in the order given, the pooled mean does not look at them, and an empty batch will do.
    ///
    /// ```
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::{Factor, PooledConfig, PooledModel, Trials, precondition::UnseenPolicy};
    /// # let x = MatBatch::from_fn(4, 2, 2, |i, r, c| if r == c { 1.0 + ((i + r) % 3) as f64 } else { 0.2 });
    /// # let labels = Factor::from_labels(["hand", "feet", "hand", "feet"]);
    /// # let trials = Trials::new(x, labels, Factor::from_labels(["s1", "s1", "s2", "s2"]))?;
    /// let model = PooledModel::fit(&trials, &trials, &PooledConfig::default())?;
    /// let none = MatBatch::zeros(0, 2, 2);
    /// let mut new = model.adapt_domain(none.view(), UnseenPolicy::Causal { kappa: 10.0 })?;
    /// let p = model.decide_adapted(&[1.5, 0.2, 0.2, 2.0], &mut new)?;
    /// assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn adapt_domain(
        &self,
        trials: MatView<'_, f64>,
        policy: UnseenPolicy,
    ) -> Result<UnseenWhitening> {
        if trials.count() == 0 && matches!(policy, UnseenPolicy::OwnMean { .. }) {
            policy.check()?;
            return Err(ModelError::Empty {
                op: OP,
                remedy: "own-mean whitening needs unlabelled trials of the new domain",
            });
        }
        self.whitener.unseen(trials, policy)
    }

    /// The probability of every class for one raw covariance of such a domain, by the shared weights alone; a causal whitener learns from it.
    ///
    /// Trials decided in their order give what [`PooledModel::evaluate_unseen`] does.
    pub fn decide_adapted(
        &self,
        covariance: &[f64],
        domain: &mut UnseenWhitening,
    ) -> Result<Vec<f64>> {
        let mut bench = Bench::new(self);
        bench.decide_adapted(self, covariance, domain)?;
        Ok(bench.probabilities)
    }
}
