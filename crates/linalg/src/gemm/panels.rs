//! `C = A B` in panels of `B`, up to [`REGISTERS`] registers wide, and blocks: `k` is cut so that a
//! panel stays close, `m` so that a block of `A` stays in the second-level cache.

use super::tile::{Tile, column, row, together};
use super::{One, pack};
use crate::parts::Sums;
use crate::simd::Lanes;
use crate::{Aligned, Scalar};
use pulp::Simd;

/// Registers of a row computed together.
pub(super) const REGISTERS: usize = 3;
/// The same of a product of one row: there are registers for more, and what is far from the
/// processor is read as it lies.
const REGISTERS_OF_ONE: usize = 6;
/// Terms of a block: a panel of so many is read from the first-level cache, or from the second
/// while sums are added up.
const TERMS: usize = 256;
/// Rows of a block of `A`.
const BLOCK: usize = 128;
/// Columns of a block of `B`, about.
const COLUMNS: usize = 960;
/// Numbers that need not be copied: they stay in the second-level cache as they lie.
const SMALL: usize = 1 << 14;
/// Rows of `A` that are not worth a copy of `B`.
const FEW: usize = 64;

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
    /// The panel from register `at` on, of `n` columns, `most` registers at most.
    #[inline(always)]
    fn new(n: usize, at: usize, width: usize, most: usize) -> Self {
        let left = n.div_ceil(width) - at;
        let registers = match left {
            _ if width == 1 => 1,
            // A last one alone would have none before it to overlap.
            _ if left == most + 1 => left / 2,
            _ => left.min(most),
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

/// One product. Gives whether all of `B` has been copied into the room, where it then is (and
/// `copied` says that it still is).
#[inline(always)]
pub(super) fn run<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    one: &mut One<'_, T>,
    room: &mut Aligned<T>,
    copied: bool,
) -> bool {
    let width = Lanes::<S, T>::width();
    let (m, n, k) = one.shape;
    let copies_b = one.b.col != 1 || n < width || (m > FEW && n * k > SMALL);
    let copies_a = n > 4 * REGISTERS * width && m * k > SMALL;
    let registers = n.div_ceil(width);
    let abreast = if Lanes::<S, T>::WIDE && m == 1 && !copies_b {
        REGISTERS_OF_ONE
    } else {
        REGISTERS
    };
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
                let panel = Panel::new(n, end, width, abreast);
                if copies_b && !copied {
                    let long = terms * panel.registers * width;
                    pack::panel(
                        l.simd,
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
                let above = one.sums == Sums::Lower && first * width >= top + rows;
                if !above {
                    let a = if copies_a {
                        pack::block(one.a, (top, rows), (from, terms), copy_a)
                    } else {
                        one.a.from(top, from)
                    };
                    let mut at = first;
                    let mut begin = 0;
                    while at < end {
                        let panel = Panel::new(n, at, width, abreast);
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
                            sums: one.sums,
                        };
                        if panel.registers == 1 {
                            column::<S, T, 1>(l, &tile, rows, one.c);
                        } else if const { together::<S, T>() > 1 } {
                            match panel.registers {
                                2 => column::<S, T, 2>(l, &tile, rows, one.c),
                                3 => column::<S, T, 3>(l, &tile, rows, one.c),
                                // So many only where registers are wide; elsewhere this is not even
                                // compiled.
                                more if Lanes::<S, T>::WIDE => row::<S, T>(l, &tile, more, one.c),
                                more => unreachable!("{more} registers of narrow lanes"),
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
