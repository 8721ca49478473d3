//! A small synthetic study: 13 channels at 128 Hz, two people, and a model of them.

use std::sync::LazyLock;

use stiefel_data::{Estimator, Phase, Preparation, Steps, Trials, View};
use stiefel_eeg::Recording;
use stiefel_eeg::covariance::Pipeline;
use stiefel_eeg::montage::Montage;
use stiefel_eeg::signal::{Band, Window};
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel_live::{Block, Description, Event, Options, Session, Status};
use stiefel_model::train::Silent;
use stiefel_model::{FittedModel, ModelSpec};

pub(crate) const RATE: f64 = 128.0;
pub(crate) const N: usize = 13;

pub(crate) struct Study {
    pub(crate) model: FittedModel,
    pub(crate) steps: Steps,
    pub(crate) recording: Recording,
    pub(crate) trials: Trials,
}

pub(crate) static STUDY: LazyLock<Study> = LazyLock::new(|| {
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Bnci2015001, RATE, vec![1, 1], 2, 8, &classes);
    let synthetic = Synthetic::new(config).unwrap();
    let names = [("right_hand", "hand"), ("feet", "feet")];
    let pipeline = Pipeline {
        phase: Phase::Causal,
        deviations: f64::INFINITY,
        ..Pipeline::new(Band::BandPass(8.0, 32.0), Window::named(0.5, 3.5, &names))
    };
    let (mut all, mut own) = (pipeline.start(), pipeline.start());
    let first = synthetic.recording(0, 0, 0).unwrap();
    for item in synthetic.recordings() {
        let item = item.unwrap();
        let domain = format!("S{:02}", item.subject + 1);
        all.add(item.recording, &domain, None).unwrap();
    }
    own.add(first.clone(), "S01", None).unwrap();
    let steps = Steps {
        views: vec![View {
            band: [8.0, 32.0],
            window: [0.5, 3.5],
        }],
        order: 4,
        phase: Phase::Causal,
        recorded_rate: RATE,
        rate: RATE,
        reference: "as recorded".into(),
        channels: first.channels().iter().map(|c| c.name.clone()).collect(),
        estimator: Estimator::Sample,
        rejection: None,
        unit: "µV".into(),
        classes: names.map(|(l, c)| (l.to_owned(), c.to_owned())).to_vec(),
        trialwise: false,
    };
    let made = |trials: Trials| trials.with_preparation(Preparation::Made(Box::new(steps.clone())));
    let training = made(all.finish().unwrap().trials);
    let model = FittedModel::fit(&training, &training, &ModelSpec::default(), &mut Silent).unwrap();
    Study {
        model,
        trials: made(own.finish().unwrap().trials),
        recording: first,
        steps,
    }
});

/// CHOIR on three views, made as the trials of the study are.
pub(crate) fn several_views() -> (FittedModel, Steps) {
    let mut steps = STUDY.steps.clone();
    steps.views.push(View {
        band: [10.0, 14.0],
        window: [0.5, 3.5],
    });
    steps.views.push(View {
        band: [8.0, 32.0],
        window: [0.25, 2.25],
    });
    let names: Vec<(&str, &str)> = (steps.classes.iter())
        .map(|(label, class)| (label.as_str(), class.as_str()))
        .collect();
    let pipeline = Pipeline {
        phase: Phase::Causal,
        deviations: f64::INFINITY,
        others: steps.views[1..].to_vec(),
        ..Pipeline::new(Band::BandPass(8.0, 32.0), Window::named(0.5, 3.5, &names))
    };
    let mut preparing = pipeline.start();
    for domain in ["S01", "S02"] {
        (preparing.add(STUDY.recording.clone(), domain, None)).unwrap();
    }
    let trials = preparing.finish().unwrap().trials;
    let trials = trials.with_preparation(Preparation::Made(Box::new(steps.clone())));
    let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent).unwrap();
    assert_eq!((model.view_count(), model.name()), (3, "choir"));
    (model, steps)
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
    let decider = STUDY.model.session("S01", None, &[]).unwrap();
    Session::new(&STUDY.model, decider, &STUDY.steps, &description(), options).unwrap()
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

/// Pushes samples in blocks of a length, each with its stamp where there are stamps, and gathers what is said.
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
