//! `C = [C −] A B` of one small matrix in padded rows: lanes are neighbouring columns of `C`, an
//! entry of `A` is in all of them.
//!
//! Rows of `B` and `C` have whole registers, zeros at their end; every sum runs over its terms in
//! order.

use crate::parts::{Sums, Terms};
use crate::simd::{Lanes, store};
use crate::{Scalar, kernel};
use pulp::Simd;

/// One product. Entry `(r, t)` of `A` is `a[r·row + t·term]`.
#[derive(Debug)]
pub(crate) struct Product<'a, T> {
    /// Rows of `C`, and terms of a sum.
    pub(crate) rows: usize,
    pub(crate) inner: usize,
    pub(crate) a: &'a [T],
    pub(crate) row: usize,
    pub(crate) term: usize,
    /// `inner` padded rows.
    pub(crate) b: &'a [T],
    /// `rows` padded rows.
    pub(crate) c: &'a mut [T],
    /// Whether the product is taken from what is in `C`.
    pub(crate) subtract: bool,
    pub(crate) sums: Sums,
    pub(crate) terms: Terms,
}

/// Rows computed together, and registers of each; there are 32 or 16 registers.
const MORE: (usize, usize) = (6, 4);
const FEWER: (usize, usize) = (4, 3);

/// Computes a product inside another kernel.
#[inline(always)]
pub(crate) fn multiply<S: Simd, T: Scalar>(simd: S, product: Product<'_, T>) {
    simd.vectorize(Multiply { product });
}

kernel! {
    /// One function for all callers: inlined, it would be compiled again in each of them.
    struct Multiply<'a, S, T>(l: Lanes<S, T>, product: Product<'a, T>) {
        product.run(l);
    }
}

impl<'a, T: Scalar> Product<'a, T> {
    /// `C = A B` of `rows` rows and sums of `inner` terms; rows and terms of `A` are so many
    /// numbers apart.
    #[inline(always)]
    pub(crate) fn new(
        (rows, inner): (usize, usize),
        (a, row, term): (&'a [T], usize, usize),
        b: &'a [T],
        c: &'a mut [T],
    ) -> Self {
        Self {
            rows,
            inner,
            a,
            row,
            term,
            b,
            c,
            subtract: false,
            sums: Sums::All,
            terms: Terms::All,
        }
    }

    #[inline(always)]
    fn run<S: Simd>(mut self, l: Lanes<S, T>) {
        let stride = self.c.len() / self.rows.max(1) / Lanes::<S, T>::width();
        // Of a column of registers on a diagonal a part is not needed: the narrower it is, the
        // less.
        let most = if self.sums == Sums::Upper || self.terms == Terms::UpperRight {
            2
        } else if Lanes::<S, T>::WIDE {
            MORE.1
        } else {
            FEWER.1
        };
        let count = stride.div_ceil(most);
        for block in 0..count {
            let (at, end) = (block * stride / count, (block + 1) * stride / count);
            let place = (at, stride);
            if Lanes::<S, T>::WIDE && end - at == 4 {
                self.columns::<S, 4>(l, place);
                continue;
            }
            match end - at {
                3 => self.columns::<S, 3>(l, place),
                2 => self.columns::<S, 2>(l, place),
                _ => self.columns::<S, 1>(l, place),
            }
        }
    }

    /// `C` registers of every row.
    #[inline(always)]
    fn columns<S: Simd, const C: usize>(&mut self, l: Lanes<S, T>, place: (usize, usize)) {
        let end = (place.0 + C) * Lanes::<S, T>::width();
        let rows = if self.sums == Sums::Upper {
            self.rows.min(end)
        } else {
            self.rows
        };
        let terms = if self.terms == Terms::UpperRight {
            self.inner.min(end)
        } else {
            self.inner
        };
        let mut r = 0;
        if Lanes::<S, T>::WIDE {
            while r + MORE.0 <= rows {
                self.block::<S, { MORE.0 }, C>(l, r, terms, place);
                r += MORE.0;
            }
        }
        while r + FEWER.0 <= rows {
            self.block::<S, { FEWER.0 }, C>(l, r, terms, place);
            r += FEWER.0;
        }
        while r < rows {
            self.block::<S, 1, C>(l, r, terms, place);
            r += 1;
        }
    }

    #[inline(always)]
    #[allow(
        clippy::manual_memcpy,
        reason = "sums that are copied by a call live in memory, not in registers"
    )]
    fn block<S: Simd, const R: usize, const C: usize>(
        &mut self,
        l: Lanes<S, T>,
        r: usize,
        terms: usize,
        (at, stride): (usize, usize),
    ) {
        let terms = if self.terms == Terms::LowerLeft {
            terms.min(r + R)
        } else {
            terms
        };
        if terms == 0 {
            return;
        }
        let b = T::view::<S>(self.b);
        let c = T::view_mut::<S>(self.c);
        let mut sums = [[l.splat(T::ZERO); C]; R];
        if self.subtract {
            for i in 0..R {
                let row = &c[(r + i) * stride + at..][..C];
                for j in 0..C {
                    sums[i][j] = row[j];
                }
            }
        }
        // One check for all terms.
        let last = (r + R - 1) * self.row + (terms - 1) * self.term;
        let a = &self.a[..=last];
        let mut left = r * self.row;
        for t in 0..terms {
            let right = &b[t * stride + at..][..C];
            let mut y = [l.splat(T::ZERO); C];
            for j in 0..C {
                y[j] = right[j];
            }
            for i in 0..R {
                let x = l.splat(a[left + i * self.row]);
                for j in 0..C {
                    sums[i][j] = if self.subtract {
                        l.neg_mul_add(x, y[j], sums[i][j])
                    } else {
                        l.mul_add(x, y[j], sums[i][j])
                    };
                }
            }
            left += self.term;
        }
        for i in 0..R {
            store(&mut c[(r + i) * stride + at..], &sums[i]);
        }
    }
}
