//! Spectral functions, forward and pull-back, against 60-digit truth.

use stiefel_geometry::spd::{self, SpectralFn};
use stiefel_linalg::Scalar;
use stiefel_testkit::{Golden, assert_close};

const CASES: [&str; 8] = [
    "well",
    "neareq",
    "neareq23",
    "neareq_w",
    "illcond",
    "identity",
    "diag_repeat",
    "clamp",
];
const OPS: [&str; 7] = ["log", "exp", "sqrt", "invsqrt", "pow03", "reeig", "relog"];

fn function<T: Scalar>(op: &str, threshold: f64) -> SpectralFn<T> {
    let threshold = T::from_f64(threshold);
    match op {
        "log" => SpectralFn::Log,
        "exp" => SpectralFn::Exp,
        "sqrt" => SpectralFn::Sqrt,
        "invsqrt" => SpectralFn::InvSqrt,
        "pow03" => SpectralFn::Pow(T::from_f64(0.3)),
        "reeig" => SpectralFn::ReEig(threshold),
        "relog" => SpectralFn::ReLog(threshold),
        other => panic!("{other}"),
    }
}

fn matches_truth<T: Scalar>(cases: &[&str], tolerance: impl Fn(&str) -> f64) {
    let golden = Golden::open("ops_spectral");
    let threshold = golden.scalar("relog_thr");
    for &case in cases {
        for op in OPS {
            let scaled = format!("{case}__X_{op}");
            let input = if golden.has(&scaled) {
                scaled
            } else {
                format!("{case}__X")
            };
            let what = format!("{} {case}/{op}", T::NAME);
            let f = function::<T>(op, threshold);
            let map = spd::spectral_map(f, golden.batch::<T>(&input).view()).unwrap();
            let truth = golden.vec(&format!("{case}__{op}"));
            assert_close(&what, map.value.data(), &truth, tolerance(case));
            let g = golden.batch::<T>(&format!("{case}__G"));
            let gradient = map.pull_back(g.view()).unwrap();
            let truth = golden.vec(&format!("{case}__{op}_vjp"));
            assert_close(
                &format!("{what} pull-back"),
                gradient.data(),
                &truth,
                tolerance(case),
            );
            assert_eq!(map.value, map.value.transposed(), "{what} symmetric");
            assert_eq!(gradient, gradient.transposed(), "{what} symmetric");
        }
    }
}

#[test]
fn double_precision() {
    matches_truth::<f64>(&CASES, |case| match case {
        "illcond" => 1e-7,
        "clamp" => 1e-8,
        _ => 1e-10,
    });
}

#[test]
fn single_precision() {
    let cases: Vec<&str> = CASES
        .into_iter()
        .filter(|c| !["illcond", "clamp"].contains(c))
        .collect();
    matches_truth::<f32>(&cases, |_| 1e-4);
}

#[test]
fn upper_matches() {
    let golden = Golden::open("ops_spectral");
    let v = spd::upper(golden.batch::<f64>("upper__in").view()).unwrap();
    assert_close("upper", v.data(), &golden.vec("upper__out"), 1e-15);
    let v = spd::upper(golden.batch::<f32>("upper__in").view()).unwrap();
    assert_close("upper", v.data(), &golden.vec("upper__out"), 1e-6);
}
