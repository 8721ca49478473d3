//! The fused tail against the same chain of single operations, and against central differences.

use proptest::prelude::*;

use stiefel_autodiff::{Axis, Covariances, Filters, Result, Tape, Var, gradient_error_along};
use stiefel_linalg::MatBatch;
use stiefel_testkit::{assert_close, random_batch, random_spd, relative_error};

const EPSILON: f64 = 0.6; // between the eigenvalues of the test matrices, so that some are clamped

fn symmetric(x: &mut MatBatch<f64>) {
    stiefel_linalg::symmetrise(&mut x.view_mut()).expect("square");
}

/// The same by single operations.
fn chain<'t>(a: Var<'t, f64>, x: Var<'t, f64>, retract: bool) -> Result<Var<'t, f64>> {
    let zero = a.scale(0.0)?.detach();
    let w = if retract { a.retract_qr(zero)? } else { a };
    w.congruence(x)?.reeig_log(EPSILON)?.upper()
}

fn check(seed: u64, samples: usize, filters: usize, n: usize, k: usize, retract: bool) {
    let a = random_batch::<f64>(seed, filters, n, k);
    let x = random_spd::<f64>(seed + 1, samples, n);
    let weights = random_batch::<f64>(seed + 2, samples, 1, k * (k + 1) / 2);
    let run = |fused: bool| {
        let tape = Tape::new();
        let (a, x) = (tape.parameter(&a), tape.parameter(&x));
        let z = if fused {
            tape.filtered_log_vectors(a, Covariances::Value(x), retract, EPSILON)
        } else {
            chain(a, x, retract)
        }
        .expect("well conditioned");
        let loss = z
            .mul(tape.constant(&weights))
            .and_then(|l| l.sum(Axis::All))
            .expect("fits");
        let gradients = tape.backward(loss).expect("finite");
        let get = |v| gradients.get(v).expect("reached").data().to_vec();
        (z.value().data().to_vec(), get(a), get(x))
    };
    let (fused, plain) = (run(true), run(false));
    assert_close("value", &fused.0, &plain.0, 1e-10);
    assert_close("gradient in A", &fused.1, &plain.1, 1e-8);
    assert_close("gradient in X", &fused.2, &plain.2, 1e-8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn equals_the_chain(seed in 0_u64..100_000, samples in 1_usize..20, n in 2_usize..9, less in 0_usize..6, shared: bool, retract: bool) {
        let k = n.saturating_sub(less).max(1);
        // A square Gaussian matrix may be nearly singular, which CholeskyQR is not for.
        let n = if retract { n + 4 } else { n };
        check(seed, samples, if shared { 1 } else { samples }, n, k, retract);
    }
}

#[test]
fn central_differences() {
    for (filters, retract) in [(3, true), (1, true), (3, false), (1, false)] {
        let inputs = [
            random_batch::<f64>(1, filters, 7, 4),
            random_spd::<f64>(2, 3, 7),
        ];
        let project = |j: usize, direction: &mut MatBatch<f64>| {
            if j == 1 {
                symmetric(direction);
            }
        };
        let error = gradient_error_along(&inputs, project, |v| {
            v[0].tape()
                .filtered_log_vectors(v[0], Covariances::Value(v[1]), retract, 1e-4)
        })
        .expect("finite");
        assert!(
            error < 1e-7,
            "{filters} filters, retract {retract}: {error:e}"
        );
    }
}

#[test]
fn data_by_position() {
    let data = random_spd::<f64>(3, 9, 6);
    let a = random_batch::<f64>(4, 3, 6, 2);
    let tape = Tape::new();
    let filters = tape.parameter(&a);
    let indices = vec![7, 0, 7];
    let x = tape.constant(&data.select(&indices));
    let read = Covariances::Read(data.view(), Some(&indices));
    let one = tape
        .filtered_log_vectors(filters, read, true, 1e-4)
        .expect("fits");
    let two = tape
        .filtered_log_vectors(filters, Covariances::Value(x), true, 1e-4)
        .expect("fits");
    assert_eq!(one.value().data(), two.value().data());
    let beyond = Covariances::Read(data.view(), Some(&[0, 9, 1]));
    let error = tape
        .filtered_log_vectors(filters, beyond, true, 1e-4)
        .expect_err("out of range");
    assert!(
        error.to_string().contains("covariance 9 at position 1"),
        "{error}"
    );
}

/// Values and gradients of every sample, for a batch cut in any way and on any number of threads.
#[test]
fn the_bits_depend_neither_on_neighbours_nor_on_threads() {
    fn run(range: std::ops::Range<usize>, threads: usize, n: usize, k: usize) -> [Vec<f32>; 3] {
        let one = |x: MatBatch<f32>| x.select(&range.clone().collect::<Vec<_>>());
        let a = one(random_batch::<f32>(11, 37, n, k));
        let x = one(random_spd::<f32>(12, 37, n));
        let weights = one(random_batch::<f32>(13, 37, 1, k * (k + 1) / 2));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let tape = Tape::new();
            let (a, x) = (tape.parameter(&a), tape.parameter(&x));
            let z = tape.filtered_log_vectors(a, Covariances::Value(x), true, 1e-4);
            let z = z.expect("well conditioned");
            let loss = z
                .mul(tape.constant(&weights))
                .and_then(|l| l.sum(Axis::All));
            let gradients = tape.backward(loss.expect("fits")).expect("finite");
            let get = |v| gradients.get(v).expect("reached").data().to_vec();
            [z.value().data().to_vec(), get(a), get(x)]
        })
    }
    // Large enough for threads to be used.
    let (n, k) = (24, 20);
    let whole = run(0..37, 1, n, k);
    for threads in [2, 3] {
        assert_eq!(run(0..37, threads, n, k), whole, "{threads} threads");
    }
    for (from, to) in [(0, 1), (5, 6), (0, 16), (16, 37), (3, 36)] {
        let part = run(from..to, 2, n, k);
        for (part, whole) in part.iter().zip(&whole) {
            let size = whole.len() / 37;
            assert_eq!(part, &whole[from * size..to * size], "samples {from}..{to}");
        }
    }
}

