//! The fitted model: the same decisions whoever asks, whatever else is in the set, before and after
//! a file.

use crate::models::{all, dasp, fit, of_domain, spdnet, through_file, trials};
use crate::support::mixed_trials;
use serde_json::json;
use std::collections::BTreeMap;
use stiefel_data::{Estimator, Phase, Provenance, Recipe};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::diagnostics::report_of;
use stiefel_model::fitted::ClassType;
use stiefel_model::kind::DataSizes;
use stiefel_model::net::{Anchor, Orthogonality, Retraction, Routing};
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::{Flow, Observer, Silent, evaluate};
use stiefel_model::{
    AdaptEmbedding, AdaptPolicy, Architecture, ChoirConfig, Decided, Factor, FittedModel, Model,
    ModelConfig, ModelError, ModelSpec, NetworkSettings, Precision, Preparation, Trials,
};
use stiefel_testkit::assert_close;

fn routed() -> ModelConfig {
    dasp(Anchor::Dedicated, Retraction::Qr, true, true)
}

fn network(config: &ModelConfig, precision: Precision) -> ModelSpec {
    NetworkSettings::new(*config, precision).into()
}

fn choir(refit: bool) -> ModelSpec {
    let config = ChoirConfig {
        refit,
        ..ChoirConfig::default()
    };
    config.into()
}

fn peer(name: &str) -> ModelSpec {
    let sizes = DataSizes {
        channels: 7,
        domains: 3,
    };
    ModelSpec::named(name, &json!({}), sizes).unwrap()
}

/// One of each kind.
fn kinds() -> Vec<ModelSpec> {
    vec![
        network(&routed(), Precision::F64),
        network(&routed(), Precision::F32),
        network(&spdnet(Orthogonality::Riemannian), Precision::F64),
        choir(true),
        choir(false),
        peer("ts+lr"),
        peer("recentred-ts+lr"),
        peer("ts+lr-per-domain"),
        peer("recentred-mdm"),
    ]
}

/// Training, validation and test trials of the first three domains; the fourth has none.
fn parts() -> [Trials; 3] {
    let known = of_domain(&trials(), 3, false);
    let part = |rest: &[usize]| {
        let at: Vec<usize> = (0..known.len())
            .filter(|i| rest.contains(&((i / 3) % 5)))
            .collect();
        known.select(&at).unwrap()
    };
    [part(&[0, 1, 2]), part(&[3]), part(&[4])]
}

fn fitted(config: &ModelSpec) -> FittedModel {
    let [training, validation, _] = parts();
    FittedModel::fit(&training, &validation, config, &mut Silent).unwrap()
}

/// What stands in for a stranger's embedding in this model.
fn stranger(model: &FittedModel, whitening: Adaptation) -> AdaptPolicy {
    AdaptPolicy {
        whitening,
        embedding: if model.has_embedding() {
            AdaptEmbedding::Zero
        } else {
            AdaptEmbedding::InputOnly
        },
    }
}

fn known() -> Provenance {
    Provenance {
        recipe: Recipe {
            rate: Some(128.0),
            channels: Some((0..7).map(|c| format!("C{c}")).collect()),
            views: vec!["8-30@0.5-3.5".parse().unwrap()],
            reject: Some(0.1 + 0.2),
            classes: vec![("769".into(), "hand".into()), ("770".into(), "feet".into())],
            ..Recipe::default()
        },
        recorded_rate: 250.0,
        unit: "V".into(),
        ..Provenance::default()
    }
}

fn made(known: Provenance) -> Preparation {
    known.into()
}

fn row(decided: &Decided, i: usize) -> &[f64] {
    let classes = decided.probabilities.cols();
    &decided.probabilities.data()[i * classes..][..classes]
}

