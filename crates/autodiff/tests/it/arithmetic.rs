//! Every pull-back of the arithmetic operations against central differences, over random shapes
//! with broadcasting.

use proptest::prelude::*;
use stiefel_autodiff::{Axis, Result, Shape, Var, gradient_error};
use stiefel_linalg::MatBatch;
use stiefel_testkit::random_batch;

const TOLERANCE: f64 = 1e-8;

type Unary = for<'t> fn(Var<'t, f64>) -> Result<Var<'t, f64>>;
type Binary = for<'t> fn(Var<'t, f64>, Var<'t, f64>) -> Result<Var<'t, f64>>;

fn random(seed: u64, (count, rows, cols): Shape) -> MatBatch<f64> {
    random_batch(seed, count, rows, cols)
}

/// Entries in [0.6, ∞): away from the poles of 1/x, ln and √.
fn positive(seed: u64, shape: Shape) -> MatBatch<f64> {
    let mut x = random(seed, shape);
    x.data_mut().iter_mut().for_each(|v| *v = 0.6 + v.abs());
    x
}

fn shape() -> impl Strategy<Value = Shape> {
    (1..4_usize, 1..5_usize, 1..5_usize)
}

/// A shape with some axes set to one.
fn broadcast(shape: Shape, mask: u8) -> Shape {
    let pick = |size: usize, bit: u8| if mask & bit == 0 { size } else { 1 };
    (pick(shape.0, 1), pick(shape.1, 2), pick(shape.2, 4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn binary(full in shape(), mask_a in 0..8_u8, mask_b in 0..8_u8, seed in 0..1000_u64) {
        let (a, b) = (broadcast(full, mask_a), broadcast(full, mask_b & !mask_a));
        let ops: [(&str, Binary); 4] = [("add", |a, b| a.add(b)), ("sub", |a, b| a.sub(b)), ("mul", |a, b| a.mul(b)), ("div", |a, b| a.div(b))];
        for (name, op) in ops {
            let error = gradient_error(&[random(seed, a), positive(seed + 1, b)], |v| op(v[0], v[1]))?;
            prop_assert!(error < TOLERANCE, "{name} {a:?} {b:?}: {error:e}");
        }
    }

    #[test]
    fn the_same_value_twice(s in shape(), seed in 0..1000_u64) {
        let ops: [Binary; 4] = [|a, b| a.add(b), |a, b| a.sub(b), |a, b| a.mul(b), |a, b| a.div(b)];
        for op in ops {
            let error = gradient_error(&[positive(seed, s)], |v| op(v[0], v[0])?.add(v[0]))?;
            prop_assert!(error < TOLERANCE, "{s:?}: {error:e}");
        }
    }

    #[test]
    fn unary(s in shape(), seed in 0..1000_u64) {
        let smooth: [(&str, Unary); 6] = [
            ("neg", |x| x.neg()), ("exp", |x| x.exp()), ("square", |x| x.square()), ("gelu", |x| x.gelu()),
            ("scale", |x| x.scale(-1.7)), ("add_scalar", |x| x.add_scalar(0.3)),
        ];
        for (name, op) in smooth {
            let error = gradient_error(&[random(seed, s)], |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{name} {s:?}: {error:e}");
        }
        let on_positive: [(&str, Unary); 2] = [("ln", |x| x.ln()), ("sqrt", |x| x.sqrt())];
        for (name, op) in on_positive {
            let error = gradient_error(&[positive(seed, s)], |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{name} {s:?}: {error:e}");
        }
    }

    #[test]
    fn reductions(s in shape(), seed in 0..1000_u64) {
        for axis in [Axis::All, Axis::Matrix, Axis::Count, Axis::Rows, Axis::Cols] {
            let error = gradient_error(&[random(seed, s)], |v| v[0].sum(axis)?.add(v[0].square()?.mean(axis)?))?;
            prop_assert!(error < TOLERANCE, "{axis:?} {s:?}: {error:e}");
        }
    }

    #[test]
    fn products(
        count in 1..4_usize, single_a: bool, single_b: bool,
        rows in 1..5_usize, inner in 1..5_usize, cols in 1..5_usize, seed in 0..1000_u64,
    ) {
        let (na, nb) = (if single_a { 1 } else { count }, if single_b { 1 } else { count });
        let forms: [(&str, Binary, bool, bool); 3] = [
            ("nn", |a, b| a.matmul(b), false, false), ("nt", |a, b| a.matmul_nt(b), false, true),
            ("tn", |a, b| a.matmul_tn(b), true, false),
        ];
        for (name, op, ta, tb) in forms {
            let a = random(seed, if ta { (na, inner, rows) } else { (na, rows, inner) });
            let b = random(seed + 1, if tb { (nb, cols, inner) } else { (nb, inner, cols) });
            let error = gradient_error(&[a.clone(), b.clone()], |v| op(v[0], v[1]))?;
            prop_assert!(error < TOLERANCE, "{name} {:?} {:?}: {error:e}", a.shape(), b.shape());
        }
    }

    #[test]
    fn mixing(b in 1..5_usize, k in 1..4_usize, n in 1..4_usize, p in 1..4_usize, seed in 0..1000_u64) {
        let terms = random(seed, (k, n, p));
        for alpha in [(b, 1, k), (1, b, k)] {
            let error = gradient_error(&[random(seed + 1, alpha), terms.clone()], |v| v[0].mix(v[1]))?;
            prop_assert!(error < TOLERANCE, "{alpha:?}: {error:e}");
        }
    }
}
