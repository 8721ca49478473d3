//! The door: what is refused, and with which words.

use stiefel_data::{DataError, Factor, Origin, Trials};
use stiefel_linalg::MatBatch;

fn labels(count: usize) -> Factor {
    Factor::from_labels((0..count).map(|i| format!("c{}", i % 2)))
}

/// `count` different matrices of three channels; domains repeat after `domains`, classes after two.
fn numbered(count: usize, domains: usize) -> Trials {
    let x = MatBatch::from_fn(
        count,
        3,
        3,
        |i, r, c| if r == c { 1.0 + i as f64 } else { 0.1 },
    );
    let of = Factor::from_labels((0..count).map(|i| format!("d{}", i % domains)));
    Trials::new(x, labels(count), of).unwrap()
}

#[test]
fn counts_must_agree() {
    let x = || MatBatch::identity(3, 2);
    let error = Trials::new(x(), labels(2), labels(3)).unwrap_err();
    assert_eq!(error.to_string(), "trials: 2 classes, expected 3");
    let error = Trials::new(x(), labels(3), labels(4)).unwrap_err();
    assert_eq!(error.to_string(), "trials: 4 domains, expected 3");
    let good = Trials::new(x(), labels(3), labels(3)).unwrap();
    assert!(good.clone().with_runs(labels(1)).is_err());
    assert!(good.clone().with_channels(vec!["Cz".into()]).is_err());
    let twice = good.clone().with_channels(vec!["Cz".into(), "Cz".into()]);
    assert!(matches!(
        twice,
        Err(DataError::DuplicateName {
            first: 0,
            second: 1,
            ..
        })
    ));
    assert!(good.with_covariances(MatBatch::identity(2, 2)).is_err());
}

#[test]
fn matrices_must_be_square_finite_and_symmetric() {
    let build = |x: MatBatch<f64>| {
        let count = x.count();
        Trials::new(x, labels(count), labels(count))
    };
    assert!(build(MatBatch::zeros(2, 2, 3)).is_err());
    assert!(build(MatBatch::zeros(2, 0, 0)).is_err());
    let mut x = MatBatch::identity(2, 3);
    x.matrix_mut(1)[5] = f64::NAN;
    let text = build(x.clone()).unwrap_err().to_string();
    assert!(
        text.contains("matrix 1") && text.contains("row 1, column 2"),
        "{text}"
    );
    x.matrix_mut(1)[5] = 0.5;
    assert!(matches!(
        build(x),
        Err(DataError::Asymmetric {
            trial: 1,
            row: 2,
            col: 1,
            ..
        })
    ));
    // No trial at all is a set, if an empty one.
    assert!(build(MatBatch::zeros(0, 3, 3)).unwrap().is_empty());
}

#[test]
fn indices_need_names_and_names_differ() {
    let error = Factor::new("class", vec!["a".into()], vec![0, 1]).unwrap_err();
    assert!(matches!(
        error,
        DataError::IndexOutOfRange {
            trial: 1,
            index: 1,
            count: 1,
            ..
        }
    ));
    assert!(error.to_string().contains("at least 2 names"), "{error}");
    assert!(Factor::new("domain", vec!["a".into(), "a".into()], vec![]).is_err());
}

#[test]
fn selection_keeps_names_order_and_everything_else() {
    let runs = Factor::from_labels((0..12).map(|i| format!("r{}", i / 4)));
    let trials = numbered(12, 3)
        .with_runs(runs)
        .unwrap()
        .with_channels(vec!["C3".into(), "Cz".into(), "C4".into()])
        .unwrap();
    let part = trials.select(&[7, 2, 2]).unwrap();
    assert_eq!(part.covariances().matrix(0), trials.covariances().matrix(7));
    assert_eq!(part.covariances().matrix(1), part.covariances().matrix(2));
    assert_eq!(part.domains().indices(), [1, 2, 2]);
    assert_eq!(part.domains().names(), trials.domains().names());
    assert_eq!(part.domains().present(), [1, 2]);
    assert_eq!(part.runs().unwrap().indices(), [1, 0, 0]);
    assert_eq!(part.channels().unwrap()[2], "C4");
    assert!(matches!(
        trials.select(&[0, 12]),
        Err(DataError::NoSuchTrial {
            trial: 12,
            count: 12,
            ..
        })
    ));
}

#[test]
fn weights_are_not_all_zero() {
    let trials = numbered(2, 1);
    assert!(trials.clone().with_weights(vec![0.0, 1.0]).is_ok());
    for bad in [vec![0.0, 0.0], vec![f64::NAN, 1.0], vec![-1.0, 1.0]] {
        assert!(matches!(
            trials.clone().with_weights(bad),
            Err(DataError::Parameter { .. })
        ));
    }
}

