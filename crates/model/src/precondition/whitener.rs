//! The fitted whitener: transforms trials of known domains, and of a new one under a named policy.

use super::config::{Adaptation, Scaling};
use super::frame::{Frame, WhitenScratch, check_single, scale_of, trace_and_square};
use super::reference::shrunk_mean;
use super::{DomainState, OP, OWN_MEAN_MIN_TRIALS, Preconditioning};
use crate::error::check_count;
use crate::{ModelError, Result, Trials};
use serde::{Deserialize, Serialize};
use stiefel_linalg::{MatBatch, MatView};

/// Named in errors.
pub(crate) const OUTPUT: &str = "values of the output";

/// The frame of the mean of all training domains, and what the per-domain scale of a new domain
/// starts from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Pooled {
    pub(crate) frame: Frame,
    /// Mean of `tr Y` over the training trials whitened by the pooled mean.
    pub(crate) trace: f64,
    /// Mean of `‖Y‖²` over them.
    pub(crate) square: f64,
}

/// Pre-conditioning fitted on training trials; made by [`Preconditioning::fit`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Whitener {
    pub(crate) config: Preconditioning,
    pub(crate) n: usize,
    pub(crate) channels: Option<Vec<String>>,
    pub(crate) domains: Vec<String>,
    /// Per domain: its frame and its number of training trials.
    pub(crate) known: Vec<Option<(Frame, usize)>>,
    pub(crate) pooled: Pooled,
}

impl Whitener {
    /// The configuration it was fitted with.
    pub fn config(&self) -> &Preconditioning {
        &self.config
    }

    /// The number of channels, `n`.
    pub fn channels_count(&self) -> usize {
        self.n
    }

    /// The names of all domains, those without training trials included.
    pub fn domains(&self) -> &[String] {
        &self.domains
    }

    /// How many training trials a domain had; 0 for one it does not know.
    pub fn trial_count(&self, domain: usize) -> usize {
        self.known
            .get(domain)
            .and_then(Option::as_ref)
            .map_or(0, |k| k.1)
    }

    /// The reference mean `M_d` of a domain (`n × n`, row-major), if it had training trials.
    pub fn mean_of(&self, domain: usize) -> Option<&[f64]> {
        Some(&self.known.get(domain)?.as_ref()?.0.mean)
    }

    /// The whitening matrix `Z_d` (`Y = Z X Zᵀ`), if the domain had training trials.
    pub fn matrix_of(&self, domain: usize) -> Option<&[f64]> {
        Some(&self.known.get(domain)?.as_ref()?.0.z)
    }

    /// The mean of the means of all training domains.
    pub fn pooled_mean(&self) -> &[f64] {
        &self.pooled.frame.mean
    }

    /// The whitening matrix `Z` of that mean; the identity where nothing is whitened.
    pub fn pooled_matrix(&self) -> &[f64] {
        &self.pooled.frame.z
    }

    /// Pre-conditions trials, each with what was fitted on its domain's training trials.
    pub fn transform(&self, trials: &Trials) -> Result<Trials> {
        self.check_montage(trials)?;
        for d in trials.domains().present() {
            self.check_name(d, trials.domains().name(d))?;
            self.frame(d)?;
        }
        let domains = trials.domains().indices();
        let out = self.apply(trials, |i| self.frame(domains[i]))?;
        Ok(trials.with_covariances(out)?)
    }

    /// Pre-conditions one covariance of a known domain: the online path. Nothing is allocated once
    /// `scratch` has seen the size.
    ///
    /// The values are those of [`Whitener::transform`], to the bit.
    pub fn transform_into(
        &self,
        domain: usize,
        x: &[f64],
        out: &mut [f64],
        scratch: &mut WhitenScratch,
    ) -> Result<()> {
        check_single(self.n, x, 0)?;
        check_count(OP, OUTPUT, self.n * self.n, out.len())?;
        let frame = self.frame(domain)?;
        frame.apply_into(&self.config, self.n, 0, x, out, scratch)
    }

    /// Pre-conditions the trials of **one** domain that had no training trials, under a named
    /// policy; `Causal` takes them in in the order given. No label is read.
    pub fn transform_new(&self, trials: &Trials, policy: Adaptation) -> Result<Trials> {
        self.check_montage(trials)?;
        self.check_new(trials)?;
        let x = trials.covariances();
        let state = self.adapt_fresh(x.view(), policy)?;
        Ok(trials.with_covariances(transform_all(state, x.view())?)?)
    }

    /// Whitens trials `x` of one domain without training trials with what the trials `seen` of it
    /// tell: own-mean whitens by their mean, causal goes on from them, pooled does not look.
    ///
    /// With `seen` the same as `x`, own-mean is that of [`transform_new`](Self::transform_new); so
    /// is causal with none.
    pub fn transform_after(
        &self,
        seen: MatView<'_, f64>,
        x: MatView<'_, f64>,
        policy: Adaptation,
    ) -> Result<MatBatch<f64>> {
        transform_all(self.adapt(seen, policy)?, x)
    }

