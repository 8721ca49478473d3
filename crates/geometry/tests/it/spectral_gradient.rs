//! Pull-backs of spectral functions against central differences, and what they must do on whole
//! batches.

use crate::support::{check_gradient, with_spectrum};
use proptest::prelude::*;
use stiefel_geometry::spd::{self, SpectralFn};
use stiefel_linalg::MatBatch;
use stiefel_testkit::{assert_close, random_batch, random_spd, random_symmetric};

const ALL: [SpectralFn<f64>; 8] = [
    SpectralFn::Log,
    SpectralFn::Exp,
    SpectralFn::Sqrt,
    SpectralFn::InvSqrt,
    SpectralFn::Pow(0.3),
    SpectralFn::Pow(-1.7),
    SpectralFn::ReEig(0.7),
    SpectralFn::ReLog(0.7),
];

fn agrees(f: SpectralFn<f64>, x: &MatBatch<f64>) {
    let (count, n, _) = x.shape();
    let g = random_batch::<f64>(5, count, n, n);
    let gradient = spd::spectral_map(f, x.view())
        .unwrap()
        .pull_back(g.view())
        .unwrap();
    check_gradient(
        &format!("{f:?}"),
        x,
        &gradient,
        &g,
        true,
        (1e-3, 1e-8),
        |x| spd::spectral_map(f, x.view()).unwrap().value,
    );
}

#[test]
fn generic_spectra() {
    for f in ALL {
        agrees(f, &with_spectrum(1, 2, &[0.3, 0.5, 0.9, 1.4, 2.0]));
        agrees(f, &random_spd(2, 3, 1));
    }
}

#[test]
fn repeated_and_nearly_equal_eigenvalues() {
    for f in ALL {
        agrees(f, &with_spectrum(3, 1, &[0.4, 0.4, 1.3, 1.3, 1.3]));
        agrees(
            f,
            &with_spectrum(4, 1, &[0.4, 0.4 + 1e-9, 1.3, 1.3 + 1e-12, 1.3 + 1e-6]),
        );
        agrees(
            f,
            &MatBatch::from_fn(1, 4, 4, |_, r, c| if r == c { 1.7 } else { 0.0 }),
        );
    }
}

#[test]
fn symmetric_but_indefinite_where_allowed() {
    for f in [
        SpectralFn::Exp,
        SpectralFn::ReEig(0.2),
        SpectralFn::ReLog(0.2),
    ] {
        agrees(f, &with_spectrum(5, 2, &[-1.0, -0.3, 0.0, 0.6, 2.0]));
    }
}

#[test]
fn the_gradient_of_a_clamped_matrix_is_zero() {
    let x = with_spectrum(6, 1, &[0.1, 0.2, 0.3]);
    let g = random_batch::<f64>(7, 1, 3, 3);
    for f in [SpectralFn::ReEig(0.5), SpectralFn::ReLog(0.5)] {
        let gradient = spd::spectral_map(f, x.view())
            .unwrap()
            .pull_back(g.view())
            .unwrap();
        assert!(gradient.data().iter().all(|&v| v == 0.0));
    }
    // Exactly at the threshold, the subgradient is 0.
    assert_eq!(SpectralFn::ReEig(0.5).derivative(0.5), 0.0);
    assert_eq!(SpectralFn::ReLog(0.5).derivative(0.5), 0.0);
}

#[test]
fn rectified_log_is_the_two_in_one() {
    let x = with_spectrum(8, 3, &[1e-7, 1e-3, 0.2, 1.0, 30.0]);
    let g = random_batch::<f64>(9, 3, 5, 5);
    let fused = spd::spectral_map(SpectralFn::ReLog(1e-2), x.view()).unwrap();
    let first = spd::spectral_map(SpectralFn::ReEig(1e-2), x.view()).unwrap();
    let second = spd::spectral_map(SpectralFn::Log, first.value.view()).unwrap();
    assert_close("value", fused.value.data(), second.value.data(), 1e-12);
    let chained = first
        .pull_back(second.pull_back(g.view()).unwrap().view())
        .unwrap();
    assert_close(
        "pull-back",
        fused.pull_back(g.view()).unwrap().data(),
        chained.data(),
        1e-11,
    );
}

#[test]
fn an_empty_batch_stays_empty() {
    for f in ALL {
        let map = spd::spectral_map(f, MatBatch::zeros(0, 3, 3).view()).unwrap();
        assert_eq!(map.value.shape(), (0, 3, 3));
        let gradient = map.pull_back(MatBatch::zeros(0, 3, 3).view()).unwrap();
        assert_eq!(gradient.shape(), (0, 3, 3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn log_and_exp_are_inverse(seed in 0..10_000_u64, n in 1..7_usize) {
        let x = random_spd::<f64>(seed, 2, n);
        let back = spd::exp(spd::log(x.view()).unwrap().view()).unwrap();
        assert_close("exp log", back.data(), x.data(), 1e-13);
        let s = random_symmetric::<f64>(seed, 2, n);
        let back = spd::log(spd::exp(s.view()).unwrap().view()).unwrap();
        assert_close("log exp", back.data(), s.data(), 1e-11);
    }

    #[test]
    fn roots_and_powers_compose(seed in 0..10_000_u64, n in 1..7_usize, p in 0.1..0.9_f64) {
        let x = random_spd::<f64>(seed, 2, n);
        let (root, inverse) = (spd::sqrt(x.view()).unwrap(), spd::inv_sqrt(x.view()).unwrap());
        let square = stiefel_linalg::matmul(root.view(), root.view()).unwrap();
        assert_close("√X √X", square.data(), x.data(), 1e-13);
        let one = stiefel_linalg::matmul(root.view(), inverse.view()).unwrap();
        assert_close("√X X^-½", one.data(), MatBatch::<f64>::identity(2, n).data(), 1e-13);
        let a = spd::power(x.view(), p).unwrap();
        let b = spd::power(x.view(), 1.0 - p).unwrap();
        let whole = stiefel_linalg::matmul(a.view(), b.view()).unwrap();
        assert_close("Xᵖ X¹⁻ᵖ", whole.data(), x.data(), 1e-13);
    }

    /// The pull-back is linear and self-adjoint: `⟨D f(X)[A], B⟩ = ⟨A, D f(X)[B]⟩`.
    #[test]
    fn the_pull_back_is_self_adjoint(seed in 0..10_000_u64, n in 1..6_usize, which in 0..ALL.len()) {
        let map = spd::spectral_map(ALL[which], random_spd::<f64>(seed, 1, n).view()).unwrap();
        let a = random_symmetric::<f64>(seed + 1, 1, n);
        let b = random_symmetric::<f64>(seed + 2, 1, n);
        let left = crate::support::dot(map.pull_back(a.view()).unwrap().data(), b.data());
        let right = crate::support::dot(map.pull_back(b.view()).unwrap().data(), a.data());
        prop_assert!((left - right).abs() <= 1e-12 * (1.0 + left.abs()));
    }

    /// A matrix's result does not depend on its neighbours.
    #[test]
    fn neighbours_do_not_matter(seed in 0..10_000_u64, n in 1..6_usize, which in 0..ALL.len()) {
        let x = random_spd::<f64>(seed, 3, n);
        let together = spd::spectral_map(ALL[which], x.view()).unwrap().value;
        for i in 0..3 {
            let alone = spd::spectral_map(ALL[which], x.single(i).view()).unwrap().value;
            prop_assert_eq!(alone.data(), together.matrix(i));
        }
    }
}
