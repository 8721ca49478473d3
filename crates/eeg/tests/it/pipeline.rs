//! The whole way against its steps, one at a time.

use crate::numbers::eeg;
use stiefel_eeg::covariance::{Estimator, covariances};
use stiefel_eeg::montage::Montage;
use stiefel_eeg::recipe::{Preparing, Recipe, Reference};
use stiefel_eeg::signal::{
    Band, Sos, Window, epochs, reject_by_amplitude, zero_phase_epochs, zero_phase_recording,
};
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel_eeg::{Epochs, Event, Recording};

fn study() -> Synthetic {
    let classes = [Imagery::RightHand, Imagery::Feet];
    Synthetic::new(SyntheticConfig::of(
        Montage::Bnci2015001,
        128.0,
        vec![1, 1],
        2,
        8,
        &classes,
    ))
    .unwrap()
}

fn recipe(view: &str, classes: &[&str]) -> Recipe {
    Recipe {
        views: vec![view.parse().unwrap()],
        classes: stiefel_data::class_rules(classes).unwrap(),
        ..Recipe::default()
    }
}

fn usual() -> Recipe {
    Recipe {
        reject: Some(1.5),
        ..recipe("8-32@0.5-3.5", &["right_hand", "feet"])
    }
}

fn start(recipe: &Recipe) -> Preparing {
    Preparing::new(recipe).unwrap()
}

#[test]
fn pipeline_is_the_sum_of_its_steps() {
    let (study, recipe) = (study(), usual());
    let window = Window::new(0.5, 3.5, &["right_hand", "feet"]);
    let mut preparing = start(&recipe);
    let mut parts = Vec::new();
    for item in study.recordings().map(Result::unwrap) {
        let (domain, run) = (format!("S{}", item.subject), item.run.to_string());
        let mut recording = item.recording.clone();
        preparing.add(item.recording, &domain, Some(&run)).unwrap();
        let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
        zero_phase_recording(&mut recording, &sos).unwrap();
        parts.push(
            epochs(&recording, &window, &domain, Some(&run))
                .unwrap()
                .epochs,
        );
    }
    let prepared = preparing.finish().unwrap();
    let epochs = Epochs::concat(&parts).unwrap();
    let rejection = reject_by_amplitude(&epochs, 1.5).unwrap();
    assert!(
        rejection.kept.len() < epochs.trials().len(),
        "the threshold rejects something here"
    );
    assert_eq!(prepared.rejection, rejection);
    let expected =
        covariances(&epochs.select(&rejection.kept).unwrap(), Estimator::Sample).unwrap();
    let expected = expected.with_preparation(prepared.provenance.clone().into());
    let (recordings, spans) = prepared.trials.recordings().unwrap();
    let expected = expected
        .with_recordings(recordings.to_vec(), spans.to_vec())
        .unwrap();
    assert_eq!(prepared.trials, expected);
    assert_eq!(prepared.provenance.recipe.rate, Some(128.0));
    assert_eq!((prepared.samples, prepared.outside.len()), (384, 0));
}

#[test]
fn recordings_that_do_not_fit_together_are_refused() {
    let recipe = usual();
    let mut preparing = start(&recipe);
    preparing
        .add(study().recording(0, 0, 0).unwrap(), "S0", None)
        .unwrap();
    let picked = study()
        .recording(0, 0, 1)
        .unwrap()
        .pick(&["C3", "C4"])
        .unwrap();
    assert!(
        preparing
            .add(picked, "S0", None)
            .unwrap_err()
            .to_string()
            .contains("channels")
    );
    let event = Event {
        sample: 10,
        onset: 0.1,
        duration: 0.0,
        label: "feet".into(),
    };
    let short = Recording::new(vec![eeg("C3")], 128.0, vec![0.0; 20], vec![event]).unwrap();
    assert!(preparing.add(short, "S0", None).is_err());
    assert_eq!(preparing.finish().unwrap().rejection.domains[0].trials, 8);
    assert!(start(&recipe).finish().is_err());
}

#[test]
fn a_value_that_is_not_finite_is_named() {
    let recipe = usual();
    for (channel, sample, value) in [
        (0, 0, f64::NAN),
        (8, 77, f64::INFINITY),
        (12, 500, f64::NAN),
    ] {
        let mut recording = study().recording(0, 0, 0).unwrap();
        let (samples, name) = (
            recording.samples(),
            recording.channels()[channel].name.clone(),
        );
        recording.data_mut()[channel * samples + sample] = value;
        let message = start(&recipe)
            .add(recording, "S0", None)
            .unwrap_err()
            .to_string();
        let expected = format!("channel {name}, sample {sample}: the value is {value}");
        assert!(message.starts_with(&expected), "{message}");
    }
}

fn labelled(label: &str, domain: &str) -> stiefel_eeg::TrialInfo {
    stiefel_eeg::TrialInfo {
        label: label.into(),
        domain: domain.into(),
        run: None,
    }
}

/// Trials of four seconds, cut before any filter.
fn trials() -> Epochs {
    let recording = study().recording(0, 0, 0).unwrap();
    let window = Window::new(-0.5, 3.5, &["right_hand", "feet"]);
    epochs(&recording, &window, "S0", None).unwrap().epochs
}

