//! Bad input is rejected with its reason, and nothing else is.

use stiefel_data::Provenance;
use stiefel_live::{Block, Fit, Options, Session, Status};

use crate::study::{N, RATE, STUDY, Said, description, frames, play, session};

/// What is said of the first forty seconds after a change, and without it.
fn changed(change: impl Fn(&mut Vec<f64>)) -> (Vec<Said>, Vec<Said>) {
    let mut samples = frames(&STUDY.recording)[..N * 128 * 40].to_vec();
    let clean = play(&mut session(Options::default()), &samples, None, 20).0;
    change(&mut samples);
    (
        play(&mut session(Options::default()), &samples, None, 20).0,
        clean,
    )
}

/// Windows that have a sample from `from` to `to` are rejected for the reason and the channel;
/// after `rest` more, all are decided as if nothing had been.
fn check(
    found: &[Said],
    clean: &[Said],
    (from, to): (i64, i64),
    reason: &str,
    channel: Option<usize>,
    rest: i64,
) {
    assert_eq!(found.len(), clean.len());
    let name = channel.map(|c| STUDY.recording.channels()[c].name.clone());
    let mut hit = 0;
    for (f, c) in found.iter().zip(clean) {
        if f.start < to && f.end > from {
            hit += 1;
            assert_eq!(
                (f.status, f.reason),
                (Status::Rejected, Some(reason)),
                "{f:?}"
            );
            assert!(f.class.is_none() && f.probabilities.is_none());
            assert_eq!(f.channel, name, "{f:?}");
        } else if f.end <= from {
            assert_eq!(f, c);
        } else if f.start >= to + rest {
            assert_ne!(f.status, Status::Rejected, "{f:?}");
            let (f, c) = (
                f.probabilities.as_ref().unwrap(),
                c.probabilities.as_ref().unwrap(),
            );
            assert!((f[0] - c[0]).abs() < 0.05, "{f:?} {c:?}");
        }
    }
    assert!(hit > 5, "{hit}");
}

#[test]
fn one_value_that_is_no_number() {
    for bad in [f64::NAN, f64::INFINITY] {
        let (found, clean) = changed(|x| x[N * 2000 + 4] = bad);
        check(&found, &clean, (2000, 2001), "non-finite", Some(4), 128);
        // Then the filter settles, which is said too.
        assert!(
            found
                .iter()
                .any(|f| f.reason == Some("settling") && f.start > 2000)
        );
    }
}

#[test]
fn a_flat_electrode() {
    let (found, clean) = changed(|x| (1500..2500).for_each(|t| x[N * t + 7] = 3.25));
    // A window counts as flat once half a second of it is.
    for f in &found {
        let flat = f.end.min(2500) - f.start.max(1500);
        if flat >= 64 {
            assert_eq!(
                (f.reason, f.channel.as_deref()),
                (Some("flat"), Some(&*STUDY.recording.channels()[7].name)),
                "{f:?}"
            );
        }
    }
    assert!(
        found
            .iter()
            .zip(&clean)
            .all(|(f, c)| f.end > 1500 || f == c)
    );
}

#[test]
fn all_electrodes_flat_and_an_electrode_that_whispers() {
    let (found, _) = changed(|x| x[N * 1500..].fill(0.0));
    assert!(
        found
            .iter()
            .filter(|f| f.start >= 1500)
            .all(|f| f.reason == Some("flat"))
    );
    let (found, _) = changed(|x| (0..x.len() / N).for_each(|t| x[N * t + 2] *= 1e-5));
    assert!(
        found.iter().all(|f| f.reason == Some("flat")),
        "{:?}",
        found[0]
    );
}

#[test]
fn an_artefact_of_a_hundred_millivolts() {
    let (found, clean) = changed(|x| (2000..2010).for_each(|t| x[N * t + 3] += 1e5));
    check(&found, &clean, (2000, 2010), "out-of-range", Some(3), 256);
}

#[test]
fn a_saturated_amplifier() {
    let (found, clean) = changed(|x| (2000..2020).for_each(|t| x[N * t + 5] = 700.0));
    check(&found, &clean, (2007, 2013), "saturated", Some(5), 256);
}

