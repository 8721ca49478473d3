//! The peers as models: every command that takes a model file takes theirs, with the same safety.

use serde_json::Value;
use stiefel::eeg::io::read;
use stiefel::model::FittedModel;
use stiefel::model::kind::Kind;
use stiefel::model::metrics::score;
use stiefel::model::registry::KINDS;

use super::models::json;
use super::recordings::write_study;
use super::streaming::lines;
use super::{Home, code};

/// Recordings of two people, and their trials: of one view, of two, and in another band.
fn prepared() -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let prepare = "prepare eeg --classes T1=hands,T2=feet --reject off";
    home.text(&format!("{prepare} -o one.npz"));
    home.text(&format!(
        "{prepare} -o two.npz --views 8-32@0.5-3.5,10-14@0.5-3.5"
    ));
    home.text(&format!("{prepare} -o other.npz --band 10,28"));
    home
}

fn peers() -> impl Iterator<Item = &'static dyn Kind> {
    KINDS.iter().copied().filter(|kind| kind.is_peer())
}

/// The trials that a model of a kind is trained on.
fn source(kind: &dyn Kind) -> &'static str {
    if kind.takes_views() {
        "two.npz"
    } else {
        "one.npz"
    }
}

fn train(home: &Home, kind: &dyn Kind, options: &str) -> Value {
    let (source, name) = (source(kind), kind.name());
    json(&home.text(&format!(
        "train {source} -o m.stiefel --model {name} --overwrite --json {options}"
    )))
}

fn probabilities(line: &Value, classes: &[String]) -> Vec<f64> {
    let p = classes.iter().map(|class| &line["probabilities"][class]);
    p.map(|p| p.as_f64().unwrap()).collect()
}

#[test]
fn figures_are_those_of_the_library_and_seen_trials_are_named() {
    let home = prepared();
    for kind in peers() {
        let (source, name) = (source(kind), kind.name());
        let record = train(&home, kind, "--test 0.25");
        let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
        assert_eq!(model.name(), name);
        let trials = read(home.0.join(source)).unwrap().into_trials().unwrap();
        let decided = model.decide(&trials, None).unwrap();
        let classes = model.classes();

        let value = json(&home.text(&format!("evaluate m.stiefel {source} --json")));
        let [trained, chose, new] = model.divide(&trials).unwrap();
        for (part, at, count) in [
            ("trained", &trained, "train"),
            ("chose", &chose, "validation"),
            ("new", &new, "test"),
        ] {
            let part = &value[part]["scores"];
            assert_eq!(part["trials"], record["trials"][count], "{name}");
            let truth = model.names().class_of_each(&trials.select(at).unwrap());
            let row =
                |&i: &usize| &decided.probabilities.data()[i * classes.len()..][..classes.len()];
            let p: Vec<f64> = at.iter().flat_map(row).copied().collect();
            let scores = score(&truth.unwrap(), &p, classes.len()).unwrap();
            assert_eq!(*part, serde_json::to_value(scores).unwrap(), "{name}");
        }
        assert_eq!(value["new"]["scores"], record["test"]);

        let output = home.run(&format!("predict m.stiefel {source} --json"));
        let (exit, told) = code(&output);
        let seen = trained.len() + chose.len();
        assert!(
            exit == 0 && told.starts_with(&format!("{seen} of {}", trials.len())),
            "{told}"
        );
        let text = String::from_utf8(output.stdout).unwrap();
        for (i, line) in text.lines().map(json).enumerate() {
            let expected: Vec<f64> = (0..classes.len())
                .map(|c| decided.probabilities.get(0, i, c))
                .collect();
            assert_eq!(probabilities(&line, classes), expected, "{name}, trial {i}");
            let seen = match (trained.contains(&i), chose.contains(&i)) {
                (true, _) => "trained",
                (_, true) => "chose",
                _ => "",
            };
            assert_eq!(line["seen"], seen);
        }
        let text = home.text("inspect m.stiefel");
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = format!("model {name}: {}", kind.about());
        assert!(words.join(" ").contains(&said), "{text}");
        let report = home.text(&format!("evaluate m.stiefel {source} --controls"));
        assert!(report.contains("does not route"), "{report}");
        // Trained on everything, it has no score.
        train(&home, kind, "--validation 0.3");
        let value = json(&home.text(&format!("evaluate m.stiefel {source} --json")));
        assert!(value["new"].is_null(), "{value}");
    }
}

