//! Peers against scikit-learn and pyRiemann, and against what they must not depend on.

use serde_json::Value;
use stiefel_data::split::Fold;
use stiefel_linalg::MatBatch;
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::{Factor, Preconditioning, Trials, tangent_vectors};
use stiefel_study::peers::{Peer, PeerOutcome};

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
        unseen: Some(UnseenPolicy::Pooled),
        ..Preconditioning::default()
    }
}

/// Tangent vectors of training and test trials, as `ts+lr` sees them, and the training classes.
pub(crate) fn whitened_rows(case: &Case) -> (Vec<f64>, Vec<usize>, Vec<f64>) {
    let training = case.trials.select(&case.fold.train).unwrap();
    let test = case.trials.select(&case.fold.test).unwrap();
    let whitener = preconditioning().fit(&training).unwrap();
    let test = if whitener.trials_of(test.domains().indices()[0]) > 0 {
        whitener.transform(&test).unwrap()
    } else {
        whitener
            .transform_unseen(&test, UnseenPolicy::Pooled)
            .unwrap()
    };
    let rows = |t: &Trials| tangent_vectors::<f64>(t).unwrap().into_vec();
    let labels = training.classes().indices().to_vec();
    (
        rows(&whitener.transform(&training).unwrap()),
        labels,
        rows(&test),
    )
}

pub(crate) fn run(peer: Peer, trials: &Trials, fold: &Fold) -> PeerOutcome {
    let part = |indices: &[usize]| trials.select(indices).unwrap();
    let (train, validation) = (part(&fold.train), part(&fold.validation));
    let fitted = peer.fit(&train, &validation, &preconditioning());
    fitted.unwrap().decide(&part(&fold.test)).unwrap()
}

