//! Operations without a tape: against central differences, against the tape, and bad input.

use stiefel_autodiff::{Arena, Kernel, OpError};
use stiefel_geometry::GeometryError;
use stiefel_geometry::spd::SpectralFn;
use stiefel_linalg::{MatBatch, MatView, symmetrise};
use stiefel_testkit::{random_batch, random_spd};

const K: usize = 3;
const N: usize = 5;

/// Points with orthonormal columns.
fn points(seed: u64, count: usize) -> MatBatch<f64> {
    let gaussian = random_batch::<f64>(seed, count, N, K);
    stiefel_geometry::stiefel::orthonormal_factor(gaussian.view())
        .expect("full rank")
        .q
}

/// The largest relative difference between `⟨gradient, D⟩` and the central difference along random
/// directions `D`, which are symmetric where `symmetric` says so.
fn error(kernel: Kernel<f64>, inputs: &[MatBatch<f64>], symmetric: &[bool]) -> f64 {
    let arena = Arena::new();
    let views: Vec<MatView<'_, f64>> = inputs.iter().map(MatBatch::view).collect();
    let (value, applied) = kernel.apply(&views, &arena, true).expect("valid");
    let (count, rows, cols) = value.shape();
    let g = random_batch::<f64>(77, count, rows, cols);
    let wanted = vec![true; inputs.len()];
    let gradients = (applied.pull_back(&views, value.view(), g.view(), &wanted)).expect("fits");
    let score = |inputs: &[MatBatch<f64>]| -> f64 {
        let views: Vec<MatView<'_, f64>> = inputs.iter().map(MatBatch::view).collect();
        let (value, _) = kernel.apply(&views, &arena, false).expect("valid");
        value.data().iter().zip(g.data()).map(|(a, b)| a * b).sum()
    };
    let mut worst = 0.0_f64;
    for (at, gradient) in gradients.iter().enumerate() {
        let gradient = gradient.as_ref().expect("wanted");
        let (count, rows, cols) = inputs[at].shape();
        assert_eq!(gradient.shape(), (count, rows, cols));
        let mut direction = random_batch::<f64>(78 + at as u64, count, rows, cols);
        if symmetric[at] {
            symmetrise(&mut direction.view_mut()).expect("square");
        }
        let h = 1e-5;
        let moved = |t: f64| {
            let mut all = inputs.to_vec();
            for (x, d) in all[at].data_mut().iter_mut().zip(direction.data()) {
                *x += t * d;
            }
            score(&all)
        };
        let slope = (moved(h) - moved(-h)) / (2.0 * h);
        let found: f64 = (gradient.data().iter().zip(direction.data()))
            .map(|(a, b)| a * b)
            .sum();
        worst = worst.max((found - slope).abs() / slope.abs().max(1.0));
    }
    worst
}

