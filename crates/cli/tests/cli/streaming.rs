//! `live --from stdin`: samples on the standard input, decisions on the standard output.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;
use stiefel::data::Preparation;
use stiefel::eeg::Recording;
use stiefel::eeg::covariance::Estimator;
use stiefel::eeg::io::{read, write_trials};
use stiefel::eeg::live::{Live, LiveConfig, WindowSpec};
use stiefel::eeg::load;
use stiefel::eeg::select::Selection;
use stiefel::eeg::signal::{Band, Sos};
use stiefel::linalg::MatBatch;
use stiefel::model::choir::Choir;
use stiefel::model::precondition::Adaptation;
use stiefel::model::{AdaptPolicy, Factor, FittedModel, Trials};

use super::recordings::{study, write_study};
use super::{Home, code, finish, started};

/// A home with a model of two people.
fn home() -> Home {
    home_with("--model dasp --set epochs=1 --set precision=f64 --set domain_embedding=false")
}

fn home_with(options: &str) -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    home.text(&format!("train ds.npz -o m.stiefel {options}"));
    home
}

/// Windows of 3 s every half second, filtered as in training, once the filter has settled: where
/// they end, and their covariances.
fn windows(samples: &[f64]) -> Vec<(u64, Vec<f64>)> {
    let filter = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
    let mut chain = Live::new(LiveConfig {
        channels: 13,
        bands: vec![Some(filter)],
        views: vec![WindowSpec {
            band: 0,
            samples: 384,
        }],
        memory: 384,
        estimator: Estimator::Sample,
    })
    .unwrap();
    let mut windows = Vec::new();
    for frame in samples.chunks(13) {
        chain.push(frame).unwrap();
        let end = chain.samples();
        if end.is_multiple_of(64) && end >= chain.settled() + 384 {
            let mut covariance = vec![0.0; 13 * 13];
            chain.covariance(0, end - 384, &mut covariance).unwrap();
            windows.push((end, covariance));
        }
    }
    windows
}

pub(super) fn stream(home: &Home, options: &str, input: &[u8]) -> Output {
    let mut command = home.command(&format!("live m.stiefel --from stdin {options}"));
    let mut child = started(command.stdin(Stdio::piped()));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that stopped early does not read the rest.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = finish(child);
    writer.join().unwrap();
    output
}

/// Lines about windows, without the only value that differs from run to run.
pub(super) fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let lines = text.lines().map(|l| serde_json::from_str(l).unwrap());
    let mut lines: Vec<Value> = lines.filter(|l: &Value| l["type"] == "window").collect();
    assert!(
        text.lines().last().unwrap().contains("\"summary\""),
        "{text}"
    );
    for line in &mut lines {
        let time = line.as_object_mut().unwrap().remove("milliseconds");
        assert!(time.unwrap().as_f64().unwrap() >= 0.0);
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
    let mut session = model.session("S01", None, &[]).unwrap();
    let mut expected = Vec::new();
    for (end, covariance) in windows(&frames) {
        let decision = session.decide(&covariance).unwrap();
        expected.push((end, decision.class, decision.probabilities.to_vec()));
    }
    // Two epochs on two people: what the model finds familiar is not the question here.
    let options = "--domain S01 --hop 0.5 --unfamiliar off";
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
    assert!(message.contains("--adapt"), "{message}");
    let (exit, message) = code(&stream(&home, "--adapt own-mean", &samples));
    assert_eq!(exit, 2, "{message}");
    assert!(message.contains("--calibration"), "{message}");
    let causal = lines(&stream(&home, "--domain new --adapt causal", &samples));
    let own = lines(&stream(
        &home,
        "--adapt own-mean --calibration ds.npz",
        &samples,
    ));
    assert_eq!(causal.len(), own.len());
    assert_ne!(causal, own);
    let (exit, message) = code(&stream(&home, "--domain S01 --adapt pooled", &samples));
    assert_eq!(exit, 2);
    assert!(message.contains("is for other domains"), "{message}");
}