#[test]
fn a_sample_with_too_few_values() {
    let samples = frames(&STUDY.recording)[..N * 128 * 20].to_vec();
    let mut session = session(Options::default());
    let (mut said, mut gaps) = (Vec::new(), Vec::new());
    for (i, frame) in samples.chunks(N).enumerate() {
        let block = Block {
            samples: frame.to_vec(),
            short: if i == 1000 { vec![0] } else { vec![] },
            ..Block::default()
        };
        session
            .push(&block, &mut |e| {
                crate::study::gather(&e, &mut said, &mut gaps);
            })
            .unwrap();
    }
    let short = said.iter().filter(|s| s.start <= 1000 && s.end > 1000);
    assert!(short.clone().count() > 5 && short.clone().all(|s| s.reason == Some("short")));
}

#[test]
fn something_the_model_has_never_seen_is_unfamiliar() {
    // Within the range of EEG, but ten times as large as any trial.
    let (found, clean) = changed(|x| x[N * 2000..].iter_mut().for_each(|x| *x *= 10.0));
    let strange: Vec<&Said> = found.iter().filter(|f| f.start >= 2300).collect();
    assert!(strange.len() > 10);
    for f in strange {
        assert_eq!(
            (f.status, f.class, f.quantile),
            (Status::Unfamiliar, None, Some(1.0)),
            "{f:?}"
        );
        assert!(f.probabilities.is_some());
    }
    assert!(
        clean
            .iter()
            .filter(|c| c.status == Status::Unfamiliar)
            .count()
            * 20
            < clean.len()
    );
    let off = Options {
        unfamiliar: None,
        ..Options::default()
    };
    let samples: Vec<f64> = frames(&STUDY.recording).iter().map(|x| x * 10.0).collect();
    assert!(
        play(&mut session(off), &samples, None, 50)
            .0
            .iter()
            .all(|f| f.status == Status::Decided)
    );
}

#[test]
fn lost_chunks_are_gaps_and_nothing_is_glued() {
    let all = frames(&STUDY.recording);
    let count = all.len() / N;
    // Five percent of the chunks of 16 samples never arrive.
    let lost = |chunk: usize| chunk % 20 == 13;
    let (mut samples, mut times) = (Vec::new(), Vec::new());
    for t in (0..count).filter(|t| !lost(t / 16)) {
        samples.extend_from_slice(&all[t * N..][..N]);
        times.push(1e5 + t as f64 / RATE);
    }
    let (said, gaps) = play(&mut session(Options::default()), &samples, Some(&times), 16);
    let expected: Vec<(i64, u64)> = (0..count / 16)
        .filter(|&c| lost(c))
        .map(|c| (16 * c as i64, 16))
        .collect();
    assert_eq!(
        gaps.iter().map(|g| (g.0, g.1)).collect::<Vec<_>>(),
        expected
    );
    // Every hop has its line, or ended in a gap: none twice, none missing.
    let silent: u64 = gaps.iter().map(|g| g.2).sum();
    let first = said[0].end;
    let last = said.last().unwrap().end;
    assert_eq!((last - first) / 32 + 1, said.len() as i64 + silent as i64);
    assert!(
        said.windows(2)
            .all(|w| w[1].end > w[0].end && (w[1].end - w[0].end) % 32 == 0)
    );
    for s in &said {
        let over = expected
            .iter()
            .any(|&(at, n)| s.start < at + n as i64 && s.end > at);
        if over {
            assert_eq!(s.reason, Some("gap"), "{s:?}");
        }
        assert_ne!(
            s.status == Status::Decided,
            over && s.reason.is_some(),
            "{s:?}"
        );
    }
}

