//! The preset `recommended-1`: `train`, `predict`, `evaluate`, `diagnose`, `inspect`.

use serde_json::Value;
use stiefel::data::Trials;
use stiefel::eeg::load;
use stiefel::eeg::select::DataChoice;
use stiefel::model::diagnostics::{RoutedBy, RoutingEvidence};
use stiefel::model::pooled::{PooledConfig, PooledModel};
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{FittedModel, Unseen};

use super::models::{DATA, home, json};
use super::{Home, code, compare, finish, started};

const TRAIN: &str = "train d.npz --subjects 1-2 --test 0.2 --model recommended-1";

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
    let choice = DataChoice {
        subjects: Some(subjects.into()),
        ..DataChoice::default()
    };
    load(home.0.join(DATA).to_str().unwrap(), &choice).unwrap()
}

fn record(home: &Home) -> Value {
    json(&std::fs::read_to_string(home.0.join("m.stiefel.json")).unwrap())
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
    let home = trained("--filters 6 --seed 3");
    let (model, trials, record) = (model(&home), data(&home, "1-2"), record(&home));
    let preset = model.preset().unwrap();
    assert_eq!(preset.anchor().cols(), 6);
    let all = preset.evaluate(&trials).unwrap();
    let lines = predicted(&home, "--subjects 1-2", &model);
    close(&lines, all.probabilities.data());

    let [_, _, new] = model.divide(&trials).unwrap();
    let test = trials.select(&new).unwrap();
    let scores = serde_json::to_value(preset.score(&test).unwrap()).unwrap();
    let judged = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    assert_eq!(judged["new"]["scores"], scores);
    assert_eq!(record["test"], scores);
    assert_eq!(judged["new"]["domains"].as_array().unwrap().len(), 4);
    let report = json(&home.text(&format!("diagnose m.stiefel {DATA} --subjects 1-2 --json")));
    let expected = preset.report(&test, 0).unwrap();
    assert_eq!(report["report"], serde_json::to_value(&expected).unwrap());
    let verdict = RoutingEvidence::of(&expected, RoutedBy::Domain, false).verdict();
    assert_eq!(report["verdict"], serde_json::to_value(&verdict).unwrap());
    let text = home.text(&format!("diagnose m.stiefel {DATA} --subjects 1-2"));
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
    let own = PooledModel::fit(&unnamed, &unnamed, &PooledConfig::default()).unwrap();
    let model = FittedModel::from(own.clone());
    model.save(home.0.join("m.stiefel"), false).unwrap();
    let text = home.text("inspect m.stiefel");
    assert!(
        text.contains("13 without names") && text.contains("not known"),
        "{text}"
    );
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    let scores = serde_json::to_value(own.score(&unnamed).unwrap()).unwrap();
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
    // Trials that chose C were fitted in the end: there is no score of them.
    assert_eq!(again.len(), count("train") + count("validation"));
    assert!(chose.is_empty());

    home.text(&format!("{TRAIN} -o m.stiefel --no-refit --overwrite"));
    let once = record(&home);
    assert_eq!(once["trials"], twice["trials"]);
    assert_eq!(once["validation"], twice["validation"]);
    let [_, chose, _] = model(&home).divide(&trials).unwrap();
    let validation = trials.select(&chose).unwrap();
    let scores = model(&home).preset().unwrap().score(&validation).unwrap();
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
        message.contains("S03-1") && message.contains("--unseen-whitening"),
        "{message}"
    );
    let kappa = 4.0;
    for (name, policy) in [
        ("pooled", UnseenPolicy::Pooled),
        ("own-mean", UnseenPolicy::OwnMean { kappa }),
        ("causal", UnseenPolicy::Causal { kappa }),
    ] {
        let options = match policy {
            UnseenPolicy::Pooled => format!("--subjects 3 --unseen-whitening {name}"),
            _ => format!("--subjects 3 --kappa 4 --unseen-whitening {name}"),
        };
        let found = predicted(&home, &options, &model);
        let unseen = Unseen::from(policy);
        let expected = model.decide(&trials, Some(&unseen)).unwrap();
        close(&found, expected.probabilities.data());
        let value = json(&home.text(&format!("{evaluate} --unseen-whitening {name} --json")));
        assert!(value["unseen"][0].as_str().unwrap().contains(name));
        home.text(&format!(
            "{evaluate} --unseen-whitening {name} --unseen-embedding input-only"
        ));
    }
    for embedding in ["zero", "nearest", "riemannian-nearest", "transductive"] {
        let (exit, message) = code(&home.run(&format!(
            "{evaluate} --unseen-whitening pooled --unseen-embedding {embedding}"
        )));
        assert_eq!(exit, 2);
        assert!(message.contains("`recommended` has none"), "{message}");
    }
}

