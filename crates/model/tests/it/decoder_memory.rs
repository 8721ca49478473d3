//! A decision allocates nothing once the decoder is warm.

use crate::choir::{several, small, trial};
use crate::models;
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::choir::Choir;
use stiefel_model::decoder::{Decoder, Domain};
use stiefel_model::precondition::Adaptation;
use stiefel_model::{AdaptEmbedding, AdaptPolicy, FittedModel, ModelConfig};

fn decides_without_allocating<T: Scalar>(config: &ModelConfig) {
    let all = models::trials();
    let training = models::of_domain(&all, 3, false);
    let mut decoder = Decoder::new(models::fit::<T>(&training, config)).unwrap();
    let embedding = if decoder.model().parameters().get("embedding").is_some() {
        AdaptEmbedding::NearestTangent
    } else {
        AdaptEmbedding::InputOnly
    };
    let own = all.covariances();
    let unseen = AdaptPolicy {
        whitening: Adaptation::OwnMean { kappa: 10.0 },
        embedding,
    };
    let mut new = decoder.adapt_domain("new", own.view(), &unseen).unwrap();
    let x: MatBatch<f64> = own.select(&[0, 4, 8]);
    let mut decide = || {
        decoder.decide(x.matrix(1), Domain::Known(0)).unwrap();
        decoder.decide(x.matrix(2), Domain::Named("s1")).unwrap();
        let unseen = Domain::New(&mut new);
        decoder.decide(x.matrix(0), unseen).unwrap();
    };
    decide();
    let warm = allocation_counter::measure(|| (0..3).for_each(|_| decide()));
    assert_eq!(warm.count_total, 0, "{config:?}");
}

#[test]
fn nothing_is_allocated_after_the_first_decision() {
    for config in models::all() {
        decides_without_allocating::<f64>(&config);
        decides_without_allocating::<f32>(&config);
    }
}

/// CHOIR with views: somebody it knows, and somebody new whose mean stays as it is.
#[test]
fn choir_with_views_allocates_nothing_either() {
    let trials = several(3, 36, 3, 3);
    let model = FittedModel::from(Choir::fit(&trials, &small()).unwrap());
    let own = [trial(&trials, 4), trial(&trials, 5), trial(&trials, 6)];
    known_and_frozen(&model, "s1", &own);
}

/// CHOIR with one view likewise.
#[test]
fn choir_with_one_view_allocates_nothing_either() {
    let trials = models::trials();
    let model = Choir::fit(&trials, &small()).unwrap();
    let own = [4, 5, 6].map(|i| trials.covariances().matrix(i).to_vec());
    known_and_frozen(&FittedModel::from(model), "s1", &own);
}

fn known_and_frozen(model: &FittedModel, domain: &str, own: &[Vec<f64>]) {
    let causal = AdaptPolicy::from(Adaptation::Causal { kappa: 6.0 });
    let mut known = model.session(domain, None, &[]).unwrap();
    let mut new = model.session("new", Some(&causal), &[]).unwrap();
    for x in own {
        new.decide(x).unwrap();
    }
    new.freeze(true);
    let mut decide = || {
        for x in own {
            known.decide(x).unwrap();
            new.decide(x).unwrap();
        }
    };
    decide();
    let warm = allocation_counter::measure(|| (0..3).for_each(|_| decide()));
    assert_eq!(warm.count_total, 0);
}
