//! Peers against scikit-learn and pyRiemann, and against what they must not depend on.

use crate::models::through_file;
use serde_json::Value;
use stiefel_data::split::Fold;
use stiefel_linalg::MatBatch;
use stiefel_model::kind::DataSizes;
use stiefel_model::precondition::Adaptation;
use stiefel_model::registry::KINDS;
use stiefel_model::train::Silent;
use stiefel_model::{
    AdaptPolicy, Factor, FittedModel, ModelError, ModelSpec, Preconditioning, Trials,
    tangent_vectors,
};

/// A stored comparison.
pub(crate) struct Case {
    pub(crate) classes: usize,
    pub(crate) trials: Trials,
    pub(crate) fold: Fold,
    /// Per C of the grid, the test trials one after the other.
    pub(crate) decisions: Vec<Vec<f64>>,
    peers: Value,
}

fn flat(v: &Value) -> Vec<f64> {
    match v.as_array() {
        Some(values) => values.iter().flat_map(flat).collect(),
        None => vec![v.as_f64().unwrap()],
    }
}

fn indices(v: &Value) -> Vec<usize> {
    flat(v).iter().map(|&x| x as usize).collect()
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{prefix}{k}")).collect()
}

pub(crate) fn cases() -> Vec<Case> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../fixtures/peers.json")).unwrap();
    assert_eq!(all.len(), 4);
    all.iter().map(case).collect()
}

fn case(v: &Value) -> Case {
    let classes = v["classes"].as_u64().unwrap() as usize;
    let upper = flat(&v["upper"]);
    let (count, n) = (upper.len() / 36, 8);
    // Row-major upper triangle: row r starts after the r rows of n, n − 1, … entries above it.
    let at = |r: usize, c: usize| r * n - r * (r + 1) / 2 + c;
    let x = MatBatch::from_fn(count, n, n, |i, r, c| {
        upper[i * 36 + at(r.min(c), r.max(c))]
    });
    let labels = Factor::new("class", names("c", classes), indices(&v["labels"])).unwrap();
    let domains = Factor::new("domain", names("s", 3), indices(&v["domains"])).unwrap();
    Case {
        classes,
        trials: Trials::new(x, labels, domains).unwrap(),
        fold: Fold {
            train: indices(&v["fold"]["train"]),
            validation: indices(&v["fold"]["validation"]),
            test: indices(&v["fold"]["test"]),
        },
        decisions: v["decisions"]
            .as_array()
            .unwrap()
            .iter()
            .map(flat)
            .collect(),
        peers: v["peers"].clone(),
    }
}

pub(crate) fn preconditioning() -> Preconditioning {
    Preconditioning {
        unseen: Some(Adaptation::Pooled),
        ..Preconditioning::default()
    }
}

/// Tangent vectors of training and test trials, as `ts+lr` sees them, and the training classes.
pub(crate) fn whitened_rows(case: &Case) -> (Vec<f64>, Vec<usize>, Vec<f64>) {
    let training = case.trials.select(&case.fold.train).unwrap();
    let test = case.trials.select(&case.fold.test).unwrap();
    let whitener = preconditioning().fit(&training).unwrap();
    let test = if whitener.trial_count(test.domains().indices()[0]) > 0 {
        whitener.transform(&test).unwrap()
    } else {
        whitener.transform_new(&test, Adaptation::Pooled).unwrap()
    };
    let rows = |t: &Trials| tangent_vectors::<f64>(t).unwrap().into_vec();
    let labels = training.classes().indices().to_vec();
    (
        rows(&whitener.transform(&training).unwrap()),
        labels,
        rows(&test),
    )
}

/// All peers.
pub(crate) fn all() -> Vec<&'static str> {
    let peers = KINDS.iter().filter(|k| k.is_peer());
    peers.map(|k| k.name()).collect()
}

/// What a peer decides, and what it says.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) probabilities: Vec<f64>,
    pub(crate) decided: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn fitted(
    peer: &str,
    train: &Trials,
    validation: &Trials,
    preconditioning: &Preconditioning,
) -> Result<FittedModel, ModelError> {
    let sizes = DataSizes {
        channels: train.channels_count(),
        domains: 3,
    };
    let given = serde_json::json!({ "preconditioning": preconditioning });
    let spec = ModelSpec::named(peer, &given, sizes)?;
    FittedModel::fit(train, validation, &spec, &mut Silent)
}

