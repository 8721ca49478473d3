//! Divided differences against 60-digit truth at every gap, in both precisions.

use proptest::prelude::*;
use stiefel_geometry::spd::SpectralFn;
use stiefel_linalg::Scalar;

const TRUTH: &str = include_str!("../fixtures/divided_differences.csv");

fn function<T: Scalar>(name: &str, p: f64) -> SpectralFn<T> {
    let p = T::from_f64(p);
    match name {
        "log" => SpectralFn::Log,
        "exp" => SpectralFn::Exp,
        "sqrt" => SpectralFn::Sqrt,
        "inv_sqrt" => SpectralFn::InvSqrt,
        "power" => SpectralFn::Pow(p),
        "reeig" => SpectralFn::ReEig(p),
        "relog" => SpectralFn::ReLog(p),
        other => panic!("{other}"),
    }
}

#[test]
fn full_relative_accuracy_at_every_gap() {
    let mut worst = 0.0_f64;
    let mut lines = 0;
    for line in TRUTH.lines().skip(1) {
        let mut cells = line.split(',');
        let name = cells.next().unwrap();
        let numbers: Vec<f64> = cells.map(|c| c.parse().unwrap()).collect();
        let [p, a, b, truth] = numbers[..] else {
            panic!("{line}")
        };
        let f = function::<f64>(name, p);
        let got = f.divided_difference(a, b);
        assert_eq!(got, f.divided_difference(b, a), "symmetric: {line}");
        let error = (got - truth).abs() / truth.abs().max(1e-300);
        assert!(
            if truth == 0.0 {
                got == 0.0
            } else {
                error < 3e-15
            },
            "{line}: got {got:e}, relative error {error:e}"
        );
        if truth != 0.0 {
            worst = worst.max(error);
        }
        lines += 1;
    }
    assert!(
        lines > 1500 && worst > 0.0,
        "{lines} lines, worst {worst:e}"
    );
}

fn any_function() -> impl Strategy<Value = SpectralFn<f64>> {
    prop_oneof![
        Just(SpectralFn::Log),
        Just(SpectralFn::Exp),
        Just(SpectralFn::Sqrt),
        Just(SpectralFn::InvSqrt),
        (-3.0..3.0).prop_map(SpectralFn::Pow),
        (1e-3..2.0).prop_map(SpectralFn::ReEig),
        (1e-3..2.0).prop_map(SpectralFn::ReLog),
    ]
}

/// The same function in single precision, with the parameter rounded.
fn single(f: SpectralFn<f64>) -> SpectralFn<f32> {
    match f {
        SpectralFn::Log => SpectralFn::Log,
        SpectralFn::Exp => SpectralFn::Exp,
        SpectralFn::Sqrt => SpectralFn::Sqrt,
        SpectralFn::InvSqrt => SpectralFn::InvSqrt,
        SpectralFn::Pow(p) => SpectralFn::Pow(p as f32),
        SpectralFn::ReEig(e) => SpectralFn::ReEig(e as f32),
        SpectralFn::ReLog(e) => SpectralFn::ReLog(e as f32),
        other => panic!("{other:?}"),
    }
}

/// The function of the rounded parameter, in double precision.
fn widened(f: SpectralFn<f32>) -> SpectralFn<f64> {
    match f {
        SpectralFn::Pow(p) => SpectralFn::Pow(p.into()),
        SpectralFn::ReEig(e) => SpectralFn::ReEig(e.into()),
        SpectralFn::ReLog(e) => SpectralFn::ReLog(e.into()),
        SpectralFn::Log => SpectralFn::Log,
        SpectralFn::Exp => SpectralFn::Exp,
        SpectralFn::Sqrt => SpectralFn::Sqrt,
        SpectralFn::InvSqrt => SpectralFn::InvSqrt,
        other => panic!("{other:?}"),
    }
}

proptest! {
    /// Single precision against double precision on the same numbers.
    #[test]
    fn single_precision_is_as_exact(
        f in any_function(), b in 1e-3..5.0_f64, gap in prop_oneof![Just(0.0), 1e-8..1e-5, 1e-5..10.0_f64],
    ) {
        let (a, b) = ((b * (1.0 + gap)) as f32, b as f32);
        let f = single(f);
        let exact = widened(f).divided_difference(a.into(), b.into());
        let got = f64::from(f.divided_difference(a, b));
        prop_assert!((got - exact).abs() <= 3e-6 * exact.abs(), "{f:?} {a} {b}: {got} {exact}");
    }

    /// The whole matrix at once is the pairs one by one.
    #[test]
    fn the_loewner_matrix_holds_the_pairs(
        f in any_function(), values in proptest::collection::vec(prop_oneof![1e-4..1e-2, 0.9..1.1, 0.01..20.0_f64], 1..8),
    ) {
        let n = values.len();
        let mut all = vec![0.0; n * n];
        f.loewner_into(&values, &mut all);
        for r in 0..n {
            for c in 0..n {
                let one = f.divided_difference(values[r], values[c]);
                prop_assert!((all[r * n + c] - one).abs() <= 2e-15 * one.abs());
                prop_assert_eq!(all[r * n + c], all[c * n + r]);
            }
        }
    }

    /// Where the gap is wide the quotient itself is exact.
    #[test]
    fn it_is_the_quotient(f in any_function(), b in 0.01..3.0_f64, gap in 0.5..5.0_f64) {
        let a = b + gap;
        let quotient = (f.value(a) - f.value(b)) / (a - b);
        let got = f.divided_difference(a, b);
        let scale = (f.value(a).abs() + f.value(b).abs()) / gap;
        prop_assert!((got - quotient).abs() <= 1e-14 * scale, "{got} {quotient}");
    }

    /// The mean value theorem: the divided difference lies between the derivatives of a convex or concave function.
    #[test]
    fn it_lies_between_the_derivatives(f in any_function(), b in 0.01..3.0_f64, gap in 0.0..2.0_f64) {
        prop_assume!(!matches!(f, SpectralFn::ReLog(_) | SpectralFn::ReEig(_)));
        let a = b + gap;
        let (x, y) = (f.derivative(a), f.derivative(b));
        let got = f.divided_difference(a, b);
        let slack = 1e-14 * (x.abs() + y.abs());
        prop_assert!(got >= x.min(y) - slack && got <= x.max(y) + slack);
    }
}

#[test]
fn extreme_ratios_stay_finite() {
    let cases: [(f64, f64); 3] = [(1e300, 1e-300), (1e308, 1e-308), (5e-324, 5e-324)];
    for (a, b) in cases {
        let got = SpectralFn::Log.divided_difference(a, b);
        assert!(!got.is_nan(), "{a} {b}");
    }
    let log = SpectralFn::Log.divided_difference(1e300, 1e-300_f64);
    assert!((log / (600.0 * std::f64::consts::LN_10 / 1e300) - 1.0).abs() < 1e-14);
    // e^700 − e^(−700) over 1400: no overflow on the way.
    let exp = SpectralFn::Exp.divided_difference(700.0, -700.0_f64);
    assert!((exp / (700.0_f64.exp() / 1400.0) - 1.0).abs() < 1e-14);
    assert!(
        SpectralFn::Pow(0.5)
            .divided_difference(1e300, 1e-300_f64)
            .is_finite()
    );
    assert!(
        SpectralFn::Pow(-0.5)
            .divided_difference(1e300, 1e-100_f64)
            .is_finite()
    );
}