#[test]
fn scikit_learn_and_pyriemann_agree() {
    for (k, case) in cases().iter().enumerate() {
        for peer in Peer::ALL {
            let found = run(peer, &case.trials, &case.fold);
            // All views of a trial that has one are that one.
            let expected = &case.peers[peer.name().trim_start_matches("fb-")];
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
    let found = run(Peer::TangentLrPooled, &cases[1].trials, &cases[1].fold);
    let c = cases[1].peers["ts+lr"]["c"].as_f64().unwrap();
    assert!(found.notes[0].starts_with(&format!("C = {c}, chosen on validation")));
    let found = run(Peer::TangentLrPerDomain, &cases[1].trials, &cases[1].fold);
    let c = cases[1].peers["ts+lr-per-domain"]["c"].as_f64().unwrap();
    let expected = format!("One regression per domain, C = {c} for all");
    assert!(found.notes[0].starts_with(&expected), "{:?}", found.notes);

    // Domain s2 is held out in the third case.
    let found = run(Peer::TangentLrPerDomain, &cases[2].trials, &cases[2].fold);
    let has = |text: &str| found.notes.iter().any(|n| n.contains(text));
    assert!(
        has("without training trials (s2): pooled"),
        "{:?}",
        found.notes
    );
    assert!(
        has("pooled regression, because a class has no training trials: s2"),
        "{:?}",
        found.notes
    );
    // Raw covariances need no policy.
    assert!(
        run(Peer::Mdm, &cases[2].trials, &cases[2].fold)
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
    let pooled = |fold: &Fold| run(Peer::TangentLrPooled, &case.trials, fold);
    let keep = |part: &[usize], drop: &dyn Fn(usize) -> bool| -> Vec<usize> {
        part.iter().copied().filter(|&i| !drop(i)).collect()
    };

    let mut fold = case.fold.clone();
    fold.train = keep(&fold.train, &|i| domains[i] == 1 && labels[i] == 0);
    let found = run(Peer::TangentLrPerDomain, &case.trials, &fold);
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
            .ends_with("training trials: s1."),
        "{:?}",
        found.notes
    );

    // A domain without validation trials takes the C that the others chose.
    let mut fold = case.fold.clone();
    fold.validation = keep(&fold.validation, &|i| domains[i] == 2);
    let found = run(Peer::TangentLrPerDomain, &case.trials, &fold);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
}

#[test]
fn a_class_without_training_trials_has_probability_zero() {
    let case = &cases()[1];
    let labels = case.trials.classes().indices();
    let mut fold = case.fold.clone();
    fold.train.retain(|&i| labels[i] != 1);
    for peer in Peer::ALL {
        let found = run(peer, &case.trials, &fold);
        assert!(found.decided.iter().all(|&c| c != 1));
        for row in found.probabilities.chunks(3) {
            assert!(row[1] == 0.0 && (row[0] + row[2] - 1.0).abs() < 1e-12);
        }
        assert!(
            found.notes[0].contains("no training trials: c1"),
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
        for peer in Peer::ALL {
            let all = run(peer, &case.trials, &case.fold);
            let fitted = peer.fit(&train, &validation, &preconditioning());
            let few = fitted.unwrap().decide(first.as_ref().unwrap()).unwrap();
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
    for peer in [Peer::Mdm, Peer::RecentredMdm] {
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
        UnseenPolicy::OwnMean { kappa: 10.0 },
        UnseenPolicy::Causal { kappa: 10.0 },
    ] {
        let own = Preconditioning {
            unseen: Some(policy),
            ..Preconditioning::default()
        };
        for peer in [Peer::TangentLrPooled, Peer::RecentredLr, Peer::RecentredMdm] {
            let fitted = peer.fit(&train, &validation, &own).unwrap();
            let found = fitted.decide(&test).unwrap();
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
        // Numbered in the order in which they come, with names of other classes too: only domains are read.
        let domains = Factor::from_labels(own.rev().map(|&d| name(d)));
        let at: Vec<usize> = (0..test.len()).rev().collect();
        let x = test.covariances().select(&at);
        Trials::new(x, Factor::from_labels(vec!["?"; test.len()]), domains).unwrap()
    };
    for peer in Peer::ALL {
        let fitted = peer.fit(&train, &validation, &preconditioning()).unwrap();
        let expected = fitted.decide(&test).unwrap();
        let mut found = fitted.decide(&named(&|d| format!("s{d}"))).unwrap();
        found.decided.reverse();
        assert_eq!(found.decided, expected.decided, "{peer}");
        assert_eq!(found.notes, expected.notes, "{peer}");
        let names = (
            fitted.peer(),
            fitted.classes(),
            fitted.domains().len(),
            fitted.channels(),
        );
        assert_eq!(names, (peer, case.trials.classes().names(), 3, None));

        let found = fitted.decide(&named(&|d| format!("new{d}"))).unwrap();
        let said = found
            .notes
            .iter()
            .any(|n| n.contains("(new2, new1, new0): pooled") || n.contains("new0"));
        assert_eq!(said, peer.whitens(), "{peer}: {:?}", found.notes);
        assert_eq!(fitted.unseen_policy().is_some(), peer.whitens());
    }
}

/// `cargo test -p stiefel-study --test it -- --ignored --nocapture seconds`
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
    for peer in Peer::ALL {
        let start = std::time::Instant::now();
        run(peer, &trials, &fold);
        println!("{peer}: {:?}", start.elapsed());
    }
}

#[test]
fn names_are_stable_and_round_trip() {
    let names: Vec<String> = Peer::ALL.iter().map(ToString::to_string).collect();
    let expected = [
        "ts+lr",
        "ts+lr-per-domain",
        "mdm",
        "recentred-ts+lr",
        "recentred-mdm",
        "fb-ts+lr",
        "fb-ts+lr-per-domain",
        "fb-recentred-ts+lr",
    ];
    assert_eq!(names, expected);
    for peer in Peer::ALL {
        assert_eq!(peer.name().parse::<Peer>().unwrap(), peer);
        let json = serde_json::to_string(&peer).unwrap();
        assert_eq!(json, format!("\"{peer}\""));
        assert_eq!(serde_json::from_str::<Peer>(&json).unwrap(), peer);
    }
    let error = "csp".parse::<Peer>().unwrap_err().to_string();
    assert!(
        error.contains("\"csp\"") && error.contains("recentred-mdm"),
        "{error}"
    );
}
