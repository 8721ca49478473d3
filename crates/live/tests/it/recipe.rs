//! One recipe makes the same matrices wherever it runs.

use stiefel_data::{Input, Phase, Recipe};
use stiefel_eeg::io::write_trials;
use stiefel_eeg::recipe::stream::Timing;
use stiefel_eeg::recipe::{Inputs, Preparing, run};
use stiefel_eeg::select::Selection;
use stiefel_eeg::{load, load_as};

use crate::study::STUDY;

/// Channels, a reference among others and two views in two bands, filtered as a live signal is.
fn recipe(reference: &str) -> Recipe {
    Recipe {
        reference: reference.parse().unwrap(),
        channels: Some(["C3", "Cz", "C4", "CPz"].map(String::from).to_vec()),
        views: ["8-32@0.5-3.5", "10-14@0.25-2.25"]
            .map(|v| v.parse().unwrap())
            .to_vec(),
        phase: Phase::Causal,
        reject: None,
        classes: STUDY.made.recipe.classes.clone(),
        ..Recipe::default()
    }
}

#[test]
fn the_chain_of_a_stream_makes_the_trials_of_a_recording() {
    for reference in ["as-recorded", "average", "FCz+C1"] {
        let mut preparing = Preparing::new(&recipe(reference)).unwrap();
        let recording = &STUDY.recording;
        preparing.add(recording.clone(), "S01", None).unwrap();
        let made = preparing.finish().unwrap();
        let timing = Timing::new(&made.provenance).unwrap();
        let mut chain = timing.chain(&made.provenance.recipe, false).unwrap();
        let place = |name: &str| {
            let mut channels = recording.channels().iter();
            channels.position(|c| c.name == name).unwrap()
        };
        let rows: Vec<usize> = made
            .provenance
            .channels()
            .iter()
            .map(|c| place(c))
            .collect();
        let electrodes: Vec<usize> = match reference {
            "as-recorded" => Vec::new(),
            "average" => rows.clone(),
            _ => vec![place("FCz"), place("C1")],
        };
        let known = |label: &str| {
            made.provenance
                .recipe
                .classes
                .iter()
                .any(|(l, _)| l == label)
        };
        let mut cues = recording
            .events()
            .iter()
            .filter(|e| known(&e.label))
            .peekable();
        let (n, mut trial) = (rows.len(), 0);
        let mut covariance = vec![0.0; n * n];
        for t in 0..recording.samples() {
            let value = |c: &usize| recording.channel(*c)[t];
            let mean = electrodes.iter().map(value).sum::<f64>() / electrodes.len().max(1) as f64;
            let frame: Vec<f64> = rows.iter().map(|c| value(c) - mean).collect();
            chain.push(&frame).unwrap();
            let over = |e: &&stiefel_eeg::Event| e.sample as i64 + timing.last == t as i64 + 1;
            if let Some(cue) = cues.next_if(over) {
                for view in 0..2 {
                    let start = (cue.sample as i64 + timing.starts[view]) as u64;
                    chain.covariance(view, start, &mut covariance).unwrap();
                    let expected = made.trials.view(view).matrix(trial);
                    let scale = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
                    for (a, b) in covariance.iter().zip(expected) {
                        assert!((a - b).abs() < 1e-12 * scale, "{reference}: {a} {b}");
                    }
                }
                trial += 1;
            }
        }
        assert_eq!(trial, made.trials.len());
    }
}

#[test]
fn a_source_is_prepared_alike_at_every_door() {
    let source = "synthetic:bnci2015001,subjects=2,trials=6".to_owned();
    let input = Input::default();
    let recipe = Recipe {
        classes: Vec::new(),
        ..recipe("average")
    };
    let inputs = Inputs::open(std::slice::from_ref(&source), &input, &recipe).unwrap();
    let (prepared, _) = run(&recipe, inputs, &mut |_| {}).unwrap();
    let made = prepared.preparation().known().unwrap();
    // As a model that knows this preparation asks for it.
    let asked = load_as(
        &source,
        &Selection::default(),
        Some(made),
        false,
        &mut |_| {},
    )
    .unwrap();
    for view in 0..2 {
        assert_eq!(asked.view(view), prepared.view(view));
    }
    // As the dataset file keeps it.
    let path = std::env::temp_dir().join(format!("stiefel-recipe-{}.npz", std::process::id()));
    write_trials(&path, &prepared).unwrap();
    let read = load(&path.to_string_lossy(), &Selection::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    for view in 0..2 {
        assert_eq!(read.view(view), prepared.view(view));
    }
    assert_eq!(read.preparation(), prepared.preparation());
}
