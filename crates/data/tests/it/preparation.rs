//! What must be the same for two sets of matrices to compare.

use stiefel_data::{
    Elsewhere, Estimator, Factor, Phase, Preparation, Provenance, Recipe, Reference, Trials, View,
};
use stiefel_linalg::MatBatch;

fn made() -> Provenance {
    Provenance {
        recipe: Recipe {
            rate: Some(160.0),
            channels: Some(vec!["C3".into(), "C4".into()]),
            views: vec![View {
                band: [10.0, 28.0],
                window: [0.0, 2.0],
            }],
            estimator: Estimator::Oas,
            classes: vec![("T1".into(), "hands".into())],
            ..Recipe::default()
        },
        recorded_rate: 160.0,
        unit: "µV".into(),
        ..Provenance::default()
    }
}

#[test]
fn what_changes_a_matrix_contradicts_and_both_values_are_named() {
    let changed = |change: fn(&mut Provenance)| {
        let mut other = made();
        change(&mut other);
        Preparation::from(made()).contradiction(&other.into())
    };
    let band = changed(|s| s.recipe.views[0].band = [8.0, 32.0]).unwrap();
    assert_eq!(band.what, "bands and windows");
    assert!(
        band.expected.contains("10–28 Hz") && band.found.contains("8–32 Hz"),
        "{band:?}"
    );
    assert!(changed(|s| s.recipe.phase = Phase::Causal).is_some());
    assert!(changed(|s| s.recipe.order = 2).is_some());
    assert!(changed(|s| s.recipe.rate = Some(250.0)).is_some());
    assert!(changed(|s| s.recipe.estimator = Estimator::Sample).is_some());
    assert!(changed(|s| s.recipe.reference = Reference::Average).is_some());
    assert!(changed(|s| s.unit = "V".into()).is_some());
    // An array does not say its unit.
    assert!(changed(|s| s.unit.clear()).is_none());
    // What only chooses trials does not.
    assert!(changed(|s| s.recipe.reject = None).is_none());
    assert!(changed(|s| s.recipe.classes.clear()).is_none());
    assert!(changed(|s| s.recorded_rate = 1000.0).is_none());
}

#[test]
fn what_is_not_known_contradicts_nothing() {
    let made = Preparation::from(made());
    assert!(made.contradiction(&Preparation::Unknown).is_none());
    assert!(Preparation::Unknown.contradiction(&made).is_none());
}

#[test]
fn a_signal_filtered_elsewhere_is_compared_in_what_is_known_of_it() {
    let known = Preparation::from(made());
    let elsewhere = |change: fn(&mut Elsewhere)| {
        let mut made = Elsewhere {
            // A file of single precision, and the nearest sample to the end.
            view: View {
                band: [10.0, f64::from(28.000_001_f32)],
                window: [0.0, 2.0 - 1.0 / 160.0],
            },
            rate: 160.0,
            reference: Reference::AsRecorded.to_string(),
            estimator: Estimator::Oas,
            unit: "µV".into(),
        };
        change(&mut made);
        Preparation::Elsewhere(Box::new(made))
    };
    assert_eq!(known.contradiction(&elsewhere(|_| {})), None);
    assert!(
        elsewhere(|_| {}).known().is_none(),
        "order and phase are not known"
    );
    let told = |change| known.contradiction(&elsewhere(change)).unwrap();
    assert_eq!(
        told(|s| s.view.band = [1.0, 4.0]).found,
        "1–4 Hz, 0–1.99375 s"
    );
    assert_eq!(told(|s| s.view.window[1] = 2.1).what, "bands and windows");
    assert_eq!(told(|s| s.rate = 128.0).found, "128 Hz");
    assert_eq!(
        told(|s| s.estimator = Estimator::LedoitWolf).what,
        "estimator"
    );
    let reference = told(|s| s.reference = "custom".into());
    assert_eq!(
        (&*reference.expected, &*reference.found),
        ("as-recorded", "custom")
    );
    let text = serde_json::to_string(&elsewhere(|_| {})).unwrap();
    assert_eq!(
        serde_json::from_str::<Preparation>(&text).unwrap(),
        elsewhere(|_| {})
    );
}

#[test]
fn it_survives_a_file_and_reads_well() {
    let made = Preparation::from(made());
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(serde_json::from_str::<Preparation>(&text).unwrap(), made);
    assert_eq!(
        made.to_string(),
        "160 Hz, 10–28 Hz (zero-phase Butterworth, order 4), 0–2 s, oas covariance, trials above \
         median + 5 MAD of their domain's peaks left out (no label read)"
    );
}

#[test]
fn an_average_stays_that_of_the_channels_it_was_taken_over() {
    let mut made = made();
    made.recipe.reference = Reference::Average;
    let one = || Factor::from_labels(["a", "a"]);
    let trials = Trials::new(MatBatch::identity(2, 2), one(), one()).unwrap();
    let trials = trials
        .with_channels(vec!["C3".into(), "C4".into()])
        .unwrap();
    let trials = trials.with_preparation(made.into());
    let reference = |at: &[usize]| {
        let part = trials.pick(at).unwrap();
        part.preparation().recipe().unwrap().reference.clone()
    };
    let both = vec!["C3".to_owned(), "C4".to_owned()];
    assert_eq!(reference(&[1]), Reference::Channels(both));
    assert_eq!(reference(&[1, 0]), Reference::Average);
}

#[test]
fn a_recipe_refuses_what_has_no_meaning_and_survives_a_file() {
    let bad = |change: fn(&mut Recipe)| {
        let mut recipe = Recipe::default();
        change(&mut recipe);
        recipe.check().unwrap_err().to_string()
    };
    assert!(bad(|r| r.views[0].band = [32.0, 8.0]).contains("32–8 Hz"));
    assert!(bad(|r| r.views.push(r.views[0])).contains("twice"));
    assert!(bad(|r| r.views.clear()).contains("no view"));
    assert!(bad(|r| r.rate = Some(0.0)).contains("0 Hz"));
    assert!(bad(|r| r.reject = Some(f64::NAN)).contains("NaN"));
    let recipe = Recipe {
        reject: None,
        views: vec!["8-32@-1.5--0.5".parse().unwrap()],
        classes: vec![("a=b".into(), "c".into())],
        ..Recipe::default()
    };
    let text = serde_json::to_string(&recipe).unwrap();
    assert_eq!(
        serde_json::from_str::<Recipe>(&text).unwrap(),
        recipe,
        "{text}"
    );
    assert!(serde_json::from_str::<Recipe>("{\"view\":[]}").is_err());
}
