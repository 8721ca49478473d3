//! What a schema says of settings: which there are, their meaning, and their values in words.

use super::Setting;
use super::node::{branches, chosen, may_be, properties};
use super::tree::{join, outermost};
use serde_json::{Map, Value, json};

/// Lists the settings of a schema; where there is a choice, those of the default's choice.
pub(super) fn list(schema: &Value, defaults: &Value) -> Vec<Setting> {
    let mut all = Vec::new();
    collect(schema, defaults, "", &mut all);
    let paths: Vec<String> = all.iter().map(|s| s.path.clone()).collect();
    for setting in &mut all {
        setting.name = shortest(&setting.path, &paths);
    }
    all
}

fn collect(schema: &Value, default: &Value, prefix: &str, all: &mut Vec<Setting>) {
    let inner = chosen(schema, default);
    for (name, node) in properties(inner).filter(|(_, node)| node.get("const").is_none()) {
        let path = join(prefix, name);
        let own = default.get(name).or_else(|| node.get("default"));
        let own = own.cloned().unwrap_or_default();
        let at = all.len();
        // The settings of a choice that is written by its name are described with the choice.
        let described = [node, inner].map(|node| text(node, "description"));
        let about = described.into_iter().find(|text| !text.is_empty());
        all.push(Setting {
            about: about.unwrap_or_default(),
            values: words(node),
            default: own.clone(),
            schema: node.clone(),
            is_group: false,
            name: String::new(),
            path: path.clone(),
        });
        // What is absent has no settings of its own.
        if !own.is_null() {
            collect(node, &own, &path, all);
        }
        // A choice, and what may be absent, is set as a whole too.
        let is_whole = branches(node).is_some() || may_be(node, "null");
        all[at].is_group = all.len() > at + 1 && !is_whole;
    }
}

/// Returns the shortest end of a path that stands for it.
fn shortest(path: &str, all: &[String]) -> String {
    let starts = path.match_indices('.').map(|(at, _)| at + 1);
    let ends = std::iter::once(0).chain(starts).map(|at| &path[at..]);
    let paths = || all.iter().map(String::as_str);
    let mut standing = ends.filter(|end| outermost(paths(), end) == Some(path));
    standing.next_back().unwrap_or(path).to_owned()
}

