//! One trial, one recording and one person under many names: found again, and never counted twice.

use std::fs;
use std::path::Path;

use serde_json::Value;
use stiefel::data::{Factor, Trials};
use stiefel::eeg::io::{read, write_epochs, write_trials};
use stiefel::eeg::montage::Montage;
use stiefel::eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel::eeg::{Epochs, Recording, TrialInfo};

use super::models::json;
use super::recordings::{study, write_edf, write_study};
use super::{Home, code, output};

const PREPARE: &str = "prepare eeg --classes T1=hands,T2=feet --reject off";
const TRAIN: &str = "train ds.npz -o m.stiefel --test 0.25 --model choir --set refit=false --json";

/// A home with recordings and a dataset of two people.
fn prepared() -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text(&format!("{PREPARE} -o ds.npz"));
    home
}

/// Every recording with the name of its file, changed.
fn write_changed(folder: &Path, change: impl Fn(&str, Recording) -> (String, Recording)) {
    fs::create_dir_all(folder).unwrap();
    for item in study().recordings() {
        let item = item.unwrap();
        let name = format!("S{:02}R{}.edf", item.subject + 1, item.run + 1);
        let (name, recording) = change(&name, item.recording);
        write_edf(&folder.join(name), &recording);
    }
}

/// Labels the samples as volts: the digital numbers stay.
fn in_volts(path: &Path, channels: usize) {
    let mut bytes = fs::read(path).unwrap();
    for (field, text) in [(96, "V       "), (104, "-0.001  "), (112, "0.001   ")] {
        for c in 0..channels {
            let at = 256 + field * (channels + 1) + 8 * c;
            bytes[at..at + 8].copy_from_slice(text.as_bytes());
        }
    }
    fs::write(path, bytes).unwrap();
}

fn gzip(path: &Path, packed: &Path) {
    // Stored blocks: a valid gzip file without a compressor.
    let bytes = fs::read(path).unwrap();
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks: Vec<&[u8]> = bytes.chunks(65_535).collect();
    for (i, block) in blocks.iter().enumerate() {
        let size = u16::try_from(block.len()).unwrap();
        out.push(u8::from(i + 1 == blocks.len()));
        out.extend(size.to_le_bytes());
        out.extend((!size).to_le_bytes());
        out.extend(*block);
    }
    let mut crc = !0_u32;
    for &byte in &bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 * (crc & 1));
        }
    }
    out.extend((!crc).to_le_bytes());
    out.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    fs::write(packed, out).unwrap();
}

/// Trials that are new, that chose, and that were trained on, as `evaluate` counts them.
fn counts(home: &Home, arguments: &str, simd: Option<&str>) -> [u64; 3] {
    let mut command = home.command(&format!("evaluate m.stiefel {arguments} --json"));
    if let Some(simd) = simd {
        command.env("STIEFEL_SIMD", simd);
    }
    let output = output(&mut command);
    assert!(output.status.success(), "{arguments}: {output:?}");
    let value = json(std::str::from_utf8(&output.stdout).unwrap());
    ["new", "chose", "trained"].map(|part| value[part]["scores"]["trials"].as_u64().unwrap_or(0))
}

