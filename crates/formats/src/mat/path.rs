//! Variables of a MATLAB file by their path, as a [`MatRule`](crate::MatRule) names them.

use super::value::Value;
use super::variables::Variable;
use crate::{FormatError, Result};

/// One step of a path: a name, and which element of an array.
struct Part<'p> {
    name: &'p str,
    index: Option<usize>,
}

fn part(text: &str) -> Option<Part<'_>> {
    let Some(open) = text.find(['{', '(']) else {
        return Some(Part {
            name: text,
            index: None,
        });
    };
    let digits = text[open + 1..].strip_suffix(['}', ')'])?;
    let index: usize = digits.parse().ok()?;
    Some(Part {
        name: &text[..open],
        index: Some(index.checked_sub(1)?),
    })
}

/// The values at a path: several where it passes through arrays without saying which element.
pub(super) fn resolve<'v>(variables: &'v [Variable], path: &str) -> Result<Vec<&'v Value>> {
    let mut found: Vec<&Value> = Vec::new();
    let mut seen = String::new();
    for (i, text) in path.split('.').enumerate() {
        let Some(part) = part(text) else {
            return Err(missing(variables, path, &seen));
        };
        let mut next = Vec::new();
        if i == 0 {
            let named = variables.iter().find(|v| v.name == part.name);
            next.extend(named.map(|v| &v.value));
        }
        for value in &found {
            for element in cells(value) {
                if let Value::Struct(array) = element {
                    next.extend((0..array.count()).filter_map(|e| array.field(e, part.name)));
                }
            }
        }
        if let Some(index) = part.index {
            next = next.into_iter().filter_map(|v| element(v, index)).collect();
        }
        if next.is_empty() {
            return Err(missing(variables, path, &seen));
        }
        seen = format!("{seen}{}{text}", if i == 0 { "" } else { "." });
        found = next;
    }
    // A cell array of arrays at the end stands for all of them; one of strings is one value.
    let open = |value: &&'v Value| match value {
        Value::Cell(_) if value.strings().is_none() => cells(value),
        _ => vec![*value],
    };
    Ok(found.iter().flat_map(open).collect())
}

/// The cells of a cell array; anything else is itself.
fn cells(value: &Value) -> Vec<&Value> {
    match value {
        Value::Cell(array) => array.cells.iter().collect(),
        other => vec![other],
    }
}

/// An element by number: a cell, or a struct of one (which keeps its fields).
fn element(value: &Value, index: usize) -> Option<&Value> {
    match value {
        Value::Cell(array) => array.cells.get(index),
        other => (index == 0).then_some(other),
    }
}

fn missing(variables: &[Variable], path: &str, seen: &str) -> FormatError {
    let place = if seen.is_empty() {
        String::new()
    } else {
        format!(" behind {seen}")
    };
    FormatError::setting(
        format!("there is nothing at {path}{place}"),
        format!("the file has {}", listed(variables)),
    )
}

/// The variables with their shapes, and the fields of structs.
pub(super) fn listed(variables: &[Variable]) -> String {
    const MOST: usize = 12;
    let one = |v: &Variable| format!("{} {}", v.name, shape(&v.value, true));
    let mut parts: Vec<String> = variables.iter().take(MOST).map(one).collect();
    if variables.len() > MOST {
        parts.push(format!("{} more", variables.len() - MOST));
    }
    if parts.is_empty() {
        return "no variables".into();
    }
    parts.join(", ")
}

fn shape(value: &Value, open: bool) -> String {
    const MOST: usize = 10;
    let sizes = |dims: &[usize]| {
        let each: Vec<String> = dims.iter().take(6).map(usize::to_string).collect();
        each.join("×")
    };
    match value {
        Value::Numeric(a) => format!("[{}]", sizes(&a.dims)),
        Value::Cell(a) => match a.cells.first() {
            Some(first) if open => format!("{{{}}} of {}", sizes(&a.dims), shape(first, true)),
            _ => format!("{{{}}}", sizes(&a.dims)),
        },
        Value::Char(_) => "text".into(),
        Value::Struct(a) if open => {
            let field = |f: &String| match a.field(0, f) {
                Some(value) => format!("{f} {}", shape(value, false)),
                None => f.clone(),
            };
            let mut fields: Vec<String> = a.fields.iter().take(MOST).map(field).collect();
            if a.fields.len() > MOST {
                fields.push("…".into());
            }
            format!("struct [{}] ({})", sizes(&a.dims), fields.join(", "))
        }
        Value::Struct(a) => format!("struct [{}]", sizes(&a.dims)),
        Value::Other(class) => (*class).into(),
    }
}