fn text(node: &Value, key: &str) -> String {
    let found = node.get(key).and_then(Value::as_str).unwrap_or_default();
    let lines: Vec<&str> = found.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// Returns the name of an alternative: that of a plain one, or the tag of one with settings.
fn tag(branch: &Value) -> Option<(Option<&String>, &Value)> {
    if let Some(name) = branch.get("const") {
        return Some((None, name));
    }
    let mut tags = properties(branch).filter_map(|(key, node)| Some((key, node.get("const")?)));
    tags.next().map(|(key, name)| (Some(key), name))
}

/// Completes a value: the name of a choice by the settings of the choice, a group by its defaults,
/// `"none"` by nothing where nothing is a value.
pub(super) fn completed(node: &Value, value: &Value) -> Value {
    let named = branches(node).into_iter().flatten();
    let named = named.filter_map(tag).any(|(_, name)| name == value);
    if value == "none" && !named && may_be(node, "null") && !may_be(node, "string") {
        return Value::Null;
    }
    let tagged = |branch: &Value| match tag(branch)? {
        (Some(key), name) if name == value => Some(json!({ key: name })),
        _ => None,
    };
    let alternatives = branches(node).into_iter().flatten();
    let inner = alternatives.flat_map(|b| branches(b).into_iter().flatten().chain([b]));
    let whole = inner.clone().find_map(tagged);
    let whole = whole.as_ref().unwrap_or(value);
    let given = match whole {
        Value::Object(given) => given,
        // Equal settings are written alike: a real number has a decimal point.
        Value::Number(number) if may_be(node, "number") => {
            return number.as_f64().map_or_else(|| whole.clone(), Value::from);
        }
        other => return other.clone(),
    };
    let inner = chosen(node, whole);
    // Of a group that is there, what is not named stays as it is.
    let replaces = branches(node).is_some() || may_be(node, "null");
    let mut complete: Map<String, Value> = given.clone();
    for (name, node) in properties(inner) {
        if let Some(own) = complete.get_mut(name) {
            *own = completed(node, own);
        } else if let Some(default) = node.get("default").filter(|_| replaces) {
            complete.insert(name.clone(), default.clone());
        }
    }
    Value::Object(complete)
}

/// Returns what stands in the place of an old value. An object that names settings of a group alone
/// changes these; a choice takes the place of another.
pub(super) fn merged(node: &Value, old: &Value, new: Value) -> Value {
    match (old, new) {
        (Value::Object(group), Value::Object(given))
            if branches(node).is_none() && given.keys().all(|name| group.contains_key(name)) =>
        {
            let mut group = group.clone();
            for (name, value) in given {
                let inner = properties(node).find(|(own, _)| **own == name);
                let inner = inner.map_or(&Value::Null, |(_, inner)| inner);
                let value = merged(inner, &group[&name], value);
                group.insert(name, value);
            }
            Value::Object(group)
        }
        (_, new) => new,
    }
}

/// Says which values a node may have.
pub(super) fn words(node: &Value) -> String {
    let plain = match branches(node) {
        Some(all) => alternatives(all),
        None if may_be(node, "null") && may_be(node, "object") => in_braces(node),
        None => single(node),
    };
    if may_be(node, "null") && branches(node).is_none() {
        return format!("{plain} or none");
    }
    plain
}

fn alternatives(all: &[Value]) -> String {
    let mut said: Vec<String> = Vec::new();
    for branch in all {
        match (tag(branch), branches(branch)) {
            (_, Some(inner)) => said.extend(inner.iter().map(alternative)),
            _ => said.push(alternative(branch)),
        }
    }
    match &said[..] {
        [one] => one.clone(),
        [one, none] if none == "none" => format!("{one} or none"),
        _ => format!("one of {}", said.join(", ")),
    }
}

fn alternative(branch: &Value) -> String {
    let bare = |name: &Value| name.as_str().map_or_else(|| name.to_string(), Into::into);
    match tag(branch) {
        Some((None, name)) => bare(name),
        Some((Some(_), name)) if properties(branch).count() == 1 => bare(name),
        _ if properties(branch).next().is_some() => in_braces(branch),
        _ if may_be(branch, "null") => "none".into(),
        _ => words(branch),
    }
}

/// Writes a group with the values of its settings in words.
fn in_braces(group: &Value) -> String {
    let inside = properties(group).map(|(key, node)| {
        let is_group = branches(node).is_none() && properties(node).next().is_some();
        let value = match node.get("const") {
            Some(name) => name.to_string(),
            None if is_group => in_braces(node),
            None => words(node),
        };
        format!("\"{key}\": {value}")
    });
    format!("{{{}}}", inside.collect::<Vec<_>>().join(", "))
}

fn single(node: &Value) -> String {
    if let Some(Value::Array(names)) = node.get("enum") {
        let names = names.iter().filter_map(Value::as_str);
        return format!("one of {}", names.collect::<Vec<_>>().join(", "));
    }
    if let Some(name) = node.get("const") {
        return name.to_string();
    }
    let kinds = ["boolean", "integer", "number", "string", "array", "object"];
    match kinds.into_iter().find(|kind| may_be(node, kind)) {
        Some("boolean") => "true or false".into(),
        Some("integer") => ranged(node, "a whole number"),
        Some("number") => ranged(node, "a number"),
        Some("string") => "text".into(),
        Some("array") => {
            let of = node.get("items").map(words).unwrap_or_default();
            match node.get("minItems").and_then(Value::as_u64) {
                Some(count) if node.get("maxItems") == node.get("minItems") => {
                    format!("a list of {count}, each {of}")
                }
                Some(least) if least > 0 => format!("a list of at least {least}, each {of}"),
                _ => format!("a list, each {of}"),
            }
        }
        Some("object") => {
            let names: Vec<&str> = properties(node).map(|(name, _)| name.as_str()).collect();
            format!("a group of {}", names.join(", "))
        }
        _ => "nothing".into(),
    }
}

fn ranged(node: &Value, what: &str) -> String {
    let bound = |key: &str| node.get(key).and_then(Value::as_f64);
    let (least, above) = (bound("minimum"), bound("exclusiveMinimum"));
    let (most, below) = (bound("maximum"), bound("exclusiveMaximum"));
    // No whole number here is negative.
    let least = least.filter(|low| !(what == "a whole number" && *low == 0.0));
    match (least, above, most, below) {
        (Some(low), _, Some(high), _) => format!("{what} from {low} to {high}"),
        (Some(low), _, _, Some(high)) => format!("{what} of at least {low} and below {high}"),
        (Some(low), ..) => format!("{what} of at least {low}"),
        (_, Some(low), Some(high), _) => format!("{what} above {low} and at most {high}"),
        (_, Some(low), _, Some(high)) => format!("{what} above {low} and below {high}"),
        (_, Some(low), ..) => format!("{what} above {low}"),
        (_, _, Some(high), _) => format!("{what} of at most {high}"),
        (_, _, _, Some(high)) => format!("{what} below {high}"),
        _ => what.to_owned(),
    }
}
