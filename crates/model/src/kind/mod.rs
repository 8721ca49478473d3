//! A kind of model, and what it has fitted.
//!
//! A [`Kind`] knows its name, its settings, how a model of it is fitted and how its file is read. A
//! [`Model`] is what a kind has fitted: it starts decisions for a domain, writes its file, and says
//! what a report shows of it. Whoever holds a model holds a [`FittedModel`](crate::FittedModel) and
//! asks it; nothing outside the [`registry`](crate::registry) depends on which kinds there are.

mod balance;
mod decided;
mod model;
pub mod settings;
mod spec;

pub use crate::names::Names;
pub use balance::Balance;
pub use decided::Decided;
pub use model::{Describe, Engine, Examination, Model, Picture, Start};
pub use spec::ModelSpec;

use crate::diagnostics::RoutedBy;
use crate::file::{Archive, Found};
use crate::scaling::Recommendation;
use crate::train::Observer;
use crate::{ModelError, Result};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use stiefel_data::Trials;

/// Sizes of the data that default settings may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSizes {
    /// Channels.
    pub channels: usize,
    /// Training domains.
    pub domains: usize,
}

/// A kind of model.
pub trait Kind: fmt::Debug + Sync {
    /// Returns the name in settings, files, tables and messages.
    fn name(&self) -> &'static str;

    /// Describes it in one line.
    fn about(&self) -> &'static str;

    /// Lists named variants: settings that are given together often enough to have a name.
    fn variants(&self) -> &'static [Variant] {
        &[]
    }

    /// Returns the complete settings of the kind, or of a variant, on data of these sizes.
    ///
    /// `given` holds settings that decide others, such as where the sizes of a network come from;
    /// the caller sets all of them afterwards.
    fn defaults(&self, variant: Option<&str>, given: &Value, sizes: DataSizes) -> Result<Value>;

    /// Returns the schema of its settings: what each is, its type and its range.
    fn schema(&self) -> &'static Value;

    /// Checks rules between settings whose types and ranges are right.
    fn check(&self, _settings: &Value) -> Result<()> {
        Ok(())
    }

    /// Tells whether a model takes all views of a trial, rather than one.
    fn takes_views(&self) -> bool;

    /// Tells whether it is a peer, which others are compared with.
    fn is_peer(&self) -> bool {
        false
    }

    /// Tells what its routing depends on.
    fn routed_by(&self) -> RoutedBy {
        RoutedBy::Trial
    }

    /// Tells whether anything is done for a domain without training trials.
    fn adapts(&self) -> bool {
        true
    }

    /// Tells whether labelled trials of a domain calibrate a model of so many classes.
    fn calibrates(&self, _class_count: usize) -> bool {
        false
    }

    /// Tells whether a model fitted on the training trials is fitted once more on training and
    /// validation trials together.
    fn refits(&self, _settings: &Value) -> bool {
        false
    }

    /// Returns the settings of the control with a single expert, where trials are routed.
    fn single_expert(&self, _settings: &Value) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Explains sizes that a rule chose for data of these sizes.
    fn scaling(&self, _settings: &Value, _sizes: DataSizes) -> Result<Option<Recommendation>> {
        Ok(None)
    }

    /// Returns the number of steps that a fit reports to its observer; 0 where it cannot know.
    fn steps(&self, _settings: &Value, _training_count: usize) -> usize {
        0
    }

    /// Fits a model.
    fn fit(&'static self, settings: &Value, trials: Fit<'_>) -> Result<Arc<dyn Model>>;

    /// Reads a model with these names from its file.
    fn read(&'static self, names: Names, file: &mut Archive) -> Found<Arc<dyn Model>>;
}

/// A named variant of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// The name, distinct among all kinds and variants.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether it takes all views of a trial.
    pub all_views: bool,
}

/// Trials to fit on, and who watches.
pub struct Fit<'a> {
    /// Training trials.
    pub training: &'a Trials,
    /// Trials that choose an epoch or a penalty.
    pub validation: &'a Trials,
    /// A fitted model of the same kind to go on from.
    pub start: Option<&'a dyn Model>,
    /// Watches, and may stop the fit.
    pub observer: &'a mut dyn Observer,
}

impl fmt::Debug for Fit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (training, validation) = (self.training.len(), self.validation.len());
        write!(
            f,
            "Fit({training} training trials, {validation} for validation)"
        )
    }
}

impl Fit<'_> {
    /// Refuses a start from a fitted model, for kinds that are solved exactly.
    pub fn refuse_start(&self) -> Result<()> {
        match self.start {
            None => Ok(()),
            Some(_) => Err(ModelError::Impossible {
                op: "warm start",
                why: "a model that is solved exactly cannot start from a fitted one".into(),
                remedy: "start afresh",
            }),
        }
    }
}
