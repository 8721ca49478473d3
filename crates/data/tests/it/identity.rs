//! Trials are known by recording and onset, or by a sketch of their matrix.

use std::fmt::Write;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use stiefel_data::split::{block_folds, cross_domain_folds, holdout};
use stiefel_data::{Factor, Fingerprint, Recorded, Recordings, Seen, Span, Trials, fingerprint};
use stiefel_linalg::MatBatch;

/// Four bare trials of three channels, all different.
fn trials(domains: [&str; 4]) -> Trials {
    let x = MatBatch::from_fn(4, 3, 3, |i, r, c| {
        if r == c {
            1.0 + (i * (r + 1)) as f64
        } else {
            0.25
        }
    });
    let classes = Factor::from_labels(["a", "b", "a", "b"]);
    Trials::new(x, classes, Factor::from_labels(domains)).unwrap()
}

/// A channel of noise.
fn noise(seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..500).map(|_| random.random::<f64>()).collect()
}

fn of(channels: &[Vec<f64>]) -> Fingerprint {
    Fingerprint::of(channels.iter().map(Vec::as_slice))
}

#[test]
fn names_and_views_say_nothing_of_who_a_trial_is() {
    let (one, other) = (trials(["s", "s", "t", "t"]), trials(["x", "y", "z", "w"]));
    assert_ne!(fingerprint(&one), fingerprint(&other));
    let seen = Seen::of(&one, &one.select(&[]).unwrap());
    assert_eq!(seen.divide(&other)[0], [0, 1, 2, 3]);
    // One more view is the same trial, however the views are picked.
    let two = one.clone().with_view(MatBatch::identity(4, 3)).unwrap();
    for views in [&[0, 1][..], &[1], &[1, 0]] {
        let picked = two.pick_views(views).unwrap();
        assert_eq!(seen.divide(&picked)[0], [0, 1, 2, 3], "{views:?}");
        assert_eq!(Seen::of(&picked, &picked).divide(&one)[0], [0, 1, 2, 3]);
        assert_eq!(seen.divide(&picked.select(&[2]).unwrap())[0], [0]);
    }
}

