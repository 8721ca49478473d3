//! Folders as tables, labels by run, MATLAB and marker channels by a rule.

use std::fmt::Write;

use stiefel::eeg::io::read;

use super::recordings::write_study;
use super::{Home, code};

#[test]
fn a_folder_is_a_table_that_fits_a_screen() {
    let home = Home::new();
    let folder = home.0.join("eeg");
    write_study(&folder);
    let whole = std::fs::read(folder.join("S01R1.edf")).unwrap();
    std::fs::write(folder.join("cut.edf"), &whole[..9000]).unwrap();
    std::fs::write(folder.join("old.cnt"), "Version 3.0").unwrap();
    std::fs::write(folder.join("notes.md"), "hello").unwrap();
    std::fs::write(folder.join("LICENSE"), "Anybody may").unwrap();
    let long = "a_name_of_a_recording_that_is_long_in_its_middle_eeg.edf";
    std::fs::write(folder.join(long), &whole).unwrap();
    std::fs::create_dir(folder.join("more")).unwrap();
    std::fs::rename(folder.join("S02R2.edf"), folder.join("more/S02R2.edf")).unwrap();
    let text = home.text("inspect eeg");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(text.contains("cut.edf"), "{text}");
    assert!(text.contains("a_name_of_a_re…_middle_eeg.edf"), "{text}");
    assert!(
        text.contains("cannot be read: the file ends too early"),
        "{text}"
    );
    assert!(
        text.contains("cannot be read: Neuroscan CNT")
            && text.contains("-v gives the whole reason"),
        "{text}"
    );
    assert!(
        text.contains("\nmore/\n  S02R2.edf  ")
            && text.contains("2 other files (md ×1, no ending ×1)"),
        "{text}"
    );
    assert!(!text.contains(" a E"), "{text}");
    let long = String::from_utf8(home.run("inspect eeg -v").stdout).unwrap();
    assert!(long.lines().all(|l| l.chars().count() <= 80), "{long}");
    let long = long.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        long.contains("keep what is there with the option `partial`"),
        "{long}"
    );
    // What is there can be had.
    let (exit, message) = code(&home.run("inspect eeg/cut.edf"));
    assert_eq!(exit, 1, "{message}");
    let text = home.text("inspect eeg/cut.edf --partial");
    assert!(text.contains("announces 60 records"), "{text}");
}

#[test]
fn a_label_can_mean_another_thing_in_another_run() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let text =
        home.text("prepare eeg -o ds.npz --reject off --classes R[1]:T1=hand,R2:T1=fist,T2=feet");
    assert!(text.contains("hand") && text.contains("fist"), "{text}");
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    let runs = set.runs().unwrap();
    for i in 0..set.len() {
        let class = set.classes().label(i);
        let wanted = if runs.label(i) == "R1" {
            "hand"
        } else {
            "fist"
        };
        assert!(
            class == "feet" || class == wanted,
            "{class} in {}",
            runs.label(i)
        );
    }
    let (exit, message) = code(&home.run("prepare eeg -o no.npz --classes R9:T1=hand,T2=feet"));
    assert_eq!(exit, 2, "{message}");
    assert!(
        message.contains("the label R9:T1, which stands for hand, never occurs"),
        "{message}"
    );
}

#[test]
fn rules_for_files_are_checked_and_obeyed() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let mut text = String::from("time,C3,C4,trigger\n");
    for k in 0..400 {
        let code = if k % 100 == 50 { 1 + k / 200 } else { 0 };
        writeln!(
            text,
            "{},{},{},{code}",
            f64::from(k) / 100.0,
            (k * 7) % 13,
            (k * 5) % 11
        )
        .unwrap();
    }
    std::fs::write(home.0.join("a.csv"), text).unwrap();
    let found = home.text("inspect a.csv");
    assert!(found.contains("1 ×2, 2 ×2"), "{found}");
    assert!(
        found.contains("4 events were read from the marker channel trigger"),
        "{found}"
    );
    assert!(
        home.text("inspect a.csv --markers off")
            .contains("events      none")
    );
    assert!(
        home.text("inspect a.csv --markers mask=0x2")
            .contains("2 ×2")
    );
    for (arguments, reason) in [
        (
            "inspect a.csv --markers polarity=up",
            "polarity: auto, rising, falling",
        ),
        ("inspect a.csv --mat rate=4", "which variable is the signal"),
        (
            "inspect a.csv --markers channel=STI",
            "there is no marker channel STI",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a,T2=b --task mi",
            "there is no task mi",
        ),
        (
            "prepare eeg -o x.npz --classes T1=a,T2=b --pattern x.csv",
            "names neither subject, nor class, nor run",
        ),
    ] {
        let (exit, message) = code(&home.run(arguments));
        assert_eq!(exit, 2, "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
    }
}

#[test]
fn options_that_cannot_apply_are_refused() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    home.text("train ds.npz -o m.stiefel --model choir");
    for (line, reason) in [
        (
            "eeg/S01R1.edf --stream 1",
            "the option stream is about files of the format XDF",
        ),
        (
            "eeg/S01R1.edf --mat signal=x",
            "the option mat is about files of the format MATLAB and EEGLAB",
        ),
        ("eeg --stream 1", "of the format XDF, and there are none"),
        ("eeg --subjects 1", "cannot apply to a folder"),
        ("eeg/S01R1.edf --subjects 1", "cannot apply to a recording"),
        ("m.stiefel --partial", "cannot apply to a model"),
        ("m.stiefel --channels Cz", "cannot apply to a model"),
        (
            "synthetic:mild --sampling-rate 100",
            "cannot apply to a data set",
        ),
    ] {
        let (exit, message) = code(&home.run(&format!("inspect {line}")));
        assert_eq!(exit, 2, "{line}: {message}");
        assert!(message.contains(reason), "{line}: {message}");
    }
}