fn same_as_the_tape<T: Scalar>(config: &ModelConfig, tolerance: f64) {
    let [training, _, test] = parts();
    let model = FittedModel::from(fit::<T>(&training, config));
    let network = model.get::<Model<T>>().unwrap();
    for trials in [&training, &test] {
        let expected = network.evaluate(trials).unwrap();
        let decided = model.decide(trials, None).unwrap();
        let close = |name, a: &MatBatch<f64>, b: &MatBatch<f64>| {
            assert_eq!(a.shape(), b.shape(), "{name} {config:?}");
            let far = (a.data().iter().zip(b.data())).map(|(a, b)| (a - b).abs());
            let far = far.fold(0.0, f64::max);
            assert!(far <= tolerance, "{name} {config:?}: {far:e}");
        };
        close(
            "probabilities",
            &decided.probabilities,
            &expected.probabilities,
        );
        assert_eq!(decided.routing.is_some(), expected.alpha.is_some());
        if let (Some(a), Some(b)) = (&decided.routing, &expected.alpha) {
            close("routing", a, b);
        }
        assert_eq!(decided.queries.is_some(), expected.queries.is_some());
        if let (Some(a), Some(b)) = (&decided.queries, &expected.queries) {
            assert_close("queries", a.data(), b.data(), 10.0 * tolerance);
        }
        assert_eq!(decided.classes(), expected.predictions());
        assert!(decided.notes.is_empty());
    }
}

#[test]
fn decisions_are_those_of_the_tape() {
    for config in all().iter().step_by(3) {
        same_as_the_tape::<f64>(config, 1e-12);
        same_as_the_tape::<f32>(config, 1e-5);
    }
}

#[test]
fn a_decision_depends_on_its_trial_alone() {
    let all = trials();
    for config in kinds() {
        let model = fitted(&config);
        let unseen = stranger(&model, Adaptation::Pooled);
        let decided = |at: &[usize]| {
            // Kept: domains and classes get other numbers.
            let some = all.keep(at).unwrap();
            model.decide(&some, Some(&unseen)).unwrap()
        };
        let whole: Vec<usize> = (0..all.len()).collect();
        let expected = model.decide(&all, Some(&unseen)).unwrap();
        let orders: [Vec<usize>; 4] = [
            whole.iter().rev().copied().collect(),
            whole.iter().map(|i| (i * 7) % 60).collect(),
            vec![17],
            vec![5, 5, 22, 59, 3],
        ];
        for order in orders {
            let found = decided(&order);
            for (place, &i) in order.iter().enumerate() {
                assert_eq!(row(&found, place), row(&expected, i), "trial {i}");
            }
            for (found, expected) in [
                (&found.routing, &expected.routing),
                (&found.queries, &expected.queries),
            ] {
                let (Some(found), Some(expected)) = (found, expected) else {
                    continue;
                };
                for (place, &i) in order.iter().enumerate() {
                    for j in 0..expected.cols() {
                        assert_eq!(found.get(0, place, j), expected.get(0, i, j));
                    }
                }
            }
        }
        // Nothing is decided about nobody.
        let none = model.decide(&all.select(&[]).unwrap(), None).unwrap();
        assert_eq!(none.probabilities.shape(), (1, 0, 2));
        assert!(none.classes().is_empty());
    }
}

