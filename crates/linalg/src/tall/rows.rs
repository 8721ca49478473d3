//! Tall matrices in padded rows, and what points on the Stiefel manifold do with them.

use super::product::{Product, multiply};
use crate::parts::{Sums, Terms};
use crate::simd::{Lanes, M, V};
use crate::{Scalar, tiles};
use pulp::Simd;
use pulp::bytemuck::{cast_slice, cast_slice_mut};

/// Rows of an inverse that are computed together: their sums do not wait for each other.
const ROWS: usize = 4;

/// A pivot that is not positive: its number and its value.
pub type BadPivot<T> = (usize, T);

/// The arithmetic of matrices `n × k`, and `k × k`, in padded rows: whole registers, zeros at their
/// ends.
///
/// ```
/// use stiefel_linalg::tall::{Tall, room_for};
/// use stiefel_linalg::{kernel, with_room};
///
/// kernel! {
///     /// `W ← qf(W + Δ)` of one `n × k` point.
///     fn retract<'a, S, T>(l: Lanes<S, T>, n: usize, k: usize, w: &'a mut [T], delta: &'a [T], room: &'a mut [T]) {
///         let tall = Tall::<S, T>::new(l, n, k);
///         let (size, square) = (n * tall.row(), k * tall.row());
///         let (sum, room) = room.split_at_mut(size);
///         let (q, room) = room.split_at_mut(size);
///         let (g, room) = room.split_at_mut(square);
///         for (w, &d) in w.iter_mut().zip(delta) {
///             *w += d;
///         }
///         tall.load(w, sum);
///         let full_rank = tall.orthonormalise(sum, q, (g, &mut room[..square + tall.row()]));
///         full_rank.expect("full rank");
///         tall.store(q, w);
///     }
/// }
///
/// let mut w = [1.0, 0.0];
/// with_room(|room| retract(2, 1, &mut w, &[0.0, 0.75], room.room(room_for(2 * 2 + 2 + 1, 1))))?;
/// assert!((w[0] - 0.8_f64).abs() < 1e-15 && (w[1] - 0.6).abs() < 1e-15);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Tall<S, T> {
    /// The arithmetic.
    pub l: Lanes<S, T>,
    pub(super) n: usize,
    pub(super) k: usize,
    stride: usize,
}

impl<S: Simd, T: Scalar> Tall<S, T> {
    /// Matrices of these sizes.
    #[inline(always)]
    pub fn new(l: Lanes<S, T>, n: usize, k: usize) -> Self {
        let stride = k.div_ceil(Lanes::<S, T>::width());
        Self { l, n, k, stride }
    }

