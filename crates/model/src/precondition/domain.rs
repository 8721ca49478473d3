//! What whitens the trials of one domain, kept from trial to trial.
//!
//! ```text
//! known, pooled, own mean   Y = Z X Zᵀ           with the frame of a mean that is settled
//! running                   M_t = (κ·M_pooled + Σ_{s≤t} X_s)/(κ + t)
//! ```
//!
//! The running mean that whitens trial `t` **includes trial `t`**: it is known when the decision is
//! made, and no later one is. The log-Euclidean reference has the same sum of logarithms; the
//! Riemannian one takes a step along the geodesic, `M_t = M_{t−1} #_{1/(κ+t)} X_t` (Ho et al.
//! 2013). A per-domain scale runs the same way, `β_t = (κ·tr_pooled + Σ tr Y_s)/(κ·sq_pooled + Σ
//! ‖Y_s‖²)`, each `Y_s` as it was whitened.

use super::config::Scaling;
use super::frame::{Frame, WhitenScratch, check_single, scale_of, trace_and_square};
use super::reference::{Prior, RunningMean};
use super::whitener::{OUTPUT, Whitener};
use super::{Adaptation, OP, OWN_MEAN_MIN_TRIALS, Preconditioning};
use crate::error::check_count;
use crate::{ModelError, Result};
use stiefel_linalg::MatView;

/// The whitening of a domain without training trials; made by [`Whitener::adapt`]. A causal one
/// learns from every trial that it whitens.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::precondition::{Adaptation, Preconditioning};
/// use stiefel_model::{Factor, Trials};
///
/// let x = MatBatch::from_fn(3, 2, 2, |i, r, c| if r == c { (1 + i) as f64 } else { 0.3 });
/// let labels = || Factor::from_labels(["a", "b", "a"]);
/// let whitener =
///     Preconditioning::default().fit(&Trials::new(x.clone(), labels(), labels())?)?;
/// let mut new = whitener.adapt(x.view(), Adaptation::OwnMean { kappa: 10.0 })?;
/// let mut whitened = [0.0; 4];
/// new.transform_into(x.matrix(0), &mut whitened)?;
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DomainState {
    config: Preconditioning,
    n: usize,
    policy: Adaptation,
    /// What whitens trials that are not taken in; none where a running mean has moved since.
    frame: Option<Frame>,
    running: Option<Running>,
    frozen: bool,
    scratch: WhitenScratch,
}

/// A mean that trials join.
#[derive(Debug, Clone)]
struct Running {
    kappa: f64,
    mean: RunningMean,
    trace: f64,
    square: f64,
}

impl Whitener {
    /// Returns the whitening of a new domain of which some raw trials are known: own-mean takes its
    /// mean from them, causal goes on from them in the order given, pooled does not look.
    pub fn adapt(&self, seen: MatView<'_, f64>, policy: Adaptation) -> Result<DomainState> {
        let mut state = self.adapt_fresh(seen, policy)?;
        state.observe_all(seen)?;
        Ok(state)
    }

    /// Returns the whitening of a new domain; a causal one has seen nothing yet.
    pub(crate) fn adapt_fresh(
        &self,
        seen: MatView<'_, f64>,
        policy: Adaptation,
    ) -> Result<DomainState> {
        policy.check()?;
        let n = self.n;
        for i in 0..seen.count() {
            (check_single(n, seen.matrix(i), i)).map_err(|error| error.at_trial(i))?;
        }
        let (frame, running) = match policy {
            Adaptation::Pooled => (Some(self.pooled.frame.clone()), None),
            Adaptation::OwnMean { kappa } => {
                (Some(self.own_mean_frame(&seen.to_owned(), kappa)?), None)
            }
            Adaptation::Causal { kappa } => (None, Some(Running::new(self, kappa)?)),
        };
        Ok(DomainState {
            config: self.config,
            n,
            policy,
            frame,
            running,
            frozen: false,
            scratch: WhitenScratch::default(),
        })
    }
}

impl DomainState {
    /// Returns the policy.
    pub fn policy(&self) -> Adaptation {
        self.policy
    }

    /// Counts the trials that a running mean has taken in.
    pub fn trial_count(&self) -> usize {
        self.running.as_ref().map_or(0, |r| r.mean.count())
    }

