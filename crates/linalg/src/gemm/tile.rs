//! `C = A B` in tiles whose sums stay in registers: an entry of `A` in all lanes times registers of a row of `B`.
//!
//! Panels of `B` are up to [`REGISTERS`] registers wide, and a tile has up to [`ROWS`] rows. The last register of a row overlaps the one before, and so does the last tile of a
//! column; what they have in common is stored once. `k` is cut into blocks so that a panel stays close, `m` so that a
//! block of `A` stays in the second-level cache.

use super::{One, Part, Strided, pack};
use crate::simd::{Lanes, V, store};
use crate::{Aligned, Scalar};
use pulp::Simd;
use pulp::bytemuck::cast_slice;

/// Registers of a row computed together.
const REGISTERS: usize = 3;
/// Rows computed together where there are 32 registers.
const MORE_ROWS: usize = 8;
/// Rows computed together.
const ROWS: usize = 4;
/// Terms of a block: a panel of so many is read from the first-level cache, or from the second while sums are added up.
const TERMS: usize = 256;
/// Rows of a block of `A`.
const BLOCK: usize = 128;
/// Columns of a block of `B`, about.
const COLUMNS: usize = 960;
/// Numbers that need not be copied: they stay in the second-level cache as they lie.
const SMALL: usize = 1 << 14;
/// Rows of `A` that are not worth a copy of `B`.
const FEW: usize = 64;

/// Something for every row of a tile, written out: a loop over so many rows is not unrolled, and sums that a running index picks live in memory.
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

/// Registers of neighbouring columns.
pub(super) struct Panel {
    /// The first column.
    pub(super) start: usize,
    pub(super) registers: usize,
    /// Where the last register begins, from the first column on.
    last: usize,
    /// Lanes of the last register that the one before has too.
    skip: usize,
}

impl Panel {
    /// The panel from register `at` on, of `n` columns.
    #[inline(always)]
    fn new(n: usize, at: usize, width: usize) -> Self {
        let left = n.div_ceil(width) - at;
        let registers = match left {
            _ if width == 1 => 1,
            4 => 2,
            _ => left.min(REGISTERS),
        };
        let start = at * width;
        let last = (registers - 1) * width;
        let over = (start + last + width).saturating_sub(n);
        // A single register that is not full has nothing before it.
        let skip = if start + last == 0 { 0 } else { over };
        Self {
            start,
            registers,
            last: last - skip,
            skip,
        }
    }

    /// The first column of register `j`.
    #[inline(always)]
    pub(super) fn column(&self, j: usize, width: usize) -> usize {
        self.start
            + if j + 1 == self.registers {
                self.last
            } else {
                j * width
            }
    }
}

/// What a tile is made of and where it goes.
struct Tile<'a, T> {
    k: usize,
    a: Strided<'a, T>,
    /// A panel of `B`: registers of a term from `b`, the last one at `last`; terms `b_row` apart.
    b: &'a [T],
    b_row: usize,
    last: usize,
    add: bool,
    alpha: T,
    /// The first row and column, rows that are stored already, lanes of the last register that are.
    row: usize,
    col: usize,
    skip: (usize, usize),
    /// Where the last register begins in `C`, from `col` on.
    c_last: usize,
    ldc: usize,
    /// Columns of `C`.
    n: usize,
    part: Part,
}