    /// Numbers of a padded row.
    #[inline(always)]
    pub fn row(&self) -> usize {
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
    pub fn load(&self, from: &[T], to: &mut [T]) {
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
    pub fn store(&self, from: &[T], to: &mut [T]) {
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
        self.transposed(a, b, Sums::All, s);
        tiles::symmetrise(self.l.simd, self.k, s, self.row());
    }

    /// `S ← AᵀB`.
    #[inline(always)]
    fn transposed(&self, a: &[T], b: &[T], sums: Sums, s: &mut [T]) {
        let product = Product::new((self.k, self.n), (a, 1, self.row()), b, s);
        multiply(self.l.simd, Product { sums, ..product });
    }

    /// `C ← C − A S`; rows of `A` are so many numbers apart.
    #[inline(always)]
    pub(super) fn subtract(&self, (a, row): (&[T], usize), s: &[T], c: &mut [T]) {
        let product = Product::new((self.n, self.k), (a, row, 1), s, c);
        let subtract = true;
        multiply(
            self.l.simd,
            Product {
                subtract,
                ..product
            },
        );
    }

    /// `Z ← Z − W sym(WᵀZ)`, and `S = sym(WᵀZ)`.
    #[inline(always)]
    pub fn project(&self, w: &[T], z: &mut [T], s: &mut [T]) {
        self.symmetric_product(w, z, s);
        self.subtract((w, self.row()), s, z);
    }

    /// `Q ← A R⁻¹` with the upper triangular `R` of `AᵀA = RᵀR`; `g` and `unit` are squares, the
    /// second with one row more.
    ///
    /// `AᵀA = UᵀDU` with ones on the diagonal of `U`, so that `R⁻¹ = U⁻¹D^{-1/2}`: a column waits
    /// for a division alone, and all roots are taken at once.
    #[inline(always)]
    pub fn orthonormalise(
        &self,
        a: &[T],
        q: &mut [T],
        (g, unit): (&mut [T], &mut [T]),
    ) -> Result<(), BadPivot<T>> {
        let (unit, pivots) = unit.split_at_mut(self.k * self.row());
        self.transposed(a, a, Sums::Upper, g);
        self.factor(g, unit, pivots)?;
        self.invert(unit, pivots, g);
        let product = Product::new((self.n, self.k), (a, self.row(), 1), g, q);
        let terms = Terms::UpperRight;
        multiply(self.l.simd, Product { terms, ..product });
        Ok(())
    }

    /// `U` and the pivots `D` of `G = UᵀDU`, of which the upper triangle is read, and spoilt.
    /// Pivots are ones beyond the columns.
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
            let below = T::view_mut::<S>(below);
            for b in j / width..self.stride {
                unit[b] = l.mul(T::view::<S>(own)[b], inverse);
                // Rows that have something right of their diagonal in this column of registers.
                let end = k.min((b + 1) * width);
                for (i, row) in (j + 1..end).zip(below.chunks_exact_mut(self.stride)) {
                    row[b] = l.neg_mul_add(l.splat(own[i]), unit[b], row[b]);
                }
            }
        }
        Ok(())
    }

    /// `X ← U⁻¹D^{-1/2}` of what [`factor`](Self::factor) left, zeros below the diagonal, a column
    /// of registers after the other, the last rows first: `X_j = e_j − Σ_{t > j} U_jt X_t`, then
    /// columns are scaled.
    #[inline(always)]
    fn invert(&self, unit: &[T], pivots: &mut [T], x: &mut [T]) {
        let (l, k, row, width) = (self.l, self.k, self.row(), Lanes::<S, T>::width());
        for (j, own) in x.chunks_exact_mut(row).take(k).enumerate() {
            own.fill(T::ZERO);
            own[j] = T::ONE;
        }
        let x = T::view_mut::<S>(x);
        for b in 0..self.stride {
            // Below this row there are zeros.
            let end = k.min((b + 1) * width);
            let scale = &mut T::view_mut::<S>(pivots)[b];
            *scale = l.div(l.splat(T::ONE), l.sqrt(*scale));
            let mut last = end;
            while last >= ROWS {
                self.substitute::<ROWS>(unit, x, b, (last - ROWS, end));
                last -= ROWS;
            }
            while last > 0 {
                self.substitute::<1>(unit, x, b, (last - 1, end));
                last -= 1;
            }
            for row in x.chunks_exact_mut(self.stride).take(end) {
                row[b] = l.mul(row[b], *scale);
            }
        }
    }

    /// `R` rows from `first` on of `X`, in a column of registers, from the rows up to `end` after
    /// them.
    #[inline(always)]
    fn substitute<const R: usize>(
        &self,
        unit: &[T],
        x: &mut [V<S, T>],
        b: usize,
        (first, end): (usize, usize),
    ) {
        let (l, row) = (self.l, self.row());
        let unit = &unit[first * row..][..(R - 1) * row + end];
        let mut sums = [l.splat(T::ZERO); R];
        for i in 0..R {
            sums[i] = x[(first + i) * self.stride + b];
        }
        for t in first + R..end {
            let done = x[t * self.stride + b];
            for i in 0..R {
                sums[i] = l.neg_mul_add(l.splat(unit[i * row + t]), done, sums[i]);
            }
        }
        for i in (0..R).rev() {
            for t in i + 1..R {
                let factor = l.splat(unit[i * row + first + t]);
                sums[i] = l.neg_mul_add(factor, sums[t], sums[i]);
            }
            x[(first + i) * self.stride + b] = sums[i];
        }
    }
}
