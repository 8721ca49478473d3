//! The whole way against its steps, one at a time.

use crate::numbers::eeg;
use stiefel_eeg::covariance::{Estimator, Pipeline, covariances};
use stiefel_eeg::montage::Montage;
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

fn pipeline() -> Pipeline {
    let mut pipeline = Pipeline::new(
        Band::BandPass(8.0, 32.0),
        Window::new(0.5, 3.5, &["right_hand", "feet"]),
    );
    pipeline.deviations = 1.5;
    pipeline
}

#[test]
fn pipeline_is_the_sum_of_its_steps() {
    let (study, pipeline) = (study(), pipeline());
    let mut preparing = pipeline.start();
    let mut parts = Vec::new();
    for item in study.recordings().map(Result::unwrap) {
        let (domain, run) = (format!("S{}", item.subject), item.run.to_string());
        let mut recording = item.recording.clone();
        preparing.add(item.recording, &domain, Some(&run)).unwrap();
        let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
        zero_phase_recording(&mut recording, &sos).unwrap();
        parts.push(
            epochs(&recording, &pipeline.window, &domain, Some(&run))
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
    assert_eq!(prepared.trials, expected);
    assert_eq!((prepared.samples, prepared.outside.len()), (384, 0));
}

#[test]
fn recordings_that_do_not_fit_together_are_refused() {
    let pipeline = pipeline();
    let mut preparing = pipeline.start();
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
    assert!(pipeline.start().finish().is_err());
}

#[test]
fn a_value_that_is_not_finite_is_named() {
    let pipeline = pipeline();
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
        let message = pipeline
            .start()
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
    let mut pipeline = Pipeline::new(
        Band::BandPass(8.0, 32.0),
        Window::named(1.0, 3.0, &[("feet", "both_feet")]),
    );
    pipeline.deviations = f64::INFINITY;
    let trials = trials();
    let mut preparing = pipeline.start();
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
    let pipeline = Pipeline::new(
        Band::BandPass(8.0, 32.0),
        Window::new(0.5, 1.5, &["tongue"]),
    );
    let message = pipeline
        .start()
        .add_epochs(&trials)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("tongue") && message.contains("right_hand"),
        "{message}"
    );
    let none = Epochs::new(vec![eeg("C3")], 128.0, 10, vec![], vec![]).unwrap();
    assert!(pipeline.start().add_epochs(&none).is_err());
    let short = Epochs::new(
        vec![eeg("C3")],
        128.0,
        3,
        vec![0.0; 3],
        vec![labelled("tongue", "S")],
    );
    assert!(pipeline.start().add_epochs(&short.unwrap()).is_err());
}
