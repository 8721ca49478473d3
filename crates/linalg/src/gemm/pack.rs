//! Copies of blocks of factors, laid out as [`tile`](super::tile) reads them.

use super::Strided;
use super::panels::Panel;
use crate::Scalar;
use crate::tiles::transpose;
use pulp::Simd;

/// Terms `from..from + k` of a panel of `B`: `width` columns per register, term after term. Where
/// `n` is less than a register, zeros follow.
#[inline(always)]
pub(super) fn panel<S: Simd, T: Scalar>(
    simd: S,
    b: Strided<'_, T>,
    (from, k): (usize, usize),
    n: usize,
    width: usize,
    panel: &Panel,
    out: &mut [T],
) {
    let long = panel.registers * width;
    for j in 0..panel.registers {
        let col = panel.column(j, width);
        let cols = width.min(n);
        let b = b.from(from, col);
        if b.col == 1 {
            for (t, out) in out.chunks_exact_mut(long).take(k).enumerate() {
                let out = &mut out[j * width..(j + 1) * width];
                let row = &b.data[t * b.row..][..cols];
                if cols == width {
                    out.copy_from_slice(row);
                } else {
                    out[..cols].copy_from_slice(row);
                    out[cols..].fill(T::ZERO);
                }
            }
        } else {
            transpose(simd, b.data, b.col, (cols, k), &mut out[j * width..], long);
            if cols < width {
                for out in out.chunks_exact_mut(long).take(k) {
                    out[cols..].fill(T::ZERO);
                }
            }
        }
    }
}

/// Rows `rows.0..rows.0 + rows.1` and terms `terms.0..terms.0 + terms.1` of `A`, as they lie: by
/// rows or by terms.
#[inline(always)]
pub(super) fn block<'o, T: Scalar>(
    a: Strided<'_, T>,
    rows: (usize, usize),
    terms: (usize, usize),
    out: &'o mut [T],
) -> Strided<'o, T> {
    let from = a.from(rows.0, terms.0);
    let (count, len, stride) = if a.col == 1 {
        (rows.1, terms.1, a.row)
    } else {
        (terms.1, rows.1, a.col)
    };
    for (i, out) in out.chunks_exact_mut(len).take(count).enumerate() {
        out.copy_from_slice(&from.data[i * stride..][..len]);
    }
    let copy = Strided::rows(&out[..], len);
    if a.col == 1 { copy } else { copy.transposed() }
}
