//! A tile of `C = A B` whose sums stay in registers: an entry of `A` in all lanes times registers
//! of a row of `B`.
//!
//! A tile has up to [`MORE_ROWS`] rows and as many registers as a panel. The last register of a row
//! overlaps the one before, and so does the last tile of a column; what they have in common is
//! stored once.

use super::Strided;
use super::panels::REGISTERS;
use crate::Scalar;
use crate::parts::Sums;
use crate::simd::{Lanes, V, store};
use pulp::Simd;
use pulp::bytemuck::cast_slice;

/// Rows computed together where there are 32 registers.
const MORE_ROWS: usize = 8;
/// Rows computed together.
const ROWS: usize = 4;

/// Something for every row of a tile, written out: a loop over so many rows is not unrolled, and
/// sums that a running index picks live in memory.
macro_rules! each_row {
    ($i:ident < $count:ident => $what:block) => {
        each_row!(@ $i $count $what 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident $count:ident $what:block $($row:literal)+) => {$(
        if const { $row < $count } {
            let $i = $row;
            $what
        }
    )+};
}

/// What a tile is made of and where it goes.
pub(super) struct Tile<'a, T> {
    pub(super) k: usize,
    pub(super) a: Strided<'a, T>,
    /// A panel of `B`: registers of a term from `b`, the last one at `last`; terms `b_row` apart.
    pub(super) b: &'a [T],
    pub(super) b_row: usize,
    pub(super) last: usize,
    pub(super) add: bool,
    pub(super) alpha: T,
    /// The first row and column, rows that are stored already, lanes of the last register that
    /// are.
    pub(super) row: usize,
    pub(super) col: usize,
    pub(super) skip: (usize, usize),
    /// Where the last register begins in `C`, from `col` on.
    pub(super) c_last: usize,
    pub(super) ldc: usize,
    /// Columns of `C`.
    pub(super) n: usize,
    pub(super) sums: Sums,
}

/// Registers of a row computed together: one where a register is one number, as nobody waits for
/// that.
#[inline(always)]
pub(super) const fn together<S: Simd, T: Scalar>() -> usize {
    if size_of::<V<S, T>>() == size_of::<T>() {
        1
    } else {
        REGISTERS
    }
}

/// Whether tiles may have [`MORE_ROWS`]: there are 32 registers, or a row has only one.
#[inline(always)]
const fn tall<S: Simd, T: Scalar, const C: usize>() -> bool {
    C == 1 || size_of::<V<S, T>>() == 64
}

/// All tiles of a panel: `rows` rows from that of `tile` on.
#[inline(always)]
pub(super) fn column<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
    rows: usize,
    c: &mut [T],
) {
    let most = if const { tall::<S, T, C>() } {
        MORE_ROWS
    } else {
        ROWS
    };
    let (a, top) = (tile.a, tile.row);
    let mut r = 0;
    // The tile on the diagonal is the first one that is wanted.
    if tile.sums == Sums::Lower {
        let diagonal = tile.col.saturating_sub(top);
        r = diagonal - diagonal % most;
    }
    while r < rows {
        let left = rows - r;
        // The smallest tile that covers what is left, if there are enough rows above to overlap.
        let height = if most == MORE_ROWS && left > ROWS && rows >= MORE_ROWS {
            MORE_ROWS
        } else if left > 1 && rows >= ROWS {
            ROWS
        } else {
            1
        };
        let start = r.min(rows - height);
        let tile = Tile {
            a: a.from(start, 0),
            row: top + start,
            skip: (r - start, tile.skip.1),
            ..*tile
        };
        if height == 1 {
            compute::<S, T, 1, C>(l, &tile, c);
        } else if height == ROWS {
            compute::<S, T, ROWS, C>(l, &tile, c);
        } else if const { tall::<S, T, C>() } {
            compute::<S, T, MORE_ROWS, C>(l, &tile, c);
        }
        r = start + height;
    }
}

/// The only row of a panel of more registers than tiles have.
#[inline(always)]
pub(super) fn row<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
    registers: usize,
    c: &mut [T],
) {
    match registers {
        4 => compute::<S, T, 1, 4>(l, tile, c),
        5 => compute::<S, T, 1, 5>(l, tile, c),
        _ => compute::<S, T, 1, 6>(l, tile, c),
    }
}