#[test]
fn another_preparation_is_refused_and_a_policy_asked_for() {
    let home = prepared();
    for kind in peers() {
        let (source, name) = (source(kind), kind.name());
        train(&home, kind, "--subjects 1");
        let evaluate = |options: &str| code(&home.run(&format!("evaluate m.stiefel {options}")));
        let (exit, message) = evaluate("other.npz");
        assert_eq!(exit, 2, "{name}: {message}");
        assert!(
            message.contains("the model was trained with"),
            "{name}: {message}"
        );
        let (exit, message) = evaluate(&format!("{source} --channels C3,C4"));
        assert!(
            exit == 2 && message.contains("the model needs channel"),
            "{message}"
        );
        // A person without training trials needs a policy where there is anything for it to do.
        let new = format!("{source} --subjects 2");
        let (exit, message) = evaluate(&new);
        if kind.adapts() {
            assert!(
                exit == 2 && message.contains("--adapt"),
                "{name}: {message}"
            );
        } else {
            assert_eq!(exit, 0, "{name}: {message}");
        }
        let (exit, message) = evaluate(&format!("{new} --adapt own-mean"));
        assert_eq!(exit, 0, "{name}: {message}");
        let (exit, message) = evaluate(&format!("{new} --adapt pooled --embedding zero"));
        assert!(
            exit == 2 && message.contains("the model has none"),
            "{name}: {message}"
        );
    }
}

#[test]
fn a_replay_decides_what_predict_decides_and_flags_what_is_unfamiliar() {
    let home = prepared();
    for kind in peers() {
        let name = kind.name();
        train(&home, kind, "--test 0.25");
        let replay = "live m.stiefel --from replay:eeg/S01R1.edf --speed max --domain S01";
        let trials = lines(&home.run(&format!("{replay} --unfamiliar off")));
        let predicted = home.run("predict m.stiefel eeg/S01R1.edf --causal --json");
        let predicted = String::from_utf8(predicted.stdout).unwrap();
        let predicted: Vec<Value> = predicted.lines().map(json).collect();
        assert_eq!(trials.len(), predicted.len(), "{name}");
        let classes = ["hands".to_owned(), "feet".to_owned()];
        for (live, offline) in trials.iter().zip(&predicted) {
            let (p, q) = (
                probabilities(live, &classes),
                probabilities(offline, &classes),
            );
            assert!((p[0] - q[0]).abs() < 1e-6, "{name}: {live} {offline}");
        }
        // Far from all training trials nothing is decided.
        let flagged = lines(&home.run(&format!("{replay} --unfamiliar 0.01")));
        assert!(
            !flagged.is_empty() && flagged.iter().all(|line| line["status"] == "unfamiliar"),
            "{name}: {flagged:?}"
        );
    }
}

#[test]
fn labelled_trials_calibrate_the_regressions() {
    let home = prepared();
    for kind in peers() {
        let (source, name) = (source(kind), kind.name());
        train(&home, kind, "--subjects 1");
        let calibrate = format!("calibrate m.stiefel {source} --subjects 2 --per-class 4");
        let (exit, message) = code(&home.run(&format!("{calibrate} -o c.stiefel --overwrite")));
        if !kind.calibrates(2) {
            assert!(
                exit == 2 && message.contains("no weights that labelled trials could move"),
                "{name}: {message}"
            );
            continue;
        }
        assert_eq!(exit, 0, "{name}: {message}");
        let value = json(&home.text(&format!("evaluate c.stiefel {source} --subjects 2 --json")));
        let count = |part: &str| value[part]["scores"]["trials"].as_u64();
        assert_eq!(
            (count("trained"), count("new")),
            (Some(8), Some(8)),
            "{name}: {value}"
        );
        assert!(home.text("inspect c.stiefel").contains("S02 (8)"), "{name}");
        // The first person is decided as before, to the bit.
        let predict = |model: &str| {
            let output = home.run(&format!("predict {model} {source} --subjects 1 --json"));
            assert!(output.status.success(), "{output:?}");
            output.stdout
        };
        assert_eq!(predict("m.stiefel"), predict("c.stiefel"), "{name}");
        let again = home.run(&format!(
            "calibrate c.stiefel {source} --subjects 2 --per-class 4 -o x"
        ));
        let (exit, message) = code(&again);
        assert!(
            exit == 2 && message.contains("among those the model was made with"),
            "{message}"
        );
    }
}