/// A mixture that is never written out, against the same by single operations: value, and gradients
/// in weights, directions, base and covariances, on any number of threads.
#[test]
fn a_mixture_inside_equals_one_outside() {
    fn run(
        fused: bool,
        threads: usize,
        (samples, experts, retract): (usize, usize, bool),
        frozen: Option<usize>,
    ) -> Vec<Vec<f64>> {
        let (n, k) = (22, 18);
        let weights = random_batch::<f64>(21, 1, samples, experts);
        let directions = random_batch::<f64>(22, experts, n, k);
        let (base, x) = (
            random_batch::<f64>(23, 1, n, k),
            random_spd::<f64>(24, samples, n),
        );
        let loss_weights = random_batch::<f64>(25, samples, 1, k * (k + 1) / 2);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let tape = Tape::new();
            let given = [&weights, &directions, &base, &x];
            let leaf = |i: usize| match frozen {
                Some(frozen) if frozen == i => tape.constant(given[i]),
                _ => tape.parameter(given[i]),
            };
            let given = [0, 1, 2, 3].map(leaf);
            let [weights, directions, base, x] = given;
            let filters = if fused {
                Filters::Mixed {
                    weights,
                    directions,
                    base,
                }
            } else {
                let step = weights.mix(directions).expect("fits");
                base.add(step).expect("fits").into()
            };
            let z = tape
                .filtered_log_vectors(filters, Covariances::Value(x), retract, 1e-4)
                .expect("well conditioned");
            let loss = z
                .mul(tape.constant(&loss_weights))
                .and_then(|l| l.sum(Axis::All));
            let gradients = tape.backward(loss.expect("fits")).expect("finite");
            let each = given.map(|v| gradients.get(v).map(|g| g.data().to_vec()));
            std::iter::once(z.value().data().to_vec())
                .chain(each.map(Option::unwrap_or_default))
                .collect()
        })
    }
    // Of 61 samples, large enough for threads to be used; a register has 16, 8, 4 or 1 of the
    // experts.
    for case in [
        (1, 1, true),
        (5, 3, true),
        (61, 9, true),
        (61, 16, false),
        (61, 2, true),
    ] {
        let fused = run(true, 1, case, None);
        for threads in [2, 3] {
            assert!(fused == run(true, threads, case, None));
            // A gradient that nobody wants changes no other.
            for frozen in 0..4 {
                let mut expected = fused.clone();
                expected[1 + frozen].clear();
                assert!(expected == run(true, threads, case, Some(frozen)));
            }
        }
        let outside = run(false, 1, case, None);
        for (at, (fused, outside)) in fused.iter().zip(&outside).enumerate() {
            let error = relative_error(fused, outside);
            assert!(error < 1e-9, "{case:?}, part {at}: {error:e}");
        }
    }
}

