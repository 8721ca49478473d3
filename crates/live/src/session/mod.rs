//! The state machine of live decoding: blocks of samples and markers in, events out.
//!
//! ```text
//! block ─▶ place on the grid ─▶ pick, unit ─▶ filters ─▶ window full? ─▶ safe? ─▶ familiar? ─▶ decide ─▶ evidence ─▶ event
//!            gap: filters restart, windows over it are rejected      │
//! marker ─────────────────────────────────────────▶ cued window ────┘
//! ```
//!
//! Without markers a window ends at every multiple of the hop; with them, where the window of a
//! training trial would end after the cue. What comes out does not depend on how samples were cut
//! into blocks. After the first window nothing is allocated for a decision that is not rejected (a
//! new domain's running mean excepted, which a window without a cue enters after it was told).

mod decide;
mod options;

pub use options::Options;

use stiefel_data::{Provenance, TrialId, View};
use stiefel_eeg::io::microvolts_per;
use stiefel_eeg::live::Live;
use stiefel_eeg::recipe::stream::Timing;
use stiefel_model::{AdaptPolicy, FittedModel};

use crate::block::{At, Block, Marker};
use crate::clock::Clock;
use crate::cues::Cues;
use crate::evidence::Evidence;
use crate::quality::{Quality, Reason};
use crate::ring::Ring;
use crate::stream::{Description, Fit, StreamSpec};
use crate::window::{Event, Gap};
use crate::{LiveError, Result};
use stiefel_model::fitted::FamiliarityCheck;

/// A model at work on one stream.
#[derive(Debug)]
pub struct Session {
    model: FittedModel,
    decider: stiefel_model::DecisionSession,
    options: Options,
    timing: Timing,
    channels: Vec<String>,
    views: Vec<View>,
    fit: Fit,
    chain: Live,
    raw: Ring,
    clock: Option<Clock>,
    quality: Quality,
    evidence: Evidence,
    familiar: Option<FamiliarityCheck>,
    cues: Cues,
    /// Samples of a hop, and where the next window ends.
    hop: Option<i64>,
    next: i64,
    /// Why the present stretch did not begin earlier.
    broken: (Reason, Option<usize>),
    /// Windows that begin before this overlap the last one that was learnt from, and how many
    /// these were.
    learnt: (i64, usize),
    /// Samples whose place is not clear yet, and whether each is short.
    waiting: (Vec<f64>, Vec<bool>),
    /// The stream was lost before the sample that comes next.
    interrupted: bool,
    good: Vec<f64>,
    /// Of every sample that waits for the chain, the mean that the reference takes off.
    shifts: Vec<f64>,
    /// Samples of the last block, and whether the covariances are those of a window that was
    /// decided.
    arrived: usize,
    decided: bool,
    covariances: Vec<f64>,
    probabilities: Vec<f64>,
    routing: Vec<f64>,
}

impl Session {
    /// A session of a model on a stream. `decider` says whose signal it is
    /// ([`FittedModel::session`]), `made` how the signal is treated: as the model's training
    /// trials were, where it knows that.
    pub fn new(
        model: &FittedModel,
        decider: stiefel_model::DecisionSession,
        made: &Provenance,
        stream: &Description,
        options: Options,
    ) -> Result<Self> {
        options.check()?;
        let (views, channels) = (made.views(), made.channels());
        if views.len() != model.view_count() || channels.len() != model.channel_count() {
            return Err(LiveError::setting(
                format!(
                    "{} views of {} channels were described, but the model takes {} of {}",
                    views.len(),
                    channels.len(),
                    model.view_count(),
                    model.channel_count()
                ),
                "describe the signal as it was for training",
            ));
        }
        let timing = Timing::new(made)?;
        let fit = Fit::new(stream, made)?;
        let chain = timing.chain(&made.recipe, options.filtered)?;
        let (n, classes) = (channels.len(), model.classes().len());
        let hop = options
            .hop
            .map(|h| (h * timing.rate).round_ties_even() as i64);
        if let Some(0) = hop {
            return Err(LiveError::setting(
                format!(
                    "a hop of {} s is less than a sample at {} Hz",
                    options.hop.unwrap_or(0.0),
                    timing.rate
                ),
                "give a longer hop",
            ));
        }
        let familiar = match options.unfamiliar {
            Some(limit) => FamiliarityCheck::new(model, decider.domain(), limit)?,
            None => None,
        };
        let first = chain.settled() as i64 + timing.span() as i64;
        Ok(Self {
            next: hop.map_or(i64::MAX, |h| (first + h - 1) / h * h),
            hop,
            raw: Ring::new(n, timing.memory()),
            clock: None,
            quality: Quality::new(n, timing.rate, microvolts_per(&made.unit)),
            evidence: Evidence::new(classes, options.time_constant),
            cues: Cues::new(
                &made.recipe.classes,
                model.classes(),
                options.class_cues,
                &options.cues,
            ),
            broken: (Reason::Settling, None),
            learnt: (i64::MIN, 0),
            waiting: (Vec::new(), Vec::new()),
            interrupted: false,
            good: Vec::new(),
            shifts: Vec::new(),
            arrived: 0,
            decided: false,
            covariances: vec![0.0; model.view_count() * n * n],
            probabilities: vec![0.0; classes],
            routing: vec![0.0; model.expert_count().unwrap_or(0)],
            channels: channels.to_vec(),
            views: views.to_vec(),
            model: model.clone(),
            decider,
            options,
            timing,
            fit,
            chain,
            familiar,
        })
    }

