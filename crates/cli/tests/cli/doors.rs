//! The same thing by every door: a method, a dataset, an error.

use std::path::Path;

use serde_json::Value;
use stiefel::data::split::cross_domain_folds;
use stiefel::data::{Factor, Trials};
use stiefel::eeg::catalogue::{DomainUnit, find};
use stiefel::eeg::io::read;
use stiefel::eeg::select::Selection;
use stiefel::eeg::synthetic::SyntheticConfig;
use stiefel::eeg::{load, simulate};
use stiefel::model::FittedModel;
use stiefel::model::train::Silent;
use stiefel::study::{Study, StudyConfig, UnitRecord};

use super::models::{DATA, home, json};
use super::recordings::write_study;
use super::{Home, code};

const SEED: u64 = 3;
const FOLD: usize = 1;
const EPOCHS: usize = 2;

fn trials(home: &Home) -> Trials {
    load(home.0.join(DATA).to_str().unwrap(), &Selection::default()).unwrap()
}

/// Probabilities of the fold's test trials as the study recorded them, and which trials these were.
fn studied(home: &Home, method: &str) -> (Vec<usize>, Vec<f64>) {
    let units = std::fs::read_dir(home.0.join("s/units")).unwrap();
    let records = units.map(|file| {
        let text = std::fs::read(file.unwrap().path()).unwrap();
        serde_json::from_slice::<UnitRecord>(&text).unwrap()
    });
    let found = records
        .filter(|r| r.method == method && r.fold == FOLD)
        .collect::<Vec<_>>();
    let [record] = &found[..] else {
        panic!("{} records of {method}", found.len());
    };
    let outcome = &record.outcome;
    (outcome.test.clone(), outcome.probabilities.clone())
}

/// The same from `train --fold` and `predict`.
fn trained(home: &Home, method: &str, options: &str, test: &[usize]) -> Vec<f64> {
    home.text(&format!(
        "train {DATA} -o {method}.stiefel --model {method} --fold {FOLD} --seed {SEED} {options}"
    ));
    let printed = home.run(&format!("predict {method}.stiefel {DATA} --json"));
    assert!(printed.status.success(), "{printed:?}");
    let lines: Vec<Value> = String::from_utf8(printed.stdout)
        .unwrap()
        .lines()
        .map(json)
        .collect();
    let classes = trials(home).classes().names().to_vec();
    let of = |&i: &usize| {
        assert_eq!(lines[i]["seen"], "", "a test trial is new");
        let p = classes.iter().map(|c| &lines[i]["probabilities"][c]);
        p.map(|p| p.as_f64().unwrap()).collect::<Vec<_>>()
    };
    test.iter().flat_map(of).collect()
}

/// The same from the library.
fn fitted(home: &Home, method: &str) -> Vec<f64> {
    let trials = trials(home);
    let mut config = StudyConfig::new(Study::Main, DATA);
    config.training.epochs = EPOCHS;
    let (n, d) = (trials.channels_count(), trials.domains().names().len());
    let named = config.family(n, d).unwrap().by_name(method).unwrap();
    let (classes, domains) = (trials.classes().indices(), trials.domains().indices());
    let fold = &cross_domain_folds(classes, domains, SEED).unwrap()[FOLD];
    let part = |at: &[usize]| trials.select(at).unwrap();
    let spec = named.method.spec.seeded(SEED).unwrap();
    let (training, validation) = (part(&fold.train), part(&fold.validation));
    let model = FittedModel::fit(&training, &validation, &spec, &mut Silent).unwrap();
    let decided = model.decide(&part(&fold.test), None).unwrap();
    decided.probabilities.into_vec()
}

#[test]
fn a_fold_is_the_same_bits_by_every_door() {
    let home = home();
    home.text(&format!(
        "study main {DATA} --methods dasp,choir,ts+lr,mdm --set epochs={EPOCHS} --seeds {SEED} \
         --set retrained=false --output s --quiet"
    ));
    for (method, options) in [
        ("dasp", format!("--set epochs={EPOCHS}")),
        ("choir", String::new()),
        ("ts+lr", String::new()),
        ("mdm", String::new()),
    ] {
        let (test, expected) = studied(&home, method);
        assert!(!test.is_empty());
        let program = trained(&home, method, &options, &test);
        assert_eq!(program, expected, "{method}: study and program");
        assert_eq!(fitted(&home, method), expected, "{method}: and library");
    }
    // Another seed is another fold and another network.
    let record = json(&home.text(&format!(
        "train {DATA} -o other.stiefel --model dasp --set epochs={EPOCHS} --fold {FOLD} --seed 4 \
         --json"
    )));
    assert_eq!(record["model"]["settings"]["training"]["seed"], 4);
    let (exit, message) = code(&home.run(&format!("train {DATA} -o x.stiefel --fold 5")));
    assert_eq!(exit, 2);
    assert!(
        message.contains("there are 5 folds, counted from 0"),
        "{message}"
    );
}

