//! Configuration files: TOML or JSON, read into one shape; what comes later wins, key by key.

use std::path::Path;

use serde_json::{Map, Value};

use crate::failure::Failure;

/// Reads a file; its extension tells the format (`.json`, else TOML).
pub(crate) fn read(path: &Path) -> Result<Map<String, Value>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    let wrong = |e: &dyn std::fmt::Display| Failure::Misuse(format!("{}: {e}", path.display()));
    let value: Value = if path.extension().is_some_and(|e| e == "json") {
        serde_json::from_str(&text).map_err(|e| wrong(&e))?
    } else {
        toml::from_str(&text).map_err(|e| wrong(&e))?
    };
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(wrong(&"a configuration is a table of settings")),
    }
}

/// Puts every value of `over` in place of the one in `base`; tables are merged key by key.
pub(crate) fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            // A tagged choice is replaced whole: half of one and half of another is neither.
            (Some(Value::Object(old)), Value::Object(new)) if !new.contains_key("policy") => {
                merge(old, new)
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Puts a value at a path of tables.
pub(crate) fn put(base: &mut Map<String, Value>, path: &[&str], value: Value) {
    if let [head, rest @ ..] = path {
        if rest.is_empty() {
            base.insert((*head).into(), value);
            return;
        }
        let inner = base
            .entry(*head)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(inner) = inner {
            put(inner, rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_comes_later_wins_key_by_key() {
        let table = |v: Value| v.as_object().cloned().unwrap();
        let mut base =
            table(json!({"a": 1, "t": {"x": 1, "y": 2}, "u": {"policy": "own-mean", "kappa": 10}}));
        merge(
            &mut base,
            table(json!({"t": {"y": 3}, "u": {"policy": "pooled"}})),
        );
        assert_eq!(
            Value::Object(base),
            json!({"a": 1, "t": {"x": 1, "y": 3}, "u": {"policy": "pooled"}})
        );
    }
}
