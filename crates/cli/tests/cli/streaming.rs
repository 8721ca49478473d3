//! `stream`: samples on the standard input, decisions on the standard output.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;
use stiefel::data::Preparation;
use stiefel::eeg::Recording;
use stiefel::eeg::covariance::Estimator;
use stiefel::eeg::io::{read, write_trials};
use stiefel::eeg::live::{Live, LiveConfig};
use stiefel::eeg::load;
use stiefel::eeg::select::DataChoice;
use stiefel::eeg::signal::{Band, Sos};
use stiefel::linalg::MatBatch;
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{Factor, FittedModel, Trials, Unseen};

use super::recordings::{study, write_study};
use super::{Home, code, finish, started};

/// A home with a model of two people.
fn home() -> Home {
    home_with("--model dasp --epochs 1 --precision f64 --no-embedding")
}

fn home_with(options: &str) -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    home.text(&format!("train ds.npz -o m.stiefel {options}"));
    home
}

/// Windows of 3 s every half second, filtered as in training.
fn chain() -> Live {
    let filter = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
    Live::new(LiveConfig {
        channels: 13,
        filter: Some(filter),
        window: 384,
        hop: 64,
        estimator: Estimator::Sample,
    })
    .unwrap()
}

pub(super) fn stream(home: &Home, options: &str, input: &[u8]) -> Output {
    let mut command = home.command(&format!("stream m.stiefel {options}"));
    let mut child = started(command.stdin(Stdio::piped()));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that stopped early does not read the rest.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = finish(child);
    writer.join().unwrap();
    output
}

/// Lines without the only value that differs from run to run.
pub(super) fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    for line in &mut lines {
        let time = line
            .as_object_mut()
            .unwrap()
            .remove("milliseconds")
            .unwrap();
        assert!(time.as_f64().unwrap() >= 0.0);
    }
    lines
}

/// All channels of the first sample, then of the second.
fn frames(r: &Recording) -> Vec<f64> {
    (0..r.samples())
        .flat_map(|t| (0..r.channels().len()).map(move |c| r.channel(c)[t]))
        .collect()
}

pub(super) fn csv(r: &Recording, heading: bool) -> Vec<u8> {
    let names: Vec<&str> = r.channels().iter().map(|c| c.name.as_str()).collect();
    let mut text = if heading {
        names.join(",") + "\n"
    } else {
        String::new()
    };
    for frame in frames(r).chunks_exact(names.len()) {
        text += &frame
            .iter()
            .map(f64::to_string)
            .collect::<Vec<_>>()
            .join(",");
        text += "\n";
    }
    text.into_bytes()
}

#[test]
fn decisions_are_those_of_the_library_however_samples_arrive() {
    let home = home();
    let recording = study().recording(0, 0, 0).unwrap();
    let frames = frames(&recording);
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    let classes = model.classes().to_vec();
    let none = MatBatch::zeros(0, 13, 13);
    let mut session = model.session("S01", None, none.view()).unwrap();
    let mut expected = Vec::new();
    chain()
        .push(&frames, |window| {
            let decision = session.decide(window.covariance).unwrap();
            expected.push((window.end, decision.class, decision.probabilities.to_vec()));
        })
        .unwrap();
    let options = "--domain S01 --hop 0.5";
    let text = lines(&stream(&home, options, &csv(&recording, true)));
    assert_eq!(text.len(), expected.len());
    for (line, (end, class, p)) in text.iter().zip(&expected) {
        assert_eq!(
            (line["sample"].as_u64(), line["time"].as_f64()),
            (Some(*end), Some(*end as f64 / 128.0))
        );
        assert_eq!(line["class"], classes[*class].as_str());
        for (c, p) in classes.iter().zip(p) {
            assert_eq!(line["probabilities"][c].as_f64().unwrap(), *p);
        }
        assert!(line["routing"].is_array());
    }
    let binary: Vec<u8> = frames.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(
        lines(&stream(
            &home,
            &format!("{options} --format f64 --block 50"),
            &binary
        )),
        text
    );
    assert_eq!(
        lines(&stream(
            &home,
            &format!("{options} --block 7"),
            &csv(&recording, false)
        )),
        text
    );

    // Channels in another order and one too many.
    let mut names: Vec<&str> = recording
        .channels()
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    names.reverse();
    names.push("EOG");
    let mixed: Vec<u8> = (frames.chunks_exact(13))
        .flat_map(|f| {
            f.iter()
                .rev()
                .copied()
                .chain([9.0])
                .flat_map(f64::to_le_bytes)
                .collect::<Vec<_>>()
        })
        .collect();
    let options = format!("{options} --format f64 --channels {}", names.join(","));
    assert_eq!(lines(&stream(&home, &options, &mixed)), text);
}

