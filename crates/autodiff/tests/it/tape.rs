//! The tape itself: reuse of buffers, detached values, kept gradients, determinism, and every error.

use std::sync::Arc;
use stiefel_autodiff::{Axis, OpError, Result, Tape, TapeError, Var, gradient_error};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_testkit::{random_batch, random_spd};

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
fn shared_constants_are_not_copied() {
    let tape = Tape::<f64>::new();
    let data = Arc::new(random_spd(1, 2, 3));
    let x = tape.constant_shared(Arc::clone(&data));
    assert!(std::ptr::eq(x.value().data(), data.data()));
    assert_eq!(tape.arena().in_use(), 0);
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

fn refused(result: Result<Var<'_, f64>>) -> (&'static str, OpError, u32) {
    match result {
        Err(TapeError::Operation { op, at, source }) => {
            assert!(at.file().ends_with("tape.rs"), "{at}");
            (op, source, at.line())
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn shape_errors_name_operation_line_and_both_shapes() {
    let tape = Tape::<f64>::new();
    let of = |b, r, c| tape.parameter(&MatBatch::zeros(b, r, c));
    let (a, b) = (of(2, 3, 4), of(3, 3, 4));
    let both = vec![a.shape(), b.shape()];
    let cases = [
        (a.add(b), "add"),
        (a.mul(b), "mul"),
        (a.matmul(b), "matmul"),
        (a.matmul_nt(b), "matmul_nt"),
        (a.matmul_tn(b), "matmul_tn"),
        (a.matmul_tt(b), "matmul_tt"),
        (a.mix(b), "mix"),
        (a.concat(&[b]), "concat"),
        (a.straight_through(b), "straight_through"),
        (a.solve_lower(b), "solve_lower"),
    ];
    for (result, name) in cases {
        let (op, source, _) = refused(result);
        assert_eq!(op, name);
        assert!(
            matches!(source, OpError::Shape { found, .. } if found == both),
            "{name}"
        );
    }
    let line = line!() + 1;
    let (op, source, at) = refused(a.reshape(1, 5, 5));
    assert_eq!((op, at), ("reshape", line));
    assert!(
        source.to_string().contains("2 × 3 × 4 and 1 × 5 × 5"),
        "{source}"
    );
    for (result, name) in [
        (a.symmetrise(), "symmetrise"),
        (a.trace(), "diagonal"),
        (a.spd_log(), "spd_log"),
        (a.cholesky(), "cholesky"),
        (a.upper(), "upper"),
        (a.from_upper(), "from_upper"),
        (a.to_diagonal(), "to_diagonal"),
        (a.log_det(), "log_det"),
        (of(1, 2, 0).softmax(), "softmax"),
        (a.reshape(2, 1, 12).unwrap().from_upper(), "from_upper"),
    ] {
        assert_eq!(refused(result).0, name);
    }
}

#[test]
fn indices_labels_and_weights_are_checked() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&random_batch(1, 1, 3, 2));
    let index = |what, position, index, bound| OpError::Index {
        what,
        position,
        index,
        bound,
    };
    assert_eq!(refused(x.gather(&[0, 1])).1, index("matrix", 1, 1, 1));
    assert_eq!(refused(x.gather_rows(&[3])).1, index("row", 0, 3, 3));
    assert_eq!(refused(x.pick(&[0, 1, 2])).1, index("column", 2, 2, 2));
    assert!(matches!(
        refused(x.pick(&[0])).1,
        OpError::Length {
            expected: 3,
            found: 1,
            ..
        }
    ));
    assert_eq!(
        refused(x.cross_entropy(&[0, 5, 0], None)).1,
        index("label", 1, 5, 2)
    );
    assert!(matches!(
        refused(x.cross_entropy(&[0], None)).1,
        OpError::Length { .. }
    ));
    let weighted = |w: &[f64]| refused(x.cross_entropy(&[0, 1, 0], Some(w))).1;
    assert!(matches!(weighted(&[1.0]), OpError::Length { .. }));
    assert!(matches!(
        weighted(&[1.0, -1.0, 1.0]),
        OpError::Argument { .. }
    ));
    assert!(matches!(
        weighted(&[1.0, f64::NAN, 1.0]),
        OpError::Argument { .. }
    ));
    assert!(matches!(weighted(&[0.0; 3]), OpError::Argument { .. }));
    let empty = tape.parameter(&MatBatch::zeros(1, 0, 2));
    assert!(matches!(
        refused(empty.cross_entropy(&[], None)).1,
        OpError::Shape { .. }
    ));
}

#[test]
fn kernel_errors_name_the_matrix() {
    let tape = Tape::<f64>::new();
    let mut x = MatBatch::identity(3, 2);
    x.matrix_mut(1)[3] = -1.0;
    let x = tape.parameter(&x);
    for result in [x.cholesky(), x.log_det()] {
        let text = refused(result).1.to_string();
        assert!(text.contains("matrix 1"), "{text}");
    }
    let text = refused(x.spd_log()).1.to_string();
    assert!(text.contains("trial 1"), "{text}");
    let l = tape.parameter(&MatBatch::from_vec(1, 2, 2, vec![1.0, 0.0, 5.0, 0.0]).unwrap());
    assert_eq!(
        refused(l.invert_lower()).1,
        OpError::Singular { matrix: 0, row: 1 }
    );
}

#[test]
fn losses_that_cannot_be_differentiated() {
    let (tape, other) = (Tape::<f64>::new(), Tape::<f64>::new());
    let x = tape.parameter(&random_batch(1, 1, 2, 1));
    assert_eq!(
        tape.backward(x).unwrap_err(),
        TapeError::LossNotScalar { shape: (1, 2, 1) }
    );
    let constant = x.detach().sum(Axis::All).unwrap();
    assert_eq!(tape.backward(constant).unwrap_err(), TapeError::NoParameter);
    let y = other.parameter(&random_batch(1, 1, 2, 1));
    assert!(matches!(
        x.add(y),
        Err(TapeError::OtherTape {
            op: "add",
            input: 1,
            ..
        })
    ));
    let loss = y.sum(Axis::All).unwrap();
    assert!(matches!(
        tape.backward(loss),
        Err(TapeError::OtherTape { .. })
    ));
}

#[test]
fn a_nan_is_traced_to_the_operation_that_made_it() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::from_vec(2, 1, 2, vec![1.0, 4.0, 9.0, -0.5]).unwrap());
    let line = line!() + 1;
    let root = x.named("power").sqrt().unwrap().named("amplitude");
    let loss = root.square().unwrap().mean(Axis::All).unwrap();
    let error = tape.backward(loss).unwrap_err();
    assert_eq!(
        tape.check_finite().unwrap_err().to_string(),
        error.to_string()
    );
    let TapeError::NotFinite {
        op,
        label,
        at,
        matrix,
        row,
        col,
        value,
        ref inputs,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((op, label, at.line()), ("sqrt", Some("amplitude"), line));
    assert_eq!((matrix, row, col), (1, 0, 1));
    assert!(value.is_nan());
    assert_eq!(inputs, "its input 0 \"power\" has values from -5e-1 to 9e0");
}

#[test]
fn a_kernel_that_meets_a_nan_reports_its_origin() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::identity(1, 2));
    let broken = x.ln().unwrap().add(x).unwrap(); // ln 0 off the diagonal
    let error = broken.spd_log().unwrap_err();
    assert!(
        matches!(error, TapeError::NotFinite { op: "ln", .. }),
        "{error}"
    );
    let tape = Tape::<f64>::new();
    let bad = tape.constant(&MatBatch::from_vec(1, 1, 1, vec![f64::NAN]).unwrap());
    let error = bad.exp().unwrap().reeig_log(1e-4).unwrap_err();
    assert!(
        matches!(error, TapeError::NotFinite { op: "constant", .. }),
        "{error}"
    );
    assert!(error.to_string().contains("it is a leaf"), "{error}");
}

#[test]
fn an_infinite_gradient_of_a_finite_loss_is_traced_to_its_pull_back() {
    let tape = Tape::<f64>::new();
    let x = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![4.0, 0.0]).unwrap());
    let loss = x.sqrt().unwrap().named("root").sum(Axis::All).unwrap();
    let error = tape.backward(loss).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the pull-back of sqrt \"root\" ("),
        "{text}"
    );
    assert!(
        text.contains("inf for its input 0, matrix 0, row 0, column 1"),
        "{text}"
    );
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
