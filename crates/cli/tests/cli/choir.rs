//! CHOIR on one view: `train`, `predict`, `evaluate`, `inspect`.

use serde_json::Value;
use stiefel::data::{Factor, Trials};
use stiefel::eeg::io::write_trials;
use stiefel::eeg::load;
use stiefel::eeg::select::Selection;
use stiefel::linalg::MatBatch;
use stiefel::model::choir::{Choir, ChoirConfig};
use stiefel::model::diagnostics::{RoutedBy, RoutingEvidence};
use stiefel::model::metrics::{Scores, score};
use stiefel::model::precondition::Adaptation;
use stiefel::model::{AdaptPolicy, FittedModel};

use super::models::{DATA, home, json};
use super::{Home, code, compare, finish, started};

const TRAIN: &str = "train d.npz --subjects 1-2 --test 0.2 --model choir";

/// A home with a model of the first two people.
fn trained(options: &str) -> Home {
    let home = home();
    home.text(&format!("{TRAIN} -o m.stiefel {options}"));
    home
}

fn model(home: &Home) -> FittedModel {
    FittedModel::load(home.0.join("m.stiefel")).unwrap()
}

fn data(home: &Home, subjects: &str) -> Trials {
    let choice = Selection {
        subjects: Some(subjects.into()),
        ..Selection::default()
    };
    load(home.0.join(DATA).to_str().unwrap(), &choice).unwrap()
}

fn record(home: &Home) -> Value {
    json(&std::fs::read_to_string(home.0.join("m.stiefel.json")).unwrap())
}

/// What the model says of trials of people it was trained on, one by one.
fn decisions(model: &FittedModel, trials: &Trials) -> Vec<f64> {
    let choir: &Choir = model.get().unwrap();
    let one = |i: usize| {
        let domain = model.names().domain(trials.domains().label(i)).unwrap();
        choir
            .decide(domain, trials.covariances().matrix(i))
            .unwrap()
    };
    (0..trials.len()).flat_map(one).collect()
}

fn scores(model: &FittedModel, trials: &Trials) -> Scores {
    let truth = model.names().class_of_each(trials).unwrap();
    score(&truth, &decisions(model, trials), model.classes().len()).unwrap()
}

/// The probabilities that `predict` prints, trial after trial.
fn predicted(home: &Home, options: &str, model: &FittedModel) -> Vec<f64> {
    let output = home.run(&format!("predict m.stiefel {DATA} --json {options}"));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all = Vec::new();
    for line in text.lines().map(json) {
        assert!(line.get("routing").is_none(), "{line}");
        let p = model.classes().iter().map(|c| &line["probabilities"][c]);
        all.extend(p.map(|p| p.as_f64().unwrap()));
    }
    all
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-12, "{f} and {e}");
    }
}

#[test]
fn figures_are_those_of_the_library() {
    let home = trained("--set filters=6 --seed 3");
    let (model, trials, record) = (model(&home), data(&home, "1-2"), record(&home));
    let choir: &Choir = model.get().unwrap();
    assert_eq!(choir.anchor().cols(), 6);
    let lines = predicted(&home, "--subjects 1-2", &model);
    close(&lines, &decisions(&model, &trials));

    let [_, _, new] = model.divide(&trials).unwrap();
    let test = trials.select(&new).unwrap();
    let scores = serde_json::to_value(scores(&model, &test)).unwrap();
    let judged = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    assert_eq!(judged["new"]["scores"], scores);
    assert_eq!(record["test"], scores);
    assert_eq!(judged["new"]["domains"].as_array().unwrap().len(), 4);
    let report = json(&home.text(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 1-2 --json"
    )));
    let truth = model.names().class_of_each(&test).unwrap();
    let domain = |i: usize| model.names().domain(test.domains().label(i)).unwrap();
    let domains: Vec<usize> = (0..test.len()).map(domain).collect();
    let expected = choir.report(&test, (&truth, &domains), 0).unwrap();
    assert_eq!(
        report["routing"]["report"],
        serde_json::to_value(&expected).unwrap()
    );
    let verdict = RoutingEvidence::from_report(&expected, RoutedBy::Domain, false).verdict();
    assert_eq!(
        report["routing"]["verdict"],
        serde_json::to_value(&verdict).unwrap()
    );
    let text = home.text(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 1-2"
    ));
    assert!(
        text.contains(expected.to_string().trim_end()) && text.contains(&verdict.sentence),
        "{text}"
    );
}

