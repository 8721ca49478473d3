//! One window: is its signal sound, is it familiar, what does the model say?

use stiefel_model::precondition::Adaptation;
use stiefel_model::tolerance::ADAPTATION_WINDOWS;

use super::Session;
use crate::Result;
use crate::clock::Clock;
use crate::cues::Cue;
use crate::quality::Reason;
use crate::window::{CueOf, Event, Fault, Status, Window};
use stiefel_model::fitted::Familiarity;

impl Session {
    /// What is wrong with the signal from `start` to `end`, before the model has a look.
    fn fault(&mut self, start: i64, end: i64) -> Option<(Reason, Option<usize>)> {
        let (began, settled) = (self.chain.began() as i64, self.chain.settled() as i64);
        let oldest = self.chain.samples() as i64 - self.timing.memory() as i64;
        if start < 0 || (start < oldest && start >= began) {
            return Some((Reason::Late, None));
        }
        if start < began {
            return Some(self.broken);
        }
        if start < settled {
            return Some((Reason::Settling, None));
        }
        if self.clock.as_ref().is_some_and(Clock::is_off) {
            return Some((Reason::Rate, None));
        }
        let from = start as u64 + self.quality.looked(start);
        self.quality.look(self.raw.frames(from, end as u64));
        self.quality
            .verdict(self.raw.frames(start as u64, end as u64))
    }

    /// Does what can be done by now of the next window, so that less is left to do after its last
    /// sample.
    pub(super) fn anticipate(&mut self) {
        let end = self.next.min(self.cues.next_end());
        if end == i64::MAX {
            return;
        }
        let sample = end - self.timing.last;
        let (start, now) = (sample + self.timing.first, self.chain.samples());
        // Of what will be rejected nothing is computed, and of what is over nothing is left.
        if start < self.chain.settled() as i64 || start >= now as i64 || end <= now as i64 {
            return;
        }
        let from = start as u64 + self.quality.looked(start);
        self.quality.look(self.raw.frames(from, now));
        for (view, from) in self.timing.starts.iter().enumerate() {
            self.chain.anticipate(view, (sample + from) as u64);
        }
    }

    /// Decides the last window once more, for nobody, where the next block will bring the end of a
    /// window. Between two windows a processor forgets what it needs for a decision, and
    /// to fetch it again takes as long as to decide. For callers that have to wait for the next
    /// block anyway.
    pub fn rehearse(&mut self) {
        let end = self.next.min(self.cues.next_end());
        let left = end.saturating_sub(self.chain.samples() as i64);
        if !self.decided || left > self.arrived as i64 {
            return;
        }
        let size = self.channels.len() * self.channels.len();
        if let Some(familiar) = &mut self.familiar {
            let _ = familiar.judge(&self.covariances[..size]);
        }
        self.decider.freeze(true);
        let _ = self.decider.decide(&self.covariances);
    }