pub(crate) fn decided(
    model: &FittedModel,
    test: &Trials,
    unseen: Option<Adaptation>,
) -> Result<Outcome, ModelError> {
    let found = model.decide(test, unseen.map(AdaptPolicy::from).as_ref())?;
    let mut notes = model.model().choices();
    notes.extend(found.notes.iter().cloned());
    Ok(Outcome {
        decided: found.classes(),
        probabilities: found.probabilities.into_vec(),
        notes,
    })
}

pub(crate) fn run(peer: &str, trials: &Trials, fold: &Fold) -> Outcome {
    let part = |indices: &[usize]| trials.select(indices).unwrap();
    let (train, validation) = (part(&fold.train), part(&fold.validation));
    let model = fitted(peer, &train, &validation, &preconditioning()).unwrap();
    decided(&model, &part(&fold.test), Some(Adaptation::Pooled)).unwrap()
}

#[test]
fn scikit_learn_and_pyriemann_agree() {
    for (k, case) in cases().iter().enumerate() {
        for peer in all() {
            let found = run(peer, &case.trials, &case.fold);
            // All views of a trial that has one are that one.
            let expected = &case.peers[peer.trim_start_matches("fb-")];
            assert_eq!(
                found.decided,
                indices(&expected["decided"]),
                "case {k}, {peer}"
            );
            let probabilities = flat(&expected["probabilities"]);
            assert_eq!(found.probabilities.len(), probabilities.len());
            let gap = found.probabilities.iter().zip(&probabilities);
            let gap = gap.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-8, "case {k}, {peer}: {gap:e}");
        }
    }
}

#[test]
fn notes_say_what_was_chosen_and_how_unseen_domains_are_whitened() {
    let cases = cases();
    let found = run("ts+lr", &cases[1].trials, &cases[1].fold);
    let c = cases[1].peers["ts+lr"]["c"].as_f64().unwrap();
    assert!(found.notes[0].starts_with(&format!("C = {c}, chosen on validation")));
    let found = run("ts+lr-per-domain", &cases[1].trials, &cases[1].fold);
    let c = cases[1].peers["ts+lr-per-domain"]["c"].as_f64().unwrap();
    let expected = format!("One regression per domain, C = {c} for all");
    assert!(found.notes[0].starts_with(&expected), "{:?}", found.notes);

    // Domain s2 is held out in the third case.
    let found = run("ts+lr-per-domain", &cases[2].trials, &cases[2].fold);
    let has = |text: &str| found.notes.iter().any(|n| n.contains(text));
    assert!(has("s2: whitened pooled"), "{:?}", found.notes);
    assert!(
        has("decided by the pooled regression, because a class has no training trials"),
        "{:?}",
        found.notes
    );
    // Raw covariances need no policy.
    assert!(
        run("mdm", &cases[2].trials, &cases[2].fold)
            .notes
            .is_empty()
    );
}

#[test]
fn a_domain_that_lacks_a_class_or_validation_falls_back() {
    let case = &cases()[0];
    let (labels, domains) = (
        case.trials.classes().indices(),
        case.trials.domains().indices(),
    );
    let pooled = |fold: &Fold| run("ts+lr", &case.trials, fold);
    let keep = |part: &[usize], drop: &dyn Fn(usize) -> bool| -> Vec<usize> {
        part.iter().copied().filter(|&i| !drop(i)).collect()
    };

    let mut fold = case.fold.clone();
    fold.train = keep(&fold.train, &|i| domains[i] == 1 && labels[i] == 0);
    let found = run("ts+lr-per-domain", &case.trials, &fold);
    let everyone = pooled(&fold);
    for (k, &i) in fold.test.iter().enumerate() {
        let same = found.probabilities[2 * k] == everyone.probabilities[2 * k];
        assert_eq!(same, domains[i] == 1, "test trial {k}");
    }
    assert!(
        found
            .notes
            .last()
            .unwrap()
            .starts_with("s1: decided by the pooled"),
        "{:?}",
        found.notes
    );

    // A domain without validation trials takes the C that the others chose.
    let mut fold = case.fold.clone();
    fold.validation = keep(&fold.validation, &|i| domains[i] == 2);
    let found = run("ts+lr-per-domain", &case.trials, &fold);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
}