#[test]
fn training_trials_are_known_under_every_name_and_on_every_cpu() {
    let home = prepared();
    let made = json(&home.text(TRAIN))["trials"].clone();
    let made = ["test", "validation", "train"].map(|part| made[part].as_u64().unwrap());
    let path = |name: &str| home.0.join(name);
    let names: Vec<String> = {
        let recording = study().recording(0, 0, 0).unwrap();
        recording
            .channels()
            .iter()
            .map(|c| c.name.clone())
            .collect()
    };
    write_changed(&path("copied"), |name, r| (name.replace("S0", "S9"), r));
    let mut reversed = names.clone();
    reversed.reverse();
    write_changed(&path("reversed"), |name, r| {
        (name.into(), r.pick(&reversed).unwrap())
    });
    write_changed(&path("volts"), |name, r| (name.into(), r));
    for file in fs::read_dir(path("volts")).unwrap() {
        in_volts(&file.unwrap().path(), names.len());
    }
    // An electrode that came loose: its samples are others.
    write_changed(&path("loose"), |name, mut r| {
        let samples = r.samples();
        for (t, x) in r.data_mut()[2 * samples..3 * samples]
            .iter_mut()
            .enumerate()
        {
            *x = ((t * 7919) % 101) as f64 - 50.0;
        }
        (name.into(), r)
    });
    for data in [
        "eeg",
        "ds.npz",
        "copied --adapt pooled",
        "reversed",
        "volts",
        "loose",
    ] {
        assert_eq!(counts(&home, data, None), made, "{data}");
    }
    let mut one = counts(&home, "eeg/S01R1.edf", None);
    gzip(&path("eeg/S01R1.edf"), &path("packed.edf.gz"));
    assert_eq!(counts(&home, "packed.edf.gz --adapt pooled", None), one);
    for simd in ["avx2", "scalar"] {
        for data in ["eeg", "ds.npz"] {
            assert_eq!(counts(&home, data, Some(simd)), made, "{simd} {data}");
        }
    }

    // Bare matrices of other files, other rounding, another unit and order of channels.
    let set = read(path("ds.npz")).unwrap().into_trials().unwrap();
    let bare = |f: &dyn Fn(f64) -> f64, order: &[usize]| {
        let x = set.pick(order).unwrap();
        let mut matrices = x.covariances().clone();
        matrices.data_mut().iter_mut().for_each(|x| *x = f(*x));
        (Trials::new(matrices, set.classes().clone(), set.domains().clone()).unwrap())
            .with_channels(x.channels().unwrap().to_vec())
            .unwrap()
    };
    let plain: Vec<usize> = (0..names.len()).collect();
    let turned: Vec<usize> = plain.iter().rev().copied().collect();
    write_trials(path("bare.npz"), &bare(&|x| x * (1.0 + 4e-16), &plain)).unwrap();
    assert_eq!(counts(&home, "bare.npz", None), made);
    write_trials(path("turned.npz"), &bare(&|x| f64::from(x as f32), &turned)).unwrap();
    assert_eq!(counts(&home, "turned.npz", None), made);
    // A model of bare matrices knows them in the recordings, too.
    home.text(&TRAIN.replace("ds.npz -o m", "turned.npz -o n"));
    fs::rename(path("n.stiefel"), path("m.stiefel")).unwrap();
    assert_eq!(
        counts(&home, "ds.npz", Some("scalar")),
        counts(&home, "turned.npz", None)
    );

    // Files of some of the channels, and all of them later.
    let some = ["C3", "Cz", "C4", "CPz"];
    write_changed(&path("some"), |name, r| {
        (name.into(), r.pick(&some).unwrap())
    });
    home.text(&PREPARE.replace("eeg", "some -o some.npz"));
    home.text("train some.npz -o m.stiefel --overwrite --model mdm --test 0.25");
    one = counts(&home, "some", None);
    assert_eq!(counts(&home, "eeg", None), one);
    assert!(one[2] > 15);
}

/// The exit code and the message of a command that fails.
fn refused(home: &Home, arguments: &str) -> String {
    let (exit, message) = code(&home.run(arguments));
    assert_ne!(exit, 0, "{arguments}");
    message
}

/// What a command says beside its result.
fn note(home: &Home, arguments: &str) -> String {
    let (exit, message) = code(&home.run(arguments));
    assert_eq!(exit, 0, "{arguments}: {message}");
    message
}

