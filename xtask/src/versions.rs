//! The version stands in `[workspace.package]`; Python's package takes it from there. Files that must repeat it are checked here.

use crate::chore::root;
use std::fs;

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// What stands between quotation marks after `version = `.
fn quoted(line: &str) -> Option<&str> {
    line.split_once("version = \"")?.1.split('"').next()
}

#[test]
fn crates_citation_and_change_log_name_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    let manifest = text("Cargo.toml");
    let ours = manifest
        .lines()
        .filter(|l| l.contains("path = \"crates/") && l.contains("version"));
    for line in ours {
        assert_eq!(quoted(line), Some(version), "{line}");
    }
    assert!(text("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    let latest = text("CHANGELOG.md");
    let latest = latest
        .lines()
        .find_map(|l| l.strip_prefix("## ").filter(|l| *l != "Unreleased"));
    assert!(latest.is_some_and(|l| l.starts_with(version)), "{latest:?}");
}

#[test]
fn the_package_has_the_licences_of_the_project() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert_eq!(text(name), text(&format!("python/{name}")), "{name}");
    }
}
