//! What is behind the handle, in safe code: a session, and the decisions that wait to be taken.

use std::collections::VecDeque;
use std::ffi::{CString, c_int};

use stiefel_live::{
    At, Block, Event, LiveError, Marker, Options, Reason, Session, Status, StreamSpec,
};
use stiefel_model::precondition::Adaptation;
use stiefel_model::{AdaptPolicy, FittedModel};

use crate::types::{
    StiefelAdapt, StiefelCode, StiefelDecision, StiefelKind, StiefelOptions, StiefelStatus,
};

/// Decisions that may wait before no more samples are taken in.
const WAITING: usize = 4096;

/// A code and what to say.
pub(crate) type Refusal = (StiefelCode, String);

/// A model at work on a stream. It is not to be used by two threads at once.
#[derive(Debug)]
pub struct StiefelSession {
    session: Session,
    block: Block,
    waiting: VecDeque<StiefelDecision>,
    /// Of every window that waits: probabilities, then evidence, NaN where there is none.
    values: VecDeque<f64>,
    classes: Vec<CString>,
    notes: CString,
    width: usize,
    /// A panic left it half way.
    pub(crate) broken: bool,
}

fn live(error: &LiveError) -> Refusal {
    let code = match error {
        LiveError::Mismatch { .. } => StiefelCode::Mismatch,
        LiveError::Setting { .. } | LiveError::Model(_) => StiefelCode::Setting,
        _ => StiefelCode::Failed,
    };
    (code, error.to_string())
}

/// Text for C; a zero within it would end it there.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// The options of a session, and what is done for somebody whom the model does not know.
fn options(given: &StiefelOptions) -> Result<(Options, Option<AdaptPolicy>), Refusal> {
    let adapt = match given.adapt {
        n if n == StiefelAdapt::Refused as c_int => None,
        n if n == StiefelAdapt::Pooled as c_int => Some(Adaptation::Pooled),
        n if n == StiefelAdapt::Causal as c_int => Some(Adaptation::Causal {
            kappa: Adaptation::DEFAULT_KAPPA,
        }),
        other => {
            return Err((
                StiefelCode::Setting,
                format!(
                    "the option adapt is {other}; give STIEFEL_ADAPT_REFUSED, \
                     STIEFEL_ADAPT_POOLED or STIEFEL_ADAPT_CAUSAL"
                ),
            ));
        }
    };
    // Zero switches off; what is neither zero nor sensible is refused by the session.
    let unless_zero = |x: f64| (x != 0.0).then_some(x);
    Ok((
        Options {
            hop: unless_zero(given.hop),
            threshold: unless_zero(given.threshold),
            time_constant: given.time_constant,
            unfamiliar: unless_zero(given.unfamiliar),
            freeze: given.freeze,
            ..Options::default()
        },
        adapt.map(AdaptPolicy::from),
    ))
}

