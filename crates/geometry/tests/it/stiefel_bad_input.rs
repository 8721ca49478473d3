//! Bad input at every door of the Stiefel module.

use crate::support::points;
use stiefel_geometry::{GeometryError, stiefel};
use stiefel_linalg::{LinalgError, MatBatch};
use stiefel_testkit::{random_batch, rng};

#[track_caller]
fn shape<V: std::fmt::Debug>(result: Result<V, GeometryError>) {
    let error = result.unwrap_err();
    assert!(
        matches!(error, GeometryError::Linalg(LinalgError::Shape { .. })),
        "{error}"
    );
}

#[test]
fn shapes() {
    let (w, other) = (points(1, 2, 5, 3), points(2, 3, 5, 3));
    let (small, wide) = (points(3, 2, 5, 2), random_batch::<f64>(4, 2, 3, 5));
    let none = MatBatch::<f64>::zeros(2, 5, 0);
    for bad in [&other, &small, &wide] {
        shape(stiefel::project(w.view(), bad.view()));
        shape(stiefel::retract_qr(w.view(), bad.view()));
        shape(stiefel::retract_polar(w.view(), bad.view()));
        shape(stiefel::principal_angles(w.view(), bad.view()));
        let moved = stiefel::retract_qr(w.view(), w.view()).unwrap();
        shape(moved.pull_back(bad.view()));
        shape(
            stiefel::polar_factor(w.view())
                .unwrap()
                .pull_back(bad.view()),
        );
        let map = stiefel::cayley_parametrisation(points(5, 1, 5, 5).view(), w.view()).unwrap();
        shape(map.pull_back(bad.view()));
    }
    for bad in [&wide, &none] {
        shape(stiefel::orthonormal_factor(bad.view()));
        shape(stiefel::retract_qr(bad.view(), bad.view()));
        shape(stiefel::polar_factor(bad.view()));
        shape(stiefel::cayley_parametrisation(
            points(5, 1, 5, 5).view(),
            bad.view(),
        ));
        shape(stiefel::check_orthonormal("test", bad.view()));
    }
    shape(stiefel::cayley_parametrisation(
        points(6, 1, 4, 4).view(),
        w.view(),
    ));
    shape(stiefel::cayley_parametrisation(
        points(6, 3, 5, 5).view(),
        w.view(),
    ));
    shape(stiefel::random_points::<f64, _>(&mut rng(1), 1, 2, 3));
    shape(stiefel::random_points::<f64, _>(&mut rng(1), 1, 2, 0));
    shape(stiefel::mean_pairwise_angle(points(7, 1, 5, 3).view()));
    shape(stiefel::barycenter(w.view(), Some(&[1.0])));
    let empty = MatBatch::<f64>::zeros(0, 5, 3);
    assert!(matches!(
        stiefel::barycenter(empty.view(), None),
        Err(GeometryError::Empty { .. })
    ));
}

#[test]
fn empty_batches_stay_empty() {
    let (w, empty) = (points(1, 1, 5, 3), MatBatch::<f64>::zeros(0, 5, 3));
    let (w, none) = (w.view(), empty.view());
    for count in [
        stiefel::project(w, none).unwrap().count(),
        stiefel::retract_qr(w, none).unwrap().q.count(),
        stiefel::retract_polar(w, none).unwrap().q.count(),
        stiefel::principal_angles(w, none).unwrap().count(),
        stiefel::random_points::<f64, _>(&mut rng(1), 0, 5, 3)
            .unwrap()
            .count(),
    ] {
        assert_eq!(count, 0);
    }
}

#[track_caller]
fn nan<V: std::fmt::Debug>(result: Result<V, GeometryError>) {
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            GeometryError::Linalg(LinalgError::NotFinite {
                matrix: 1,
                row: 2,
                col: 1,
                ..
            })
        ),
        "{error}"
    );
}

#[test]
fn not_a_number() {
    let w = points(1, 2, 4, 2);
    let mut bad = w.clone();
    bad.matrix_mut(1)[5] = f64::NAN;
    nan(stiefel::retract_qr(w.view(), bad.view()));
    nan(stiefel::orthonormal_factor(bad.view()));
    nan(stiefel::polar_factor(bad.view()));
    nan(stiefel::principal_angles(w.view(), bad.view()));
    nan(stiefel::barycenter(bad.view(), None));
    nan(stiefel::cayley_parametrisation(
        points(2, 1, 4, 4).view(),
        bad.view(),
    ));
    let mut base = points(2, 2, 4, 4);
    base.matrix_mut(1)[9] = f64::NAN;
    nan(stiefel::cayley_parametrisation(base.view(), w.view()));
}

#[test]
fn dependent_columns_and_points_off_the_manifold() {
    let mut a = random_batch::<f64>(1, 3, 5, 3);
    for r in 0..5 {
        let m = a.matrix_mut(1);
        m[3 * r + 2] = m[3 * r] - 2.0 * m[3 * r + 1];
    }
    let zero = MatBatch::zeros(1, 5, 3);
    let deficient = [
        stiefel::orthonormal_factor(a.view()).map(|_| ()),
        stiefel::retract_qr(a.view(), zero.view()).map(|_| ()),
        stiefel::polar_factor(a.view()).map(|_| ()),
        stiefel::orthonormal_factor(MatBatch::<f64>::zeros(1, 5, 3).view()).map(|_| ()),
        stiefel::polar_factor(MatBatch::<f64>::zeros(1, 5, 3).view()).map(|_| ()),
    ];
    for (at, result) in deficient.into_iter().enumerate() {
        let error = result.unwrap_err();
        let GeometryError::RankDeficient { matrix, ratio, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(matrix, usize::from(at < 3));
        assert!(ratio < 1e-7);
    }
    let mut off = points(2, 2, 5, 3);
    off.matrix_mut(1)[0] += 1e-3;
    for result in [
        stiefel::principal_angles(off.view(), off.view()).map(|_| ()),
        stiefel::mean_pairwise_angle(off.view()).map(|_| ()),
        stiefel::barycenter(off.view(), None).map(|_| ()),
    ] {
        let error = result.unwrap_err();
        assert!(
            matches!(error, GeometryError::NotOrthonormal { matrix: 1, .. }),
            "{error}"
        );
    }
}
