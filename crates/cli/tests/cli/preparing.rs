//! `prepare`, `inspect`, `data convert`: files in, files out.

use serde_json::Value;
use stiefel::data::class_rules;
use stiefel::eeg::Recording;
use stiefel::eeg::io::{read, write_epochs};
use stiefel::eeg::montage::Montage;
use stiefel::eeg::recipe::{Preparing, Recipe};
use stiefel::eeg::signal::{Window, epochs};
use stiefel::eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};

use super::recordings::{study, write_edf, write_study};
use super::{Home, code, compare};

const CLASSES: &str = "--classes T1=hands,T2=feet";

#[test]
fn a_folder_of_recordings_becomes_a_dataset() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let text = home.text(&format!("prepare eeg -o ds.npz {CLASSES} --reject 3"));
    compare("prepare", &text);

    // The same as the library's pipeline on the same files.
    let recipe = Recipe {
        reject: Some(3.0),
        classes: class_rules(&["T1=hands", "T2=feet"]).unwrap(),
        ..Recipe::default()
    };
    let mut preparing = Preparing::new(&recipe).unwrap();
    for (file, domain, run) in [
        ("S01R1", "S01", "R1"),
        ("S01R2", "S01", "R2"),
        ("S02R1", "S02", "R1"),
        ("S02R2", "S02", "R2"),
    ] {
        let mut all = read(home.0.join(format!("eeg/{file}.edf")))
            .unwrap()
            .into_recordings()
            .unwrap();
        preparing.add(all.remove(0), domain, Some(run)).unwrap();
    }
    let expected = preparing.finish().unwrap();
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let made = &expected.trials;
    assert_eq!(set.covariances(), made.covariances());
    assert_eq!(
        (set.classes(), set.domains(), set.runs()),
        (made.classes(), made.domains(), made.runs())
    );
    let made = set.preparation().known().unwrap();
    assert_eq!(
        (made.recipe.reject, made.rate(), made.unit.as_str()),
        (Some(3.0), 128.0, "µV")
    );
    assert!(expected.rejection.domains.iter().any(|d| d.rejected > 0));

    let side: Value =
        serde_json::from_slice(&std::fs::read(home.0.join("ds.json")).unwrap()).unwrap();
    assert_eq!(side["files"].as_array().unwrap().len(), 4);
    assert_eq!(side["files"][0]["sha256"].as_str().unwrap().len(), 64);
    let rejected = |v: &Value| {
        v["domains"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["rejected"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let inspected: Value = serde_json::from_str(&home.text("inspect ds.npz --json")).unwrap();
    assert_eq!(rejected(&side), rejected(&inspected));
    let expected: Vec<u64> = expected
        .rejection
        .domains
        .iter()
        .map(|d| d.rejected as u64)
        .collect();
    assert_eq!(rejected(&side), expected);
    assert!(home.text("inspect ds.npz").contains("median + 3 MAD"));

    // The same again from what was left beside it; options on the line win.
    home.text("prepare --config ds.json -o again.npz");
    let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
    assert_eq!(bytes("ds.npz"), bytes("again.npz"));

    // The dataset file says all of it by itself.
    std::fs::remove_file(home.0.join("ds.json")).unwrap();
    assert!(home.text("inspect ds.npz").contains("median + 3 MAD"));
    // What is there is not replaced unasked.
    let (exit, message) = code(&home.run("prepare --config again.json"));
    assert_eq!(exit, 2);
    assert!(message.contains("--overwrite"), "{message}");
    home.text("prepare --config again.json --overwrite");
}

#[test]
fn channels_rate_window_subjects_and_domains_are_chosen() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let json = home.text(&format!(
        "prepare eeg -o a.npz {CLASSES} --channels C4,c3,CZ --rate 100 --window 1,2 --subjects 2 \
         --reject off --band 10,20 --estimator ledoit-wolf --json"
    ));
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (
            value["preparation"]["recipe"]["rate"].as_f64(),
            value["samples"].as_u64()
        ),
        (Some(100.0), Some(100))
    );
    assert_eq!(value["domains"][0]["domain"], "S02");
    assert_eq!(value["trials"], 16);
    assert_eq!(value["preparation"]["recipe"]["estimator"], "ledoit-wolf");
    let set = read(home.0.join("a.npz")).unwrap().into_trials().unwrap();
    assert_eq!(set.channel_names(), ["C4", "C3", "Cz"]);

    let domains = |rule: &str| {
        let json = home.text(&format!(
            "prepare eeg -o b.npz {CLASSES} --domain {rule} --overwrite --json"
        ));
        let value: Value = serde_json::from_str(&json).unwrap();
        value["domains"].as_array().unwrap().len()
    };
    assert_eq!(
        (domains("folder"), domains("prefix"), domains("file")),
        (1, 2, 4)
    );
}

