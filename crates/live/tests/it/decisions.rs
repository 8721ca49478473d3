//! What is decided live is what is decided of the whole recording.

use stiefel_data::Role;
use stiefel_live::source::{Flow, Replay, Source, Speed};
use stiefel_live::{
    Block, Calibration, Evidence, LiveError, Options, Session, Sink, Status, offline, run,
};
use stiefel_model::AdaptPolicy;
use stiefel_model::fitted::Distances;
use stiefel_model::precondition::Adaptation;

use crate::study::{
    N, RATE, STUDY, description, frames, gather, play, played, session, session_of, unaware,
};

fn cued() -> Options {
    Options {
        hop: None,
        unfamiliar: None,
        ..Options::default()
    }
}

fn replay() -> Replay {
    Replay::new("run", vec![played()], Speed::Max).unwrap()
}

#[test]
fn cued_windows_are_the_trials_of_the_recording() {
    let (mut source, mut session) = (replay(), session(cued()));
    let (mut said, mut gaps, mut block) = (Vec::new(), Vec::new(), Block::default());
    loop {
        block.clear();
        if source.next(&mut block).unwrap() == Flow::End {
            break;
        }
        session
            .push(&block, &mut |e| gather(&e, &mut said, &mut gaps))
            .unwrap();
    }
    let decided = STUDY.model.decide(&STUDY.trials, None).unwrap();
    assert_eq!((said.len(), gaps.len()), (STUDY.trials.len(), 0));
    for (i, (said, event)) in said.iter().zip(STUDY.recording.events()).enumerate() {
        assert_eq!(said.cue, Some(event.sample as i64));
        assert_eq!(
            (said.start, said.end),
            (event.sample as i64 + 64, event.sample as i64 + 448)
        );
        assert_eq!(said.status, Status::Decided, "{said:?}");
        let offline = &decided.probabilities.matrix(0)[i * 2..][..2];
        assert_eq!(said.class, Some(decided.classes()[i]));
        for (live, offline) in said.probabilities.as_ref().unwrap().iter().zip(offline) {
            assert!((live - offline).abs() < 1e-8, "trial {i}: {live} {offline}");
        }
    }
}

#[test]
fn blocks_of_any_size_say_the_same_to_the_bit() {
    let samples = frames(&STUDY.recording);
    let samples = &samples[..N * 128 * 20];
    let whole = play(&mut session(Options::default()), samples, None, 128 * 20);
    assert!(whole.0.len() > 50);
    for length in [1, 7, 16, 129, 1000] {
        assert_eq!(
            play(&mut session(Options::default()), samples, None, length),
            whole,
            "{length}"
        );
    }
}

/// What is rehearsed while nothing arrives is for nobody: neither the decisions nor what is learnt
/// from windows change.
#[test]
fn a_rehearsal_changes_nothing() {
    let samples = frames(&STUDY.recording);
    let samples = &samples[..N * 128 * 20];
    let causal = AdaptPolicy::from(Adaptation::Causal { kappa: 10.0 });
    for (domain, unseen) in [("S01", None), ("new", Some(&causal))] {
        let said = |rehearsed: bool| {
            let decider = STUDY.model.session(domain, unseen, &[]).unwrap();
            let stream = description();
            let mut session = Session::new(
                &STUDY.model,
                decider,
                &STUDY.made,
                &stream,
                Options::default(),
            )
            .unwrap();
            let (mut said, mut gaps) = (Vec::new(), Vec::new());
            for piece in samples.chunks(5 * N) {
                let block = Block {
                    samples: piece.to_vec(),
                    ..Block::default()
                };
                session
                    .push(&block, &mut |event| gather(&event, &mut said, &mut gaps))
                    .unwrap();
                if rehearsed {
                    session.rehearse();
                }
            }
            said
        };
        assert_eq!(said(true), said(false), "{domain}");
    }
}

#[test]
fn windows_end_at_multiples_of_the_hop_once_each() {
    let samples = frames(&STUDY.recording);
    let (said, _) = play(&mut session(Options::default()), &samples, None, 10);
    for pair in said.windows(2) {
        assert_eq!(pair[1].end, pair[0].end + 32);
    }
    // The first once the filter has settled and a window is full.
    assert!(
        said[0].end % 32 == 0 && said[0].start > 0 && said[0].start < 128,
        "{:?}",
        said[0]
    );
    assert_eq!(
        said.last().unwrap().end,
        samples.len() as i64 / N as i64 / 32 * 32
    );
    assert!(said.iter().all(|s| s.status != Status::Rejected));
}