impl StiefelSession {
    pub(crate) fn open(
        path: &str,
        domain: &str,
        stream: &StreamSpec,
        given: &StiefelOptions,
    ) -> Result<Self, Refusal> {
        let (options, adapt) = options(given)?;
        let model = FittedModel::load(path).map_err(|e| (StiefelCode::File, e.to_string()))?;
        let useless = |u: &AdaptPolicy| !model.policy_applies(domain, u, false);
        if adapt.as_ref().is_some_and(useless) {
            return Err((
                StiefelCode::Setting,
                format!(
                    "the model was trained on domain \"{domain}\"; the option adapt is for \
                     others, leave it STIEFEL_ADAPT_REFUSED"
                ),
            ));
        }
        let session = Session::for_stream(&model, domain, adapt.as_ref(), stream, options);
        let session = session.map_err(|e| live(&e))?;
        Ok(Self {
            classes: model.classes().iter().map(|c| c_text(c)).collect(),
            notes: c_text(&session.notes().join("\n")),
            width: session.width(),
            session,
            block: Block::default(),
            waiting: VecDeque::new(),
            values: VecDeque::new(),
            broken: false,
        })
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn classes(&self) -> &[CString] {
        &self.classes
    }

    pub(crate) fn notes(&self) -> &CString {
        &self.notes
    }

    pub(crate) fn freeze(&mut self, frozen: bool) {
        self.session.freeze(frozen);
    }

    pub(crate) fn interrupt(&mut self) {
        self.session.interrupt();
    }

    /// A cue at a sample, counted from the first one, for the next block.
    pub(crate) fn mark(&mut self, sample: i64, label: &str) -> Result<(), Refusal> {
        if self.block.markers.len() >= WAITING {
            return Err((
                StiefelCode::Full,
                format!("{WAITING} cues wait; push samples before more come"),
            ));
        }
        self.block
            .markers
            .push(Marker::new(At::Sample(sample), label));
        Ok(())
    }

    pub(crate) fn push(&mut self, samples: &[f64], times: Option<&[f64]>) -> Result<(), Refusal> {
        if self.waiting.len() >= WAITING {
            return Err((
                StiefelCode::Full,
                format!(
                    "{} decisions wait; take them with stiefel_take before more samples come",
                    self.waiting.len()
                ),
            ));
        }
        self.block.samples.clear();
        self.block.samples.extend_from_slice(samples);
        self.block.times.clear();
        self.block.times.extend_from_slice(times.unwrap_or(&[]));
        let (waiting, values) = (&mut self.waiting, &mut self.values);
        let classes = self.classes.len();
        let outcome = self.session.push(&self.block, &mut |event| {
            waiting.push_back(decision(&event));
            let (p, e) = match &event {
                Event::Window(w) => (w.probabilities, w.evidence),
                Event::Gap(_) => (None, None),
            };
            for given in [p, e] {
                values.extend((0..classes).map(|c| given.map_or(f64::NAN, |g| g[c])));
            }
        });
        self.block.markers.clear();
        outcome.map_err(|e| live(&e))
    }

    /// The next decision, its values written into the arrays that are given, one number for every
    /// class.
    pub(crate) fn take(
        &mut self,
        probabilities: Option<&mut [f64]>,
        evidence: Option<&mut [f64]>,
    ) -> Option<StiefelDecision> {
        let decision = self.waiting.pop_front()?;
        for out in [probabilities, evidence] {
            let values = self.values.drain(..self.classes.len());
            if let Some(out) = out {
                out.iter_mut().zip(values).for_each(|(o, v)| *o = v);
            }
        }
        Some(decision)
    }
}

/// An event without its arrays; −1 and NaN stand for what there is not.
fn decision(event: &Event<'_>) -> StiefelDecision {
    let index = |class: Option<usize>| class.map_or(-1, |c| c as i32);
    match event {
        Event::Gap(gap) => StiefelDecision {
            kind: StiefelKind::Gap,
            status: StiefelStatus::Rejected,
            reason: reason(Reason::Gap),
            class_index: -1,
            stable_index: -1,
            truth_index: -1,
            start: gap.sample,
            end: gap.sample + gap.samples as i64,
            time: gap.time,
            stamp: f64::NAN,
            familiarity: f64::NAN,
            distance: f64::NAN,
        },
        Event::Window(w) => StiefelDecision {
            kind: StiefelKind::Window,
            status: match w.status {
                Status::Decided => StiefelStatus::Decided,
                Status::Undecided => StiefelStatus::Undecided,
                Status::Unfamiliar => StiefelStatus::Unfamiliar,
                Status::Rejected => StiefelStatus::Rejected,
            },
            reason: w.fault.as_ref().map_or(0, |fault| reason(fault.reason)),
            class_index: index(w.class),
            stable_index: index(w.stable()),
            truth_index: index(w.truth()),
            start: w.start,
            end: w.end,
            time: w.time,
            stamp: w.stamp.unwrap_or(f64::NAN),
            familiarity: w.familiarity.map_or(f64::NAN, |f| f.quantile),
            distance: w.familiarity.map_or(f64::NAN, |f| f.distance),
        },
    }
}

/// Reasons by their place, from 1 on.
fn reason(reason: Reason) -> i32 {
    let place = Reason::ALL.iter().position(|r| *r == reason);
    place.map_or(-1, |p| p as i32 + 1)
}
