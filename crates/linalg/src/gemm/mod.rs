//! `C_i ← [C_i +] α·A_i·B_i` of row-major matrices of any size, or its lower triangle alone.
//!
//! | | factors | |
//! |---|---|---|
//! | [`tile`] | `B` by rows | an entry of `A` in all lanes, lanes are neighbouring columns of `C`; every sum runs over `k` in order |
//! | [`dots`] | both along `k`, which is long | lanes are neighbouring terms of one sum |
//!
//! A transposed `B` is copied by rows; so is one that is too large for the caches, and an `A` like
//! it, block by block ([`pack`]). Copies change no bit. The shape of one matrix alone decides how
//! its sums are made, so that its bits depend neither on its batch nor on threads.

mod dots;
mod pack;
mod panels;
mod tile;

use crate::aligned::with_room;
use crate::parts::Sums;
use crate::simd::{Lanes, widest_for};
use crate::{Aligned, Result, Scalar, kernel};
use pulp::Arch;

/// Entry `(i, j)` is `data[row·i + col·j]`; one of the strides is 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) row: usize,
    pub(crate) col: usize,
}

impl<'a, T: Copy> Strided<'a, T> {
    /// Row after row, `row` numbers apart.
    pub(crate) fn rows(data: &'a [T], row: usize) -> Self {
        Self { data, row, col: 1 }
    }

    #[inline(always)]
    pub(crate) fn transposed(self) -> Self {
        Self {
            row: self.col,
            col: self.row,
            ..self
        }
    }

    /// From entry `(i, j)` on.
    #[inline(always)]
    pub(crate) fn from(self, i: usize, j: usize) -> Self {
        self.skip(i * self.row + j * self.col)
    }

    #[inline(always)]
    fn skip(self, numbers: usize) -> Self {
        Self {
            data: &self.data[numbers..],
            ..self
        }
    }
}

/// Products of one shape.
#[derive(Debug)]
pub(crate) struct Gemm<'a, T> {
    pub(crate) count: usize,
    /// `m`, `n` and `k`: `C` is `m × n`, sums have `k` terms.
    pub(crate) shape: (usize, usize, usize),
    pub(crate) add: bool,
    pub(crate) alpha: T,
    /// All, or the lower triangle: nothing else is touched then.
    pub(crate) sums: Sums,
    /// The first matrix, and how far the next one is from it: 0 where one goes with all.
    pub(crate) a: (Strided<'a, T>, usize),
    pub(crate) b: (Strided<'a, T>, usize),
    /// `C` with the distances of its rows and of its matrices.
    pub(crate) c: (&'a mut [T], usize, usize),
}

impl<T: Scalar> Gemm<'_, T> {
    /// Runs with the chosen instruction set.
    pub(crate) fn run(self) -> Result<()> {
        let arch = widest_for::<T>(self.row())?;
        self.run_on(arch);
        Ok(())
    }

    fn run_on(self, arch: Arch) {
        with_room(|room| Products { gemm: self, room }.run(arch));
    }

    /// One column is computed as one row, which lies in memory as it does.
    fn is_column(&self) -> bool {
        self.shape.1 == 1 && self.c.1 == 1
    }

    /// Numbers of a row.
    fn row(&self) -> usize {
        if self.is_column() {
            self.shape.0
        } else {
            self.shape.1
        }
    }
}

/// One product.
struct One<'a, T> {
    shape: (usize, usize, usize),
    add: bool,
    alpha: T,
    sums: Sums,
    a: Strided<'a, T>,
    b: Strided<'a, T>,
    c: &'a mut [T],
    /// How far the rows of `C` are apart.
    ldc: usize,
}

kernel! {
    struct Products<'a, S, T>(l: Lanes<S, T>, gemm: Gemm<'a, T>, room: &'a mut Aligned<T>) {
        let is_column = gemm.is_column();
        let Gemm {
            mut count,
            shape,
            add,
            alpha,
            sums,
            a: (mut a, mut a_step),
            b: (mut b, mut b_step),
            c: (c, mut ldc, c_step),
        } = gemm;
        let (mut m, mut n, k) = shape;
        if m == 0 || n == 0 {
            return;
        }
        if k == 0 {
            return nothing(count, (m, n), add, sums, (c, ldc, c_step));
        }
        if is_column {
            (m, n, ldc) = (1, m, m);
            (a, b) = (b.transposed(), a.transposed());
            (a_step, b_step) = (b_step, a_step);
        }
        // Fewer columns than a register has lanes, and few of everything.
        let tiny = n < Lanes::<S, T>::width() && m * k <= TINY;
        let by_dots = a.col == 1 && b.row == 1 && dots::pays::<S, T>(m, n, k);
        // One `B` for all, and rows of `A` and `C` that go on from matrix to matrix: one tall matrix.
        let (a_goes_on, c_goes_on) = (a.col == 1 && a_step == m * a.row, c_step == m * ldc);
        if b_step == 0 && a_goes_on && c_goes_on && sums == Sums::All {
            (m, count) = (m * count, 1);
        }
        let mut copied = false;
        for i in 0..count {
            let one = &mut One {
                shape: (m, n, k),
                add,
                alpha,
                sums,
                a: a.skip(i * a_step),
                b: b.skip(i * b_step),
                c: &mut c[i * c_step..],
                ldc,
            };
            if tiny {
                plain(one);
            } else if by_dots {
                dots::run(l, one);
            } else {
                copied = panels::run(l, one, room, copied && b_step == 0);
            }
        }
    }
}

/// Entries of `A` up to which a product with few columns is a plain loop.
const TINY: usize = 64;

/// The sums as they are written.
#[inline(always)]
fn plain<T: Scalar>(one: &mut One<'_, T>) {
    let (m, n, k) = one.shape;
    for r in 0..m {
        let wanted = if one.sums == Sums::All {
            n
        } else {
            n.min(r + 1)
        };
        for (col, x) in one.c[r * one.ldc..][..wanted].iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for t in 0..k {
                let (left, right) = (
                    r * one.a.row + t * one.a.col,
                    t * one.b.row + col * one.b.col,
                );
                sum += one.a.data[left] * one.b.data[right];
            }
            let sum = one.alpha * sum;
            *x = if one.add { *x + sum } else { sum };
        }
    }
}

/// A sum without terms.
fn nothing<T: Scalar>(
    count: usize,
    (m, n): (usize, usize),
    add: bool,
    sums: Sums,
    (c, ldc, c_step): (&mut [T], usize, usize),
) {
    if add {
        return;
    }
    for i in 0..count {
        for r in 0..m {
            let end = if sums == Sums::All { n } else { n.min(r + 1) };
            c[i * c_step + r * ldc..][..end].fill(T::ZERO);
        }
    }
}

#[cfg(test)]
mod tests;
