//! What is refused, and what the error says; where a NaN is traced to.

use stiefel_autodiff::{Axis, Covariances, OpError, Result, Tape, TapeError, Var};
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_testkit::random_batch;

fn refused(result: Result<Var<'_, f64>>) -> (&'static str, OpError, u32) {
    match result {
        Err(TapeError::Operation { op, at, source }) => {
            assert!(at.file().ends_with("errors.rs"), "{at}");
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
        (a.mix(b), "mix"),
        (a.concat(&[b]), "concat"),
        (a.straight_through(b), "straight_through"),
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
    let text = refused(x.log_det()).1.to_string();
    assert!(text.contains("matrix 1"), "{text}");
    let text = refused(x.spd_log()).1.to_string();
    assert!(text.contains("trial 1"), "{text}");
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
fn an_infinity_that_is_meant_is_not_blamed_for_other_faults() {
    let tape = Tape::<f64>::new();
    let inf = f64::NEG_INFINITY;
    let mask = tape.constant(&MatBatch::from_vec(1, 1, 2, vec![0.0, inf]).unwrap());
    let x = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![-1.0, 1.0]).unwrap());
    let masked = x.add(mask).unwrap().softmax().unwrap();
    assert_eq!(masked.value().data(), [1.0, 0.0]);
    let gradients = tape
        .backward(masked.square().unwrap().sum(Axis::All).unwrap())
        .unwrap();
    assert_eq!(gradients.get(x).unwrap().data(), [0.0, 0.0]);
    let root = x.sqrt().unwrap().add(mask).unwrap();
    let error = tape.backward(root.sum(Axis::All).unwrap()).unwrap_err();
    assert!(
        matches!(error, TapeError::NotFinite { op: "sqrt", .. }),
        "{error}"
    );
    let indefinite = tape.constant(&MatBatch::zeros(1, 2, 2));
    assert!(matches!(
        indefinite.log_det(),
        Err(TapeError::Operation { op: "log_det", .. })
    ));
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

/// A covariance with something that is not finite, or that overflows on the way, is named by its
/// place in the batch, for any place in its group of lanes.
fn check_named<T: Scalar>(k: usize, too_large: f64) {
    let (count, n) = (40, 5);
    let w = random_batch::<T>(1, 1, n, k);
    // This filter lets the sums of three columns overflow.
    let overflow = (k == 3).then_some((31, 0..n * n, too_large));
    let cases = [
        (0, 0..1, f64::NAN),
        (17, 24..25, f64::INFINITY),
        (39, 12..13, f64::NEG_INFINITY),
    ];
    for (sample, at, value) in cases.into_iter().chain(overflow) {
        let mut x = MatBatch::<T>::identity(count, n);
        x.matrix_mut(sample)[at].fill(T::from_f64(value));
        let tape = Tape::<T>::new();
        let filters = tape.parameter(&w);
        let covariances = Covariances::Read(x.view(), None);
        let error = tape
            .filtered_log_vectors(filters, covariances, true, 1e-4)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("matrix {sample}")), "{error}");
        assert!(!error.contains("converge"), "{error}");
    }
}

#[test]
fn a_covariance_that_is_not_finite_is_named() {
    for k in 1..=5 {
        check_named::<f64>(k, f64::MAX);
        check_named::<f32>(k, f64::from(f32::MAX));
    }
}
