//! Training: mini-batches, early stopping on the validation set, the best epoch restored.
//!
//! Progress, logging and checkpoints are [`Observer`]s; the algorithm knows none of them. Every
//! epoch draws its order from a stream of its own, so a run resumed from a [`Checkpoint`] ends in
//! the same bits as one that was never stopped.

mod config;
mod evaluate;
mod objective;
mod observe;

pub use config::TrainConfig;
pub use evaluate::{Evaluation, evaluate};
pub use observe::{EpochRecord, Flow, Observer, Silent, TrainingRecord};

use crate::csp::CspState;
use crate::net::{Network, Routing};
use crate::optim::{Adam, Moments};
use crate::{Batch, ModelError, Parameters, Prepared, Result, random};
use objective::objective;
use stiefel_autodiff::Tape;
use stiefel_linalg::{MatBatch, Scalar, with_threads_spinning};

/// Everything a run needs to go on as if it had never stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint<T> {
    /// Current parameters.
    pub parameters: Parameters<T>,
    /// The optimiser's moments, in the order of the parameters.
    pub moments: Vec<Moments<T>>,
    /// The running class means of the CSP targets, where the network has that loss.
    pub csp: Option<CspState>,
    /// The best parameters so far and the epoch they are of.
    pub best: Option<(usize, Parameters<T>)>,
    /// The epochs done.
    pub history: Vec<EpochRecord>,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All epochs were done.
    Completed,
    /// The validation score had not improved for `patience` epochs.
    EarlyStop,
    /// An observer asked for it.
    Cancelled,
}

/// A trained network.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted<T> {
    /// The parameters of the best epoch.
    pub parameters: Parameters<T>,
    /// Which epoch that was.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Why it ended.
    pub ended: Ended,
}

/// Trains a network from a seed, and from what its options fit on the training set beforehand.
pub fn train<T: Scalar>(
    network: &dyn Network<T>,
    training: &Prepared<T>,
    validation: &Prepared<T>,
    config: &TrainConfig,
    observer: &mut dyn Observer,
) -> Result<Fitted<T>> {
    let parameters = network.initial_for(config.seed, training)?;
    train_from(network, training, validation, config, parameters, observer)
}

/// Trains a network from given parameters, with an optimiser that has seen nothing yet.
pub fn train_from<T: Scalar>(
    network: &dyn Network<T>,
    training: &Prepared<T>,
    validation: &Prepared<T>,
    config: &TrainConfig,
    parameters: Parameters<T>,
    observer: &mut dyn Observer,
) -> Result<Fitted<T>> {
    let moments = Adam::new(config.adam, &parameters)?.moments().to_vec();
    let start = Checkpoint {
        parameters,
        moments,
        csp: None,
        best: None,
        history: Vec::new(),
    };
    resume(network, training, validation, config, start, observer)
}

/// Goes on from a checkpoint made with the same network, data and configuration.
pub fn resume<T: Scalar>(
    network: &dyn Network<T>,
    training: &Prepared<T>,
    validation: &Prepared<T>,
    config: &TrainConfig,
    start: Checkpoint<T>,
    observer: &mut dyn Observer,
) -> Result<Fitted<T>> {
    config.check()?;
    for (split, what) in [(training, "training"), (validation, "validation")] {
        if split.is_empty() {
            return Err(ModelError::Impossible {
                op: "training",
                why: format!("the {what} set is empty"),
                remedy: "give every (domain, class) cell enough trials for all parts of the split",
            });
        }
    }
    let mut run = Run {
        network,
        config,
        tape: Tape::new(),
        state: start,
    };
    let ended = loop {
        if let Some(ended) = run.finished() {
            break ended;
        }
        let Some(record) = run.epoch(training, validation, observer)? else {
            break Ended::Cancelled;
        };
        if observer.epoch(&record, &run.state) == Flow::Stop {
            break Ended::Cancelled;
        }
    };
    let Checkpoint {
        parameters,
        best,
        history,
        ..
    } = run.state;
    let (best_epoch, parameters) = best.unwrap_or((0, parameters));
    Ok(Fitted {
        parameters,
        best_epoch,
        history,
        ended,
    })
}

struct Run<'a, T: Scalar> {
    network: &'a dyn Network<T>,
    config: &'a TrainConfig,
    tape: Tape<T>,
    state: Checkpoint<T>,
}

