//! What a model file keeps: which trials it has seen, and itself.

use serde_json::Value;
use stiefel::model::FittedModel;

use super::models::{DATA, home, json};
use super::recordings::write_study;
use super::{Home, code};

/// Trials of a part, as `evaluate --json` counts them.
fn count(judged: &Value, part: &str) -> u64 {
    judged[part]["scores"]["trials"].as_u64().unwrap_or(0)
}

/// How many trials `evaluate` calls new, chosen by and trained on, and that its
/// controls judge the new ones alone.
fn judged(home: &Home, data: &str) -> [u64; 3] {
    let value = json(&home.text(&format!("evaluate m.stiefel {data} --json")));
    let report = json(&home.text(&format!("evaluate m.stiefel {data} --controls --json")));
    let new = count(&value, "new");
    let said = format!("{new} trials that are new to the model");
    assert_eq!(report["routing"]["judged"], said.as_str());
    assert_eq!(
        report["routing"]["report"]["scores"],
        value["new"]["scores"]
    );
    [new, count(&value, "chose"), count(&value, "trained")]
}

#[test]
fn training_trials_are_known_wherever_they_come_from() {
    for model in [
        "dasp --set epochs=1",
        "choir --set refit=false",
        "ts+lr",
        "mdm",
    ] {
        let home = Home::new();
        write_study(&home.0.join("eeg"));
        let prepare = "prepare eeg --classes T1=hands,T2=feet";
        home.text(&format!("{prepare} -o ds.npz --reject 3"));
        home.text(&format!("{prepare} -o all.npz --reject off"));
        let train = format!("train ds.npz -o m.stiefel --test 0.25 --model {model} --json");
        let counts = json(&home.text(&train))["trials"].clone();
        let made = |part: &str| counts[part].as_u64().unwrap();
        let (train, chose) = (made("train"), made("validation"));
        assert_eq!(judged(&home, "ds.npz"), [made("test"), chose, train]);
        // Nothing beside the files is needed.
        std::fs::remove_file(home.0.join("m.stiefel.json")).unwrap();
        std::fs::remove_file(home.0.join("ds.json")).unwrap();
        assert_eq!(judged(&home, "ds.npz"), [made("test"), chose, train]);
        // Trials that were left out for their amplitude are new, and only those.
        let all: u64 = 32;
        let rejected = all - train - chose - made("test");
        assert!(rejected > 0);
        for data in ["all.npz", "eeg"] {
            assert_eq!(
                judged(&home, data),
                [made("test") + rejected, chose, train],
                "{data}"
            );
        }
        // Parts: one person after the other, and one class after the other.
        for parts in [
            ["--subjects 1", "--subjects 2"],
            ["--classes hands", "--classes feet"],
        ] {
            let mut sum = [0; 3];
            for part in parts {
                let value = json(&home.text(&format!("evaluate m.stiefel all.npz {part} --json")));
                for (sum, part) in sum.iter_mut().zip(["new", "chose", "trained"]) {
                    *sum += count(&value, part);
                }
            }
            assert_eq!(sum, [made("test") + rejected, chose, train], "{parts:?}");
        }
        judged(&home, "all.npz --subjects 1");
    }
}

#[test]
fn a_model_that_saw_everything_has_no_score() {
    let home = home();
    home.text(&format!("train {DATA} -o m.stiefel --subjects 1-2"));
    let value = json(&home.text(&format!("evaluate m.stiefel {DATA} --subjects 2 --json")));
    assert!(value["new"].is_null() && value["chose"].is_null());
    let text = home.text(&format!("evaluate m.stiefel {DATA} --subjects 2"));
    assert!(text.contains("there is no score"), "{text}");
    let (exit, message) = code(&home.run(&format!(
        "evaluate m.stiefel {DATA} --controls --subjects 2"
    )));
    assert_eq!(exit, 2);
    assert!(message.contains("trained on all 31 trials"), "{message}");
}

#[test]
fn a_flipped_byte_is_refused() {
    let home = home();
    home.text(&format!("train {DATA} -o m.stiefel --subjects 1"));
    let good = std::fs::read(home.0.join("m.stiefel")).unwrap();
    // In the header, and in the first, a middle and the last number.
    let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    for place in [
        header / 2,
        header,
        header.midpoint(good.len()),
        good.len() - 1,
    ] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        std::fs::write(home.0.join("bad.stiefel"), &bad).unwrap();
        let (exit, message) = code(&home.run(&format!("predict bad.stiefel {DATA} --subjects 1")));
        assert_eq!(exit, 1, "byte {place}: {message}");
        assert!(message.contains("bad.stiefel"), "{message}");
        assert!(FittedModel::load(home.0.join("bad.stiefel")).is_err());
    }
    assert!(FittedModel::load(home.0.join("m.stiefel")).is_ok());
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_devices_stay_devices() {
    let home = home();
    let path = |name: &str| home.0.join(name);
    let is_link = |name: &str| path(name).symlink_metadata().unwrap().is_symlink();
    std::fs::create_dir(path("far")).unwrap();
    for (link, target) in [
        ("m.stiefel", "far/away.stiefel"),
        ("p.csv", "far/p.csv"),
        ("ds.npz", "far/ds.npz"),
    ] {
        std::os::unix::fs::symlink(target, path(link)).unwrap();
    }
    let train = format!("train {DATA} -o m.stiefel --subjects 1");
    home.text(&train);
    assert!(is_link("m.stiefel") && path("far/away.stiefel").is_file());
    assert!(FittedModel::load(path("far/away.stiefel")).is_ok());
    // What the link leads to is there now.
    let (exit, message) = code(&home.run(&train));
    assert_eq!(exit, 2);
    assert!(message.contains("--overwrite"), "{message}");
    std::fs::write(path("far/away.stiefel"), "something else").unwrap();
    home.text(&format!("{train} --overwrite"));
    assert!(is_link("m.stiefel") && FittedModel::load(path("far/away.stiefel")).is_ok());

    let predict = format!("predict m.stiefel {DATA} --subjects 1 -o p.csv");
    assert!(home.run(&predict).status.success());
    assert!(is_link("p.csv") && path("far/p.csv").is_file());
    write_study(&path("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    assert!(is_link("ds.npz") && path("far/ds.npz").is_file());

    for command in [
        format!("train {DATA} --subjects 1 -o /dev/null"),
        format!("train {DATA} --subjects 1 -o far"),
        format!("predict m.stiefel {DATA} --subjects 1 -o /dev/null"),
    ] {
        for options in ["", "--overwrite"] {
            let (exit, message) = code(&home.run(&format!("{command} {options}")));
            assert_eq!(exit, 2, "{command}: {message}");
            assert!(message.contains("not a regular file"), "{message}");
        }
    }
    assert!(!std::path::Path::new("/dev/null").is_file());
}