/// People are domains as in the catalogue: those of BNCI 2014-001 are one domain on both days,
/// those of BNCI 2015-001 one on each.
#[test]
fn simulated_people_are_the_same_domains_by_every_door() {
    for (name, config, expected) in [
        (
            "bnci2014001",
            SyntheticConfig::bnci2014001(),
            vec!["S01", "S02"],
        ),
        (
            "bnci2015001",
            SyntheticConfig::bnci2015001(),
            vec!["S01-1", "S01-2", "S02-1", "S02-2"],
        ),
    ] {
        let source = format!("synthetic:{name},subjects=2,sessions=2,trials=6");
        let loaded = load(&source, &Selection::default()).unwrap();
        assert_eq!(loaded.domains().names(), expected);
        assert_eq!(loaded.subjects().names(), ["S01", "S02"]);
        assert_eq!(loaded.sessions().unwrap().names(), ["1", "2"]);
        let config = SyntheticConfig {
            sessions: vec![2; 2],
            trials_per_class: 6,
            ..config
        };
        let simulated = simulate(&config).unwrap();
        assert_eq!(simulated.domains(), loaded.domains());
        assert_eq!(simulated.covariances(), loaded.covariances());
        assert_eq!(simulated.preparation(), loaded.preparation());
        let unit = find(name).unwrap().domain;
        assert_eq!(unit == DomainUnit::Subject, expected.len() == 2);
        let home = Home::new();
        let inspected = json(&home.text(&format!("inspect {source} --json")));
        assert_eq!(inspected["summary"]["domains"], serde_json::json!(expected));
        assert_eq!(
            inspected["command"],
            format!("stiefel train {source} -o model.stiefel")
        );
        home.text(&format!(
            "study main {source} --methods mdm --output s --quiet"
        ));
        let summary = json(&std::fs::read_to_string(home.0.join("s/summary.json")).unwrap());
        assert_eq!(summary["dataset"]["domains"], serde_json::json!(expected));
    }
}

/// `X.npy` of 32-bit numbers in the place of the 64-bit ones of a dataset file, rounded as another
/// program would: both triangles by themselves.
fn single(from: &Path, to: &Path) {
    let trials = read(from).unwrap().into_trials().unwrap();
    let n = trials.channels_count();
    let text = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {n}, {n}), }}",
        trials.len()
    );
    let mut x = b"\x93NUMPY\x01\x00".to_vec();
    x.extend((text.len() as u16).to_le_bytes());
    x.extend(text.as_bytes());
    for (place, value) in trials.covariances().data().iter().enumerate() {
        let rounded = *value as f32;
        // One unit in the last place, in the upper triangle alone.
        let (row, column) = (place / n % n, place % n);
        let value = if row < column {
            rounded.next_up()
        } else {
            rounded
        };
        x.extend(value.to_le_bytes());
    }
    let labels = |f: &Factor| {
        let each: Vec<&str> = (0..f.len()).map(|i| f.label(i)).collect();
        let width = each.iter().map(|l| l.len()).max().unwrap();
        let text = format!(
            "{{'descr': '|S{width}', 'fortran_order': False, 'shape': ({},), }}",
            each.len()
        );
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        for label in each {
            let mut label = label.as_bytes().to_vec();
            label.resize(width, 0);
            bytes.extend(label);
        }
        bytes
    };
    let (y, domain) = (labels(trials.classes()), labels(trials.domains()));
    let entries: [(&str, &[u8]); 3] = [("X.npy", &x), ("y.npy", &y), ("subject.npy", &domain)];
    std::fs::write(to, zip(&entries)).unwrap();
}

/// A zip whose entries are not compressed.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let crc = |content: &[u8]| {
        !content.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |c, _| {
                (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg())
            })
        })
    };
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let size = (content.len() as u32).to_le_bytes();
        let mut fields = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        fields.extend(crc(content).to_le_bytes());
        fields.extend([size, size].concat());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend(name.as_bytes());
        bytes.extend(*content);
    }
    let (start, count) = (bytes.len() as u32, (entries.len() as u16).to_le_bytes());
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].concat());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn single_precision_covariances_are_trained_on() {
    let home = home();
    single(&home.0.join(DATA), &home.0.join("f4.npz"));
    for model in ["choir", "ts+lr", "dasp --set epochs=1"] {
        home.text(&format!(
            "train f4.npz -o m.stiefel --model {model} --test 0.2 --overwrite"
        ));
        let value = json(&home.text("evaluate m.stiefel f4.npz --json"));
        assert!(value["new"]["scores"]["trials"].as_u64().unwrap() > 0);
        assert!(value["trained"]["scores"]["trials"].as_u64().unwrap() > 0);
    }
    // Nobody said how they were made.
    assert!(home.text("inspect f4.npz").contains("not known"));
}