#[test]
fn the_parts_of_a_mixture_have_to_fit() {
    let tape = Tape::<f64>::new();
    let x = || Covariances::Value(tape.constant(&random_spd::<f64>(1, 4, 5)));
    let of = |shape: (usize, usize, usize)| {
        tape.parameter(&random_batch::<f64>(2, shape.0, shape.1, shape.2))
    };
    for (weights, directions, base) in [
        ((1, 4, 3), (2, 5, 2), (1, 5, 2)),
        ((1, 3, 2), (2, 5, 2), (1, 5, 2)),
        ((4, 1, 2), (2, 5, 2), (1, 5, 2)),
        ((1, 4, 2), (2, 5, 2), (2, 5, 2)),
        ((1, 4, 2), (2, 6, 2), (1, 6, 2)),
        ((1, 1, 2), (2, 5, 2), (1, 5, 2)),
    ] {
        let mixed = Filters::Mixed {
            weights: of(weights),
            directions: of(directions),
            base: of(base),
        };
        let refused = tape.filtered_log_vectors(mixed, x(), true, 1e-4);
        assert!(refused.is_err(), "{weights:?} {directions:?} {base:?}");
    }
}

/// One filter for all samples: the sum over samples has one order, whoever adds.
#[test]
fn a_shared_filter_has_one_gradient_on_any_number_of_threads() {
    let (n, k, samples) = (22, 20, 40);
    let (a, x) = (
        random_batch::<f64>(14, 1, n, k),
        random_spd::<f64>(15, samples, n),
    );
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let tape = Tape::new();
            let (a, x) = (tape.parameter(&a), tape.constant(&x));
            let z = tape.filtered_log_vectors(a, Covariances::Value(x), false, 1e-4);
            let loss = z.and_then(|z| z.square()).and_then(|l| l.sum(Axis::All));
            let gradients = tape.backward(loss.expect("fits")).expect("finite");
            gradients.get(a).expect("reached").data().to_vec()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn single_precision_is_close() {
    let (a, x) = (
        random_batch::<f64>(5, 4, 12, 6),
        random_spd::<f64>(6, 4, 12),
    );
    let tape = Tape::new();
    let z = tape
        .filtered_log_vectors(
            tape.parameter(&a),
            Covariances::Value(tape.constant(&x)),
            true,
            1e-4,
        )
        .expect("fits");
    let tape32 = Tape::<f32>::new();
    let (a, x) = (tape32.parameter(&a.cast()), tape32.constant(&x.cast()));
    let z32 = tape32
        .filtered_log_vectors(a, Covariances::Value(x), true, 1e-4)
        .expect("fits");
    assert!(relative_error(z32.value().data(), z.value().data()) < 1e-5);
}

#[test]
fn errors_name_the_place() {
    let tape = Tape::<f64>::new();
    let x = tape.constant(&random_spd(1, 20, 4));
    let mut a = random_batch::<f64>(2, 20, 4, 2);
    a.matrix_mut(17).fill(0.0);
    let singular = tape.parameter(&a);
    let error = tape
        .filtered_log_vectors(singular, Covariances::Value(x), true, 1e-4)
        .expect_err("rank 0");
    assert!(error.to_string().contains("matrix 17"), "{error}");
    for (count, n, k) in [(3, 4, 2), (20, 5, 2), (20, 4, 5)] {
        let a = tape.parameter(&random_batch(3, count, n, k));
        assert!(
            tape.filtered_log_vectors(a, Covariances::Value(x), true, 1e-4)
                .is_err()
        );
    }
}

/// One sample of a decision takes kernels along the rows of its matrices.
#[test]
fn a_decision_equals_the_batch() {
    let (n, k, experts) = (9, 5, 3);
    let x = random_spd::<f64>(1, 4, n);
    let (base, directions) = (
        random_batch::<f64>(2, 1, n, k),
        random_batch(3, experts, n, k),
    );
    let weights = MatBatch::from_fn(1, 4, experts, |_, i, j| 0.1 + (i + 2 * j) as f64 / 20.0);
    let alpha = |i: usize| MatBatch::from_fn(1, 1, experts, |_, _, j| weights.get(0, i, j));
    let forward = |tape: &Tape<f64>, alpha: &MatBatch<f64>, x: Covariances<'_, '_, f64>| {
        let filters = Filters::Mixed {
            weights: tape.constant(alpha),
            directions: tape.constant(&directions),
            base: tape.constant(&base),
        };
        let z = tape
            .filtered_log_vectors(filters, x, true, 1e-4)
            .expect("fits");
        z.value().data().to_vec()
    };
    let all = forward(&Tape::new(), &weights, Covariances::Read(x.view(), None));
    let mut tape = Tape::new();
    tape.decide_along_rows();
    for (i, expected) in all.chunks_exact(k * (k + 1) / 2).enumerate() {
        tape.rewind();
        let one = forward(&tape, &alpha(i), Covariances::Read(x.view(), Some(&[i])));
        for (a, b) in one.iter().zip(expected) {
            assert!((a - b).abs() < 1e-13, "{a} and {b}");
        }
    }
}
