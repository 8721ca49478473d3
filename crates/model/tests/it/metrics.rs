//! Scores against scikit-learn, against their definitions, and under bad input.

use proptest::prelude::*;
use serde_json::Value;
use stiefel_model::metrics::{Confusion, Decisions, roc_auc};
use stiefel_model::{Factor, Measure, ModelError};

fn indices(v: &Value) -> Vec<usize> {
    let array = v.as_array().unwrap();
    array.iter().map(|x| x.as_u64().unwrap() as usize).collect()
}

#[test]
fn scikit_learn_agrees() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../fixtures/metrics.json")).unwrap();
    assert_eq!(cases.len(), 7);
    for case in &cases {
        let classes = case["classes"].as_u64().unwrap() as usize;
        let (truth, decided) = (indices(&case["truth"]), indices(&case["decided"]));
        let c = Confusion::new(&truth, &decided, classes).unwrap();
        let counts: Vec<usize> = (0..classes).flat_map(|r| c.row(r).to_vec()).collect();
        assert_eq!(counts, indices(&case["confusion"]));
        let close = |m: Measure, key: &str| {
            let gap = (m.value().unwrap() - case[key].as_f64().unwrap()).abs();
            assert!(gap < 1e-14, "{key}: {gap:e}");
        };
        close(c.balanced_accuracy(), "balanced_accuracy");
        close(c.kappa(), "kappa");
        if let Some(scores) = case["scores"].as_array() {
            let scores: Vec<f64> = scores.iter().map(|x| x.as_f64().unwrap()).collect();
            close(roc_auc(&truth, &scores).unwrap(), "roc_auc");
        }
    }
}

proptest! {
    #[test]
    fn auc_is_the_share_of_ordered_pairs(pairs in proptest::collection::vec((0_usize..2, 0_u8..6), 2..40)) {
        let truth: Vec<usize> = pairs.iter().map(|p| p.0).collect();
        let scores: Vec<f64> = pairs.iter().map(|p| f64::from(p.1) - 2.5).collect();
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, &a) in truth.iter().enumerate() {
            for (j, &b) in truth.iter().enumerate() {
                if (a, b) == (1, 0) {
                    count += 1.0;
                    sum += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                }
            }
        }
        match roc_auc(&truth, &scores).unwrap() {
            Measure::Value(auc) => prop_assert!((auc - sum / count).abs() < 1e-14),
            Measure::Undefined(_) => prop_assert_eq!(count, 0.0),
        }
    }
}

#[test]
fn infinite_scores_have_an_order_and_zero_has_one_sign() {
    let auc = roc_auc(
        &[0, 1, 1, 0],
        &[f64::NEG_INFINITY, f64::INFINITY, 0.0, -0.0],
    )
    .unwrap();
    assert_eq!(auc.value(), Some(0.875));
}

#[test]
fn what_does_not_exist_has_a_reason() {
    let none = Confusion::new(&[], &[], 2).unwrap();
    for m in [
        none.accuracy(),
        none.balanced_accuracy(),
        none.kappa(),
        none.recall(1),
    ] {
        assert!(m.reason().is_some());
    }
    // One class, always decided rightly: no agreement beyond chance to speak of.
    let one = Confusion::new(&[1, 1], &[1, 1], 2).unwrap();
    assert_eq!(one.balanced_accuracy(), Measure::Value(1.0));
    assert!(one.kappa().reason().unwrap().contains("only one class"));
    assert!(
        roc_auc(&[0, 2], &[0.0, 1.0])
            .unwrap()
            .reason()
            .unwrap()
            .contains("class 2")
    );
    let decisions = Decisions {
        truth: &[0, 1],
        decided: &[0, 1],
        values: None,
        classes: 2,
    };
    assert_eq!(
        decisions.scores().unwrap().roc_auc.reason(),
        Some("no decision values given")
    );
    let three = Decisions {
        classes: 3,
        values: Some(&[0.1, 0.2]),
        ..decisions
    };
    assert!(three.scores().unwrap().roc_auc.value().is_none());
    let json = serde_json::to_string(&decisions.scores().unwrap()).unwrap();
    assert!(
        json.contains(r#""roc_auc":{"value":null,"reason":"no decision values given"}"#),
        "{json}"
    );
}

#[test]
fn domains_are_scored_apart() {
    let domains = Factor::new(
        "domain",
        vec!["a".into(), "b".into(), "c".into()],
        vec![0, 2, 0, 2, 0],
    )
    .unwrap();
    let decisions = Decisions {
        truth: &[0, 0, 1, 1, 1],
        decided: &[0, 1, 1, 1, 0],
        values: Some(&[0.1, 0.9, 0.8, 0.7, 0.4]),
        classes: 2,
    };
    let table = decisions.per_domain(&domains).unwrap();
    assert_eq!(
        table
            .iter()
            .map(|t| (t.domain, t.name.as_str(), t.scores.trials))
            .collect::<Vec<_>>(),
        [(0, "a", 3), (2, "c", 2)]
    );
    assert_eq!(table[0].scores.balanced_accuracy, Measure::Value(0.75));
    assert_eq!(table[1].scores.balanced_accuracy, Measure::Value(0.5));
    assert_eq!(table[1].scores.roc_auc, Measure::Value(0.0));
}

#[test]
fn bad_input() {
    assert!(matches!(
        Confusion::new(&[0], &[0, 1], 2),
        Err(ModelError::Count { .. })
    ));
    assert!(matches!(
        Confusion::new(&[0, 2], &[0, 1], 2),
        Err(ModelError::IndexOutOfRange {
            trial: 1,
            index: 2,
            ..
        })
    ));
    assert!(Confusion::new(&[0, 1], &[0, 2], 2).is_err());
    assert!(matches!(
        roc_auc(&[0, 1], &[0.0, f64::NAN]),
        Err(ModelError::NotFinite { trial: 1, .. })
    ));
    assert!(roc_auc(&[0, 1], &[0.0]).is_err());
    let domains = Factor::from_labels(["a"]);
    let decisions = Decisions {
        truth: &[0, 1],
        decided: &[0, 1],
        values: Some(&[0.0]),
        classes: 2,
    };
    assert!(decisions.per_domain(&domains).is_err());
    assert!(
        decisions
            .per_domain(&Factor::from_labels(["a", "b"]))
            .is_err()
    );
    assert!(decisions.scores().is_err());
    assert!(serde_json::from_str::<Measure>(r#"{"value":null}"#).is_err());
    assert!(serde_json::from_str::<Measure>(r#"{"value":1.0,"reason":"x"}"#).is_err());
    assert_eq!(
        serde_json::from_str::<Measure>(r#"{"value":0.1}"#).unwrap(),
        Measure::Value(0.1)
    );
}
