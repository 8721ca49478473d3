//! Tall matrices in padded rows, and what points on the Stiefel manifold do with them.

use super::product::{Part, Product};
use crate::simd::{Lanes, M};
use crate::{Scalar, tiles};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// A pivot that is not positive: its number and its value.
pub(super) type BadPivot<T> = (usize, T);

/// Matrices `n × k`, or `k × k`, whose rows have `stride` registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tall<S, T> {
    pub(super) simd: S,
    pub(super) l: Lanes<S, T>,
    pub(super) n: usize,
    pub(super) k: usize,
    stride: usize,
}

impl<S: Simd, T: Scalar> Tall<S, T> {
    #[inline(always)]
    pub(super) fn new(simd: S, n: usize, k: usize) -> Self {
        let stride = k.div_ceil(Lanes::<S, T>::width());
        Self {
            simd,
            l: Lanes::new(simd),
            n,
            k,
            stride,
        }
    }

    /// Numbers of a padded row.
    #[inline(always)]
    pub(super) fn row(&self) -> usize {
        self.stride * Lanes::<S, T>::width()
    }

    /// Which lanes of a row's last register are columns.
    #[inline(always)]
    fn columns_of_last(&self) -> M<S, T> {
        let (l, mut numbers) = (self.l, [self.l.splat(T::ZERO)]);
        for (i, x) in cast_slice_mut::<_, T>(&mut numbers).iter_mut().enumerate() {
            *x = T::from_f64(i as f64);
        }
        let before = (self.stride - 1) * Lanes::<S, T>::width();
        l.less(numbers[0], l.splat(T::from_f64((self.k - before) as f64)))
    }

    /// Row-major `from` into padded rows.
    #[inline(always)]
    pub(super) fn load(&self, from: &[T], to: &mut [T]) {
        let (k, width, last) = (self.k, Lanes::<S, T>::width(), self.stride - 1);
        let (there, zero) = (self.columns_of_last(), self.l.splat(T::ZERO));
        let rows = T::view_mut::<S>(to).chunks_exact_mut(self.stride);
        for (r, to) in rows.take(from.len() / k).enumerate() {
            let own = &from[r * k..];
            for b in 0..last {
                to[b] = T::view::<S>(&own[b * width..][..width])[0];
            }
            // A whole register, the end of which belongs to the next row.
            let tail = &own[last * width..];
            if let Some(tail) = tail.get(..width) {
                to[last] = self.l.select(there, T::view::<S>(tail)[0], zero);
            } else {
                to[last] = zero;
                let to = cast_slice_mut::<_, T>(&mut to[last..]);
                to[..tail.len()].copy_from_slice(tail);
            }
        }
    }

    /// Padded rows into row-major `to`.
    #[inline(always)]
    pub(super) fn store(&self, from: &[T], to: &mut [T]) {
        let (k, width, last) = (self.k, Lanes::<S, T>::width(), self.stride - 1);
        let there = self.columns_of_last();
        let rows = T::view::<S>(from).chunks_exact(self.stride);
        for (r, from) in rows.take(to.len() / k).enumerate() {
            let own = &mut to[r * k..];
            for b in 0..last {
                T::view_mut::<S>(&mut own[b * width..][..width])[0] = from[b];
            }
            let tail = &mut own[last * width..];
            if let Some(tail) = tail.get_mut(..width) {
                let tail = &mut T::view_mut::<S>(tail)[0];
                *tail = self.l.select(there, from[last], *tail);
            } else {
                let from = cast_slice::<_, T>(&from[last..]);
                tail.copy_from_slice(&from[..tail.len()]);
            }
        }
    }

    /// `S ← sym(AᵀB)`.
    #[inline(always)]
    pub(super) fn symmetric_product(&self, a: &[T], b: &[T], s: &mut [T]) {
        self.transposed(a, b, Part::default(), s);
        tiles::symmetrise(self.simd, self.k, s, self.row());
    }

    /// `S ← AᵀB`.
    #[inline(always)]
    pub(super) fn transposed(&self, a: &[T], b: &[T], part: Part, s: &mut [T]) {
        self.simd.vectorize(Product {
            rows: self.k,
            terms: self.n,
            a,
            row: 1,
            term: self.row(),
            b,
            c: s,
            subtract: false,
            part,
        });
    }

    /// `C ← [C −] A S`; rows of `A` are so many numbers apart.
    #[inline(always)]
    pub(super) fn times(
        &self,
        (a, row): (&[T], usize),
        s: &[T],
        part: Part,
        subtract: bool,
        c: &mut [T],
    ) {
        self.simd.vectorize(Product {
            rows: self.n,
            terms: self.k,
            a,
            row,
            term: 1,
            b: s,
            c,
            subtract,
            part,
        });
    }

