//! One matrix with the operations of the batched kernel ([`crate::lanes::eigen()`]) in their order,
//! and so with its bits, but lanes along the rows of the matrix: a register of matrices of which
//! only one or two are there is mostly empty.
//!
//! Whatever a lane computes there for one matrix is computed here for one matrix. What makes the
//! bits agree:
//! * a sum is made of the same terms in the same order: lanes are neighbouring sums, never parts of
//!   one;
//! * the update `a − v_i w_j − w_i v_j` subtracts first the product with the smaller index in
//!   front, on both sides of the diagonal;
//! * rotations, reflectors and shifts are the same formulas, fused where those are.

use super::ql::{first, iterate};
use crate::simd::{Lanes, V, store};
use crate::{Aligned, Scalar, kernel, tolerance};
use pulp::Simd;

/// Buffers, reused from call to call.
#[derive(Debug, Clone, Default)]
pub(super) struct AloneScratch<T> {
    lanes: Aligned<T>,
    rotations: Vec<[T; 2]>,
    order: Vec<usize>,
}

kernel! {
    /// Decomposes one matrix; false where QL does not converge. Empty `vectors` ask for values alone;
    /// with `f`, they get `U f(λ) Uᵀ`.
    pub(super) fn decompose_alone<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        input: &'a [T],
        values: &'a mut [T],
        vectors: &'a mut [T],
        f: Option<&'a (dyn Fn(T) -> T + Sync)>,
        scratch: &'a mut AloneScratch<T>,
    ) -> bool {
        let stride = n.div_ceil(Lanes::<S, T>::width());
        let row = stride * Lanes::<S, T>::width();
        let AloneScratch {
            lanes,
            rotations,
            order,
        } = scratch;
        let lanes = lanes.room((2 * n + 6) * row);
        rotations.resize(n, [T::ZERO; 2]);
        let (a, rest) = lanes.split_at_mut(n * row);
        let (z, rest) = rest.split_at_mut(n * row);
        let (d, rest) = rest.split_at_mut(row);
        let (e, rest) = rest.split_at_mut(row);
        let (h_inv, rest) = rest.split_at_mut(row);
        let (index, pair) = rest.split_at_mut(row);
        for (i, index) in index.iter_mut().enumerate() {
            *index = T::from_f64(i as f64);
        }
        let scale = super::single::load(n, input, a, row);
        let sizes = (n, stride);
        reduce(l, sizes, a, d, e, h_inv, (index, pair));
        let wanted = !vectors.is_empty();
        if wanted {
            accumulate(l, sizes, a, h_inv, z);
            // Columns of Q become rows.
            for r in 0..n {
                for c in 0..n {
                    a[c * row + r] = z[r * row + c];
                }
                a[r * row + n..(r + 1) * row].fill(T::ZERO);
            }
        }
        let turned = if wanted { &mut *a } else { &mut [] };
        if !iterate(l, sizes, d, e, turned, rotations) {
            return false;
        }
        let zero = l.splat(T::ZERO);
        for d in &mut d[..n] {
            *d = first(l.mul_add(l.splat(*d), l.splat(scale), zero));
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
            *value = d[k];
        }
        if !wanted {
            return true;
        }
        if let Some(f) = f {
            for d in &mut d[..n] {
                *d = f(*d);
            }
            recompose(l, sizes, a, d, z);
            for r in 0..n {
                for c in 0..=r {
                    vectors[r * n + c] = z[r * row + c];
                    vectors[c * n + r] = z[r * row + c];
                }
            }
            return true;
        }
        for (c, &k) in order.iter().enumerate() {
            for (r, &x) in a[k * row..][..n].iter().enumerate() {
                // Adding zero turns −0 into +0.
                vectors[r * n + c] = x + T::ZERO;
            }
        }
        true
    }
}

/// `Σ xᵢ yᵢ` with four running sums, the remainder first.
#[inline(always)]
fn dot<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &[T], y: &[T]) -> T {
    let mut sums = [l.splat(T::ZERO); 4];
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    for (&a, &b) in xs.remainder().iter().zip(ys.remainder()) {
        sums[0] = l.mul_add(l.splat(a), l.splat(b), sums[0]);
    }
    for (a, b) in xs.zip(ys) {
        for i in 0..4 {
            sums[i] = l.mul_add(l.splat(a[i]), l.splat(b[i]), sums[i]);
        }
    }
    first(l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3])))
}