/// As the library and Python write them: without a record, maybe without names of channels.
#[test]
fn files_of_others_are_judged_too() {
    let home = home();
    let trials = data(&home, "1-2");
    let (classes, domains) = (trials.classes().clone(), trials.domains().clone());
    let unnamed = Trials::new(trials.covariances().clone(), classes, domains).unwrap();
    let model = FittedModel::from(Choir::fit(&unnamed, &ChoirConfig::default()).unwrap());
    model.save(home.0.join("m.stiefel"), false).unwrap();
    let text = home.text("inspect m.stiefel");
    assert!(
        text.contains("13 without names") && text.contains("not known"),
        "{text}"
    );
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    let scores = serde_json::to_value(scores(&model, &unnamed)).unwrap();
    assert_eq!(value["new"]["scores"], scores);
    // Nobody told it which trials these were, and it says so.
    let judged = value["judged"].as_str().unwrap();
    assert!(
        judged.starts_with("60 trials; the model file does not say"),
        "{judged}"
    );
    let (exit, message) = code(&home.run(&format!(
        "evaluate m.stiefel {DATA} --subjects 1-2 --channels C3,C4"
    )));
    assert_eq!(exit, 2);
    assert!(message.contains("13"), "{message}");
}

#[test]
fn validation_figures_are_from_before_the_second_fit() {
    let home = trained("--json");
    let twice = record(&home);
    let trials = data(&home, "1-2");
    let [again, chose, _] = model(&home).divide(&trials).unwrap();
    let counts = &twice["trials"];
    let count = |name: &str| counts[name].as_u64().unwrap() as usize;
    // Validation trials were fitted in the end: there is no score of them.
    assert_eq!(again.len(), count("train") + count("validation"));
    assert!(chose.is_empty());

    home.text(&format!(
        "{TRAIN} -o m.stiefel --set refit=false --overwrite"
    ));
    let once = record(&home);
    assert_eq!(once["trials"], twice["trials"]);
    assert_eq!(once["validation"], twice["validation"]);
    let [_, chose, _] = model(&home).divide(&trials).unwrap();
    let validation = trials.select(&chose).unwrap();
    let scores = scores(&model(&home), &validation);
    assert_eq!(once["validation"], serde_json::to_value(scores).unwrap());
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    assert_eq!(value["chose"]["scores"], once["validation"]);
    let judged = value["judged"].as_str().unwrap();
    assert!(judged.contains("that chose its epoch or its penalty"));
}

#[test]
fn people_it_never_saw_are_decided_by_the_shared_weights() {
    let home = trained("");
    let model = model(&home);
    let trials = data(&home, "3");
    let evaluate = format!("evaluate m.stiefel {DATA} --subjects 3");
    let (exit, message) = code(&home.run(&evaluate));
    assert_eq!(exit, 2);
    assert!(
        message.contains("S03-1") && message.contains("--adapt"),
        "{message}"
    );
    let kappa = 4.0;
    for (name, policy) in [
        ("pooled", Adaptation::Pooled),
        ("own-mean", Adaptation::OwnMean { kappa }),
        ("causal", Adaptation::Causal { kappa }),
    ] {
        let options = match policy {
            Adaptation::Pooled => format!("--subjects 3 --adapt {name}"),
            _ => format!("--subjects 3 --kappa 4 --adapt {name}"),
        };
        let found = predicted(&home, &options, &model);
        let unseen = AdaptPolicy::from(policy);
        let expected = model.decide(&trials, Some(&unseen)).unwrap();
        close(&found, expected.probabilities.data());
        let value = json(&home.text(&format!("{evaluate} --adapt {name} --json")));
        assert!(value["unseen"][0].as_str().unwrap().contains(name));
        home.text(&format!("{evaluate} --adapt {name} --embedding input-only"));
    }
    for embedding in ["zero", "nearest", "riemannian-nearest", "transductive"] {
        let (exit, message) = code(&home.run(&format!(
            "{evaluate} --adapt pooled --embedding {embedding}"
        )));
        assert_eq!(exit, 2);
        assert!(message.contains("but the model has none"), "{message}");
    }
}

