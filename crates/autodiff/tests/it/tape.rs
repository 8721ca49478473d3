//! The tape itself: reuse of buffers, detached values, kept gradients, determinism.

use stiefel_autodiff::{Axis, Result, Tape, TapeError, Var, gradient_error};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_testkit::random_batch;

/// A step of a small routed model: gathers, products, a broadcast bias, softmax, mixing, a loss.
fn step<'t, T: Scalar>(
    tape: &'t Tape<T>,
    p: &[MatBatch<T>],
) -> Result<(Vec<Var<'t, T>>, Var<'t, T>)> {
    let v: Vec<Var<'t, T>> = p.iter().map(|b| tape.parameter(b)).collect();
    let q = v[0]
        .gather_rows(&[0, 2, 1, 2])?
        .matmul(v[1])?
        .add(v[2])?
        .gelu()?;
    let alpha = q.matmul_nt(v[3].detach())?.softmax()?;
    let w = alpha.mix(v[4])?;
    let spread = w.frobenius_squared()?.mean(Axis::All)?;
    let align = q
        .detach()
        .cosine(v[3].gather_rows(&alpha.argmax())?)?
        .mean(Axis::All)?;
    let loss = q
        .cross_entropy(&[0, 1, 2, 0], None)?
        .add(spread)?
        .sub(align)?;
    Ok((v, loss))
}

fn parameters<T: Scalar>() -> Vec<MatBatch<T>> {
    let shapes = [(1, 3, 4), (1, 4, 5), (1, 1, 5), (1, 6, 5), (6, 7, 2)];
    let each = shapes
        .iter()
        .zip(1..)
        .map(|(&(b, r, c), seed)| random_batch(seed, b, r, c));
    each.collect()
}

fn all_gradients<T: Scalar>(tape: &Tape<T>, p: &[MatBatch<T>]) -> Vec<T> {
    let (v, loss) = step(tape, p).unwrap();
    let gradients = tape.backward(loss).unwrap();
    let each = v
        .iter()
        .flat_map(|&v| gradients.get(v).unwrap().data().to_vec());
    each.collect()
}

#[test]
fn a_second_identical_step_allocates_nothing_and_gives_the_same_bits() {
    fn run<T: Scalar>() {
        let p = parameters::<T>();
        let mut tape = Tape::new();
        let first = all_gradients(&tape, &p);
        tape.reset();
        let allocated = tape.arena().fresh_allocations();
        assert_eq!(tape.arena().in_use(), 0);
        for _ in 0..5 {
            assert!(all_gradients(&tape, &p) == first, "bits differ");
            tape.reset();
        }
        assert_eq!(tape.arena().fresh_allocations(), allocated);
    }
    run::<f64>();
    run::<f32>();
}

#[test]
fn the_same_bits_on_another_thread() {
    let p = parameters::<f64>();
    let here = all_gradients(&Tape::new(), &p);
    let there = std::thread::spawn(move || all_gradients(&Tape::new(), &p))
        .join()
        .unwrap();
    assert_eq!(here, there);
}

#[test]
fn a_tape_can_move_to_another_thread() {
    let tape = Tape::<f64>::new();
    tape.parameter(&random_batch(1, 1, 2, 2)).exp().unwrap();
    assert_eq!(std::thread::spawn(move || tape.len()).join().unwrap(), 2);
}

#[test]
fn single_precision_follows_double() {
    let double = all_gradients(&Tape::new(), &parameters::<f64>());
    let single = all_gradients(&Tape::new(), &parameters::<f32>());
    stiefel_testkit::assert_close("f32", &single, &double, 1e-5);
}

#[test]
fn constants_and_detached_values_get_no_gradient() {
    let tape = Tape::<f64>::new();
    let (a, b) = (random_batch(1, 1, 2, 2), random_batch(2, 1, 2, 2));
    let (x, c) = (tape.parameter(&a), tape.constant(&b));
    let free = tape.parameter(&b);
    let before = tape.arena().in_use();
    let frozen = c.exp().unwrap().mul(x.detach()).unwrap();
    assert!(!frozen.wants_gradient() && !x.detach().wants_gradient());
    assert_eq!(
        tape.arena().in_use(),
        before + 2,
        "values only, nothing saved"
    );
    let loss = x.mul(frozen).unwrap().sum(Axis::All).unwrap();
    let gradients = tape.backward(loss).unwrap();
    assert_eq!(gradients.get(x).unwrap().data(), frozen.value().data());
    assert!(gradients.get(c).is_none() && gradients.get(x.detach()).is_none());
    assert!(gradients.get(free).is_none(), "not reached by the loss");
    assert!(gradients.get(frozen).is_none());
}

#[test]
fn intermediate_gradients_are_kept_on_request() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&random_batch(1, 1, 2, 3));
    let (kept, dropped) = (x.square().unwrap().keep_gradient(), x.exp().unwrap());
    let loss = kept.mul(dropped).unwrap().sum(Axis::All).unwrap();
    let gradients = tape.backward(loss).unwrap();
    assert_eq!(gradients.get(kept).unwrap().data(), dropped.value().data());
    assert!(gradients.get(dropped).is_none());
}

#[test]
fn several_losses_of_one_forward_pass() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![1.0, 2.0]).unwrap());
    let (a, b) = (x.square().unwrap(), x.scale(3.0).unwrap());
    let (a, b) = (a.sum(Axis::All).unwrap(), b.sum(Axis::All).unwrap());
    assert_eq!(tape.backward(a).unwrap().get(x).unwrap().data(), [2.0, 4.0]);
    assert_eq!(tape.backward(b).unwrap().get(x).unwrap().data(), [3.0, 3.0]);
}

#[test]
fn gradients_outlive_the_step_but_not_for_variables_of_the_next() {
    let mut tape = Tape::<f64>::new();
    let x = random_batch(1, 1, 1, 1);
    let loss = tape.parameter(&x).square().unwrap();
    let gradients = tape.backward(loss).unwrap();
    tape.reset();
    let next = tape.parameter(&x);
    assert!(gradients.get(next).is_none());
}

#[test]
fn reshaped_values_share_one_gradient() {
    let x = random_batch(3, 2, 3, 4);
    let error = gradient_error(&[x], |v| {
        v[0].reshape(1, 6, 4)?
            .matmul_nt(v[0].reshape(1, 6, 4)?)?
            .mul(v[0].reshape(1, 1, 24)?.mean(Axis::All)?)
    });
    assert!(error.unwrap() < 1e-8);
}

#[test]
fn empty_batches_pass_through() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::zeros(0, 3, 3));
    let w = tape.parameter(&random_batch(1, 1, 3, 2));
    let y = w.congruence(x).unwrap();
    assert_eq!(y.shape(), (0, 2, 2));
    let loss = y
        .add(w.matmul_tn(w).unwrap())
        .unwrap()
        .sum(Axis::All)
        .unwrap();
    let gradients = tape.backward(loss).unwrap();
    assert_eq!(gradients.get(w).unwrap().data(), [0.0; 6]);
    assert!(matches!(
        y.mean(Axis::All),
        Err(TapeError::Operation { op: "mean", .. })
    ));
}

#[test]
fn the_listing_shows_the_graph() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&random_batch(1, 1, 2, 2));
    x.exp().unwrap().add(x).unwrap().named("sum");
    let listing = format!("{tape:?}");
    assert!(
        listing.contains("add") && listing.contains("from [1, 0] sum"),
        "{listing}"
    );
}