#[test]
fn a_class_without_training_trials_has_probability_zero() {
    let case = &cases()[1];
    let labels = case.trials.classes().indices();
    let mut fold = case.fold.clone();
    fold.train.retain(|&i| labels[i] != 1);
    for peer in all() {
        let found = run(peer, &case.trials, &fold);
        assert!(found.decided.iter().all(|&c| c != 1));
        for row in found.probabilities.chunks(3) {
            assert!(row[1] == 0.0 && (row[0] + row[2] - 1.0).abs() < 1e-12);
        }
        assert!(
            found
                .notes
                .iter()
                .any(|n| n.contains("no training trials: c1")),
            "{:?}",
            found.notes
        );
    }
}

#[test]
fn test_classes_and_other_test_trials_change_nothing() {
    for case in &cases()[..3] {
        let part = |indices: &[usize]| case.trials.select(indices).unwrap();
        let (train, validation) = (part(&case.fold.train), part(&case.fold.validation));
        let first = part(&case.fold.test[..5]);
        let other = (first
            .classes()
            .indices()
            .iter()
            .map(|c| (c + 1) % case.classes))
        .collect();
        let other = Factor::new("class", first.classes().names().to_vec(), other).unwrap();
        let first = Trials::new(first.covariances().clone(), other, first.domains().clone());
        for peer in all() {
            let all = run(peer, &case.trials, &case.fold);
            let model = fitted(peer, &train, &validation, &preconditioning()).unwrap();
            let first = first.as_ref().unwrap();
            let few = decided(&model, first, Some(Adaptation::Pooled)).unwrap();
            assert_eq!(few.decided, all.decided[..5]);
            assert_eq!(few.probabilities, all.probabilities[..5 * case.classes]);
        }
    }
}

#[test]
fn means_to_recentre_by_are_those_of_training_trials() {
    let case = &cases()[0];
    // A validation trial far from everything: no mean moves, so no recentred distance does.
    let mut x = case.trials.covariances().clone();
    x.matrix_mut(case.fold.validation[0])
        .iter_mut()
        .for_each(|v| *v *= 1e4);
    let changed = case.trials.with_covariances(x).unwrap();
    for peer in ["mdm", "recentred-mdm"] {
        assert_eq!(
            run(peer, &case.trials, &case.fold),
            run(peer, &changed, &case.fold)
        );
    }
}

#[test]
fn own_mean_of_an_unseen_domain_is_a_policy() {
    let case = &cases()[2];
    let part = |indices: &[usize]| case.trials.select(indices).unwrap();
    let (train, validation) = (part(&case.fold.train), part(&case.fold.validation));
    let test = part(&case.fold.test);
    for policy in [
        Adaptation::OwnMean { kappa: 10.0 },
        Adaptation::Causal { kappa: 10.0 },
    ] {
        for peer in ["ts+lr", "recentred-ts+lr", "recentred-mdm"] {
            let model = fitted(peer, &train, &validation, &preconditioning()).unwrap();
            let found = decided(&model, &test, Some(policy)).unwrap();
            assert!(found.notes.iter().any(|n| n.contains(&policy.to_string())));
            assert_ne!(
                found.probabilities,
                run(peer, &case.trials, &case.fold).probabilities
            );
        }
    }
}

