//! The door: what is refused, and with which words.

use crate::support::mixed_trials;
use stiefel_geometry::GeometryError;
use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, ModelError, Trials};

fn labels(count: usize) -> Factor {
    Factor::from_labels((0..count).map(|i| format!("c{}", i % 2)))
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
        Err(ModelError::DuplicateName {
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
        Err(ModelError::Geometry(GeometryError::Asymmetric {
            trial: 1,
            row: 2,
            col: 1,
            ..
        }))
    ));
    // No trial at all is a set, if an empty one.
    assert!(build(MatBatch::zeros(0, 3, 3)).unwrap().is_empty());
}

#[test]
fn indices_need_names_and_names_differ() {
    let error = Factor::new("class", vec!["a".into()], vec![0, 1]).unwrap_err();
    assert!(matches!(
        error,
        ModelError::IndexOutOfRange {
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
fn spd_is_asked_for_separately() {
    let x = MatBatch::from_vec(1, 2, 2, vec![1.0, -1.0, -1.0, 1.0]).unwrap();
    let trials = Trials::new(x, labels(1), labels(1)).unwrap();
    assert!(matches!(
        trials.check_spd(),
        Err(ModelError::Geometry(GeometryError::NotSpd { trial: 0, .. }))
    ));
}

#[test]
fn selection_keeps_names_order_and_everything_else() {
    let runs = Factor::from_labels((0..12).map(|i| format!("r{}", i / 4)));
    let trials = mixed_trials(1, 12, 3, 3)
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
        Err(ModelError::NoSuchTrial {
            trial: 12,
            count: 12,
            ..
        })
    ));
}
