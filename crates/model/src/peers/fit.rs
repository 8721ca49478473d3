//! From trials to a peer.

use super::mdm::Means;
use super::model::{Decider, Peer};
use super::tangent_lr::{Problem, Regressions, Rows};
use super::{Front, PeerKind, PeerSettings, Rule};
use crate::kind::Names;
use crate::precondition::Whitener;
use crate::{ModelError, Result, Trials};
use stiefel_linalg::MatBatch;

impl Peer {
    /// Fits on training trials, and chooses on validation trials where there is something to
    /// choose. Both are selections from one set. `asked` ends the fit with its error between
    /// two steps.
    pub(super) fn fit(
        kind: &'static PeerKind,
        settings: PeerSettings,
        (training, validation): (&Trials, &Trials),
        asked: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        check(kind, training, validation)?;
        let class_places = training.classes().present();
        let config = kind.preconditioning(&settings);
        let mut whiteners = Vec::with_capacity(training.views());
        for view in 0..training.views() {
            asked()?;
            whiteners.push(config.fit(&training.pick_views(&[view])?)?);
        }
        let ready = |trials: &Trials| match kind.front {
            Front::Loaded => loaded(&settings, trials),
            Front::Whitened | Front::Recentred => whitened(&whiteners, &settings, trials),
        };
        let trained = ready(training)?;
        let problem = || -> Result<Problem> {
            Ok(Problem {
                op: kind.name,
                training: Rows::new(&trained, &class_places)?,
                validation: Rows::new(&ready(validation)?, &class_places)?,
                class_count: class_places.len(),
            })
        };
        asked()?;
        let decider = match kind.rule {
            Rule::Pooled => Decider::Tangent(Regressions::pooled(&problem()?)?),
            Rule::PerDomain => Decider::Tangent(Regressions::per_domain(&problem()?)?),
            Rule::Nearest => Decider::Nearest(Means::fit(kind.name, &trained, &class_places)?),
        };
        asked()?;
        Ok(Self {
            kind,
            names: Names::from_trials(training),
            settings,
            whiteners,
            decider,
            class_places,
            calibrated: Vec::new(),
        })
    }
}

/// Checks the parts of a fold.
fn check(kind: &'static PeerKind, training: &Trials, validation: &Trials) -> Result<()> {
    let op = kind.name;
    if training.is_empty() {
        return Err(ModelError::Empty {
            op,
            remedy: "check how the fold was made",
        });
    }
    if training.views() > 1 && !kind.bank {
        return Err(ModelError::Impossible {
            op,
            why: format!(
                "the trials have {} views, but it takes one",
                training.views()
            ),
            remedy: "pick one view, or take the peer whose name begins with fb-",
        });
    }
    for (what, a, b) in [
        ("classes", training.classes(), validation.classes()),
        ("domains", training.domains(), validation.domains()),
    ] {
        if a.names() != b.names() {
            return Err(ModelError::Impossible {
                op,
                why: format!(
                    "the validation trials have the {what} {:?}, but the training trials {:?}",
                    b.names(),
                    a.names()
                ),
                remedy: "select all parts from one set",
            });
        }
    }
    if let [only] = training.classes().present()[..] {
        let name = training.classes().name(only);
        return Err(ModelError::Impossible {
            op,
            why: format!("all training trials belong to class \"{name}\""),
            remedy: "give training trials of at least two classes",
        });
    }
    Ok(())
}

/// Loads the diagonals, and nothing else.
fn loaded(settings: &PeerSettings, trials: &Trials) -> Result<Trials> {
    let mut x = trials.covariances().clone();
    let n = x.rows();
    for i in 0..x.count() {
        settings.preconditioning.tikhonov.load(x.matrix_mut(i), n);
    }
    Ok(trials.with_covariances(x)?)
}

/// Whitens every view by what the domains' training trials say; domains without any under the
/// configured policy.
fn whitened(whiteners: &[Whitener], settings: &PeerSettings, trials: &Trials) -> Result<Trials> {
    let mut all: Option<Trials> = None;
    for (view, whitener) in whiteners.iter().enumerate() {
        let one = transform(whitener, settings, &trials.pick_views(&[view])?)?;
        all = Some(match all {
            None => one,
            Some(all) => all.with_view(one.covariances().clone())?,
        });
    }
    Ok(all.unwrap_or_else(|| trials.clone()))
}

fn transform(whitener: &Whitener, settings: &PeerSettings, trials: &Trials) -> Result<Trials> {
    let domains = trials.domains();
    let known = |d: &usize| whitener.trial_count(*d) > 0;
    if domains.present().iter().all(known) {
        return whitener.transform(trials);
    }
    let policy = settings
        .preconditioning
        .unseen
        .ok_or(ModelError::NoAdaptation)?;
    let n = trials.channels_count();
    let mut out = MatBatch::zeros(trials.len(), n, n);
    for d in domains.present() {
        let at = trials.of_domain(d);
        let own = trials.select(&at)?;
        let one = if known(&d) {
            whitener.transform(&own)?
        } else {
            whitener.transform_new(&own, policy)?
        };
        for (k, &i) in at.iter().enumerate() {
            out.matrix_mut(i)
                .copy_from_slice(one.covariances().matrix(k));
        }
    }
    Ok(trials.with_covariances(out)?)
}
