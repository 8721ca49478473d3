//! Whether every file and every name in `docs/equations.md` is there.
//!
//! A cell of its tables reads `` `model/src/net/losses.rs`: `alignment`, `balance`;
//! `other/file.rs`: `name` ``.

use std::collections::BTreeSet;
use std::path::Path;

/// Lists what the page names and the sources lack.
fn missing(page: &str, crates: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for row in page.lines().filter(|line| line.starts_with('|')) {
        for part in row.split(['|', ';']) {
            let (path, names) = part.split_once(':').unwrap_or((part, ""));
            let Some(file) = spans(path).into_iter().find(|name| is_source(name)) else {
                continue;
            };
            let Ok(text) = std::fs::read_to_string(crates.join(file)) else {
                found.push(format!("there is no file {file}"));
                continue;
            };
            let words: BTreeSet<&str> = text.split(|c: char| !is_name(c)).collect();
            let names = spans(names).into_iter();
            let last = |name: &'_ str| name.rsplit("::").next().unwrap_or_default().to_owned();
            let unknown = names.map(last).filter(|name| !words.contains(&name[..]));
            found.extend(unknown.map(|name| format!("{file} has no {name}")));
        }
    }
    found
}

fn is_source(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "rs")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns what stands between backticks.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_names_what_there_is() {
    let root = crate::chore::root();
    let page = std::fs::read_to_string(root.join("docs/equations.md")).expect("the page");
    let found = missing(&page, &root.join("crates"));
    assert!(found.is_empty(), "docs/equations.md: {}", found.join("; "));
}

#[test]
fn what_is_not_there_is_named() {
    let root = crate::chore::root().join("xtask");
    // Put together here, so that this file does not hold it.
    let absent = ["absent", "from", "here"].join("_");
    let page = format!(
        "| a | `src/equations.rs`: `missing`, `Spans::spans`, `{absent}`; `src/none.rs`: `x` |"
    );
    let expected = [
        format!("src/equations.rs has no {absent}"),
        "there is no file src/none.rs".to_owned(),
    ];
    assert_eq!(missing(&page, &root), expected);
}
