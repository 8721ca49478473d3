//! Nodes of a schema: groups, choices and values.

use serde_json::Value;

/// Returns the settings of a group.
pub(super) fn properties(node: &Value) -> impl Iterator<Item = (&String, &Value)> {
    node.get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// Returns the alternatives of a choice.
pub(super) fn branches(node: &Value) -> Option<&Vec<Value>> {
    let found = node.get("oneOf").or_else(|| node.get("anyOf"));
    found.and_then(Value::as_array)
}

/// Tells whether a node may be of a type of JSON.
pub(super) fn may_be(node: &Value, wanted: &str) -> bool {
    match node.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|t| t == wanted),
        _ => branches(node).is_some_and(|all| all.iter().any(|b| may_be(b, wanted))),
    }
}

/// Lists the settings that a group must have.
pub(super) fn required(node: &Value) -> impl Iterator<Item = &str> {
    let names = node.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the alternative that a value is of; a node without alternatives is its own.
pub(super) fn chosen<'a>(node: &'a Value, value: &Value) -> &'a Value {
    match branches(node) {
        None => node,
        Some(all) => {
            let found = all.iter().find(|branch| has_shape(branch, value));
            found.map_or(node, |branch| chosen(branch, value))
        }
    }
}

/// Tells whether a value is of the type of a node and, of an alternative, has its name.
pub(super) fn has_shape(node: &Value, value: &Value) -> bool {
    if let Some(all) = branches(node) {
        return all.iter().any(|branch| has_shape(branch, value));
    }
    if let Some(name) = node.get("const") {
        return name == value;
    }
    if let Some(Value::Array(names)) = node.get("enum") {
        return names.contains(value);
    }
    match value {
        Value::Null => may_be(node, "null"),
        Value::Bool(_) => may_be(node, "boolean"),
        Value::String(_) => may_be(node, "string"),
        Value::Array(_) => may_be(node, "array"),
        Value::Number(number) => {
            may_be(node, "number") || may_be(node, "integer") && !number.is_f64()
        }
        Value::Object(given) => {
            let mut tags = properties(node).filter_map(|(k, n)| Some((k, n.get("const")?)));
            let first = tags.next();
            let named = match first {
                Some((key, name)) => given.get(key) == Some(name),
                // Without a tag, the only setting of an alternative is its name.
                None if properties(node).count() == 1 => {
                    required(node).all(|key| given.contains_key(key))
                }
                None => true,
            };
            may_be(node, "object") && named
        }
    }
}