impl<T: Scalar> Run<'_, T> {
    fn finished(&self) -> Option<Ended> {
        let done = self.state.history.len();
        let best = self
            .state
            .best
            .as_ref()
            .map_or(done, |(epoch, _)| epoch + 1);
        if done >= self.config.epochs {
            Some(Ended::Completed)
        } else if done >= best + self.config.patience {
            Some(Ended::EarlyStop)
        } else {
            None
        }
    }

    /// One epoch; `None`, and the state as before, where the observer stopped it half-way.
    fn epoch(
        &mut self,
        training: &Prepared<T>,
        validation: &Prepared<T>,
        observer: &mut dyn Observer,
    ) -> Result<Option<EpochRecord>> {
        let epoch = self.state.history.len();
        let mut rng = random::stream(self.config.seed, "batches", epoch as u64);
        let order = random::permutation(&mut rng, training.len());
        let mut parameters = self.state.parameters.clone();
        let moments = self.state.moments.clone();
        let mut adam = Adam::resume(self.config.adam, &parameters, moments)?;
        let mut csp = self.state.csp.clone();
        let mut sums = observe::Sums::default();
        let mut batches = order
            .chunks(self.config.batch)
            .map(|indices| training.batch(indices))
            .peekable();
        let work = batches.peek().map_or(0, Batch::work);
        // Threads stay awake between steps, and are called again at each: an observer may have
        // tried their patience.
        let flow = with_threads_spinning(work, || -> Result<Flow> {
            for batch in batches {
                with_threads_spinning(work, || {
                    self.step(&batch, &mut parameters, &mut adam, &mut csp, &mut sums)
                })?;
                if observer.step(epoch) == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            Ok(Flow::Continue)
        })?;
        if flow == Flow::Stop {
            return Ok(None);
        }
        let scores = evaluate(self.network, &parameters, validation, Routing::Learnt)?;
        let counts = (epoch, training.len());
        let record = sums.record(self.network, counts, &scores, validation, &parameters)?;
        let better = self
            .state
            .best
            .as_ref()
            .is_none_or(|(best, _)| record.better_than(&self.state.history[*best]));
        self.state.parameters = parameters;
        self.state.moments = adam.moments().to_vec();
        self.state.csp = csp;
        self.state.history.push(record.clone());
        if better {
            self.state.best = Some((epoch, self.state.parameters.clone()));
        }
        Ok(Some(record))
    }

    fn step(
        &mut self,
        batch: &Batch<'_, T>,
        parameters: &mut Parameters<T>,
        adam: &mut Adam<T>,
        csp: &mut Option<CspState>,
        sums: &mut observe::Sums,
    ) -> Result<()> {
        self.tape.reset();
        let bound = self.network.bind(&self.tape, parameters)?;
        let outputs = self
            .network
            .forward(&self.tape, &bound, batch, Routing::Learnt)?;
        let losses = objective(self.network, &outputs, batch, csp)?;
        let scores = outputs.routed.map(|r| r.scores.keep_gradient());
        let gradients = self.tape.backward(losses.total)?;
        sums.add(
            batch.indices.len(),
            &losses,
            &outputs,
            scores.and_then(|s| gradients.get(s)),
        );
        adam.step(parameters, |i| gradients.get(bound.leaves[i]))?;
        parameters.update(&outputs.state)
    }
}

/// One step of training on one batch, for benchmarks and tests: forward, backward, update. Gives
/// the loss.
#[derive(Debug)]
pub struct Stepper<T: Scalar> {
    tape: Tape<T>,
    adam: Adam<T>,
    csp: Option<CspState>,
    /// The parameters as they stand.
    pub parameters: Parameters<T>,
}

impl<T: Scalar> Stepper<T> {
    /// From given parameters.
    pub fn new(adam: crate::AdamConfig, parameters: Parameters<T>) -> Result<Self> {
        let adam = Adam::new(adam, &parameters)?;
        Ok(Self {
            tape: Tape::new(),
            adam,
            csp: None,
            parameters,
        })
    }

    /// One step; gives the total loss before it.
    pub fn step(&mut self, network: &dyn Network<T>, batch: &Batch<'_, T>) -> Result<f64> {
        self.steps(network, std::slice::from_ref(batch))
    }

    /// Steps that follow each other, as in an epoch; gives the total loss before the last.
    pub fn steps(&mut self, network: &dyn Network<T>, batches: &[Batch<'_, T>]) -> Result<f64> {
        let work = batches.first().map_or(0, Batch::work);
        with_threads_spinning(work, || {
            let mut loss = f64::NAN;
            for batch in batches {
                loss = with_threads_spinning(work, || self.step_here(network, batch))?;
            }
            Ok(loss)
        })
    }

    fn step_here(&mut self, network: &dyn Network<T>, batch: &Batch<'_, T>) -> Result<f64> {
        self.tape.reset();
        let bound = network.bind(&self.tape, &self.parameters)?;
        let outputs = network.forward(&self.tape, &bound, batch, Routing::Learnt)?;
        let total = objective(network, &outputs, batch, &mut self.csp)?.total;
        let gradients = self.tape.backward(total)?;
        self.adam
            .step(&mut self.parameters, |i| gradients.get(bound.leaves[i]))?;
        self.parameters.update(&outputs.state)?;
        Ok(total.item().unwrap_or(f64::NAN))
    }
}

/// The largest `|WᵀW − I|` over all orthonormal parameters; 0 where there is none.
pub fn orthonormality_defect<T: Scalar>(parameters: &Parameters<T>) -> Result<f64> {
    let mut worst = 0.0_f64;
    for parameter in parameters.iter().filter(|p| p.is_orthonormal()) {
        let point: MatBatch<f64> = parameter.point()?.cast();
        let defects = stiefel_geometry::stiefel::orthonormality_defect(point.view())?;
        worst = defects.into_iter().fold(worst, f64::max);
    }
    Ok(worst)
}