#[test]
fn a_model_knows_the_trials_it_has_seen() {
    let all = trials(["s", "s", "t", "t"]);
    let part = |at: &[usize]| all.select(at).unwrap();
    let mut seen = Seen::of(&part(&[0, 1]), &part(&[1, 2]));
    assert_eq!((seen.trained_count(), seen.stopped_count()), (2, 1));
    assert_eq!(seen.divide(&all), [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(seen.divide(&part(&[3, 0])), [vec![1], vec![], vec![0]]);
    seen.learn_stopped();
    seen.learn(&part(&[2, 3]));
    assert_eq!((seen.trained_count(), seen.stopped_count()), (4, 0));
}

#[test]
fn a_sketch_survives_rounding_units_and_the_order_of_channels() {
    let (n, names) = (5, ["Fz", "C3", "Cz", "C4", "Pz"]);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let a: Vec<f64> = (0..8 * n * n)
        .map(|_| random.random::<f64>() - 0.5)
        .collect();
    let value = |i: usize, r: usize, c: usize| -> f64 {
        let row = |r: usize| &a[i * n * n + r * n..][..n];
        let dot: f64 = row(r).iter().zip(row(c)).map(|(x, y)| x * y).sum();
        dot + if r == c { 0.1 } else { 0.0 }
    };
    let set = |order: [usize; 5], f: &dyn Fn(f64) -> f64| {
        let x = MatBatch::from_fn(8, n, n, |i, r, c| f(value(i, order[r], order[c])));
        let one = || Factor::from_labels(["s"; 8]);
        let names = order.map(|c| names[c].to_owned()).to_vec();
        Trials::new(x, one(), one())
            .unwrap()
            .with_channels(names)
            .unwrap()
    };
    let plain = [0, 1, 2, 3, 4];
    let home = set(plain, &|x| x);
    let seen = Seen::of(
        &home.select(&[0, 1, 2, 3]).unwrap(),
        &home.select(&[]).unwrap(),
    );
    for (order, f) in [
        (plain, &(|x| x * (1.0 + 4e-16)) as &dyn Fn(f64) -> f64),
        (plain, &|x| f64::from(x as f32)),
        (plain, &|x| x * 1e-12),
        ([4, 2, 0, 1, 3], &|x| x),
        ([3, 4, 1, 2, 0], &|x| f64::from((x * 1e-12) as f32)),
    ] {
        assert_eq!(seen.divide(&set(order, f))[0], [0, 1, 2, 3], "{order:?}");
    }
    // A change that is more than rounding makes another trial of it.
    assert!(seen.divide(&set(plain, &|x| x + 1e-3 * x * x))[0].is_empty());
}

#[test]
fn it_survives_a_file_and_nonsense_is_refused() {
    let all = recorded(&[(0, 0), (0, 1600), (1, 0)]);
    let seen = Seen::of(&all.select(&[0, 1]).unwrap(), &all.select(&[2]).unwrap());
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Seen>(&text).unwrap(), seen);
    for bad in ["0", "xy", "é", "00000000"] {
        let mut text = text.clone();
        let at = text.find("\"sketches\":\"").unwrap() + 12;
        text.insert_str(at, bad);
        assert!(serde_json::from_str::<Seen>(&text).is_err(), "{bad}");
    }
    let outside = text.replacen("\"spans\":[[0,", "\"spans\":[[9,", 1);
    assert!(serde_json::from_str::<Seen>(&outside).is_err());
}

#[test]
fn a_recording_is_known_by_most_of_its_channels() {
    let channels: Vec<Vec<f64>> = (0..6).map(noise).collect();
    let whole = of(&channels);
    let scaled = |k: f64| {
        channels
            .iter()
            .map(|c| c.iter().map(|x| x * k).collect())
            .collect()
    };
    let mut flattened = channels.clone();
    flattened[2] = vec![0.0; 500];
    flattened[4] = noise(40);
    let mut turned: Vec<Vec<f64>> = scaled(-1e-6);
    turned.reverse();
    for copy in [
        &flattened,
        &turned,
        &channels[3..].to_vec(),
        &channels[5..].to_vec(),
    ] {
        assert!(whole.is_same(&of(copy)) && of(copy).is_same(&whole));
    }
    // A counter of samples is alike everywhere, and makes no recording of two.
    let counter: Vec<f64> = (0..500).map(f64::from).collect();
    let with = |c: &Vec<f64>| of(&[c.clone(), counter.clone()]);
    assert!(!with(&channels[0]).is_same(&with(&channels[1])));
    assert!(!of(&[vec![1.0; 9]]).is_same(&of(&[vec![1.0; 9]])));
    let mut met = Recordings::default();
    let places: Vec<usize> = channels
        .iter()
        .map(|c| met.add(&of(std::slice::from_ref(c))))
        .collect();
    assert_eq!(places, [0, 1, 2, 3, 4, 5]);
    assert_eq!(met.find(&of(&channels[4..5])), Some(4));
    assert_eq!(met.find(&of(&[noise(99)])), None);
}

/// Trials of recordings, at these samples of 160 Hz, of windows from 80 to 560 samples. Matrices
/// are different in each.
fn recorded(at: &[(usize, u64)]) -> Trials {
    let recordings = (0..3).map(|seed| Recorded {
        fingerprint: of(&[noise(seed)]),
        rate: 160.0,
    });
    let span = |&(recording, onset): &(usize, u64)| Span {
        recording,
        onset,
        window: [80, 560],
    };
    let x = MatBatch::from_fn(at.len(), 3, 3, |i, r, c| {
        if r == c {
            2.0 + (i * (r + 1)) as f64
        } else {
            0.5
        }
    });
    let classes = Factor::from_labels((0..at.len()).map(|i| ["a", "b"][i % 2]));
    let domains = Factor::from_labels(at.iter().map(|_| "s"));
    (Trials::new(x, classes, domains).unwrap())
        .with_recordings(recordings.collect(), at.iter().map(span).collect())
        .unwrap()
}

#[test]
fn trials_that_share_samples_are_known_and_repeated_ones_are_found() {
    let all = recorded(&[(0, 0), (0, 1600), (1, 0), (0, 0), (0, 479), (0, 480)]);
    assert_eq!(all.repeated(), [(3, 0)]);
    let seen = Seen::of(&all.select(&[0]).unwrap(), &all.select(&[]).unwrap());
    // One sample is shared with the trial at 479, none with that at 480.
    assert_eq!(seen.divide(&all), [vec![0, 3, 4], vec![], vec![1, 2, 5]]);
    let twice = all.joined(&all.select(&[2]).unwrap()).unwrap();
    assert_eq!(twice.repeated(), [(3, 0), (6, 2)]);
    let mut text = String::new();
    for (trial, first) in trials(["s"; 4]).select(&[0, 1, 1, 0]).unwrap().repeated() {
        write!(text, "{trial} {first} ").unwrap();
    }
    assert_eq!(text, "2 1 3 0 ");
}

#[test]
fn windows_that_overlap_never_fall_on_two_sides() {
    // 40 cues, 400 samples apart: each window shares samples with the next.
    let cues: Vec<(usize, u64)> = (0..40).map(|i| (0, 400 * i)).collect();
    let overlapping = recorded(&cues);
    let spread: Vec<(usize, u64)> = (0..40).map(|i| (0, 480 * i)).collect();
    let spread = recorded(&spread);
    let (labels, domains) = (spread.classes().indices(), spread.domains().indices());
    let mut folds = cross_domain_folds(labels, domains, 5).unwrap();
    folds.extend(block_folds(labels, domains, None, 5).unwrap());
    folds.push(holdout(labels, domains, 0.1, 0.2, 5).unwrap());
    for fold in folds {
        let (same, none) = fold.clone().apart(&spread).unwrap();
        assert_eq!((&same, none), (&fold, 0));
        let (apart, left_out) = fold.clone().apart(&overlapping).unwrap();
        assert_eq!(apart.test, fold.test);
        let size = |fold: &stiefel_data::split::Fold| fold.train.len() + fold.validation.len();
        assert_eq!(left_out, size(&fold) - size(&apart));
        assert!(left_out > 0 && !apart.train.is_empty());
        let parts = [&apart.train, &apart.validation, &apart.test];
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            for i in parts[one] {
                assert!(parts[other].iter().all(|j| i.abs_diff(*j) > 1), "{i}");
            }
        }
    }
    // All windows share samples with all others: nothing is left to train on.
    let dense: Vec<(usize, u64)> = (0..40).map(|i| (0, i)).collect();
    let fold = holdout(labels, domains, 0.0, 0.2, 5).unwrap();
    let error = fold.apart(&recorded(&dense)).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn blocks_of_labels_are_seen_within_recordings() {
    let at = |labels: &[usize]| {
        // In a file, trials need not come in the order of the recording.
        let cues: Vec<(usize, u64)> = (0..labels.len())
            .map(|i| (i % 2, 1000 * i as u64))
            .collect();
        let names = Factor::from_labels(labels.iter().map(|l| ["a", "b", "c"][*l]));
        recorded(&cues).with_classes(names).unwrap().label_order()
    };
    let blocked: Vec<usize> = (0..60).map(|i| i / 20).collect();
    let order = at(&blocked).unwrap();
    assert_eq!(order.pairs, 58);
    assert!(order.correlation > 0.85 && order.is_blocked(), "{order:?}");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        let mixed: Vec<usize> = (0..60).map(|_| random.random_range(0..3)).collect();
        assert!(!at(&mixed).unwrap().is_blocked());
    }
    assert!(at(&[0; 8]).is_none());
}

#[test]
fn an_empty_label_is_refused() {
    let labels = |last: &str| Factor::from_labels(["a", "b", "a", last]);
    let made = |last: &str| trials(["s"; 4]).with_classes(labels(last));
    assert!(made("b").is_ok());
    for empty in ["", " "] {
        let error = made(empty).unwrap_err().to_string();
        assert!(error.contains("the label of trial 3 is empty"), "{error}");
    }
}
