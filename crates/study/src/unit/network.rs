//! Networks on one fold: whitening, encoder and network see the training trials, the epoch is chosen on the validation trials, the
//! test trials are decided once.

use super::pictures::pictures;
use super::{Cancel, Found, Unit, of_domain};
use crate::method::{Method, Precision, UnseenRow};
use crate::{Outcome, Result, RoutingRecord, StudyError};
use stiefel_linalg::Scalar;
use stiefel_model::adapt::{TransductiveConfig, Unlabelled, adapt_embedding};
use stiefel_model::decoder::DomainMeans;
use stiefel_model::diagnostics::{retrain_single, routing_report};
use stiefel_model::net::{Routing, Sizes, refit_statistics};
use stiefel_model::train::{Checkpoint, EpochRecord, Flow, Observer, evaluate, train};
use stiefel_model::{Frontend, ModelConfig, Parameters, Prepared, Trials};

/// Ends training where someone asked to stop.
struct Watch<'a>(&'a Cancel);

impl<T: Scalar> Observer<T> for Watch<'_> {
    fn step(&mut self, _: usize) -> Flow {
        if self.0.is_cancelled() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn epoch(&mut self, _: &EpochRecord, _: &Checkpoint<T>) -> Flow {
        Flow::Continue
    }
}

/// Units that share their training.
pub(super) fn run(units: &[Unit], cancel: &Cancel) -> Result<Vec<Outcome>> {
    match &units[0].method {
        Method::Network {
            precision: Precision::F64,
            ..
        } => run_in::<f64>(units, cancel),
        _ => run_in::<f32>(units, cancel),
    }
}

fn run_in<T: Scalar>(units: &[Unit], cancel: &Cancel) -> Result<Vec<Outcome>> {
    let unit = &units[0];
    let Method::Network {
        model, retrained, ..
    } = &unit.method
    else {
        return Ok(Vec::new());
    };
    let config = seeded(model, unit.seed);
    let (training_raw, validation_raw, test_raw) = unit.parts()?;
    let (frontend, training) = Frontend::fit::<T>(
        &training_raw,
        &config.preconditioning,
        config.encoder.as_ref(),
    )?;
    let validation = frontend.prepare::<T>(&validation_raw)?;
    let whitened = whiten(&frontend, &training_raw, &test_raw)?;
    let test = Prepared::<T>::new(&whitened, frontend.encoder.as_ref())?;
    let sizes = Sizes {
        channels: unit.trials.channels_count(),
        classes: unit.trials.classes().names().len(),
        domains: unit.trials.domains().names().len(),
        encoded: training.encoded().cols(),
    };
    let network = config.architecture.network::<T>(sizes)?;
    let fitted = train(
        &*network,
        &training,
        &validation,
        &config.training,
        &mut Watch(cancel),
    )?;
    let single = if *retrained && !cancel.is_cancelled() {
        retrain_single(
            &config.architecture,
            sizes,
            &training,
            &validation,
            &test,
            &config.training,
        )?
    } else {
        None
    };
    let known = training_raw.domains().present();
    let all_new = test_raw
        .domains()
        .present()
        .iter()
        .all(|d| !known.contains(d));
    let means = if units.iter().any(borrows) {
        Some(DomainMeans::fit(
            &frontend.whitener.transform(&training_raw)?,
        )?)
    } else {
        None
    };
    let mut outcomes = Vec::with_capacity(units.len());
    for unit in units {
        if cancel.is_cancelled() {
            return Err(StudyError::Interrupted);
        }
        let Method::Network { unseen, .. } = &unit.method else {
            continue;
        };
        let (mut parameters, notes) = stand_in(
            &fitted.parameters,
            *unseen,
            &frontend,
            &training_raw,
            &whitened,
            means.as_ref(),
        )?;
        if all_new
            && config
                .preconditioning
                .unseen
                .is_some_and(|p| p.uses_target_data())
        {
            refit_statistics(&*network, &mut parameters, &test)?;
        }
        let seed = config.training.seed;
        let mut report = routing_report(&*network, &parameters, &training, &test, seed)?;
        if let Some(controls) = &mut report.controls {
            controls.retrained = single;
        }
        let evaluation = evaluate(&*network, &parameters, &test, Routing::Learnt)?;
        let routing = match &evaluation.alpha {
            Some(_) => Some(pictures(
                &parameters,
                &evaluation,
                &test,
                &frontend,
                &training_raw,
                report,
            )?),
            None => None::<RoutingRecord>,
        };
        let decided = Found {
            probabilities: evaluation.probabilities.data().to_vec(),
            decided: evaluation.predictions(),
            routing,
            history: fitted.history.clone(),
            notes,
        };
        outcomes.push(unit.outcome(&test_raw, decided)?);
    }
    Ok(outcomes)
}

