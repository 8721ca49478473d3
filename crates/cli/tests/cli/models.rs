//! `train`, `predict`, `evaluate`, `--config`, `generate completions`.

use std::sync::OnceLock;

use serde_json::Value;
use stiefel::eeg::io::write_trials;
use stiefel::eeg::load;
use stiefel::eeg::select::Selection;
use stiefel::model::{FittedModel, Model};

use super::{Home, code, compare, finish, output, started};

/// Three simulated people on two days each, made once: the tests are not about simulating.
pub(super) const DATA: &str = "d.npz";

/// A home with the data in it.
pub(super) fn home() -> Home {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let home = Home::new();
    let path = home.0.join(DATA);
    let bytes = BYTES.get_or_init(|| {
        let source = "synthetic:bnci2015001,subjects=3,trials=8";
        write_trials(&path, &load(source, &Selection::default()).unwrap()).unwrap();
        std::fs::read(&path).unwrap()
    });
    std::fs::write(&path, bytes).unwrap();
    home
}

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A home with a network trained on the first two people.
fn trained(model: &str, options: &str) -> Home {
    let home = home();
    home.text(&format!(
        "train {DATA} -o m.stiefel --model {model} --subjects 1-2 --set epochs=2 --test 0.2 \
         {options}"
    ));
    home
}

