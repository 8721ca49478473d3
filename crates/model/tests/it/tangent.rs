//! Tangent vectors: golden values, isometry, precision, bad input.

use crate::support::{mixed_trials, named};
use stiefel_geometry::GeometryError;
use stiefel_linalg::MatBatch;
use stiefel_model::{ModelError, tangent_vectors};
use stiefel_testkit::{Golden, assert_close};

#[test]
fn golden_vectors() {
    let golden = Golden::open("ops_precond_dsp");
    let trials = named(golden.batch("sym_per_matrix"), 4);
    let x = tangent_vectors::<f64>(&trials).unwrap();
    assert_eq!(x.shape(), (40, 1, 21));
    assert_close("x", x.data(), &golden.vec("x"), 1e-12);
}

#[test]
fn single_precision_is_the_rounding_of_double() {
    let trials = mixed_trials(2, 6, 4, 2);
    let x = tangent_vectors::<f64>(&trials).unwrap();
    let single = tangent_vectors::<f32>(&trials).unwrap();
    assert_eq!(single, x.cast::<f32>());
}

#[test]
fn lengths_are_distances_from_the_identity() {
    let trials = mixed_trials(3, 5, 4, 1);
    let x = tangent_vectors::<f64>(&trials).unwrap();
    for i in 0..5 {
        let lambda = stiefel_linalg::eigenvalues(trials.covariances().single(i).view()).unwrap();
        let distance: f64 = lambda.iter().map(|l| l.ln().powi(2)).sum::<f64>().sqrt();
        let length = x.matrix(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((length / distance - 1.0).abs() < 1e-13);
    }
}

#[test]
fn a_singular_trial_is_named() {
    let mut x = MatBatch::identity(4, 3);
    x.matrix_mut(2)[8] = 0.0;
    let error = tangent_vectors::<f64>(&named(x, 2)).unwrap_err();
    assert!(matches!(
        error,
        ModelError::Geometry(GeometryError::NotSpd { trial: 2, .. })
    ));
}