#[inline(always)]
fn compute<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
    c: &mut [T],
) {
    let sums = sums::<S, T, R, C>(l, tile);
    let width = Lanes::<S, T>::width();
    let whole = tile.n >= width && (tile.sums == Sums::All || tile.col + C * width <= tile.row + 1);
    if whole && (tile.skip.1 == 0 || !tile.add) {
        let alpha = l.splat(tile.alpha);
        each_row!(i < R => {
            if i >= tile.skip.0 {
                let out = &mut c[(tile.row + i) * tile.ldc + tile.col..][..tile.c_last + width];
                for j in 0..C {
                    let at = if j + 1 == C { tile.c_last } else { j * width };
                    let x = &mut T::view_mut::<S>(&mut out[at..][..width])[0];
                    *x = if tile.add {
                        l.mul_add(alpha, sums[i][j], *x)
                    } else {
                        l.mul(alpha, sums[i][j])
                    };
                }
            }
        });
        return;
    }
    // Into memory one by one; from there a short loop takes them.
    let mut found = [[l.splat(T::ZERO); C]; R];
    each_row!(i < R => {
        store(&mut found[i], &sums[i]);
    });
    finish::<S, T>(l, tile, found.as_flattened(), C, c);
}

/// Scaled sums, rows of `registers` registers, into `C`.
#[inline(always)]
fn finish<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
    found: &[V<S, T>],
    registers: usize,
    c: &mut [T],
) {
    let width = Lanes::<S, T>::width();
    let alpha = l.splat(tile.alpha);
    let fresh = l.lanes_from(tile.skip.1);
    let lower = tile.sums == Sums::Lower;
    for (i, sums) in found.chunks_exact(registers).enumerate().skip(tile.skip.0) {
        let row = tile.row + i;
        // Columns that are wanted, of those from `tile.col` on.
        let end = if lower { tile.n.min(row + 1) } else { tile.n };
        if end <= tile.col {
            continue;
        }
        let out = &mut c[row * tile.ldc + tile.col..][..end - tile.col];
        if out.len() < tile.c_last + width {
            store_part(tile, cast_slice(sums), out, width);
            continue;
        }
        for (j, &sum) in sums.iter().enumerate() {
            let is_last = j + 1 == registers;
            let at = if is_last { tile.c_last } else { j * width };
            let x = &mut T::view_mut::<S>(&mut out[at..][..width])[0];
            let new = if tile.add {
                l.mul_add(alpha, sum, *x)
            } else {
                l.mul(alpha, sum)
            };
            *x = if is_last {
                l.select(fresh, new, *x)
            } else {
                new
            };
        }
    }
}

/// Scaled sums of a row into the first columns of a panel, as many as `out` has.
#[inline(always)]
fn store_part<T: Scalar>(tile: &Tile<'_, T>, sums: &[T], out: &mut [T], width: usize) {
    let whole = sums.len() - width;
    for (at, x) in out.iter_mut().enumerate() {
        // What the last two registers have in common is taken from the first of them.
        let from = if at < whole {
            at
        } else {
            whole + at - tile.c_last
        };
        let new = tile.alpha * sums[from];
        *x = if tile.add { *x + new } else { new };
    }
}

/// `R` rows of `C` registers.
#[inline(always)]
fn sums<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
) -> [[V<S, T>; C]; R] {
    let width = Lanes::<S, T>::width();
    let (a, b, last) = (tile.a, tile.b, tile.last);
    let mut sums = [[l.splat(T::ZERO); C]; R];
    let (mut left, mut right) = (0, 0);
    for _ in 0..tile.k {
        let row = &b[right..][..last + width];
        let mut y = [l.splat(T::ZERO); C];
        for j in 0..C {
            let at = if j + 1 == C { last } else { j * width };
            y[j] = T::view::<S>(&row[at..][..width])[0];
        }
        each_row!(i < R => {
            let x = l.splat(a.data[left + i * a.row]);
            for j in 0..C {
                sums[i][j] = l.mul_add(x, y[j], sums[i][j]);
            }
        });
        left += a.col;
        right += tile.b_row;
    }
    sums
}