#[test]
fn units_and_orders_of_channels_make_no_difference() {
    let samples: Vec<f64> = frames(&STUDY.recording)[..N * 128 * 10].to_vec();
    let expected = play(&mut session(Options::default()), &samples, None, 64).0;
    let mut stream = description();
    stream.channels.reverse();
    for channel in &mut stream.channels {
        channel.unit = "volts".into();
        channel.name = format!("EEG {}-REF", channel.name.to_lowercase());
    }
    let volts: Vec<f64> = samples
        .chunks(N)
        .flat_map(|f| f.iter().rev().map(|x| x * 1e-6))
        .collect();
    let decider = STUDY.model.session("S01", None, &[]).unwrap();
    let mut other = stiefel_live::Session::new(
        &STUDY.model,
        decider,
        &STUDY.made,
        &stream,
        Options::default(),
    )
    .unwrap();
    let found = play(&mut other, &volts, None, 64).0;
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        let (a, b) = (
            a.probabilities.as_ref().unwrap(),
            b.probabilities.as_ref().unwrap(),
        );
        assert!((a[0] - b[0]).abs() < 1e-9);
    }
}

#[test]
fn a_threshold_leaves_windows_undecided() {
    let samples = frames(&STUDY.recording);
    let plain = play(&mut session(Options::default()), &samples, None, 64).0;
    let strict = Options {
        threshold: Some(0.8),
        ..Options::default()
    };
    let strict = play(&mut session(strict), &samples, None, 64).0;
    let mut undecided = 0;
    for (a, b) in plain.iter().zip(&strict) {
        let top = b
            .probabilities
            .as_ref()
            .unwrap()
            .iter()
            .copied()
            .fold(0.0, f64::max);
        assert_eq!(a.probabilities, b.probabilities);
        if b.status == Status::Undecided {
            undecided += 1;
            assert!(top < 0.8 && b.class.is_none());
        } else {
            assert_eq!(b.class, a.class);
        }
    }
    assert!(undecided > 0 && undecided < strict.len());
}

#[test]
fn evidence_is_the_running_mean_of_log_odds() {
    let p = [[0.9, 0.1], [0.3, 0.7], [1.0, 0.0], [0.6, 0.4]];
    let times = [0.0, 0.25, 1.5, 2.0];
    let mut evidence = Evidence::new(2, 0.7);
    for i in 0..p.len() {
        evidence.add(times[i], &p[i]);
        let weight = |j: usize| (-(times[i] - times[j]) / 0.7_f64).exp();
        let odds = |j: usize| p[j][0].max(1e-3_f64).ln() - p[j][1].max(1e-3_f64).ln();
        let total: f64 = (0..=i).map(weight).sum();
        let mean: f64 = (0..=i).map(|j| weight(j) * odds(j)).sum::<f64>() / total;
        let expected = 1.0 / (1.0 + (-mean).exp());
        assert!((evidence.get().unwrap()[0] - expected).abs() < 1e-12, "{i}");
    }
    evidence.reset();
    assert!(evidence.get().is_none());
}

#[test]
fn familiar_windows_have_quantiles_and_an_old_model_says_that_it_cannot_tell() {
    let samples = frames(&STUDY.recording);
    let said = play(&mut session(Options::default()), &samples, None, 64).0;
    let quantiles: Vec<f64> = said.iter().filter_map(|s| s.quantile).collect();
    assert_eq!(quantiles.len(), said.len());
    assert!(
        said.iter()
            .filter(|s| s.status == Status::Unfamiliar)
            .count()
            * 20
            < said.len()
    );
    let old = STUDY
        .model
        .clone()
        .with_about(|about| about.distances = None);
    let decider = old.session("S01", None, &[]).unwrap();
    let session = stiefel_live::Session::new(
        &old,
        decider,
        &STUDY.made,
        &description(),
        Options::default(),
    )
    .unwrap();
    assert!(
        session.notes().iter().any(|n| n.contains("is not made")),
        "{:?}",
        session.notes()
    );
    // Naive: each training trial to the mean of the others of its domain.
    assert!(STUDY.model.distances().unwrap().at(1.0) > STUDY.model.distances().unwrap().at(0.5));
    assert!(
        Distances::new(vec![vec![f64::NAN, 1.0]]).is_none()
            && Distances::new(vec![vec![]]).is_none()
    );
}

