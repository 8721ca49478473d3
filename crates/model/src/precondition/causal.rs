//! Online whitening of a domain without training trials.
//!
//! `M_t = (κ·M_pooled + Σ_{s≤t} X_s)/(κ + t)`: the mean that whitens trial `t` **includes trial `t`** (it is known when the
//! decision is made; no later one is). The log-Euclidean reference has the same sum of logarithms; the Riemannian one takes a
//! step along the geodesic, `M_t = M_{t−1} #_{1/(κ+t)} X_t` (Ho et al. 2013), which keeps no trial in memory. A per-domain scale
//! runs the same way, `β_t = (κ·tr_pooled + Σ tr Y_s)/(κ·sq_pooled + Σ ‖Y_s‖²)`, each `Y_s` as it was whitened.

use super::config::{Scaling, check_kappa};
use super::frame::{Frame, WhitenScratch, check_single, scale_of, trace_and_square};
use super::reference::RunningMean;
use super::whitener::{Whitener, check_out};
use super::{OP, OWN_MEAN_MIN_TRIALS, Preconditioning};
use crate::{ModelError, Result};

/// A running whitener; made by [`Whitener::causal`].
///
/// ```
/// # use stiefel_linalg::MatBatch;
/// # use stiefel_model::{Factor, Trials, precondition::Preconditioning};
/// # let training = Trials::new(MatBatch::identity(2, 2), Factor::from_labels(["a", "b"]), Factor::from_labels(["s1", "s2"]))?;
/// let whitener = Preconditioning::default().fit(&training)?;
/// let mut online = whitener.causal(10.0)?;
/// let mut y = [0.0; 4];
/// online.transform_into(&[2.0, 0.5, 0.5, 1.0], &mut y)?;
/// assert_eq!(online.trials(), 1);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CausalWhitener {
    config: Preconditioning,
    n: usize,
    kappa: f64,
    trials: usize,
    mean: RunningMean,
    trace: f64,
    square: f64,
    scratch: WhitenScratch,
}

impl CausalWhitener {
    pub(crate) fn new(whitener: &Whitener, kappa: f64) -> Result<Self> {
        check_kappa(kappa)?;
        let (config, n) = (whitener.config, whitener.n);
        Ok(Self {
            config,
            n,
            kappa,
            trials: 0,
            mean: RunningMean::new(config.reference, n, whitener.pooled_mean(), kappa)?,
            trace: kappa * whitener.pooled.trace,
            square: kappa * whitener.pooled.square,
            scratch: WhitenScratch::default(),
        })
    }

    /// How many trials it has seen.
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// The mean so far, `n × n`; an error with κ = 0 before the first trial.
    pub fn mean(&self) -> Result<Vec<f64>> {
        self.check_enough(self.trials, 1)?;
        self.mean.mean()
    }

    /// Takes a trial in without whitening it: a calibration phase. A trial that is refused changes nothing.
    pub fn observe(&mut self, x: &[f64]) -> Result<()> {
        let mut y = vec![0.0; self.n * self.n];
        let next = self.advanced(x, &mut y)?;
        *self = next.0;
        Ok(())
    }

    /// Takes a trial in and whitens it with the mean that includes it. A trial that is refused changes nothing.
    pub fn transform_into(&mut self, x: &[f64], out: &mut [f64]) -> Result<()> {
        check_out(self.n, out)?;
        self.check_enough(self.trials + 1, OWN_MEAN_MIN_TRIALS)?;
        let (next, scale) = self.advanced(x, out)?;
        *self = next;
        for y in out.iter_mut() {
            *y *= scale;
        }
        Ok(())
    }

    /// What whitens by the mean so far, for trials that are not taken in.
    pub(crate) fn frame(&self) -> Result<Frame> {
        self.check_enough(self.trials, OWN_MEAN_MIN_TRIALS)?;
        let frame = Frame::of_mean(self.mean.mean()?, self.n, self.config.whitening);
        let mut frame = frame.map_err(|source| ModelError::Reference {
            of: format!("the unseen domain after {} trials", self.trials),
            source,
        })?;
        if self.config.scaling == Scaling::PerDomain {
            frame.beta = scale_of(self.trials, self.trace, self.square)?;
        }
        Ok(frame)
    }

    /// The state after one more trial, the trial whitened (into `out`, unscaled), and its scale.
    fn advanced(&self, x: &[f64], out: &mut [f64]) -> Result<(Self, f64)> {
        let (n, trial) = (self.n, self.trials);
        check_single(n, x, trial)?;
        let mut next = self.clone();
        let mut loaded = x.to_vec();
        self.config.tikhonov.load(&mut loaded, n);
        next.mean.push(&loaded)?;
        next.trials += 1;
        let mean = next.mean.mean()?;
        let frame = Frame::of_mean(mean, n, self.config.whitening).map_err(|source| {
            ModelError::Reference {
                of: format!("the unseen domain after {} trials", next.trials),
                source,
            }
        })?;
        frame.whiten_into(self.config.tikhonov, n, x, out, &mut next.scratch)?;
        let (trace, square) = trace_and_square(out, n);
        // Also without scaling: a matrix without a scale is flat, and must not enter the mean.
        let own = scale_of(trial, trace, square)?;
        next.trace += trace;
        next.square += square;
        let scale = match self.config.scaling {
            Scaling::None => 1.0,
            Scaling::PerTrial => own,
            Scaling::PerDomain => scale_of(trial, next.trace, next.square)?,
        };
        Ok((next, scale))
    }

    fn check_enough(&self, found: usize, needed: usize) -> Result<()> {
        if self.kappa > 0.0 || found >= needed {
            return Ok(());
        }
        Err(ModelError::TooFewForOwnMean {
            op: OP,
            needed,
            found,
        })
    }
}