fn same_as_the_bare_report<T: Scalar>(config: &ModelConfig, tolerance: f64) {
    let [training, validation, test] = parts();
    let bare = Model::<T>::fit(&training, &validation, config, &mut Silent).unwrap();
    let prepare = |trials| bare.frontend().prepare::<T>(trials).unwrap();
    let (a, b) = (prepare(&training), prepare(&test));
    let evaluated = |data, routing: Routing<'_, f64>| {
        let given;
        let routing = match routing {
            Routing::Learnt => Routing::Learnt,
            Routing::Uniform => Routing::Uniform,
            Routing::HardTop1 => Routing::HardTop1,
            Routing::Given(weights) => {
                given = weights.cast();
                Routing::Given(&given)
            }
        };
        let found = evaluate(bare.network(), bare.parameters(), data, routing)?;
        Ok((found.probabilities, found.alpha))
    };
    let (_, weights) = evaluated(&a, Routing::Learnt).unwrap();
    let routed = weights.is_some();
    let mut means = BTreeMap::new();
    for d in training.domains().present() {
        let own: Vec<usize> = (0..a.len()).filter(|&i| a.domains()[i] == d).collect();
        if let Some(weights) = &weights {
            let sum = |j| own.iter().map(|&i| weights.get(0, i, j)).sum::<f64>();
            let mean = |j| sum(j) / own.len() as f64;
            means.insert(d, (0..weights.cols()).map(mean).collect());
        }
    }
    let labels = (b.labels(), b.domains());
    let expected = report_of(labels, &means, None, 7, |routing| evaluated(&b, routing)).unwrap();
    let (model, loaded) = through_file(bare);
    let report = model.report(&test, None, 7).unwrap();
    assert_eq!(report.scores.confusion, expected.scores.confusion);
    assert_eq!(
        report.scores.balanced_accuracy,
        expected.scores.balanced_accuracy
    );
    assert_eq!(report.proxy_accuracy, expected.proxy_accuracy);
    assert_eq!(report.proxy_gap, expected.proxy_gap);
    assert_eq!(report.controls, expected.controls);
    assert_eq!(report.diversity.is_some(), routed);
    assert_eq!(report.stats.is_some(), expected.stats.is_some());
    if let (Some(a), Some(b)) = (&report.stats, &expected.stats) {
        let numbers = |s: &stiefel_model::routing_stats::RoutingStats| {
            let mut numbers = s.mean_weights.clone();
            numbers.extend(s.entropy.value());
            numbers.extend(s.domain_alignment.value());
            numbers
        };
        assert_close("routing", &numbers(a), &numbers(b), tolerance);
    }
    assert_eq!(loaded.report(&test, None, 7).unwrap(), report);
    // The order of the names makes no difference to what does not draw lots.
    let order: Vec<usize> = (0..test.len()).rev().collect();
    let other = model.report(&test.keep(&order).unwrap(), None, 7).unwrap();
    assert_eq!(other.scores.roc_auc, report.scores.roc_auc);
    assert_eq!(other.proxy_gap, report.proxy_gap);
    let mean = |r: &stiefel_model::diagnostics::RoutingReport| {
        let controls = r.controls.as_ref();
        controls.map(|c| (c.domain_mean, c.hard_top1))
    };
    assert_eq!(mean(&other), mean(&report));
}

#[test]
fn the_report_is_that_of_the_bare_network() {
    for config in all().iter().skip(1).step_by(5) {
        same_as_the_bare_report::<f64>(config, 1e-10);
        same_as_the_bare_report::<f32>(config, 1e-4);
    }
}

#[test]
fn uniform_routing_has_no_gap_at_all() {
    let [training, _, test] = parts();
    let mut single = routed();
    if let Architecture::Dasp(config) = &mut single.architecture {
        config.experts = 1;
    }
    let one = FittedModel::from(fit::<f64>(&training, &single));
    // Keys that are all zero give every expert the same weight.
    let bytes = FittedModel::from(fit::<f64>(&training, &routed())).to_bytes();
    let keys = [0.0; 15];
    let level = crate::model_file::overwrite(&bytes.unwrap(), "parameter.keys", &keys);
    let level = FittedModel::from_bytes(&level).unwrap();
    for model in [one, level] {
        let report = model.report(&test, None, 3).unwrap();
        assert_eq!(report.proxy_gap.value(), Some(0.0));
        let controls = report.controls.unwrap();
        assert_eq!(Some(controls.permuted), report.proxy_accuracy.value());
    }
}