    /// All three steps for every trial, each with its frame.
    fn apply<'a>(
        &self,
        trials: &Trials,
        frame: impl Fn(usize) -> Result<&'a Frame>,
    ) -> Result<MatBatch<f64>> {
        let mut out = MatBatch::zeros(trials.len(), self.n, self.n);
        let mut scratch = WhitenScratch::default();
        for i in 0..trials.len() {
            let x = trials.covariances().matrix(i);
            let y = out.matrix_mut(i);
            frame(i)?.apply_into(&self.config, self.n, i, x, y, &mut scratch)?;
        }
        Ok(out)
    }

    /// The frame of the shrunk mean of a new domain's trials.
    pub(crate) fn own_mean_frame(&self, x: &MatBatch<f64>, kappa: f64) -> Result<Frame> {
        Adaptation::OwnMean { kappa }.check()?;
        let (n, count) = (self.n, x.count());
        if kappa == 0.0 && count < OWN_MEAN_MIN_TRIALS {
            return Err(ModelError::TooFewForOwnMean {
                op: OP,
                needed: OWN_MEAN_MIN_TRIALS,
                found: count,
            });
        }
        let mut loaded = x.clone();
        for i in 0..count {
            self.config.tikhonov.load(loaded.matrix_mut(i), n);
        }
        let mean = shrunk_mean(self.config.reference, self.pooled_mean(), kappa, &loaded)?;
        let mut frame = Frame::from_mean(mean, n, self.config.whitening).map_err(|source| {
            ModelError::Reference {
                of: "the new domain".into(),
                source,
            }
        })?;
        if self.config.scaling == Scaling::PerDomain {
            let mut sums = (kappa * self.pooled.trace, kappa * self.pooled.square);
            let mut y = vec![0.0; n * n];
            let mut scratch = WhitenScratch::default();
            for i in 0..count {
                let x = x.matrix(i);
                frame.whiten_into(self.config.tikhonov, n, x, &mut y, &mut scratch)?;
                let (trace, square) = trace_and_square(&y, n);
                sums = (sums.0 + trace, sums.1 + square);
            }
            frame.beta = scale_of(0, sums.0, sums.1)?;
        }
        Ok(frame)
    }

    /// The frame of a known domain.
    fn frame(&self, domain: usize) -> Result<&Frame> {
        let known = self.known.get(domain).ok_or(ModelError::NoSuchDomain {
            op: OP,
            domain,
            count: self.domains.len(),
        })?;
        known
            .as_ref()
            .map(|k| &k.0)
            .ok_or_else(|| ModelError::UntrainedDomain {
                op: OP,
                domain,
                name: self.domains[domain].clone(),
            })
    }

    /// The same channels as at fit.
    fn check_montage(&self, trials: &Trials) -> Result<()> {
        if trials.channels_count() != self.n {
            return Err(ModelError::Channels {
                op: OP,
                expected: self.n,
                found: trials.channels_count(),
            });
        }
        let (Some(expected), Some(found)) = (&self.channels, trials.channels()) else {
            return Ok(());
        };
        let Some(channel) = (0..self.n).find(|&c| expected[c] != found[c]) else {
            return Ok(());
        };
        Err(ModelError::ChannelName {
            op: OP,
            channel,
            expected: expected[channel].clone(),
            found: found[channel].clone(),
        })
    }

    /// Domain `domain` means what it meant at fit.
    fn check_name(&self, domain: usize, name: &str) -> Result<()> {
        let at_fit = self.domains.iter().position(|d| d == name);
        match (at_fit, self.domains.get(domain)) {
            (Some(at), _) if at == domain => Ok(()),
            (Some(at_fit), _) => Err(ModelError::DomainIndex {
                op: OP,
                name: name.to_owned(),
                at_fit,
                found: domain,
            }),
            (None, Some(expected)) => Err(ModelError::DomainName {
                op: OP,
                domain,
                expected: expected.clone(),
                found: name.to_owned(),
            }),
            (None, None) => Err(ModelError::UntrainedDomain {
                op: OP,
                domain,
                name: name.to_owned(),
            }),
        }
    }

    /// All trials of one domain, and that one without training trials.
    fn check_new(&self, trials: &Trials) -> Result<()> {
        let domains = trials.domains();
        let Some(&first) = domains.indices().first() else {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "pass at least one trial of the new domain",
            });
        };
        let name = domains.name(first);
        if let Some(trial) = domains.indices().iter().position(|&d| d != first) {
            return Err(ModelError::MixedDomains {
                op: OP,
                trial,
                expected: name.to_owned(),
                found: domains.name(domains.indices()[trial]).to_owned(),
            });
        }
        // A new person is found by name: their number may be anything in a set of their own.
        let Some(at_fit) = self.domains.iter().position(|d| d == name) else {
            return Ok(());
        };
        match self.trial_count(at_fit) {
            0 => Ok(()),
            trials => Err(ModelError::KnownDomain {
                op: OP,
                name: name.to_owned(),
                trials,
            }),
        }
    }
}

/// Whitens trials one after the other.
fn transform_all(mut state: DomainState, x: MatView<'_, f64>) -> Result<MatBatch<f64>> {
    let mut out = x.to_owned();
    for i in 0..x.count() {
        let done = state.transform_into(x.matrix(i), out.matrix_mut(i));
        done.map_err(|error| error.at_trial(i))?;
    }
    Ok(out)
}
