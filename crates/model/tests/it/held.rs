//! What a fitted network holds and what it does not: no training data, means where they were asked
//! for.

use crate::models::{dasp, fit, spdnet, trials};
use crate::support::mixed_trials;
use stiefel_linalg::MatBatch;
use stiefel_model::net::{Anchor, Orthogonality, Retraction};
use stiefel_model::train::{Evaluation, Silent};
use stiefel_model::{Decided, FittedModel, ModelSpec};

/// Memory that stays allocated may exceed the file by this factor and this many bytes.
const SLACK: (f64, f64) = (1.1, 5e6);

#[test]
fn a_fitted_network_holds_no_training_data() {
    // What is allocated is counted on one thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.unwrap();
    for mut config in [
        dasp(Anchor::Dedicated, Retraction::Qr, true, true),
        spdnet(Orthogonality::Riemannian),
    ] {
        config.training.epochs = 1;
        let spec = ModelSpec::from(config);
        let fitted = || {
            let trials = mixed_trials(1, 480, 48, 3);
            // Far more than what may stay.
            assert!(8 * trials.covariances().data().len() > 8_000_000);
            FittedModel::fit(&trials, &trials, &spec, &mut Silent).unwrap()
        };
        let (held, size) = pool.install(|| {
            let mut model = None;
            let taken = allocation_counter::measure(|| model = Some(fitted()));
            (
                taken.bytes_current,
                model.unwrap().to_bytes().unwrap().len(),
            )
        });
        let most = SLACK.0 * size as f64 + SLACK.1;
        assert!(held as f64 <= most, "{held} bytes held, {size} in the file");
    }
}

#[test]
fn means_of_domains_differ_where_one_lacks_what_the_other_has() {
    let with = |frechet_means| {
        let config = dasp(Anchor::Dedicated, Retraction::Qr, true, true);
        fit::<f64>(
            &trials(),
            &stiefel_model::ModelConfig {
                frechet_means,
                ..config
            },
        )
    };
    let (without, all) = (with(false), with(true));
    assert_eq!(
        without.domain_means().tangent(),
        all.domain_means().tangent()
    );
    assert_ne!(without.domain_means(), all.domain_means());
    assert_eq!(without.domain_means(), with(false).domain_means());
    assert!(without.domain_means().riemannian().is_err());
}

#[test]
fn nothing_has_no_predictions() {
    let nothing = Evaluation {
        probabilities: MatBatch::default(),
        alpha: None,
        queries: None,
        cross_entropy: 0.0,
    };
    assert!(nothing.predictions().is_empty());
    let nothing = Decided {
        probabilities: MatBatch::default(),
        routing: None,
        queries: None,
        notes: Vec::new(),
    };
    assert!(nothing.classes().is_empty());
}
