//! A fold of a study by hand:
//! `cargo run --release -p stiefel --example fold -- synthetic:bnci2015001 choir 0 1`.
//!
//! Fits a method, by the name it has in studies, on the fold of a seed, and prints the
//! probabilities of its test trials as JSON: the bits of the study's own record. A fifth word says
//! how many epochs a network trains at most.

use stiefel::prelude::*;
use stiefel::study::{Study, StudyConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [source, method, seed, fold, epochs @ ..] = &words[..] else {
        return Err("give a dataset, a method, a seed and a fold".into());
    };
    let (seed, fold): (u64, usize) = (seed.parse()?, fold.parse()?);
    let trials = load(source, &Selection::default())?;

    // The method as a study of these data has it.
    let mut config = StudyConfig::new(Study::Main, source);
    if let [epochs] = epochs {
        config.training.epochs = epochs.parse()?;
    }
    let (channels, people) = (trials.channels_count(), trials.domains().names().len());
    let method = config.family(channels, people)?.by_name(method)?.method;

    let folds = cross_domain_folds(trials.classes().indices(), trials.domains().indices(), seed)?;
    let fold = folds
        .get(fold)
        .ok_or("there are five folds, counted from 0")?;
    let [training, validation, test] = fold.of(&trials)?;
    let model = method.fit(&training, &validation, seed, &mut Silent)?;
    let test = method.views_of(&test)?;
    println!("{:?}", model.decide(&test, None)?.probabilities.data());
    Ok(())
}
