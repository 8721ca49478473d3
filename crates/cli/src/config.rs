//! `--config FILE`: everything that options can say, from a file; options win.
//!
//! The file is TOML. Keys are the names of options; a table is for the command of that name, keys
//! outside of tables for any command:
//!
//! ```toml
//! seed = 3
//! [train]
//! source = "dataset.npz"
//! output = "model.stiefel"
//! epochs = 20
//! classes = ["hands", "feet"]
//! ```
//!
//! A key of the table of a command with `--set` that is no option of it is a setting by that name;
//! a table in it is a group of settings.
//!
//! Paths are meant from the folder of the file.
//!
//! A JSON file with a member `configuration` will do as well: results keep the resolved
//! configuration there, so that `--config RESULT.json` runs the same again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, ColorChoice, Command, FromArgMatches, Parser, ValueEnum};
use serde_json::{Map, Value, json};
use stiefel::eeg::io::read_at_most;

use crate::failure::Failure;
use crate::settings::{Filed, Given, OF_FILE};

/// The most bytes of a configuration.
pub(crate) const LONGEST: u64 = 16 << 20;

/// Options that say how to print, not what to do.
const NOT_KEPT: [&str; 8] = [
    "config",
    "help",
    "version",
    "json",
    "quiet",
    "verbose",
    "color",
    "overwrite",
];

/// Options that are paths, or may be.
const PATHS: [&str; 6] = [
    "source",
    "sources",
    "output",
    "model",
    "data",
    "calibration",
];

/// Parses the command line, with the file of `--config` filled in; gives the resolved configuration
/// as well.
pub(crate) fn parse<A: Parser>(mut line: Vec<OsString>) -> Result<(A, Value), Failure> {
    let mut command = A::command().color(color(&line));
    command.build();
    // What is on the command line, whether or not it is complete.
    let probe = command.clone().ignore_errors(true);
    if let Ok(given) = probe.try_get_matches_from(line.clone())
        && let (leaf, matches, path) = leaf(&command, &given)
        && let Some(file) = matches
            .try_get_one::<PathBuf>("config")
            .ok()
            .flatten()
            .cloned()
    {
        let wanted = settings(&file, &path)?;
        let added = added(leaf, matches, &wanted, &file)?;
        // Behind a bare `--` everything is a positional.
        let end = line.iter().position(|a| a == "--").unwrap_or(line.len());
        line.splice(end..end, added);
    }
    let matches = command.clone().get_matches_from(line);
    let parsed = A::from_arg_matches(&matches).map_err(|e| Failure::Misuse(e.to_string()))?;
    let (leaf, found, path) = leaf(&command, &matches);
    Ok((parsed, resolved(leaf, found, &path)))
}

/// Returns when help and errors are coloured, which is known before they are parsed.
fn color(line: &[OsString]) -> ColorChoice {
    let texts: Vec<_> = line.iter().map_while(|word| word.to_str()).collect();
    let words = texts.iter().take_while(|word| **word != "--");
    let given = words
        .enumerate()
        .filter_map(|(i, word)| match word.strip_prefix("--color") {
            Some("") => texts.get(i + 1).copied(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        });
    given
        .last()
        .and_then(|when| ColorChoice::from_str(when, true).ok())
        .unwrap_or_default()
}

/// The innermost command, what was given to it, and its names.
fn leaf<'a>(
    command: &'a Command,
    matches: &'a ArgMatches,
) -> (&'a Command, &'a ArgMatches, Vec<String>) {
    let (mut command, mut matches, mut path) = (command, matches, Vec::new());
    while let Some((name, inner)) = matches.subcommand()
        && let Some(found) = command.find_subcommand(name)
    {
        (command, matches) = (found, inner);
        path.push(name.to_owned());
    }
    (command, matches, path)
}

/// Keys and values for the command at `path`.
fn settings(file: &Path, path: &[String]) -> Result<Map<String, Value>, Failure> {
    let wrong = |what: &dyn std::fmt::Display| {
        let what = what.to_string();
        Failure::Misuse(format!(
            "{}: {}; --config takes TOML, or the JSON beside a result",
            file.display(),
            what.trim_end()
        ))
    };
    let bytes = read_at_most(file, LONGEST).map_err(|e| wrong(&e))?;
    let text = String::from_utf8(bytes).map_err(|e| wrong(&e))?;
    let value: Value = if file.extension().is_some_and(|e| e == "json") {
        let all: Value = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
        let kept = all.get("configuration").cloned();
        kept.ok_or_else(|| wrong(&"it has no member \"configuration\""))?
    } else {
        toml::from_str(&text).map_err(|e| wrong(&e))?
    };
    let Value::Object(table) = value else {
        return Err(wrong(&"it does not hold a table"));
    };
    let plain = |table: &Map<String, Value>| {
        let own = table.iter().filter(|(_, v)| !v.is_object());
        own.map(|(k, v)| (k.replace('_', "-"), v.clone()))
            .collect::<Map<_, _>>()
    };
    let mut settings = plain(&table);
    let mut inner = &table;
    for (at, name) in path.iter().enumerate() {
        match inner.get(name) {
            Some(Value::Object(found)) => {
                // In the table of the command itself, tables are groups of settings.
                if at + 1 == path.len() {
                    settings.extend(found.iter().map(|(k, v)| (k.replace('_', "-"), v.clone())));
                } else {
                    settings.extend(plain(found));
                }
                inner = found;
            }
            _ => break,
        }
    }
    Ok(settings)
}

