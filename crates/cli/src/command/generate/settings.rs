//! Files of the repository that are made from the descriptions of settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use stiefel::data::settings::{Setting, Settings};
use stiefel::model::kind::Kind;
use stiefel::model::registry::{self, KINDS};
use stiefel::study::{Study, StudyConfig};

use crate::command::settings::SHOWN;
use crate::failure::{Failure, Outcome};

const INTRODUCTION: &str = include_str!("settings.md");
/// Names of parameters of every estimator that settings have too.
const COMMON: [&str; 1] = ["embedding"];
const STUB: &str = include_str!("model.pyi");

/// Writes the files below the root of the repository, and returns their paths.
pub(super) fn write_all(root: &Path) -> Result<[&'static str; 2], Failure> {
    let paths = ["docs/settings.md", "python/src/stiefel/_model.pyi"];
    for (path, text) in paths.into_iter().zip([page()?, stub()?]) {
        write(&root.join(path), &text)?;
    }
    Ok(paths)
}

fn write(path: &Path, text: &str) -> Outcome {
    let folder = path.parent().unwrap_or(Path::new(""));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

/// Returns the settings of a kind.
fn settings(kind: &dyn Kind) -> Result<Settings, Failure> {
    Ok(registry::settings(kind.name(), SHOWN)?)
}

/// Returns `docs/settings.md`.
fn page() -> Result<String, Failure> {
    let mut text = INTRODUCTION.to_owned();
    let mut tables: Vec<(String, Vec<&dyn Kind>)> = Vec::new();
    for kind in KINDS {
        let table = table(&settings(*kind)?);
        match tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, kinds)) => kinds.push(*kind),
            None => tables.push((table, vec![*kind])),
        }
    }
    for (table, kinds) in tables {
        let names: Vec<String> = kinds.iter().map(|k| format!("`{}`", k.name())).collect();
        let _ = write!(text, "\n## {}\n\n", names.join(", "));
        for kind in &kinds {
            let _ = writeln!(text, "- `{}`: {}", kind.name(), kind.about());
            for variant in kind.variants() {
                let _ = writeln!(text, "- `{}`: {}", variant.name, variant.about);
            }
        }
        let _ = write!(text, "\n{table}");
    }
    let studies = table(&StudyConfig::settings(Study::Main));
    let _ = write!(text, "\n## Studies\n\n{studies}");
    Ok(text)
}

fn table(settings: &Settings) -> String {
    let mut text = "| setting | default | values | what it is |\n|---|---|---|---|\n".to_owned();
    for setting in settings.all().iter().filter(|s| !s.is_group) {
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} |",
            setting.path,
            shown(&setting.default),
            cell(&setting.values),
            cell(&setting.about)
        );
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

/// A class of settings in the stub: kinds and variants with the same ones.
struct Class {
    /// Names and annotations, by which classes are told apart.
    fields: Vec<(String, String)>,
    body: String,
    names: Vec<&'static str>,
}

/// Returns the stub of `stiefel.model`, with the settings of every kind and variant.
fn stub() -> Result<String, Failure> {
    let mut classes: Vec<Class> = Vec::new();
    for name in registry::names() {
        let (fields, body) = parameters(&registry::settings(name, SHOWN)?);
        match classes.iter_mut().find(|class| class.fields == fields) {
            Some(class) => class.names.push(name),
            None => classes.push(Class {
                fields,
                body,
                names: vec![name],
            }),
        }
    }
    let (mut groups, mut overloads) = (String::new(), String::new());
    for Class { body, names, .. } in &classes {
        let class = class_name(names[0]);
        let _ = write!(groups, "class {class}(_Common, total=False):\n{body}\n");
        let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        let names = names.join(", ");
        let _ = write!(
            overloads,
            "@overload\ndef model(\n    name: Literal[{names}],\n    **settings: \
             Unpack[{class}],\n) -> ModelClassifier: ...\n"
        );
    }
    Ok(STUB
        .replace("# SETTINGS\n", &groups)
        .replace("# OVERLOADS\n", &overloads))
}

/// Returns the name of the class of settings: `ts+lr` has `_TsLrSettings`.
fn class_name(kind: &str) -> String {
    let words = kind.split(|c: char| !c.is_alphanumeric());
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    format!("_{}Settings", words.map(capital).collect::<String>())
}

/// Returns the fields of a class of settings, and their lines with doc and default.
fn parameters(settings: &Settings) -> (Vec<(String, String)>, String) {
    let named: BTreeMap<&str, &Setting> = (settings.all().iter())
        .filter(|s| s.name != "seed" && s.path != "kappa")
        .map(|s| {
            (
                // Every classifier has an attribute of the name "unseen".
                if COMMON.contains(&&*s.name) || s.name == "unseen" {
                    &*s.path
                } else {
                    &*s.name
                },
                s,
            )
        })
        .collect();
    let (mut fields, mut text) = (Vec::new(), String::new());
    for (name, setting) in named {
        let name = name.replace('.', "__").replace('-', "_");
        let default = if setting.is_group {
            String::new()
        } else {
            shown(&setting.default)
        };
        let default = match &*default {
            "" => String::new(),
            default => format!(" Default: {default}."),
        };
        let hint = hint(&setting.schema);
        let _ = writeln!(text, "    {name}: {hint}");
        let _ = writeln!(text, "    \"\"\"{}{default}\"\"\"", setting.about);
        fields.push((name, hint));
    }
    (fields, text)
}

/// Returns the annotation of the values of a schema.
fn hint(schema: &Value) -> String {
    let mut kinds: Vec<String> = Vec::new();
    collect(schema, &mut kinds);
    let names: Vec<String> = (kinds.iter())
        .filter_map(|k| k.strip_prefix('=').map(ToOwned::to_owned))
        .collect();
    kinds.retain(|kind| !kind.starts_with('='));
    if !names.is_empty() {
        kinds.insert(0, format!("Literal[{}]", names.join(", ")));
    }
    kinds.push("None".into());
    kinds.join(" | ")
}

/// Collects the types of a schema, and the names of its choices behind an equals sign.
fn collect(schema: &Value, kinds: &mut Vec<String>) {
    let mut push = |kind: String| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    if let Some(Value::String(name)) = schema.get("const") {
        return push(format!("=\"{name}\""));
    }
    for all in ["oneOf", "anyOf", "enum"] {
        for one in schema
            .get(all)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            match one {
                Value::String(name) => kinds.push(format!("=\"{name}\"")),
                one => collect(one, kinds),
            }
        }
    }
    if schema.get("enum").is_some() {
        return;
    }
    let types = match schema.get("type") {
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    };
    for kind in types {
        let hint = match kind {
            "boolean" => "bool",
            "integer" => "int",
            "number" => "float",
            "string" => "str",
            "array" => "Sequence[Any]",
            "object" => "dict[str, Any] | bool",
            _ => continue,
        };
        if !kinds.iter().any(|k| k == hint) {
            kinds.push(hint.into());
        }
    }
}