#[test]
fn everything_survives_a_file() {
    let [training, validation, test] = parts().map(|t| t.with_preparation(made(known())));
    let estimator = json!({
        "filters": 4, "unseen": null, "C": [0.1, 1e-300, 1.0 / 3.0],
        // Sixty-four zeros are what stands in the place of the checksum.
        "note": "0".repeat(64), "checksum": "\"checksum\":\"", "ü": "\u{1F9E0}\n\"",
    });
    for config in kinds() {
        let model = FittedModel::fit(&training, &validation, &config, &mut Silent).unwrap();
        let model = model.with_about(|about| {
            about.class_type = ClassType::Integer;
            about.method = Some("dasp".into());
            about.estimator = Some(estimator.clone());
        });
        let (model, loaded) = through_file(model);
        assert_eq!(
            loaded.decide(&test, None).unwrap(),
            model.decide(&test, None).unwrap()
        );
        assert_eq!(loaded.about(), model.about());
        assert_eq!(loaded.spec().unwrap(), config);
        assert_eq!(loaded.preparation(), &made(known()));
        assert_eq!(loaded.channels(), training.channels());
        assert_eq!(
            (loaded.classes(), loaded.domains()),
            (model.classes(), model.domains())
        );
        assert_eq!(loaded.known_domains(), ["s0", "s1", "s2"]);
        assert_eq!(loaded.about().class_type, ClassType::Integer);
        assert_eq!(loaded.about().estimator.as_ref(), Some(&estimator));
        let seen = &loaded.about().seen;
        let [trained, ..] = seen.divide(&training);
        assert_eq!(
            trained.len(),
            training.len(),
            "training trials are remembered"
        );
        assert!(loaded.validation().is_some());
        assert_eq!(loaded.validation(), model.validation());
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
        // A preparation that JSON cannot hold is noticed now, not when the file is read.
        let mut endless = known();
        endless.recipe.views[0].band[1] = f64::INFINITY;
        let model = loaded.with_about(|about| about.preparation = made(endless));
        assert!(model.to_bytes().is_err());
    }
}

/// How many trials are new, chose when to stop, and were trained on.
fn counts(model: &FittedModel, trials: &Trials) -> (usize, usize, usize) {
    let judged = model.judge(trials, None).unwrap();
    assert!(judged.remembers);
    let count = |part: &Option<stiefel_model::fitted::JudgedPart>| {
        part.as_ref().map_or(0, |part| {
            let domains = part.domains.iter().map(|d| d.scores.trials);
            assert_eq!(domains.sum::<usize>(), part.scores.trials);
            part.scores.trials
        })
    };
    let counts = (
        count(&judged.new),
        count(&judged.stopped),
        count(&judged.trained),
    );
    let [trained, stopped, new] = model.divide(trials).unwrap();
    assert_eq!(counts, (new.len(), stopped.len(), trained.len()));
    counts
}

/// The same trials as another file would have them: other names, numbers and order, and nothing
/// known of how they were made.
fn another_file(trials: &Trials, at: &[usize]) -> Trials {
    let some = trials.select(at).unwrap();
    let turned = |f: &Factor| {
        let names: Vec<String> = f.names().iter().rev().cloned().collect();
        let last = names.len() - 1;
        let indices = f.indices().iter().map(|i| last - i).collect();
        Factor::new("names", names, indices).unwrap()
    };
    let order: Vec<usize> = (0..7).rev().collect();
    let turned = Trials::new(
        some.covariances().clone(),
        turned(some.classes()),
        turned(some.domains()),
    );
    turned
        .unwrap()
        .with_channels(some.channels().unwrap().to_vec())
        .unwrap()
        .pick(&order)
        .unwrap()
}