#[test]
fn a_training_is_told_and_replayed_to_the_byte() {
    let home = home();
    let train = format!("{TRAIN} --c 2,0.5 --rho 3 --no-refit");
    let told = json(&home.text(&format!("{train} -o a.stiefel --json")));
    let c = told["chosen"].as_str().unwrap();
    assert!(c == "2 of 2, 0.5" || c == "0.5 of 2, 0.5", "{told}");
    assert_eq!(told["model"]["config"]["head"]["ratio"], 3.0);
    assert_eq!(told["model"]["config"]["refit"], false);
    assert!(told.get("epochs").is_none() && told["validation"].is_object());
    let kept = &told["configuration"]["train"];
    assert!(
        kept.get("epochs").is_none() && kept["rho"] == "3",
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
    compare("recommended", &texts.concat());
    let value = json(&home.text("inspect a.stiefel --json"));
    assert_eq!(value["format"], "stiefel-pooled");
    assert_eq!(value["model"]["sizes"]["channels"], 13);
    assert!(c.starts_with(&format!("{} of", value["model"]["c"].as_f64().unwrap())));
    home.text(&format!("{TRAIN} --rho 0 -o m.stiefel --overwrite"));
    let text = home.text(&format!("diagnose m.stiefel {DATA} --subjects 1-2"));
    assert!(text.contains("the same weights"), "{text}");
    assert!(home.text("inspect m.stiefel").contains("everybody (ρ = 0)"));
}

#[test]
fn bad_input_at_every_door() {
    let home = trained("");
    let good = std::fs::read(home.0.join("m.stiefel")).unwrap();
    std::fs::write(home.0.join("cut.stiefel"), &good[..good.len() - 9]).unwrap();
    let name = b"stiefel-pooled";
    let at = good.windows(name.len()).position(|w| w == name).unwrap();
    let mut other = good.clone();
    other[at] = b'S';
    std::fs::write(home.0.join("other.stiefel"), &other).unwrap();
    home.text(&format!(
        "train {DATA} -o n.stiefel --model spdnet --epochs 1"
    ));
    let mut said = Vec::new();
    for (arguments, exit, reason) in [
        ("TRAIN --experts 4", 2, "leave out --experts"),
        (
            "TRAIN --epochs 40 --learning-rate 0.01",
            2,
            "leave out --epochs, --learning-rate",
        ),
        ("TRAIN --patience 3 --batch 8", 2, "--patience, --batch"),
        ("TRAIN --preset auto", 2, "leave out --preset"),
        ("TRAIN --precision f64", 2, "leave out --precision"),
        ("TRAIN --no-embedding", 2, "leave out --no-embedding"),
        (
            "train DATA -o x.stiefel --model dasp --rho 8 --c 1 --no-refit",
            2,
            "leave out --c, --rho, --no-refit",
        ),
        ("TRAIN --own-variance 1", 2, "leave out --own-variance"),
        (
            "train DATA -o x.stiefel --rho 8 --c 1",
            2,
            "--model recommended does not train a network, and has no penalty to choose; leave out --c, --rho",
        ),
        (
            "train DATA -o x.stiefel --shared-variance 0",
            2,
            "0.1 is usual",
        ),
        ("TRAIN --filters 0", 2, "at least 1"),
        ("TRAIN --rho=-1", 2, "zero or above"),
        ("TRAIN --c 1,0", 2, "above 0"),
        ("TRAIN --c one", 2, "invalid"),
        ("TRAIN --validation 0", 2, "validation trials"),
        ("TRAIN --classes feet", 2, "the number of classes"),
        ("predict cut.stiefel DATA", 1, "cut off"),
        ("inspect cut.stiefel", 1, "cut off"),
        ("predict other.stiefel DATA", 1, "Stiefel-pooled"),
        (
            "predict m.stiefel DATA --channels C3,C4",
            2,
            "the model needs channel",
        ),
        (
            "evaluate m.stiefel synthetic:bnci2014001,subjects=1,trials=6",
            2,
            "the model was trained with 512 Hz, but the trials have 250 Hz",
        ),
        (
            "predict m.stiefel DATA --subjects 3",
            2,
            "had no training trials",
        ),
        (
            "predict m.stiefel DATA --subjects 3 --unseen-whitening own-mean --kappa=-1",
            2,
            "κ",
        ),
        (
            "diagnose m.stiefel DATA --subjects 3",
            2,
            "routing is judged on domains that had some (S01-1, S01-2",
        ),
        (
            "diagnose m.stiefel DATA --retrain",
            2,
            "--retrain is for networks",
        ),
        (
            "predict m.stiefel m.stiefel",
            2,
            "is a model `recommended-1`",
        ),
        ("predict n.stiefel n.stiefel", 2, "is a trained network"),
        ("predict DATA DATA", 1, "DATA: not a stiefel model"),
    ] {
        let train = "train DATA -o x.stiefel --model recommended-1";
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

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    let home = home();
    // As many fits as would take minutes.
    let many: Vec<String> = (1..=200_000).map(|c| format!("{c}")).collect();
    let file = format!(
        "[train]\nsource = \"{DATA}\"\noutput = \"m.stiefel\"\nmodel = \"recommended-1\"\nc = [{}]\n",
        many.join(",")
    );
    std::fs::write(home.0.join("slow.toml"), file).unwrap();
    for milliseconds in [1_000_u64, 4_000, 16_000] {
        let child = started(&mut home.command("train --config slow.toml"));
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(kill.unwrap().success());
        let output = finish(child);
        assert!(!home.0.join("m.stiefel").exists() && !home.0.join("m.stiefel.json").exists());
        // Before the fit, Ctrl-C ends the program as usual.
        if output.status.code() == Some(130) {
            let (_, message) = code(&output);
            assert!(message.contains("nothing was written"), "{message}");
            return;
        }
    }
    panic!("the fit had not begun after a quarter of a minute");
}