    /// Decides the window of an event at `sample`, and tells.
    pub(super) fn decide(&mut self, sample: i64, cue: Option<&Cue>, on: &mut dyn FnMut(Event<'_>)) {
        let (start, end) = (sample + self.timing.first, sample + self.timing.last);
        let time = end as f64 / self.timing.rate;
        let mut within = None;
        if cue.is_none() {
            let (trial, new) = self.cues.within(end, self.timing.rate);
            if new {
                self.evidence.reset();
            }
            within = trial;
        }
        let mut detail = None;
        let fault = self.fault(start, end);
        let looked = !matches!(
            fault,
            Some((
                Reason::Late
                    | Reason::Gap
                    | Reason::Settling
                    | Reason::Rate
                    | Reason::Short
                    | Reason::NonFinite,
                _
            ))
        );
        let judged = match fault {
            Some(fault) => Err(fault),
            None => self.judged(sample, start, cue.is_some()).map_err(|error| {
                detail = Some(error.to_string());
                (Reason::Model, None)
            }),
        };
        let status = match judged {
            Err(_) => Status::Rejected,
            Ok(Judged {
                familiarity: Some(f),
                ..
            }) if f.unfamiliar => Status::Unfamiliar,
            Ok(_) => {
                if cue.is_none() {
                    self.evidence.add(time, &self.probabilities);
                }
                let top = self.probabilities.iter().copied().fold(0.0, f64::max);
                match self.options.threshold {
                    Some(threshold) if top < threshold => Status::Undecided,
                    _ => Status::Decided,
                }
            }
        };
        let decided = judged.ok();
        let class = stiefel_linalg::argmax(&self.probabilities);
        on(Event::Window(Window {
            start,
            end,
            time,
            stamp: self.clock.as_ref().and_then(|c| {
                let behind = end - self.chain.samples() as i64;
                Some(c.time()? + behind as f64 / c.rate())
            }),
            status,
            fault: judged.err().map(|(reason, channel)| Fault {
                reason,
                channel: channel.map(|c| self.channels[c].as_str()),
                detail: detail.take(),
            }),
            class: (status == Status::Decided).then_some(class),
            probabilities: decided.map(|_| &self.probabilities[..]),
            routing: decided.filter(|d| d.routed).map(|_| &self.routing[..]),
            contributions: decided
                .and_then(|_| self.decider.contributions())
                .filter(|c| c.len() > 1),
            evidence: match cue {
                Some(_) => None,
                None => self.evidence.get(),
            },
            familiarity: decided.and_then(|d| d.familiarity),
            cue: cue.map(|cue| CueOf {
                label: self.cues.label(cue),
                class: cue.class,
                sample: cue.sample,
                trial: cue.trial.as_ref(),
                seen: cue.seen,
            }),
            within,
            classes: self.model.classes(),
            covariances: decided.map(|_| &self.covariances[..]),
            electrodes: looked.then(|| self.quality.electrodes()),
        }));
        if let Some(judged) = decided.filter(|d| d.learns) {
            self.learn(start, judged);
        }
    }

    /// Covariances, familiarity and probabilities of the window of an event. With a cue it is a
    /// trial, and one that is learnt from enters the running mean before it is decided, as
    /// trials do that are decided offline.
    fn judged(&mut self, sample: i64, start: i64, cued: bool) -> Result<Judged> {
        let size = self.channels.len() * self.channels.len();
        self.decided = false;
        for (v, out) in self.covariances.chunks_exact_mut(size).enumerate() {
            let at = sample + self.timing.starts[v];
            self.chain.covariance(v, at as u64, out)?;
        }
        let broad = &self.covariances[..size];
        let familiarity = match &mut self.familiar {
            Some(familiar) => familiar.judge(broad)?,
            None => None,
        };
        let strange = familiarity.is_some_and(|f| f.unfamiliar);
        // Windows that overlap would be counted several times, and what is strange is learnt from
        // by nobody.
        let learns = !strange
            && !self.options.freeze
            && start >= self.learnt.0
            && self.learnt.1 < ADAPTATION_WINDOWS;
        self.decider.freeze(!(learns && cued));
        let decision = self.decider.decide(&self.covariances)?;
        self.probabilities.copy_from_slice(decision.probabilities);
        if let Some(routing) = decision.routing {
            self.routing.copy_from_slice(routing);
        }
        self.decided = true;
        Ok(Judged {
            familiarity,
            routed: decision.routing.is_some(),
            learns,
            entered: learns && cued,
        })
    }

    /// Learns from the window that was decided last. Its line has been written: to take a window
    /// into the mean of somebody new takes ten times as long as to decide it.
    fn learn(&mut self, start: i64, judged: Judged) {
        let causal = matches!(self.decider.whitening(), Some(Adaptation::Causal { .. }));
        if causal && !judged.entered {
            self.decider.freeze(false);
            // What the mean refuses leaves it as it was, and the window has been decided.
            if self.decider.decide(&self.covariances).is_err() {
                return;
            }
        }
        self.learnt = (start + self.timing.span() as i64, self.learnt.1 + 1);
        let broad = &self.covariances[..self.channels.len() * self.channels.len()];
        if let Some(familiar) = &mut self.familiar {
            // A mean that cannot be measured by leaves the one before.
            let _ = familiar.learn(
                &self.model,
                self.decider.domain(),
                broad,
                judged.familiarity,
            );
        }
    }
}

/// What was found of a window that was decided.
#[derive(Debug, Clone, Copy)]
struct Judged {
    familiarity: Option<Familiarity>,
    /// Whether there is routing.
    routed: bool,
    /// Whether it is learnt from, and whether it has entered the running mean already.
    learns: bool,
    entered: bool,
}
