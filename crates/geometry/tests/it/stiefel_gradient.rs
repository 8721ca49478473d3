//! Pull-backs of the Stiefel maps against central differences, at steps of norm about one.

use crate::support::{check_gradient, points, project_pull_back, tangent};
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, frobenius_norm};
use stiefel_testkit::random_batch;

const SHAPES: [(usize, usize); 5] = [(5, 3), (6, 1), (4, 4), (1, 1), (7, 6)];
const STEP: (f64, f64) = (1e-3, 1e-9);

/// A tangent vector of Frobenius norm 1 at each point.
fn unit_tangent(seed: u64, w: &MatBatch<f64>) -> MatBatch<f64> {
    let t = tangent(seed, w);
    let norms = frobenius_norm(t.view());
    MatBatch::from_fn(t.count(), t.rows(), t.cols(), |i, r, c| {
        t.get(i, r, c) / norms[i].max(1e-12)
    })
}

#[test]
fn projection_in_both_arguments() {
    for (n, k) in SHAPES {
        // Any W, not only orthonormal ones: the gradient is the ambient one. Each side broadcast in
        // turn.
        for (count_w, count_z) in [(2, 2), (1, 3), (3, 1)] {
            let w = random_batch::<f64>(1, count_w, n, k);
            let z = random_batch::<f64>(2, count_z, n, k);
            let g = random_batch::<f64>(3, count_w.max(count_z), n, k);
            let (in_w, in_z) = project_pull_back(&w, &z, &g);
            check_gradient("in W", &w, &in_w, &g, false, STEP, |w| {
                stiefel::project(w.view(), z.view()).unwrap()
            });
            check_gradient("in Z", &z, &in_z, &g, false, STEP, |z| {
                stiefel::project(w.view(), z.view()).unwrap()
            });
        }
    }
}

#[test]
fn qr_retraction() {
    for (n, k) in SHAPES {
        let w = points(4, 2, n, k);
        let delta = unit_tangent(5, &w);
        let g = random_batch::<f64>(6, 2, n, k);
        let gradient = stiefel::retract_qr(w.view(), delta.view())
            .unwrap()
            .pull_back(g.view())
            .unwrap();
        for (what, at) in [("in Δ", &delta), ("in W", &w)] {
            let other = if what == "in Δ" { &w } else { &delta };
            check_gradient(
                &format!("qr {n}×{k} {what}"),
                at,
                &gradient,
                &g,
                false,
                STEP,
                |x| stiefel::retract_qr(x.view(), other.view()).unwrap().q,
            );
        }
    }
}

#[test]
fn factors_of_general_matrices() {
    for (n, k) in SHAPES {
        let a = random_batch::<f64>(7, 2, n, k);
        let g = random_batch::<f64>(8, 2, n, k);
        let gradient = stiefel::orthonormal_factor(a.view())
            .unwrap()
            .pull_back(g.view())
            .unwrap();
        check_gradient("qf", &a, &gradient, &g, false, (1e-4, 1e-8), |a| {
            stiefel::orthonormal_factor(a.view()).unwrap().q
        });
        let gradient = stiefel::polar_factor(a.view())
            .unwrap()
            .pull_back(g.view())
            .unwrap();
        check_gradient("polar", &a, &gradient, &g, false, (1e-4, 1e-8), |a| {
            stiefel::polar_factor(a.view()).unwrap().q
        });
    }
}

#[test]
fn polar_retraction() {
    for (n, k) in SHAPES {
        let w = points(9, 2, n, k);
        // At Δ = 0 all eigenvalues of I + ΔᵀΔ are equal.
        for delta in [unit_tangent(10, &w), MatBatch::zeros(2, n, k)] {
            let g = random_batch::<f64>(11, 2, n, k);
            let moved = stiefel::retract_polar(w.view(), delta.view()).unwrap();
            let gradient = moved.pull_back(g.view()).unwrap();
            check_gradient("polar in Δ", &delta, &gradient, &g, false, STEP, |d| {
                stiefel::retract_polar(w.view(), d.view()).unwrap().q
            });
        }
    }
}

#[test]
fn cayley_parametrisation() {
    for (n, k) in SHAPES {
        for bases in [1, 3] {
            let base = points(15, bases, n, n);
            let x = random_batch::<f64>(16, 3, n, k);
            let g = random_batch::<f64>(17, 3, n, k);
            let map = stiefel::cayley_parametrisation(base.view(), x.view()).unwrap();
            let gradient = map.pull_back(g.view()).unwrap();
            check_gradient("cayley in X", &x, &gradient, &g, false, STEP, |x| {
                stiefel::cayley_parametrisation(base.view(), x.view())
                    .unwrap()
                    .w
            });
        }
    }
}