#[test]
fn a_recording_that_occurs_twice_is_refused_at_every_door() {
    let home = prepared();
    home.text(&TRAIN.replace(" --test 0.25", ""));
    let path = |name: &str| home.0.join(name);
    let prepare = format!("{PREPARE} -o twice.npz --overwrite");
    // Another run of the person, another person, and a backup.
    for (name, copy) in [
        ("eeg/S01R1.edf", "eeg/S01R18.edf"),
        ("eeg/S02R1.edf", "eeg/S99R1.edf"),
        ("eeg/S02R2.edf", "eeg/backup/S02R2.edf"),
    ] {
        fs::create_dir_all(path("eeg/backup")).unwrap();
        fs::copy(path(name), path(copy)).unwrap();
        for command in [&prepare, "evaluate m.stiefel eeg", "predict m.stiefel eeg"] {
            let message = refused(&home, command);
            assert!(message.contains("the same recording as"), "{message}");
            assert!(
                message.contains(name) && message.contains(copy),
                "{message}"
            );
            let found = home.run(&format!("{command} --duplicates first"));
            assert!(found.status.success(), "{found:?}");
        }
        let set = read(path("twice.npz")).unwrap().into_trials().unwrap();
        assert_eq!(set.len(), 32);
        let said = note(&home, "evaluate m.stiefel eeg --duplicates first");
        assert!(
            said.contains("left out, because it is the same recording as"),
            "{said}"
        );
        fs::remove_file(path(copy)).unwrap();
    }
    #[cfg(unix)]
    {
        // A link to the folder itself is no other folder, a link to a file is a copy.
        std::os::unix::fs::symlink(".", path("eeg/again")).unwrap();
        home.text(&prepare);
        assert_eq!(
            read(path("twice.npz"))
                .unwrap()
                .into_trials()
                .unwrap()
                .len(),
            32
        );
        std::os::unix::fs::symlink("S01R1.edf", path("eeg/S07R1.edf")).unwrap();
        assert!(refused(&home, &prepare).contains("the same recording as"));
    }
}

#[test]
fn a_trial_that_occurs_twice_is_refused_at_every_door() {
    let home = prepared();
    home.text(&TRAIN.replace(" --test 0.25", ""));
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let twice = set.joined(&set.select(&[3, 9]).unwrap()).unwrap();
    let bare = Trials::new(
        twice.covariances().clone(),
        twice.classes().clone(),
        twice.domains().clone(),
    );
    let bare = bare
        .unwrap()
        .with_channels(twice.channels().unwrap().to_vec())
        .unwrap();
    for trials in [twice, bare] {
        write_trials(home.0.join("twice.npz"), &trials).unwrap();
        for command in [
            "train twice.npz -o n.stiefel --overwrite --model mdm",
            "evaluate m.stiefel twice.npz",
            "predict m.stiefel twice.npz",
            "study main twice.npz --methods mdm --output s",
            "inspect twice.npz",
        ] {
            let message = refused(&home, command);
            assert!(
                message.contains("trial 32 is the same as trial 3"),
                "{command}: {message}"
            );
            assert!(message.contains("twice.npz"), "{message}");
        }
        for command in [
            "train twice.npz -o n.stiefel --overwrite --model mdm",
            "evaluate m.stiefel twice.npz",
            "study main twice.npz --methods mdm --output s --overwrite",
        ] {
            let said = note(&home, &format!("{command} --duplicates first"));
            assert!(
                said.contains("2 trials left out, because they occur twice"),
                "{said}"
            );
        }
    }
    // Two events on one sample are one trial.
    let recording = study().recording(0, 0, 0).unwrap();
    let mut events = recording.events().to_vec();
    events.push(events[2].clone());
    fs::create_dir(home.0.join("events")).unwrap();
    write_edf(
        &home.0.join("events/S01R1.edf"),
        &recording.with_events(events),
    );
    let prepare = "prepare events --classes T1=hands,T2=feet -o events.npz";
    assert!(refused(&home, prepare).contains("a trial occurs twice"));
    let text = home.text(&format!("{prepare} --duplicates first --reject off"));
    assert!(
        text.contains("the first is kept") && text.contains("8 of 13 channels"),
        "{text}"
    );
}