/// Householder's reduction of both triangles of `a`: row `k` becomes `v_k`, zero up to the
/// diagonal. `d` and `e` come in reversed order. `room` holds the numbers of the columns, and
/// two rows for `w` and `p`.
#[inline(always)]
fn reduce<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (n, stride): (usize, usize),
    a: &mut [T],
    d: &mut [T],
    e: &mut [T],
    h_inv: &mut [T],
    (index, pair): (&[T], &mut [T]),
) {
    let width = Lanes::<S, T>::width();
    let row = stride * width;
    let (mut w, mut p) = pair[..2 * row].split_at_mut(row);
    w.fill(T::ZERO);
    for k in 0..n.saturating_sub(2) {
        let (head, trailing) = a.split_at_mut((k + 1) * row);
        let (above, own) = head.split_at_mut(k * row);
        let last = k.checked_sub(1).map(|before| &above[before * row..][..row]);
        if let Some(v) = last {
            let (v_k, w_k) = (l.splat(v[k]), l.splat(w[k]));
            let (v, w) = (T::view::<S>(v), T::view::<S>(w));
            let entries = T::view_mut::<S>(own).iter_mut().zip(v).zip(w);
            for ((a, &v), &w) in entries.skip(k / width) {
                *a = l.neg_mul_add(w_k, v, l.neg_mul_add(v_k, w, *a));
            }
        }
        d[n - 1 - k] = own[k];
        own[..=k].fill(T::ZERO);
        (e[n - 2 - k], h_inv[k]) = reflector(l, &mut own[k + 1..n]);
        let rows = Rows {
            range: (k + 1, n),
            stride,
            x: &*own,
            waiting: last.map(|v| (v, &*w)),
            index,
        };
        for register in (k + 1) / width..stride {
            let sum = rows.multiply(l, trailing, register);
            T::view_mut::<S>(p)[register] = sum;
        }
        p[..=k].fill(T::ZERO);
        // p ← p/h − (pᵀv/2h²) v.
        let half = T::from_f64(0.5) * h_inv[k];
        let share = half * (h_inv[k] * dot(l, &p[k + 1..n], &own[k + 1..n]));
        let (share, inverse) = (l.splat(share), l.splat(h_inv[k]));
        for (p, &v) in T::view_mut::<S>(p).iter_mut().zip(T::view::<S>(own)) {
            *p = l.neg_mul_add(share, v, l.mul(inverse, *p));
        }
        (w, p) = (p, w);
    }
    if n > 2 {
        let (head, trailing) = a.split_at_mut((n - 2) * row);
        let v = &head[(n - 3) * row..];
        for (i, j) in [(n - 2, n - 2), (n - 2, n - 1), (n - 1, n - 1)] {
            let entry = &mut trailing[(i + 2 - n) * row + j];
            let inner = l.neg_mul_add(l.splat(v[i]), l.splat(w[j]), l.splat(*entry));
            *entry = first(l.neg_mul_add(l.splat(w[i]), l.splat(v[j]), inner));
        }
    }
    for k in n.saturating_sub(2)..n {
        d[n - 1 - k] = a[k * row + k];
    }
    if n >= 2 {
        e[0] = a[(n - 2) * row + n - 1];
    }
}

/// Turns `x` into `v` in place; gives `α` and `1/h`, both zero where `x` is negligible.
#[inline(always)]
fn reflector<S: Simd, T: Scalar>(l: Lanes<S, T>, x: &mut [T]) -> (T, T) {
    let total = dot(l, x, x);
    let norm = Scalar::sqrt(total);
    let x0 = x[0];
    let alpha = if x0 < T::ZERO { norm } else { -norm };
    let h = first::<_, T>(l.mul_add(l.splat(Scalar::abs(x0)), l.splat(norm), l.splat(total)));
    x[0] = x0 - alpha;
    if total < tolerance::negligible_square::<T>() {
        (T::ZERO, T::ZERO)
    } else {
        (alpha, T::ONE / h)
    }
}

/// The trailing rows, the update that waits for them, and the vector to multiply with.
struct Rows<'a, T> {
    range: (usize, usize),
    stride: usize,
    x: &'a [T],
    /// `v` and `w`.
    waiting: Option<(&'a [T], &'a [T])>,
    index: &'a [T],
}

