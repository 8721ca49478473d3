//! A kind of model that one file and one line of the registry add, found at every command.

use serde_json::Value;
use stiefel::eeg::io::read;
use stiefel::model::FittedModel;

use super::models::json;
use super::recordings::write_study;
use super::streaming::lines;
use super::{Home, code};

#[test]
fn a_new_kind_is_found_at_every_command() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    let trials = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();

    assert!(home.text("train --help").contains("\n  toy "));
    let train = "train ds.npz --model toy --set sharpness=0.5 --test 0.25";
    let record = json(&home.text(&format!("{train} -o m.stiefel --json")));
    assert_eq!(record["model"]["settings"]["sharpness"], 0.5);
    home.text("train --config m.stiefel.json -o n.stiefel");
    let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
    assert_eq!(bytes("m.stiefel"), bytes("n.stiefel"));
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    assert_eq!(model.to_bytes().unwrap(), bytes("m.stiefel"));
    let expected = model.decide(&trials, None).unwrap().probabilities;

    let value = json(&home.text("evaluate m.stiefel ds.npz --json"));
    assert_eq!(value["new"]["scores"], record["test"]);
    let predicted = |options: &str| -> Vec<Value> {
        let output = home.run(&format!("predict m.stiefel {options} --json"));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(json).collect()
    };
    let hands = |line: &Value| line["probabilities"]["hands"].as_f64().unwrap();
    let place = model.classes().iter().position(|c| c == "hands").unwrap();
    let found: Vec<f64> = predicted("ds.npz").iter().map(hands).collect();
    let row = |i: usize| expected.get(0, i, place);
    assert_eq!(found, (0..trials.len()).map(row).collect::<Vec<_>>());

    let replay = "live m.stiefel --from replay:eeg/S01R1.edf --speed max --domain S01";
    let live: Vec<f64> = lines(&home.run(replay)).iter().map(hands).collect();
    let offline = predicted("eeg/S01R1.edf --causal");
    assert_eq!(live.len(), offline.len());
    for (live, offline) in live.iter().zip(&offline) {
        assert!((live - hands(offline)).abs() < 1e-6, "{live} {offline}");
    }
    let text = home.text("inspect m.stiefel");
    for part in ["toy: nearest mean of a class", "sharpness   0.5"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (exit, message) = code(&home.run("calibrate m.stiefel ds.npz -o x.stiefel"));
    assert!(
        exit == 2 && message.contains("a model toy has nothing"),
        "{message}"
    );

    let table = home.run("study main ds.npz --methods toy,mdm --output s --quiet");
    assert!(table.status.success(), "{table:?}");
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(text.contains("toy"), "{text}");
    let page = std::fs::read_to_string(home.0.join("s/report.html")).unwrap();
    assert!(page.contains("nearest mean of a class in log-Euclidean distance"));

    for (arguments, reason) in [
        ("--set sharpnes=2", "did you mean sharpness?"),
        (
            "--set sharpness=0",
            "--set sharpness=0: must be a number above 0",
        ),
        ("--set epochs=3", "--set epochs=3: "),
    ] {
        let train = format!("train ds.npz -o x.stiefel --model toy {arguments}");
        let (exit, message) = code(&home.run(&train));
        assert!(
            exit == 2 && message.contains(reason),
            "{arguments}: {message}"
        );
    }
}
