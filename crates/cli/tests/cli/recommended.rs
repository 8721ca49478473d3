//! The preset `recommended`: `train`, `predict`, `evaluate`, `diagnose`, `inspect`.

use serde_json::Value;
use stiefel::model::diagnostics::{RoutedBy, RoutingEvidence};
use stiefel::model::pooled::{PooledConfig, PooledModel};
use stiefel::model::precondition::UnseenPolicy;
use stiefel::model::{Factor, Trials};
use stiefel::study::{DataChoice, Dataset, load};

use super::models::{DATA, home, json};
use super::{Home, code, compare};

const TRAIN: &str = "train d.npz --model recommended --subjects 1-2 --test 0.2";

/// A home with a model of the first two people.
fn trained(options: &str) -> Home {
    let home = home();
    home.text(&format!("{TRAIN} -o m.stiefel {options}"));
    home
}

fn model(home: &Home) -> PooledModel {
    PooledModel::load(home.0.join("m.stiefel")).unwrap()
}

fn data(home: &Home, subjects: &str) -> Dataset {
    let choice = DataChoice {
        subjects: Some(subjects.into()),
        ..DataChoice::default()
    };
    load(home.0.join(DATA).to_str().unwrap(), &choice).unwrap()
}

fn record(home: &Home) -> Value {
    json(&std::fs::read_to_string(home.0.join("m.stiefel.json")).unwrap())
}

fn part(record: &Value, name: &str) -> Vec<usize> {
    serde_json::from_value(record["split"][name].clone()).unwrap()
}