    /// Starts on the signal of a domain whose stream somebody describes, treated as the model says.
    /// `adapt` is what is done for a domain that the model does not know, and lets the mean of one
    /// that it knows from calibration alone go on ([`FittedModel::policy_applies`]); for others it
    /// is not looked at.
    pub fn for_stream(
        model: &FittedModel,
        domain: &str,
        adapt: Option<&AdaptPolicy>,
        stream: &StreamSpec,
        options: Options,
    ) -> Result<Self> {
        let Some(made) = model.preparation().known() else {
            return Err(LiveError::setting(
                "the model does not know how its training trials were made from a signal",
                "train it on trials that know this (load_dataset or from_epochs in Python, \
                 `stiefel prepare`)",
            ));
        };
        let mut made = made.clone();
        if let Some(channels) = model.channels() {
            made.recipe.channels = Some(channels.to_vec());
        }
        let adapt = adapt.filter(|u| model.policy_applies(domain, u, false));
        let decider = model.session(domain, adapt, &[])?;
        let stream = stream.description(&made);
        Self::new(model, decider, &made, &stream, options)
    }

    /// What had to be assumed of the stream, and what cannot be checked, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.fit.notes.clone();
        notes.extend(self.decider.note());
        if self.options.unfamiliar.is_some() && self.familiar.is_none() {
            notes.push(
                "the model does not know how far its training trials lie from their mean; the \
                 check whether windows are familiar is not made"
                    .into(),
            );
        }
        notes
    }

    /// The model.
    pub fn model(&self) -> &FittedModel {
        &self.model
    }

    /// The channels, in the order of the model.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Bands and windows of the views, in the order of the model.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// Values in a sample of the stream.
    pub fn width(&self) -> usize {
        self.fit.width
    }

    /// Whose signal it is.
    pub fn domain(&self) -> &str {
        self.decider.domain()
    }

    /// The windows in samples.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Seconds from one window to the next, where windows do not wait for cues.
    pub fn hop(&self) -> Option<f64> {
        self.hop.map(|samples| samples as f64 / self.timing.rate)
    }

    /// Samples so far, missing ones included.
    pub fn samples(&self) -> u64 {
        self.chain.samples()
    }

    /// The clock of the stream, where its samples are stamped.
    pub fn clock(&self) -> Option<&Clock> {
        self.clock.as_ref()
    }

    /// Whether what is learnt from unlabelled windows stays as it is from now on.
    pub fn freeze(&mut self, frozen: bool) {
        self.options.freeze = frozen;
    }

    /// Goes on with another model of the same trials, from the next window on: one that was
    /// calibrated.
    pub fn exchange(
        &mut self,
        model: &FittedModel,
        decider: stiefel_model::DecisionSession,
    ) -> Result<()> {
        let same = model.classes() == self.model.classes()
            && model.view_count() == self.model.view_count()
            && model.channel_count() == self.model.channel_count();
        if !same {
            return Err(LiveError::setting(
                "the model has other classes, views or channels",
                "exchange a model for one that was calibrated from it",
            ));
        }
        if let Some(limit) = self.options.unfamiliar {
            self.familiar = FamiliarityCheck::new(model, decider.domain(), limit)?;
        }
        self.model = model.clone();
        self.decider = decider;
        Ok(())
    }

    /// Takes in samples and markers, and says what there is to say.
    pub fn push(&mut self, block: &Block, on: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        let (width, stamps) = (self.fit.width, &block.times);
        let count = block.samples.len() / width.max(1);
        if block.samples.len() != count * width || !(stamps.is_empty() || stamps.len() == count) {
            return Err(LiveError::failed(
                format!(
                    "a block of {} values and {} time stamps is not a whole number of samples of \
                     {width} channels",
                    block.samples.len(),
                    stamps.len()
                ),
                "pass all channels of the first sample, then of the second, and a stamp for each \
                 or none",
            ));
        }
        for marker in block
            .markers
            .iter()
            .filter(|m| matches!(m.at, At::Sample(_)))
        {
            self.mark(marker);
        }
        for (i, frame) in block.samples.chunks_exact(width).enumerate() {
            let short = block.short.contains(&i);
            if let Some(&stamp) = stamps.get(i) {
                self.place(stamp, frame, short, on)?;
            } else {
                if std::mem::take(&mut self.interrupted) {
                    self.gap(1, on)?;
                }
                self.take(frame, short, on)?;
            }
        }
        for marker in block.markers.iter().filter(|m| matches!(m.at, At::Time(_))) {
            self.mark(marker);
        }
        self.flush(on)?;
        self.arrived = count;
        self.anticipate();
        Ok(())
    }

    /// The stream was lost: before the next sample at least one is missing, whatever its stamp
    /// says.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// A marker. One with a time is placed by the clock of the samples that have arrived.
    fn mark(&mut self, marker: &Marker) {
        let sample = match marker.at {
            At::Sample(sample) => sample,
            At::Time(time) => {
                let last = self.now() - 1;
                let ahead = self.clock.as_ref().and_then(|c| c.samples_to(time));
                // Before the first sample nothing can be placed, and no trial lies.
                let Some(ahead) = ahead else { return };
                last + ahead.round() as i64
            }
        };
        let role = |trial: &TrialId| self.model.about().seen.role(trial);
        let seen = marker.trial.as_ref().map(role).unwrap_or_default();
        let trial = (marker.trial.clone(), seen);
        self.cues.mark(sample, &marker.label, trial, &self.timing);
    }

    /// The place of the next sample.
    fn now(&self) -> i64 {
        self.chain.samples() as i64 + (self.good.len() / self.channels.len()) as i64
    }

    /// Takes the next sample with its stamp. It waits until it has its place; what is missing
    /// before it becomes a gap.
    fn place(
        &mut self,
        stamp: f64,
        frame: &[f64],
        short: bool,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        let rate = self.timing.rate;
        self.clock
            .get_or_insert_with(|| Clock::new(rate))
            .offer(stamp);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.0.extend_from_slice(frame);
        waiting.1.push(short);
        let mut placed = 0;
        while let Some(missing) = self.clock.as_mut().and_then(Clock::place) {
            let missing = missing.max(u64::from(std::mem::take(&mut self.interrupted)));
            if missing > 0 {
                self.gap(missing, on)?;
            }
            let frame = &waiting.0[placed * self.fit.width..][..self.fit.width];
            self.take(frame, waiting.1[placed], on)?;
            placed += 1;
        }
        waiting.0.drain(..placed * self.fit.width);
        waiting.1.drain(..placed);
        self.waiting = waiting;
        Ok(())
    }

    /// Samples are missing before the next one.
    fn gap(&mut self, missing: u64, on: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        self.flush(on)?;
        let from = self.now();
        self.skip(missing, (Reason::Gap, None));
        let now = self.now();
        let mut windows = 0;
        if let Some(hop) = self.hop
            && self.next <= now
        {
            windows = ((now - self.next) / hop + 1) as u64;
            self.next += windows as i64 * hop;
        }
        on(Event::Gap(Gap {
            sample: from,
            samples: missing,
            time: from as f64 / self.timing.rate,
            windows,
        }));
        self.due(on);
        Ok(())
    }

    /// Samples that are missing, or are as good as that.
    fn skip(&mut self, count: u64, why: (Reason, Option<usize>)) {
        self.chain.skip(count);
        self.raw.skip(count);
        self.broken = why;
        self.evidence.reset();
    }

    /// Takes one sample of the stream.
    fn take(&mut self, frame: &[f64], short: bool, on: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        let first = self.good.len();
        self.good.extend(
            self.fit
                .picks
                .iter()
                .map(|&(at, factor)| frame[at] * factor),
        );
        let lost = |&(at, _): &(usize, f64)| !frame[at].is_finite();
        let bad = self.good[first..].iter().position(|x| !x.is_finite());
        let short = short || (bad.is_none() && self.fit.reference.iter().any(lost));
        if bad.is_some() || short {
            self.good.truncate(first);
            self.flush(on)?;
            let why = if short {
                (Reason::Short, None)
            } else {
                (Reason::NonFinite, bad)
            };
            self.skip(1, why);
            self.due(on);
            return Ok(());
        }
        if !self.fit.reference.is_empty() {
            let mean = 1.0 / self.fit.reference.len() as f64;
            let values = self
                .fit
                .reference
                .iter()
                .map(|&(at, factor)| frame[at] * factor);
            self.shifts.push(values.map(|x| x * mean).sum());
        }
        if self.now() >= self.next.min(self.cues.next_end()) {
            self.flush(on)?;
        }
        Ok(())
    }

    /// Filters what was gathered, and decides the windows that are full.
    fn flush(&mut self, on: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        if !self.good.is_empty() {
            // Electrodes are judged as they come, before the reference is taken off.
            self.raw.push(&self.good);
            let frames = self.good.chunks_exact_mut(self.channels.len());
            for (frame, shift) in frames.zip(self.shifts.drain(..)) {
                for x in frame.iter_mut() {
                    *x -= shift;
                }
            }
            self.chain.push(&self.good)?;
            self.good.clear();
        }
        self.due(on);
        Ok(())
    }

    /// Decides the windows that end by now.
    fn due(&mut self, on: &mut dyn FnMut(Event<'_>)) {
        let now = self.chain.samples() as i64;
        while let Some(cue) = self.cues.take(now) {
            self.decide(cue.sample, Some(&cue), on);
        }
        while let Some(hop) = self.hop.filter(|_| self.next <= now) {
            let end = self.next;
            self.next += hop;
            self.decide(end - self.timing.last, None, on);
        }
    }
}