/// Whether a new domain borrows the embedding of the training domain it is nearest to.
fn borrows(unit: &Unit) -> bool {
    matches!(
        unit.method,
        Method::Network {
            unseen: UnseenRow::Nearest | UnseenRow::RiemannianNearest,
            ..
        }
    )
}

fn seeded(model: &ModelConfig, seed: u64) -> ModelConfig {
    let mut config = *model;
    config.training.seed = seed;
    config
}

/// Test trials whitened: those of domains with training trials by what was fitted, the others by the configured policy, one domain
/// after the other in the order of their trials.
fn whiten(frontend: &Frontend, training: &Trials, test: &Trials) -> Result<Trials> {
    let known = training.domains().present();
    let mut out = test.covariances().clone();
    for domain in test.domains().present() {
        let at = of_domain(test, domain);
        let part = test.select(&at)?;
        let part = if known.contains(&domain) {
            frontend.whitener.transform(&part)?
        } else {
            let policy = frontend.whitener.unseen_policy()?;
            frontend.whitener.transform_unseen(&part, policy)?
        };
        for (place, &i) in at.iter().enumerate() {
            out.matrix_mut(i)
                .copy_from_slice(part.covariances().matrix(place));
        }
    }
    Ok(test.with_covariances(out)?)
}

/// The parameters with the embedding of every test domain that had no training trials filled in.
fn stand_in<T: Scalar>(
    parameters: &Parameters<T>,
    unseen: UnseenRow,
    frontend: &Frontend,
    training: &Trials,
    whitened: &Trials,
    means: Option<&DomainMeans>,
) -> Result<(Parameters<T>, Vec<String>)> {
    let known = training.domains().present();
    let new: Vec<usize> = whitened
        .domains()
        .present()
        .into_iter()
        .filter(|d| !known.contains(d))
        .collect();
    let mut notes = Vec::new();
    for &domain in &new {
        let (name, policy) = (
            whitened.domains().name(domain),
            frontend.whitener.unseen_policy()?,
        );
        notes.push(format!(
            "{name} had no training trials and was whitened {policy}"
        ));
    }
    let Some(embedding) = parameters.get("embedding") else {
        return Ok((parameters.clone(), notes));
    };
    if new.is_empty() || unseen == UnseenRow::Initial {
        return Ok((parameters.clone(), notes));
    }
    let mut value = embedding.value.clone();
    let width = value.cols();
    for &domain in &new {
        let row: Vec<T> = match unseen {
            UnseenRow::Initial => continue,
            UnseenRow::Zero => vec![T::ZERO; width],
            UnseenRow::Transductive => {
                let own = whitened.select(&of_domain(whitened, domain))?;
                let trials = Unlabelled::new(own.covariances().view(), frontend.encoder.as_ref())?;
                let found =
                    adapt_embedding::<T>(parameters, &trials, &TransductiveConfig::default())?;
                notes.push(format!(
                    "{}: routing entropy from {:.3} to {:.3} by adaptation",
                    whitened.domains().name(domain),
                    found.entropy_before,
                    found.entropy_after
                ));
                found.row
            }
            UnseenRow::Nearest | UnseenRow::RiemannianNearest => {
                let own = whitened.select(&of_domain(whitened, domain))?;
                let Some(means) = means else { continue };
                let distances = match unseen {
                    UnseenRow::Nearest => means.tangent_distances(own.covariances())?,
                    _ => means.riemannian_distances(own.covariances())?,
                };
                let nearest = means.nearest(&distances)?;
                notes.push(format!(
                    "{} borrows the embedding of {}",
                    whitened.domains().name(domain),
                    training.domains().name(nearest)
                ));
                value.matrix(0)[nearest * width..][..width].to_vec()
            }
        };
        value.matrix_mut(0)[domain * width..][..width].copy_from_slice(&row);
    }
    let mut filled = parameters.clone();
    filled.set("embedding", value)?;
    Ok((filled, notes))
}
