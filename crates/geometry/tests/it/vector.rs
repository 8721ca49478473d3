//! `upper` and `from_upper`: an isometry, inverse and adjoint of each other.

use crate::support::{check_gradient, dot};
use proptest::prelude::*;
use stiefel_geometry::spd::{
    from_upper, from_upper_pull_back, side_of_upper, upper, upper_len, upper_pull_back,
};
use stiefel_linalg::MatBatch;
use stiefel_testkit::{assert_close, random_batch, random_symmetric};

proptest! {
    #[test]
    fn an_isometry_with_an_inverse(seed in 0..10_000_u64, n in 1..9_usize) {
        let (a, b) = (random_symmetric::<f64>(seed, 2, n), random_symmetric::<f64>(seed + 1, 2, n));
        let (u, v) = (upper(a.view()).unwrap(), upper(b.view()).unwrap());
        prop_assert_eq!(u.shape(), (2, 1, upper_len(n)));
        prop_assert!((dot(u.data(), v.data()) - dot(a.data(), b.data())).abs() < 1e-12);
        assert_close("round trip", from_upper(u.view()).unwrap().data(), a.data(), 1e-15);
    }

    #[test]
    fn mutually_adjoint(seed in 0..10_000_u64, n in 1..9_usize) {
        let s = random_symmetric::<f64>(seed, 2, n);
        let v = random_batch::<f64>(seed + 1, 2, 1, upper_len(n));
        let left = dot(upper(s.view()).unwrap().data(), v.data());
        let right = dot(s.data(), upper_pull_back(v.view()).unwrap().data());
        prop_assert!((left - right).abs() < 1e-12);
        let g = random_batch::<f64>(seed + 2, 2, n, n);
        let left = dot(from_upper(v.view()).unwrap().data(), g.data());
        let right = dot(v.data(), from_upper_pull_back(g.view()).unwrap().data());
        prop_assert!((left - right).abs() < 1e-12);
    }

    #[test]
    fn sides(n in 0..2000_usize) {
        prop_assert_eq!(side_of_upper(upper_len(n)), Some(n));
        if n > 1 {
            prop_assert_eq!(side_of_upper(upper_len(n) + 1), None);
            prop_assert_eq!(side_of_upper(upper_len(n) - 1), None);
        }
    }
}

#[test]
fn gradients() {
    let s = random_symmetric::<f64>(1, 2, 4);
    let g = random_batch::<f64>(2, 2, 1, 10);
    let gradient = upper_pull_back(g.view()).unwrap();
    check_gradient("upper", &s, &gradient, &g, true, (1e-2, 1e-11), |s| {
        upper(s.view()).unwrap()
    });
    let v = random_batch::<f64>(3, 2, 1, 10);
    let g = random_batch::<f64>(4, 2, 4, 4);
    let gradient = from_upper_pull_back(g.view()).unwrap();
    check_gradient("from_upper", &v, &gradient, &g, false, (1e-2, 1e-11), |v| {
        from_upper(v.view()).unwrap()
    });
}

#[test]
fn shapes_that_do_not_fit() {
    assert!(upper(MatBatch::<f64>::zeros(1, 2, 3).view()).is_err());
    assert!(from_upper(MatBatch::<f64>::zeros(1, 1, 7).view()).is_err());
    assert!(from_upper(MatBatch::<f64>::zeros(1, 2, 6).view()).is_err());
    assert!(from_upper_pull_back(MatBatch::<f64>::zeros(1, 2, 3).view()).is_err());
    assert_eq!(
        upper(MatBatch::<f64>::zeros(0, 3, 3).view())
            .unwrap()
            .shape(),
        (0, 1, 6)
    );
}
