//! Implicit QL on symmetric tridiagonal matrices, one per lane, in lock-step.
//!
//! Each lane has its own window `[first, last]`: the first stretch of off-diagonals that are not
//! negligible. One sweep chases the bulge through all lanes' windows at once; outside its window a
//! lane gets the identity rotation, which changes nothing, so what a lane computes never depends on
//! its neighbours. The rotations are not applied here but recorded ([`Rotations`]), to be applied
//! to the eigenvectors many sweeps at a time.
//!
//! EISPACK `tql2`, LAPACK `dsteqr`; shift of Wilkinson.

use super::rotations::Rotations;
use crate::simd::{Lanes, V};
use crate::{Scalar, tolerance};
use pulp::Simd;

/// Where each lane's next sweep runs and what it starts from.
#[derive(Clone, Copy)]
struct Window<S: Simd, T: Scalar> {
    /// Index of the first off-diagonal, as a number; `n` where the lane is done.
    first: V<S, T>,
    /// Index of the row that ends the window.
    last: V<S, T>,
    /// `d[last] − shift`.
    start: V<S, T>,
}

/// Scans one register of matrices for its windows and computes the shifts. Negligible off-diagonals
/// become zero.
#[inline(always)]
fn scan<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    d: &[V<S, T>],
    e: &mut [V<S, T>],
    from: usize,
) -> Window<S, T> {
    let n = d.len();
    let zero = l.splat(T::ZERO);
    let (eps, floor) = (l.splat(T::EPSILON), l.splat(tolerance::ql_floor::<T>()));
    let mut first = l.splat(T::from_f64(n as f64));
    let mut last = zero;
    let (mut end, mut d_end) = (l.splat(T::from_f64((n - 1) as f64)), d[n - 1]);
    // The values at the window's ends; ones keep lanes that are done free of 0/0.
    let (mut d0, mut d1, mut e0, mut d_last) = (zero, zero, l.splat(T::ONE), zero);
    for i in (from..n - 1).rev() {
        let at = l.splat(T::from_f64(i as f64));
        let size = l.add(l.abs(d[i]), l.abs(d[i + 1]));
        let negligible = l.less_equal(l.abs(e[i]), l.mul_add(eps, size, floor));
        e[i] = l.select(negligible, zero, e[i]);
        end = l.select(negligible, at, end);
        d_end = l.select(negligible, d[i], d_end);
        first = l.select(negligible, first, at);
        last = l.select(negligible, last, end);
        d0 = l.select(negligible, d0, d[i]);
        d1 = l.select(negligible, d1, d[i + 1]);
        e0 = l.select(negligible, e0, e[i]);
        d_last = l.select(negligible, d_last, d_end);
    }
    let ratio = l.div(l.sub(d1, d0), l.add(e0, e0));
    let root = l.sqrt(l.mul_add(ratio, ratio, l.splat(T::ONE)));
    let root = l.select(l.less(ratio, zero), l.neg(root), root);
    let start = l.add(l.sub(d_last, d0), l.div(e0, l.add(ratio, root)));
    Window { first, last, start }
}

/// The state a sweep carries from one rotation to the next, for one register.
#[derive(Clone, Copy)]
struct Bulge<S: Simd, T: Scalar> {
    c: V<S, T>,
    s: V<S, T>,
    g: V<S, T>,
    p: V<S, T>,
}

/// Rotation `i` of a sweep: chases the bulge in the lanes whose window holds `i`.
#[inline(always)]
fn chase<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    i: usize,
    window: &Window<S, T>,
    bulge: &mut Bulge<S, T>,
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
) -> [V<S, T>; 2] {
    let (zero, one) = (l.splat(T::ZERO), l.splat(T::ONE));
    let (at, next) = (
        l.splat(T::from_f64(i as f64)),
        l.splat(T::from_f64((i + 1) as f64)),
    );
    let starting = l.equal(window.last, next);
    let active = l.and(
        l.less_equal(window.first, at),
        l.less_equal(next, window.last),
    );
    let ending = l.equal(window.first, at);

    *bulge = Bulge {
        c: l.select(starting, one, bulge.c),
        s: l.select(starting, one, bulge.s),
        g: l.select(starting, window.start, bulge.g),
        p: l.select(starting, zero, bulge.p),
    };
    let Turned {
        r,
        diagonal,
        tangent,
    } = turn(l, (d[i], d[i + 1], e[i]), bulge);

    // e[last] stays zero: the first rotation of a sweep has nothing above it to change.
    e[i + 1] = l.select(active, l.select(starting, e[i + 1], r), e[i + 1]);
    d[i + 1] = l.select(active, diagonal, d[i + 1]);
    d[i] = l.select(ending, l.sub(d[i], bulge.p), d[i]);
    e[i] = l.select(ending, bulge.g, e[i]);
    [
        l.select(active, bulge.s, zero),
        l.select(active, tangent, zero),
    ]
}

/// The same where `i` lies inside the windows of all lanes, which is where most rotations are: half
/// of the operations.
#[inline(always)]
fn chase_inside<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    i: usize,
    bulge: &mut Bulge<S, T>,
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
) -> [V<S, T>; 2] {
    let Turned {
        r,
        diagonal,
        tangent,
    } = turn(l, (d[i], d[i + 1], e[i]), bulge);
    (e[i + 1], d[i + 1]) = (r, diagonal);
    [bulge.s, tangent]
}

/// What a rotation leaves behind: the off-diagonal above it, the diagonal, and the tangent of half
/// its angle.
struct Turned<X> {
    r: X,
    diagonal: X,
    tangent: X,
}

