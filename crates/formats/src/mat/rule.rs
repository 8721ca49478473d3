//! What is what in a MATLAB file of any layout: variables by path.
//!
//! ```text
//! signal=EEG.data,rate=EEG.fs,labels=y,axis=time
//! path:  name.field, name{2}.field, name(2).field; without a number all cells or structs, one recording or trial each
//! ```

use std::str::FromStr;

use super::value::Value;
use super::variables::Variable;
use crate::{EegError, Result};

/// What an axis of the signal runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Trials.
    Trials,
    /// Channels.
    Channels,
    /// Samples.
    Time,
}

/// Which variables of a MATLAB file hold what.
///
/// ```
/// use stiefel_eeg::io::{Axis, MatRule};
/// let rule: MatRule = "signal=EEG.data,rate=250,labels=y,axis=trials-channels-time".parse()?;
/// assert_eq!(rule.signal, "EEG.data");
/// assert_eq!(rule.axes, [Axis::Trials, Axis::Channels, Axis::Time]);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatRule {
    /// The path of the signal.
    pub signal: String,
    /// The path of the sampling rate, or the rate itself.
    pub rate: Option<String>,
    /// The path of the classes: one per trial, per onset, or per sample.
    pub labels: Option<String>,
    /// The path of the samples at which trials start, counted from 1.
    pub onsets: Option<String>,
    /// The path of the names of the channels.
    pub names: Option<String>,
    /// The unit of the values; µV without it.
    pub unit: Option<String>,
    /// The axes of the signal in order. One alone is the first of two.
    pub axes: Vec<Axis>,
}

const EXAMPLE: &str = "signal=EEG.data,rate=fs,labels=y,axis=time";

impl FromStr for MatRule {
    type Err = EegError;

    fn from_str(text: &str) -> Result<Self> {
        let mut rule = Self {
            signal: String::new(),
            rate: None,
            labels: None,
            onsets: None,
            names: None,
            unit: None,
            axes: Vec::new(),
        };
        for part in text.split(',').map(str::trim) {
            let bad = || {
                EegError::setting(
                    format!("\"{part}\" does not say what a variable of a MATLAB file holds"),
                    format!(
                        "give paths as {EXAMPLE}; the keys are signal, rate, labels, onsets, names, unit, axis \
                         (time, channels, or all in order: trials-channels-time)"
                    ),
                )
            };
            let (key, value) = part.split_once('=').ok_or_else(bad)?;
            let value = value.trim();
            if value.is_empty() {
                return Err(bad());
            }
            let slot = match key.trim() {
                "signal" => {
                    rule.signal = value.into();
                    continue;
                }
                "axis" => {
                    rule.axes = axes(value).ok_or_else(bad)?;
                    continue;
                }
                "rate" => &mut rule.rate,
                "labels" => &mut rule.labels,
                "onsets" => &mut rule.onsets,
                "names" => &mut rule.names,
                "unit" => &mut rule.unit,
                _ => return Err(bad()),
            };
            *slot = Some(value.into());
        }
        if rule.signal.is_empty() {
            return Err(EegError::setting(
                format!("\"{text}\" does not say which variable is the signal"),
                format!("name it, as {EXAMPLE}"),
            ));
        }
        Ok(rule)
    }
}

/// `time`, or several with a minus between; each once.
fn axes(text: &str) -> Option<Vec<Axis>> {
    let one = |word: &str| match word.trim() {
        "trials" => Some(Axis::Trials),
        "channels" => Some(Axis::Channels),
        "time" => Some(Axis::Time),
        _ => None,
    };
    let axes: Vec<Axis> = text.split('-').map(one).collect::<Option<_>>()?;
    let once = axes.iter().enumerate().all(|(i, a)| !axes[..i].contains(a));
    (once && axes.len() <= 3).then_some(axes)
}

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

fn missing(variables: &[Variable], path: &str, seen: &str) -> EegError {
    let place = if seen.is_empty() {
        String::new()
    } else {
        format!(" behind {seen}")
    };
    EegError::setting(
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