/// The probabilities that `predict` prints, trial after trial.
fn predicted(home: &Home, options: &str, model: &PooledModel) -> Vec<f64> {
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

/// The same trials with the classes in the order of the model: those of one person alone may come in another.
fn numbered(trials: &Trials, model: &PooledModel) -> Trials {
    let names = trials.classes().indices().iter();
    let names = names.map(|&c| trials.classes().name(c));
    let at = names.map(|n| model.classes().iter().position(|c| c == n).unwrap());
    let classes = Factor::new("class", model.classes().to_vec(), at.collect()).unwrap();
    let domains = trials.domains().clone();
    Trials::new(trials.covariances().clone(), classes, domains).unwrap()
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
    let (model, data, record) = (model(&home), data(&home, "1-2"), record(&home));
    assert_eq!(model.anchor().cols(), 6);
    let all = model.evaluate(&data.trials).unwrap();
    let lines = predicted(&home, "--subjects 1-2", &model);
    close(&lines, all.probabilities.data());

    let test = data.trials.select(&part(&record, "test")).unwrap();
    let scores = serde_json::to_value(model.score(&test).unwrap()).unwrap();
    let judged = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    assert_eq!(judged["scores"], scores);
    assert_eq!(record["test"], scores);
    assert_eq!(judged["domains"].as_array().unwrap().len(), 4);
    let report = json(&home.text(&format!("diagnose m.stiefel {DATA} --subjects 1-2 --json")));
    let expected = model.report(&test, 0).unwrap();
    assert_eq!(report["report"], serde_json::to_value(&expected).unwrap());
    let verdict = RoutingEvidence::of(&expected, RoutedBy::Domain, false).verdict();
    assert_eq!(report["verdict"], serde_json::to_value(&verdict).unwrap());
    let text = home.text(&format!("diagnose m.stiefel {DATA} --subjects 1-2"));
    assert!(
        text.contains(expected.to_string().trim_end()) && text.contains(&verdict.sentence),
        "{text}"
    );
    // Other data of the same people: nothing to name with --training.
    let text = home.text(&format!("diagnose m.stiefel {DATA} --subjects 1"));
    assert!(!text.contains("--training"), "{text}");
}

/// As the library and Python write them: without a record, maybe without names of channels.
#[test]
fn files_of_others_are_judged_too() {
    let home = home();
    let data = data(&home, "1-2");
    let (classes, domains) = (data.trials.classes(), data.trials.domains());
    let x = data.trials.covariances().clone();
    let unnamed = Trials::new(x, classes.clone(), domains.clone()).unwrap();
    let own = PooledModel::fit(&unnamed, &unnamed, &PooledConfig::default()).unwrap();
    own.save(home.0.join("m.stiefel")).unwrap();
    assert!(home.text("inspect m.stiefel").contains("13 without names"));
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    let scores = serde_json::to_value(own.score(&unnamed).unwrap()).unwrap();
    assert_eq!(value["scores"], scores);
    assert_eq!(value["judged"], "60 trials");
    let (exit, message) = code(&home.run(&format!(
        "evaluate m.stiefel {DATA} --subjects 1-2 --channels C3,C4"
    )));
    assert_eq!(exit, 1);
    assert!(message.contains("trained on 13"), "{message}");
}

#[test]
fn validation_figures_are_from_before_the_second_fit() {
    let home = trained("--json");
    let (twice, parts) = (record(&home), part(&record(&home), "validation"));
    assert_eq!(model(&home).trials().1, parts.len());
    let text = home.text(&format!(
        "evaluate m.stiefel {DATA} --subjects 1-2 --part validation"
    ));
    assert!(text.contains("scores are too good"), "{text}");

    home.text(&format!("{TRAIN} -o m.stiefel --no-refit"));
    let (once, data) = (record(&home), data(&home, "1-2"));
    assert_eq!(once["split"], twice["split"]);
    assert_eq!(once["validation"], twice["validation"]);
    let validation = data.trials.select(&parts).unwrap();
    let scores = model(&home).score(&validation).unwrap();
    assert_eq!(once["validation"], serde_json::to_value(scores).unwrap());
    let value = json(&home.text(&format!(
        "evaluate m.stiefel {DATA} --subjects 1-2 --part validation --json"
    )));
    assert_eq!(value["scores"], once["validation"]);
    assert!(value["judged"].as_str().unwrap().contains("chose C (train"));
}

#[test]
fn people_it_never_saw_are_decided_by_the_shared_weights() {
    let home = trained("");
    let model = model(&home);
    let data = data(&home, "3");
    let evaluate = format!("evaluate m.stiefel {DATA} --subjects 3");
    let (exit, message) = code(&home.run(&evaluate));
    assert_eq!(exit, 2);
    assert!(
        message.contains("S03-1")
            && message.contains("--unseen-whitening")
            && !message.contains("--unseen-embedding"),
        "{message}"
    );
    let kappa = 4.0;
    for (name, policy) in [
        ("pooled", UnseenPolicy::Pooled),
        ("own-mean", UnseenPolicy::OwnMean { kappa }),
        ("causal", UnseenPolicy::Causal { kappa }),
    ] {
        let options = format!("--subjects 3 --kappa 4 --unseen-whitening {name}");
        let found = predicted(&home, &options, &model);
        let (domains, classes) = (data.trials.domains(), model.classes().len());
        for domain in domains.present() {
            let at: Vec<usize> = (0..data.trials.len())
                .filter(|&i| domains.indices()[i] == domain)
                .collect();
            let own = numbered(&data.trials.select(&at).unwrap(), &model);
            let expected = model.evaluate_unseen(&own, policy).unwrap();
            let found: Vec<f64> = (at.iter())
                .flat_map(|i| found[i * classes..][..classes].to_vec())
                .collect();
            close(&found, expected.probabilities.data());
        }
        let value = json(&home.text(&format!("{evaluate} --unseen-whitening {name} --json")));
        assert!(value["unseen"][0].as_str().unwrap().contains(name));
        home.text(&format!(
            "{evaluate} --unseen-whitening {name} --unseen-embedding input-only"
        ));
    }
    for subjects in ["1", "3"] {
        for embedding in ["zero", "nearest", "riemannian-nearest", "transductive"] {
            let (exit, message) = code(&home.run(&format!(
                "evaluate m.stiefel {DATA} --subjects {subjects} --unseen-whitening pooled --unseen-embedding {embedding}"
            )));
            assert_eq!(exit, 2);
            assert!(message.contains("has no domain embedding"), "{message}");
        }
    }
}

#[test]
fn a_training_is_told_and_replayed_to_the_byte() {
    let home = home();
    let train = format!("{TRAIN} --c 2,0.5 --rho 3 --no-refit");
    let told = json(&home.text(&format!("{train} -o a.stiefel --json")));
    assert!(told["c"] == 2.0 || told["c"] == 0.5, "{told}");
    assert_eq!(told["model"]["head"]["ratio"], 3.0);
    assert_eq!(told["model"]["refit"], false);
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
    for line in home.text(&format!("{TRAIN} -o m.stiefel")).lines() {
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
    assert_eq!(
        (&value["model"]["c"], &value["model"]["sizes"]["channels"]),
        (&told["c"], &13.into())
    );
    home.text(&format!("{TRAIN} --rho 0 -o m.stiefel"));
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
        ("TRAIN --epochs 40 --lr 0.01", 2, "leave out --epochs, --lr"),
        ("TRAIN --patience 3 --batch 8", 2, "--patience, --batch"),
        ("TRAIN --preset auto", 2, "leave out --preset"),
        ("TRAIN --precision f64", 2, "leave out --precision"),
        ("TRAIN --no-embedding", 2, "leave out --no-embedding"),
        (
            "train DATA -o x.stiefel --rho 8 --c 1 --no-refit",
            2,
            "leave out --c, --rho, --no-refit",
        ),
        ("TRAIN --filters 0", 2, "at least 1"),
        ("TRAIN --rho=-1", 2, "zero or above"),
        ("TRAIN --c 1,0", 2, "above 0"),
        ("TRAIN --c one", 2, "invalid"),
        ("TRAIN --validation 0", 1, "validation trials"),
        ("TRAIN --classes feet", 2, "the number of classes"),
        ("predict cut.stiefel DATA", 1, "cut off"),
        ("inspect cut.stiefel", 1, "cut off"),
        ("predict other.stiefel DATA", 1, "Stiefel-pooled"),
        (
            "predict m.stiefel DATA --channels C3,C4",
            1,
            "the model was trained on 13",
        ),
        (
            "evaluate m.stiefel synthetic:bnci2014001,subjects=1,trials=6",
            2,
            "the model has no class",
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
            "had no training trials",
        ),
        (
            "diagnose m.stiefel DATA --retrain",
            2,
            "--retrain is for networks",
        ),
        (
            "diagnose m.stiefel DATA --training DATA",
            2,
            "--training is for networks",
        ),
        ("predict m.stiefel m.stiefel", 2, "is a model `recommended`"),
        ("predict n.stiefel n.stiefel", 2, "is a trained network"),
        ("predict DATA DATA", 1, "DATA: not a stiefel model"),
    ] {
        let train = "train DATA -o x.stiefel --model recommended";
        let line = arguments.replace("TRAIN", train).replace("DATA", DATA);
        let (found, message) = code(&home.run(&line));
        assert_eq!(found, exit, "{line}: {message}");
        let reason = reason.replace("DATA", DATA);
        assert!(message.contains(&reason), "{line}: {message}");
        said.push(format!("$ stiefel {line}\n{message}\n"));
    }
    compare("recommended_errors", &said.concat());
    assert!(!home.0.join("x.stiefel").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    let home = home();
    // As many fits as would take minutes.
    let many: Vec<String> = (1..=200_000).map(|c| format!("{c}")).collect();
    let file = format!(
        "[train]\nsource = \"{DATA}\"\noutput = \"m.stiefel\"\nmodel = \"recommended\"\nc = [{}]\n",
        many.join(",")
    );
    std::fs::write(home.0.join("slow.toml"), file).unwrap();
    for milliseconds in [1_000_u64, 4_000, 16_000] {
        let mut command = home.command("train --config slow.toml");
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
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
