//! Folders and files as they are met: links in circles, pipes, names that are not UTF-8, files that
//! cannot be read.

use serde_json::Value;
#[cfg(unix)]
use stiefel::eeg::io::read;

use super::recordings::write_study;
use super::{Home, code};

const CLASSES: &str = "--classes T1=hands,T2=feet";

/// A pipe that nobody writes to.
#[cfg(unix)]
fn pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[cfg(unix)]
#[test]
fn links_that_point_up_are_walked_once() {
    let home = Home::new();
    let eeg = home.0.join("eeg");
    write_study(&eeg);
    std::fs::create_dir(eeg.join("more")).unwrap();
    std::fs::rename(eeg.join("S02R2.edf"), eeg.join("more/S02R2.edf")).unwrap();
    for link in ["a", "b", "more/c"] {
        std::os::unix::fs::symlink(&eeg, eeg.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("/", eeg.join("root")).unwrap();
    std::os::unix::fs::symlink("more", eeg.join("again")).unwrap();
    let text = home.text(&format!(
        "prepare eeg -o ds.npz --domain person {CLASSES} --json"
    ));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["files"].as_array().unwrap().len(), 4, "{text}");
    let table = home.text("inspect eeg");
    assert_eq!(table.matches(".edf").count(), 4, "{table}");
    assert!(table.contains("\nmore/\n  S02R2.edf"), "{table}");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_opened() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    pipe(&home.0.join("eeg/x.edf"));
    let reason = "x.edf: it is a pipe, not a regular file";
    for line in [
        "prepare eeg -o no.npz --classes T1=a,T2=b",
        "inspect eeg/x.edf",
        "prepare eeg/x.edf -o no.npz --classes T1=a,T2=b",
    ] {
        let (exit, message) = code(&home.run(line));
        assert_eq!(exit, 1, "{line}: {message}");
        assert!(message.contains(reason), "{line}: {message}");
    }
    let text = home.text("inspect eeg");
    assert!(text.contains("cannot be read: it is a pipe"), "{text}");
    // What may be a model is looked at before it is known to be none.
    let (exit, message) = code(&home.run("evaluate eeg/x.edf eeg/x.edf"));
    assert!(
        exit != 0 && message.contains("not a regular file"),
        "{message}"
    );
    std::fs::create_dir(home.0.join("bids")).unwrap();
    let bids = home.0.join("bids/sub-1_task-x_eeg.edf");
    std::fs::rename(home.0.join("eeg/S01R1.edf"), bids).unwrap();
    pipe(&home.0.join("bids/sub-1_task-x_events.tsv"));
    let (exit, message) = code(&home.run("inspect bids/sub-1_task-x_eeg.edf"));
    assert_eq!(exit, 1, "{message}");
    assert!(message.contains("_events.tsv: it is a pipe"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_configuration_is_a_regular_file_of_some_length() {
    let home = Home::new();
    std::fs::write(home.0.join("long.toml"), vec![b'\n'; (16 << 20) + 1]).unwrap();
    for (file, reason) in [
        ("/dev/zero", "/dev/zero: it is a device, not a regular file"),
        ("long.toml", "more than the 16777216 bytes"),
    ] {
        let (exit, message) = code(&home.run(&format!("prepare a.edf -o b.npz --config {file}")));
        assert_eq!(exit, 2, "{message}");
        assert!(message.contains(reason), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_shown_and_stay_apart() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let eeg = home.0.join("eeg");
    write_study(&eeg);
    for (from, to) in [("S01R1", b"S\xff.edf"), ("S02R1", b"S\xfe.edf")] {
        let to = eeg.join(std::ffi::OsStr::from_bytes(to));
        std::fs::rename(eeg.join(format!("{from}.edf")), to).unwrap();
    }
    let text = home.text("inspect eeg");
    assert!(
        text.contains(r"S\xfe.edf") && text.contains(r"S\xff.edf"),
        "{text}"
    );
    assert!(home.text("inspect eeg --json").contains(r"S\\xff.edf"));
    home.text(&format!("prepare eeg -o ds.npz {CLASSES}"));
    let set = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    assert_eq!(set.domains().names(), ["S01", "S02", r"S\xfe", r"S\xff"]);
}

#[test]
fn files_that_cannot_be_read_are_told_together_and_can_be_left_out() {
    let home = Home::new();
    let eeg = home.0.join("eeg");
    write_study(&eeg);
    // The first of all files, too.
    std::fs::write(eeg.join("A01R1.edf"), "").unwrap();
    std::fs::write(eeg.join("S01R3.edf"), "not at all EDF").unwrap();
    let whole = std::fs::read(eeg.join("S02R2.edf")).unwrap();
    std::fs::write(eeg.join("S02R3.edf"), &whole[..9000]).unwrap();
    let (exit, message) = code(&home.run(&format!("prepare eeg -o ds.npz {CLASSES}")));
    assert_eq!(exit, 1, "{message}");
    assert!(message.contains("3 of 7 files cannot be read"), "{message}");
    for line in [
        "A01R1.edf: at byte 0: the file is empty",
        "S01R3.edf: at byte 0: no format starts with",
        "S02R3.edf: at byte 9000: the file ends too early",
    ] {
        let found = message.lines().filter(|l| l.contains(line)).count();
        assert_eq!(found, 1, "{line}: {message}");
    }
    assert!(message.contains("--skip-unreadable"), "{message}");
    assert!(!home.0.join("ds.npz").exists());
    let text = home.text(&format!(
        "prepare eeg -o ds.npz {CLASSES} --skip-unreadable"
    ));
    let side = std::fs::read(home.0.join("ds.json")).unwrap();
    let side: Value = serde_json::from_slice(&side).unwrap();
    let notes = side["notes"].as_array().unwrap();
    for name in ["A01R1", "S01R3", "S02R3"] {
        let told = format!("eeg/{name}.edf: left out, because it cannot be read: ");
        assert!(
            notes.iter().any(|n| n.as_str().unwrap().starts_with(&told)),
            "{notes:?}"
        );
        assert!(text.contains(&format!("{name}.edf")), "{text}");
    }
    assert_eq!(side["files"].as_array().unwrap().len(), 4);
    assert_eq!(side["configuration"]["prepare"]["skip-unreadable"], true);
    // None is left.
    std::fs::create_dir(home.0.join("none")).unwrap();
    for name in ["a.edf", "b.edf"] {
        std::fs::write(home.0.join("none").join(name), "").unwrap();
    }
    let (exit, message) = code(&home.run(&format!(
        "prepare none -o no.npz {CLASSES} --skip-unreadable"
    )));
    assert!(exit == 1 && message.contains("2 of 2 files"), "{message}");
    // One file is told as it is.
    let (exit, message) = code(&home.run(&format!("prepare none/a.edf -o no.npz {CLASSES}")));
    assert_eq!(exit, 1);
    assert!(
        message.starts_with("error: none/a.edf: at byte 0: the file is empty\n"),
        "{message}"
    );
}

#[test]
fn runs_are_listed_once_and_rates_are_told_as_rates() {
    let home = Home::new();
    let eeg = home.0.join("eeg");
    write_study(&eeg);
    for subject in ["S01", "S02"] {
        let run = |number: u32| eeg.join(format!("{subject}R{number}.edf"));
        std::fs::rename(run(1), run(10)).unwrap();
        std::fs::rename(run(2), run(6)).unwrap();
    }
    let (exit, message) = code(&home.run(&format!("prepare eeg -o no.npz {CLASSES} --runs 11")));
    assert_eq!(exit, 2, "{message}");
    let told = "there is no run 11; the other runs are R6, R10\n";
    assert!(message.ends_with(told), "{message}");

    // 128 samples in a record of .8 s are 160 Hz.
    let path = eeg.join("S01R6.edf");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[244..252].copy_from_slice(b"0.8     ");
    std::fs::write(&path, bytes).unwrap();
    let (exit, message) = code(&home.run(&format!("prepare eeg -o no.npz {CLASSES}")));
    assert_eq!(exit, 1, "{message}");
    assert!(
        message.contains("is sampled at 160 Hz, the first at 128 Hz"),
        "{message}"
    );
    assert!(message.contains("resample all to one rate"), "{message}");
    assert!(!message.contains("samples per trial"), "{message}");
}

#[test]
fn what_packed_files_expand_to_can_be_told() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text(&format!("prepare eeg -o ds.npz {CLASSES}"));
    let packed = std::process::Command::new("gzip")
        .arg(home.0.join("eeg/S01R1.edf"))
        .status();
    assert!(packed.unwrap().success());
    let file = "eeg/S01R1.edf.gz";
    for line in [
        format!("inspect {file}"),
        format!("prepare {file} -o no.npz {CLASSES}"),
    ] {
        let (exit, message) = code(&home.run(&format!("{line} --max-expanded 100K")));
        assert_eq!(exit, 1, "{line}: {message}");
        assert!(
            message.contains("expand to, 100 KiB; raise this limit"),
            "{message}"
        );
        home.text(&format!("{line} --max-expanded 4G"));
    }
    let (exit, message) = code(&home.run(&format!("inspect {file} --max-expanded much")));
    assert!(exit == 2 && message.contains("for example 4G"), "{message}");
}
