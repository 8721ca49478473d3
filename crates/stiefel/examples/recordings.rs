//! Recordings to a report: `cargo run --release -p stiefel --example recordings -- FOLDER T1=hands
//! T2=feet`.
//!
//! Files are filtered, cut, cleaned and turned into covariances; three methods meet on the same
//! folds; the page with table, tests and figures is written beside you. Without arguments, two
//! people are simulated.

use stiefel::eeg::io::write_trials;
use stiefel::prelude::*;
use stiefel::study::{Cancel, Plan, Store, Study, StudyConfig, Unwatched};
use stiefel::study::{report, run, summarise, table};

/// The example on the words of the command line.
pub(crate) fn report_on(words: &[String]) -> Result<String, Box<dyn std::error::Error>> {
    let (trials, out) = if let Some((folder, labels)) = words.split_first() {
        let class = |word: &String| word.split_once('=').map(|(l, c)| (l.into(), c.into()));
        let classes = labels.iter().map(class).collect::<Option<Vec<_>>>();
        let recipe = Recipe {
            views: vec!["8-30@0.5-3.5".parse()?],
            estimator: Estimator::Oas,
            classes: classes.ok_or("write classes as LABEL=CLASS")?,
            ..Recipe::default()
        };
        let (folder, input) = (std::slice::from_ref(folder), Input::default());
        let (trials, record) = prepare(folder, &input, &recipe, &mut |_| {})?;
        println!("{} files prepared", record.files.len());
        (trials, std::path::PathBuf::from("report-of-recordings"))
    } else {
        let source = "synthetic:bnci2015001,subjects=2,trials=12";
        let out = format!("report-of-recordings-{}", std::process::id());
        (
            load(source, &Selection::default())?,
            std::env::temp_dir().join(out),
        )
    };
    // The dataset file knows how its matrices were made; whatever is trained on it knows too.
    std::fs::create_dir_all(&out)?;
    let dataset = out.join("dataset.npz");
    write_trials(&dataset, &trials)?;

    let mut config = StudyConfig::new(Study::Main, dataset.to_string_lossy());
    config.methods = ["choir", "ts+lr", "mdm"].map(String::from).to_vec();
    let plan = Plan::new(config, &trials)?;
    // Every finished unit of work is kept: after a crash the same call goes on.
    let store = Store::open(&out)?;
    let records = run(&plan, &store, 2, &Cancel::default(), &Unwatched)?;
    let summary = summarise(&plan, records)?;
    println!("{}", table::text(&summary));
    Ok(report::write(&summary, &out)?.display().to_string())
}

/// The example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!("The report is {}.", report_on(&words)?);
    Ok(())
}