#[test]
fn somebody_new_needs_a_policy() {
    let home = home();
    let recording = study().recording(1, 0, 0).unwrap();
    let samples = csv(&recording, true);
    let (exit, message) = code(&stream(&home, "", &samples));
    assert_eq!(exit, 2);
    assert!(message.contains("--unseen-whitening"), "{message}");
    let (exit, message) = code(&stream(&home, "--unseen-whitening own-mean", &samples));
    assert_eq!(exit, 2, "{message}");
    assert!(message.contains("--calibration"), "{message}");
    let causal = lines(&stream(
        &home,
        "--domain new --unseen-whitening causal",
        &samples,
    ));
    let own = lines(&stream(
        &home,
        "--unseen-whitening own-mean --calibration ds.npz",
        &samples,
    ));
    assert_eq!(causal.len(), own.len());
    assert_ne!(causal, own);
    let (exit, message) = code(&stream(
        &home,
        "--domain S01 --unseen-whitening pooled",
        &samples,
    ));
    assert_eq!(exit, 2);
    assert!(message.contains("is for others"), "{message}");
}

/// The preset decides windows as it decides trials: those of known people, and of somebody new under every policy.
#[test]
fn the_preset_streams_what_it_evaluates() {
    let home = home_with("");
    let recording = study().recording(0, 0, 0).unwrap();
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    let mut windows = Vec::new();
    chain()
        .push(&frames(&recording), |w| {
            windows.extend_from_slice(w.covariance);
        })
        .unwrap();
    let count = windows.len() / (13 * 13);
    let windows = MatBatch::from_vec(count, 13, 13, windows).unwrap();
    let labels = Factor::new("class", model.classes().to_vec(), vec![0; count]).unwrap();
    let decided = |domain: &str, policy: Option<UnseenPolicy>| {
        let domain = Factor::from_labels(vec![domain; count]);
        let trials = Trials::new(windows.clone(), labels.clone(), domain).unwrap();
        let unseen = policy.map(Unseen::from);
        let decided = model.decide(&trials, unseen.as_ref()).unwrap();
        decided.probabilities
    };
    let source = home.0.join("ds.npz");
    let seen = load(source.to_str().unwrap(), &DataChoice::default()).unwrap();
    let preset = model.preset().unwrap();
    let own = UnseenPolicy::OwnMean { kappa: 10.0 };
    let after = preset.decide_unseen(seen.covariances().view(), windows.view(), own);
    let causal = UnseenPolicy::Causal { kappa: 10.0 };
    for (options, expected) in [
        ("--domain S01", decided("S01", None)),
        (
            "--unseen-whitening pooled",
            decided("new", Some(UnseenPolicy::Pooled)),
        ),
        (
            "--domain new --unseen-whitening causal",
            decided("new", Some(causal)),
        ),
        (
            "--unseen-whitening own-mean --calibration ds.npz",
            after.unwrap(),
        ),
    ] {
        let options = format!("--hop 0.5 {options}");
        let lines = lines(&stream(&home, &options, &csv(&recording, true)));
        assert_eq!(lines.len(), count);
        for (i, line) in lines.iter().enumerate() {
            assert!(line.get("routing").is_none(), "{line}");
            for (c, class) in model.classes().iter().enumerate() {
                let (p, e) = (&line["probabilities"][class], expected.get(0, i, c));
                assert!((p.as_f64().unwrap() - e).abs() < 1e-12, "{options}: {line}");
            }
        }
    }
    for (options, reason) in [
        ("", "--unseen-whitening"),
        ("--unseen-whitening own-mean", "--calibration"),
        (
            "--unseen-whitening causal --unseen-embedding zero",
            "`recommended` has none",
        ),
        ("--domain S01 --unseen-embedding nearest", "embedding"),
        (
            "--unseen-whitening own-mean --calibration m.stiefel",
            "is a model `recommended`",
        ),
    ] {
        let (exit, message) = code(&stream(&home, options, b""));
        assert_eq!(exit, 2, "{options}: {message}");
        assert!(message.contains(reason), "{options}: {message}");
    }
}

