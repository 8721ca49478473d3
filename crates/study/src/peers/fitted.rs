//! A peer that has learnt: `Trials ─ front ─▶ whitened or loaded trials ─ rule ─▶ probabilities (N × C) and decisions`.

use super::front::{Front, check_montage, check_names};
use super::mdm::Means;
use super::tangent_lr::Regressions;
use super::{Peer, PeerError};
use serde::{Deserialize, Serialize};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::{Factor, Preconditioning, Trials};

/// What a peer decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerOutcome {
    /// Class probabilities, one row of `C` per trial; 0 for a class without training trials.
    pub probabilities: Vec<f64>,
    /// The class decided for each, as a place in [`FittedPeer::classes`].
    pub decided: Vec<usize>,
    /// Choices made on validation and anything a reader should know, one sentence each.
    pub notes: Vec<String>,
}

/// A fitted peer, with the names of its classes, domains and channels; made by [`Peer::fit`].
#[derive(Debug, Clone)]
pub struct FittedPeer {
    peer: Peer,
    front: Front,
    rule: Rule,
    /// The training trials without a trial: their names are left.
    names: Trials,
    /// Classes with training trials, ascending; at least two.
    present: Vec<usize>,
    /// Domains with validation trials and without training trials.
    unseen: Vec<usize>,
}

#[derive(Debug, Clone)]
enum Rule {
    Tangent(Regressions),
    Nearest(Means),
}

/// Training and validation trials behind the front: what a rule is fitted on.
pub(super) struct Ready {
    pub(super) peer: Peer,
    pub(super) training: Trials,
    pub(super) validation: Trials,
    /// Classes with training trials, ascending.
    pub(super) classes: Vec<usize>,
}

impl Peer {
    /// Fits the peer on training trials, and chooses on validation trials where there is something to choose.
    ///
    /// Both are selections from one set. Peers that recentre use the loading and the policy for unseen domains of `preconditioning`,
    /// and their own reference and scale.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::{Factor, Preconditioning, Trials};
    /// use stiefel_study::peers::Peer;
    ///
    /// // Class "hand" is weak on the first channel, class "feet" on the second.
    /// let level = |i: usize, r: usize| 1.0 + (i % 5) as f64 / 9.0 + f64::from(u8::from(i % 2 == r));
    /// let x = MatBatch::from_fn(24, 2, 2, |i, r, c| if r == c { level(i, r) } else { 0.2 });
    /// let classes = Factor::from_labels((0..24).map(|i| ["hand", "feet"][i % 2]));
    /// let domains = Factor::from_labels((0..24).map(|i| ["s1", "s2"][i / 12]));
    /// let trials = Trials::new(x, classes, domains)?;
    /// let part = |k: usize| (0..24).filter(|i| i / 2 % 3 == k).collect::<Vec<_>>();
    /// let [training, validation, test] = [0, 1, 2].map(|k| trials.select(&part(k)));
    ///
    /// let fitted = Peer::Mdm.fit(&training?, &validation?, &Preconditioning::default())?;
    /// let test = test?;
    /// assert_eq!(fitted.decide(&test)?.decided, test.classes().indices());
    /// assert_eq!(fitted.classes(), ["hand", "feet"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit(
        self,
        training: &Trials,
        validation: &Trials,
        preconditioning: &Preconditioning,
    ) -> Result<FittedPeer, PeerError> {
        let (training, validation) = (&self.views_of(training)?, &self.views_of(validation)?);
        check_some(self, "training", training)?;
        check_names(self, training, validation)?;
        check_montage(self, training, validation)?;
        let present = training.classes().present();
        if let [only] = present[..] {
            return Err(PeerError::OneClass {
                peer: self.name(),
                found: training.classes().name(only).to_owned(),
            });
        }
        let front = Front::fit(self, training, preconditioning)?;
        let (validated, unseen) = front.apply(validation, None)?;
        let ready = Ready {
            peer: self,
            training: front.apply(training, None)?.0,
            validation: validated,
            classes: present,
        };
        let rule = match self {
            Self::TangentLrPooled
            | Self::RecentredLr
            | Self::BankLrPooled
            | Self::BankRecentredLr => Rule::Tangent(Regressions::pooled(&ready)?),
            Self::TangentLrPerDomain | Self::BankLrPerDomain => {
                Rule::Tangent(Regressions::per_domain(&ready)?)
            }
            Self::Mdm | Self::RecentredMdm => Rule::Nearest(Means::fit(&ready)?),
        };
        Ok(FittedPeer {
            peer: self,
            front,
            rule,
            names: training.select(&[])?,
            present: ready.classes,
            unseen,
        })
    }
}

impl Peer {
    /// The views it takes: all, or the broad one.
    fn views_of(self, trials: &Trials) -> Result<Trials, PeerError> {
        Ok(if self.takes_views() {
            trials.clone()
        } else {
            trials.pick_views(&[0])?
        })
    }
}

impl FittedPeer {
    /// Which peer.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Names of the classes, in the order of the probabilities.
    pub fn classes(&self) -> &[String] {
        self.names.classes().names()
    }

    /// Names of the domains of the set it was fitted on, those without training trials among them.
    pub fn domains(&self) -> &[String] {
        self.names.domains().names()
    }