/// After a gap that leaves room for whole windows, decisions are those of a stream without it.
#[test]
fn after_a_gap_decisions_go_on() {
    let all = frames(&STUDY.recording);
    let (from, to) = (2000, 2000 + 500);
    let samples = [&all[..N * from], &all[N * to..N * 128 * 60]].concat();
    let times: Vec<f64> = (0..from)
        .chain(to..128 * 60)
        .map(|t| t as f64 / RATE)
        .collect();
    let (said, gaps) = play(&mut session(Options::default()), &samples, Some(&times), 11);
    assert_eq!(gaps, [(2000, 500, (2500 / 32 - 2000 / 32) as u64)]);
    let clean = play(
        &mut session(Options::default()),
        &all[..N * 128 * 60],
        None,
        64,
    )
    .0;
    let later: Vec<&Said> = said.iter().filter(|s| s.start >= 2500).collect();
    assert!(later.iter().any(|s| s.reason == Some("settling")));
    let decided: Vec<&&Said> = later.iter().filter(|s| s.reason.is_none()).collect();
    assert!(decided.len() > 50);
    for s in decided {
        let c = clean.iter().find(|c| c.end == s.end).unwrap();
        let gap =
            (s.probabilities.as_ref().unwrap()[0] - c.probabilities.as_ref().unwrap()[0]).abs();
        assert!(gap < 1e-2, "{gap} {s:?}");
    }
}

#[test]
fn another_rate_other_channels_and_other_units_are_refused() {
    let good = description();
    let refused = |change: &dyn Fn(&mut stiefel_live::Description)| {
        let mut stream = good.clone();
        change(&mut stream);
        Fit::new(&stream, &STUDY.made).unwrap_err().to_string()
    };
    let message = refused(&|s| s.rate = Some(160.0));
    assert!(
        message.contains("160 Hz") && message.contains("128 Hz"),
        "{message}"
    );
    let message = refused(&|s| s.channels[3].name = "X1".into());
    assert!(
        message.contains("there is no channel") && message.contains("X1"),
        "{message}"
    );
    let message = refused(&|s| s.channels[2].unit = "kg".into());
    assert!(
        message.contains("\"kg\"") && message.contains("µV"),
        "{message}"
    );
    let twice = refused(&|s| {
        let name = s.channels[0].name.clone();
        for c in &mut s.channels[..2] {
            c.name = name.to_lowercase();
        }
    });
    assert!(twice.contains("may be any of the channels"), "{twice}");
    // What a stream does not say is assumed, and said.
    let mut silent = good.clone();
    silent.rate = None;
    silent
        .channels
        .iter_mut()
        .for_each(|c| c.unit = String::new());
    let notes = Fit::new(&silent, &STUDY.made).unwrap().notes.join(" ");
    assert!(notes.contains("128 Hz") && notes.contains("µV"), "{notes}");
}

#[test]
fn bad_options_and_bad_blocks_are_refused() {
    let refused = |options: Options| {
        let decider = STUDY.model.session("S01", None, &[]).unwrap();
        Session::new(&STUDY.model, decider, &STUDY.made, &description(), options)
            .unwrap_err()
            .to_string()
    };
    let d = Options::default;
    assert!(
        refused(Options {
            hop: Some(0.0),
            ..d()
        })
        .contains("a hop of 0")
    );
    assert!(
        refused(Options {
            hop: Some(1e-4),
            ..d()
        })
        .contains("less than a sample")
    );
    assert!(
        refused(Options {
            threshold: Some(1.5),
            ..d()
        })
        .contains("threshold")
    );
    assert!(
        refused(Options {
            time_constant: f64::NAN,
            ..d()
        })
        .contains("time constant")
    );
    assert!(
        refused(Options {
            unfamiliar: Some(-1.0),
            ..d()
        })
        .contains("familiarity")
    );
    let mut other: Provenance = STUDY.made.clone();
    other.recipe.channels.as_mut().unwrap().pop();
    let decider = STUDY.model.session("S01", None, &[]).unwrap();
    assert!(Session::new(&STUDY.model, decider, &other, &description(), d()).is_err());
    let mut session = session(d());
    let block = |samples: usize, times: usize| Block {
        samples: vec![0.0; samples],
        times: vec![0.0; times],
        ..Block::default()
    };
    assert!(session.push(&block(N - 1, 0), &mut |_| ()).is_err());
    assert!(session.push(&block(N, 2), &mut |_| ()).is_err());
}
