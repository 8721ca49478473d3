//! `G ← [G +] α·X·Xᵀ`: the lower triangle of a Gram matrix.

use crate::Result;
use crate::gemm::{Gemm, Strided};
use crate::parts::Sums;

/// How the values of a matrix lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

/// `G ← [G +] α·X·Xᵀ` for `X` of `n × t`: half the products of a general multiplication. Only the
/// lower triangle of `G` (`n × n`) is touched; `add` says whether what it holds stays.
///
/// ```
/// use stiefel_linalg::{Layout, gram_lower};
///
/// let mut g = [0.0; 4];
/// gram_lower(
///     &mut g,
///     false,
///     0.5,
///     &[1.0, 2.0, 3.0, 4.0],
///     (2, 2),
///     Layout::Rows,
/// )?;
/// assert_eq!(g, [2.5, 0.0, 5.5, 12.5]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// Where `STIEFEL_SIMD` asks for instructions that cannot be had.
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
) -> Result<()> {
    assert_eq!((g.len(), x.len()), (n * n, n * t), "the sizes of G and X");
    let x = match layout {
        Layout::Rows => Strided::rows(x, t),
        Layout::Columns => Strided::rows(x, n).transposed(),
    };
    Gemm {
        count: 1,
        shape: (n, n, t),
        add,
        alpha,
        sums: Sums::Lower,
        a: (x, 0),
        b: (x.transposed(), 0),
        c: (g, n, 0),
    }
    .run()
}