impl<T: Scalar> Rows<'_, T> {
    /// One column of registers: the update, and `A x`. `trailing` starts with the first row of the
    /// range.
    #[inline(always)]
    fn multiply<S: Simd>(&self, l: Lanes<S, T>, trailing: &mut [T], register: usize) -> V<S, T> {
        let width = Lanes::<S, T>::width();
        let (start, end) = self.range;
        let trailing = T::view_mut::<S>(trailing);
        let mut sum = l.splat(T::ZERO);
        let Some((v, w)) = self.waiting else {
            for i in start..end {
                let entry = trailing[(i - start) * self.stride + register];
                sum = l.mul_add(l.splat(self.x[i]), entry, sum);
            }
            return sum;
        };
        let (v_here, w_here) = (T::view::<S>(v)[register], T::view::<S>(w)[register]);
        let index = T::view::<S>(self.index)[register];
        // Rows above the register's columns, rows among them, rows below.
        let among = (register * width + 1).clamp(start, end);
        let below = (register * width + width).clamp(start, end);
        for i in start..among {
            let entry = &mut trailing[(i - start) * self.stride + register];
            let inner = l.neg_mul_add(l.splat(v[i]), w_here, *entry);
            *entry = l.neg_mul_add(l.splat(w[i]), v_here, inner);
            sum = l.mul_add(l.splat(self.x[i]), *entry, sum);
        }
        for i in among..below {
            let entry = &mut trailing[(i - start) * self.stride + register];
            let left = l.less(index, l.splat(T::from_f64(i as f64)));
            let (v_i, w_i) = (l.splat(v[i]), l.splat(w[i]));
            let upper = l.neg_mul_add(w_i, v_here, l.neg_mul_add(v_i, w_here, *entry));
            let lower = l.neg_mul_add(w_here, v_i, l.neg_mul_add(v_here, w_i, *entry));
            *entry = l.select(left, lower, upper);
            sum = l.mul_add(l.splat(self.x[i]), *entry, sum);
        }
        for i in below..end {
            let entry = &mut trailing[(i - start) * self.stride + register];
            let inner = l.neg_mul_add(v_here, l.splat(w[i]), *entry);
            *entry = l.neg_mul_add(w_here, l.splat(v[i]), inner);
            sum = l.mul_add(l.splat(self.x[i]), *entry, sum);
        }
        sum
    }
}

/// `Q = H_0 H_1 … H_{n−3}` into `z`, its columns reversed, two reflectors at a time.
#[inline(always)]
fn accumulate<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (n, stride): (usize, usize),
    a: &[T],
    h_inv: &[T],
    z: &mut [T],
) {
    let width = Lanes::<S, T>::width();
    let row = stride * width;
    z.fill(T::ZERO);
    for i in 0..n {
        z[i * row + n - 1 - i] = T::ONE;
    }
    let vector = |k: usize| &a[k * row + k + 1..k * row + n];
    let mut left = n.saturating_sub(2);
    if left % 2 == 1 {
        left -= 1;
        reflect(l, (left + 1, stride), vector(left), h_inv[left], z);
    }
    while left > 0 {
        let k = left - 1;
        let (one, two) = (vector(k), vector(k - 1));
        let mut cross = l.splat(T::ZERO);
        for (&v, &w) in one.iter().zip(&two[1..]) {
            cross = l.mul_add(l.splat(v), l.splat(w), cross);
        }
        let pair = Pair {
            row: k,
            stride,
            first: (one, h_inv[k]),
            second: (two, h_inv[k - 1]),
            cross: first(cross),
        };
        // Beyond this column the rows of the block are zero, and stay so; there, its first row has
        // a one, and the others nothing.
        let end = n - 1 - k;
        let registers = (end + 1).div_ceil(width);
        let mut at = 0;
        while at + 4 <= registers {
            pair.reflect::<S, 4>(l, z, at);
            at += 4;
        }
        match registers - at {
            3 => pair.reflect::<S, 3>(l, z, at),
            2 => pair.reflect::<S, 2>(l, z, at),
            1 => pair.reflect::<S, 1>(l, z, at),
            _ => {}
        }
        z[k * row + end..k * row + registers * width].fill(T::ZERO);
        let share = l.splat(h_inv[k - 1] * two[0]);
        for (i, &v) in two.iter().enumerate() {
            let unit = if i == 0 { T::ONE } else { T::ZERO };
            let entry = l.neg_mul_add(l.splat(v), share, l.splat(unit));
            z[(k + i) * row + end] = first(entry);
        }
        left -= 2;
    }
}

