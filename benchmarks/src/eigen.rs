//! The batched eigen-decomposition against faer's, which gets its scratch memory for free.

use crate::timing::side_by_side;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::RealField;
use faer::{Mat, MatRef, Par, Spec};
use std::hint::black_box;
use stiefel_linalg::{EigenWorkspace, MatBatch, Scalar, Wanted};
use stiefel_testkit::random_spd;

const COUNT: usize = 32;

/// faer's low-level decomposition of a batch, one by one, buffers reused: the unit of other
/// timings.
pub(crate) struct FaerEigen<T: Scalar + RealField> {
    input: MatBatch<T>,
    vectors: Mat<T>,
    values: faer::diag::Diag<T>,
    memory: MemBuffer,
}

impl<T: Scalar + RealField> FaerEigen<T> {
    pub(crate) fn new(input: MatBatch<T>) -> Self {
        let n = input.rows();
        let need =
            self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
        Self {
            input,
            vectors: Mat::zeros(n, n),
            values: faer::diag::Diag::zeros(n),
            memory: MemBuffer::new(need),
        }
    }

    pub(crate) fn run(&mut self) {
        let n = self.input.rows();
        for i in 0..self.input.count() {
            self_adjoint_evd(
                MatRef::from_row_major_slice(self.input.matrix(i), n, n),
                self.values.as_mut(),
                Some(self.vectors.as_mut()),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Spec::default(),
            )
            .expect("a finite symmetric matrix");
            black_box(&self.vectors);
        }
    }
}

/// Floating-point operations of one decomposition with vectors: 4/3 n³ to reduce, 4/3 n³ to
/// accumulate, and 1.7 sweeps per eigenvalue of half the length on average, six operations per
/// rotated pair.
pub(crate) fn flops(n: usize) -> f64 {
    let n = n as f64;
    (8.0 / 3.0 + 1.7 * 3.0) * n * n * n
}

fn row<T: Scalar + RealField>(n: usize) {
    let x = random_spd::<T>(n as u64, COUNT, n);
    let mut faer = FaerEigen::new(x.clone());
    let mut values = vec![T::ZERO; COUNT * n];
    let mut vectors = MatBatch::zeros(COUNT, n, n);
    let mut scratch = EigenWorkspace::default();
    let rounds = 4_000_000 / (n * n * n) + 20;
    let [ours, theirs] = side_by_side(
        rounds,
        [
            &mut || {
                let wanted = Wanted::Vectors(vectors.data_mut());
                (scratch.decompose(x.view(), &mut values, wanted))
                    .expect("a finite symmetric matrix");
            },
            &mut || faer.run(),
        ],
    );
    let per_matrix = 1e6 / COUNT as f64;
    let limit = 1e6 * flops(n) / crate::peak::flops(T::NAME);
    println!(
        "{:>4} {n:>4} {:>12.2} {:>12.2} {:>8.2}x {:>14.2} {:>8.0}%",
        T::NAME,
        ours * per_matrix,
        theirs * per_matrix,
        theirs / ours,
        limit,
        100.0 * limit / (ours * per_matrix)
    );
}

pub(crate) fn run() {
    println!(
        "symmetric eigen-decomposition with vectors, {COUNT} matrices, one thread, microseconds \
         per matrix"
    );
    println!("type    n      stiefel         faer     ratio   limit (FMA)    share");
    for n in [12, 20, 30, 60] {
        row::<f64>(n);
    }
    for n in [12, 20, 30, 60] {
        row::<f32>(n);
    }
}
