//! The three parts of a fold: checked, and pre-conditioned by what the training trials say.

use super::{Peer, PeerError};
use stiefel_linalg::MatBatch;
use stiefel_model::precondition::{Tikhonov, Whitener};
use stiefel_model::{ModelError, Preconditioning, Trials};

/// Training, validation and test trials with one meaning of classes and domains.
pub(super) struct Parts {
    pub(super) peer: Peer,
    pub(super) training: Trials,
    pub(super) validation: Trials,
    pub(super) test: Trials,
    /// Classes with training trials, ascending; at least two.
    pub(super) classes: Vec<usize>,
    pub(super) notes: Vec<String>,
}

impl Parts {
    /// An error where the parts do not fit together or leave nothing to learn or decide.
    pub(super) fn check(
        peer: Peer,
        training: &Trials,
        validation: &Trials,
        test: &Trials,
    ) -> Result<Self, PeerError> {
        for (part, trials) in [("training", training), ("test", test)] {
            if trials.is_empty() {
                return Err(PeerError::EmptyPart {
                    peer: peer.name(),
                    part,
                    remedy: "check how the fold was made",
                });
            }
        }
        for (part, trials) in [("validation", validation), ("test", test)] {
            check_names(peer, part, training, trials)?;
            check_montage(peer, training, trials)?;
        }
        let names = training.classes().names();
        let classes = training.classes().present();
        if classes.len() < 2 {
            return Err(PeerError::OneClass {
                peer: peer.name(),
                found: classes.iter().map(|&c| names[c].as_str()).collect(),
            });
        }
        let missing: Vec<&str> = (0..names.len())
            .filter(|c| !classes.contains(c))
            .map(|c| names[c].as_str())
            .collect();
        let mut notes = Vec::new();
        if !missing.is_empty() {
            notes.push(format!(
                "Never decided, as it has no training trials: {}.",
                missing.join(", ")
            ));
        }
        Ok(Self {
            peer,
            training: training.clone(),
            validation: validation.clone(),
            test: test.clone(),
            classes,
            notes,
        })
    }

    /// Pre-conditioned by what is fitted on the training trials.
    pub(super) fn whitened(mut self, config: &Preconditioning) -> Result<Self, PeerError> {
        let whitener = config.fit(&self.training)?;
        self.training = whitener.transform(&self.training)?;
        let (validation, mut unseen) = transform(&whitener, &self.validation)?;
        let (test, more) = transform(&whitener, &self.test)?;
        (self.validation, self.test) = (validation, test);
        unseen.extend(more);
        unseen.sort_unstable();
        unseen.dedup();
        if !unseen.is_empty() {
            let names: Vec<&str> = unseen
                .iter()
                .map(|&d| self.training.domains().name(d))
                .collect();
            self.notes.push(format!(
                "Whitening of domains without training trials ({}): {}.",
                names.join(", "),
                whitener.unseen_policy()?
            ));
        }
        Ok(self)
    }

    /// Diagonally loaded, and nothing else.
    pub(super) fn loaded(mut self, tikhonov: Tikhonov) -> Result<Self, PeerError> {
        for trials in [&mut self.training, &mut self.validation, &mut self.test] {
            *trials = trials.with_covariances(load(tikhonov, trials.covariances())?)?;
        }
        Ok(self)
    }

    /// How many classes there are names for, `C`.
    pub(super) fn class_count(&self) -> usize {
        self.training.classes().names().len()
    }

    /// Rows of probabilities of the classes with training trials, widened to `C`.
    pub(super) fn widened(&self, probabilities: &[f64]) -> Vec<f64> {
        let (present, all) = (self.classes.len(), self.class_count());
        let mut out = vec![0.0; probabilities.len() / present * all];
        for (k, p) in probabilities.iter().enumerate() {
            out[k / present * all + self.classes[k % present]] = *p;
        }
        out
    }
}

/// Each trial by what its domain's training trials say, or by the policy where it has none; and which domains those were.
fn transform(whitener: &Whitener, trials: &Trials) -> Result<(Trials, Vec<usize>), PeerError> {
    let domains = trials.domains().indices();
    let (mut known, mut unseen) = (Vec::new(), Vec::new());
    for (i, &d) in domains.iter().enumerate() {
        if whitener.trials_of(d) > 0 {
            known.push(i);
        } else if !unseen.contains(&d) {
            unseen.push(d);
        }
    }
    if unseen.is_empty() {
        return Ok((whitener.transform(trials)?, unseen));
    }
    let policy = whitener.unseen_policy()?;
    let n = trials.channels_count();
    let mut out = MatBatch::zeros(trials.len(), n, n);
    let mut put = |indices: &[usize], whitened: &Trials| {
        for (k, &i) in indices.iter().enumerate() {
            out.matrix_mut(i)
                .copy_from_slice(whitened.covariances().matrix(k));
        }
    };
    put(&known, &whitener.transform(&trials.select(&known)?)?);
    for &domain in &unseen {
        let own: Vec<usize> = (0..trials.len())
            .filter(|&i| domains[i] == domain)
            .collect();
        let whitened = whitener.transform_unseen(&trials.select(&own)?, policy)?;
        put(&own, &whitened);
    }
    Ok((trials.with_covariances(out)?, unseen))
}

/// Step (a) of pre-conditioning alone.
fn load(tikhonov: Tikhonov, x: &MatBatch<f64>) -> Result<MatBatch<f64>, PeerError> {
    let n = x.rows();
    if let Tikhonov::Relative(value) | Tikhonov::Absolute(value) = tikhonov
        && !(value.is_finite() && value > 0.0)
    {
        return Err(PeerError::Parameter {
            op: "diagonal loading",
            name: "ε",
            value,
            expected: "a positive finite number (or `none`)",
        });
    }
    let mut out = x.clone();
    for i in 0..out.count() {
        let m = out.matrix_mut(i);
        let trace: f64 = (0..n).map(|k| m[k * n + k]).sum();
        let added = match tikhonov {
            Tikhonov::None => 0.0,
            Tikhonov::Relative(epsilon) => epsilon * trace / n as f64,
            Tikhonov::Absolute(epsilon) => epsilon,
        };
        (0..n).for_each(|k| m[k * n + k] += added);
    }
    Ok(out)
}

/// Equal lists of names: equal numbers mean equal things.
fn check_names(peer: Peer, part: &'static str, a: &Trials, b: &Trials) -> Result<(), PeerError> {
    for (what, expected, found) in [
        ("classes", a.classes().names(), b.classes().names()),
        ("domains", a.domains().names(), b.domains().names()),
    ] {
        if expected != found {
            return Err(PeerError::Names {
                peer: peer.name(),
                part,
                what,
                expected: expected.to_vec(),
                found: found.to_vec(),
            });
        }
    }
    Ok(())
}

/// The same channels in the same order.
fn check_montage(peer: Peer, a: &Trials, b: &Trials) -> Result<(), PeerError> {
    let (op, expected, found) = (peer.name(), a.channels_count(), b.channels_count());
    if expected != found {
        return Err(ModelError::Channels {
            op,
            expected,
            found,
        }
        .into());
    }
    let (Some(expected), Some(found)) = (a.channels(), b.channels()) else {
        return Ok(());
    };
    match (0..expected.len()).find(|&c| expected[c] != found[c]) {
        None => Ok(()),
        Some(channel) => Err(ModelError::ChannelName {
            op,
            channel,
            expected: expected[channel].clone(),
            found: found[channel].clone(),
        }
        .into()),
    }
}