/// One rotation of the bulge, given `d[i]`, `d[i + 1]` and `e[i]`. The root has the sign of `g`, so
/// that no cosine is negative.
#[inline(always)]
fn turn<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    (d, next, e): (V<S, T>, V<S, T>, V<S, T>),
    bulge: &mut Bulge<S, T>,
) -> Turned<V<S, T>> {
    let (zero, one) = (l.splat(T::ZERO), l.splat(T::ONE));
    let Bulge { c, s, g, p } = *bulge;
    let f = l.mul(s, e);
    let b = l.mul(c, e);
    let square = l.mul_add(f, f, l.mul(g, g));
    let negligible = l.less(square, l.splat(tolerance::negligible_square::<T>()));
    // A sweep waits for the root, and for as little as can be after it: 1/r is r/r², whose division
    // does not wait for the root, and signs are set beside it.
    let reciprocal = l.div(one, square);
    let root = l.sqrt(square);
    let negative = l.less(g, zero);
    let f = l.mul(l.select(negative, l.neg(f), f), reciprocal);
    let r = l.select(negative, l.neg(root), root);
    let s = l.select(negligible, zero, l.mul(f, root));
    let c = l.select(negligible, one, l.mul(l.mul(l.abs(g), reciprocal), root));
    let r = l.select(negligible, g, r);

    let shifted = l.sub(next, p);
    let t = l.mul_add(l.sub(d, shifted), s, l.mul(c, l.add(b, b)));
    let p = l.mul(s, t);
    let g = l.mul_add(c, t, l.neg(b));
    *bulge = Bulge { c, s, g, p };
    Turned {
        r,
        diagonal: l.add(shifted, p),
        tangent: l.div(s, l.add(one, c)),
    }
}

/// Iterates until every lane of `R` registers is diagonal. `d` and `e` hold `R` stretches of `n`,
/// `z` holds `R` squares whose columns are rotated along (or nothing). False where a lane needs
/// more than the allowed sweeps.
///
/// No closure here or below: a closure is a function of its own, compiled without the CPU feature.
#[inline(always)]
pub(super) fn iterate<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    d: &mut [V<S, T>],
    e: &mut [V<S, T>],
    rotations: &mut Rotations<'_, V<S, T>>,
    z: &mut [V<S, T>],
) -> bool {
    if n < 2 {
        return true;
    }
    let zero = l.splat(T::ZERO);
    let mut lowest = 0;
    for _ in 0..tolerance::QL_SWEEPS_PER_EIGENVALUE * n {
        let mut windows = [Window {
            first: zero,
            last: zero,
            start: zero,
        }; R];
        for r in 0..R {
            windows[r] = scan(l, &d[r * n..][..n], &mut e[r * n..][..n], lowest);
        }
        let Extent { low, high, inside } = extent::<S, T, R>(l, n, &windows);
        if low >= high {
            rotations.apply(l, z);
            return true;
        }
        lowest = low;
        let zero = l.splat(T::ZERO);
        let mut bulges: [Bulge<S, T>; R] = std::array::from_fn(|_| Bulge {
            c: zero,
            s: zero,
            g: zero,
            p: zero,
        });
        let mut sweep = rotations.begin(low, high);
        for i in (inside.1..high).rev() {
            for r in 0..R {
                let (d, e) = (&mut d[r * n..][..n], &mut e[r * n..][..n]);
                let pair = chase(l, i, &windows[r], &mut bulges[r], d, e);
                sweep.push(r, i, pair);
            }
        }
        for i in (inside.0..inside.1).rev() {
            for r in 0..R {
                let (d, e) = (&mut d[r * n..][..n], &mut e[r * n..][..n]);
                let pair = chase_inside(l, i, &mut bulges[r], d, e);
                sweep.push(r, i, pair);
            }
        }
        for i in (low..inside.0).rev() {
            for r in 0..R {
                let (d, e) = (&mut d[r * n..][..n], &mut e[r * n..][..n]);
                let pair = chase(l, i, &windows[r], &mut bulges[r], d, e);
                sweep.push(r, i, pair);
            }
        }
        if rotations.is_full() {
            rotations.apply(l, z);
            rotations.clear();
        }
    }
    false
}

/// Where a sweep runs.
struct Extent {
    /// The smallest `first` and the largest `last` over all lanes; `low ≥ high` when every lane is
    /// done.
    low: usize,
    high: usize,
    /// Rotations that are inside all windows, neither the first nor the last of any; empty, and
    /// then at `high`, where a lane is done.
    inside: (usize, usize),
}

#[inline(always)]
fn extent<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    windows: &[Window<S, T>; R],
) -> Extent {
    let all = l.splat(T::from_f64(n as f64));
    let (mut low, mut from) = (all, l.splat(T::ZERO));
    let (mut high, mut to) = (from, all);
    for window in windows {
        let (first, last) = (window.first, window.last);
        // Of a lane that is done, `first` is n and `last` is zero.
        let end = l.select(l.less(first, all), last, all);
        low = l.select(l.less(first, low), first, low);
        from = l.select(l.less(from, first), first, from);
        high = l.select(l.less(high, last), last, high);
        to = l.select(l.less(end, to), end, to);
    }
    let (low, to) = (
        l.largest_of_lanes(l.neg(low)),
        l.largest_of_lanes(l.neg(to)),
    );
    let (from, high) = (l.largest_of_lanes(from), l.largest_of_lanes(high));
    let (low, high) = (-low.to_f64() as usize, high.to_f64() as usize);
    let (from, to) = (from.to_f64() as usize + 1, -to.to_f64() as usize - 1);
    let inside = if from < to { (from, to) } else { (high, high) };
    Extent { low, high, inside }
}
