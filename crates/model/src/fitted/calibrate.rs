//! A few labelled trials of a person.

use super::FittedModel;
use crate::kind::Balance;
use crate::{AdaptPolicy, ModelError, Result};
use stiefel_data::Trials;

impl FittedModel {
    /// Returns the model after labelled trials of one or several domains, new or known: what they
    /// say of these domains alone is added, everything else stays as it is, to the bit. A new
    /// domain is a known one from then on, and more trials can follow.
    ///
    /// The trials count as trials that the model was trained on; those it knows already are
    /// refused.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::train::Silent;
    /// use stiefel_model::{Factor, FittedModel, ModelSpec, Trials};
    ///
    /// let x = |from: usize, count| {
    ///     MatBatch::from_fn(count, 3, 3, |i, r, c| {
    ///         if r == c {
    ///             1.0 + from as f64 / 10.0 + ((i * 3 + r) % 7) as f64
    ///         } else {
    ///             0.2
    ///         }
    ///     })
    /// };
    /// let classes = |count: usize| {
    ///     Factor::new(
    ///         "class",
    ///         vec!["hand".into(), "feet".into()],
    ///         (0..count).map(|i| i % 2).collect(),
    ///     )
    /// };
    /// let trials = Trials::new(
    ///     x(0, 8),
    ///     classes(8)?,
    ///     Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]),
    /// )?;
    /// let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent)?;
    /// let anna = Trials::new(x(3, 4), classes(4)?, Factor::from_labels(["anna"; 4]))?;
    /// let met = model.calibrate(&anna)?;
    /// assert!(!model.knows("anna") && met.knows("anna"));
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn calibrate(&self, trials: &Trials) -> Result<Self> {
        let trials = self.accept(trials)?;
        let model = self.model.calibrate(&trials)?;
        self.refuse_seen(&trials)?;
        let mut about = self.about.clone();
        about.seen.learn(&trials);
        Ok(Self { model, about })
    }

    /// Tells whether a domain is known from labelled trials that calibrated the model alone: its
    /// mean is then made of few trials, and goes on where a policy says so.
    pub fn is_calibrated(&self, domain: &str) -> bool {
        let place = self.names().domain(domain);
        place.is_some_and(|d| self.model.is_calibrated(d))
    }

    /// Tells whether a policy for domains without training trials has anything to do for this one:
    /// it is new, or the policy lets the mean of one that is known from a few labelled trials
    /// alone go on with unlabelled ones, those to come (causal) or those that are `given`.
    pub fn policy_applies(&self, domain: &str, adapt: &AdaptPolicy, given: bool) -> bool {
        let learns = adapt.is_causal() || (given && adapt.uses_target_data());
        !self.knows(domain) || (self.is_calibrated(domain) && learns)
    }

    /// Counts the labelled trials of each class of these domains, where the model can be
    /// calibrated: uneven ones calibrate worse.
    pub fn balance(&self, domains: &[&str]) -> Vec<Balance> {
        let one = |name: &&str| self.model.balance(self.names().domain(name)?);
        domains.iter().filter_map(one).collect()
    }

    /// A trial counts once.
    fn refuse_seen(&self, trials: &Trials) -> Result<()> {
        let known = self.about.seen.repeated(trials);
        let Some(first) = known.first() else {
            return Ok(());
        };
        Err(ModelError::Impossible {
            op: "calibration",
            why: format!(
                "{} of the {} trials are among those the model was made with, the first is trial \
                 {first}",
                known.len(),
                trials.len()
            ),
            remedy: "calibrate with trials that are new to the model",
        })
    }
}