/// Nothing that overlaps is learnt from twice, and what is frozen learns nothing.
#[test]
fn somebody_new_is_learnt_from_until_it_is_frozen() {
    let unseen = AdaptPolicy::from(Adaptation::Causal { kappa: 10.0 });
    let samples = frames(&STUDY.recording);
    let play_as = |freeze: bool| {
        let decider = STUDY.model.session("new", Some(&unseen), &[]).unwrap();
        let options = Options {
            freeze,
            ..Options::default()
        };
        let mut session =
            stiefel_live::Session::new(&STUDY.model, decider, &STUDY.made, &description(), options)
                .unwrap();
        play(&mut session, &samples, None, 64).0
    };
    let (learnt, frozen) = (play_as(false), play_as(true));
    // A window without a cue is learnt from after its line: the first is decided by what was known
    // before it.
    assert_eq!(learnt[0].probabilities, frozen[0].probabilities);
    assert_ne!(learnt[20].probabilities, frozen[20].probabilities);
    // Before anything was learnt, the pooled mean whitens.
    let pooled = AdaptPolicy::from(Adaptation::Pooled);
    let decider = STUDY.model.session("new", Some(&pooled), &[]).unwrap();
    let mut session = stiefel_live::Session::new(
        &STUDY.model,
        decider,
        &STUDY.made,
        &description(),
        Options::default(),
    )
    .unwrap();
    for (a, b) in play(&mut session, &samples, None, 64).0.iter().zip(&frozen) {
        let (a, b) = (
            a.probabilities.as_ref().unwrap(),
            b.probabilities.as_ref().unwrap(),
        );
        assert!((a[0] - b[0]).abs() < 1e-9);
    }
    // After ten windows of one's own there is a mean to be familiar with.
    assert!(learnt[0].quantile.is_none() && learnt.last().unwrap().quantile.is_some());
}

/// A cued window of somebody new is a trial, and enters the running mean before it is decided, as
/// it does offline.
#[test]
fn trials_of_somebody_new_are_decided_as_offline() {
    let unseen = AdaptPolicy::from(Adaptation::Causal { kappa: 10.0 });
    let session = || STUDY.model.session("new", Some(&unseen), &[]).unwrap();
    let mut live =
        stiefel_live::Session::new(&STUDY.model, session(), &STUDY.made, &description(), cued())
            .unwrap();
    let mut found = Vec::new();
    let (mut source, mut block) = (replay(), stiefel_live::Block::default());
    while source.next(&mut block).unwrap() != Flow::End {
        live.push(&block, &mut |event| {
            if let stiefel_live::Event::Window(w) = event {
                found.push(w.probabilities.unwrap().to_vec());
            }
        })
        .unwrap();
        block.clear();
    }
    let (mut offline, x) = (session(), STUDY.trials.covariances());
    assert_eq!(found.len(), STUDY.trials.len());
    for (i, live) in found.iter().enumerate() {
        let decision = offline.decide(x.matrix(i)).unwrap();
        assert!((decision.probabilities[0] - live[0]).abs() < 1e-9, "{i}");
    }
}

struct Nobody;

impl Sink for Nobody {
    fn event(&mut self, _: &stiefel_live::Event<'_>, _: &str) -> Result<(), LiveError> {
        Ok(())
    }
}