/// One product. Gives whether all of `B` has been copied into the room, where it then is (and `copied` says that it still is).
#[inline(always)]
pub(super) fn run<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    one: One<'_, T>,
    room: &mut Aligned<T>,
    copied: bool,
) -> bool {
    let width = Lanes::<S, T>::width();
    let (m, n, k) = one.shape;
    let copies_b = one.b.col != 1 || n < width || (m > FEW && n * k > SMALL);
    let copies_a = n > 4 * REGISTERS * width && m * k > SMALL;
    let registers = n.div_ceil(width);
    // A single panel may be longer: rows of `A` are then read in longer pieces.
    let most = if registers <= REGISTERS {
        4 * TERMS
    } else {
        TERMS
    };
    let (terms, columns) = (k.min(most), n.min(COLUMNS));
    // A block may end with one more panel than its columns need.
    let room_b = if copies_b {
        terms * (columns + 2 * REGISTERS * width)
    } else {
        0
    };
    let room_a = if copies_a { terms * m.min(BLOCK) } else { 0 };
    let (copy_b, copy_a) = if copies_a || copies_b {
        room.room(room_b + room_a).split_at_mut(room_b)
    } else {
        (&mut [][..], &mut [][..])
    };
    let mut from = 0;
    while from < k {
        let terms = (k - from).min(most);
        let add = one.add || from > 0;
        let mut first = 0;
        while first < registers {
            // Panels up to this register make a block of columns.
            let mut end = first;
            let mut size = 0;
            while end < registers && (end - first) * width < COLUMNS {
                let panel = Panel::new(n, end, width);
                if copies_b && !copied {
                    let long = terms * panel.registers * width;
                    pack::panel(
                        one.b,
                        (from, terms),
                        n,
                        width,
                        &panel,
                        &mut copy_b[size..][..long],
                    );
                    size += long;
                }
                end += panel.registers;
            }
            let mut top = 0;
            while top < m {
                let rows = if copies_a {
                    (m - top).min(BLOCK)
                } else {
                    m - top
                };
                // Blocks wholly above the diagonal.
                let above = one.part == Part::Lower && first * width >= top + rows;
                if !above {
                    let a = if copies_a {
                        pack::block(one.a, (top, rows), (from, terms), copy_a)
                    } else {
                        one.a.from(top, from)
                    };
                    let mut at = first;
                    let mut begin = 0;
                    while at < end {
                        let panel = Panel::new(n, at, width);
                        let long = panel.registers * width;
                        let (b, b_row, last) = if copies_b {
                            (&copy_b[begin..][..terms * long], long, long - width)
                        } else {
                            (one.b.from(from, panel.start).data, one.b.row, panel.last)
                        };
                        let tile = Tile {
                            k: terms,
                            a,
                            b,
                            b_row,
                            last,
                            add,
                            alpha: one.alpha,
                            row: top,
                            col: panel.start,
                            skip: (0, panel.skip),
                            c_last: panel.last,
                            ldc: one.ldc,
                            n,
                            part: one.part,
                        };
                        if panel.registers == 1 {
                            column::<S, T, 1>(l, tile, rows, one.c);
                        } else if const { together::<S, T>() > 1 } {
                            if panel.registers == 2 {
                                column::<S, T, 2>(l, tile, rows, one.c);
                            } else {
                                column::<S, T, 3>(l, tile, rows, one.c);
                            }
                        }
                        begin += terms * long;
                        at += panel.registers;
                    }
                }
                top += rows;
            }
            first = end;
        }
        from += terms;
    }
    copies_b && k <= most && n <= COLUMNS
}

/// Registers of a row computed together: one where a register is one number, as nobody waits for that.
#[inline(always)]
const fn together<S: Simd, T: Scalar>() -> usize {
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
fn column<S: Simd, T: Scalar, const C: usize>(
    l: Lanes<S, T>,
    tile: Tile<'_, T>,
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
    if tile.part == Part::Lower {
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
            ..tile
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

#[inline(always)]
fn compute<S: Simd, T: Scalar, const R: usize, const C: usize>(
    l: Lanes<S, T>,
    tile: &Tile<'_, T>,
    c: &mut [T],
) {
    let sums = sums::<S, T, R, C>(l, tile);
    let width = Lanes::<S, T>::width();
    let whole = tile.n >= width && (tile.part == Part::All || tile.col + C * width <= tile.row + 1);
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
    let fresh = l.from_lane(tile.skip.1);
    let lower = tile.part == Part::Lower;
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
