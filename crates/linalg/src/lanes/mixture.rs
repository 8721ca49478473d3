//! Mixtures of matrices that all lanes share, with weights of each lane's own, and their gradients:
//! inner products, and sums over the lanes.

use crate::simd::{Lanes, V, store};
use crate::{Scalar, kernel};
use pulp::Simd;
use pulp::bytemuck::cast_slice_mut;

/// Sums that are computed together: enough to hide the latency of one.
const SUMS: usize = 8;

kernel! {
    /// `A_i = B + Σ_j w_ij D_j` of a group: `B` and the `D_j`, one after the other, are common to all
    /// lanes and not laid out for them; `weights` holds a register per `D_j`.
    ///
    /// # Panics
    /// If a slice is shorter than the others say.
    pub fn mixture<'a, S, T>(
        l: Lanes<S, T>,
        weights: &'a [T],
        base: &'a [T],
        directions: &'a [T],
        out: &'a mut [T],
    ) {
        let (weights, out) = (T::view::<S>(weights), T::view_mut::<S>(out));
        let len = base.len();
        let mut at = 0;
        while at + SUMS <= len {
            let sums = entries::<S, T, SUMS>(l, weights, base, directions, at);
            store(&mut out[at..], &sums);
            at += SUMS;
        }
        for at in at..len {
            let sums = entries::<S, T, 1>(l, weights, base, directions, at);
            out[at] = sums[0];
        }
    }
}

#[inline(always)]
fn entries<S: Simd, T: Scalar, const N: usize>(
    l: Lanes<S, T>,
    weights: &[V<S, T>],
    base: &[T],
    directions: &[T],
    at: usize,
) -> [V<S, T>; N] {
    let mut sums = [l.splat(T::ZERO); N];
    let own = &base[at..][..N];
    for i in 0..N {
        sums[i] = l.splat(own[i]);
    }
    for (&w, direction) in weights.iter().zip(directions.chunks_exact(base.len())) {
        let own = &direction[at..][..N];
        for i in 0..N {
            sums[i] = l.mul_add(w, l.splat(own[i]), sums[i]);
        }
    }
    sums
}

kernel! {
    /// `g_ij = ⟨D_j, G_i⟩` of a group, a register per `D_j`: the gradient of the weights of a
    /// [`mixture()`].
    ///
    /// # Panics
    /// As [`mixture()`].
    pub fn inner_products<'a, S, T>(
        l: Lanes<S, T>,
        g: &'a [T],
        directions: &'a [T],
        out: &'a mut [T],
    ) {
        let (g, out) = (T::view::<S>(g), T::view_mut::<S>(out));
        let mut j = 0;
        while j + SUMS <= out.len() {
            let sums = with_each::<S, T, SUMS>(l, g, &directions[j * g.len()..]);
            store(&mut out[j..], &sums);
            j += SUMS;
        }
        for j in j..out.len() {
            out[j] = with_each::<S, T, 1>(l, g, &directions[j * g.len()..])[0];
        }
    }
}

#[inline(always)]
fn with_each<S: Simd, T: Scalar, const N: usize>(
    l: Lanes<S, T>,
    g: &[V<S, T>],
    directions: &[T],
) -> [V<S, T>; N] {
    let (len, directions) = (g.len(), &directions[..N * g.len()]);
    let mut sums = [l.splat(T::ZERO); N];
    for (e, &g) in g.iter().enumerate() {
        for j in 0..N {
            sums[j] = l.mul_add(g, l.splat(directions[j * len + e]), sums[j]);
        }
    }
    sums
}

kernel! {
    /// `D_j = [D_j +] Σ_i w_ij G_i` over a group, one `j` per lane: register `i` of `weights` holds
    /// the `w_ij` of matrix `i`, and `out` the `D_j` in lanes. The other gradient of a [`mixture()`].
    /// Matrices are added in their order.
    ///
    /// # Panics
    /// As [`mixture()`].
    pub fn weighted_sums<'a, S, T>(
        l: Lanes<S, T>,
        weights: &'a [T],
        g: &'a [T],
        add: bool,
        out: &'a mut [T],
    ) {
        let (weights, out) = (T::view::<S>(weights), T::view_mut::<S>(out));
        let width = weights.len();
        let mut at = 0;
        while at + SUMS <= out.len() {
            weighted::<S, T, SUMS>(l, weights, &g[at * width..], add, &mut out[at..]);
            at += SUMS;
        }
        for at in at..out.len() {
            weighted::<S, T, 1>(l, weights, &g[at * width..], add, &mut out[at..]);
        }
    }
}

#[inline(always)]
#[allow(
    clippy::manual_memcpy,
    reason = "sums that are copied by a call live in memory, not in registers"
)]
fn weighted<S: Simd, T: Scalar, const N: usize>(
    l: Lanes<S, T>,
    weights: &[V<S, T>],
    g: &[T],
    add: bool,
    out: &mut [V<S, T>],
) {
    let (width, g) = (weights.len(), &g[..N * weights.len()]);
    let mut sums = [l.splat(T::ZERO); N];
    if add {
        for e in 0..N {
            sums[e] = out[e];
        }
    }
    for (i, &w) in weights.iter().enumerate() {
        for e in 0..N {
            sums[e] = l.mul_add(w, l.splat(g[e * width + i]), sums[e]);
        }
    }
    store(out, &sums);
}

kernel! {
    /// `Σ_i G_i` over the first `samples` matrices of several groups, one group after the other, entry
    /// by entry.
    ///
    /// # Panics
    /// As [`mixture()`].
    pub fn totals<'a, S, T>(l: Lanes<S, T>, samples: usize, g: &'a [T], out: &'a mut [T]) {
        let g = T::view::<S>(g);
        let (width, len) = (Lanes::<S, T>::width(), out.len());
        let (groups, rest) = (samples / width, samples % width);
        let mut there = [l.splat(T::ZERO)];
        cast_slice_mut::<_, T>(&mut there)[..rest].fill(T::ONE);
        for (e, out) in out.iter_mut().enumerate() {
            let mut sum = l.splat(T::ZERO);
            for group in 0..groups {
                sum = l.add(sum, g[group * len + e]);
            }
            if rest > 0 {
                sum = l.mul_add(there[0], g[groups * len + e], sum);
            }
            *out = l.sum_of_lanes(sum);
        }
    }
}