#[test]
fn the_complete_part_of_a_file_that_was_cut_short_is_taken_on_request() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let whole = std::fs::read(home.0.join("eeg/S01R1.edf")).unwrap();
    std::fs::write(home.0.join("S01R1.edf"), &whole[..whole.len() / 2]).unwrap();
    let prepare = format!("prepare S01R1.edf -o ds.npz --reject off {CLASSES}");
    assert_eq!(home.run(&prepare).status.code(), Some(1));
    let text = home.text(&format!("{prepare} --partial"));
    assert!(
        text.contains("note") && text.contains("S01R1.edf (run R1)"),
        "{text}"
    );
    let half = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    assert!((2..8).contains(&half.len()));
}

#[test]
fn data_in_trials_is_prepared_and_converted() {
    let home = Home::new();
    let recording = study().recording(0, 0, 0).unwrap();
    let window = Window::new(0.0, 4.0, &["right_hand", "feet"]);
    let epochs = epochs(&recording, &window, "P7", None).unwrap().epochs;
    write_epochs(home.0.join("epochs.npz"), &epochs).unwrap();
    assert!(home.text("inspect epochs.npz").contains("P7"));

    home.text("data convert epochs.npz copy.npz");
    let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
    assert_eq!(bytes("epochs.npz"), bytes("copy.npz"));

    let json = home.text("prepare epochs.npz -o ds.npz --window 0.5,3.5 --json");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (
            value["samples"].as_u64(),
            value["domains"][0]["domain"].as_str()
        ),
        (Some(384), Some("P7"))
    );
    home.text("data convert ds.npz again.npz");
    assert_eq!(bytes("ds.npz"), bytes("again.npz"));

    write_edf(&home.0.join("a.edf"), &recording);
    for (arguments, exit, reason) in [
        ("data convert a.edf x.npz", 1, "stiefel prepare a.edf"),
        ("data convert ds.npz x.edf", 2, "must end in .npz"),
        ("data convert none.npz x.npz", 1, "none.npz"),
        ("data convert ds.npz no/x.npz", 1, "no/x.npz"),
    ] {
        let (found, message) = code(&home.run(arguments));
        assert_eq!(found, exit, "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
    }
}

#[test]
fn anything_is_inspected() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    compare("inspect_recording", &home.text("inspect eeg/S01R1.edf"));
    compare("inspect_folder", &home.text("inspect eeg"));
    let synthetic = "synthetic:bnci2015001,subjects=2,trials=4";
    let text = home.text(&format!("inspect {synthetic} --channels C3,C4"));
    assert!(text.contains("S01-1") && text.contains("2 of 2"), "{text}");
    let value: Value = serde_json::from_str(&home.text("inspect eeg/S01R1.edf --json")).unwrap();
    assert_eq!(value["recordings"][0]["events"]["T1"], 4);
    std::fs::create_dir(home.0.join("empty")).unwrap();
    std::fs::write(home.0.join("text.txt"), "nothing").unwrap();
    for (arguments, exit, reason) in [
        (
            "inspect nowhere",
            2,
            "neither a file nor the name of a dataset",
        ),
        ("inspect empty", 1, "none of its 0 files"),
        ("inspect text.txt", 1, "no format starts with"),
        ("inspect weibo2014", 1, "stiefel data fetch weibo2014"),
        ("inspect weibo2014:papre", 2, "weibo2014:paper"),
        ("inspect eegmmidb:paper", 2, "has no preset"),
    ] {
        let (found, message) = code(&home.run(arguments));
        assert_eq!(found, exit, "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
    }
}