/// `Z ← Z − v (vᵀZ)/h` on the rows from `from` on, of which only the last two have entries: those
/// of the identity.
#[inline(always)]
fn reflect<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (from, stride): (usize, usize),
    v: &[T],
    h_inv: T,
    z: &mut [T],
) {
    let z = T::view_mut::<S>(z);
    // Two columns, which two registers of one lane hold where there are no wider ones.
    for register in 0..2_usize.div_ceil(Lanes::<S, T>::width()) {
        let mut u = l.splat(T::ZERO);
        for (i, &v) in v.iter().enumerate() {
            u = l.mul_add(l.splat(v), z[(from + i) * stride + register], u);
        }
        let u = l.mul(l.splat(h_inv), u);
        for (i, &v) in v.iter().enumerate() {
            let entry = &mut z[(from + i) * stride + register];
            *entry = l.neg_mul_add(l.splat(v), u, *entry);
        }
    }
}

/// Two reflectors, `H₂ H₁`, each as its vector and `1/h`; the second vector is one entry longer, at
/// its front, which belongs to row `row`.
struct Pair<'a, T> {
    row: usize,
    stride: usize,
    first: (&'a [T], T),
    second: (&'a [T], T),
    /// `Σ v w`.
    cross: T,
}

impl<T: Scalar> Pair<'_, T> {
    /// `Z ← H₂ H₁ Z` on `C` registers from `at` on; row `row` is zero there.
    #[inline(always)]
    fn reflect<S: Simd, const C: usize>(&self, l: Lanes<S, T>, z: &mut [T], at: usize) {
        let z = &mut T::view_mut::<S>(z)[self.row * self.stride..];
        let (v, w) = (self.first.0, &self.second.0[1..][..self.first.0.len()]);
        let zero = l.splat(T::ZERO);
        let (mut one, mut two) = ([zero; C], [zero; C]);
        for i in 0..v.len() {
            let entries = &z[(i + 1) * self.stride + at..][..C];
            let (v, w) = (l.splat(v[i]), l.splat(w[i]));
            for c in 0..C {
                one[c] = l.mul_add(v, entries[c], one[c]);
                two[c] = l.mul_add(w, entries[c], two[c]);
            }
        }
        let (h_first, h_second) = (l.splat(self.first.1), l.splat(self.second.1));
        let (cross, head) = (l.splat(self.cross), l.splat(self.second.0[0]));
        let mut top = [zero; C];
        for c in 0..C {
            one[c] = l.mul(h_first, one[c]);
            two[c] = l.mul(h_second, l.neg_mul_add(cross, one[c], two[c]));
            top[c] = l.neg(l.mul(head, two[c]));
        }
        store(&mut z[at..], &top);
        for i in 0..v.len() {
            let entries = &mut z[(i + 1) * self.stride + at..][..C];
            let (v, w) = (l.splat(v[i]), l.splat(w[i]));
            for c in 0..C {
                let once = l.neg_mul_add(v, one[c], entries[c]);
                entries[c] = l.neg_mul_add(w, two[c], once);
            }
        }
    }
}

/// The lower triangle of `U f Uᵀ` into `out`: eigenvectors are the rows of `z`, in the order in
/// which QL left them.
#[inline(always)]
fn recompose<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (n, stride): (usize, usize),
    z: &[T],
    f: &[T],
    out: &mut [T],
) {
    const ROWS: usize = 4;
    let width = Lanes::<S, T>::width();
    let row = stride * width;
    let mut r = 0;
    while r < n {
        let rows = ROWS.min(n - r);
        for at in 0..(r + rows).div_ceil(width) {
            let mut sums = [l.splat(T::ZERO); ROWS];
            for j in 0..n {
                let right = T::view::<S>(&z[j * row..][..row])[at];
                for (i, sum) in sums.iter_mut().take(rows).enumerate() {
                    let left = z[j * row + r + i] * f[j];
                    *sum = l.mul_add(l.splat(left), right, *sum);
                }
            }
            for (i, &sum) in sums.iter().take(rows).enumerate() {
                T::view_mut::<S>(&mut out[(r + i) * row..][..row])[at] = sum;
            }
        }
        r += rows;
    }
}
