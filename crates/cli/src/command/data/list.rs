//! `stiefel data list`.

use clap::Args;
use serde_json::{Value, json};
use stiefel::eeg::catalogue::{Cache, Dataset, Selection, datasets};

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::table::columns;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self, output: &mut Output) -> Outcome {
        let cache = Cache::from_env()?;
        if self.json {
            let sets: Result<Vec<Value>, Failure> =
                datasets().iter().map(|d| value(d, &cache)).collect();
            return output.json(&Value::Array(sets?));
        }
        let heading = [
            "NAME", "SUBJECTS", "CHANNELS", "RATE", "CLASSES", "LICENCE", "HERE", "TITLE",
        ];
        let mut rows = vec![heading.map(String::from).to_vec()];
        for dataset in datasets() {
            rows.push(row(dataset, &cache)?);
        }
        output.line(&columns(&rows))
    }
}

/// How many files of the default selection are here, and how many there are.
fn here(dataset: &'static Dataset, cache: &Cache) -> Result<(usize, usize), Failure> {
    let inventory = cache.inventory(dataset, &Selection::all())?;
    let here = inventory.iter().filter(|(_, copy)| copy.is_some()).count();
    Ok((here, inventory.len()))
}

fn row(dataset: &'static Dataset, cache: &Cache) -> Result<Vec<String>, Failure> {
    let (here, all) = here(dataset, cache)?;
    Ok(vec![
        dataset.id.to_string(),
        dataset.offered().count().to_string(),
        dataset.channels().len().to_string(),
        format!("{} Hz", dataset.sampling_rate),
        dataset.classes().len().to_string(),
        dataset.licence.name.to_string(),
        format!("{here} of {all}"),
        dataset.title.to_string(),
    ])
}

fn value(dataset: &'static Dataset, cache: &Cache) -> Result<Value, Failure> {
    let (here, all) = here(dataset, cache)?;
    Ok(json!({
        "id": dataset.id,
        "name": dataset.name,
        "title": dataset.title,
        "subjects": dataset.offered().count(),
        "channels": dataset.channels().len(),
        "sampling_rate": dataset.sampling_rate,
        "classes": dataset.classes().iter().map(|c| c.name).collect::<Vec<_>>(),
        "licence": dataset.licence.name,
        "files": all,
        "files_here": here,
    }))
}
