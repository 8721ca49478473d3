//! Calibration on the spot: the cued trials of somebody, as they are recorded, teach the model.
//!
//! A trial is decided first and learnt from afterwards, so that what the session scores is honest.
//! From the moment every class has been seen, each further trial gives a model calibrated with all
//! labels so far ([`FittedModel::calibrate`]), and the session goes on with it.

use stiefel_data::{Factor, Role, TrialId, Trials};
use stiefel_linalg::MatBatch;
use stiefel_model::{AdaptPolicy, FittedModel, ModelError};

use crate::window::{Status, Window};
use crate::{Result, Session};

/// Labelled trials of one person, and the model they calibrate.
#[derive(Debug)]
pub struct Calibration {
    start: FittedModel,
    domain: String,
    adapt: Option<AdaptPolicy>,
    /// All views of a trial, one after the other.
    trials: Vec<Vec<f64>>,
    classes: Vec<usize>,
    /// The trials, where the source is a recording.
    identities: Vec<TrialId>,
    used: usize,
    model: Option<FittedModel>,
}

impl Calibration {
    /// Of a model, for the trials of a domain. `adapt` is the policy of the session; one that
    /// learns from unlabelled windows goes on doing so under the calibrated model.
    pub fn new(model: &FittedModel, domain: &str, adapt: Option<&AdaptPolicy>) -> Self {
        Self {
            start: model.clone(),
            domain: domain.to_owned(),
            adapt: adapt.copied(),
            trials: Vec::new(),
            classes: Vec::new(),
            identities: Vec::new(),
            used: 0,
            model: None,
        }
    }

    /// How many labelled trials there are of every class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.start.classes().len()];
        for &class in &self.classes {
            counts[class] += 1;
        }
        counts
    }

    /// The model calibrated with all labels so far, once every class was seen.
    pub fn model(&self) -> Option<&FittedModel> {
        self.model.as_ref()
    }

    /// Keeps a window whose cue had a label; rejected and unfamiliar ones are no trials, and those
    /// that the model was made with count once.
    pub(crate) fn take(&mut self, window: &Window<'_>) {
        let cue = window.cue.filter(|cue| cue.seen == Role::New);
        let class = cue.and_then(|cue| cue.class);
        let usable = matches!(window.status, Status::Decided | Status::Undecided);
        if let (Some(class), Some(covariances), true) = (class, window.covariances, usable) {
            self.trials.push(covariances.to_vec());
            self.classes.push(class);
            self.identities
                .extend(cue.and_then(|cue| cue.trial).cloned());
        }
    }

    /// Calibrates with the trials that are new, and lets the session go on with the model.
    pub(crate) fn teach(&mut self, session: &mut Session) -> Result<()> {
        if self.used == self.trials.len() || self.counts().contains(&0) {
            return Ok(());
        }
        self.used = self.trials.len();
        let model = self.start.calibrate(&self.labelled()?)?;
        session.exchange(
            &model,
            model.session(&self.domain, self.adapt.as_ref(), &[])?,
        )?;
        self.model = Some(model);
        Ok(())
    }

    fn labelled(&self) -> Result<Trials> {
        let (n, count) = (self.start.channel_count(), self.trials.len());
        let view = |v: usize| {
            let each = self
                .trials
                .iter()
                .flat_map(|t| &t[v * n * n..(v + 1) * n * n]);
            MatBatch::from_vec(count, n, n, each.copied().collect()).map_err(ModelError::from)
        };
        let names = self.start.classes().to_vec();
        let classes =
            Factor::new("class", names, self.classes.clone()).map_err(ModelError::from)?;
        let domains = Factor::from_labels(vec![self.domain.as_str(); count]);
        let mut trials = Trials::new(view(0)?, classes, domains).map_err(ModelError::from)?;
        for v in 1..self.start.view_count() {
            trials = trials.with_view(view(v)?).map_err(ModelError::from)?;
        }
        if let Some(channels) = self.start.channels() {
            trials = trials
                .with_channels(channels.to_vec())
                .map_err(ModelError::from)?;
        }
        if self.identities.len() == count {
            let known = &self.identities;
            trials = trials.with_identities(known).map_err(ModelError::from)?;
        }
        Ok(trials.with_preparation(self.start.preparation().clone()))
    }
}