#[test]
fn subjects_and_sessions_are_read_off_names_where_nobody_gives_them() {
    let x = || MatBatch::identity(3, 2);
    let named = |names: [&str; 3]| Trials::new(x(), labels(3), Factor::from_labels(names)).unwrap();
    let trials = named(["S01-1", "S01-2", "S02-1"]);
    assert_eq!(trials.subjects().names(), ["S01", "S02"]);
    assert_eq!(trials.subject_of_domain(), [0, 0, 1]);
    assert_eq!(trials.sessions().unwrap().names(), ["1", "2"]);
    // A name with a dash and no number before it is a name.
    let trials = named(["anna-lena", "bob", "bob"]);
    assert_eq!(trials.subjects().names(), ["anna-lena", "bob"]);
    assert!(trials.sessions().is_none());
    let runs = Factor::from_labels(["1/1", "1/2", "2/1"]);
    let trials = trials.with_runs(runs).unwrap();
    assert_eq!(trials.sessions().unwrap().indices(), [0, 0, 1]);
    let given = trials.with_subjects(Factor::from_labels(["a", "a", "b"]));
    assert_eq!(given.unwrap().subjects().names(), ["a", "b"]);
}

#[test]
fn views_have_the_same_trials_and_channels() {
    let trials = numbered(4, 2);
    assert!(trials.clone().with_view(MatBatch::identity(3, 3)).is_err());
    assert!(trials.clone().with_view(MatBatch::identity(4, 2)).is_err());
    let two = trials.with_view(MatBatch::identity(4, 3)).unwrap();
    let part = two.select(&[3, 1]).unwrap();
    assert_eq!((part.views(), part.view(1).count()), (2, 2));
    assert_eq!(part.pick(&[2, 0]).unwrap().view(1).shape(), (2, 2, 2));
    assert_eq!(part.joined(&part).unwrap().view(1).count(), 4);
}

#[test]
fn channels_are_picked_in_every_view_with_their_names() {
    let names = |all: &[&str]| all.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let trials = numbered(2, 1)
        .with_channels(names(&["C3", "Cz", "C4"]))
        .unwrap();
    let picked = trials.pick(&[2, 0]).unwrap();
    assert_eq!(picked.channels().unwrap(), names(&["C4", "C3"]));
    assert!(trials.pick(&[3]).is_err());
    assert!(trials.pick(&[1, 1]).is_err());
}

#[test]
fn a_set_of_its_own_has_the_names_that_occur() {
    let rejected = ["d0", "d1", "d2"].map(|d| (d.to_owned(), 7));
    let origin = Origin {
        rejected: rejected.to_vec(),
        ..Origin::default()
    };
    let all = numbered(12, 3).with_origin(origin);
    let part = all.keep(&[2, 4]).unwrap();
    assert_eq!(part.domains().names(), ["d2", "d1"]);
    assert_eq!(part.origin().rejected, rejected[1..]);
    assert_eq!(all.origin().rejected, rejected);
    assert_eq!(part.classes().names(), ["c0"]);
}

/// Five matrices of four channels, the third of them from a diagonal.
fn with_third(diagonal: [f64; 4]) -> Result<Trials, DataError> {
    let x = MatBatch::from_fn(5, 4, 4, |i, r, c| match (i, r == c) {
        (2, true) => diagonal[r],
        (2, false) => 0.0,
        (_, true) => 2.0,
        (_, false) => 0.5,
    });
    Trials::new(x, labels(5), labels(5))
}

#[test]
fn matrices_that_are_no_covariances_are_refused_by_their_number() {
    let refused = |diagonal, why: &str| {
        let error = with_third(diagonal).unwrap_err().to_string();
        assert!(error.contains(&format!("trial 2 {why}")), "{error}");
    };
    refused([0.0; 4], "is zero");
    refused([1.0, 1.0, 1.0, -0.5], "is not positive definite");
    refused([-1.0; 4], "is not positive definite");
    refused([3.0, 0.0, 0.0, 0.0], "has rank 1 of 4");
    let view = MatBatch::from_fn(5, 4, 4, |i, r, c| if i != 3 && r == c { 1.0 } else { 0.0 });
    let good = with_third([1.0; 4]).unwrap();
    let error = good.with_view(view).unwrap_err().to_string();
    assert!(error.contains("trial 3 is zero"), "{error}");
}

#[test]
fn what_loading_makes_up_is_taken_and_its_rank_is_known() {
    // Removed components and the rounding of single precision.
    for diagonal in [
        [1.0, 1.0, 1.0, 0.0],
        [1.0, 1.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, -1e-7],
    ] {
        let trials = with_third(diagonal).unwrap();
        let positive = diagonal.iter().filter(|x| **x > 0.0).count();
        assert_eq!(trials.ranks().unwrap(), [4, 4, positive, 4, 4]);
    }
}