#[test]
fn what_cannot_be_prepared_says_why() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text(&format!("prepare eeg -o ds.npz {CLASSES}"));
    std::fs::create_dir(home.0.join("empty")).unwrap();
    std::fs::write(
        home.0.join("cut.edf"),
        &std::fs::read(home.0.join("eeg/S01R1.edf")).unwrap()[..5000],
    )
    .unwrap();
    let mut said = Vec::new();
    for (arguments, exit, reason) in [
        ("prepare eeg -o x.npz", 2, "T1 ×4, T2 ×4"),
        (
            "prepare eeg -o x.npz --classes T7=tongue",
            2,
            "none of the 4 files has a trial of tongue",
        ),
        (
            "prepare eeg -o x.npz --classes T1=,T2=b",
            2,
            "\"T1=\" does not give a class",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a,T1=b",
            2,
            "given before",
        ),
        ("prepare eeg -o x.npy --classes T1=a", 2, "must end in .npz"),
        (
            "prepare eeg -o no/x.npz --classes T1=a",
            2,
            "there is no folder no",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --band 32,8",
            2,
            "the smaller first, for example 8,32",
        ),
        ("prepare eeg -o x.npz --classes T1=a --band 8,80", 1, "80"),
        (
            "prepare eeg -o x.npz --classes T1=a --window 0.5,900",
            1,
            "does not fit",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --reject much",
            2,
            "or off",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --reject=-1",
            2,
            "not negative",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --rate 0",
            2,
            "positive",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --estimator best",
            2,
            "ledoit-wolf",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --domain nose",
            2,
            "auto, prefix, person, session, folder or file",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --channels C3,Q9",
            2,
            "Q9",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a --subjects 3",
            2,
            "S01, S02",
        ),
        ("prepare ds.npz -o x.npz", 2, "holds covariances already"),
        (
            "prepare empty -o x.npz",
            2,
            "there is no recording in empty",
        ),
        (
            "prepare nowhere -o x.npz",
            2,
            "neither a file, nor a folder",
        ),
        ("prepare cut.edf -o x.npz --classes T1=a", 1, "cut.edf"),
        (
            "prepare bnci2014001 -o x.npz",
            1,
            "stiefel data fetch bnci2014001",
        ),
        ("prepare weibo2014 -o x.npz --classes nose", 2, "nose"),
        ("prepare -o x.npz", 2, "<SOURCE>"),
    ] {
        let (found, message) = code(&home.run(arguments));
        assert_eq!(found, exit, "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
        let message = message.replace(home.0.to_str().unwrap(), "[HOME]");
        said.push(format!("$ stiefel {arguments}\n{message}\n"));
    }
    compare("prepare_errors", &said.concat());
    assert!(!home.0.join("x.npz").exists());
}

/// A MATLAB 5 matrix of doubles, first index fastest.
fn matrix(name: &str, dims: &[i32], values: &[f64]) -> Vec<u8> {
    let element = |kind: u32, bytes: &[u8]| {
        let mut out = kind.to_le_bytes().to_vec();
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    };
    let bytes = |x: &[i32]| x.iter().flat_map(|d| d.to_le_bytes()).collect::<Vec<u8>>();
    let numbers: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let parts = [
        element(6, &bytes(&[6, 0])),
        element(5, &bytes(dims)),
        element(1, name.as_bytes()),
        element(9, &numbers),
    ];
    element(14, &parts.concat())
}