#[test]
fn trials_it_has_seen_are_never_called_new() {
    let [training, validation, test] = parts();
    let joined = training.joined(&validation).unwrap().joined(&test).unwrap();
    for config in kinds() {
        let model = fitted(&config);
        let (a, b, c) = (training.len(), validation.len(), test.len());
        // What was fitted again with the validation trials has been trained on them.
        let refitted = config.kind().refits(config.settings());
        let expected = if refitted { (0, 0, b) } else { (0, b, 0) };
        let (_, loaded) = through_file(model.clone());
        for model in [&model, &loaded] {
            assert_eq!(counts(model, &training), (0, 0, a));
            assert_eq!(counts(model, &validation), expected);
            assert_eq!(counts(model, &test), (c, 0, 0));
            let every = (c, expected.1, a + expected.2);
            assert_eq!(counts(model, &joined), every);
            let backwards: Vec<usize> = (0..joined.len()).rev().collect();
            assert_eq!(counts(model, &another_file(&joined, &backwards)), every);
            let few = another_file(&training, &[8, 1, 20]);
            assert_eq!(counts(model, &few), (0, 0, 3));
        }
        // The new ones are scored as if they were alone, whatever the classes are numbered.
        let alone = model.judge(&test, None).unwrap().new.unwrap();
        let places: Vec<usize> = (0..joined.len()).rev().collect();
        let among = model.judge(&another_file(&joined, &places), None).unwrap();
        let new = among.new.as_ref().unwrap();
        assert_eq!(new.scores, alone.scores);
        let named = |part: &stiefel_model::fitted::JudgedPart| {
            let mut domains: Vec<_> = (part.domains.iter())
                .map(|d| (d.name.clone(), d.scores.clone()))
                .collect();
            domains.sort_by(|a, b| a.0.cmp(&b.0));
            domains
        };
        assert_eq!(named(new), named(&alone));
        let said = among.to_string();
        assert!(said.contains("9 trials that are new"), "{said}");
        assert!(said.contains("that it was trained on"), "{said}");
    }
    // A model that was put together by hand does not remember, and says so.
    let forgetful = FittedModel::from(fit::<f64>(&training, &routed()));
    let judged = forgetful.judge(&training, None).unwrap();
    assert!(!judged.remembers && judged.trained.is_none() && judged.new.is_some());
    assert!(judged.to_string().contains("does not say"), "{judged}");
}

#[test]
fn a_class_it_does_not_know_is_named() {
    let [_, _, test] = parts();
    let names = vec!["hand".to_owned(), "tongue".to_owned()];
    let classes = Factor::new("class", names, test.classes().indices().to_vec()).unwrap();
    let test = test.with_classes(classes).unwrap();
    let model = fitted(&choir(true));
    let error = model.judge(&test, None).unwrap_err().to_string();
    assert!(
        error.contains("tongue") && error.contains("hand, feet"),
        "{error}"
    );
    // Classes are not asked for where nothing is judged.
    assert!(model.decide(&test, None).is_ok());
}

#[test]
fn channels_are_put_right_or_refused() {
    let [.., test] = parts();
    let order = [3, 0, 6, 1, 5, 2, 4];
    let permuted = test.pick(&order).unwrap();
    let quiet = |trials: &Trials, suffix: &str| {
        let names = trials.channels().unwrap().iter();
        let names = names.map(|n| n.to_lowercase() + suffix).collect();
        trials.clone().with_channels(names).unwrap()
    };
    // More channels than the model takes.
    let x = test.covariances();
    let wide = MatBatch::from_fn(x.count(), 8, 8, |i, r, c| match (r, c) {
        (0, 0) => 5.0,
        (0, _) | (_, 0) => 0.0,
        _ => x.get(i, r - 1, c - 1),
    });
    let mut names = vec!["EOG".to_owned()];
    names.extend_from_slice(test.channels().unwrap());
    let wide = Trials::new(wide, test.classes().clone(), test.domains().clone());
    let wide = wide.unwrap().with_channels(names).unwrap();
    for config in kinds() {
        let model = fitted(&config);
        let expected = model.decide(&test, None).unwrap();
        let report = model.report(&test, None, 1).unwrap();
        let patterns = model.pictures(&test, 2).unwrap();
        for trials in [&permuted, &quiet(&test, ""), &quiet(&permuted, ""), &wide] {
            assert_eq!(model.decide(trials, None).unwrap(), expected);
            assert_eq!(model.report(trials, None, 1).unwrap(), report);
            assert_eq!(model.pictures(trials, 2).unwrap(), patterns);
            assert_eq!(counts(&model, trials), (test.len(), 0, 0));
            let accepted = model.accept(trials).unwrap();
            assert_eq!(accepted.channels(), model.channels());
        }
        let missing = test.pick(&[0, 1, 2, 4, 5, 6]).unwrap();
        let error = model.decide(&missing, None).unwrap_err().to_string();
        assert!(
            error.contains("C3") && error.contains("C0, C1, C2, C4, C5, C6"),
            "{error}"
        );
        let error = model.accept(&quiet(&test, "'")).unwrap_err().to_string();
        assert!(error.contains("C0") && error.contains("c0'"), "{error}");
        // Without names only their number is known.
        let nameless = |x: MatBatch<f64>| {
            Trials::new(x, test.classes().clone(), test.domains().clone()).unwrap()
        };
        let same = model.decide(&nameless(x.clone()), None).unwrap();
        assert_eq!(same.probabilities, expected.probabilities);
        let small = MatBatch::identity(x.count(), 6);
        let error = model.decide(&nameless(small), None).unwrap_err();
        let found = matches!(
            error,
            ModelError::Channels {
                expected: 7,
                found: 6,
                ..
            }
        );
        assert!(found, "{error}");
        let views = test.clone().with_view(x.clone()).unwrap();
        let error = model.decide(&views, None).unwrap_err().to_string();
        assert!(error.contains("2 views"), "{error}");
    }
}