#[test]
fn overlapping_windows_never_fall_on_two_sides() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    // Cues are about seven seconds apart.
    home.text(&format!("{PREPARE} -o ds.npz --window -1,9"));
    let (exit, said) = code(&home.run(TRAIN));
    assert!(
        exit == 0 && said.contains("share samples with held-out ones"),
        "{said}"
    );
    let made = json(&fs::read_to_string(home.0.join("m.stiefel.json")).unwrap())["trials"].clone();
    let test = made["test"].as_u64().unwrap();
    // No trial of the test shares samples with one of training.
    assert!(
        test > 0 && counts(&home, "ds.npz", None)[0] >= test,
        "{made}"
    );
    for study in ["main", "main --split block", "loso"] {
        let folder = home.0.join("s");
        let methods = "ds.npz --methods mdm --output s --quiet --json";
        let output = home.run(&format!("study {study} {methods}"));
        assert!(output.status.success(), "{output:?}");
        let value = json(std::str::from_utf8(&output.stdout).unwrap());
        // Whole runs share no samples, but validation does within the others.
        assert!(
            value["protocol"]
                .as_str()
                .unwrap()
                .contains("windows overlap"),
            "{study}"
        );
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn labels_that_come_in_stretches_are_seen() {
    let home = prepared();
    let study = "study main ds.npz --methods mdm --json --output s";
    assert_eq!(note(&home, study), "");
    assert!(!home.text("inspect ds.npz").contains("stretches"));
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Bnci2015001, 128.0, vec![1, 1], 2, 16, &classes);
    let study_of_blocks = Synthetic::new(config).unwrap();
    for item in study_of_blocks.recordings() {
        let item = item.unwrap();
        let mut events = item.recording.events().to_vec();
        let half = events.len() / 2;
        for (place, event) in events.iter_mut().enumerate() {
            event.label = if place < half { "feet" } else { "right_hand" }.into();
        }
        let name = format!("eeg/S{:02}R{}.edf", item.subject + 1, item.run + 1);
        write_edf(&home.0.join(name), &item.recording.with_events(events));
    }
    home.text(&format!("{PREPARE} -o ds.npz --overwrite"));
    let text = home.text("inspect ds.npz");
    assert!(
        text.contains("labels of neighbours correlate by +0.87"),
        "{text}"
    );
    assert!(text.contains("--split block"), "{text}");
    let value = json(&home.text("inspect ds.npz --json"));
    let correlation = value["label_order"]["correlation"].as_f64().unwrap();
    assert!((correlation - 13.0 / 15.0).abs() < 1e-12);
    fs::remove_dir_all(home.0.join("s")).unwrap();
    let said = note(&home, study);
    assert!(
        said.contains("correlate by +0.87") && said.contains("--split block"),
        "{said}"
    );
    assert_eq!(note(&home, &format!("{study}/block --split block")), "");
}

