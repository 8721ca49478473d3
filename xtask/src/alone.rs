//! The crate of readers needs no other crate of ours.

use crate::chore::root;
use std::process::Command;

/// Returns the crates of ours that a package is built, tested or run with.
fn ours(package: &str) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let found = Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--prefix", "none", "--edges", "all"])
        .args(["--package", package])
        .output()
        .unwrap();
    assert!(found.status.success(), "{package}: {found:?}");
    let text = String::from_utf8_lossy(&found.stdout);
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with("stiefel"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn readers_need_no_other_crate_of_ours() {
    assert_eq!(ours("stiefel-formats"), ["stiefel-formats"]);
    assert!(ours("stiefel-eeg").contains(&"stiefel-linalg".to_owned()));
}
