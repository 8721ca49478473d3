//! The whole way against its steps, one at a time.

mod numbers;

use numbers::eeg;
use stiefel_eeg::covariance::{Covariances, Estimator, Pipeline};
use stiefel_eeg::montage::Montage;
use stiefel_eeg::signal::{Band, Sos, Window};
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
        recording.filter_zero_phase(&sos).unwrap();
        parts.push(
            recording
                .epochs(&pipeline.window, &domain, Some(&run))
                .unwrap()
                .epochs,
        );
    }
    let prepared = preparing.finish().unwrap();
    let epochs = Epochs::concat(&parts).unwrap();
    let rejection = epochs.reject_by_amplitude(1.5).unwrap();
    assert!(
        rejection.kept.len() < epochs.trials().len(),
        "the threshold rejects something here"
    );
    assert_eq!(prepared.rejection, rejection);
    let expected =
        Covariances::estimate(&epochs.select(&rejection.kept).unwrap(), Estimator::Sample).unwrap();
    assert_eq!(prepared.covariances, expected);
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
