//! What trials pass before a peer sees them: whitening fitted on the training trials, or diagonal loading alone. And what must fit.

use super::{Peer, PeerError};
use stiefel_linalg::MatBatch;
use stiefel_model::precondition::{
    Reference, Scaling, Tikhonov, UnseenPolicy, Whitener, Whitening,
};
use stiefel_model::{ModelError, Preconditioning, Trials};

/// The step before the rule.
#[derive(Debug, Clone)]
pub(super) enum Front {
    /// Each domain by what its training trials say, in every view.
    Whitened(Vec<Whitener>),
    /// Diagonally loaded, and nothing else.
    Loaded(Tikhonov),
}

impl Front {
    pub(super) fn fit(
        peer: Peer,
        training: &Trials,
        preconditioning: &Preconditioning,
    ) -> Result<Self, PeerError> {
        let recentring = Preconditioning {
            reference: Reference::Riemannian,
            whitening: Whitening::Symmetric,
            scaling: Scaling::None,
            ..*preconditioning
        };
        let config = match peer {
            Peer::Mdm => return Ok(Self::Loaded(preconditioning.tikhonov)),
            Peer::TangentLrPooled
            | Peer::TangentLrPerDomain
            | Peer::BankLrPooled
            | Peer::BankLrPerDomain => preconditioning,
            Peer::RecentredLr | Peer::RecentredMdm | Peer::BankRecentredLr => &recentring,
        };
        let one = |view: usize| -> Result<Whitener, PeerError> {
            Ok(config.fit(&training.pick_views(&[view])?)?)
        };
        let all: Result<Vec<Whitener>, PeerError> = (0..training.views()).map(one).collect();
        Ok(Self::Whitened(all?))
    }

    /// The trials behind it, and which of their domains had no training trials; these are whitened under `policy`, or under that of the fit.
    pub(super) fn apply(
        &self,
        trials: &Trials,
        policy: Option<UnseenPolicy>,
    ) -> Result<(Trials, Vec<usize>), PeerError> {
        match self {
            Self::Whitened(whiteners) => {
                let mut all: Option<Trials> = None;
                let mut new = Vec::new();
                for (view, whitener) in whiteners.iter().enumerate() {
                    let (one, unseen) = transform(whitener, &trials.pick_views(&[view])?, policy)?;
                    new = unseen;
                    all = Some(match all {
                        None => one,
                        Some(all) => all.with_view(one.covariances().clone())?,
                    });
                }
                Ok((all.unwrap_or_else(|| trials.clone()), new))
            }
            Self::Loaded(tikhonov) => {
                let loaded = load(*tikhonov, trials.covariances())?;
                Ok((trials.with_covariances(loaded)?, Vec::new()))
            }
        }
    }

    /// The policy for domains without training trials.
    pub(super) fn policy(&self) -> Option<UnseenPolicy> {
        match self {
            Self::Whitened(whiteners) => whiteners.first()?.unseen_policy().ok(),
            Self::Loaded(_) => None,
        }
    }
}

/// Each trial by what its domain's training trials say, or by the policy where it has none; and which domains those were.
fn transform(
    whitener: &Whitener,
    trials: &Trials,
    policy: Option<UnseenPolicy>,
) -> Result<(Trials, Vec<usize>), PeerError> {
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
    let policy = match policy {
        Some(policy) => policy,
        None => whitener.unseen_policy()?,
    };
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
pub(super) fn check_names(peer: Peer, a: &Trials, b: &Trials) -> Result<(), PeerError> {
    for (what, expected, found) in [
        ("classes", a.classes().names(), b.classes().names()),
        ("domains", a.domains().names(), b.domains().names()),
    ] {
        if expected != found {
            return Err(PeerError::Names {
                peer: peer.name(),
                part: "validation",
                what,
                expected: expected.to_vec(),
                found: found.to_vec(),
            });
        }
    }
    Ok(())
}

/// The same channels in the same order.
pub(super) fn check_montage(peer: Peer, a: &Trials, b: &Trials) -> Result<(), PeerError> {
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