#[test]
fn a_labelled_replay_is_scored_beside_the_offline_decisions() {
    let options = Options {
        hop: Some(0.25),
        unfamiliar: None,
        ..Options::default()
    };
    let mut session = session_of(&unaware(), options);
    let mut summary = run(
        &mut session,
        &mut replay(),
        &mut [&mut Nobody],
        None,
        &|| false,
    )
    .unwrap();
    assert_eq!(summary.cued, STUDY.trials.len() as u64);
    assert_eq!(summary.decided.all, summary.cued);
    let truth = |i: usize| {
        STUDY
            .trials
            .classes()
            .name(STUDY.trials.classes().indices()[i])
    };
    let decided = STUDY.model.decide(&STUDY.trials, None).unwrap().classes();
    let right = decided
        .iter()
        .enumerate()
        .filter(|&(i, &c)| STUDY.model.classes()[c] == truth(i));
    assert_eq!(summary.decided.right, right.count() as u64);
    // Cues do not come at multiples of the hop, and every trial has one window in every row all the
    // same.
    let offsets: std::collections::BTreeSet<usize> = (STUDY.recording.events().iter())
        .map(|e| e.sample % 32)
        .collect();
    assert!(offsets.len() > 2, "{offsets:?}");
    // The filters have settled by the second second of the first trial.
    let later = (summary.over_time.iter()).filter(|row| (2.0..=5.0).contains(&row.seconds));
    let later: Vec<u64> = later.map(|row| row.windows.all).collect();
    assert_eq!(later, [summary.cued; 13], "{summary}");
    assert!(
        summary
            .over_time
            .iter()
            .all(|row| row.seconds <= 12.0 && row.windows.all > 0)
    );
    assert!(summary.latency.unwrap().p99 > 0.0);
    let offline = offline(&unaware(), &STUDY.made, &[played()], "S01", None).unwrap();
    let onsets = STUDY.recording.events().iter().map(|e| e.sample as i64);
    assert!(offline.iter().map(|trial| trial.sample).eq(onsets));
    assert!(offline.iter().map(|trial| trial.class).eq(decided));
    summary.with_offline(&offline);
    let found = summary.offline.unwrap();
    assert_eq!((found.same, found.both), (summary.cued, summary.cued));
    assert_eq!(found.decisions, summary.decided);
    let text = summary.to_string();
    for part in [
        "accuracy live",
        "accuracy offline",
        "bits/min",
        "99 %",
        "decided",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let missing = Replay::open("none.edf", &STUDY.made, Speed::Max).unwrap_err();
    assert!(missing.to_string().contains("none.edf"), "{missing}");
}

#[test]
fn trials_of_training_are_named_and_not_scored() {
    let mut session = session(Options {
        hop: Some(0.25),
        ..Options::default()
    });
    let mut roles = Vec::new();
    let mut sink = Roles(&mut roles);
    let mut summary = run(&mut session, &mut replay(), &mut [&mut sink], None, &|| {
        false
    })
    .unwrap();
    let offline = offline(&STUDY.model, &STUDY.made, &[played()], "S01", None).unwrap();
    summary.with_offline(&offline);
    assert_eq!(roles.len() as u64, summary.cued);
    assert!(roles.iter().all(|role| *role == Role::Trained));
    assert_eq!((summary.seen, summary.decided.all), (summary.cued, 0));
    assert_eq!(summary.offline.unwrap().decisions.all, 0);
    assert!(summary.over_time.is_empty());
    let text = summary.to_string();
    assert!(
        text.contains("there is no score") && !text.contains("accuracy"),
        "{text}"
    );
}

struct Roles<'a>(&'a mut Vec<Role>);

impl Sink for Roles<'_> {
    fn event(&mut self, event: &stiefel_live::Event<'_>, line: &str) -> Result<(), LiveError> {
        if let stiefel_live::Event::Window(window) = event
            && let Some(cue) = window.cue
        {
            assert!(line.contains(r#""seen":"trained""#), "{line}");
            self.0.push(cue.seen);
        }
        Ok(())
    }
}

/// Labels reach the model's own calibration; what it says reaches the user.
#[test]
fn calibration_hands_labelled_trials_to_the_model() {
    let mut session = session_of(&unaware(), cued());
    let mut calibration = Calibration::new(&unaware(), "S01", None);
    let outcome = run(
        &mut session,
        &mut replay(),
        &mut [&mut Nobody],
        Some(&mut calibration),
        &|| false,
    );
    let counts = calibration.counts();
    match outcome {
        Ok(_) => {
            assert_eq!(counts.iter().sum::<usize>(), STUDY.trials.len());
            assert!(calibration.model().unwrap().knows("S01"));
        }
        Err(error) => {
            assert!(error.to_string().contains("calibration"), "{error}");
            assert!(counts.iter().all(|&c| c > 0));
        }
    }
}

#[test]
fn a_recording_in_real_time_takes_its_time() {
    let mut source = Replay::new("run", vec![played()], Speed::Times(20.0)).unwrap();
    let (began, mut block, mut samples) = (std::time::Instant::now(), Block::default(), 0);
    while samples < 128 * 10 {
        block.clear();
        source.next(&mut block).unwrap();
        samples += block.samples.len() / N;
    }
    let took = began.elapsed().as_secs_f64();
    assert!(took > 0.9 * samples as f64 / RATE / 20.0, "{took}");
    assert!(Replay::new("run", vec![], Speed::Max).is_err());
    assert!(Replay::new("run", vec![played()], Speed::Times(0.0)).is_err());
}