#[test]
fn a_wrong_channel_is_the_same_mistake_everywhere() {
    let home = home();
    write_study(&home.0.join("eeg"));
    home.text(&format!("train {DATA} -o m.stiefel --subjects 1"));
    for command in [
        "prepare eeg -o x.npz --classes T1=hands,T2=feet".to_owned(),
        format!("train {DATA} -o x.stiefel"),
        format!("study main {DATA} --plan --output s"),
        format!("evaluate m.stiefel {DATA}"),
        format!("predict m.stiefel {DATA}"),
        format!("evaluate m.stiefel {DATA} --controls"),
        format!("inspect {DATA}"),
    ] {
        let (exit, message) = code(&home.run(&format!("{command} --channels C3,Q9")));
        assert_eq!(exit, 2, "{command}: {message}");
        assert!(
            message.contains("Q9") && message.contains("Cz"),
            "{message}"
        );
    }
}

/// One name is a channel where there is no montage of that name.
#[test]
fn one_channel_means_the_same_in_studies_and_training() {
    let home = home();
    home.text(&format!(
        "study main {DATA} --channels Cz --methods mdm --output s --quiet"
    ));
    let summary = std::fs::read(home.0.join("s/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["dataset"]["channels"], serde_json::json!(["Cz"]));
    home.text(&format!(
        "train {DATA} -o m.stiefel --channels Cz --set filters=1"
    ));
    let model = FittedModel::load(home.0.join("m.stiefel")).unwrap();
    assert_eq!(model.channels().unwrap(), ["Cz"]);
}

#[test]
fn a_window_is_advised_as_a_window() {
    let home = home();
    for command in [
        "prepare eeg -o x.npz --classes T1=a",
        "live m.stiefel --from stdin",
    ] {
        for (option, advised) in [
            ("--window 3.5,0.5", "for example 0.5,3.5"),
            ("--band 32,8", "for example 8,32"),
        ] {
            let (exit, message) = code(&home.run(&format!("{command} {option}")));
            assert_eq!(exit, 2, "{command}: {message}");
            assert!(message.contains(advised), "{command}: {message}");
        }
    }
}

/// A path in a TOML file is meant from the file's folder; the JSON beside a result works from any
/// folder.
#[test]
fn configurations_work_from_any_folder() {
    let home = Home::new();
    let inner = home.0.join("inner");
    write_study(&inner.join("eeg"));
    std::fs::create_dir(home.0.join("elsewhere")).unwrap();
    std::fs::write(
        inner.join("run.toml"),
        "[prepare]\nsources = [\"eeg\"]\noutput = \"ds.npz\"\nclasses = [\"T1=hands\", \
         \"T2=feet\"]\n[train]\nsource = \"ds.npz\"\noutput = \"m.stiefel\"\n",
    )
    .unwrap();
    let from = |folder: &str, arguments: &str| {
        let mut command = home.command(arguments);
        let ended = super::output(command.current_dir(home.0.join(folder)));
        assert!(ended.status.success(), "{arguments}: {ended:?}");
    };
    from(".", "prepare --config inner/run.toml");
    from("elsewhere", "train --config ../inner/run.toml");
    assert!(inner.join("ds.npz").is_file() && inner.join("m.stiefel").is_file());
    let bytes = |name: &str| std::fs::read(inner.join(name)).unwrap();
    let (dataset, model) = (bytes("ds.npz"), bytes("m.stiefel"));
    // A relative command line, run again from another folder by what it left.
    from("inner", "prepare eeg -o b.npz --classes T1=hands,T2=feet");
    from("inner", "train b.npz -o b.stiefel");
    from("elsewhere", "prepare --config ../inner/b.json --overwrite");
    from(
        "elsewhere",
        "train --config ../inner/b.stiefel.json --overwrite",
    );
    assert_eq!(bytes("b.npz").len(), dataset.len());
    assert!(FittedModel::load(inner.join("b.stiefel")).is_ok() && !model.is_empty());
    from("inner", "study main b.npz --methods mdm --output s --quiet");
    from(
        "elsewhere",
        "study main --config ../inner/s/study.json --quiet",
    );
    let left = std::fs::read_dir(home.0.join("elsewhere")).unwrap();
    assert_eq!(left.count(), 0);
}
