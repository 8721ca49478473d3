//! Decisions on raw covariances, one by one: a trial's probabilities do not depend on the others of its batch.

use super::PooledModel;
use super::head::HeadRouting;
use crate::Result;
use crate::precondition::{UnseenPolicy, WhitenScratch, check_single};
use stiefel_geometry::spd::{log, upper};
use stiefel_linalg::{MatBatch, MatView, congruence};

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
        let n = self.whitener.channels_count();
        let mut whitened = vec![0.0; n * n];
        let mut scratch = WhitenScratch::default();
        let domain = match trial {
            HeadTrial::Known(domain) => Some(domain),
            HeadTrial::Named(name) => Some(self.domain(name)?),
            HeadTrial::Unseen => None,
        };
        match domain {
            Some(d) => {
                (self.whitener).transform_into(d, covariance, &mut whitened, &mut scratch)?;
            }
            None => {
                (self.whitener).transform_pooled_into(covariance, &mut whitened, &mut scratch)?;
            }
        }
        self.decide_whitened(&whitened, domain)
    }

    /// The same for a covariance that is pre-conditioned already, for instance by a running whitener
    /// ([`Whitener::causal`](crate::Whitener::causal)) for a new person; `None` decides by the shared weights alone.
    pub fn decide_whitened(&self, whitened: &[f64], domain: Option<usize>) -> Result<Vec<f64>> {
        let n = self.whitener.channels_count();
        check_single(n, whitened, 0)?;
        let y = congruence(self.anchor.view(), MatView::new(1, n, n, whitened)?)?;
        let z = upper(log(y.view())?.view())?;
        let domains: Vec<usize> = domain.into_iter().collect();
        let routing = match domain {
            Some(_) => HeadRouting::Domain(&domains),
            None => HeadRouting::Shared,
        };
        Ok(self.head.probabilities(z.view(), routing)?.into_vec())
    }

    /// Every class's probability for each raw covariance of one domain, `1 × N × C`; an error names the trial.
    pub fn decide_batch(&self, x: MatView<'_, f64>, trial: HeadTrial<'_>) -> Result<MatBatch<f64>> {
        self.decide_each(x.count(), |i| self.decide(x.matrix(i), trial))
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
        self.decide_each(x.count(), |i| {
            self.decide_whitened(whitened.matrix(i), None)
        })
    }

    fn decide_each(
        &self,
        count: usize,
        decide: impl Fn(usize) -> Result<Vec<f64>>,
    ) -> Result<MatBatch<f64>> {
        let classes = self.classes.len();
        let mut out = Vec::with_capacity(count * classes);
        for i in 0..count {
            out.extend(decide(i).map_err(|error| error.at_trial(i))?);
        }
        Ok(MatBatch::from_vec(1, count, classes, out)?)
    }
}
