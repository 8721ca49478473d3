//! Folders of recordings, prepared.

use std::fmt::Write;
use std::path::PathBuf;

use stiefel_data::{Duplicates, Input, Recipe, Seen, class_rules};
use stiefel_eeg::load_as;
use stiefel_eeg::recipe::{Inputs, prepare, run};
use stiefel_eeg::select::Selection;
use stiefel_formats::files_opened;

/// A folder as BIDS has it, among the fixtures of the readers.
fn bids() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../formats/tests/fixtures/bids"
    ))
}

#[test]
fn a_task_of_a_bids_folder_is_prepared() {
    let recipe = Recipe {
        classes: class_rules(&["left", "right"]).unwrap(),
        views: vec!["8-20@0-0.5".parse().unwrap()],
        reject: None,
        ..Recipe::default()
    };
    let input = |task: &str| Input {
        task: Some(task.into()),
        ..Input::default()
    };
    let folder = [bids().display().to_string()];
    let (trials, record) = prepare(&folder, &input("mi"), &recipe, &mut |_| {}).unwrap();
    assert_eq!((trials.len(), record.files.len()), (6, 2));
    assert_eq!(trials.domains().names(), ["sub-01", "sub-02"]);
    let error = prepare(&folder, &input("sleep"), &recipe, &mut |_| {}).unwrap_err();
    assert!(
        error.to_string().contains("the tasks are mi, rest"),
        "{error}"
    );
    // What the reader noted on both files is told once.
    let bad = "sub-01_task-mi_run-1_eeg.vhdr (run 1) and 1 more: the file marks channels as bad";
    let told = record.notes.iter().filter(|n| n.contains("as bad"));
    let told: Vec<_> = told.collect();
    assert!(told.len() == 1 && told[0].starts_with(bad), "{told:?}");
    // Options that no file can obey.
    let refused = |input: Input| {
        let error = prepare(&folder, &input, &recipe, &mut |_| {}).unwrap_err();
        error.to_string()
    };
    let of_xdf = refused(Input {
        stream: Some("1".into()),
        ..input("mi")
    });
    assert!(
        of_xdf.contains("the option stream is about files"),
        "{of_xdf}"
    );
    let of_mat = refused(Input {
        mat: Some("signal=x,rate=64".into()),
        ..input("mi")
    });
    assert!(of_mat.contains("the option mat is about files"), "{of_mat}");
    // A pattern that fits no run: the message says how the runs are called.
    let by_run = Recipe {
        classes: class_rules(&["R[1]:left=a", "right=b"]).unwrap(),
        ..recipe.clone()
    };
    let of_run = prepare(&folder, &input("mi"), &by_run, &mut |_| {});
    let of_run = of_run.unwrap_err().to_string();
    assert!(
        of_run.contains("the recordings have left ×4, right ×2 in runs 1;"),
        "{of_run}"
    );
}