/// Four trials of 8 s of 64 channels: right hand, feet, left hand and rest.
fn weibo(seed: f64) -> Vec<u8> {
    let mut bytes = vec![b' '; 116];
    bytes.extend([0; 8]);
    bytes.extend(b"\x00\x01IM");
    let noise = |i: usize| ((i as f64 + 1e6 * seed) * 12.9898).sin() * 43758.5453;
    let data: Vec<f64> = (0..64 * 1600 * 4)
        .map(|i| 20.0 * noise(i).fract())
        .collect();
    bytes.extend(matrix("data", &[64, 1600, 4], &data));
    bytes.extend(matrix("label", &[4, 1], &[2.0, 4.0, 1.0, 7.0]));
    bytes
}

#[test]
fn a_public_data_set_by_name() {
    let home = Home::new();
    let folder = home.0.join("data/weibo2014");
    std::fs::create_dir_all(&folder).unwrap();
    for subject in [1, 2] {
        std::fs::write(
            folder.join(format!("subject_{subject}.mat")),
            weibo(f64::from(subject)),
        )
        .unwrap();
    }
    // Trials are filtered one by one, then cropped to 3–7 s; the paper compares right hand and
    // feet.
    let json = home.text("prepare weibo2014:paper --subjects 1-2 -o w.npz --json");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (value["trials"].as_u64(), value["samples"].as_u64()),
        (Some(4), Some(800))
    );
    assert_eq!(
        value["preparation"]["recipe"]["views"][0],
        serde_json::json!("8-32@3-7")
    );
    let set = read(home.0.join("w.npz")).unwrap().into_trials().unwrap();
    assert_eq!((set.channels_count(), set.domains().label(2)), (60, "S02"));
    assert_eq!(set.origin().licence.as_deref(), Some("CC0 1.0"));
    let classes: Vec<&str> = (0..set.len()).map(|i| set.classes().label(i)).collect();
    assert_eq!(classes, ["right_hand", "feet", "right_hand", "feet"]);

    // By name the same trials come, with all classes unless some are chosen; by path as well.
    let value: Value =
        serde_json::from_str(&home.text("inspect weibo2014 --subjects 2 --json")).unwrap();
    assert_eq!(value["summary"]["classes"].as_array().unwrap().len(), 4);
    let value: Value = serde_json::from_str(
        &home.text("inspect weibo2014 --subjects 1,2 --classes feet --channels C3,C4 --json"),
    )
    .unwrap();
    assert_eq!(
        (
            value["summary"]["trials"].as_u64(),
            value["domains"][1]["domain"].as_str()
        ),
        (Some(2), Some("S02"))
    );
    let json = home.text(
        "prepare data/weibo2014/subject_1.mat -o p.npz --window 3,7 --classes right_hand,feet \
         --channels weibo2014 --json",
    );
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["domains"][0]["domain"], "subject_1");
    let by_path = read(home.0.join("p.npz")).unwrap().into_trials().unwrap();
    assert_eq!(
        by_path.covariances().data(),
        &set.covariances().data()[..2 * 60 * 60]
    );

    let (exit, message) = code(&home.run("inspect weibo2014:paper"));
    assert_eq!(exit, 1);
    assert!(
        message.contains("7 of 9 files") && message.contains("stiefel data fetch weibo2014"),
        "{message}"
    );
}

#[test]
fn a_label_that_never_occurs_is_an_error() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let (exit, message) = code(&home.run("prepare eeg -o x.npz --classes T1=hands,T9=feet"));
    assert_eq!(exit, 2);
    assert!(
        message.contains("the label T9, which stands for feet, never occurs")
            && message.contains("T1 ×16, T2 ×16"),
        "{message}"
    );
    assert!(!home.0.join("x.npz").exists());

    // Whoever decides need not meet every class of the model.
    home.text(&format!("prepare eeg -o ds.npz {CLASSES}"));
    home.text("train ds.npz -o m.stiefel");
    let both = study().recording(0, 0, 0).unwrap();
    let feet = both.events().iter().filter(|e| e.label == "feet").cloned();
    let data = both.data().to_vec();
    let one = Recording::new(both.channels().to_vec(), 128.0, data, feet.collect()).unwrap();
    write_edf(&home.0.join("S01R3.edf"), &one);
    let printed = home.run("predict m.stiefel S01R3.edf");
    assert_eq!(code(&printed).0, 0, "{printed:?}");
    let lines = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(lines.lines().count(), 1 + one.events().len());
}

