//! Maps of the Stiefel manifold against the golden file, in both precisions.

use crate::support::project_pull_back;
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_testkit::{Golden, assert_close};

const CASES: [&str; 4] = ["s", "m", "w", "sq"];

fn matches<T: Scalar>(tolerance: f64) {
    let golden = Golden::open("ops_stiefel");
    for case in CASES {
        let get = |key: &str| golden.batch::<T>(&format!("{case}__{key}"));
        let close = |what: &str, got: &MatBatch<T>, key: &str| {
            let truth = golden.vec(&format!("{case}__{key}"));
            assert_close(
                &format!("{} {case} {what}", T::NAME),
                got.data(),
                &truth,
                tolerance,
            );
        };
        let (base, w, g) = (get("Wb"), get("W"), get("G"));
        close(
            "project",
            &stiefel::project(base.view(), w.view()).unwrap(),
            "proj",
        );
        let (in_base, in_w) = project_pull_back(&base, &w, &g);
        close("project, in W", &in_base, "proj_vjp_Wb");
        close("project, in Z", &in_w, "proj_vjp_W");

        let moved = stiefel::retract_qr(base.view(), get("Delta").view()).unwrap();
        close("retract", &moved.q, "Qretr");
        close(
            "retract, pull-back",
            &moved.pull_back(get("Gq").view()).unwrap(),
            "qr_vjp_A",
        );

        let map =
            stiefel::cayley_parametrisation(get("cayley_base").view(), get("cayley_X").view());
        let map = map.unwrap();
        close("cayley", &map.w, "cayley_W");
        close(
            "cayley, pull-back",
            &map.pull_back(g.view()).unwrap(),
            "cayley_vjp_X",
        );
    }
}

#[test]
fn double_precision() {
    matches::<f64>(1e-10);
}

#[test]
fn single_precision() {
    matches::<f32>(1e-4);
}

/// `A` of condition 114 to 5170: by Householder, and by the retraction, which changes to it.
#[test]
fn general_full_rank_input() {
    general::<f64>(1e-10);
    general::<f32>(1e-4);
}

fn general<T: Scalar>(tolerance: f64) {
    let golden = Golden::open("ops_stiefel");
    for case in CASES {
        let get = |key: &str| golden.batch::<T>(&format!("{case}__{key}"));
        let a = get("Bgen");
        let zero = MatBatch::zeros(1, a.rows(), a.cols());
        let direct = stiefel::orthonormal_factor(a.view()).unwrap();
        let retracted = stiefel::retract_qr(a.view(), zero.view()).unwrap();
        for (path, factor) in [("direct", direct), ("retracted", retracted)] {
            let what = format!("{} {case} {path}", T::NAME);
            let truth = golden.vec(&format!("{case}__Qgen"));
            assert_close(&what, factor.q.data(), &truth, tolerance);
            let gradient = factor.pull_back(get("Gq").view()).unwrap();
            let truth = golden.vec(&format!("{case}__Bgen_vjp"));
            assert_close(
                &format!("{what} pull-back"),
                gradient.data(),
                &truth,
                tolerance,
            );
        }
    }
}

#[test]
fn angles() {
    let golden = Golden::open("ops_stiefel");
    for case in CASES {
        for key in ["angles_WbW", "angles_scipy"] {
            let truth = golden.vec(&format!("{case}__{key}"));
            let v = golden.batch::<f64>(&format!("{case}__Wb"));
            let w = golden.batch::<f64>(&format!("{case}__W"));
            let got = stiefel::principal_angles(v.view(), w.view()).unwrap();
            let got32 =
                stiefel::principal_angles(v.cast::<f32>().view(), w.cast::<f32>().view()).unwrap();
            // Angles of a whole space with itself are zero: an absolute measure there.
            for ((got, got32), truth) in got.data().iter().zip(got32.data()).zip(&truth) {
                assert!(
                    (got - truth).abs() < 1e-13,
                    "{case} {key}: {got:e} {truth:e}"
                );
                assert!(
                    (f64::from(*got32) - truth).abs() < 1e-5,
                    "{case}: {got32:e} {truth:e}"
                );
            }
            if truth.iter().any(|&t| t > 1e-3) {
                assert_close(&format!("{case} {key}"), got.data(), &truth, 1e-13);
                assert_close(&format!("{case} {key} f32"), got32.data(), &truth, 1e-4);
            }
        }
    }
}

#[test]
fn diversity() {
    let golden = Golden::open("ops_stiefel");
    for case in ["div", "div13"] {
        let w = golden.batch::<f64>(&format!("{case}__W"));
        let degrees = golden.scalar(&format!("{case}__deg"));
        let got = stiefel::mean_pairwise_angle(w.view()).unwrap().to_degrees();
        assert!(
            (got / degrees - 1.0).abs() < 1e-10,
            "{case}: {got} {degrees}"
        );
        let got = stiefel::mean_pairwise_angle(w.cast::<f32>().view())
            .unwrap()
            .to_degrees();
        assert!(
            (f64::from(got) / degrees - 1.0).abs() < 1e-4,
            "{case}: {got} {degrees}"
        );
    }
}
