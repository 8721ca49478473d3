//! What faer computes here, for each of the two precisions.
//!
//! Generic code is compiled again in every crate that uses it. Behind this trait, which `f32` and `f64` implement and nothing else can, faer's kernels are
//! compiled once, in this crate; no other crate of the library names faer.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};

/// Matrices one after the other, each `rows × cols` and row-major; a single one goes with every matrix of the other operand.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a, T> {
    pub data: &'a [T],
    pub rows: usize,
    pub cols: usize,
    /// Whether they enter transposed.
    pub transposed: bool,
}

impl<'a, T> Operand<'a, T> {
    /// Matrix `i` as faer sees it.
    fn matrix(&self, i: usize) -> MatRef<'a, T> {
        let size = self.rows * self.cols;
        let at = if self.data.len() == size { 0 } else { i * size };
        let m = MatRef::from_row_major_slice(&self.data[at..at + size], self.rows, self.cols);
        if self.transposed { m.transpose() } else { m }
    }
}

/// A precision that faer computes in.
pub trait Dense: Sized {
    /// `C_i ← [C_i +] α·A_i·B_i`, of shapes that fit; `shape` is that of `C`, count first.
    fn multiply(
        c: &mut [Self],
        shape: (usize, usize, usize),
        add: bool,
        alpha: Self,
        a: Operand<'_, Self>,
        b: Operand<'_, Self>,
    );

    /// Householder's `A = Q R` of one `m × k` matrix, `m ≥ k`: the first `k` columns of `Q`, and `R` with a positive diagonal.
    fn thin_qr(a: &[Self], m: usize, k: usize, q: &mut [Self], r: &mut [Self]);
}

macro_rules! dense {
    ($($t:ident)*) => {$(
        impl Dense for $t {
            #[inline(never)]
            fn multiply(
                c: &mut [Self],
                (count, rows, cols): (usize, usize, usize),
                add: bool,
                alpha: Self,
                a: Operand<'_, Self>,
                b: Operand<'_, Self>,
            ) {
                let accum = if add { Accum::Add } else { Accum::Replace };
                for i in 0..count {
                    let c = &mut c[i * rows * cols..][..rows * cols];
                    let c = MatMut::from_row_major_slice_mut(c, rows, cols);
                    matmul(c, accum, a.matrix(i), b.matrix(i), alpha, Par::Seq);
                }
                release_vector_registers();
            }

            #[inline(never)]
            fn thin_qr(a: &[Self], m: usize, k: usize, q: &mut [Self], r: &mut [Self]) {
                let f = MatRef::from_row_major_slice(a, m, k).qr();
                let (fq, fr) = (f.compute_thin_Q(), f.thin_R());
                for c in 0..k {
                    let sign = if fr[(c, c)] < 0.0 { -1.0 } else { 1.0 };
                    for row in 0..m {
                        q[row * k + c] = sign * fq[(row, c)];
                    }
                    for col in c..k {
                        r[c * k + col] = sign * fr[(c, col)];
                    }
                }
            }
        }
    )*};
}

dense!(f32 f64);

/// How the values of a matrix lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

/// `G ← [G +] α·X·Xᵀ` for `X` of `n × t`: half the products of a general multiplication. Only the lower triangle of `G` (`n × n`) is touched; `add` says
/// whether what it holds stays.
///
/// ```
/// use stiefel_linalg::{Layout, gram_lower};
///
/// let mut g = [0.0; 4];
/// gram_lower(&mut g, false, 0.5, &[1.0, 2.0, 3.0, 4.0], (2, 2), Layout::Rows);
/// assert_eq!(g, [2.5, 0.0, 5.5, 12.5]);
/// ```
///
/// # Panics
/// If the slices do not have `n²` and `n·t` values.
pub fn gram_lower(
    g: &mut [f64],
    add: bool,
    alpha: f64,
    x: &[f64],
    (n, t): (usize, usize),
    layout: Layout,
) {
    let x = match layout {
        Layout::Rows => MatRef::from_row_major_slice(x, n, t),
        Layout::Columns => MatRef::from_column_major_slice(x, n, t),
    };
    gram(MatMut::from_row_major_slice_mut(g, n, n), add, alpha, x);
}

/// [`gram_lower`] of matrices as faer sees them.
pub(crate) fn gram(g: MatMut<'_, f64>, add: bool, alpha: f64, x: MatRef<'_, f64>) {
    triangular_matmul(
        g,
        BlockStructure::TriangularLower,
        if add { Accum::Add } else { Accum::Replace },
        x,
        BlockStructure::Rectangular,
        x.transpose(),
        BlockStructure::Rectangular,
        alpha,
        Par::Seq,
    );
    release_vector_registers();
}

/// Marks the upper halves of the vector registers as unused.
///
/// The product kernels leave them in use, and then scalar code that follows (logarithms, exponentials) waits for them: 500 calls
/// of `ln_1p` took 67 µs after a product, and 3.6 µs after this.
#[inline]
pub(crate) fn release_vector_registers() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx")]
        fn zero_upper() {
            std::arch::x86_64::_mm256_zeroupper();
        }
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the CPU has AVX. The instruction touches only the upper halves of registers that the calling convention
            // lets every function overwrite.
            #[allow(unsafe_code)]
            unsafe {
                zero_upper();
            }
        }
    }
}