/// Runs of a person of EEGMMIDB: its 64 channels at 160 Hz, T1 and T2 in each, under the names of
/// its files.
#[test]
fn a_label_that_means_two_things_is_an_error() {
    let home = Home::new();
    let eeg = home.0.join("eeg");
    std::fs::create_dir(&eeg).unwrap();
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Eegmmidb, 160.0, vec![1], 4, 8, &classes);
    let runs = Synthetic::new(config).unwrap();
    for (run, name) in ["R04", "R06", "R10", "R14"].iter().enumerate() {
        let recording = runs.recording(0, 0, run).unwrap();
        write_edf(&eeg.join(format!("S001{name}.edf")), &recording);
    }
    let prepare = "prepare eeg --reject off --classes T1=one,T2=two";
    let (exit, message) = code(&home.run(&format!("{prepare} -o x.npz")));
    assert_eq!(exit, 2, "{message}");
    for part in [
        "the label T1 means",
        "left_hand in runs R04 (2 events)",
        "hands in runs R06,R10,R14 (6 events)",
        "for example the runs R06,R10,R14",
        "the class rule R0[48]:T1=left",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!home.0.join("x.npz").exists());
    // The runs of one task, by number, by name and as advised.
    for (runs, names) in [
        ("6,10,14", &["R06", "R10", "R14"][..]),
        ("R06,R10,R14", &["R06", "R10", "R14"]),
        ("4", &["R04"]),
    ] {
        home.text(&format!("{prepare} -o ds.npz --runs {runs} --overwrite"));
        let trials = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
        assert_eq!(trials.len(), 4 * names.len());
        assert_eq!(trials.channels_count(), 64);
        assert_eq!(trials.runs().unwrap().names(), names);
    }
    let (exit, message) = code(&home.run(&format!("{prepare} -o x.npz --runs 6,7")));
    assert_eq!(exit, 2);
    assert!(
        message.contains("there is no run 7") && message.contains("R04"),
        "{message}"
    );
}

/// The recipe that travels with a model makes the same matrices again.
#[test]
fn the_recipe_of_a_model_prepares_the_same_again() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let options = "--views choir --reference average --channels C3,Cz,C4 --rate 100 --reject off";
    home.text(&format!("prepare eeg -o a.npz {CLASSES} {options}"));
    home.text("train a.npz -o m.stiefel");
    for source in ["m.stiefel", "a.npz"] {
        let recipe = home.text(&format!("inspect {source} --recipe"));
        for line in [
            "[prepare]",
            "reference = \"average\"",
            "estimator = \"oas\"",
            "reject = \"off\"",
        ] {
            assert!(recipe.contains(line), "{line}: {recipe}");
        }
        std::fs::write(home.0.join("recipe.toml"), recipe).unwrap();
        home.text("prepare eeg -o b.npz --config recipe.toml --overwrite");
        let bytes = |name: &str| std::fs::read(home.0.join(name)).unwrap();
        let read = |name: &str| read(home.0.join(name)).unwrap().into_trials().unwrap();
        let (a, b) = (read("a.npz"), read("b.npz"));
        for view in 0..6 {
            assert_eq!(a.view(view), b.view(view));
        }
        // The record of a dataset repeats it to the byte.
        home.text("prepare --config b.json -o c.npz --overwrite");
        home.text("prepare --config c.json -o d.npz --overwrite");
        assert_eq!(bytes("c.npz"), bytes("d.npz"));
    }
    let (exit, message) = code(&home.run("inspect eeg/S01R1.edf --recipe"));
    assert!(exit == 2 && message.contains("holds signals"), "{message}");
}