#[test]
fn data_in_trials_is_filtered_trial_by_trial_then_cropped() {
    let recipe = Recipe {
        reject: None,
        ..recipe("8-32@1-3", &["feet=both_feet"])
    };
    let trials = trials();
    let mut preparing = start(&recipe);
    preparing.add_epochs(&trials).unwrap();
    let prepared = preparing.finish().unwrap();

    let feet: Vec<usize> = (0..trials.trials().len())
        .filter(|&i| trials.trials()[i].label == "feet")
        .collect();
    let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
    let mut expected = Vec::new();
    for &i in &feet {
        let mut one = trials.select(&[i]).unwrap();
        zero_phase_epochs(&mut one, &sos).unwrap();
        let cropped = one.crop(1.0, 3.0).unwrap();
        assert_eq!(cropped.samples(), 256);
        let covariance = covariances(&cropped, Estimator::Sample).unwrap();
        expected.extend_from_slice(covariance.covariances().data());
    }
    assert_eq!(prepared.trials.covariances().data(), expected);
    assert_eq!(prepared.trials.classes().names(), ["both_feet"]);
    assert_eq!(
        prepared.not_selected["right_hand"],
        trials.trials().len() - feet.len()
    );
    assert_eq!(prepared.rejection.domains[0].rejected, 0);
    assert_eq!(prepared.samples, 256);
}

#[test]
fn a_window_that_leaves_the_trial_and_labels_that_do_not_occur_are_refused() {
    let trials = trials();
    for (from, to) in [
        (-0.1, 1.0),
        (0.0, 4.1),
        (1.0, 1.0),
        (2.0, 1.0),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
    ] {
        assert!(trials.crop(from, to).is_err(), "{from} {to}");
    }
    assert_eq!(trials.crop(0.0, 4.0).unwrap(), trials);
    let recipe = recipe("8-32@0.5-1.5", &["tongue"]);
    let message = start(&recipe).add_epochs(&trials).unwrap_err().to_string();
    assert!(
        message.contains("tongue") && message.contains("right_hand"),
        "{message}"
    );
    let none = Epochs::new(vec![eeg("C3")], 128.0, 10, vec![], vec![]).unwrap();
    assert!(start(&recipe).add_epochs(&none).is_err());
    let short = Epochs::new(
        vec![eeg("C3")],
        128.0,
        3,
        vec![0.0; 3],
        vec![labelled("tongue", "S")],
    );
    assert!(start(&recipe).add_epochs(&short.unwrap()).is_err());
}

#[test]
fn a_reference_is_the_mean_of_its_electrodes_and_its_loss_of_rank_is_told() {
    let prepared = |recipe: &Recipe| {
        let mut preparing = start(recipe);
        for item in study().recordings().map(Result::unwrap) {
            preparing.add(item.recording, "S0", None).unwrap();
        }
        preparing.finish().unwrap()
    };
    let recipe = Recipe {
        channels: Some(["C3", "Cz", "C4"].map(String::from).to_vec()),
        reject: None,
        ..usual()
    };
    let plain = prepared(&recipe);
    let with = |reference: &str| {
        prepared(&Recipe {
            reference: reference.parse().unwrap(),
            ..recipe.clone()
        })
    };
    // C = P X Pᵀ with P = I − 1 wᵀ, before shrinkage, where the electrodes are others.
    let outside = with("FCz+CPz");
    assert_eq!(outside.provenance.recipe.estimator, Estimator::Sample);
    let among = Recipe {
        channels: Some(["C3", "Cz", "C4", "FCz", "CPz"].map(String::from).to_vec()),
        ..recipe.clone()
    };
    let all = prepared(&among);
    let (x, y) = (all.trials.covariances(), outside.trials.covariances());
    let weight =
        |r: usize, c: usize| f64::from(u8::from(r == c)) - 0.5 * f64::from(u8::from(c > 2));
    for i in 0..x.count() {
        for (r, c) in [(0, 0), (0, 1), (2, 1)] {
            let sum = (0..5).flat_map(|k| (0..5).map(move |l| (k, l)));
            let sum: f64 = sum
                .map(|(k, l)| weight(r, k) * x.get(i, k, l) * weight(c, l))
                .sum();
            assert!(
                (sum - y.get(i, r, c)).abs() < 1e-9 * y.get(i, r, r),
                "{sum}"
            );
        }
    }
    assert_ne!(plain.trials.covariances(), outside.trials.covariances());
    // An average leaves one direction without signal: the recipe that travels says how it was met.
    let average = with("average");
    assert_eq!(average.provenance.recipe.estimator, Estimator::Oas);
    assert_eq!(average.provenance.recipe.reference, Reference::Average);
    let x = average.trials.covariances();
    assert!(stiefel_linalg::eigenvalues(x.view()).unwrap()[0] > 0.0);
    assert_eq!(with("C4").provenance.recipe.estimator, Estimator::Oas);
    let error = Preparing::new(&Recipe {
        reference: Reference::Channels(vec!["Oz".into()]),
        ..recipe.clone()
    })
    .unwrap()
    .add(study().recording(0, 0, 0).unwrap(), "S0", None);
    assert!(error.unwrap_err().to_string().contains("no channel Oz"));
}