#[test]
fn equal_names_in_two_folders_are_one_person_only_if_somebody_says_so() {
    let home = Home::new();
    let write = |name: &str, subject: usize, run: usize| {
        let path = home.0.join("eeg").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_edf(&path, &study().recording(subject, 0, run).unwrap());
    };
    let people = |option: &str| -> Vec<String> {
        home.text(&format!("{PREPARE} -o ds.npz --overwrite {option}"));
        let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
        set.subjects().names().to_vec()
    };
    write("a/S054R06.edf", 0, 0);
    write("b/S054R06.edf", 1, 0);
    for rule in ["auto", "prefix", "file"] {
        let message = refused(&home, &format!("{PREPARE} -o ds.npz --domain {rule}"));
        for part in ["eeg/a/S054R06.edf", "eeg/b/S054R06.edf", "two people"] {
            assert!(message.contains(part), "{rule}: {message}");
        }
    }
    assert_eq!(people("--domain person"), ["S054"]);
    assert_eq!(people("--domain session"), ["S054"]);
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    assert_eq!(set.domains().names(), ["S054-a", "S054-b"]);
    assert_eq!(people("--domain folder"), ["a", "b"]);
    fs::remove_dir_all(home.0.join("eeg")).unwrap();
    // BIDS names say who somebody is, in whichever folder of a data set.
    write("sub-ann/ses-1/sub-ann_ses-1_task-mi_eeg.edf", 0, 0);
    write("sub-ann/ses-2/sub-ann_ses-2_task-mi_eeg.edf", 0, 1);
    write("sub-ben/ses-1/sub-ben_ses-1_task-mi_eeg.edf", 1, 0);
    assert_eq!(people(""), ["sub-ann", "sub-ben"]);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        fs::remove_dir_all(home.0.join("eeg")).unwrap();
        fs::create_dir(home.0.join("eeg")).unwrap();
        for (subject, name) in [&b"S\xff_1.edf"[..], b"S\xfe_1.edf"]
            .into_iter()
            .enumerate()
        {
            let path = home.0.join("eeg").join(std::ffi::OsStr::from_bytes(name));
            write_edf(&path, &study().recording(subject, 0, 0).unwrap());
        }
        assert_eq!(people("").len(), 2);
    }
}

#[test]
fn an_empty_label_is_refused_and_one_class_is_no_score() {
    let home = prepared();
    let info = |label: &str| TrialInfo {
        label: label.into(),
        domain: "S1".into(),
        run: None,
    };
    let recording = study().recording(0, 0, 0).unwrap();
    let trials = [info("a"), info("b"), info("")].to_vec();
    let samples = 640;
    let channels = recording.channels().to_vec();
    let data: Vec<f64> = (0..3 * channels.len())
        .flat_map(|row| {
            let (trial, channel) = (row / channels.len(), row % channels.len());
            recording.channel(channel)[1000 * trial..][..samples].to_vec()
        })
        .collect();
    let epochs = Epochs::new(channels, 128.0, samples, data, trials).unwrap();
    write_epochs(home.0.join("empty.npz"), &epochs).unwrap();
    let message = refused(
        &home,
        "prepare empty.npz -o e.npz --reject off --window 0.5,3.5",
    );
    assert!(
        message.contains("the label of trial 2 is empty"),
        "{message}"
    );

    // S02 has trials of hands alone.
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let has = |i: &usize| set.domains().label(*i) == "S01" || set.classes().label(*i) == "hands";
    let keep: Vec<usize> = (0..set.len()).filter(has).collect();
    write_trials(home.0.join("one.npz"), &set.select(&keep).unwrap()).unwrap();
    let output = home.run("study main one.npz --methods mdm,ts+lr --output s --quiet --json");
    let value: Value = json(std::str::from_utf8(&output.stdout).unwrap());
    for row in value["rows"].as_array().unwrap() {
        let people = row["per_subject"].as_array().unwrap();
        assert_eq!(people.len(), 1, "{people:?}");
        assert_eq!(people[0][0], "S01");
    }
    let verdict = value["verdict"].to_string();
    assert!(
        verdict.contains("S02 has trials of one class only"),
        "{verdict}"
    );
}

#[test]
fn a_model_of_people_without_names_knows_its_trials() {
    let home = prepared();
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let nobody = Factor::from_labels(vec![""; set.len()]);
    let bare = Trials::new(set.covariances().clone(), set.classes().clone(), nobody).unwrap();
    let bare = bare
        .with_channels(set.channels().unwrap().to_vec())
        .unwrap();
    write_trials(home.0.join("bare.npz"), &bare).unwrap();
    let text = home.text(&TRAIN.replace("ds.npz", "bare.npz"));
    let made = json(&text)["trials"].clone();
    let made = ["test", "validation", "train"].map(|part| made[part].as_u64().unwrap());
    assert_eq!(counts(&home, "bare.npz", None), made);
    assert_eq!(counts(&home, "ds.npz --adapt pooled", None), made);
}