/// What to add to the command line for the settings that are not on it.
fn added(
    command: &Command,
    given: &ArgMatches,
    settings: &Map<String, Value>,
    file: &Path,
) -> Result<Vec<OsString>, Failure> {
    let on_line = |arg: &Arg| {
        let id = arg.get_id().as_str();
        given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let any_positional = command.get_positionals().any(on_line);
    let (mut options, mut positionals) = (Vec::new(), Vec::new());
    let is_open = command.get_arguments().any(|a| name(a) == OF_FILE);
    let mut by_name = Map::new();
    for (key, value) in settings {
        let arg = command.get_arguments().find(|a| name(a) == *key);
        let Some(arg) = arg.filter(|a| !a.is_hide_set() && key != "config") else {
            if is_open && key != "config" {
                by_name.insert(key.replace('-', "_"), value.clone());
                continue;
            }
            let known: Vec<String> = command
                .get_arguments()
                .filter(|a| !a.is_hide_set())
                .map(name)
                .collect();
            return Err(Failure::Misuse(format!(
                "{}: {} has no option \"{key}\"; its options are {}",
                file.display(),
                command.get_name(),
                known.join(", ")
            )));
        };
        if on_line(arg) || (arg.is_positional() && any_positional) {
            continue;
        }
        let mut texts = texts(value).ok_or_else(|| {
            Failure::Misuse(format!(
                "{}: {key} = {value} cannot be the value of an option; give a text, a number, \
                 true, false, or a list of these",
                file.display()
            ))
        })?;
        if PATHS.contains(&key.as_str()) {
            for text in &mut texts {
                *text = beside(file, key, text);
            }
        }
        if arg.is_positional() {
            positionals.push((arg.get_index(), texts));
        } else if arg.get_action().takes_values() {
            match arg.get_value_delimiter() {
                Some(by) => options.push(format!("--{key}={}", texts.join(&by.to_string()))),
                None => options.extend(texts.iter().map(|t| format!("--{key}={t}"))),
            }
        } else if texts == ["true"] {
            options.push(format!("--{key}"));
        }
    }
    if !by_name.is_empty() {
        let filed = Filed {
            file: file.to_owned(),
            settings: by_name,
        };
        let text = serde_json::to_string(&filed)?;
        options.push(format!("--{OF_FILE}={text}"));
    }
    positionals.sort();
    let positionals = positionals.into_iter().flat_map(|(_, texts)| texts);
    Ok(options
        .into_iter()
        .chain(positionals)
        .map(Into::into)
        .collect())
}

/// A path in a TOML file is meant from the folder of that file, whatever folder the program is run
/// in. Names of data sets are no paths. The JSON beside a result has absolute paths.
fn beside(file: &Path, key: &str, text: &str) -> String {
    let folder = file.parent().unwrap_or(Path::new(""));
    let found = folder.join(text);
    let toml = file.extension().is_none_or(|e| e != "json");
    if toml && (found.exists() || key == "output") {
        return found.to_string_lossy().into_owned();
    }
    text.to_owned()
}

/// The key of an option: its long name, or the name of its place.
fn name(arg: &Arg) -> String {
    let id = arg.get_id().as_str();
    arg.get_long().unwrap_or(id).replace('_', "-")
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Number(number) => Some(vec![number.to_string()]),
        Value::Bool(on) => Some(vec![on.to_string()]),
        Value::Array(items) => {
            let each: Option<Vec<Vec<String>>> = items
                .iter()
                .map(|item| (!item.is_array()).then(|| texts(item)).flatten())
                .collect();
            each.map(|each| each.concat())
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Every option of the command with its value, defaults included, as `--config` reads it.
fn resolved(command: &Command, found: &ArgMatches, path: &[String]) -> Value {
    let mut table = Map::new();
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        if NOT_KEPT.contains(&id) || found.value_source(id).is_none() {
            continue;
        }
        if !arg.get_action().takes_values() {
            if found.get_flag(id) {
                table.insert(name(arg), json!(true));
            }
            continue;
        }
        if id == "set" || id == "filed" {
            continue;
        }
        let raw = found.get_raw(id).into_iter().flatten();
        let mut texts: Vec<String> = raw.map(|v| v.to_string_lossy().into_owned()).collect();
        let key = name(arg);
        for text in texts.iter_mut().filter(|_| PATHS.contains(&key.as_str())) {
            let whole = std::path::absolute(&*text).ok();
            if let Some(whole) = whole.filter(|w| w.exists() || key == "output") {
                *text = whole.to_string_lossy().into_owned();
            }
        }
        let value = match &texts[..] {
            [one] => json!(one),
            several => json!(several),
        };
        table.insert(name(arg), value);
    }
    let has_settings = command.get_arguments().any(|a| name(a) == OF_FILE);
    if has_settings && let Ok(given) = Given::from_arg_matches(found) {
        for (key, value) in given.all() {
            table.entry(key).or_insert(value);
        }
    }
    let mut value = Value::Object(table);
    for name in path.iter().rev() {
        let mut outer = Map::new();
        outer.insert(name.clone(), value);
        value = Value::Object(outer);
    }
    value
}
