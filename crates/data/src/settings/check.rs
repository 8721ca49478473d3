//! Values against the types and ranges of their schema.

use super::SettingError;
use super::node::{branches, has_shape, properties, required};
use super::schema::words;
use super::tree::join;
use serde_json::Value;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Wrong {
    /// The path below the checked node.
    path: String,
    value: Value,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Value(String),
    Unknown(Vec<String>),
}

impl Wrong {
    fn value(path: &str, value: &Value, wanted: String) -> Self {
        Self {
            path: path.to_owned(),
            value: value.clone(),
            why: Why::Value(wanted),
        }
    }

    /// Names the setting as it was given, with the path to its wrong part.
    pub(super) fn named(self, owner: &str, name: &str, given: &Value) -> SettingError {
        let whole = self.path.is_empty();
        let name = if whole {
            name.to_owned()
        } else {
            join(name, &self.path)
        };
        match self.why {
            Why::Value(wanted) => SettingError::Value {
                name,
                value: if whole { given.clone() } else { self.value },
                wanted,
            },
            Why::Unknown(known) => SettingError::unknown(owner, &name, known),
        }
    }
}

/// Checks a value against a node.
pub(super) fn node(node: &Value, value: &Value, path: &str) -> Result<(), Wrong> {
    let wrong = || Err(Wrong::value(path, value, words(node)));
    if let Some(all) = branches(node) {
        return match all.iter().find(|branch| has_shape(branch, value)) {
            Some(branch) => self::node(branch, value, path),
            None => wrong(),
        };
    }
    if !has_shape(node, value) || !is_in_range(node, value) {
        return wrong();
    }
    match value {
        Value::Object(given) => {
            // A group has the settings that it lists; only a map by free names says otherwise.
            let is_map = node
                .get("additionalProperties")
                .is_some_and(|more| more != &Value::Bool(false));
            let known = || properties(node).map(|(name, _)| name.clone()).collect();
            for (name, value) in given {
                let inner = join(path, name);
                match properties(node).find(|(own, _)| *own == name) {
                    Some((_, node)) => self::node(node, value, &inner)?,
                    None if is_map => {}
                    None => {
                        return Err(Wrong {
                            path: inner,
                            value: value.clone(),
                            why: Why::Unknown(known()),
                        });
                    }
                }
            }
            let missing = required(node).find(|name| !given.contains_key(*name));
            missing.map_or(Ok(()), |name| {
                let node = properties(node).find(|(own, _)| *own == name);
                let wanted = node.map(|(_, node)| words(node)).unwrap_or_default();
                Err(Wrong::value(&join(path, name), &Value::Null, wanted))
            })
        }
        Value::Array(items) => {
            let of = node.get("items");
            let mut each = items.iter().filter_map(|item| Some((of?, item)));
            each.try_for_each(|(of, item)| match self::node(of, item, "") {
                Ok(()) => Ok(()),
                Err(_) => wrong(),
            })
        }
        _ => Ok(()),
    }
}

fn is_in_range(node: &Value, value: &Value) -> bool {
    let bound = |key: &str| node.get(key).and_then(Value::as_f64);
    if let Value::Array(items) = value {
        let count = items.len() as f64;
        return bound("minItems").is_none_or(|least| count >= least)
            && bound("maxItems").is_none_or(|most| count <= most);
    }
    let Some(x) = value.as_f64() else {
        return true;
    };
    bound("minimum").is_none_or(|low| x >= low)
        && bound("exclusiveMinimum").is_none_or(|low| x > low)
        && bound("maximum").is_none_or(|high| x <= high)
        && bound("exclusiveMaximum").is_none_or(|high| x < high)
}