#[test]
fn other_preparations_are_refused_with_both_values() {
    let [training, validation, test] = parts().map(|t| t.with_preparation(made(known())));
    let model = FittedModel::fit(&training, &validation, &choir(true), &mut Silent).unwrap();
    let expected = model.decide(&test, None).unwrap();
    // Steps that change no matrix.
    let mut harmless = known();
    harmless.recipe.reject = None;
    harmless.recorded_rate = 1000.0;
    harmless.recipe.classes.clear();
    for preparation in [Preparation::Unknown, made(harmless)] {
        let test = test.clone().with_preparation(preparation);
        assert_eq!(model.decide(&test, None).unwrap(), expected);
    }
    let changed = |change: &dyn Fn(&mut Provenance)| {
        let mut other = known();
        change(&mut other);
        test.clone().with_preparation(made(other))
    };
    let cases: [(Trials, [&str; 2]); 7] = [
        (
            changed(&|s| s.recipe.views[0].band = [4.0, 38.0]),
            ["8–30 Hz", "4–38 Hz"],
        ),
        (
            changed(&|s| s.recipe.views[0].window = [0.0, 4.0]),
            ["0.5–3.5 s", "0–4 s"],
        ),
        (changed(&|s| s.recipe.order = 5), ["order 4", "order 5"]),
        (
            changed(&|s| s.recipe.phase = Phase::Causal),
            ["zero-phase", "causal"],
        ),
        (
            changed(&|s| s.recipe.rate = Some(250.0)),
            ["128 Hz", "250 Hz"],
        ),
        (
            changed(&|s| s.recipe.estimator = Estimator::Oas),
            ["sample", "oas"],
        ),
        (changed(&|s| s.unit = "µV".into()), ["V", "µV"]),
    ];
    for (trials, values) in cases {
        let errors = [
            model.accept(&trials).unwrap_err(),
            model.decide(&trials, None).unwrap_err(),
            model.judge(&trials, None).unwrap_err(),
            model.report(&trials, None, 1).unwrap_err(),
            model.pictures(&trials, 1).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, ModelError::Contradiction(_)), "{error}");
            for value in values {
                assert!(error.to_string().contains(value), "{value}: {error}");
            }
        }
    }
}

#[test]
fn a_new_domain_needs_a_policy() {
    let all = trials();
    // In the list of names without training trials, and in no list.
    let listed = of_domain(&all, 3, true);
    let one = vec![0; listed.len()];
    let nobody = Factor::new("domain", vec!["zz".into()], one).unwrap();
    let unlisted = listed.clone().with_domains(nobody).unwrap();
    for config in kinds() {
        let model = fitted(&config);
        for (trials, name) in [(&listed, "s3"), (&unlisted, "zz")] {
            let x = trials.covariances().view();
            let errors = [
                model.decide(trials, None).unwrap_err(),
                model.judge(trials, None).unwrap_err(),
                model.report(trials, None, 1).unwrap_err(),
                model.pictures(trials, 1).map(|_| ()).err().unwrap_or(
                    // A network without experts has no patterns to give.
                    ModelError::NewDomain {
                        name: name.into(),
                        known: "s0, s1, s2".into(),
                    },
                ),
                model.session(name, None, &[x]).map(|_| ()).unwrap_err(),
            ];
            for error in errors {
                let expected = ModelError::NewDomain {
                    name: name.into(),
                    known: "s0, s1, s2".into(),
                };
                assert_eq!(error, expected);
            }
            assert!(!model.knows(name));
            let unseen = stranger(&model, Adaptation::OwnMean { kappa: 10.0 });
            let decided = model.decide(trials, Some(&unseen)).unwrap();
            assert_eq!(decided.notes.len(), 1);
            assert!(decided.notes[0].starts_with(name), "{:?}", decided.notes);
            assert!(model.judge(trials, Some(&unseen)).unwrap().new.is_some());
        }
        // A policy makes no difference to a domain with training trials.
        let [.., test] = parts();
        let unseen = stranger(&model, Adaptation::Causal { kappa: 1.0 });
        assert_eq!(
            model.decide(&test, Some(&unseen)).unwrap(),
            model.decide(&test, None).unwrap()
        );
    }
}

