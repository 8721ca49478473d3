//! Settings by name: a tree of JSON values whose leaves doors set one by one.
//!
//! A setting is addressed by its path (`training.epochs`), or by the end of it (`epochs`): of several
//! that end so, the outermost is meant. Which settings there are is what the kind's defaults hold.

use crate::{ModelError, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

const OP: &str = "settings";

/// Converts settings to their type; an error names the setting that is wrong.
pub fn parse<T: DeserializeOwned>(kind: &str, settings: &Value) -> Result<T> {
    T::deserialize(settings).map_err(|error| ModelError::Impossible {
        op: OP,
        why: format!("a setting of {kind} is wrong: {error}"),
        remedy: "correct it, or leave it out",
    })
}

/// Writes typed settings as a tree.
pub fn tree<T: Serialize>(settings: &T) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| ModelError::Impossible {
        op: OP,
        why: format!("the settings cannot be written: {error}"),
        remedy: "give finite numbers",
    })
}

/// Lists the paths of all settings, in the order of the tree.
///
/// ```
/// use stiefel_model::kind::settings::paths;
///
/// let tree = serde_json::json!({ "filters": 4, "training": { "epochs": 40 } });
/// assert_eq!(paths(&tree), ["filters", "training", "training.epochs"]);
/// ```
pub fn paths(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(tree, "", &mut found);
    found
}

fn collect(tree: &Value, prefix: &str, found: &mut Vec<String>) {
    for (name, value) in tree.as_object().into_iter().flatten() {
        let path = join(prefix, name);
        found.push(path.clone());
        collect(value, &path, found);
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        return name.to_owned();
    }
    format!("{prefix}.{name}")
}

/// Finds the path that a name stands for: the path itself, or the outermost one that ends in it.
///
/// ```
/// use stiefel_model::kind::settings::resolve;
///
/// let tree = serde_json::json!({ "net": { "filters": 4, "csp": { "filters": 6 } }, "a": { "b": { "c": 1 } }, "d": { "b": { "c": 1 } } });
/// assert_eq!(resolve(&tree, "filters").unwrap(), "net.filters");
/// assert_eq!(resolve(&tree, "csp.filters").unwrap(), "net.csp.filters");
/// assert_eq!(resolve(&tree, "c"), None); // a.b.c or d.b.c
/// ```
pub fn resolve(tree: &Value, name: &str) -> Option<String> {
    let all = paths(tree);
    found(&all, name).cloned()
}

fn found<'a>(all: &'a [String], name: &str) -> Option<&'a String> {
    let depth = |path: &str| path.matches('.').count();
    let ends = |path: &str| {
        let before = path.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let outermost = all.iter().filter(|p| ends(p)).map(|p| depth(p)).min()?;
    let mut matching = all.iter().filter(|p| ends(p) && depth(p) == outermost);
    let first = matching.next()?;
    matching.next().is_none().then_some(first)
}

/// Lists the settings, groups apart, each by the shortest name that stands for it.
fn short_names(tree: &Value) -> Vec<String> {
    let all = paths(tree);
    let is_group = |path: &str| tree.pointer(&pointer(path)).is_some_and(Value::is_object);
    let short = |path: &String| {
        let starts = path.match_indices('.').map(|(at, _)| at + 1);
        let ends = std::iter::once(0).chain(starts).map(|at| &path[at..]);
        let mut standing = ends.filter(|end| found(&all, end) == Some(path));
        standing.next_back().unwrap_or(path).to_owned()
    };
    all.iter().filter(|p| !is_group(p)).map(short).collect()
}

/// Returns the value of a setting.
pub fn get<'a>(tree: &'a Value, name: &str) -> Option<&'a Value> {
    let path = resolve(tree, name)?;
    tree.pointer(&pointer(&path))
}

/// Sets one setting. An object that names settings of a group changes these alone; any other value
/// takes the place of what was there.
///
/// ```
/// use serde_json::json;
/// use stiefel_model::kind::settings::set;
///
/// let mut tree = json!({ "filters": 4, "training": { "epochs": 40, "batch": 32 } });
/// set(&mut tree, "epochs", json!(3))?;
/// set(&mut tree, "training", json!({ "batch": 16 }))?;
/// assert_eq!(tree, json!({ "filters": 4, "training": { "epochs": 3, "batch": 16 } }));
/// assert!(set(&mut tree, "epoch", json!(3)).is_err());
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn set(tree: &mut Value, name: &str, value: Value) -> Result<()> {
    let path = resolve(tree, name);
    let place = path.and_then(|path| tree.pointer_mut(&pointer(&path)));
    if let Some(place) = place {
        merge(place, value);
        return Ok(());
    }
    Err(ModelError::UnknownName {
        what: "setting",
        found: name.to_owned(),
        known: short_names(tree).join(", "),
    })
}

/// Sets all settings of an object, one by one.
pub fn set_all(tree: &mut Value, given: &Value) -> Result<()> {
    for (name, value) in object(given)? {
        set(tree, name, value.clone())?;
    }
    Ok(())
}

/// Returns the settings of an object; nothing is an object without settings.
pub(crate) fn object(given: &Value) -> Result<&Map<String, Value>> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    match given {
        Value::Object(given) => Ok(given),
        Value::Null => Ok(&NONE),
        other => Err(ModelError::Impossible {
            op: OP,
            why: format!("{other} is not a list of settings by name"),
            remedy: "give an object of names and values",
        }),
    }
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

fn merge(place: &mut Value, value: Value) {
    if let (Value::Object(group), Value::Object(given)) = (&mut *place, &value)
        && given.keys().all(|name| group.contains_key(name))
    {
        for (name, value) in given {
            merge(&mut group[name], value.clone());
        }
        return;
    }
    *place = match value {
        // Equal settings are written alike.
        Value::Number(number) if place.is_f64() => {
            number.as_f64().map_or(Value::Number(number), Value::from)
        }
        value => value,
    };
}