#[test]
fn bad_samples_are_named_and_a_reader_that_leaves_is_no_error() {
    let home = home();
    let recording = study().recording(0, 0, 0).unwrap();
    let good = csv(&recording, true);
    let with = |line: &str| [&good[..], line.as_bytes()].concat();
    let last = recording.samples() + 2;
    for (input, options, exit, reason) in [
        (
            with("1,2,3\n"),
            "--domain S01",
            1,
            format!("line {last}: 3 values, 13 channels"),
        ),
        (
            with("a,b,c,d,e,f,g,h,i,j,k,l,m\n"),
            "--domain S01",
            1,
            format!("line {last}, value 1: \"a\""),
        ),
        (
            good[..1000].to_vec(),
            "--domain S01 --format f64",
            1,
            "bytes".into(),
        ),
        (
            good.clone(),
            "--domain S01 --channels C3,C4",
            2,
            "the model needs channel".into(),
        ),
        (
            good.clone(),
            "--domain S01 --window 3.5,0.5",
            2,
            "the smaller first, as 0.5,3.5".into(),
        ),
        (
            good.clone(),
            "--domain S01 --band 8,90",
            2,
            "--band 8,90: the model was trained with 8,32".into(),
        ),
        (
            good.clone(),
            "--domain S01 --band wide",
            2,
            "two numbers".into(),
        ),
        (good.clone(), "--domain S01 --block 0", 2, "--block".into()),
        (good.clone(), "--domain S01 --hop 0", 2, "hops of 0".into()),
    ] {
        let (found, message) = code(&stream(&home, options, &input));
        assert_eq!(found, exit, "{options}: {message}");
        assert!(message.contains(&reason), "{options}: {message}");
    }
    // Nothing in, nothing out.
    assert!(lines(&stream(&home, "--domain S01", b"")).is_empty());

    let mut command = home.command("stream m.stiefel --domain S01 --hop 0.05");
    let mut child = started(command.stdin(Stdio::piped()));
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(&good);
    drop(stdin);
    let output = finish(child);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

/// The recordings of the study with every event at a multiple of a quarter of a second, so that a window of the stream ends where a trial ends.
fn write_aligned(folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for item in study().recordings() {
        let item = item.unwrap();
        let r = &item.recording;
        let mut events = r.events().to_vec();
        for event in &mut events {
            event.sample = event.sample / 32 * 32;
            event.onset = event.sample as f64 / 128.0;
        }
        let channels = r.channels().to_vec();
        let moved = Recording::new(channels, 128.0, r.data().to_vec(), events).unwrap();
        let name = format!("S{:02}R{}.edf", item.subject + 1, item.run + 1);
        super::recordings::write_edf(&folder.join(name), &moved);
    }
}

/// Band, window and estimator are the model's: nobody says them again, and nobody can say others.
#[test]
fn a_stream_is_decoded_as_the_model_was_trained() {
    for model in ["recommended", "dasp --epochs 1"] {
        let home = Home::new();
        write_aligned(&home.0.join("eeg"));
        home.text(
            "prepare eeg -o ds.npz --classes T1=hands,T2=feet --band 10,28 --window 0,2 --estimator oas",
        );
        home.text(&format!("train ds.npz -o m.stiefel --model {model}"));
        for (file, domain) in [("eeg/S01R1.edf", "S01"), ("eeg/S02R2.edf", "S02")] {
            let recordings = read(home.0.join(file)).unwrap().into_recordings().unwrap();
            let recording = &recordings[0];
            let decisions = lines(&stream(
                &home,
                &format!("--domain {domain}"),
                &csv(recording, true),
            ));
            let predicted = home.run(&format!("predict m.stiefel {file} --causal --json"));
            assert!(predicted.status.success(), "{predicted:?}");
            let predicted = String::from_utf8(predicted.stdout).unwrap();
            let trials: Vec<Value> = (predicted.lines())
                .map(|l| serde_json::from_str(l).unwrap())
                .collect();
            assert_eq!(trials.len(), recording.events().len());
            for (trial, event) in trials.iter().zip(recording.events()) {
                let end = event.sample as u64 + 256;
                let decision = (decisions.iter())
                    .find(|line| line["sample"] == end)
                    .unwrap_or_else(|| panic!("no decision at {end}"));
                assert_eq!(decision["class"], trial["decision"]);
                for class in ["hands", "feet"] {
                    let p = |line: &Value| line["probabilities"][class].as_f64().unwrap();
                    let gap = (p(decision) - p(trial)).abs();
                    assert!(gap < 1e-6, "{model}, {file}, sample {end}: {gap:e}");
                }
            }
            // Filtered both ways the probabilities are others: the causal filter is what agrees.
            let both = home.run(&format!("predict m.stiefel {file} --json"));
            let both = String::from_utf8(both.stdout).unwrap();
            assert_ne!(both, predicted);
            // They are the same trials, and the model has seen them.
            let seen = |text: &str| -> Vec<Value> {
                let line = |l| serde_json::from_str::<Value>(l).unwrap()["seen"].clone();
                text.lines().map(line).collect()
            };
            assert_eq!(seen(&both), seen(&predicted));
            assert!(seen(&both).contains(&"trained".into()), "{both}");
        }
        for (options, reason) in [
            (
                "--band 8,32",
                "--band 8,32: the model was trained with 10,28",
            ),
            ("--rate 250", "--rate 250: the model was trained with 128"),
            (
                "--window 0.5,3.5",
                "--window 0.5,3.5: the model was trained with 0,2",
            ),
            (
                "--estimator sample",
                "--estimator sample: the model was trained with oas",
            ),
        ] {
            let (exit, message) = code(&stream(&home, &format!("--domain S01 {options}"), b""));
            assert_eq!(exit, 2, "{message}");
            assert!(message.contains(reason), "{message}");
        }
        // Saying the same again is no contradiction.
        let same = "--domain S01 --band 10,28 --window 0,2 --estimator oas --rate 128";
        assert!(stream(&home, same, b"").status.success());
    }
}

/// Covariances that came without their preparation: what makes a window must be said.
#[test]
fn a_model_of_unknown_origin_must_be_told() {
    let home = home_with("--model dasp --epochs 1 --precision f64 --no-embedding");
    let known = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let unknown = known.with_preparation(Preparation::Unknown);
    write_trials(home.0.join("bare.npz"), &unknown).unwrap();
    let recording = study().recording(0, 0, 0).unwrap();
    let samples = csv(&recording, true);
    let expected = lines(&stream(&home, "--domain S01", &samples));
    home.text(
        "train bare.npz -o m.stiefel --model dasp --epochs 1 --precision f64 --no-embedding --overwrite",
    );
    let (exit, message) = code(&stream(&home, "--domain S01", &samples));
    assert_eq!(exit, 2);
    assert!(
        message.contains("give --rate, --band (or --filtered), --window, --estimator"),
        "{message}"
    );
    let (_, message) = code(&stream(&home, "--domain S01 --rate 128 --filtered", b""));
    assert!(message.contains("give --window, --estimator"), "{message}");
    let told = "--domain S01 --rate 128 --band 8,32 --window 0.5,3.5 --estimator sample";
    assert_eq!(lines(&stream(&home, told, &samples)), expected);
    // Recordings cannot be prepared as such a model wants them.
    let (exit, message) = code(&home.run("predict m.stiefel eeg/S01R1.edf"));
    assert_eq!(exit, 2);
    assert!(message.contains("stiefel prepare"), "{message}");
    let (exit, message) = code(&home.run("predict m.stiefel eeg/S01R1.edf --causal"));
    assert_eq!(exit, 2);
    assert!(message.contains("unknown origin"), "{message}");
}