#[test]
fn a_causal_session_remembers_what_it_decided() {
    let all = trials();
    let new = of_domain(&all, 3, true);
    let x = new.covariances();
    let none = MatBatch::zeros(0, 7, 7);
    for config in kinds() {
        let model = fitted(&config);
        let unseen = stranger(&model, Adaptation::Causal { kappa: 2.0 });
        let fresh = || model.session("s3", Some(&unseen), &[none.view()]).unwrap();
        let mut session = fresh();
        assert_eq!(session.domain(), "s3");
        assert_eq!(session.whitening(), Some(unseen.whitening));
        let expected = model.decide(&new, Some(&unseen)).unwrap();
        // Among the trials of others, in the same order, they are the same.
        let among = model.decide(&all, Some(&unseen)).unwrap();
        let places = all.of_domain(3);
        for i in 0..x.count() {
            let p = session.decide(x.matrix(i)).unwrap().probabilities.to_vec();
            assert_eq!(p, row(&expected, i), "trial {i}");
            assert_eq!(p, row(&among, places[i]), "trial {i}");
            let mut alone = fresh();
            let alone = alone.decide(x.matrix(i)).unwrap();
            assert_eq!(alone.probabilities == p, i == 0, "trial {i}");
        }
        // A refused trial changes nothing.
        let (mut a, mut b) = (fresh(), fresh());
        a.decide(x.matrix(0)).unwrap();
        b.decide(x.matrix(0)).unwrap();
        assert!(a.decide(&[f64::NAN; 49]).is_err());
        assert!(a.decide(&x.matrix(1)[1..]).is_err());
        let (a, b) = (a.decide(x.matrix(1)).unwrap(), b.decide(x.matrix(1)));
        assert_eq!(a, b.unwrap());
        // A session of a known domain has no state.
        let mut known = model.session("s0", None, &[]).unwrap();
        assert!(known.note().is_none() && known.whitening().is_none());
        let first = known.decide(x.matrix(0)).unwrap().probabilities.to_vec();
        known.decide(x.matrix(1)).unwrap();
        assert_eq!(known.decide(x.matrix(0)).unwrap().probabilities, first);
    }
}

#[test]
fn policies_that_contradict_each_other_are_refused() {
    let new = of_domain(&trials(), 3, true);
    let causal = Adaptation::Causal { kappa: 1.0 };
    let with = |whitening, embedding| AdaptPolicy {
        whitening,
        embedding,
    };
    let config = ModelConfig {
        frechet_means: true,
        ..routed()
    };
    let model = fitted(&network(&config, Precision::F64));
    for embedding in AdaptEmbedding::all() {
        let decided = model.decide(&new, Some(&with(causal, embedding)));
        let fits = matches!(embedding, AdaptEmbedding::Zero | AdaptEmbedding::Initial);
        assert_eq!(decided.is_ok(), fits, "{embedding}");
        let own = Adaptation::OwnMean { kappa: 10.0 };
        let decided = model.decide(&new, Some(&with(own, embedding)));
        let fits = embedding != AdaptEmbedding::InputOnly;
        assert_eq!(decided.is_ok(), fits, "{embedding}");
    }
    let error = model.decide(&new, Some(&with(causal, AdaptEmbedding::NearestTangent)));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("own-mean whitening"), "{error}");
    // CHOIR and a plain network have nothing to stand in for.
    let plain = network(&spdnet(Orthogonality::Riemannian), Precision::F32);
    for model in [fitted(&choir(true)), fitted(&plain)] {
        for embedding in AdaptEmbedding::all() {
            let decided = model.decide(&new, Some(&with(Adaptation::Pooled, embedding)));
            let fits = embedding == AdaptEmbedding::InputOnly;
            assert_eq!(decided.is_ok(), fits, "{embedding}");
        }
    }
}