/// CHOIR decides windows as it decides trials, of known people and of a new person under every
/// policy.
#[test]
fn choir_streams_what_it_evaluates() {
    let home = home_with("--model choir");
    let recording = study().recording(0, 0, 0).unwrap();
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    let windows: Vec<f64> = windows(&frames(&recording))
        .into_iter()
        .flat_map(|w| w.1)
        .collect();
    let count = windows.len() / (13 * 13);
    let windows = MatBatch::from_vec(count, 13, 13, windows).unwrap();
    let labels = Factor::new("class", model.classes().to_vec(), vec![0; count]).unwrap();
    let decided = |domain: &str, policy: Option<Adaptation>| {
        let domain = Factor::from_labels(vec![domain; count]);
        let trials = Trials::new(windows.clone(), labels.clone(), domain).unwrap();
        let unseen = policy.map(AdaptPolicy::from);
        let decided = model.decide(&trials, unseen.as_ref()).unwrap();
        decided.probabilities
    };
    let source = home.0.join("ds.npz");
    let seen = load(source.to_str().unwrap(), &Selection::default()).unwrap();
    let choir: &Choir = model.get().unwrap();
    let own = Adaptation::OwnMean { kappa: 10.0 };
    let mut new = choir.new_person(None, &seen.matrices(), own).unwrap();
    let after = (0..count).flat_map(|i| new.decide(choir, windows.matrix(i)).unwrap());
    let after = MatBatch::from_vec(1, count, model.classes().len(), after.collect());
    for (options, expected) in [
        ("--domain S01", decided("S01", None)),
        ("--adapt pooled", decided("new", Some(Adaptation::Pooled))),
        ("--adapt own-mean --calibration ds.npz", after.unwrap()),
    ] {
        let options = format!("--hop 0.5 --unfamiliar off {options}");
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
        ("", "--adapt"),
        ("--adapt own-mean", "--calibration"),
        ("--adapt causal --embedding zero", "but the model has none"),
        ("--domain S01 --embedding nearest", "embedding"),
        (
            "--adapt own-mean --calibration m.stiefel",
            "is a model choir",
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
    for (input, options, exit, reason) in [
        (
            &good[..],
            "--domain S01 --format f64",
            2,
            "are csv; say that it is csv",
        ),
        (
            &good,
            "--domain S01 --channels C3,C4",
            2,
            "there is no channel",
        ),
        (
            &good,
            "--domain S01 --window 3.5,0.5",
            2,
            "the smaller first, for example 0.5,3.5",
        ),
        (
            &good,
            "--domain S01 --band 8,90",
            2,
            "--band 8,90: the model was trained with 8,32",
        ),
        (&good, "--domain S01 --band wide", 2, "two numbers"),
        (&good, "--domain S01 --block 0", 2, "--block"),
        (&good, "--domain S01 --hop 0", 2, "a hop of 0 was asked for"),
        (
            &good,
            "--domain S01 --markers event",
            2,
            "does not name a column \"event\"",
        ),
        (
            &good,
            "--domain S01 --unfamiliar never",
            2,
            "a number above 0, or off",
        ),
        (
            &good,
            "--domain S01 --freeze",
            2,
            "--freeze keeps the running mean",
        ),
        (
            &good,
            "",
            2,
            "whose signal is it? Give --domain with one of S01",
        ),
        // Nothing in, or too little, is no success.
        (&good[..0], "--domain S01", 1, "the input is empty"),
        (
            &good[..20_000],
            "--domain S01",
            1,
            "a window takes 384 samples (3.0 s)",
        ),
    ] {
        let (found, message) = code(&stream(&home, options, input));
        assert_eq!(found, exit, "{options}: {message}");
        assert!(message.contains(reason), "{options}: {message}");
    }

    let mut command = home.command("live m.stiefel --from stdin --domain S01 --hop 0.05");
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

/// The recordings of the study with every event at a multiple of a quarter of a second, so that a
/// window of the stream ends where a trial ends.
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
    for model in ["choir", "dasp --set epochs=1", "recentred-ts+lr"] {
        let home = Home::new();
        write_aligned(&home.0.join("eeg"));
        home.text(
            "prepare eeg -o ds.npz --classes T1=hands,T2=feet --band 10,28 --window 0,2 \
             --estimator oas",
        );
        home.text(&format!("train ds.npz -o m.stiefel --model {model}"));
        for (file, domain) in [("eeg/S01R1.edf", "S01"), ("eeg/S02R2.edf", "S02")] {
            let recordings = read(home.0.join(file)).unwrap().into_recordings().unwrap();
            let recording = &recordings[0];
            let decisions = lines(&stream(
                &home,
                &format!("--domain {domain} --unfamiliar off"),
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
        let (exit, message) = code(&stream(&home, same, b""));
        assert!(
            exit == 1 && message.contains("the input is empty"),
            "{message}"
        );
    }
}

/// Covariances that came without their preparation: what makes a window must be said.
#[test]
fn a_model_of_unknown_origin_must_be_told() {
    let home =
        home_with("--model dasp --set epochs=1 --set precision=f64 --set domain_embedding=false");
    let known = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let unknown = known.with_preparation(Preparation::Unknown);
    write_trials(home.0.join("bare.npz"), &unknown).unwrap();
    let recording = study().recording(0, 0, 0).unwrap();
    let samples = csv(&recording, true);
    let expected = lines(&stream(&home, "--domain S01", &samples));
    home.text(
        "train bare.npz -o m.stiefel --model dasp --set epochs=1 --set precision=f64 --set \
         domain_embedding=false --overwrite",
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

/// One bad sample, one short line, a flat stretch: lines that say so, and decisions before and
/// after.
#[test]
fn bad_samples_are_rejected_and_the_stream_goes_on() {
    let home = home();
    let recording = study().recording(0, 0, 0).unwrap();
    let text = String::from_utf8(csv(&recording, true)).unwrap();
    let clean = lines(&stream(
        &home,
        "--domain S01 --unfamiliar off",
        text.as_bytes(),
    ));
    assert!(clean.iter().all(|l| l["status"] == "decided"));
    let rows: Vec<&str> = text.lines().collect();
    let nan = rows[1].replacen(|c: char| c.is_ascii_digit(), "x", 1);
    let flat = rows[3000];
    for (change, reason) in [(&nan[..], "non-finite"), ("1,2,3", "short"), (flat, "flat")] {
        let mut rows = rows.clone();
        let count = if reason == "flat" { 200 } else { 1 };
        rows[3001..3001 + count].fill(change);
        let found = lines(&stream(
            &home,
            "--domain S01 --unfamiliar off",
            (rows.join("\n") + "\n").as_bytes(),
        ));
        assert_eq!(found.len(), clean.len());
        let with = |status: &str| found.iter().filter(|l| l["status"] == status).count();
        let said = found.iter().filter(|l| l["reason"] == reason).count();
        assert!(
            said > 5 && with("decided") > clean.len() / 2,
            "{reason}: {said}"
        );
        assert!(
            found
                .iter()
                .all(|l| l["status"] == "decided" || l["class"].is_null())
        );
        assert_eq!(found[0], clean[0]);
    }
}

/// A recording played again: its events are cues, and the trials are those of `predict --causal`.
#[test]
fn a_recording_is_replayed_trial_by_trial() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let others = "eeg/S01R2.edf eeg/S02R1.edf eeg/S02R2.edf";
    home.text(&format!(
        "prepare {others} -o ds.npz --classes T1=hands,T2=feet"
    ));
    home.text("train ds.npz -o m.stiefel");
    let replayed = home.run(
        "live m.stiefel --from replay:eeg/S01R1.edf --speed max --domain S01 --unfamiliar off",
    );
    let trials = lines(&replayed);
    let predicted = home.run("predict m.stiefel eeg/S01R1.edf --causal --json");
    let predicted = String::from_utf8(predicted.stdout).unwrap();
    let predicted: Vec<Value> = predicted
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(trials.len(), predicted.len());
    for (live, offline) in trials.iter().zip(&predicted) {
        assert_eq!(live["class"], offline["decision"], "{live} {offline}");
        let gap = live["probabilities"]["feet"].as_f64().unwrap()
            - offline["probabilities"]["feet"].as_f64().unwrap();
        assert!(gap.abs() < 1e-6, "{gap}");
    }
    let told = String::from_utf8(replayed.stderr.clone()).unwrap();
    for part in [
        "accuracy live",
        "accuracy offline",
        "from the last sample to the line",
        "99 %",
    ] {
        assert!(told.contains(part), "{told}");
    }
    // The same samples as text with a column of markers say the same.
    let recordings = read(home.0.join("eeg/S01R1.edf"))
        .unwrap()
        .into_recordings()
        .unwrap();
    let recording = &recordings[0];
    let text = String::from_utf8(csv(recording, true)).unwrap();
    let marked: Vec<String> = (text.lines().enumerate())
        .map(|(i, line)| match i.checked_sub(1) {
            None => format!("{line},event"),
            Some(t) => {
                let event = recording.events().iter().find(|e| e.sample == t);
                format!("{line},{}", event.map_or("0", |e| &e.label))
            }
        })
        .collect();
    let mut streamed = lines(&stream(
        &home,
        "--domain S01 --markers event --unfamiliar off",
        (marked.join("\n") + "\n").as_bytes(),
    ));
    let mut replayed = trials.clone();
    for line in replayed.iter_mut().chain(&mut streamed) {
        line.as_object_mut().unwrap().remove("stamp");
    }
    assert_eq!(streamed, replayed);
    // And so do they over TCP.
    let sender = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = sender.local_addr().unwrap();
    let text = marked.join("\n") + "\n";
    let sending = std::thread::spawn(move || sender.accept().unwrap().0.write_all(text.as_bytes()));
    let heard = home.run(&format!(
        "live m.stiefel --from tcp:{address} --markers event --domain S01 --unfamiliar off"
    ));
    sending.join().unwrap().unwrap();
    let mut heard = lines(&heard);
    for line in &mut heard {
        line.as_object_mut().unwrap().remove("stamp");
    }
    assert_eq!(heard, replayed);
    // With hops there is accuracy against time.
    let both = home.run(
        "live m.stiefel --from replay:eeg/S01R1.edf --speed max --domain S01 --hop 0.5 \
         --unfamiliar off",
    );
    assert!(String::from_utf8(both.stderr).unwrap().contains("bits/min"));
    for (options, reason) in [
        (
            "--from somewhere --domain S01",
            "give stdin, tcp:HOST:PORT, replay:FILE or lsl:WHICH",
        ),
        (
            "--from lsl:colour=red --domain S01",
            "does not describe an LSL stream",
        ),
        ("--from replay:none.edf --domain S01", "none.edf"),
        (
            "--from tcp:127.0.0.1 --domain S01",
            "give stdin, tcp:HOST:PORT",
        ),
        (
            "--from tcp:127.0.0.1:1 --domain S01",
            "no connection to 127.0.0.1:1",
        ),
        (
            "--from replay:eeg/S01R1.edf --wait 3 --domain S01",
            "--wait is for LSL streams",
        ),
        (
            "--from replay:eeg/S01R1.edf --markers lsl:type=Markers --domain S01",
            "--markers is for streams",
        ),
        (
            "--from stdin --speed max --domain S01",
            "--speed is for a recording",
        ),
        ("--from replay:eeg/S01R1.edf --listen 127.0.0.1:0", "--page"),
        (
            "--from lsl:type=EEG --liblsl none.so --domain S01",
            "none.so is not an LSL library",
        ),
        (
            "--from replay:eeg/S01R1.edf --speed max --calibrate new.stiefel",
            "give it with --domain",
        ),
    ] {
        let (exit, message) = code(&home.run(&format!("live m.stiefel {options}")));
        assert!(exit == 1 || exit == 2, "{options}: {message}");
        assert!(message.contains(reason), "{options}: {message}");
    }
}

/// Somebody new is calibrated on the spot; the model that was written decides for them, and their
/// mean goes on where causal whitening says so.
#[test]
fn who_was_calibrated_on_the_spot_goes_on_learning_where_asked() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    home.text("train ds.npz -o m.stiefel --model choir --subjects 2");
    let replay = "--from replay:eeg/S01R1.edf --speed max --domain S01";
    let calibrated = home.run(&format!(
        "live m.stiefel {replay} --adapt causal --calibrate c.stiefel"
    ));
    assert!(calibrated.status.success(), "{calibrated:?}");
    assert!(home.text("inspect c.stiefel").contains("calibrated"));
    let again = replay.replace("R1", "R2");
    let decided = |options: &str| {
        let output = home.run(&format!("live c.stiefel {again} {options}"));
        assert!(output.status.success(), "{output:?}");
        lines(&output)
    };
    let (fixed, learning) = (decided(""), decided("--adapt causal"));
    assert_eq!(fixed.len(), learning.len());
    assert_ne!(fixed, learning);
    for (options, reason) in [
        ("--adapt own-mean", "only causal whitening"),
        ("--adapt pooled", "only causal whitening"),
        ("--calibration ds.npz", "--calibration is for other domains"),
    ] {
        let (exit, message) = code(&home.run(&format!("live c.stiefel {again} {options}")));
        assert_eq!(exit, 2, "{options}: {message}");
        assert!(message.contains(reason), "{options}: {message}");
    }
}