/// An operation, its operands, and which of them it is differentiated in.
type Case = (Kernel<f64>, Vec<MatBatch<f64>>, &'static [bool]);

#[test]
fn gradients_are_central_differences() {
    let (x, y) = (random_spd::<f64>(1, 4, N), random_spd::<f64>(2, 4, N));
    let one = random_spd::<f64>(3, 1, N);
    let (w, single) = (points(4, 4), points(5, 1));
    let z = random_batch::<f64>(6, 4, N, K);
    let v = random_batch::<f64>(7, 4, 1, N * (N + 1) / 2);
    let filtered = |retract| Kernel::FilteredLog {
        retract,
        epsilon: 1e-4,
    };
    let square = random_batch::<f64>(8, 4, N, N);
    let cases: [Case; 19] = [
        (Kernel::LogVectors, vec![x.clone()], &[true]),
        (Kernel::Spectral(SpectralFn::Log), vec![x.clone()], &[true]),
        (Kernel::Spectral(SpectralFn::Exp), vec![x.clone()], &[true]),
        (Kernel::Upper, vec![x.clone()], &[true]),
        (Kernel::FromUpper, vec![v], &[false]),
        (
            Kernel::Congruence,
            vec![w.clone(), x.clone()],
            &[false, true],
        ),
        (
            Kernel::Congruence,
            vec![single.clone(), x.clone()],
            &[false, false],
        ),
        (
            Kernel::Congruence,
            vec![w.clone(), square.clone()],
            &[false, false],
        ),
        (
            Kernel::Congruence,
            vec![single.clone(), square.clone()],
            &[false, false],
        ),
        (
            Kernel::Congruence,
            vec![w.clone(), random_batch::<f64>(9, 1, N, N)],
            &[false, false],
        ),
        (
            Kernel::Congruence,
            vec![w.clone(), one.clone()],
            &[false, true],
        ),
        (Kernel::Project, vec![w.clone(), z.clone()], &[false, false]),
        (
            Kernel::RetractQr,
            vec![single.clone(), z.clone()],
            &[false, false],
        ),
        (Kernel::RetractPolar, vec![w.clone(), z], &[false, false]),
        (Kernel::SquaredDistance, vec![x.clone(), y], &[true, true]),
        (Kernel::SquaredDistance, vec![one, x.clone()], &[true, true]),
        (filtered(true), vec![w.clone(), x.clone()], &[false, true]),
        (filtered(false), vec![w, x.clone()], &[false, true]),
        (filtered(true), vec![single, x], &[false, true]),
    ];
    for (kernel, inputs, symmetric) in cases {
        let error = error(kernel, &inputs, symmetric);
        assert!(error < 1e-7, "{kernel:?}: {error:e}");
    }
}

#[test]
fn a_congruence_of_any_square_matrix_is_what_its_formula_says() {
    let (w, x) = (points(4, 2), random_batch::<f64>(1, 2, N, N));
    let inputs = [w.view(), x.view()];
    let (y, _) = (Kernel::Congruence.apply(&inputs, &Arena::new(), false)).expect("valid");
    for i in 0..2 {
        let (w, x, y) = (w.matrix(i), x.matrix(i), y.matrix(i));
        for (r, c) in (0..K).flat_map(|r| (0..K).map(move |c| (r, c))) {
            let terms = (0..N).flat_map(|a| (0..N).map(move |b| (a, b)));
            let sum: f64 = terms
                .map(|(a, b)| w[a * K + r] * x[a * N + b] * w[b * K + c])
                .sum();
            assert!((y[r * K + c] - sum).abs() < 1e-13);
        }
    }
}

#[test]
fn a_congruence_of_symmetric_matrices_is_exactly_symmetric() {
    let (w, x) = (points(4, 2), random_spd::<f64>(1, 2, N));
    let inputs = [w.view(), x.view()];
    let (y, _) = (Kernel::Congruence.apply(&inputs, &Arena::new(), false)).expect("valid");
    for (i, r, c) in (0..2).flat_map(|i| (0..K).flat_map(move |r| (0..K).map(move |c| (i, r, c)))) {
        assert_eq!(y.matrix(i)[r * K + c], y.matrix(i)[c * K + r]);
    }
}

#[test]
fn a_pull_back_may_be_asked_for_twice_and_gives_what_is_wanted() {
    let (w, x) = (points(4, 2), random_spd::<f64>(1, 2, N));
    let inputs = [w.view(), x.view()];
    let (y, applied) = (Kernel::Congruence.apply(&inputs, &Arena::new(), true)).expect("valid");
    let first = (applied.pull_back(&inputs, y.view(), y.view(), &[true, true])).expect("fits");
    let second = (applied.pull_back(&inputs, y.view(), y.view(), &[false, true])).expect("fits");
    assert!(second[0].is_none());
    assert_eq!(first[1], second[1]);
}

#[test]
fn bad_input_is_an_error() {
    let (w, x) = (points(4, 2), random_spd::<f64>(1, 2, N));
    let arena = Arena::new();
    let refused = |kernel: Kernel<f64>, inputs: &[MatView<'_, f64>]| {
        kernel.apply(inputs, &arena, true).expect_err("refused")
    };
    assert!(matches!(
        refused(Kernel::Congruence, &[x.view()]),
        OpError::Length { expected: 2, .. }
    ));
    assert!(matches!(
        refused(Kernel::Congruence, &[x.view(), w.view()]),
        OpError::Shape { .. }
    ));
    let mut crooked = x.clone();
    crooked.data_mut()[1] += 0.1;
    let filtered = Kernel::FilteredLog {
        retract: true,
        epsilon: 1e-4,
    };
    assert!(matches!(
        refused(filtered, &[w.view(), crooked.view()]),
        OpError::Geometry(GeometryError::Asymmetric { trial: 0, .. })
    ));
    let zero = Kernel::FilteredLog {
        retract: true,
        epsilon: 0.0,
    };
    assert!(matches!(
        refused(zero, &[w.view(), x.view()]),
        OpError::Argument { .. }
    ));
    let inputs = [w.view(), x.view()];
    let (y, applied) = Kernel::Congruence
        .apply(&inputs, &arena, true)
        .expect("valid");
    let other = [w.view(), w.view()];
    assert!((applied.pull_back(&other, y.view(), y.view(), &[true, true])).is_err());
    assert!((applied.pull_back(&inputs, y.view(), y.view(), &[true])).is_err());
}

#[test]
fn logeig_in_one_is_the_logarithm_and_its_vector() {
    let arena = Arena::new();
    // More than one group of lanes with a part of one left, a single matrix, and large ones; a
    // third with repeated eigenvalues.
    for (count, n) in [(19, 7), (1, 5), (3, 70)] {
        let mut x = random_spd::<f64>(8, count, n);
        if count > 2 {
            x.matrix_mut(2)
                .copy_from_slice(MatBatch::identity(1, n).data());
        }
        let inputs = [x.view()];
        let (z, applied) = (Kernel::LogVectors.apply(&inputs, &arena, true)).expect("SPD");
        let log = Kernel::Spectral(SpectralFn::Log);
        let (y, of_log) = log.apply(&inputs, &arena, true).expect("SPD");
        let (expected, of_upper) = Kernel::Upper
            .apply(&[y.view()], &arena, true)
            .expect("square");
        let g = random_batch::<f64>(9, count, 1, n * (n + 1) / 2);
        let found = applied.pull_back(&inputs, z.view(), g.view(), &[true]);
        let found = found.expect("fits").remove(0).expect("wanted");
        let half = of_upper.pull_back(&[y.view()], expected.view(), g.view(), &[true]);
        let half = half.expect("fits").remove(0).expect("wanted");
        let whole = of_log.pull_back(&inputs, y.view(), half.view(), &[true]);
        let whole = whole.expect("fits").remove(0).expect("wanted");
        let size = whole.data().iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        for (a, b) in z.data().iter().zip(expected.data()) {
            assert!((a - b).abs() < 1e-12, "{count} × {n}: {a} for {b}");
        }
        for (a, b) in found.data().iter().zip(whole.data()) {
            assert!((a - b).abs() < 1e-11 * size, "{count} × {n}: {a} for {b}");
        }
    }
}

#[test]
fn logeig_in_one_names_the_matrix_that_has_no_logarithm() {
    let mut x = random_spd::<f64>(8, 20, 3);
    x.matrix_mut(17)
        .copy_from_slice(&[1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 2.0]);
    let refused = Kernel::LogVectors.apply(&[x.view()], &Arena::new(), true);
    let Err(OpError::Geometry(GeometryError::NotSpd {
        trial, smallest, ..
    })) = refused
    else {
        panic!("a matrix with a negative eigenvalue has no logarithm");
    };
    assert_eq!((trial, smallest), (17, -1.0));
}