    /// Names of the channels, where they were known.
    pub fn channels(&self) -> Option<&[String]> {
        self.names.channels()
    }

    /// How domains without training trials are whitened, where the peer whitens and a policy was given.
    pub fn unseen_policy(&self) -> Option<UnseenPolicy> {
        self.front.policy()
    }

    /// Decides trials of any domains. Those with training trials are found by name, all others are whitened under the policy, each
    /// on its own and in the order of their trials. Classes of the trials are not read.
    pub fn decide(&self, trials: &Trials) -> Result<PeerOutcome, PeerError> {
        self.decide_under(trials, None)
    }

    /// The same with another policy for domains without training trials.
    pub fn decide_under(
        &self,
        trials: &Trials,
        policy: Option<UnseenPolicy>,
    ) -> Result<PeerOutcome, PeerError> {
        check_some(self.peer, "test", trials)?;
        check_montage(self.peer, &self.names, trials)?;
        let trials = self.renumbered(&self.peer.views_of(trials)?)?;
        let (ready, unseen) = self.front.apply(&trials, policy)?;
        let names = trials.domains().names();
        let mut notes: Vec<String> = self.never_decided().into_iter().collect();
        notes.extend(self.whitening_note(names, unseen, policy));
        let (probabilities, decided) = match &self.rule {
            Rule::Tangent(rule) => {
                notes.extend(rule.notes(trials.domains()));
                rule.decide(&ready)?
            }
            Rule::Nearest(means) => means.decide(&ready)?,
        };
        Ok(PeerOutcome {
            probabilities: self.widened(&probabilities),
            decided: decided.into_iter().map(|c| self.present[c]).collect(),
            notes,
        })
    }

    /// The same after labelled trials of the same domains: recentred together with them, and decided by regressions that they have moved, each domain's
    /// on its own ([`LogisticModel::updated`](super::logistic::LogisticModel::updated)). Both are selections from one set, of two classes.
    pub fn decide_after(
        &self,
        labelled: &Trials,
        trials: &Trials,
        policy: Option<UnseenPolicy>,
    ) -> Result<PeerOutcome, PeerError> {
        let Rule::Tangent(rule) = &self.rule else {
            return self.decide_under(trials, policy);
        };
        check_some(self.peer, "test", trials)?;
        let both = self.peer.views_of(&labelled.joined(trials)?)?;
        check_montage(self.peer, &self.names, &both)?;
        let both = self.renumbered(&both)?;
        let (ready, unseen) = self.front.apply(&both, policy)?;
        let mut notes: Vec<String> = self.never_decided().into_iter().collect();
        notes.extend(self.whitening_note(both.domains().names(), unseen, policy));
        notes.extend(rule.notes(trials.domains()));
        let (probabilities, decided) = rule.decide_after(&ready, labelled.len(), &self.present)?;
        Ok(PeerOutcome {
            probabilities: self.widened(&probabilities),
            decided: decided.into_iter().map(|c| self.present[c]).collect(),
            notes,
        })
    }

    /// The same trials with the numbers that domains had in training; new names come after them.
    fn renumbered(&self, trials: &Trials) -> Result<Trials, PeerError> {
        let own = trials.domains();
        let mut names = self.domains().to_vec();
        let mut number = Vec::with_capacity(own.names().len());
        for name in own.names() {
            let known = names.iter().position(|n| n == name);
            number.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(name.clone());
            }
        }
        let indices = own.indices().iter().map(|&d| number[d]).collect();
        let domains = Factor::new("domain", names, indices)?;
        Ok(trials.clone().with_domains(domains)?)
    }

    fn never_decided(&self) -> Option<String> {
        let missing: Vec<&str> = (self.classes().iter().enumerate())
            .filter(|(c, _)| !self.present.contains(c))
            .map(|(_, name)| name.as_str())
            .collect();
        (!missing.is_empty()).then(|| {
            let missing = missing.join(", ");
            format!("Never decided, because it has no training trials: {missing}.")
        })
    }

    fn whitening_note(
        &self,
        names: &[String],
        mut unseen: Vec<usize>,
        policy: Option<UnseenPolicy>,
    ) -> Option<String> {
        unseen.extend(&self.unseen);
        unseen.sort_unstable();
        unseen.dedup();
        let own = self.front.policy();
        let policy = (policy.filter(|_| own.is_some()).or(own)).filter(|_| !unseen.is_empty())?;
        let unseen: Vec<&str> = unseen.iter().map(|&d| names[d].as_str()).collect();
        Some(format!(
            "Whitening of domains without training trials ({}): {policy}.",
            unseen.join(", ")
        ))
    }

    /// Rows of probabilities of the classes with training trials, widened to all.
    fn widened(&self, probabilities: &[f64]) -> Vec<f64> {
        let (present, all) = (self.present.len(), self.classes().len());
        let mut out = vec![0.0; probabilities.len() / present * all];
        for (k, p) in probabilities.iter().enumerate() {
            out[k / present * all + self.present[k % present]] = *p;
        }
        out
    }
}

fn check_some(peer: Peer, part: &'static str, trials: &Trials) -> Result<(), PeerError> {
    if !trials.is_empty() {
        return Ok(());
    }
    Err(PeerError::EmptyPart {
        peer: peer.name(),
        part,
        remedy: "check how the fold was made",
    })
}