#[test]
fn a_training_is_told_and_replayed_to_the_byte() {
    let home = home();
    let train = format!("{TRAIN} --set own=3 --set shared=0.25 --set refit=false");
    let told = json(&home.text(&format!("{train} -o a.stiefel --json")));
    let settings = &told["model"]["settings"];
    assert_eq!(
        (&settings["own"], &settings["shared"]),
        (&3.0.into(), &0.25.into())
    );
    assert_eq!(settings["refit"], false);
    assert!(told.get("epochs").is_none() && told["validation"].is_object());
    let kept = &told["configuration"]["train"];
    assert!(
        kept.get("epochs").is_none() && kept["own"] == 3,
        "nothing that does not apply: {kept}"
    );
    home.text("train --config a.stiefel.json -o b.stiefel");
    let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
    assert_eq!(bytes("a.stiefel"), bytes("b.stiefel"));
    // With its defaults, too; another split gives another model.
    home.text(&format!("{TRAIN} -o m.stiefel"));
    home.text("train --config m.stiefel.json -o n.stiefel");
    assert_eq!(bytes("m.stiefel"), bytes("n.stiefel"));
    home.text("train --config m.stiefel.json -o o.stiefel --seed 8");
    assert_ne!(bytes("m.stiefel"), bytes("o.stiefel"));

    let version = env!("CARGO_PKG_VERSION");
    // Without the figures, which another processor may round to others.
    let mut texts = Vec::new();
    let again = format!("{TRAIN} -o m.stiefel --overwrite");
    for line in home.text(&again).lines() {
        let (name, figures) = line.split_once("balanced accuracy").unwrap_or((line, ""));
        assert!(
            figures.is_empty() || figures.contains(", ROC-AUC "),
            "{line}"
        );
        texts.push(format!("{}\n", name.trim_end()));
    }
    for command in ["inspect m.stiefel", "inspect a.stiefel"] {
        let found = home.text(command).replace(version, "VERSION");
        texts.push(format!("\n$ stiefel {command}\n{found}"));
    }
    compare("choir", &texts.concat());
    let value = json(&home.text("inspect a.stiefel --json"));
    assert_eq!(
        (&value["model"], &value["settings"]),
        (&"choir".into(), settings)
    );
    assert_eq!(value["names"]["channel_count"], 13);
    home.text(&format!("{TRAIN} --set own=0 -o m.stiefel --overwrite"));
    let text = home.text(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 1-2"
    ));
    assert!(text.contains("the same weights"), "{text}");
    let text = home.text("inspect m.stiefel");
    assert!(text.contains("the same weights for everybody"), "{text}");
}

