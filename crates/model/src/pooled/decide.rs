//! Decisions on raw covariances, one by one: a trial's probabilities do not depend on the others of its batch.

use super::PooledModel;
use super::bench::Bench;
use crate::Result;
use crate::precondition::UnseenPolicy;
use stiefel_linalg::{MatBatch, MatView};

/// Whose trial is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadTrial<'a> {
    /// A domain with training trials, by its number.
    Known(usize),
    /// A domain with training trials, by its name.
    Named(&'a str),
    /// A domain without: whitened by the pooled mean, decided by the shared weights.
    Unseen,
}

impl PooledModel {
    /// The probability of every class for one raw covariance, `n × n` row-major.
    pub fn decide(&self, covariance: &[f64], trial: HeadTrial<'_>) -> Result<Vec<f64>> {
        let mut bench = Bench::new(self);
        bench.decide(self, covariance, self.number(trial)?)?;
        Ok(bench.probabilities)
    }

    /// The same for a covariance that is pre-conditioned already, for instance by a running whitener
    /// ([`Whitener::causal`](crate::Whitener::causal)) for a new person; `None` decides by the shared weights alone.
    pub fn decide_whitened(&self, whitened: &[f64], domain: Option<usize>) -> Result<Vec<f64>> {
        let mut bench = Bench::new(self);
        bench.decide_whitened(self, whitened, domain)?;
        Ok(bench.probabilities)
    }

    /// Every class's probability for each raw covariance of one domain, `1 × N × C`; an error names the trial.
    pub fn decide_batch(&self, x: MatView<'_, f64>, trial: HeadTrial<'_>) -> Result<MatBatch<f64>> {
        let domain = self.number(trial)?;
        self.decide_each(x.count(), |i, bench| {
            bench.decide(self, x.matrix(i), domain)
        })
    }

    /// The same for one domain without training trials, whitened with what the trials `seen` of it tell
    /// ([`Whitener::transform_after`](crate::Whitener::transform_after)) and decided by the shared weights alone.
    pub fn decide_unseen(
        &self,
        seen: MatView<'_, f64>,
        x: MatView<'_, f64>,
        policy: UnseenPolicy,
    ) -> Result<MatBatch<f64>> {
        let whitened = self.whitener.transform_after(seen, x, policy)?;
        self.decide_each(x.count(), |i, bench| {
            bench.decide_whitened(self, whitened.matrix(i), None)
        })
    }

    fn decide_each(
        &self,
        count: usize,
        decide: impl Fn(usize, &mut Bench) -> Result<()>,
    ) -> Result<MatBatch<f64>> {
        let (classes, mut bench) = (self.classes.len(), Bench::new(self));
        let mut out = Vec::with_capacity(count * classes);
        for i in 0..count {
            decide(i, &mut bench).map_err(|error| error.at_trial(i))?;
            out.extend_from_slice(&bench.probabilities);
        }
        Ok(MatBatch::from_vec(1, count, classes, out)?)
    }

    /// The number of a trial's domain, of one that has training trials.
    fn number(&self, trial: HeadTrial<'_>) -> Result<Option<usize>> {
        Ok(match trial {
            HeadTrial::Known(domain) => Some(domain),
            HeadTrial::Named(name) => Some(self.domain(name)?),
            HeadTrial::Unseen => None,
        })
    }
}