#[test]
fn domains_are_found_by_name_and_new_ones_take_the_policy() {
    let case = &cases()[0];
    let part = |indices: &[usize]| case.trials.select(indices).unwrap();
    let (train, validation) = (part(&case.fold.train), part(&case.fold.validation));
    let test = part(&case.fold.test);
    let named = |name: &dyn Fn(usize) -> String| {
        let own = test.domains().indices().iter();
        // Numbered in the order in which they come, with names of other classes too: only domains
        // are read.
        let domains = Factor::from_labels(own.rev().map(|&d| name(d)));
        let at: Vec<usize> = (0..test.len()).rev().collect();
        let x = test.covariances().select(&at);
        Trials::new(x, Factor::from_labels(vec!["?"; test.len()]), domains).unwrap()
    };
    for peer in all() {
        let model = fitted(peer, &train, &validation, &preconditioning()).unwrap();
        let pooled = Some(Adaptation::Pooled);
        let expected = decided(&model, &test, pooled).unwrap();
        let mut found = decided(&model, &named(&|d| format!("s{d}")), pooled).unwrap();
        found.decided.reverse();
        assert_eq!(found.decided, expected.decided, "{peer}");
        assert_eq!(found.notes, expected.notes, "{peer}");
        let names = (
            model.name(),
            model.classes(),
            model.domains().len(),
            model.channels(),
        );
        assert_eq!(names, (peer, case.trials.classes().names(), 3, None));

        let found = decided(&model, &named(&|d| format!("new{d}")), pooled).unwrap();
        let said = |name: &str| {
            let note = format!("{name}: whitened pooled");
            found.notes.iter().any(|n| n.starts_with(&note))
        };
        let adapts = model.model().kind().adapts();
        for name in ["new0", "new1", "new2"] {
            assert_eq!(said(name), adapts, "{peer}: {:?}", found.notes);
        }
    }
}

/// `cargo test -p stiefel-model --test it -- --ignored --nocapture seconds`
#[test]
#[ignore = "a measurement, not a check"]
fn seconds_of_every_peer() {
    // 20 domains of 85 trials with 64 channels, two thirds of them for training.
    let x = stiefel_testkit::random_spd(1, 1700, 64);
    let classes = Factor::from_labels((0..1700).map(|i| ["a", "b"][i % 2]));
    let domains = Factor::from_labels((0..1700).map(|i| format!("s{}", i / 85)));
    let trials = Trials::new(x, classes, domains).unwrap();
    let part = |k: usize| (0..1700).filter(|i| i / 2 % 6 == k).collect::<Vec<_>>();
    let fold = Fold {
        train: (0..4).flat_map(part).collect(),
        validation: part(4),
        test: part(5),
    };
    for peer in all() {
        let start = std::time::Instant::now();
        run(peer, &trials, &fold);
        println!("{peer}: {:?}", start.elapsed());
    }
}

#[test]
fn a_few_labelled_trials_move_a_regression() {
    let case = &cases()[2];
    let part = |indices: &[usize]| case.trials.select(indices).unwrap();
    let (train, validation) = (part(&case.fold.train), part(&case.fold.validation));
    let test = part(&case.fold.test);
    let labels = test.classes().indices();
    let first = |class| labels.iter().position(|&c| c == class).unwrap();
    let known = [first(0), first(1)];
    let rest: Vec<usize> = (0..test.len()).filter(|i| !known.contains(i)).collect();
    let (few, rest) = (test.select(&known).unwrap(), test.select(&rest).unwrap());
    let own = Some(Adaptation::OwnMean { kappa: 10.0 });
    for peer in ["ts+lr", "recentred-ts+lr", "fb-recentred-ts+lr"] {
        let model = fitted(peer, &train, &validation, &preconditioning()).unwrap();
        let met = model.calibrate(&few).unwrap();
        assert!(!model.knows("s2") && met.knows("s2") && met.is_calibrated("s2"));
        let (before, after) = (decided(&model, &test, own), decided(&met, &rest, own));
        assert!(
            after
                .unwrap()
                .notes
                .iter()
                .any(|n| n.contains("moved by 2 labelled"))
        );
        assert!(before.is_ok());
        // Without a policy the mean is that of the labelled trials, drawn towards the others.
        let settled = decided(&met, &rest, None).unwrap();
        let (a, b) = (through_file(met.clone()), settled);
        assert_eq!(decided(&a.1, &rest, None).unwrap(), b);
        // Everybody else is decided as before, to the bit.
        let known = (
            decided(&model, &train, None).unwrap().probabilities,
            decided(&met, &train, None).unwrap().probabilities,
        );
        assert_eq!(known.0, known.1);
        // A trial counts once, and one class says nothing.
        assert!(met.calibrate(&few).is_err());
        let one = test.select(&known_of(labels, 0)).unwrap();
        assert!(model.calibrate(&one).is_err());
    }
    let mdm = fitted("mdm", &train, &validation, &preconditioning()).unwrap();
    assert!(mdm.calibrate(&few).is_err());
}

fn known_of(labels: &[usize], class: usize) -> Vec<usize> {
    (0..labels.len())
        .filter(|&i| labels[i] == class)
        .take(3)
        .collect()
}