#[test]
fn an_unusable_trial_is_named_by_its_place_in_the_set() {
    let [.., test] = parts();
    let mut x = test.covariances().clone();
    x.matrix_mut(7).fill(0.0);
    let flat = test.with_covariances(x).unwrap();
    for config in kinds() {
        let error = fitted(&config).decide(&flat, None).unwrap_err();
        let place = format!("trial {}", test.place(7));
        assert!(error.to_string().contains(&place), "{error}");
    }
}

#[test]
fn a_fit_starts_from_a_model_of_its_own_kind() {
    let [training, validation, _] = parts();
    let config = network(&routed(), Precision::F64);
    let start = fitted(&config);
    let from = |config: &ModelSpec, start: &FittedModel| {
        FittedModel::fit_from(&training, &validation, config, Some(start), &mut Silent)
    };
    let (a, b) = (
        from(&config, &start).unwrap(),
        from(&config, &start).unwrap(),
    );
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
    assert_ne!(a.to_bytes().unwrap(), start.to_bytes().unwrap());
    for other in [network(&routed(), Precision::F32), choir(true)] {
        let error = from(&other, &start).unwrap_err().to_string();
        assert!(error.contains("warm start"), "{error}");
        assert!(from(&config, &fitted(&other)).is_err());
    }
    // Two views at training.
    let views = (training.clone())
        .with_view(training.covariances().clone())
        .unwrap();
    assert!(FittedModel::fit(&views, &validation, &config, &mut Silent).is_err());
}

/// Stops after some steps.
struct Patience(usize);

impl Observer for Patience {
    fn step(&mut self, _: usize) -> Flow {
        match self.0.checked_sub(1) {
            None => Flow::Stop,
            Some(left) => {
                self.0 = left;
                Flow::Continue
            }
        }
    }
}

#[test]
fn a_fit_can_be_stopped() {
    let training = mixed_trials(31, 120, 7, 3);
    for steps in [0, 2] {
        let mut stop = Patience(steps);
        let stopped = FittedModel::fit(&training, &training, &choir(true), &mut stop);
        let error = stopped.unwrap_err();
        assert!(matches!(error, ModelError::Cancelled { .. }), "{error}");
    }
    let config = network(&routed(), Precision::F64);
    let stopped = FittedModel::fit(&training, &training, &config, &mut Patience(10)).unwrap();
    assert!(stopped.record().unwrap().cancelled);
    assert!(stopped.decide(&training, None).is_ok());
}

/// A matrix that cannot be is named by its place in the file, whichever part of a fold it fell
/// into.
#[test]
fn an_impossible_matrix_is_numbered_as_in_the_file() {
    let all = of_domain(&trials(), 3, false);
    let n = all.channels_count();
    let mut x = all.covariances().clone();
    for (i, value) in x.matrix_mut(20).iter_mut().enumerate() {
        *value *= if i % (n + 1) == 0 { 0.1 } else { 3.0 };
    }
    let damaged = all.with_covariances(x).unwrap();
    // The damaged one is the third of its part.
    let kept: Vec<usize> = (0..damaged.len()).filter(|i| *i > 17).collect();
    let part = damaged.select(&kept).unwrap();
    let mut specs = vec![choir(true), network(&routed(), Precision::F64)];
    specs.extend(["ts+lr", "mdm", "recentred-ts+lr"].map(peer));
    for spec in specs {
        let error = FittedModel::fit(&part, &part, &spec, &mut Silent).unwrap_err();
        let place = format!("trial {} ", all.place(20));
        assert!(error.to_string().contains(&place), "{spec:?}: {error}");
    }
}
