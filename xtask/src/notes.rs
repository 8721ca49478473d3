//! `cargo xtask notes`: the notes of a release, the section of its version in `CHANGELOG.md`.

use crate::chore::root;

/// Returns the text below the heading of a version, up to the next one.
fn section<'a>(log: &'a str, version: &str) -> Option<&'a str> {
    log.split("\n## ").skip(1).find_map(|part| {
        let (heading, text) = part.split_once('\n')?;
        let named = heading.split([',', ' ']).next()? == version;
        named.then(|| text.trim()).filter(|text| !text.is_empty())
    })
}

/// Returns the notes of this version, or why there are none.
pub(crate) fn notes() -> Result<String, String> {
    let (version, path) = (env!("CARGO_PKG_VERSION"), root().join("CHANGELOG.md"));
    let log = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let found = section(&log, version).map(str::to_owned);
    found.ok_or_else(|| format!("CHANGELOG.md has no text for version {version}"))
}

#[test]
fn notes_are_the_section_of_the_version() {
    let log = "# Changelog\n\n## Unreleased\n\nnext\n\n## 0.2.0, May\n\nthis\n\n### Part\n- \
               a\n\n## 0.1.0\n\nold\n";
    assert_eq!(section(log, "0.2.0"), Some("this\n\n### Part\n- a"));
    assert_eq!(section(log, "0.1.0"), Some("old"));
    assert_eq!(section(log, "0.2"), None);
    assert_eq!(section("# Changelog\n\n## 1.0.0\n\n", "1.0.0"), None);
    assert!(notes().is_ok());
}
