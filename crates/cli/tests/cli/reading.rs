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
    let text = home.text(&format!("prepare eeg -o ds.npz {CLASSES} --json"));
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
