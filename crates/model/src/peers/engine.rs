//! Decisions of a peer for one domain.

use super::Front;
use super::logistic::LogisticModel;
use super::model::{Calibrated, Decider, Peer};
use super::tangent_lr::row_of;
use crate::decoder::Decision;
use crate::error::check_count;
use crate::kind::{Engine, Start};
use crate::net::Routing;
use crate::precondition::{Adaptation, DomainState, WhitenScratch, check_single};
use crate::{ModelError, Result};
use std::sync::Arc;
use stiefel_linalg::{MatBatch, MatView, argmax};

#[derive(Debug)]
pub(super) struct PeerEngine {
    peer: Arc<Peer>,
    domain: Option<usize>,
    /// One per view where the domain's own mean is not settled by training trials.
    whitening: Vec<DomainState>,
    policy: Option<Adaptation>,
    /// The regression as labelled trials have moved it.
    moved: Option<LogisticModel>,
    labelled: usize,
    /// The views of a trial as the rule sees them.
    ready: Vec<f64>,
    probabilities: Vec<f64>,
    scratch: WhitenScratch,
}

impl PeerEngine {
    pub(super) fn start(peer: &Arc<Peer>, start: &Start<'_>) -> Result<Self> {
        let (n, views) = (peer.names.channel_count, peer.names.view_count);
        let calibrated = start.known.and_then(|d| peer.calibrated(d));
        let trained = start.known.is_some_and(|d| peer.trained(d) > 0);
        let loaded = peer.kind.front == Front::Loaded;
        let policy = match (start.known, start.adapt) {
            _ if loaded || trained => None,
            // Known from labelled trials alone: their mean, drawn towards the others.
            (Some(_), None) => Some(Adaptation::OwnMean {
                kappa: Adaptation::DEFAULT_KAPPA,
            }),
            _ => Some(start.policy()?.whitening),
        };
        let mut engine = Self {
            domain: start.known,
            whitening: Vec::new(),
            policy: policy.filter(|_| start.adapt.is_some() || start.known.is_none()),
            moved: None,
            labelled: calibrated.map_or(0, |c| c.labels.len()),
            ready: vec![0.0; views * n * n],
            probabilities: vec![0.0; peer.names.classes.len()],
            scratch: WhitenScratch::default(),
            peer: Arc::clone(peer),
        };
        if let Some(policy) = policy {
            for (v, whitener) in peer.whiteners.iter().enumerate() {
                let seen = together(calibrated, start.seen, v, n)?;
                if seen.count() == 0 && matches!(policy, Adaptation::OwnMean { .. }) {
                    return Err(ModelError::Empty {
                        op: peer.kind.name,
                        remedy: "own-mean whitening needs unlabelled trials of the new domain",
                    });
                }
                engine.whitening.push(whitener.adapt(seen.view(), policy)?);
            }
        }
        if let (Some(of), Decider::Tangent(regressions)) = (calibrated, &peer.decider) {
            engine.freeze(true);
            let mut rows = Vec::new();
            for i in 0..of.labels.len() {
                let trial: Vec<f64> = of
                    .trials
                    .iter()
                    .flat_map(|x| x.matrix(i))
                    .copied()
                    .collect();
                engine.whiten(&trial)?;
                rows.extend(row_of(&engine.ready, n)?);
            }
            engine.freeze(false);
            let model = regressions.for_domain(start.known);
            engine.moved = Some(model.updated(&rows, &of.labels)?);
        }
        Ok(engine)
    }

    /// Brings the views of a raw trial to where the rule sees them.
    fn whiten(&mut self, trial: &[f64]) -> Result<()> {
        let (peer, n) = (&self.peer, self.peer.names.channel_count);
        check_count(
            peer.kind.name,
            "values of the covariances of a trial",
            self.ready.len(),
            trial.len(),
        )?;
        let views = trial
            .chunks_exact(n * n)
            .zip(self.ready.chunks_exact_mut(n * n));
        for (v, (x, out)) in views.enumerate() {
            let whitener = &peer.whiteners[v];
            match (peer.kind.front, self.whitening.get_mut(v), self.domain) {
                (Front::Loaded, ..) => {
                    check_single(n, x, 0)?;
                    out.copy_from_slice(x);
                    peer.settings.preconditioning.tikhonov.load(out, n);
                }
                (_, Some(state), _) => {
                    state.transform_into(x, out)?;
                }
                (_, None, Some(domain)) => {
                    whitener.transform_into(domain, x, out, &mut self.scratch)?;
                }
                (_, None, None) => return Err(ModelError::NoAdaptation),
            }
        }
        Ok(())
    }
}

/// Returns the labelled trials of a view, and after them the unlabelled ones that are not among
/// them.
fn together(
    calibrated: Option<&Calibrated>,
    seen: &[MatView<'_, f64>],
    view: usize,
    n: usize,
) -> Result<MatBatch<f64>> {
    let labelled = calibrated.and_then(|c| c.trials.get(view));
    let mut data = labelled.map_or(Vec::new(), |x| x.data().to_vec());
    // A trial is known by its first view, in which it counts once.
    let first = calibrated.and_then(|c| c.trials.first());
    let is_labelled = |i: usize| {
        let x = seen.first().map(|x| x.matrix(i));
        first.is_some_and(|all| (0..all.count()).any(|k| Some(all.matrix(k)) == x))
    };
    if let Some(x) = seen.get(view) {
        for i in (0..x.count()).filter(|&i| !is_labelled(i)) {
            data.extend_from_slice(x.matrix(i));
        }
    }
    Ok(MatBatch::from_vec(data.len() / (n * n).max(1), n, n, data)?)
}

impl Engine for PeerEngine {
    fn decide(&mut self, covariances: &[f64], _: Routing<'_, f64>) -> Result<Decision<'_>> {
        self.whiten(covariances)?;
        let n = self.peer.names.channel_count;
        let found = match &self.peer.decider {
            Decider::Nearest(means) => means.probabilities(&self.ready)?,
            Decider::Tangent(regressions) => {
                let model = self.moved.as_ref();
                let model = model.unwrap_or_else(|| regressions.for_domain(self.domain));
                model.probabilities(&row_of(&self.ready, n)?)?
            }
        };
        self.peer.widen_into(&found, &mut self.probabilities);
        let probabilities = &self.probabilities;
        Ok(Decision {
            class: argmax(probabilities),
            probabilities,
            routing: None,
        })
    }

    fn freeze(&mut self, frozen: bool) {
        self.whitening.iter_mut().for_each(|w| w.freeze(frozen));
    }

    fn adaptation(&self) -> Option<Adaptation> {
        self.policy
    }

    fn remarks(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.labelled > 0 {
            said.push(format!(
                "regression moved by {} labelled trials",
                self.labelled
            ));
        } else if let Decider::Tangent(regressions) = &self.peer.decider {
            said.extend(regressions.remark(self.domain));
        }
        said
    }
}
