//! The Gaussian error linear unit against `erfc` and `exp` of libm.

use stiefel_autodiff::{gelu, gelu_with_slope};
use stiefel_linalg::Scalar;

/// `(Φ(x), φ(x))`.
fn reference(x: f64) -> (f64, f64) {
    let cdf = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    (cdf, (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt())
}

/// Numbers on both sides of zero, dense near it.
fn numbers() -> impl Iterator<Item = f64> {
    let near = (-6_000..6_000).map(|i| f64::from(i) * 1.003e-3);
    near.chain((-3_700..3_700).map(|i| f64::from(i) * 1.0007e-2))
}

#[test]
fn as_the_distribution_function_says() {
    for x in numbers() {
        let (cdf, density) = reference(x);
        let (mut value, mut slope) = ([x], [f64::NAN]);
        gelu_with_slope(&mut value, &mut slope);
        // The reference rounds x/√2 before it is squared.
        let rounding = (6.0 + x * x) * f64::EPSILON;
        let far = (value[0] - x * cdf).abs() / (x * cdf).abs().max(f64::MIN_POSITIVE);
        assert!(far <= rounding, "gelu({x}): {far:e} off");
        // Two terms of different signs: as far as the larger of them is exact.
        let scale = cdf.max((x * density).abs());
        let far = (slope[0] - (cdf + x * density)).abs();
        assert!(far <= rounding * scale, "slope({x}): {far:e} off");
    }
}

fn check_places<T: Scalar>() {
    for x in numbers().map(T::from_f64) {
        let (mut values, mut slopes) = ([x; 19], [T::ZERO; 19]);
        gelu_with_slope(&mut values, &mut slopes);
        let mut alone = [x];
        gelu(&mut alone);
        for (all, one) in [(values, alone[0]), (slopes, slopes[0])] {
            assert!(all.iter().all(|v| v.to_f64() == one.to_f64()), "{x}");
        }
    }
}

#[test]
fn the_same_in_a_register_and_behind_the_last_whole_one() {
    check_places::<f32>();
    check_places::<f64>();
}

#[test]
fn single_precision_is_double_precision_rounded() {
    for x in numbers().map(|x| x as f32) {
        let (mut single, mut double) = ([x], [f64::from(x)]);
        gelu(&mut single);
        gelu(&mut double);
        assert_eq!(single[0], double[0] as f32, "{x}");
    }
}

#[test]
fn at_the_ends() {
    let mut x = [
        0.0,
        -0.0,
        -40.0,
        40.0,
        f64::INFINITY,
        f64::NAN,
        1e-300,
        -1e-300,
    ];
    let mut slope = x;
    gelu_with_slope(&mut x, &mut slope);
    assert_eq!(x[..5], [0.0, 0.0, 0.0, 40.0, f64::INFINITY]);
    assert!(x[5].is_nan());
    assert_eq!(x[6..], [0.5e-300, -0.5e-300]);
    assert_eq!(slope[..4], [0.5, 0.5, 0.0, 1.0]);
}
