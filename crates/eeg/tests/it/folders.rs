//! Folders of recordings, prepared.

use std::fmt::Write;
use std::path::PathBuf;

use stiefel_eeg::prepare::{PrepareOptions, prepare};

/// A folder as BIDS has it, among the fixtures of the readers.
fn bids() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../formats/tests/fixtures/bids"
    ))
}

#[test]
fn a_task_of_a_bids_folder_is_prepared() {
    let options = |task: &str| PrepareOptions {
        classes: PrepareOptions::parse_classes(&["left", "right"]).unwrap(),
        window: Some([0.0, 0.5]),
        band: Some([8.0, 20.0]),
        reject: None,
        task: Some(task.into()),
        ..PrepareOptions::default()
    };
    let folder = [bids().display().to_string()];
    let (trials, record) = prepare(&folder, &options("mi"), &mut |_| {}).unwrap();
    assert_eq!((trials.len(), record.files.len()), (6, 2));
    assert_eq!(trials.domains().names(), ["sub-01", "sub-02"]);
    let error = prepare(&folder, &options("sleep"), &mut |_| {}).unwrap_err();
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
    let refused = |options: PrepareOptions| {
        let error = prepare(&folder, &options, &mut |_| {}).unwrap_err();
        error.to_string()
    };
    let of_xdf = refused(PrepareOptions {
        stream: Some("1".into()),
        ..options("mi")
    });
    assert!(
        of_xdf.contains("the option stream is about files"),
        "{of_xdf}"
    );
    let of_mat = refused(PrepareOptions {
        mat: Some("signal=x,rate=64".into()),
        ..options("mi")
    });
    assert!(of_mat.contains("the option mat is about files"), "{of_mat}");
    // A pattern that fits no run: the message says how the runs are called.
    let of_run = refused(PrepareOptions {
        classes: PrepareOptions::parse_classes(&["R[1]:left=a", "right=b"]).unwrap(),
        ..options("mi")
    });
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
    let options = PrepareOptions {
        rate: Some(100.0),
        pattern: Some("{subject}_{class}_{trial}.csv".into()),
        reject: None,
        ..PrepareOptions::default()
    };
    let source = [folder.display().to_string()];
    let (trials, _) = prepare(&source, &options, &mut |_| {}).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(trials.len(), 5);
    assert_eq!(trials.domains().names(), ["anna", "bob"]);
    assert_eq!(trials.classes().names(), ["left", "right"]);
}