#[test]
fn bad_input_at_every_door() {
    let home = trained("");
    let good = std::fs::read(home.0.join("m.stiefel")).unwrap();
    std::fs::write(home.0.join("cut.stiefel"), &good[..good.len() - 9]).unwrap();
    let name = br#""kind":"choir""#;
    let at = good.windows(name.len()).position(|w| w == name).unwrap();
    let mut other = good.clone();
    other[at + 8] = b'C';
    std::fs::write(home.0.join("other.stiefel"), &other).unwrap();
    home.text(&format!(
        "train {DATA} -o n.stiefel --model spdnet --set epochs=1"
    ));
    home.text(
        "prepare synthetic:bnci2014001,subjects=1,trials=6 -o slow.npz --channels bnci2015001 \
         --classes right_hand,feet",
    );
    let mut said = Vec::new();
    for (arguments, exit, reason) in [
        (
            "TRAIN --set experts=4",
            2,
            "its settings are filters, further_filters, kappa",
        ),
        (
            "TRAIN --set epochs=40 --set learning_rate=0.01",
            2,
            "--set epochs=40: choir has no such setting; its settings are ",
        ),
        ("TRAIN --set precision=f64", 2, "--set precision=f64: "),
        ("TRAIN --set experts", 2, "give a name and a value"),
        (
            "TRAIN --set own=many",
            2,
            "--set own=many: must be a number of at least 0",
        ),
        (
            "train DATA -o x.stiefel --model dasp --set own=8",
            2,
            "its settings are anchor, batch_norm, ",
        ),
        ("TRAIN --set shared=0", 2, "must be a number above 0"),
        ("TRAIN --set filters=0", 2, "at least 1"),
        (
            "TRAIN --set own=-1",
            2,
            "--set own=-1: must be a number of at least 0",
        ),
        (
            "TRAIN --set view_weights=[1,0]",
            2,
            "a list, each a number above 0",
        ),
        ("TRAIN --classes feet", 2, "the number of classes"),
        ("predict cut.stiefel DATA", 1, "cut off"),
        ("inspect cut.stiefel", 1, "cut off"),
        ("predict other.stiefel DATA", 1, "\"Choir\""),
        (
            "predict m.stiefel DATA --channels C3,C4",
            2,
            "the model needs channel",
        ),
        (
            "evaluate m.stiefel slow.npz",
            2,
            "the model was trained with 8–32 Hz, 0.5–5 s",
        ),
        (
            "predict m.stiefel DATA --subjects 3",
            2,
            "had no training trials",
        ),
        (
            "predict m.stiefel DATA --subjects 3 --adapt own-mean --kappa=-1",
            2,
            "--kappa -1: must be a number of at least 0",
        ),
        (
            "evaluate m.stiefel DATA --controls --subjects 3 --adapt pooled",
            2,
            "routing is judged on domains that had some (S01-1, S01-2",
        ),
        (
            "evaluate m.stiefel DATA --controls --retrain",
            2,
            "--retrain is for models that route",
        ),
        ("predict m.stiefel m.stiefel", 2, "is a model choir"),
        ("predict n.stiefel n.stiefel", 2, "is a model spdnet"),
        ("predict DATA DATA", 1, "DATA: not a stiefel model"),
    ] {
        let train = "train DATA -o x.stiefel --model choir";
        let line = arguments.replace("TRAIN", train).replace("DATA", DATA);
        let (found, message) = code(&home.run(&line));
        assert_eq!(found, exit, "{line}: {message}");
        let reason = reason.replace("DATA", DATA);
        assert!(message.contains(&reason), "{line}: {message}");
        said.push(format!("$ stiefel {line}\n{message}\n"));
    }
    compare("choir_errors", &said.concat());
    assert!(!home.0.join("x.stiefel").exists());
}

/// Trials of many channels, on which a fit takes seconds.
#[cfg(unix)]
fn write_large(home: &Home) {
    const N: usize = 60;
    let count = 600;
    let level = |i: usize, r: usize| (((i * 31 + r * 17) % 23) as f64 / 8.0).exp();
    let x = MatBatch::from_fn(count, N, N, |i, r, c| {
        // A prime, so that no trial is another one again.
        let near = ((i * 7919 + r * c * 104_729) % 1009) as f64 / 20_000.0;
        // What all electrodes share, as those of one head do.
        let shared = 0.5 + if r == c { 1.0 } else { near };
        level(i, r) * level(i, c) * shared
    });
    let classes = Factor::from_labels((0..count).map(|i| ["hand", "feet"][i % 2]));
    let domains = Factor::from_labels((0..count).map(|i| format!("s{}", i / 100)));
    let trials = Trials::new(x, classes, domains).unwrap();
    write_trials(home.0.join("large.npz"), &trials).unwrap();
}

/// A fit without epochs has nothing to keep when it is stopped.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    let home = Home::new();
    write_large(&home);
    for model in ["choir --set filters=60", "recentred-mdm"] {
        let train = format!("train large.npz -o m.stiefel --model {model}");
        let stopped = [300_u64, 600, 1_200, 2_400, 4_800]
            .into_iter()
            .any(|milliseconds| {
                let child = started(&mut home.command(&train));
                std::thread::sleep(std::time::Duration::from_millis(milliseconds));
                let id = child.id().to_string();
                let kill = std::process::Command::new("kill")
                    .args(["-INT", &id])
                    .status();
                assert!(kill.unwrap().success());
                let output = finish(child);
                for file in ["m.stiefel", "m.stiefel.json"] {
                    assert!(
                        !home.0.join(file).exists(),
                        "{model}, {milliseconds} ms: {file}"
                    );
                }
                // Before the fit, Ctrl-C ends the program as usual.
                let ended = output.status.code() == Some(130);
                if ended {
                    let (_, message) = code(&output);
                    assert!(message.contains("nothing was written"), "{message}");
                }
                ended
            });
        assert!(
            stopped,
            "{model}: the fit had not begun after five seconds: {:?}",
            home.run(&train)
        );
    }
}
