//! Batches of small dense matrices and the kernels on them.
//!
//! # Conventions
//! * A batch is `count × rows × cols`, matrix after matrix, each row-major ([`MatBatch`]).
//! * Symmetric input is read from its **lower** triangle.
//! * Eigenvalues ascend; eigenvectors are the columns of `U`, so `X = U diag(λ) Uᵀ`.
//! * Cholesky factors are lower: `X = L Lᵀ`. QR has a positive diagonal of `R`.
//! * A matrix's result depends neither on its neighbours in the batch nor on the number of threads,
//!   to the bit; the instruction set ([`instruction_set`], chosen at run time or by `STIEFEL_SIMD`)
//!   may change its last bits.
//!
//! Nothing in this crate knows what an SPD matrix means. Thresholds are in [`tolerance`].

mod aligned;
mod batch;
mod cholesky;
mod directions;
mod eigen;
mod error;
mod factored;
mod gather;
mod gemm;
mod gram;
mod jacobi;
mod kernel;
pub mod lanes;
pub mod minimise;
mod parallel;
mod parts;
mod product;
mod qr;
mod reduce;
mod sandwich;
mod scalar;
pub mod simd;
pub mod tall;
mod tiles;
pub mod tolerance;

pub use aligned::{Aligned, with_room};
pub use batch::{Mat, MatBatch, MatRef, MatView, MatViewMut, sums};
pub use cholesky::{
    CholeskyScratch, cholesky, cholesky_into, inverse_cholesky, inverse_cholesky_into,
    invert_lower, solve_lower, symmetric_inverse_into,
};
pub use directions::{leading_directions, smallest_singular_values};
pub use eigen::{Eigen, EigenWorkspace, Wanted, eigenvalues, eigh};
pub use error::{LinalgError, Result};
pub use factored::Factored;
pub use gram::{Layout, gram_lower};
pub use jacobi::orthogonal_columns;
pub use parallel::{on_this_thread, on_threads, threads_for, with_threads_spinning, worth_threads};
pub use product::{Op, congruence, matmul, product, product_into, product_shape};
pub use qr::{CholeskyQr, Qr, cholesky_qr, qr};
pub use reduce::{
    argmax, asymmetry, frobenius_norm, log_sum_exp, peak, softmax, symmetrise, trace,
};
pub use sandwich::{Outer, SandwichScratch, sandwich_into};
pub use scalar::Scalar;
pub use simd::{InstructionSet, VARIABLE as INSTRUCTION_SET_VARIABLE, instruction_set};
pub use tall::{ProjectionGradients, orthonormalise, project_tall, project_tall_pull_back};
