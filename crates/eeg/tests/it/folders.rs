//! Folders of recordings, prepared.

use std::fmt::Write;
use std::path::PathBuf;

use stiefel_data::{Input, Recipe, class_rules};
use stiefel_eeg::recipe::{Inputs, prepare, run};

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
