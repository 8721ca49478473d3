//! One matrix alone, vectorised along its rows: `X = U diag(λ) Uᵀ` of one symmetric `n × n` matrix.
//!
//! Householder reduction `T = Qᵀ X Q` from the last row up (EISPACK `tred2`). From [`DIVIDED`] rows
//! on the tridiagonal matrix is [divided](super::divide), and the reflectors are applied to its
//! eigenvectors; below, implicit QL with Wilkinson's shift (`tql2`) turns `Qᵀ`, whose rows become
//! the eigenvectors: a rotation then touches two contiguous rows, and a whole sweep runs through a
//! few registers of columns with one load and one store per rotation.
//!
//! The lanes of a register hold neighbouring columns; rows are padded with zeros to whole
//! registers, so that no loop has a remainder. The batched kernel wins where a register full of
//! matrices is there; this one where there is one.

use super::divide::{self, DivideScratch};
use super::householder::{accumulate, reduce, reflect};
use super::ql::iterate;
use crate::parts::Sums;
use crate::simd::Lanes;
use crate::tall::product::{Product, multiply};
use crate::tiles::{mirror, transpose_padded};
use crate::{Aligned, Scalar, kernel};

/// The size from which divide and conquer is faster than QL on the whole matrix.
const DIVIDED: usize = 24;

/// Buffers of one matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct SingleScratch<T> {
    lanes: Aligned<T>,
    rotations: Vec<[T; 2]>,
    order: Vec<usize>,
    divide: DivideScratch<T>,
}

kernel! {
    /// Decomposes one matrix; false where QL does not converge. Empty `vectors` ask for values alone;
    /// with `f`, they get `U f(λ) Uᵀ`.
    pub(super) fn decompose_single<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        input: &'a [T],
        values: &'a mut [T],
        vectors: &'a mut [T],
        f: Option<&'a (dyn Fn(T) -> T + Sync)>,
        scratch: &'a mut SingleScratch<T>,
    ) -> bool {
        let width = Lanes::<S, T>::width();
        let stride = n.div_ceil(width);
        let SingleScratch {
            lanes,
            rotations,
            order,
            divide,
            ..
        } = scratch;
        let lanes = lanes.room((3 * n + 5) * stride * width);
        rotations.resize(n, [T::ZERO; 2]);
        let (a, rest) = lanes.split_at_mut(n * stride * width);
        let (z, rest) = rest.split_at_mut(n * stride * width);
        let (product, rest) = rest.split_at_mut(n * stride * width);
        let (d, rest) = rest.split_at_mut(stride * width);
        let (e, rest) = rest.split_at_mut(stride * width);
        let (tau, p) = rest.split_at_mut(stride * width);
        let scale = load(n, input, a, stride * width);
        reduce(l, n, stride, a, d, e, p, tau);
        let row = stride * width;
        let wanted = !vectors.is_empty();
        let divided = n >= DIVIDED;
        if divided {
            if !divide::diagonalise(l, n, stride, d, e, (z, wanted), divide) {
                return false;
            }
            if wanted {
                reflect(l, n, stride, a, tau, z);
            }
        } else {
            if wanted {
                accumulate(l, n, stride, a, tau, z, p);
                // Columns of Q become rows.
                transpose_padded(l.simd, n, (z, row), (a, row));
            }
            let rotated = if wanted { &mut *a } else { &mut [] };
            if !iterate(l, (n, stride), d, e, rotated, rotations) {
                return false;
            }
        }
        order.clear();
        order.extend(0..n);
        // Insertion sort: QL leaves the values nearly in order.
        for k in 1..n {
            let mut at = k;
            while at > 0 && d[order[at - 1]] > d[order[at]] {
                order.swap(at - 1, at);
                at -= 1;
            }
        }
        for (value, &k) in values.iter_mut().zip(&*order) {
            *value = d[k] * scale;
        }
        if let (Some(f), true) = (f, wanted) {
            // Rows of one are the columns of the other: U, and its transpose.
            let (from, to) = if divided {
                (&*z, &mut *a)
            } else {
                (&*a, &mut *z)
            };
            transpose_padded(l.simd, n, (from, row), (to, row));
            for d in &mut d[..n] {
                *d = f(*d * scale);
            }
            d[n..].fill(T::ZERO);
            for u in T::view_mut::<S>(z).chunks_exact_mut(stride) {
                for (u, &f) in u.iter_mut().zip(T::view::<S>(d)) {
                    *u = l.mul(*u, f);
                }
            }
            let mut upper = Product::new((n, n), (z, row, 1), a, product);
            upper.sums = Sums::Upper;
            multiply(l.simd, upper);
            mirror(l.simd, n, product, row, vectors);
            return true;
        }
        for (c, &k) in order.iter().enumerate() {
            if wanted && !divided {
                for (r, &x) in a[k * row..][..n].iter().enumerate() {
                    vectors[r * n + c] = x;
                }
            }
        }
        if wanted && divided {
            for (out, z) in vectors.chunks_exact_mut(n).zip(z.chunks_exact(row)) {
                for (x, &k) in out.iter_mut().zip(&*order) {
                    *x = z[k];
                }
            }
        }
        true
    }
}

/// Copies the lower triangle to both, scaled by a power of two so that the largest entry is near
/// one; gives the scale.
#[inline(always)]
pub(super) fn load<T: Scalar>(n: usize, input: &[T], a: &mut [T], row: usize) -> T {
    let scale = T::power_of_two_below(largest(n, input));
    let inverse = T::ONE / scale;
    for r in 0..n {
        let (above, from) = a.split_at_mut(r * row);
        let (left, right) = from[..row].split_at_mut(r + 1);
        for (a, &x) in left.iter_mut().zip(&input[r * n..]) {
            *a = x * inverse;
        }
        right.fill(T::ZERO);
        for (above, &x) in above.chunks_exact_mut(row).zip(&*left) {
            above[r] = x;
        }
    }
    scale
}

/// The largest magnitude of the lower triangle. A single running maximum would wait for itself at
/// every entry.
#[inline(always)]
fn largest<T: Scalar>(n: usize, input: &[T]) -> T {
    const SIDE_BY_SIDE: usize = 32;
    let mut most = [T::ZERO; SIDE_BY_SIDE];
    for r in 0..n {
        for part in input[r * n..=r * n + r].chunks(SIDE_BY_SIDE) {
            for (most, &x) in most.iter_mut().zip(part) {
                *most = larger(*most, Scalar::abs(x));
            }
        }
    }
    most.into_iter().fold(T::ZERO, larger)
}

#[inline(always)]
fn larger<T: Scalar>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
