//! `C = [C −] A B` of one small matrix in padded rows: lanes are neighbouring columns of `C`, an entry of `A` is in all of them.
//!
//! Rows of `B` and `C` have whole registers, zeros at their end; every sum runs over its terms in order.

use crate::Scalar;
use crate::simd::{Lanes, store};
use pulp::{Simd, WithSimd};

/// What is known of the factors, and wanted of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Part {
    /// Only the upper triangle of `C` is wanted.
    pub(crate) upper_out: bool,
    /// `B` is zero below its diagonal.
    pub(crate) upper_right: bool,
    /// `A` is zero above its diagonal.
    pub(crate) lower_left: bool,
}

/// One product. Entry `(r, t)` of `A` is `a[r·row + t·term]`.
#[derive(Debug)]
pub(crate) struct Product<'a, T> {
    /// Rows of `C`, and terms of a sum.
    pub(crate) rows: usize,
    pub(crate) terms: usize,
    pub(crate) a: &'a [T],
    pub(crate) row: usize,
    pub(crate) term: usize,
    /// `terms` padded rows.
    pub(crate) b: &'a [T],
    /// `rows` padded rows.
    pub(crate) c: &'a mut [T],
    /// Whether the product is taken from what is in `C`.
    pub(crate) subtract: bool,
    pub(crate) part: Part,
}

/// Rows computed together, and registers of each; there are 32 or 16 registers.
const MORE: (usize, usize) = (6, 4);
const FEWER: (usize, usize) = (4, 3);

impl<T: Scalar> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let stride = self.c.len() / self.rows.max(1) / Lanes::<S, T>::width();
        let most = match self.part {
            // Of a column of registers on a diagonal a part is not needed: the narrower it is, the less.
            Part {
                upper_out: true, ..
            }
            | Part {
                upper_right: true, ..
            } => 2,
            _ if Lanes::<S, T>::WIDE => MORE.1,
            _ => FEWER.1,
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
}

impl<T: Scalar> Product<'_, T> {
    /// `C` registers of every row.
    #[inline(always)]
    fn columns<S: Simd, const C: usize>(&mut self, l: Lanes<S, T>, place: (usize, usize)) {
        let end = (place.0 + C) * Lanes::<S, T>::width();
        let rows = if self.part.upper_out {
            self.rows.min(end)
        } else {
            self.rows
        };
        let terms = if self.part.upper_right {
            self.terms.min(end)
        } else {
            self.terms
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
        let terms = if self.part.lower_left {
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