#[test]
fn a_trained_model_predicts_what_the_library_does() {
    let home = trained("dasp", "--set precision=f64 --seed 3");
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    assert!(model.get::<Model<f64>>().is_some() && model.domains().len() == 4);
    let choice = Selection {
        subjects: Some("1-2".into()),
        ..Selection::default()
    };
    let trials = load(home.0.join(DATA).to_str().unwrap(), &choice).unwrap();
    let expected = model.decide(&trials, None).unwrap();
    let [trained, chose, _] = model.divide(&trials).unwrap();
    let printed = home.run(&format!("predict m.stiefel {DATA} --subjects 1-2 --json"));
    assert_eq!(
        code(&printed),
        (
            0,
            format!(
                "{} of {} trials were used to train the model\n",
                trained.len() + chose.len(),
                trials.len()
            )
        )
    );
    let lines = String::from_utf8(printed.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(json).collect();
    assert_eq!(lines.len(), trials.len());
    for (i, line) in lines.iter().enumerate() {
        for (c, class) in model.classes().iter().enumerate() {
            let p = line["probabilities"][class].as_f64().unwrap();
            assert_eq!(p, expected.probabilities.get(0, i, c));
        }
        let routing: Vec<f64> = line["routing"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        assert!((routing.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(
            line["decision"],
            model.classes()[expected.classes()[i]].as_str()
        );
        let seen = match (trained.contains(&i), chose.contains(&i)) {
            (true, _) => "trained",
            (false, true) => "chose",
            (false, false) => "",
        };
        assert_eq!(line["seen"], seen);
    }
    let csv = home.run(&format!("predict m.stiefel {DATA} --subjects 1-2"));
    let csv = String::from_utf8(csv.stdout).unwrap();
    let heading = csv.lines().next().unwrap();
    assert!(
        heading.starts_with("trial,domain,run,label,seen,decision,status,familiarity,distance,p_"),
        "{heading}"
    );
    assert!(heading.ends_with("alpha_3"), "{heading}");
    assert_eq!(csv.lines().count(), trials.len() + 1);
    let write = format!("predict m.stiefel {DATA} --subjects 1-2 -o p.csv");
    assert!(home.run(&write).status.success());
    assert_eq!(std::fs::read_to_string(home.0.join("p.csv")).unwrap(), csv);
    // What is there is not replaced unasked.
    let (exit, message) = code(&home.run(&write));
    assert_eq!(exit, 2);
    assert!(message.contains("--overwrite"), "{message}");
    assert!(home.run(&format!("{write} --overwrite")).status.success());
}

#[test]
fn a_model_is_judged_on_what_it_was_not_trained_on() {
    let home = trained("dasp", "");
    let record = json(&std::fs::read_to_string(home.0.join("m.stiefel.json")).unwrap());
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2 --json")));
    assert_eq!(value["new"]["scores"], record["test"]);
    assert_eq!(value["new"]["domains"].as_array().unwrap().len(), 4);
    for (part, count) in [
        ("new", "test"),
        ("chose", "validation"),
        ("trained", "train"),
    ] {
        assert_eq!(value[part]["scores"]["trials"], record["trials"][count]);
    }
    let judged = value["judged"].as_str().unwrap();
    assert!(judged.contains("that are new to the model"), "{judged}");
    let text = home.text(&format!("evaluate m.stiefel {DATA} --subjects 1-2"));
    for part in [
        "BALANCED ACCURACY",
        "too good to be scores",
        "no scores at all",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let text = home.text(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 1-2 --retrain"
    ));
    for part in [
        "that are new to the model",
        "permuted routing",
        "domain-mean routing",
        "hard top-1",
        "retrained K=1",
        "outing",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = json(&home.text(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 1-2 --json"
    )));
    assert_eq!(report["routing"]["report"]["scores"], record["test"]);
    // Trials that chose the epoch judge where there are no others, and are no evidence.
    home.text(&format!(
        "train {DATA} -o n.stiefel --model dasp --subjects 1-2 --set epochs=2"
    ));
    let chosen = home.text(&format!(
        "evaluate n.stiefel {DATA} --controls --subjects 1-2"
    ));
    assert!(
        chosen
            .contains("cannot be told from trials that also trained the model or chose its epoch"),
        "{chosen}"
    );
}

#[test]
fn people_the_model_never_saw_need_a_policy() {
    let home = trained("dasp", "--set domain_embedding=false");
    let evaluate = format!("evaluate m.stiefel {DATA} --subjects 3");
    let (exit, message) = code(&home.run(&evaluate));
    assert_eq!(exit, 2);
    assert!(
        message.contains("S03-1") && message.contains("--adapt"),
        "{message}"
    );
    for policy in ["pooled", "own-mean", "causal"] {
        let value = json(&home.text(&format!("{evaluate} --adapt {policy} --json")));
        assert_eq!(
            value["unseen"].as_array().unwrap().len(),
            value["new"]["domains"].as_array().unwrap().len()
        );
        assert!(
            value["unseen"][0].as_str().unwrap().contains(policy),
            "{value}"
        );
    }
    let (exit, message) = code(&home.run(&format!("{evaluate} --adapt pooled --embedding zero")));
    assert_eq!(exit, 2);
    assert!(message.contains("input-only"), "{message}");

    let home = trained("naive", "--set frechet_means=true");
    let (exit, message) = code(&home.run(&format!("{evaluate} --adapt pooled")));
    assert_eq!(exit, 2);
    assert!(message.contains("--embedding (zero, nearest"), "{message}");
    for embedding in ["zero", "nearest", "riemannian-nearest"] {
        home.text(&format!(
            "{evaluate} --adapt own-mean --embedding {embedding}"
        ));
    }
    let (exit, message) =
        code(&home.run(&format!("{evaluate} --adapt causal --embedding nearest")));
    assert_eq!(exit, 2);
    assert!(message.contains("causal"), "{message}");
}

#[test]
fn a_configuration_is_replayed_and_options_win() {
    let home = home();
    let file = format!(
        "epochs = 1\n[train]\nsource = \"{DATA}\"\nsubjects = \"1-2\"\noutput = \
         \"a.stiefel\"\nmodel = \"dasp\"\nseed = 5\nset = [\"domain_embedding=false\", \
         \"patience=1\"]\nclasses = [\"feet\", \"right_hand\"]\n[predict]\nformat = \"jsonl\"\n"
    );
    std::fs::write(home.0.join("run.toml"), file).unwrap();
    let first = json(&home.text("train --config run.toml --json"));
    assert_eq!(
        (
            first["model"]["settings"]["training"]["epochs"].as_u64(),
            first["model"]["settings"]["training"]["patience"].as_u64(),
            first["model"]["settings"]["training"]["seed"].as_u64()
        ),
        (Some(1), Some(1), Some(5))
    );
    assert_eq!(
        first["model"]["settings"]["architecture"]["domain_embedding"],
        false
    );
    let resolved = &first["configuration"]["train"];
    assert_eq!(
        (resolved["source"].as_str(), resolved["seed"].as_str()),
        (home.0.join(DATA).to_str(), Some("5"))
    );

    // From what was left beside the model: the same model to the byte.
    home.text("train --config a.stiefel.json -o b.stiefel");
    let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
    assert_eq!(bytes("a.stiefel"), bytes("b.stiefel"));
    let won = json(&home.text("train --config run.toml --seed 6 -o c.stiefel --json"));
    assert_eq!(won["model"]["settings"]["training"]["seed"], 6);
    assert_ne!(bytes("a.stiefel"), bytes("c.stiefel"));

    let full = format!("[train]\nsource = \"{DATA}\"\noutput = \"x.stiefel\"\nmodel = \"dasp\"\n");
    std::fs::write(home.0.join("bad.toml"), format!("{full}epoch = 3\n")).unwrap();
    std::fs::write(
        home.0.join("nested.toml"),
        format!("{full}epochs = [[3]]\n"),
    )
    .unwrap();
    std::fs::write(home.0.join("broken.toml"), "[train\n").unwrap();
    std::fs::write(home.0.join("none.json"), "{}").unwrap();
    let mut said = Vec::new();
    for (file, reason) in [
        (
            "bad.toml",
            "epoch = 3 in bad.toml: dasp has no such setting; did you mean epochs?",
        ),
        (
            "nested.toml",
            "epochs = [[3]] in nested.toml: must be a whole number",
        ),
        ("broken.toml", "--config takes TOML"),
        ("none.json", "configuration"),
        ("missing.toml", "No such file"),
    ] {
        let (exit, message) = code(&home.run(&format!("train --config {file}")));
        assert_eq!(exit, 2, "{message}");
        assert!(message.contains(reason), "{message}");
        said.push(format!("$ stiefel train --config {file}\n{message}\n"));
    }
    compare("config_errors", &said.concat());
}

#[test]
fn bad_input_at_every_door() {
    let home = trained("spdnet", "");
    std::fs::write(
        home.0.join("cut.stiefel"),
        &std::fs::read(home.0.join("m.stiefel")).unwrap()[..2000],
    )
    .unwrap();
    home.text(
        "prepare synthetic:bnci2014001,subjects=1,trials=6 -o slow.npz --channels bnci2015001 \
         --classes right_hand,feet",
    );
    let mut said = Vec::new();
    for (arguments, exit, reason) in [
        ("train nowhere -o x.stiefel", 2, "neither a file"),
        ("train DATA", 2, "--output"),
        ("train DATA -o no/x.stiefel", 2, "there is no folder no"),
        ("train DATA -o m.stiefel", 2, "--overwrite"),
        (
            "train DATA -o x.stiefel --model magic",
            2,
            "one of: choir, dasp, spdnet, ts+lr",
        ),
        (
            "train DATA -o x.stiefel --model ts+lr --validation 0",
            2,
            "keep some",
        ),
        (
            "train DATA -o x.stiefel --model dasp --set sizes=bnci",
            2,
            "bnci2014001",
        ),
        (
            "train DATA -o x.stiefel --model dasp --set epochs=0",
            2,
            "--set epochs=0: must be a whole number of at least 1",
        ),
        (
            "train DATA -o x.stiefel --model dasp --set learning_rate=0",
            2,
            "--set learning_rate=0: must be a number above 0",
        ),
        (
            "train DATA -o x.stiefel --validation 0.7 --test 0.3",
            2,
            "held out",
        ),
        (
            "train DATA -o x.stiefel --model dasp --validation 0",
            2,
            "validation set is empty",
        ),
        (
            "train DATA -o x.stiefel --model dasp --set filters=14",
            2,
            "from 1 to the number of channels",
        ),
        ("train DATA -o x.stiefel --classes feet", 2, "classes"),
        (
            "train DATA -o x.stiefel --classes nose",
            2,
            "the classes are",
        ),
        (
            "train DATA -o x.stiefel --channels Q1",
            2,
            "there is no channel",
        ),
        ("train DATA -o x.stiefel --subjects 9", 2, "no subject 9"),
        (
            "train DATA -o x.stiefel --threads 0",
            2,
            "--threads 0: give at least 1",
        ),
        ("predict none.stiefel DATA", 1, "none.stiefel"),
        ("predict cut.stiefel DATA", 1, "cut.stiefel"),
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
            "predict m.stiefel DATA --subjects 1 -o no/p.csv",
            2,
            "there is no folder no",
        ),
        (
            "evaluate m.stiefel DATA --controls --subjects 3 --adapt pooled",
            2,
            "routing is judged on domains that had some (S01-1, S01-2",
        ),
        (
            "evaluate m.stiefel DATA --controls --subjects 1 --retrain",
            2,
            "--retrain is for models that route",
        ),
        ("generate completions tcsh", 2, "possible values"),
    ] {
        let (found, message) = code(&home.run(&arguments.replace("DATA", DATA)));
        assert_eq!(found, exit, "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
        said.push(format!("$ stiefel {arguments}\n{message}\n"));
    }
    // How long the header is depends on the last digits of the numbers in it.
    let cut: usize = 2000;
    let said = said.concat();
    let announced = said.split("its header announces ").nth(1).unwrap();
    let length = announced.split(':').next().unwrap().to_owned();
    assert!(length.parse::<usize>().unwrap() > cut);
    compare("model_errors", &said.replace(&length, "LENGTH"));
    assert!(!home.0.join("x.stiefel").exists());
    assert!(
        home.text(&format!(
            "evaluate m.stiefel {DATA} --controls --subjects 1-2"
        ))
        .contains("does not route")
    );
    let model = json(&home.text("inspect m.stiefel --json"));
    assert_eq!(model["names"]["channel_count"], 13);
    assert!(home.text("inspect m.stiefel").contains("SPDNet"));
}

#[test]
fn completions_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.text(&format!("generate completions {shell}"));
        assert!(script.contains("adapt"), "{shell}");
    }
}

#[test]
fn help_of_the_commands() {
    let home = Home::new();
    for name in [
        "prepare",
        "inspect",
        "train",
        "predict",
        "evaluate",
        "live",
        "generate completions",
        "calibrate",
        "study",
        "study main",
    ] {
        compare(
            &format!("{}_help", name.replace(' ', "_")),
            &home.text(&format!("{name} --help")),
        );
    }
    compare("convert_help", &home.text("data convert --help"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_best_epoch() {
    let home = Home::new();
    super::recordings::write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    let train =
        "train ds.npz -o m.stiefel --model dasp --set epochs=1000000 --set patience=1000000";
    // Long enough for an epoch on any machine, in the end.
    for milliseconds in [500_u64, 2_000, 8_000, 30_000] {
        let child = started(&mut home.command(train));
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let id = child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-INT", &id])
                .status()
                .unwrap()
                .success()
        );
        let output = finish(child);
        if output.status.code() == Some(130) && home.0.join("m.stiefel").exists() {
            let (_, message) = code(&output);
            assert!(message.contains("the best so far"), "{message}");
            let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
            assert!(model.record().unwrap().cancelled);
            assert!(home.run("predict m.stiefel ds.npz").status.success());
            return;
        }
        // Before the first epoch there is nothing to keep, and before training Ctrl-C ends the
        // program as usual.
        assert!(!home.0.join("m.stiefel").exists());
    }
    panic!("no epoch was over after half a minute");
}

/// Names of files and labels come from strangers.
#[test]
fn names_command_neither_terminal_nor_spreadsheet() {
    let home = Home::new();
    super::recordings::write_study(&home.0.join("eeg"));
    let mut prepare = home.command("prepare eeg -o ds.npz --classes");
    let prepared = output(prepare.arg("T1=@HYPERLINK(1),T2=\u{1b}]0;title\u{7}"));
    assert!(prepared.status.success(), "{prepared:?}");
    home.text("train ds.npz -o m.stiefel --model mdm --test 0.2");
    for arguments in [
        "inspect ds.npz",
        "inspect ds.npz --json",
        "inspect m.stiefel",
        "evaluate m.stiefel ds.npz",
        "evaluate m.stiefel ds.npz --json",
        "predict m.stiefel ds.npz",
        "predict m.stiefel ds.npz --json",
    ] {
        let ended = home.run(arguments);
        assert!(ended.status.success(), "{arguments}: {ended:?}");
        let text = [ended.stdout, ended.stderr].concat();
        assert!(!text.contains(&0x1b) && !text.contains(&7), "{arguments}");
    }
    let csv = home.run("predict m.stiefel ds.npz").stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains(",'@HYPERLINK(1)"), "{csv}");
}

#[test]
fn quiet_verbose_and_color_are_options_of_every_command() {
    let home = home();
    let loud = home.run("train d.npz -o a.stiefel --model mdm -v");
    let said = String::from_utf8(loud.stderr).unwrap();
    let set = stiefel::linalg::instruction_set().unwrap();
    assert!(
        said.contains(&format!("{set}, ")) && said.contains(" threads, "),
        "{said}"
    );
    let quiet = home.run("-q train d.npz -o b.stiefel --model mdm");
    assert!(
        quiet.status.success() && quiet.stderr.is_empty(),
        "{quiet:?}"
    );
    assert_eq!(
        home.run("train d.npz -o c.stiefel -q -v").status.code(),
        Some(2)
    );
    let help = home.run("train --help --color always").stdout;
    assert!(help.contains(&0x1b));
    assert!(
        !home
            .run("train --help --color never")
            .stdout
            .contains(&0x1b)
    );
}
