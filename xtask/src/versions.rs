//! The version stands in `[workspace.package]`; Python's package takes it from there. Files that
//! must repeat it are checked here.

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
fn badges_and_pages_name_what_is_needed() {
    let (manifest, package) = (text("Cargo.toml"), text("python/pyproject.toml"));
    let rust = manifest.split("rust-version = \"").nth(1).unwrap();
    let python = package.split("requires-python = \">=").nth(1).unwrap();
    let [rust, python] = [rust, python].map(|rest| rest.split('"').next().unwrap());
    let readme = text("README.md");
    for badge in [
        format!("![Rust {rust} or later](https://img.shields.io/badge/rust-{rust}%2B-orange)"),
        format!(
            "![Python {python} or later](https://img.shields.io/badge/python-{python}%2B-blue)"
        ),
        format!("need Rust {rust} or later"),
    ] {
        assert!(readme.contains(&badge), "{badge}");
    }
    let install = text("docs/install.md");
    assert!(install.contains(&format!(
        " {rust} or later; the first also needs Python {python} "
    )));
}

#[test]
fn the_package_has_the_licences_of_the_project() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert_eq!(text(name), text(&format!("python/{name}")), "{name}");
    }
}

#[test]
fn workflows_are_pinned_and_name_the_oldest_rust() {
    let manifest = text("Cargo.toml");
    let oldest = manifest.split("rust-version = \"").nth(1).unwrap();
    let oldest = oldest.split('"').next().unwrap();
    let job = format!("RUSTUP_TOOLCHAIN: \"{oldest}\"");
    assert!(text(".github/workflows/ci.yml").contains(&job), "{job}");
    for name in ["ci", "release", "torch"] {
        let file = text(&format!(".github/workflows/{name}.yml"));
        for line in file.lines().filter(|line| line.contains("uses: ")) {
            let (action, version) = line.split_once(" # v").unwrap();
            let commit = action.split_once('@').unwrap().1;
            let hex = commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(commit.len() == 40 && hex && !version.is_empty(), "{line}");
        }
    }
}
