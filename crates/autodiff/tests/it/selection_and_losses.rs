//! Pull-backs of softmax, losses, selections, arrangements and norms against central differences,
//! and their values by hand.

use proptest::prelude::*;
use std::slice::from_ref;
use stiefel_autodiff::{Axis, Result, Shape, Tape, Var, gradient_error};
use stiefel_linalg::MatBatch;
use stiefel_testkit::{assert_close, random_batch};

const TOLERANCE: f64 = 1e-8;

type Unary = for<'t> fn(Var<'t, f64>) -> Result<Var<'t, f64>>;

fn random(seed: u64, (count, rows, cols): Shape) -> MatBatch<f64> {
    random_batch(seed, count, rows, cols)
}

fn shape() -> impl Strategy<Value = Shape> {
    (1..4_usize, 1..5_usize, 1..5_usize)
}

/// Indices below `bound`, scattered by the seed.
fn indices(seed: u64, len: usize, bound: usize) -> Vec<usize> {
    (0..len)
        .map(|i| (seed as usize * 7 + i * i * 5 + i) % bound)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_shape(s in shape(), seed in 0..1000_u64) {
        let ops: [(&str, Unary); 9] = [
            ("softmax", |x| x.softmax()), ("log_softmax", |x| x.log_softmax()),
            ("transpose", |x| x.transpose()), ("tril", |x| x.tril(0)), ("tril -1", |x| x.tril(-1)), ("tril 1", |x| x.tril(1)), ("tril -9", |x| x.add(x.tril(-9)?)),
            ("normalise_rows", |x| x.add_scalar(0.1)?.normalise_rows()), ("frobenius", |x| x.frobenius_squared()),
        ];
        for (name, op) in ops {
            let x = random(seed, s);
            // A row next to zero has a direction that turns within one step of the difference.
            let short = x.data().chunks(s.2).any(|r| r.iter().map(|v| (v + 0.1) * (v + 0.1)).sum::<f64>() < 0.04);
            if name == "normalise_rows" && short { continue; }
            let error = gradient_error(&[x], |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{name} {s:?}: {error:e}");
        }
    }

    #[test]
    fn square(count in 1..4_usize, n in 1..5_usize, seed in 0..1000_u64) {
        let ops: [(&str, Unary); 5] = [
            ("symmetrise", |x| x.symmetrise()), ("diagonal", |x| x.diagonal()), ("trace", |x| x.trace()),
            ("lower_exp_diagonal", |x| x.lower_exp_diagonal()), ("to_diagonal", |x| x.diagonal()?.square()?.to_diagonal()),
        ];
        for (name, op) in ops {
            let error = gradient_error(&[random(seed, (count, n, n))], |v| op(v[0]))?;
            prop_assert!(error < TOLERANCE, "{name} {count} {n}: {error:e}");
        }
    }

    #[test]
    fn selections(s in shape(), len in 1..6_usize, seed in 0..1000_u64) {
        let x = random(seed, s);
        let (matrices, rows) = (indices(seed, len, s.0), indices(seed, len, s.1));
        let columns = indices(seed, s.0 * s.1, s.2);
        for error in [
            gradient_error(from_ref(&x), |v| v[0].gather(&matrices))?,
            gradient_error(from_ref(&x), |v| v[0].gather_rows(&rows))?,
            gradient_error(from_ref(&x), |v| v[0].pick(&columns))?,
        ] {
            prop_assert!(error < TOLERANCE, "{s:?}: {error:e}");
        }
        let (y, z) = (random(seed + 1, (s.0, s.1, len)), random(seed + 2, (s.0, s.1, 2)));
        let error = gradient_error(&[x, y, z], |v| v[0].concat(&[v[1], v[2], v[0]])?.square())?;
        prop_assert!(error < TOLERANCE, "concat {s:?}: {error:e}");
    }

    #[test]
    fn linear(rows in 1..6_usize, cols in prop::collection::vec(1..5_usize, 1..4), out in 1..5_usize, seed in 0..1000_u64) {
        let parts: Vec<MatBatch<f64>> = cols.iter().zip(seed..).map(|(&c, seed)| random(seed, (1, rows, c))).collect();
        let (w, b) = (random(seed + 7, (1, out, cols.iter().sum())), random(seed + 8, (1, 1, out)));
        // One product after the other: the reference.
        let tape = Tape::new();
        let on_tape = |x: &MatBatch<f64>| tape.parameter(x);
        let x: Vec<Var<'_, f64>> = parts.iter().map(on_tape).collect();
        let (w_var, b_var) = (on_tape(&w), on_tape(&b));
        let expected = x[0].concat(&x[1..])?.matmul_nt(w_var)?.add(b_var)?;
        let found = x[0].linear(&x[1..], w_var, b_var)?;
        assert_close("linear", found.value().data(), expected.value().data(), 1e-13);
        let mut inputs = parts;
        inputs.extend([w, b]);
        let last = inputs.len() - 2;
        let error = gradient_error(&inputs, |v| v[0].linear(&v[1..last], v[last], v[last + 1])?.square())?;
        prop_assert!(error < TOLERANCE, "linear {rows} {cols:?} {out}: {error:e}");
    }

    #[test]
    fn cross_entropy(s in shape(), seed in 0..1000_u64) {
        let labels = indices(seed, s.0 * s.1, s.2);
        let weights: Vec<f64> = (0..labels.len()).map(|i| 0.5 + (i % 3) as f64).collect();
        for weights in [None, Some(&weights[..])] {
            let error = gradient_error(&[random(seed, s)], |v| v[0].cross_entropy(&labels, weights))?;
            prop_assert!(error < TOLERANCE, "{s:?}: {error:e}");
            // The same written with the operations it fuses.
            let tape = Tape::new();
            let z = tape.parameter(&random(seed, s));
            let terms = z.log_softmax()?.pick(&labels)?.neg()?.reshape(1, labels.len(), 1)?;
            let plain = match weights {
                None => terms.mean(Axis::All)?,
                Some(w) => {
                    let sum: f64 = w.iter().sum();
                    let w = MatBatch::from_vec(1, w.len(), 1, w.to_vec())?;
                    terms.mul(tape.constant(&w))?.sum(Axis::All)?.scale(1.0 / sum)?
                }
            };
            let fused = z.cross_entropy(&labels, weights)?;
            assert_close("loss", fused.value().data(), plain.value().data(), 1e-14);
            let (a, b) = (tape.backward(fused)?, tape.backward(plain)?);
            let (a, b) = (a.get(z).unwrap().data(), b.get(z).unwrap().data());
            // One class leaves a gradient of zero up to rounding.
            prop_assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }

    #[test]
    fn cosine(rows in 1..4_usize, cols in 2..5_usize, seed in 0..1000_u64) {
        let (a, mut b) = (random(seed, (2, rows, cols)), random(seed + 1, (1, 1, cols)));
        b.data_mut()[0] += 3.0;
        let long = |x: &MatBatch<f64>| x.data().chunks(cols).all(|r| r.iter().map(|v| v * v).sum::<f64>() > 0.04);
        prop_assume!(long(&a));
        let error = gradient_error(&[a, b], |v| v[0].cosine(v[1]))?;
        prop_assert!(error < TOLERANCE, "{error:e}");
    }
}

#[test]
fn softmax_is_stable_and_log_softmax_agrees() {
    let tape = Tape::<f64>::new();
    let x = MatBatch::from_vec(1, 2, 3, vec![1e4, 1e4, -1e4, 0.0, 1.0, 2.0]).unwrap();
    let x = tape.parameter(&x);
    let (p, l) = (x.softmax().unwrap(), x.log_softmax().unwrap());
    assert_eq!(p.value().data()[..3], [0.5, 0.5, 0.0]);
    assert_eq!(l.value().data()[2], -2e4 - 2_f64.ln());
    let exp = l.exp().unwrap();
    assert_close("softmax", p.value().data(), exp.value().data(), 1e-15);
}

#[test]
fn gelu_matches_tabulated_values() {
    // x·Φ(x) from mpmath 1.3 with 50 digits: `mpf(x)*ncdf(x)`.
    let table = [
        (-6.0, -5.919525870226189e-9),
        (-1.0, -0.15865525393145705),
        (0.0, 0.0),
        (0.5, 0.34573123063700655),
        (3.0, 2.99595030590511),
    ];
    let tape = Tape::<f64>::new();
    for (x, expected) in table {
        let y = tape.scalar(x).gelu().unwrap().item().unwrap();
        let scale = f64::abs(expected).max(f64::MIN_POSITIVE);
        assert!(
            (y - expected).abs() <= 1e-14 * scale,
            "gelu({x}) = {y:e}, not {expected:e}"
        );
    }
}

#[test]
fn rows_of_zeros_have_no_direction_and_no_gradient() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::from_vec(1, 2, 2, vec![0.0, 0.0, 0.0, -4e200]).unwrap());
    let y = x.normalise_rows().unwrap();
    assert_eq!(y.value().data(), [0.0, 0.0, 0.0, -1.0]);
    let gradients = tape.backward(y.sum(Axis::All).unwrap()).unwrap();
    assert_eq!(gradients.get(x).unwrap().data()[..2], [0.0, 0.0]);
}

#[test]
fn argmax_takes_the_first_among_equals() {
    let tape = Tape::<f64>::new();
    let x = MatBatch::from_vec(1, 2, 3, vec![1.0, 2.0, 2.0, 5.0, 4.0, 5.0]).unwrap();
    assert_eq!(tape.constant(&x).argmax(), [1, 0]);
}
