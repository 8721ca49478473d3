//! A few labelled trials of a person: what they change, and what they must not.

use crate::choir::{several, small};
use crate::models::through_file;
use stiefel_model::kind::DataSizes;
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::Silent;
use stiefel_model::{AdaptPolicy, Factor, FittedModel, ModelSpec, Trials};

fn model() -> (FittedModel, Trials) {
    let trials = several(3, 36, 3, 2);
    let config = small().into();
    let model = FittedModel::fit(&trials, &trials, &config, &mut Silent).unwrap();
    (model, trials)
}

/// Trials of somebody new.
fn anna(count: usize) -> Trials {
    let names = Factor::from_labels(vec!["anna"; count]);
    several(70, count, 1, 2).with_domains(names).unwrap()
}

fn part(trials: &Trials, from: usize, to: usize) -> Trials {
    trials.select(&(from..to).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_new_person_is_known_from_two_trials_on_and_nobody_else_changes() {
    let (model, trials) = model();
    let before = model.decide(&trials, None).unwrap();
    let anna = anna(20);
    assert!(model.decide(&anna, None).is_err());
    let met = model.calibrate(&part(&anna, 0, 2)).unwrap();
    assert!(met.knows("anna") && !model.knows("anna"));
    assert_eq!(met.decide(&trials, None).unwrap(), before);
    let unseen = AdaptPolicy::from(Adaptation::OwnMean { kappa: 10.0 });
    let bert = anna
        .clone()
        .with_domains(Factor::from_labels(vec!["bert"; 20]))
        .unwrap();
    let [a, b] = [&model, &met].map(|m| m.decide(&bert, Some(&unseen)).unwrap());
    assert_eq!(a, b);
    // Those that calibrated it count as seen.
    let judged = met.judge(&anna, None).unwrap();
    assert_eq!(judged.new.unwrap().scores.trials, 18);
}

#[test]
fn trials_one_after_the_other_are_trials_at_once() {
    let (model, _) = model();
    let anna = anna(12);
    let once = model.calibrate(&part(&anna, 0, 8)).unwrap();
    let twice = model
        .calibrate(&part(&anna, 0, 2))
        .unwrap()
        .calibrate(&part(&anna, 2, 8))
        .unwrap();
    let rest = part(&anna, 8, 12);
    assert_eq!(
        once.decide(&rest, None).unwrap(),
        twice.decide(&rest, None).unwrap()
    );
    assert_eq!(once.about(), twice.about());
}

#[test]
fn a_calibrated_model_survives_its_file_and_goes_on() {
    let (model, _) = model();
    let anna = anna(12);
    let met = model.calibrate(&part(&anna, 0, 4)).unwrap();
    let (met, again) = through_file(met);
    let rest = part(&anna, 4, 12);
    assert_eq!(
        met.decide(&rest, None).unwrap(),
        again.decide(&rest, None).unwrap()
    );
    let more = |m: &FittedModel| m.calibrate(&part(&anna, 4, 6)).unwrap();
    let last = part(&anna, 6, 12);
    assert_eq!(
        more(&met).decide(&last, None).unwrap(),
        more(&again).decide(&last, None).unwrap()
    );
}

#[test]
fn a_person_of_the_training_set_learns_from_more_trials() {
    let (model, trials) = model();
    let name = trials.domains().name(0).to_owned();
    let more = several(70, 10, 1, 2)
        .with_domains(Factor::from_labels(vec![name.as_str(); 10]))
        .unwrap();
    let met = model.calibrate(&more).unwrap();
    let others: Vec<usize> = (0..trials.len())
        .filter(|&i| trials.domains().indices()[i] != 0)
        .collect();
    let others = trials.select(&others).unwrap();
    assert_eq!(
        met.decide(&others, None).unwrap(),
        model.decide(&others, None).unwrap()
    );
    let own = trials.select(&trials.of_domain(0)).unwrap();
    assert_ne!(
        met.decide(&own, None).unwrap(),
        model.decide(&own, None).unwrap()
    );
    let count: usize = met.balance(&[&name])[0].counts.iter().map(|c| c.1).sum();
    assert_eq!(count, 22);
}

/// Where a policy is given, the mean of a calibrated person goes on; without one it stays.
#[test]
fn the_mean_of_a_calibrated_person_goes_on_where_asked() {
    let (model, _) = model();
    let anna = anna(20);
    let met = model.calibrate(&part(&anna, 0, 4)).unwrap();
    let rest = part(&anna, 4, 20);
    let fixed = met.decide(&rest, None).unwrap();
    assert!(
        fixed.notes[0].contains("the mean of its 4 labelled trials alone"),
        "{:?}",
        fixed.notes
    );
    for policy in [
        Adaptation::OwnMean { kappa: 10.0 },
        Adaptation::Causal { kappa: 10.0 },
    ] {
        let moved = met.decide(&rest, Some(&policy.into())).unwrap();
        assert_ne!(moved.probabilities, fixed.probabilities);
        assert!(
            moved.notes[0].contains("4 labelled trials"),
            "{:?}",
            moved.notes
        );
    }
    let pooled = met.decide(&rest, Some(&Adaptation::Pooled.into())).unwrap();
    assert_eq!(pooled, fixed);
}

/// Labelled trials are part of the mean: seen again among the trials at hand they do not count
/// twice.
#[test]
fn a_labelled_trial_counts_once_in_the_mean() {
    let (model, _) = model();
    let anna = anna(20);
    let met = model.calibrate(&part(&anna, 0, 4)).unwrap();
    for policy in [
        Adaptation::OwnMean { kappa: 10.0 },
        Adaptation::Causal { kappa: 10.0 },
    ] {
        let decide = |trials: &Trials| {
            let decided = met.decide(trials, Some(&policy.into())).unwrap();
            decided.probabilities.into_vec()
        };
        assert_eq!(decide(&anna)[8..], decide(&part(&anna, 4, 20)));
    }
}

#[test]
fn uneven_labels_are_said_and_weighted() {
    let (model, _) = model();
    let anna = anna(12);
    let hands: Vec<usize> = (0..12).filter(|i| i % 2 == 0).collect();
    let uneven: Vec<usize> = hands.iter().copied().chain([1]).collect();
    let met = model.calibrate(&anna.select(&uneven).unwrap()).unwrap();
    let balance = &met.balance(&["anna"])[0];
    assert!(balance.is_uneven());
    assert!(balance.to_string().contains("uneven"), "{balance}");
    assert!(!model.calibrate(&anna).unwrap().balance(&["anna"])[0].is_uneven());
}

#[test]
fn what_cannot_calibrate_is_refused() {
    let (model, trials) = model();
    let anna = anna(6);
    let said = |trials: &Trials| model.calibrate(trials).unwrap_err().to_string();
    assert!(said(&trials).contains("36 of the 36 trials"));
    assert!(said(&part(&anna, 0, 0)).contains("two labelled trials"));
    assert!(
        said(&part(&anna, 0, 1)).contains("all of"),
        "{}",
        said(&part(&anna, 0, 1))
    );
    let other = anna
        .clone()
        .with_classes(Factor::from_labels(vec![
            "tongue", "hand", "tongue", "hand", "tongue", "hand",
        ]))
        .unwrap();
    assert!(said(&other).contains("tongue"));
    assert!(said(&anna.pick_views(&[0]).unwrap()).contains("view"));
    let sizes = DataSizes {
        channels: 5,
        domains: 3,
    };
    let single = ModelSpec::named("mdm", &().into(), sizes).unwrap();
    let one = trials.pick_views(&[0]).unwrap();
    let single = FittedModel::fit(&one, &one, &single, &mut Silent).unwrap();
    let error = single
        .calibrate(&anna.pick_views(&[0]).unwrap())
        .unwrap_err();
    assert!(error.to_string().contains("such as choir"), "{error}");
}
