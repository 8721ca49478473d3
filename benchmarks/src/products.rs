//! Products of batches against faer's: `C_i = op(A_i) op(B_i)`, the shapes that models and studies
//! have.

use crate::timing::side_by_side;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use std::hint::black_box;
use stiefel_linalg::{MatBatch, Op, Scalar, product_into};
use stiefel_testkit::random_batch;

/// Matrices, rows, terms of a sum, columns.
const SHAPES: [(usize, usize, usize, usize); 14] = [
    (64, 4, 4, 4),
    (64, 8, 8, 8),
    (64, 12, 12, 12),
    (32, 22, 22, 22),
    (32, 30, 30, 30),
    (32, 60, 30, 30),
    (32, 60, 60, 30),
    (1, 128, 128, 128),
    (1, 60, 60, 1),
    (1, 1, 2080, 40),
    (1, 32, 2080, 40),
    (1, 500, 900, 4),
    (1, 1643, 838, 60),
    (1, 838, 1643, 838),
];

fn factor<T: Scalar + ComplexField>(x: &MatBatch<T>, i: usize, op: Op) -> MatRef<'_, T> {
    let m = MatRef::from_row_major_slice(x.matrix(i), x.rows(), x.cols());
    if op == Op::T { m.transpose() } else { m }
}

fn row<T: Scalar + ComplexField>((count, m, k, n): (usize, usize, usize, usize), ops: (Op, Op)) {
    let shape = |op: Op, rows: usize, cols: usize| {
        if op == Op::N {
            (rows, cols)
        } else {
            (cols, rows)
        }
    };
    let (a, b) = (shape(ops.0, m, k), shape(ops.1, k, n));
    let a = random_batch::<T>(1, count, a.0, a.1);
    let b = random_batch::<T>(2, count, b.0, b.1);
    let mut ours = MatBatch::<T>::zeros(count, m, n);
    let mut theirs = ours.clone();
    let flops = 2.0 * (count * m * n * k) as f64;
    // Calls that take about 50 µs together, and rounds that take half a second at most.
    let calls = ((2e6 / flops) as usize).max(1);
    let rounds = ((1e10 / flops / calls as f64) as usize).clamp(5, 300);
    let [own, faer] = side_by_side(
        rounds,
        [
            &mut || {
                for _ in 0..calls {
                    let (a, b) = (a.view(), b.view());
                    product_into(ours.view_mut(), false, T::ONE, a, ops.0, b, ops.1)
                        .expect("shapes that fit");
                    black_box(&ours);
                }
            },
            &mut || {
                for _ in 0..calls {
                    for i in 0..count {
                        let c = MatMut::from_row_major_slice_mut(theirs.matrix_mut(i), m, n);
                        let (a, b) = (factor(&a, i, ops.0), factor(&b, i, ops.1));
                        matmul(c, Accum::Replace, a, b, T::ONE, Par::Seq);
                    }
                    black_box(&theirs);
                }
            },
        ],
    );
    let per_matrix = 1e6 / (calls * count) as f64;
    let share = 100.0 * flops * calls as f64 / own / crate::peak::flops(T::NAME);
    println!(
        "{:>4} {:?}{:?} {count:>3} · {:>5} × {:<5}× {:<4} {:>11.3} {:>11.3} {:>7.2}x {share:>6.0}%",
        T::NAME,
        ops.0,
        ops.1,
        m,
        k,
        n,
        own * per_matrix,
        faer * per_matrix,
        faer / own,
    );
}

pub(crate) fn run() {
    println!("products, one thread, microseconds per matrix");
    println!("type op count ·  rows × terms × cols     stiefel        faer    ratio   of FMA peak");
    for shape in SHAPES {
        for a in [Op::N, Op::T] {
            for b in [Op::N, Op::T] {
                row::<f64>(shape, (a, b));
            }
        }
    }
    for shape in SHAPES {
        row::<f32>(shape, (Op::N, Op::N));
        row::<f32>(shape, (Op::N, Op::T));
    }
}
