//! Trees of JSON values whose leaves are set by name.

use super::SettingError;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Lists the paths of all settings, in the order of the tree.
///
/// ```
/// use stiefel_data::settings::paths;
///
/// let tree = serde_json::json!({ "filters": 4, "training": { "epochs": 40 } });
/// assert_eq!(paths(&tree), ["filters", "training", "training.epochs"]);
/// ```
pub fn paths(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(tree, "", &mut |path, _| found.push(path));
    found
}

/// Lists the settings that hold no others, each with its path.
pub fn leaves(tree: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    collect(tree, "", &mut |path, value| {
        if !value.is_object() {
            found.push((path, value));
        }
    });
    found
}

fn collect<'a>(tree: &'a Value, prefix: &str, found: &mut dyn FnMut(String, &'a Value)) {
    for (name, value) in tree.as_object().into_iter().flatten() {
        let path = join(prefix, name);
        found(path.clone(), value);
        collect(value, &path, found);
    }
}

/// Joins two parts of a path.
pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        return name.to_owned();
    }
    format!("{prefix}.{name}")
}

/// Finds the path that a name stands for: the path itself, or the outermost one that ends in it.
///
/// ```
/// use stiefel_data::settings::resolve;
///
/// let tree = serde_json::json!({
///     "net": { "filters": 4, "csp": { "filters": 6 } },
///     "a": { "b": { "c": 1 } },
///     "d": { "b": { "c": 1 } }
/// });
/// assert_eq!(resolve(&tree, "filters").unwrap(), "net.filters");
/// assert_eq!(resolve(&tree, "csp.filters").unwrap(), "net.csp.filters");
/// assert_eq!(resolve(&tree, "c"), None); // a.b.c or d.b.c
/// ```
pub fn resolve(tree: &Value, name: &str) -> Option<String> {
    let all = paths(tree);
    outermost(all.iter().map(String::as_str), name).map(ToOwned::to_owned)
}

/// Returns the value of a setting.
pub fn get<'a>(tree: &'a Value, name: &str) -> Option<&'a Value> {
    let path = resolve(tree, name)?;
    tree.pointer(&pointer(&path))
}

/// Finds the only path of least depth that ends in a name.
pub(super) fn outermost<'a>(
    all: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> Option<&'a str> {
    let depth = |path: &str| path.matches('.').count();
    let ends = |path: &&str| {
        let before = path.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let least = all.clone().filter(ends).map(depth).min()?;
    let mut matching = all.filter(ends).filter(|p| depth(p) == least);
    let first = matching.next()?;
    matching.next().is_none().then_some(first)
}

/// Returns the settings of an object; nothing is an object without settings.
pub fn object(given: &Value) -> Result<&Map<String, Value>, SettingError> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match given {
        Value::Object(given) => Ok(given),
        Value::Null => Ok(&NONE),
        other => Err(SettingError::Value {
            name: "settings".into(),
            value: other.clone(),
            wanted: "names and values".into(),
        }),
    }
}

/// Returns the JSON pointer of a path.
pub(super) fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// Puts a value in its place, which may be new in a group that is there.
pub(super) fn put(tree: &mut Value, path: &str, value: Value) {
    let (group, name) = path.rsplit_once('.').unwrap_or(("", path));
    let group = match group {
        "" => Some(tree),
        path => tree.pointer_mut(&pointer(path)),
    };
    if let Some(Value::Object(group)) = group {
        group.insert(name.to_owned(), value);
    }
}
