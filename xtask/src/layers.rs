//! The modules of each crate form layers: no module uses another that, over any number of steps,
//! uses it.
//!
//! Modules are those directly under `src`. Who uses whom is read from the text: every path that
//! begins with `crate::`, or with as many `super::` as lead to the root of the crate, names a
//! module, or an item that `lib.rs` takes from one. What is behind `#[cfg(test)]` at the
//! end of a file is left out.

use crate::chore::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// For every module, the modules it uses, each with one place that does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// Prints the circles of every crate of the workspace; fails where there is one.
pub(crate) fn check() -> ExitCode {
    let found = crates().and_then(|crates| {
        let mut circles = Vec::new();
        for source in crates {
            let name = source.strip_prefix(root()).unwrap_or(&source).display();
            if let Some(circle) = circle(&uses(&source)?) {
                circles.push(format!("{name}: {circle}"));
            }
        }
        Ok(circles)
    });
    match found {
        Ok(circles) if circles.is_empty() => ExitCode::SUCCESS,
        Ok(circles) => {
            eprintln!("Modules that use each other in a circle; move what both need below them:");
            for circle in circles {
                eprintln!("  {circle}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("The sources cannot be read: {error}");
            ExitCode::FAILURE
        }
    }
}

fn crates() -> io::Result<Vec<PathBuf>> {
    let mut all = vec![
        root().join("xtask/src"),
        root().join("python/rust"),
        root().join("benchmarks/src"),
    ];
    for entry in fs::read_dir(root().join("crates"))? {
        all.push(entry?.path().join("src"));
    }
    all.retain(|source| source.is_dir());
    all.sort();
    Ok(all)
}

fn uses(source: &Path) -> io::Result<Uses> {
    let mut files = Vec::new();
    collect(source, &mut files)?;
    let mut modules = BTreeSet::new();
    let mut texts = Vec::new();
    let mut names = BTreeMap::new();
    for file in &files {
        let inside = file.strip_prefix(source).unwrap_or(file);
        let path: Vec<String> = (inside.with_extension("").iter())
            .map(|part| part.to_string_lossy().into_owned())
            .filter(|part| part != "mod")
            .collect();
        let text = words(&fs::read_to_string(file)?);
        match &path[..] {
            [only] if only == "lib" || only == "main" => names.extend(taken(&text)),
            _ => {
                modules.insert(path[0].clone());
                texts.push((inside.to_path_buf(), path, text));
            }
        }
    }
    let mut uses = Uses::new();
    for (file, path, text) in texts {
        for name in from_root(&text, path.len()) {
            let module = match names.get(&name) {
                _ if modules.contains(&name) => &name,
                Some(module) if modules.contains(module) => module,
                _ => continue,
            };
            if *module != path[0] {
                let place = format!("{} uses {name}", file.display());
                let of = uses.entry(path[0].clone()).or_default();
                of.entry(module.clone()).or_insert(place);
            }
        }
    }
    Ok(uses)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Identifiers, `::`, braces, commas and semicolons of a source without its comments, strings and
/// tests; anything else is one `·`.
fn words(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let letters: Vec<char> = text.chars().collect();
    let at = |i: usize| letters.get(i).copied().unwrap_or(' ');
    let mut words = Vec::new();
    let mut i = 0;
    while i < letters.len() {
        let start = i;
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < letters.len() && at(i) != '\n' {
                    i += 1;
                }
                continue;
            }
            '"' => {
                i += 1;
                while i < letters.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
                continue;
            }
            '\'' if at(i + 2) == '\'' || at(i + 1) == '\\' => {
                i += if at(i + 1) == '\\' { 4 } else { 3 };
                continue;
            }
            ':' if at(i + 1) == ':' => i += 2,
            c if c.is_alphanumeric() || c == '_' => {
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
            }
            c => {
                i += 1;
                if c.is_whitespace() {
                    continue;
                }
                let kept = matches!(c, '{' | '}' | ',' | ';' | '*');
                words.push(if kept { c } else { '·' }.to_string());
                continue;
            }
        }
        words.push(letters[start..i].iter().collect());
    }
    words
}

/// The first names of all paths from the root of the crate in a file of so many levels.
fn from_root(words: &[String], levels: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut i = 0;
    while i < words.len() {
        let begins = i == 0 || words[i - 1] != "::";
        let mut after = i;
        let root = match words[i].as_str() {
            "crate" if begins => {
                after += 1;
                true
            }
            "super" if begins => {
                let mut up = 0;
                while words.get(after).is_some_and(|w| w == "super") {
                    up += 1;
                    after += 1;
                    if words.get(after + 1).is_some_and(|w| w == "super") {
                        after += 1;
                    }
                }
                up == levels
            }
            _ => false,
        };
        if root && words.get(after).is_some_and(|w| w == "::") {
            let (tree, _) = tree(words, after + 1);
            names.extend(tree.into_iter().map(|path| path[0].clone()));
        }
        i += 1;
    }
    names
}

/// What `lib.rs` takes from its modules: the name at the root, and the module.
fn taken(words: &[String]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for i in (0..words.len()).filter(|&i| words[i] == "use") {
        for path in tree(words, i + 1).0 {
            if let [module, .., name] = &path[..] {
                names.insert(name.clone(), module.clone());
            }
        }
    }
    names
}

/// The paths of `a::{b, c::d as e}`, with the last name as it is used, and the place behind them.
fn tree(words: &[String], mut i: usize) -> (Vec<Vec<String>>, usize) {
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    if word(i) == "{" {
        let mut all = Vec::new();
        i += 1;
        while !matches!(word(i), "}" | "") {
            let (paths, after) = tree(words, i);
            all.extend(paths);
            i = after.max(i + 1);
            if word(i) == "," {
                i += 1;
            }
        }
        return (all, i + 1);
    }
    let first = word(i).to_owned();
    if first.is_empty() || matches!(first.as_str(), "·" | "," | ";" | "}" | "*") {
        return (Vec::new(), i);
    }
    if word(i + 1) == "::" {
        let (rest, after) = tree(words, i + 2);
        if rest.is_empty() {
            return (vec![vec![first]], after);
        }
        let joined = rest.into_iter().map(|path| match path[0].as_str() {
            "self" => vec![first.clone()],
            _ => [vec![first.clone()], path].concat(),
        });
        return (joined.collect(), after);
    }
    if word(i + 1) == "as" {
        // Two names: what it is, and how it is called here.
        return (vec![vec![first, word(i + 2).to_owned()]], i + 3);
    }
    (vec![vec![first]], i + 1)
}

/// A shortest circle in words, where there is one.
fn circle(uses: &Uses) -> Option<String> {
    let shortest = |start: &String| -> Option<Vec<String>> {
        let mut reached = BTreeMap::from([(start.clone(), vec![start.clone()])]);
        let mut edge = vec![start.clone()];
        while !edge.is_empty() {
            let mut next = Vec::new();
            for module in edge {
                let path = reached[&module].clone();
                for used in uses.get(&module).into_iter().flat_map(BTreeMap::keys) {
                    let longer = [path.clone(), vec![used.clone()]].concat();
                    if used == start {
                        return Some(longer);
                    }
                    if !reached.contains_key(used) {
                        reached.insert(used.clone(), longer);
                        next.push(used.clone());
                    }
                }
            }
            edge = next;
        }
        None
    };
    let circle = uses
        .keys()
        .filter_map(shortest)
        .min_by_key(std::vec::Vec::len)?;
    let steps = circle
        .windows(2)
        .map(|pair| uses[&pair[0]][&pair[1]].clone());
    Some(format!(
        "{} ({})",
        circle.join(" → "),
        steps.collect::<Vec<_>>().join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::{Uses, circle, from_root, taken, tree, words};
    use std::collections::BTreeMap;

    fn set(names: &[&str]) -> std::collections::BTreeSet<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn paths_from_the_root_are_found_wherever_they_stand() {
        let text = "
            use crate::{alpha::{B, C}, D, beta};
            //! crate::not_this
            fn f() -> crate::gamma::G { let s = \"crate::nor_this\"; \
                    crate::H::new(super::near::x()) }
            impl A for super::super::epsilon::E {}
            #[cfg(test)]\nmod tests { use crate::nor_that; }";
        assert_eq!(
            from_root(&words(text), 2),
            set(&["alpha", "D", "beta", "gamma", "H", "epsilon"])
        );
        assert!(from_root(&words("use super::near;"), 1).contains("near"));
    }

    #[test]
    fn what_the_root_takes_from_a_module_belongs_to_it() {
        let names = taken(&words(
            "mod a; pub use a::{B, c::{D, self}, E as F}; pub(crate) use g::h; use k::*;",
        ));
        let expected = [("B", "a"), ("D", "a"), ("c", "a"), ("F", "a"), ("h", "g")];
        let expected: BTreeMap<String, String> = expected.map(|(n, m)| (n.into(), m.into())).into();
        assert_eq!(names, expected);
        assert!(tree(&words(""), 0).0.is_empty());
    }

    #[test]
    fn a_circle_is_told_with_its_places() {
        let mut uses = Uses::new();
        let mut add = |a: &str, b: &str| {
            let of = uses.entry(a.into()).or_default();
            of.insert(b.into(), format!("{a}.rs uses {b}"));
        };
        add("a", "b");
        add("b", "c");
        assert_eq!(circle(&uses), None);
        let mut uses = uses.clone();
        (uses.entry("c".into()).or_default()).insert("a".into(), "c.rs uses a".into());
        let told = circle(&uses).unwrap();
        assert_eq!(
            told,
            "a → b → c → a (a.rs uses b; b.rs uses c; c.rs uses a)"
        );
    }
}
