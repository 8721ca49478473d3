//! `G = X·Xᵀ` for `X` of `n × T`, row-major: half the products of a general multiplication, in blocks.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

/// `G ← α·X·Xᵀ` (`accumulate` false) or `G ← G + α·X·Xᵀ`; only the lower triangle of `G` is touched.
///
/// `x` holds `n` rows of `t` values where `row_stride` and `column_stride` say how far apart neighbours are.
pub(crate) fn gram_lower(
    x: &[f64],
    n: usize,
    t: usize,
    layout: Layout,
    alpha: f64,
    accumulate: bool,
    out: &mut [f64],
) {
    let x = match layout {
        Layout::ChannelMajor => MatRef::from_row_major_slice(x, n, t),
        Layout::SampleMajor => MatRef::from_column_major_slice(x, n, t),
    };
    triangular::matmul(
        MatMut::from_row_major_slice_mut(out, n, n),
        BlockStructure::TriangularLower,
        if accumulate {
            Accum::Add
        } else {
            Accum::Replace
        },
        x,
        BlockStructure::Rectangular,
        x.transpose(),
        BlockStructure::Rectangular,
        alpha,
        Par::Seq,
    );
}

/// How the samples of `n` channels lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// All samples of channel 0, then of channel 1.
    ChannelMajor,
    /// All channels of sample 0, then of sample 1.
    SampleMajor,
}

/// Copies the lower triangle to the upper.
pub(crate) fn mirror(out: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            out[j * n + i] = out[i * n + j];
        }
    }
}
