//! From trials to a model.

use super::{About, Distances, FitConfig, FittedModel, Kind, OP, Precision};
use crate::ViewsConfig;
use crate::metrics::score;
use crate::train::{Flow, Observer};
use crate::{Model, ModelConfig, ModelError, PooledModel, Result, ViewsModel};
use std::cell::RefCell;
use std::sync::Arc;
use stiefel_data::{Seen, Trials};
use stiefel_linalg::Scalar;

impl FittedModel {
    /// Fits on training trials; validation trials choose the epoch of a network, or the penalty of the preset. An observer that stops a network
    /// gets the best epoch so far; stopping the preset is [`ModelError::Cancelled`].
    pub fn fit(
        training: &Trials,
        validation: &Trials,
        config: &FitConfig,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        Self::fit_from(training, validation, config, None, observer)
    }

    /// The same from the network and the encoder of a model that was fitted before, whose channels, classes, domains and options of the network
    /// are the same.
    pub fn fit_from(
        training: &Trials,
        validation: &Trials,
        config: &FitConfig,
        start: Option<&Self>,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        check_views(training, validation, config)?;
        if let Some(c) = (training.preparation()).contradiction(validation.preparation()) {
            return Err(ModelError::Contradiction(c));
        }
        let mut about = About::new(training.preparation().clone());
        about.seen = Seen::of(training, validation);
        let kind = match config {
            FitConfig::Network { model, precision } => {
                let of = (training, validation, &**model);
                match (precision, start.map(|s| &s.kind)) {
                    (Precision::F32, None) => {
                        Kind::Single(network(of, None, observer, &mut about)?)
                    }
                    (Precision::F64, None) => {
                        Kind::Double(network(of, None, observer, &mut about)?)
                    }
                    (Precision::F32, Some(Kind::Single(m))) => {
                        Kind::Single(network(of, Some(m), observer, &mut about)?)
                    }
                    (Precision::F64, Some(Kind::Double(m))) => {
                        Kind::Double(network(of, Some(m), observer, &mut about)?)
                    }
                    (_, Some(_)) => {
                        return Err(other_kind(
                            "the model was trained in another precision, or is not a network",
                        ));
                    }
                }
            }
            FitConfig::Preset { config } => {
                if start.is_some() {
                    return Err(other_kind(
                        "the preset is solved exactly and cannot start from a fitted model",
                    ));
                }
                let observer = RefCell::new(observer);
                let go_on = || observer.borrow_mut().step(0) == Flow::Continue;
                let chosen = PooledModel::choose_while(training, validation, config, &go_on)?;
                // Judged before a second fit has seen the trials that judge.
                about.validation = Some(chosen.score(validation)?);
                if config.refit {
                    about.seen.trained.append(&mut about.seen.stopped);
                    Kind::Preset(Arc::new(chosen.refit_while(training, validation, &go_on)?))
                } else {
                    Kind::Preset(Arc::new(chosen))
                }
            }
            FitConfig::Views { config } => {
                if start.is_some() {
                    return Err(other_kind(
                        "the preset is solved exactly and cannot start from a fitted model",
                    ));
                }
                let observer = RefCell::new(observer);
                let go_on = || observer.borrow_mut().step(0) == Flow::Continue;
                views((training, validation), config, &go_on, &mut about)?
            }
        };
        let mut model = Self { kind, about };
        model.about.distances = Distances::of(&model, training);
        Ok(model)
    }
}

/// The preset on the training trials, judged on those of the validation trials that are not among them, then fitted on both.
fn views(
    (training, validation): (&Trials, &Trials),
    config: &ViewsConfig,
    go_on: &dyn Fn() -> bool,
    about: &mut About,
) -> Result<Kind> {
    let apart = !about.seen.stopped.is_empty();
    let model = ViewsModel::fit_while(training, config, go_on)?;
    if !apart {
        return Ok(Kind::Views(Arc::new(model)));
    }
    let fitted = FittedModel::from(model).with_about(|own| *own = about.clone());
    let known = |&i: &usize| fitted.knows(validation.domains().label(i));
    let at: Vec<usize> = (0..validation.len()).filter(known).collect();
    if !at.is_empty() {
        let judged = validation.select(&at)?;
        let p = fitted.decide(&judged, None)?.probabilities;
        about.validation = Some(score(&fitted.truth(&judged)?, p.data(), p.cols())?);
    }
    if !config.refit {
        return Ok(fitted.kind);
    }
    // It keeps the features of its trials, half as much as the trials.
    drop(fitted);
    about.seen.trained.append(&mut about.seen.stopped);
    let both = training.joined(validation)?;
    Ok(Kind::Views(Arc::new(ViewsModel::fit_while(
        &both, config, go_on,
    )?)))
}

fn other_kind(why: &str) -> ModelError {
    ModelError::Impossible {
        op: "warm start",
        why: why.into(),
        remedy: "start afresh, or keep the precision",
    }
}

fn network<T: Scalar>(
    (training, validation, config): (&Trials, &Trials, &ModelConfig),
    start: Option<&Model<T>>,
    observer: &mut dyn Observer,
    about: &mut About,
) -> Result<Arc<Model<T>>> {
    let model = match start {
        None => Model::fit(training, validation, config, observer)?,
        Some(start) => start.fit_on(training, validation, config, observer)?,
    };
    about.validation.clone_from(&model.validation);
    Ok(Arc::new(model))
}

/// One view, unless the model takes several; as many in both parts.
fn check_views(training: &Trials, validation: &Trials, config: &FitConfig) -> Result<()> {
    if matches!(config, FitConfig::Preset { .. }) {
        check_one_view(training)?;
        return check_one_view(validation);
    }
    if training.views() == validation.views() {
        return Ok(());
    }
    Err(ModelError::Count {
        op: OP,
        what: "views of the validation trials",
        expected: training.views(),
        found: validation.views(),
    })
}

fn check_one_view(trials: &Trials) -> Result<()> {
    match trials.views() {
        1 => Ok(()),
        views => Err(ModelError::Impossible {
            op: OP,
            why: format!("the trials have {views} views, but `recommended-1` takes one"),
            remedy: "prepare the trials with one view, or train a model `recommended`",
        }),
    }
}
