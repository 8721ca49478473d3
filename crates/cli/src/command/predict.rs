//! `stiefel predict`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, json};
use stiefel::study::Dataset;

use crate::decoding::{AnyDecoder, Decided, Unseen, decide_all};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::source::Part;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table with a heading
    Csv,
    /// A JSON object per line
    Jsonl,
}

#[derive(Debug, Args)]
#[command(after_help = "\
One line per trial: its place, domain, run and label, the decision, the probability of every class and, where the network routes,
the weight of every expert. Labels are not used.")]
pub(crate) struct Arguments {
    /// The model file
    model: PathBuf,
    /// The data: a dataset file, a public data set, or synthetic:…
    source: String,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    unseen: Unseen,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// The same as --format jsonl
    #[arg(long)]
    json: bool,
    /// Write to this file instead of the standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let mut decoder = AnyDecoder::load(&self.model)?;
        let data = decoder.load_data(&self.source, self.part.choice())?;
        let decided = decide_all(&mut decoder, &data.trials, &self.unseen)?;
        for line in &decided.unseen {
            // A terminal that is gone is no reason to stop.
            let _ = writeln!(std::io::stderr(), "unseen domain {line}");
        }
        let lines = if self.json || self.format == Format::Jsonl {
            json_lines(&decoder, &data, &decided)
        } else {
            csv(&decoder, &data, &decided)
        };
        let Some(path) = &self.output else {
            return output.line(&lines.join("\n"));
        };
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(path)?);
            for line in &lines {
                writeln!(file, "{line}")?;
            }
            file.flush()
        };
        write().map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))
    }
}

/// Domain, run and label of a trial.
fn names(data: &Dataset, trial: usize) -> (&str, Option<&str>, &str) {
    let t = &data.trials;
    let run = t.runs().map(|r| r.name(r.indices()[trial]));
    let (domains, classes) = (t.domains(), t.classes());
    (
        domains.name(domains.indices()[trial]),
        run,
        classes.name(classes.indices()[trial]),
    )
}

/// The routing weights of a trial.
fn weights<'a>(decided: &'a Decided, data: &Dataset, trial: usize) -> &'a [f64] {
    decided.routing.as_deref().map_or(&[], |all| {
        let experts = all.len() / data.trials.len().max(1);
        &all[trial * experts..][..experts]
    })
}

fn csv(decoder: &AnyDecoder, data: &Dataset, decided: &Decided) -> Vec<String> {
    let classes = decoder.classes();
    let best = decided.classes(classes.len());
    let mut heading = ["trial", "domain", "run", "label", "decision"]
        .map(String::from)
        .to_vec();
    heading.extend(classes.iter().map(|c| cell(&format!("p_{c}"))));
    let experts = weights(decided, data, 0).len();
    heading.extend((1..=experts).map(|j| format!("alpha_{j}")));
    let mut lines = vec![heading.join(",")];
    for (i, p) in decided
        .probabilities
        .chunks_exact(classes.len())
        .enumerate()
    {
        let (domain, run, label) = names(data, i);
        let mut row = vec![
            i.to_string(),
            cell(domain),
            cell(run.unwrap_or("")),
            cell(label),
            cell(&classes[best[i]]),
        ];
        let numbers = p.iter().chain(weights(decided, data, i));
        row.extend(numbers.map(f64::to_string));
        lines.push(row.join(","));
    }
    lines
}

/// Quoted where it must be.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn json_lines(decoder: &AnyDecoder, data: &Dataset, decided: &Decided) -> Vec<String> {
    let classes = decoder.classes();
    let best = decided.classes(classes.len());
    let rows = decided.probabilities.chunks_exact(classes.len());
    rows.enumerate()
        .map(|(i, p)| {
            let (domain, run, label) = names(data, i);
            let named = classes.iter().zip(p).map(|(c, p)| (c.clone(), json!(p)));
            let mut value = json!({
                "trial": i, "domain": domain, "run": run, "label": label, "decision": classes[best[i]],
                "probabilities": named.collect::<Map<_, _>>(),
            });
            if decided.routing.is_some() {
                value["routing"] = json!(weights(decided, data, i));
            }
            value.to_string()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(cell("S 01"), "S 01");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