    /// `Z ← Z − W sym(WᵀZ)`, and `S = sym(WᵀZ)`.
    #[inline(always)]
    pub(super) fn project(&self, w: &[T], z: &mut [T], s: &mut [T]) {
        self.symmetric_product(w, z, s);
        self.times((w, self.row()), s, Part::default(), true, z);
    }

    /// `Q ← A R⁻¹` with the upper triangular `R` of `AᵀA = RᵀR`; `g` and `unit` are squares, the second with one row more.
    ///
    /// `AᵀA = UᵀDU` with ones on the diagonal of `U`, so that `R⁻¹ = U⁻¹D^{-1/2}`: a column waits for a division alone, and all roots are taken at once.
    #[inline(always)]
    pub(super) fn orthonormalise(
        &self,
        a: &[T],
        q: &mut [T],
        (g, unit): (&mut [T], &mut [T]),
    ) -> Result<(), BadPivot<T>> {
        let upper_out = Part {
            upper_out: true,
            ..Part::default()
        };
        let upper_right = Part {
            upper_right: true,
            ..Part::default()
        };
        let (unit, pivots) = unit.split_at_mut(self.k * self.row());
        self.transposed(a, a, upper_out, g);
        self.factor(g, unit, pivots)?;
        self.invert(unit, pivots, g);
        self.times((a, self.row()), g, upper_right, false, q);
        Ok(())
    }

    /// `U` and the pivots `D` of `G = UᵀDU`, of which the upper triangle is read, and spoilt. Pivots are ones beyond the columns.
    #[inline(always)]
    fn factor(&self, g: &mut [T], unit: &mut [T], pivots: &mut [T]) -> Result<(), BadPivot<T>> {
        let (l, k, row, width) = (self.l, self.k, self.row(), Lanes::<S, T>::width());
        pivots.fill(T::ONE);
        for (j, unit) in unit.chunks_exact_mut(row).enumerate() {
            let (own, below) = g[j * row..].split_at_mut(row);
            let pivot = own[j];
            if !(pivot > T::ZERO && Scalar::is_finite(pivot)) {
                return Err((j, pivot));
            }
            pivots[j] = pivot;
            let inverse = l.splat(T::ONE / pivot);
            let unit = &mut T::view_mut::<S>(unit)[..self.stride];
            for (x, &y) in unit.iter_mut().zip(T::view::<S>(own)).skip(j / width) {
                *x = l.mul(y, inverse);
            }
            for (i, target) in (j + 1..k).zip(below.chunks_exact_mut(row)) {
                let factor = l.splat(own[i]);
                let from = &unit[i / width..];
                for (x, &y) in T::view_mut::<S>(target)[i / width..].iter_mut().zip(from) {
                    *x = l.neg_mul_add(factor, y, *x);
                }
            }
        }
        Ok(())
    }

    /// `X ← U⁻¹D^{-1/2}` of what [`factor`](Self::factor) left, zeros below the diagonal, the last row first: `X_j = e_j − Σ_{t > j} U_jt X_t`, columns scaled at the end. A row that is done is taken
    /// from all those above it, which do not wait for each other.
    #[inline(always)]
    fn invert(&self, unit: &[T], pivots: &mut [T], x: &mut [T]) {
        let (l, k, row, width) = (self.l, self.k, self.row(), Lanes::<S, T>::width());
        for (j, own) in x.chunks_exact_mut(row).take(k).enumerate() {
            own.fill(T::ZERO);
            own[j] = T::ONE;
        }
        for j in (1..k).rev() {
            let (above, own) = x[..(j + 1) * row].split_at_mut(j * row);
            let own = &T::view::<S>(own)[j / width..];
            for (i, above) in above.chunks_exact_mut(row).enumerate() {
                let factor = l.splat(unit[i * row + j]);
                let above = &mut T::view_mut::<S>(above)[j / width..];
                for (x, &y) in above.iter_mut().zip(own) {
                    *x = l.neg_mul_add(factor, y, *x);
                }
            }
        }
        let scales = T::view_mut::<S>(pivots);
        for scale in &mut *scales {
            *scale = l.div(l.splat(T::ONE), l.sqrt(*scale));
        }
        for own in T::view_mut::<S>(x).chunks_exact_mut(self.stride).take(k) {
            for (x, &scale) in own.iter_mut().zip(&*scales) {
                *x = l.mul(*x, scale);
            }
        }
    }
}
