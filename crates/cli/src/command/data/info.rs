//! `stiefel data info`.

use clap::Args;
use serde_json::{Value, json};
use stiefel::eeg::catalogue::{
    Cache, Class, Dataset, DomainUnit, LeftOut, Selection, Session, Task, find,
};

use crate::failure::Outcome;
use crate::output::Output;
use crate::table::{columns, entry};

/// Where the text of an entry starts.
const INDENT: usize = 11;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The data set, as `stiefel data list` names it
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let dataset = find(&self.name)?;
        let cache = Cache::from_env()?;
        let everything = Selection::all().with_tasks(["all"]);
        let inventory = cache.inventory(dataset, &everything)?;
        let here = inventory.iter().filter(|(_, copy)| copy.is_some()).count();
        if self.json {
            return output.json(&value(dataset, &cache, here, inventory.len()));
        }
        let files = format!(
            "{here} of {} here; folder: {}",
            inventory.len(),
            cache.folder(dataset).display()
        );
        output.line(&describe(dataset, &files))
    }
}

fn domain(unit: DomainUnit) -> &'static str {
    match unit {
        DomainUnit::Subject => "subject",
        DomainUnit::SubjectSession => "subject-session",
    }
}

fn describe(d: &Dataset, files: &str) -> String {
    let mut parts = vec![
        format!("{} ({})", d.id, d.name),
        d.title.to_string(),
        String::new(),
    ];
    let mut add = |name: &str, text: &str| parts.push(entry(name, text, INDENT));
    let subjects = format!("{}{}", d.offered().count(), without(d));
    let sessions: Vec<String> = d
        .sessions
        .iter()
        .map(|s| format!("{} ({})", s.label, s.meaning))
        .collect();
    let channels = d.channels();
    add("subjects", &subjects);
    add("sessions", &sessions.join(", "));
    add("structure", d.structure);
    add(
        "channels",
        &format!("{}: {}", channels.len(), channels.join(" ")),
    );
    add("rate", &format!("{} Hz", d.sampling_rate));
    add("window", &format!("{} from {}", d.window, d.window_from));
    if let Some([low, high]) = d.band {
        add("band", &format!("{low}–{high} Hz"));
    }
    add("domain", domain(d.domain));
    for task in d.tasks {
        add(
            "task",
            &format!("{}: {}{}", task.name, task.meaning, runs(task)),
        );
        let rows: Vec<Vec<String>> = task.classes.iter().map(class).collect();
        // Leading blanks keep the table from being wrapped.
        let table: Vec<String> = columns(&rows).lines().map(|l| format!("  {l}")).collect();
        add("", &table.join("\n"));
    }
    add(
        "licence",
        &format!(
            "{}: {}\n{}",
            d.licence.name, d.licence.allows, d.licence.url
        ),
    );
    add("files", files);
    for note in d.notes {
        add("note", note);
    }
    add("cite", &format!("https://doi.org/{}", d.citation.doi));
    parts.push(format!("\n{}", d.citation.bibtex));
    parts.join("\n")
}

/// The subjects that are not offered, by reason.
fn without(d: &Dataset) -> String {
    let mut reasons: Vec<&str> = d.left_out.iter().map(|l| l.reason).collect();
    reasons.dedup();
    let line = |reason: &&str| {
        let subjects = d.left_out.iter().filter(|l| l.reason == *reason);
        let subjects: Vec<String> = subjects.map(|l| l.subject.to_string()).collect();
        format!("\nwithout {}: {reason}", subjects.join(", "))
    };
    reasons.iter().map(line).collect()
}

fn runs(task: &Task) -> String {
    if task.runs.is_empty() {
        return String::new();
    }
    let runs: Vec<String> = task.runs.iter().map(u8::to_string).collect();
    format!(" (runs {})", runs.join(", "))
}

fn class(class: &Class) -> Vec<String> {
    let mut meaning = class.meaning.to_string();
    if !class.by_default {
        meaning += " (on request)";
    }
    vec![class.name.into(), class.labels[0].into(), meaning]
}

fn value(d: &Dataset, cache: &Cache, here: usize, files: usize) -> Value {
    let classes = |task: &Task| -> Vec<Value> {
        let class = |c: &Class| json!({"name": c.name, "labels": c.labels, "meaning": c.meaning, "by_default": c.by_default});
        task.classes.iter().map(class).collect()
    };
    let task = |t: &Task| json!({"name": t.name, "meaning": t.meaning, "runs": t.runs, "classes": classes(t)});
    let session = |s: &Session| json!({"label": s.label, "meaning": s.meaning});
    let left_out = |l: &LeftOut| json!({"subject": l.subject, "reason": l.reason});
    let mut value = json!({
        "id": d.id,
        "name": d.name,
        "aliases": d.aliases,
        "title": d.title,
        "subjects": d.offered().collect::<Vec<_>>(),
        "left_out": d.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "sessions": d.sessions.iter().map(session).collect::<Vec<_>>(),
        "structure": d.structure,
        "channels": d.channels(),
        "sampling_rate": d.sampling_rate,
        "window": [d.window.start, d.window.end],
        "window_from": d.window_from,
        "domain": domain(d.domain),
        "tasks": d.tasks.iter().map(task).collect::<Vec<_>>(),
        "licence": {"name": d.licence.name, "url": d.licence.url, "allows": d.licence.allows},
        "citation": {"doi": d.citation.doi, "bibtex": d.citation.bibtex},
        "notes": d.notes,
        "folder": cache.folder(d),
        "files": files,
        "files_here": here,
    });
    if let Some(band) = d.band {
        value["band"] = json!(band);
    }
    value
}
