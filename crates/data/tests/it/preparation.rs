//! What must be the same for two sets of matrices to compare.

use stiefel_data::{Estimator, Phase, Preparation, Steps, View};

fn steps() -> Steps {
    Steps {
        views: vec![View {
            band: [10.0, 28.0],
            window: [0.0, 2.0],
        }],
        order: 4,
        phase: Phase::Zero,
        recorded_rate: 160.0,
        rate: 160.0,
        reference: "as recorded".into(),
        channels: vec!["C3".into(), "C4".into()],
        estimator: Estimator::Oas,
        rejection: Some(5.0),
        unit: "µV".into(),
        classes: vec![("T1".into(), "hands".into())],
        trialwise: false,
    }
}

#[test]
fn what_changes_a_matrix_contradicts_and_both_values_are_named() {
    let changed = |change: fn(&mut Steps)| {
        let mut other = steps();
        change(&mut other);
        steps().contradiction(&other)
    };
    let band = changed(|s| s.views[0].band = [8.0, 32.0]).unwrap();
    assert_eq!(band.what, "bands and windows");
    assert!(
        band.expected.contains("10–28 Hz") && band.found.contains("8–32 Hz"),
        "{band:?}"
    );
    assert!(changed(|s| s.phase = Phase::Causal).is_some());
    assert!(changed(|s| s.order = 2).is_some());
    assert!(changed(|s| s.rate = 250.0).is_some());
    assert!(changed(|s| s.estimator = Estimator::Sample).is_some());
    assert!(changed(|s| s.unit = "V".into()).is_some());
    // What only chooses trials does not.
    assert!(changed(|s| s.rejection = None).is_none());
    assert!(changed(|s| s.classes.clear()).is_none());
    assert!(changed(|s| s.recorded_rate = 1000.0).is_none());
}

#[test]
fn what_is_not_known_contradicts_nothing() {
    let made = Preparation::Made(Box::new(steps()));
    assert!(made.contradiction(&Preparation::Unknown).is_none());
    assert!(Preparation::Unknown.contradiction(&made).is_none());
}

#[test]
fn it_survives_a_file_and_reads_well() {
    let made = Preparation::Made(Box::new(steps()));
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(serde_json::from_str::<Preparation>(&text).unwrap(), made);
    assert_eq!(
        made.to_string(),
        "160 Hz, 10–28 Hz (zero-phase Butterworth, order 4), 0–2 s, oas covariance, trials above median + 5 MAD of their domain's peaks left \
         out (no label read)"
    );
}
