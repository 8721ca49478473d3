//! The verdict on routing: every branch of its rule, and what it must not claim.

use stiefel_model::diagnostics::{RoutedBy, RoutingEvidence, RoutingFigures, RoutingFinding};

fn figures(accuracy: f64, proxy: f64, permuted: f64, domain_mean: f64) -> RoutingFigures {
    RoutingFigures {
        accuracy,
        proxy,
        permuted,
        domain_mean: Some(domain_mean),
        hard_top1: None,
        retrained: None,
    }
}

/// Five folds with the same figures, on very many trials.
fn folds(figures: RoutingFigures) -> RoutingEvidence {
    RoutingEvidence {
        sets: vec![figures; 5],
        trials: vec![5000; 2],
        ..RoutingEvidence::default()
    }
}

#[track_caller]
fn check(evidence: &RoutingEvidence, expected: RoutingFinding, words: &[&str]) {
    let verdict = evidence.verdict();
    assert_eq!(verdict.finding, expected, "{verdict}");
    for word in words {
        assert!(verdict.to_string().contains(word), "{word}: {verdict}");
    }
}

#[test]
fn one_trial_of_37_tells_nothing() {
    // The figures of a validation set of 37 trials on which the program once saw routing "trial by
    // trial".
    let one = 1.0 / 37.0;
    let mut evidence = RoutingEvidence {
        sets: vec![figures(0.811, 0.811 - one, 0.811 - one, 0.811 - one)],
        trials: vec![18, 19],
        ..RoutingEvidence::default()
    };
    assert!((evidence.resolution() - 6.0 / 36.0).abs() < 1e-15);
    check(
        &evidence,
        RoutingFinding::CannotTell,
        &["37 trials cannot tell less than 0.167", "+0.027"],
    );
    // Nor do they tell that routing does not help.
    evidence.sets[0].permuted = 0.811;
    check(&evidence, RoutingFinding::CannotTell, &["uniform weights"]);
    evidence.sets[0].permuted -= one;
    // Trials that chose the epoch tell nothing, however many they are.
    evidence.trials = vec![18_000, 19_000];
    check(
        &evidence,
        RoutingFinding::ByTrial,
        &["trial by trial", "One set of trials is no proof"],
    );
    evidence.chosen = true;
    check(
        &evidence,
        RoutingFinding::CannotTell,
        &["chose its epoch", "held out"],
    );
}

#[test]
fn the_smallest_class_limits_what_can_be_told() {
    // One trial of a class of three is worth a sixth of the balanced accuracy.
    let mut evidence = folds(figures(0.8, 0.6, 0.6, 0.6));
    evidence.trials = vec![3, 997];
    check(
        &evidence,
        RoutingFinding::CannotTell,
        &["1000 trials cannot tell less than 1.000"],
    );
    // A class without any is not judged, and does not count.
    evidence.trials = vec![500, 500, 0];
    check(&evidence, RoutingFinding::ByTrial, &[]);
    evidence.trials = Vec::new();
    check(&evidence, RoutingFinding::CannotTell, &["0 trials"]);
}

#[test]
fn every_branch_of_the_rule() {
    use RoutingFinding as F;
    check(
        &RoutingEvidence::default(),
        F::Unrouted,
        &["does not route"],
    );
    let none = folds(figures(0.7, 0.71, 0.6, 0.6));
    check(&none, F::NoGain, &["0.710", "above 0.01 in 0 of 5 folds"]);
    assert!(!none.verdict().to_string().contains("could not be told"));
    let mut few = none;
    few.trials = vec![20; 2];
    check(
        &few,
        F::NoGain,
        &["A gain below 0.150 could not be told with these 40 trials"],
    );

    // Exactly 0.01 is not more than 0.01; 3 of 5 are 60 %.
    let mut mixed = folds(figures(0.75, 0.75, 0.5, 0.5));
    for (k, set) in mixed.sets.iter_mut().enumerate() {
        set.proxy -= [0.0, 0.2, 0.2, 0.01, 0.0][k];
    }
    check(&mixed, F::Inconsistent, &["2 of 5 folds"]);
    mixed.sets[0].proxy -= 0.02;
    check(&mixed, F::ByTrial, &["3 of 5 folds"]);

    let mut scratch = folds(figures(0.8, 0.6, 0.6, 0.6));
    scratch
        .sets
        .iter_mut()
        .for_each(|s| s.retrained = Some(0.795));
    check(
        &scratch,
        F::OneExpert,
        &["one expert trained from scratch score 0.795"],
    );
    check(
        &folds(figures(0.8, 0.6, 0.79, 0.6)),
        F::AnyWeights,
        &["weights of other trials score 0.790"],
    );
    check(
        &folds(figures(0.8, 0.6, 0.6, 0.8)),
        F::ByDomain,
        &["by the domain rather than by the trial"],
    );
    // The trial or the domain: a difference of five in 200 trials.
    let mut close = folds(figures(0.8, 0.6, 0.6, 0.775));
    close.trials = vec![100; 2];
    check(
        &close,
        F::CannotTell,
        &[
            "Routing is used",
            "follows the trial or the domain cannot be told",
        ],
    );
    // New people have no domain means.
    let mut new = folds(figures(0.8, 0.6, 0.6, 0.8));
    new.sets.iter_mut().for_each(|s| s.domain_mean = None);
    check(&new, F::CannotTell, &["no training trials"]);
}

#[test]
fn the_preset_is_judged_by_the_same_rule() {
    use RoutingFinding as F;
    let preset = |f: RoutingFigures| RoutingEvidence {
        routed_by: RoutedBy::Domain,
        ..folds(f)
    };
    check(
        &preset(figures(0.8, 0.7, 0.7, 0.8)),
        F::ByDomain,
        &["own weights are what helps"],
    );
    check(
        &preset(figures(0.8, 0.7, 0.8, 0.8)),
        F::AnyWeights,
        &["weights of other domains"],
    );
    check(&preset(figures(0.8, 0.8, 0.8, 0.8)), F::NoGain, &[]);
}

#[test]
fn evidence_is_read_from_json() {
    let text =
        r#"{"sets": [{"accuracy": 0.8, "proxy": 0.5, "permuted": 0.5}], "trials": [500, 500]}"#;
    let evidence: RoutingEvidence = serde_json::from_str(text).unwrap();
    let verdict = serde_json::to_value(evidence.verdict()).unwrap();
    assert_eq!(verdict["finding"], "cannot-tell");
    assert!(
        verdict["sentence"]
            .as_str()
            .unwrap()
            .contains("Routing is used")
    );
}
