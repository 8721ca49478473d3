//! Fitted CHOIR: anchor, typical means, shared weights, and what is known of every person.

use super::OP;
use super::config::ChoirConfig;
use super::features::Frame;
use super::link::Link;
use super::new_person::NewPerson;
use super::ridge::Rows;
use super::workspace::Workspace;
use crate::kind::Names;
use crate::precondition::Adaptation;
use crate::{ModelError, Result};
use stiefel_geometry::spd::upper_len;
use stiefel_linalg::{MatBatch, MatView};

/// What is known of one person.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    pub(super) frame: Frame,
    /// `M_0`, `n × n`: what is familiar is near it.
    pub(super) mean: Vec<f64>,
    /// The mean of their features, `p`.
    pub(super) centre: Vec<f64>,
    /// `δ`, `L × p`.
    pub(super) own: Vec<f64>,
    /// The labelled rows behind `δ`.
    pub(super) rows: Rows,
    /// The shrunk covariances behind the rows, one batch per view, of a person whose mean is made
    /// of them alone and moves when more come.
    pub(super) trials: Option<Vec<MatBatch<f64>>>,
}

impl Person {
    /// How many labelled trials there are of them.
    pub fn label_count(&self) -> usize {
        self.rows.len()
    }

    /// `δ`, what they add to the shared weights: `L × p`, one score after the other.
    pub fn own(&self) -> &[f64] {
        &self.own
    }

    /// Whether they came by [`Choir::calibrate`] and had no training trials.
    pub fn is_calibrated(&self) -> bool {
        self.trials.is_some()
    }
}

/// A fitted CHOIR; see the [module](super).
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::choir::{Choir, ChoirConfig};
/// use stiefel_model::{Factor, Trials};
///
/// let x = |shift: usize| {
///     MatBatch::from_fn(8, 3, 3, |i, r, c| {
///         if r == c {
///             1.0 + ((i * 3 + r + shift) % 5) as f64
///         } else {
///             0.2
///         }
///     })
/// };
/// let classes = Factor::from_labels([
///     "hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet",
/// ]);
/// let people = Factor::from_labels(["s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"]);
/// let trials = Trials::new(x(0), classes, people)?.with_view(x(1))?;
/// let model = Choir::fit(&trials, &ChoirConfig::default())?;
/// let trial = [x(0).matrix(3), x(1).matrix(3)].concat();
/// let p = model.decide(0, &trial)?;
/// assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Choir {
    pub(super) names: Names,
    pub(super) config: ChoirConfig,
    /// `W`, `1 × n × max k_v`.
    pub(super) anchor: MatBatch<f64>,
    /// `M̄_v`, `V × n × n`, of trace 1.
    pub(super) typical: MatBatch<f64>,
    /// The factor of every feature, `p`.
    pub(super) scale: Vec<f64>,
    /// `w_0`, `1 × L × p`.
    pub(super) shared: MatBatch<f64>,
    pub(super) link: Link,
    /// By number of the domain; none where a domain has no labelled trials.
    pub(super) people: Vec<Option<Person>>,
    pub(super) trial_count: usize,
}

impl Choir {
    /// Returns the settings it was fitted with.
    pub fn config(&self) -> &ChoirConfig {
        &self.config
    }

    /// Counts the views of a trial.
    pub fn view_count(&self) -> usize {
        self.names.view_count
    }

    /// Counts the channels.
    pub fn channel_count(&self) -> usize {
        self.names.channel_count
    }

    /// Returns the anchor `W`, `1 × n × k`: most discriminative direction first, of whitened
    /// signals.
    pub fn anchor(&self) -> &MatBatch<f64> {
        &self.anchor
    }

    /// Returns the weights everybody shares, `1 × L × p` (`L` is 1 for two classes).
    pub fn shared(&self) -> &MatBatch<f64> {
        &self.shared
    }

    /// Returns the slopes that turn scores into probabilities.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Returns what is known of a domain, by number; none where it has no labelled trials.
    pub fn person(&self, domain: usize) -> Option<&Person> {
        self.people.get(domain)?.as_ref()
    }

    /// Counts the trials it was fitted on.
    pub fn trial_count(&self) -> usize {
        self.trial_count
    }

    /// Returns the directions kept of each view.
    pub fn filters(&self) -> Vec<usize> {
        self.config.filters(self.view_count(), self.channel_count())
    }

    /// Where the features of each view are in a row.
    pub(crate) fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut from = 0;
        let one = |k: usize| {
            let range = from..from + upper_len(k);
            from = range.end;
            range
        };
        self.filters().into_iter().map(one).collect()
    }

    /// The probability of every class for one raw trial of a known domain: its covariances, `n × n`
    /// each, one view after the other.
    pub fn decide(&self, domain: usize, covariances: &[f64]) -> Result<Vec<f64>> {
        let mut workspace = Workspace::new(self);
        self.decide_into(domain, covariances, &mut workspace)?;
        Ok(workspace.probabilities)
    }

    /// The same into buffers that are used again.
    pub(crate) fn decide_into(
        &self,
        domain: usize,
        trial: &[f64],
        workspace: &mut Workspace,
    ) -> Result<()> {
        let person = self.known(domain)?;
        workspace.take(self, trial)?;
        let own = (Some(&person.own[..]), person.label_count());
        workspace.decide(self, &person.frame, &person.centre, own)
    }

    /// A domain without labelled trials, or with few: its mean is made of the trials `seen`, one
    /// batch per view, as the policy says, and under the causal policy of every trial that is
    /// decided. The labelled trials of a calibrated domain count among them.
    pub fn new_person(
        &self,
        domain: Option<usize>,
        seen: &[MatView<'_, f64>],
        policy: Adaptation,
    ) -> Result<NewPerson> {
        let person = domain.map(|d| self.known(d)).transpose()?;
        NewPerson::start(self, person, seen, policy)
    }

    pub(super) fn known(&self, domain: usize) -> Result<&Person> {
        let found = self.people.get(domain).and_then(Option::as_ref);
        found.ok_or_else(|| ModelError::UntrainedDomain {
            op: OP,
            domain,
            name: self.names.domains.get(domain).cloned().unwrap_or_default(),
        })
    }

    /// The features of one raw trial.
    pub(super) fn row(&self, frame: &Frame, centre: &[f64], trial: &[f64]) -> Result<Vec<f64>> {
        let mut workspace = Workspace::new(self);
        workspace.take(self, trial)?;
        workspace.read(self, frame, centre)?;
        Ok(workspace.z)
    }

    /// `(w_0 + δ)·z` of one row.
    pub(crate) fn scores(&self, z: &[f64], own: Option<&[f64]>) -> Vec<f64> {
        let mut scores = vec![0.0; self.shared.rows()];
        self.scores_into(z, own, &mut scores);
        scores
    }

    pub(super) fn scores_into(&self, z: &[f64], own: Option<&[f64]>, scores: &mut [f64]) {
        let p = z.len();
        let dot = |w: &[f64]| w.iter().zip(z).map(|(w, z)| w * z).sum::<f64>();
        for (line, (score, w)) in (scores.iter_mut())
            .zip(self.shared.data().chunks_exact(p))
            .enumerate()
        {
            *score = match own {
                None => dot(w),
                Some(own) => dot(w) + dot(&own[line * p..][..p]),
            };
        }
    }
}
