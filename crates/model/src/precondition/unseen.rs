//! What whitens the trials of one domain without training trials, kept from trial to trial.

use super::{CausalWhitener, Frame, OP, UnseenPolicy, WhitenScratch, Whitener, check_single};
use crate::{ModelError, Result};
use stiefel_linalg::MatView;

/// The whitening of a new domain under a policy that the caller named; a causal one learns from every trial it whitens.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::precondition::{Preconditioning, UnseenPolicy, WhitenScratch};
/// use stiefel_model::{Factor, Trials};
///
/// let x = MatBatch::from_fn(3, 2, 2, |i, r, c| if r == c { (1 + i) as f64 } else { 0.3 });
/// let labels = || Factor::from_labels(["a", "b", "a"]);
/// let whitener = Preconditioning::default().fit(&Trials::new(x.clone(), labels(), labels())?)?;
/// let mut new = whitener.unseen(x.view(), UnseenPolicy::OwnMean { kappa: 10.0 })?;
/// let mut whitened = [0.0; 4];
/// new.transform_into(&whitener, x.matrix(0), &mut whitened, &mut WhitenScratch::default())?;
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UnseenWhitening {
    policy: UnseenPolicy,
    state: State,
    /// Whether a causal mean stays as it is, and what whitens by it then.
    frozen: bool,
    frame: Option<Box<Frame>>,
}

#[derive(Debug, Clone)]
enum State {
    Pooled,
    OwnMean(Box<Frame>),
    Causal(Box<CausalWhitener>),
}

impl Whitener {
    /// The whitening of a new domain of which some raw trials are known: own-mean takes its mean from them, causal goes on from
    /// them in the order given, pooled does not look.
    pub fn unseen(&self, seen: MatView<'_, f64>, policy: UnseenPolicy) -> Result<UnseenWhitening> {
        let mut whitening = UnseenWhitening::start(self, seen, policy)?;
        whitening.observe(seen)?;
        Ok(whitening)
    }
}

impl UnseenWhitening {
    /// The same, but a causal one has seen nothing yet.
    pub(crate) fn start(
        whitener: &Whitener,
        seen: MatView<'_, f64>,
        policy: UnseenPolicy,
    ) -> Result<Self> {
        policy.check()?;
        let n = whitener.channels_count();
        for i in 0..seen.count() {
            (check_single(n, seen.matrix(i), i)).map_err(|error| error.at_trial(i))?;
        }
        let state = match policy {
            UnseenPolicy::Pooled => State::Pooled,
            UnseenPolicy::OwnMean { kappa } => {
                let frame = whitener.own_mean_frame(&seen.to_owned(), kappa)?;
                State::OwnMean(Box::new(frame))
            }
            UnseenPolicy::Causal { kappa } => State::Causal(Box::new(whitener.causal(kappa)?)),
        };
        Ok(Self {
            policy,
            state,
            frozen: false,
            frame: None,
        })
    }

    /// A causal one learns from these trials; the others know them already or do not look.
    pub(crate) fn observe(&mut self, trials: MatView<'_, f64>) -> Result<()> {
        if let State::Causal(causal) = &mut self.state {
            for i in 0..trials.count() {
                (causal.observe(trials.matrix(i))).map_err(|error| error.at_trial(i))?;
            }
        }
        Ok(())
    }

    /// Whether a causal mean stays as it is from now on: trials are whitened by it and not taken in. The others never change.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
    }

    /// The policy.
    pub fn policy(&self) -> UnseenPolicy {
        self.policy
    }

    /// Whitens one raw trial with the whitener it was made by.
    pub fn transform_into(
        &mut self,
        whitener: &Whitener,
        x: &[f64],
        out: &mut [f64],
        scratch: &mut WhitenScratch,
    ) -> Result<()> {
        match &mut self.state {
            State::Pooled => whitener.transform_pooled_into(x, out, scratch),
            State::OwnMean(frame) if frame.mean.len() == out.len() => {
                whitener.transform_by_into(frame, x, out, scratch)
            }
            State::OwnMean(frame) => Err(ModelError::Count {
                op: OP,
                what: "values of the new domain's mean",
                expected: out.len(),
                found: frame.mean.len(),
            }),
            State::Causal(causal) if self.frozen => {
                let frame = match self.frame.take() {
                    Some(frame) => frame,
                    None => Box::new(causal.frame()?),
                };
                let whitened = whitener.transform_by_into(&frame, x, out, scratch);
                self.frame = Some(frame);
                whitened
            }
            State::Causal(causal) => {
                self.frame = None;
                causal.transform_into(x, out)
            }
        }
    }
}
