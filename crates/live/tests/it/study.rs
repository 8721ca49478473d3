//! A small synthetic study: 13 channels at 128 Hz, two people, and a model of them.

use std::sync::LazyLock;

use stiefel_data::{Phase, Provenance, Recipe, Seen, Trials, View};
use stiefel_eeg::Recording;
use stiefel_eeg::montage::Montage;
use stiefel_eeg::recipe::{LabelledRecording, Preparing};
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel_live::{Block, Description, Event, Options, Session, Status};
use stiefel_model::train::Silent;
use stiefel_model::{FittedModel, ModelSpec};

pub(crate) const RATE: f64 = 128.0;
pub(crate) const N: usize = 13;

pub(crate) struct Study {
    pub(crate) model: FittedModel,
    pub(crate) made: Provenance,
    pub(crate) recording: Recording,
    pub(crate) trials: Trials,
}

pub(crate) static STUDY: LazyLock<Study> = LazyLock::new(|| {
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Bnci2015001, RATE, vec![1, 1], 2, 8, &classes);
    let synthetic = Synthetic::new(config).unwrap();
    let names = [("right_hand", "hand"), ("feet", "feet")];
    let recipe = Recipe {
        phase: Phase::Causal,
        reject: None,
        classes: names.map(|(l, c)| (l.to_owned(), c.to_owned())).to_vec(),
        ..Recipe::default()
    };
    let start = || Preparing::new(&recipe).unwrap();
    let (mut all, mut own) = (start(), start());
    let first = synthetic.recording(0, 0, 0).unwrap();
    for item in synthetic.recordings() {
        let item = item.unwrap();
        let domain = format!("S{:02}", item.subject + 1);
        all.add(item.recording, &domain, None).unwrap();
    }
    own.add(first.clone(), "S01", None).unwrap();
    let output = all.finish().unwrap();
    let training = output.trials;
    let model = FittedModel::fit(&training, &training, &ModelSpec::default(), &mut Silent).unwrap();
    Study {
        model,
        trials: own.finish().unwrap().trials,
        recording: first,
        made: output.provenance,
    }
});

/// CHOIR on three views, made as the trials of the study are.
pub(crate) fn several_views() -> (FittedModel, Provenance) {
    let mut made = STUDY.made.clone();
    let further = ["10-14@0.5-3.5", "8-32@0.25-2.25"].map(|view| view.parse::<View>().unwrap());
    made.recipe.views.extend(further);
    let mut preparing = Preparing::new(&made.recipe).unwrap();
    for domain in ["S01", "S02"] {
        (preparing.add(STUDY.recording.clone(), domain, None)).unwrap();
    }
    let trials = preparing.finish().unwrap().trials;
    let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent).unwrap();
    assert_eq!((model.view_count(), model.name()), (3, "choir"));
    (model, made)
}

/// What the recording would say of itself as a stream.
pub(crate) fn description() -> Description {
    Description {
        name: "the test".into(),
        rate: Some(RATE),
        channels: STUDY.recording.channels().to_vec(),
    }
}

pub(crate) fn session(options: Options) -> Session {
    session_of(&STUDY.model, options)
}

pub(crate) fn session_of(model: &FittedModel, options: Options) -> Session {
    let decider = model.session("S01", None, &[]).unwrap();
    Session::new(model, decider, &STUDY.made, &description(), options).unwrap()
}

/// The model of the study, to which all trials are new.
pub(crate) fn unaware() -> FittedModel {
    let model = STUDY.model.clone();
    model.with_about(|about| about.seen = Seen::default())
}

/// The recording, with the events of the recipe.
pub(crate) fn played() -> LabelledRecording {
    let classes = &STUDY.made.recipe.classes;
    LabelledRecording::new("".as_ref(), STUDY.recording.clone(), None, classes)
}

/// All channels of the first sample, then of the second.
pub(crate) fn frames(r: &Recording) -> Vec<f64> {
    let n = r.channels().len();
    (0..r.samples())
        .flat_map(|t| (0..n).map(move |c| r.channel(c)[t]))
        .collect()
}

/// What was said of a window, kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) status: Status,
    pub(crate) reason: Option<&'static str>,
    pub(crate) channel: Option<String>,
    pub(crate) class: Option<usize>,
    pub(crate) probabilities: Option<Vec<f64>>,
    pub(crate) evidence: Option<Vec<f64>>,
    pub(crate) cue: Option<i64>,
    pub(crate) quantile: Option<f64>,
}

/// Pushes samples in blocks of a length, each with its stamp where there are stamps, and gathers
/// what is said.
pub(crate) fn play(
    session: &mut Session,
    samples: &[f64],
    times: Option<&[f64]>,
    length: usize,
) -> (Vec<Said>, Vec<(i64, u64, u64)>) {
    let (mut said, mut gaps) = (Vec::new(), Vec::new());
    for (i, piece) in samples.chunks(length * N).enumerate() {
        let times = times.map_or(Vec::new(), |t| t[i * length..][..piece.len() / N].to_vec());
        let block = Block {
            samples: piece.to_vec(),
            times,
            ..Block::default()
        };
        session
            .push(&block, &mut |event| gather(&event, &mut said, &mut gaps))
            .unwrap();
    }
    (said, gaps)
}

pub(crate) fn gather(event: &Event<'_>, said: &mut Vec<Said>, gaps: &mut Vec<(i64, u64, u64)>) {
    match event {
        Event::Gap(gap) => gaps.push((gap.sample, gap.samples, gap.windows)),
        Event::Window(w) => said.push(Said {
            start: w.start,
            end: w.end,
            status: w.status,
            reason: w.fault.as_ref().map(|f| f.reason.name()),
            channel: w.fault.as_ref().and_then(|f| f.channel).map(str::to_owned),
            class: w.class,
            probabilities: w.probabilities.map(<[f64]>::to_vec),
            evidence: w.evidence.map(<[f64]>::to_vec),
            cue: w.cue.map(|c| c.sample),
            quantile: w.familiarity.map(|f| f.quantile),
        }),
    }
}