    /// Returns the mean that whitens, `n × n`; an error with κ = 0 before the first trial.
    pub fn mean(&self) -> Result<Vec<f64>> {
        match (&self.running, &self.frame) {
            (Some(running), _) => {
                running.check_enough(running.mean.count(), 1)?;
                running.mean.mean()
            }
            (None, frame) => Ok(frame.as_ref().map_or(Vec::new(), |f| f.mean.clone())),
        }
    }

    /// Stops, or continues, learning: where it is frozen, trials are whitened by the mean so far
    /// and not taken in. Only a causal one ever changes.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
    }

    /// Takes a trial into a running mean without whitening it: a calibration phase. A trial that is
    /// refused changes nothing.
    pub fn observe(&mut self, x: &[f64]) -> Result<()> {
        let mut y = vec![0.0; self.n * self.n];
        self.advance(x, &mut y)?;
        Ok(())
    }

    /// Takes trials in, in the order given.
    pub(crate) fn observe_all(&mut self, trials: MatView<'_, f64>) -> Result<()> {
        if self.running.is_none() {
            return Ok(());
        }
        (0..trials.count()).try_for_each(|i| {
            let observed = self.observe(trials.matrix(i));
            observed.map_err(|error| error.at_trial(i))
        })
    }

    /// Whitens a raw trial; a running mean takes it in first, unless it is frozen. A trial that is
    /// refused changes nothing.
    pub fn transform_into(&mut self, x: &[f64], out: &mut [f64]) -> Result<()> {
        check_single(self.n, x, self.trial_count())?;
        check_count(OP, OUTPUT, self.n * self.n, out.len())?;
        if let (Some(running), false) = (&self.running, self.frozen) {
            running.check_enough(running.mean.count() + 1, OWN_MEAN_MIN_TRIALS)?;
            let scale = self.advance(x, out)?;
            for y in out.iter_mut() {
                *y *= scale;
            }
            return Ok(());
        }
        let frame = match (self.frame.take(), &self.running) {
            (Some(frame), _) => frame,
            (None, Some(running)) => running.frame(&self.config, self.n)?,
            (None, None) => return Err(ModelError::NoAdaptation),
        };
        let done = frame.apply_into(&self.config, self.n, 0, x, out, &mut self.scratch);
        self.frame = Some(frame);
        done
    }

    /// Takes a trial into the running mean, whitens it by that into `out`, unscaled, and returns
    /// its scale.
    fn advance(&mut self, x: &[f64], out: &mut [f64]) -> Result<f64> {
        let Some(running) = &self.running else {
            return Ok(1.0);
        };
        let (n, trial) = (self.n, running.mean.count());
        check_single(n, x, trial)?;
        let mut next = running.clone();
        let mut loaded = x.to_vec();
        self.config.tikhonov.load(&mut loaded, n);
        next.mean.push(&loaded)?;
        let frame = next.unscaled(&self.config, n)?;
        frame.whiten_into(self.config.tikhonov, n, x, out, &mut self.scratch)?;
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
        self.running = Some(next);
        self.frame = None;
        Ok(scale)
    }
}

impl Running {
    fn new(whitener: &Whitener, kappa: f64) -> Result<Self> {
        Adaptation::OwnMean { kappa }.check()?;
        let prior = Prior::fixed(whitener.pooled_mean(), kappa);
        Ok(Self {
            kappa,
            mean: RunningMean::new(whitener.config.reference, whitener.n, prior)?,
            trace: kappa * whitener.pooled.trace,
            square: kappa * whitener.pooled.square,
        })
    }

    /// Returns the frame of the mean so far, without a scale.
    fn unscaled(&self, config: &Preconditioning, n: usize) -> Result<Frame> {
        let frame = Frame::from_mean(self.mean.mean()?, n, config.whitening);
        frame.map_err(|source| ModelError::Reference {
            of: format!("the new domain after {} trials", self.mean.count()),
            source,
        })
    }

    /// Returns the frame of the mean so far, for trials that are not taken in.
    fn frame(&self, config: &Preconditioning, n: usize) -> Result<Frame> {
        let count = self.mean.count();
        self.check_enough(count, OWN_MEAN_MIN_TRIALS)?;
        let mut frame = self.unscaled(config, n)?;
        if config.scaling == Scaling::PerDomain {
            frame.beta = scale_of(count, self.trace, self.square)?;
        }
        Ok(frame)
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
