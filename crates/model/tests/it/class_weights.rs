//! Weights of classes: the odds of two classes change by the ratio of their weights, for every
//! kind.

use crate::models::{of_domain, trials};
use serde_json::json;
use stiefel_model::kind::DataSizes;
use stiefel_model::train::Silent;
use stiefel_model::{FittedModel, ModelSpec};

#[test]
fn weights_change_the_odds_and_survive_a_file() {
    let known = of_domain(&trials(), 3, false);
    let sizes = DataSizes {
        channels: 7,
        domains: 3,
    };
    for name in ["choir", "mdm", "ts+lr"] {
        let spec = ModelSpec::named(name, &json!({}), sizes).unwrap();
        let plain = FittedModel::fit(&known, &known, &spec, &mut Silent).unwrap();
        let classes = plain.classes().len();
        let weights: Vec<f64> = (0..classes).map(|c| 10f64.powi(c as i32)).collect();
        let heavy = plain.clone().with_class_weights(weights.clone()).unwrap();
        let again = FittedModel::from_bytes(&heavy.to_bytes().unwrap()).unwrap();
        let before = plain.decide(&known, None).unwrap().probabilities;
        let after = heavy.decide(&known, None).unwrap().probabilities;
        assert_eq!(again.decide(&known, None).unwrap().probabilities, after);
        for (p, q) in (before.data().chunks_exact(classes)).zip(after.data().chunks_exact(classes))
        {
            assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for c in 1..classes {
                let odds = (q[c] / q[0]) / (p[c] / p[0]);
                assert!((odds / weights[c] - 1.0).abs() < 1e-9, "{name}: {odds}");
            }
        }
        // Weights alike are the probabilities as they were.
        let alike = plain
            .clone()
            .with_class_weights(vec![3.0; classes])
            .unwrap();
        let same = alike.decide(&known, None).unwrap().probabilities;
        let far = (same.data().iter().zip(before.data())).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f64::max) < 1e-15, "{name}");
        for wrong in [
            vec![1.0; classes + 1],
            vec![0.0; classes],
            vec![f64::NAN; classes],
        ] {
            assert!(plain.clone().with_class_weights(wrong).is_err());
        }
    }
}