#[test]
fn files_that_are_trials_are_named_by_a_pattern() {
    let folder = std::env::temp_dir().join(format!("stiefel-trials-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (i, name) in [
        "anna_left_1",
        "anna_right_1",
        "bob_left_1",
        "bob_right_1",
        "bob_left_2",
    ]
    .iter()
    .enumerate()
    {
        let mut text = String::from("C3,C4\n");
        for k in 0..200 {
            let t = f64::from(k) / 100.0 + 0.1 * i as f64;
            let (a, b) = ((70.0 * t).sin() + i as f64, (61.0 * t + 1.0).cos());
            writeln!(text, "{a},{b}").unwrap();
        }
        std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
    let input = Input {
        sampling_rate: Some(100.0),
        pattern: Some("{subject}_{class}_{trial}.csv".into()),
        ..Input::default()
    };
    let mut recipe = Recipe {
        reject: None,
        ..Recipe::default()
    };
    let source = [folder.display().to_string()];
    let mut inputs = Inputs::open(&source, &input, &recipe).unwrap();
    recipe.views = inputs.views(None, None, "broad").unwrap();
    assert_eq!(recipe.views[0].window, [0.0, 2.0]);
    let (trials, _) = run(&recipe, inputs, &mut |_| {}).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(trials.len(), 5);
    assert_eq!(trials.domains().names(), ["anna", "bob"]);
    assert_eq!(trials.classes().names(), ["left", "right"]);
}

/// The samples of a second of two channels with a cue, as EDF+.
fn edf(seed: usize) -> Vec<u8> {
    let field = |text: &str, width: usize| format!("{text:<width$}").into_bytes();
    let mut out = [
        field("0", 8),
        field("X X X X", 80),
        field("Startdate X X X X", 80),
        field("01.01.20", 8),
        field("00.00.00", 8),
        field("1024", 8),
        field("EDF+C", 44),
        field("20", 8),
        field("1", 8),
        field("3", 4),
    ]
    .concat();
    let each = |values: [&str; 3], width: usize| values.map(|v| field(v, width)).concat();
    for (values, width) in [
        (["C3", "C4", "EDF Annotations"], 16),
        (["", "", ""], 80),
        (["uV", "uV", ""], 8),
        (["-100", "-100", "-1"], 8),
        (["100", "100", "1"], 8),
        (["-32768", "-32768", "-32768"], 8),
        (["32767", "32767", "32767"], 8),
        (["", "", ""], 80),
        (["128", "128", "32"], 8),
        (["", "", ""], 32),
    ] {
        out.extend(each(values, width));
    }
    for second in 0..20_usize {
        for k in 0..256_usize {
            let x = (k * k * 31 + second * 7919 + seed * 104_729) % 20_011;
            out.extend((x as i16).to_le_bytes());
        }
        let mut note = format!("+{second}\x14\x14\0").into_bytes();
        if second % 5 == 1 {
            let label = if second % 2 == 1 { "T1" } else { "T2" };
            note.extend(format!("+{second}\x14{label}\x14\0").into_bytes());
        }
        note.resize(64, 0);
        out.extend(note);
    }
    out
}

#[test]
fn every_recording_is_opened_once_and_hashed_as_it_was_decoded() {
    let folder = std::env::temp_dir().join(format!("stiefel-once-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for subject in 1..=3 {
        std::fs::write(folder.join(format!("S{subject}R1.edf")), edf(subject)).unwrap();
    }
    let opened = |work: &mut dyn FnMut()| {
        let before = files_opened();
        work();
        files_opened() - before
    };
    let recipe = Recipe {
        classes: class_rules(&["T1=hands", "T2=feet"]).unwrap(),
        reject: None,
        ..Recipe::default()
    };
    let source = [folder.display().to_string()];
    let mut made = None;
    let count = opened(&mut || {
        made = Some(prepare(&source, &Input::default(), &recipe, &mut |_| {}).unwrap());
    });
    assert_eq!(count, 3);
    let (trials, record) = made.unwrap();
    assert_eq!((trials.len(), record.files.len()), (12, 3));
    let first = stiefel_eeg::catalogue::Sha256::of(&edf(1));
    assert_eq!(record.files[0].sha256, first);
    // As a model asks for them, filtered as it says and as a live signal is.
    let known = trials.preparation().known().unwrap();
    let part = Selection::default();
    let file = folder.join("S2R1.edf").display().to_string();
    for (source, files) in [(&source[0], 3), (&file, 1)] {
        for causal in [false, true] {
            let count = opened(&mut || {
                let trials = load_as(source, &part, Some(known), causal, &mut |_| {}).unwrap();
                assert_eq!(trials.len(), 4 * files);
            });
            assert_eq!(count, files, "{source} {causal}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_recording_that_occurs_twice_is_refused_with_both_places_under_any_name() {
    let folder = std::env::temp_dir().join(format!("stiefel-twice-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("backup")).unwrap();
    for subject in 1..=2 {
        std::fs::write(folder.join(format!("S{subject}R1.edf")), edf(subject)).unwrap();
    }
    let recipe = Recipe {
        classes: class_rules(&["T1=hands", "T2=feet"]).unwrap(),
        reject: None,
        ..Recipe::default()
    };
    let source = [folder.display().to_string()];
    let (alone, _) = prepare(&source, &Input::default(), &recipe, &mut |_| {}).unwrap();
    // Another person, another unit and another order of channels: the samples are the same.
    let mut copy = edf(2);
    let text = |from: &str, to: &str, bytes: &mut Vec<u8>| {
        let at = bytes
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    };
    text("uV      uV", "mV      mV", &mut copy);
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, bytes).unwrap();
        packed.finish().unwrap()
    };
    for (name, bytes) in [
        ("S9R4.edf", edf(2)),
        ("backup/S2R1.edf", edf(2)),
        ("S9R4.edf.gz", gzip(&edf(2))),
        ("S9R4.edf", copy.clone()),
    ] {
        let (path, relabelled) = (folder.join(name), bytes == copy);
        std::fs::write(&path, bytes).unwrap();
        // Folders are not searched for packed files.
        let packed = name.contains(".gz").then(|| path.display().to_string());
        let sources: Vec<String> = source.iter().cloned().chain(packed).collect();
        let prepared = |input: &Input| prepare(&sources, input, &recipe, &mut |_| {});
        let error = prepared(&Input::default()).unwrap_err().to_string();
        assert!(error.contains("it is the same recording as"), "{error}");
        assert!(error.contains("S2R1.edf"), "{error}");
        let first = Input {
            duplicates: Duplicates::First,
            ..Input::default()
        };
        let (kept, record) = prepared(&first).unwrap();
        assert_eq!(kept.len(), alone.len(), "{name}");
        let note = record
            .notes
            .iter()
            .find(|n| n.contains("the same recording as"));
        assert!(note.is_some(), "{:?}", record.notes);
        // The copy alone is the same trials, whoever they are said to be of.
        let own = [path.display().to_string()];
        match prepare(&own, &Input::default(), &recipe, &mut |_| {}) {
            Ok((copied, _)) => {
                let none = alone.select(&[]).unwrap();
                let [_, _, new] = Seen::of(&alone, &none).divide(&copied);
                assert!(new.is_empty(), "{name}");
            }
            // Microvolts that are called millivolts are no EEG.
            Err(error) => assert!(
                relabelled && error.to_string().contains("correct the unit"),
                "{error}"
            ),
        }
        std::fs::remove_file(path).unwrap();
    }
    // Neither filter, window, channels nor rate change who a trial is.
    let other = Recipe {
        views: vec!["10-14@0.25-2.25".parse().unwrap()],
        channels: Some(vec!["C4".into()]),
        rate: Some(100.0),
        ..recipe.clone()
    };
    let (other, _) = prepare(&source, &Input::default(), &other, &mut |_| {}).unwrap();
    let none = alone.select(&[]).unwrap();
    assert!(Seen::of(&alone, &none).divide(&other)[2].is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}
