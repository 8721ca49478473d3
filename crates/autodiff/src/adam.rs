//! A step of Adam (Kingma & Ba 2015) of plain numbers, and of points on the Stiefel manifold:
//!
//! ```text
//! m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²,   s = −η m̂/(√v̂ + ε)
//! plain      x ← x + s
//! Stiefel    with P_W(G) in the place of g:   W ← qf(W + P_W(s)),   m ← P_W(m)
//! ```

use stiefel_linalg::simd::{Lanes, V, pulp::Simd};
use stiefel_linalg::tall::{BadPivot, Tall, room_for};
use stiefel_linalg::{LinalgError, MatView, MatViewMut, Scalar, kernel, with_room};

type Result<X> = std::result::Result<X, LinalgError>;

/// The constants of one step of Adam, biases corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamRates<T> {
    /// `β₁` and `β₂`.
    pub keep: [T; 2],
    /// `1 − β₁` and `1 − β₂`.
    pub take: [T; 2],
    /// `−η/(1 − β₁ᵗ)`.
    pub rate: T,
    /// `1/√(1 − β₂ᵗ)`.
    pub unbias: T,
    /// `ε`.
    pub epsilon: T,
}

/// The constants in all lanes.
#[derive(Clone, Copy)]
struct InLanes<X> {
    keep: [X; 2],
    take: [X; 2],
    rate: X,
    unbias: X,
    epsilon: X,
}

impl<T: Scalar> AdamRates<T> {
    #[inline(always)]
    fn in_lanes<S: Simd>(&self, l: Lanes<S, T>) -> InLanes<V<S, T>> {
        InLanes {
            keep: [l.splat(self.keep[0]), l.splat(self.keep[1])],
            take: [l.splat(self.take[0]), l.splat(self.take[1])],
            rate: l.splat(self.rate),
            unbias: l.splat(self.unbias),
            epsilon: l.splat(self.epsilon),
        }
    }
}

/// `−η m̂/(√v̂ + ε)` after taking in a gradient.
#[inline(always)]
fn adam_step<S: Simd, T: Scalar>(
    l: Lanes<S, T>,
    rates: &InLanes<V<S, T>>,
    g: V<S, T>,
    m: &mut V<S, T>,
    v: &mut V<S, T>,
) -> V<S, T> {
    *m = l.add(l.mul(rates.keep[0], *m), l.mul(rates.take[0], g));
    *v = l.add(l.mul(rates.keep[1], *v), l.mul(l.mul(rates.take[1], g), g));
    let bottom = l.add(l.mul(l.sqrt(*v), rates.unbias), rates.epsilon);
    l.div(l.mul(rates.rate, *m), bottom)
}

kernel! {
    fn move_flat<'a, S, T>(
        l: Lanes<S, T>,
        rates: &'a AdamRates<T>,
        x: &'a mut [T],
        g: &'a [T],
        first: &'a mut [T],
        second: &'a mut [T],
    ) {
        let width = Lanes::<S, T>::width();
        let in_lanes = rates.in_lanes(l);
        let whole = x.len() / width * width;
        let (x, x_rest) = x.split_at_mut(whole);
        let (m, m_rest) = first.split_at_mut(whole);
        let (v, v_rest) = second.split_at_mut(whole);
        let (g, g_rest) = g.split_at(whole);
        let moments = T::view_mut::<S>(m).iter_mut().zip(T::view_mut::<S>(v));
        let points = T::view_mut::<S>(x).iter_mut().zip(T::view::<S>(g));
        for ((x, &g), (m, v)) in points.zip(moments) {
            *x = l.add(*x, adam_step(l, &in_lanes, g, m, v));
        }
        // Numbers behind the last register, with the same operations.
        let moments = m_rest.iter_mut().zip(v_rest);
        for ((x, &g), (m, v)) in x_rest.iter_mut().zip(g_rest).zip(moments) {
            *m = rates.keep[0] * *m + rates.take[0] * g;
            *v = rates.keep[1] * *v + rates.take[1] * g * g;
            *x += rates.rate * *m / (Scalar::sqrt(*v) * rates.unbias + rates.epsilon);
        }
    }
}

/// One step of Adam of plain numbers, with their moments.
///
/// # Panics
/// If the slices have different lengths.
pub fn adam_flat<T: Scalar>(
    rates: &AdamRates<T>,
    x: &mut [T],
    g: &[T],
    (first, second): (&mut [T], &mut [T]),
) -> Result<()> {
    assert!([g.len(), first.len(), second.len()] == [x.len(); 3]);
    move_flat(rates, x, g, first, second)
}

/// One step of Adam of points on the Stiefel manifold, `count × n × k`, with their moments, all
/// where they lie.
///
/// # Errors
/// Shapes that differ, or a point whose step leaves no full rank; it and those after it have not
/// moved then.
pub fn adam_tall<T: Scalar>(
    rates: &AdamRates<T>,
    point: &mut MatViewMut<'_, T>,
    g: MatView<'_, T>,
    (first, second): (&mut MatViewMut<'_, T>, &mut MatViewMut<'_, T>),
) -> Result<()> {
    let (_, n, k) = point.shape();
    let shapes = [g.shape(), first.shape(), second.shape()];
    if shapes != [point.shape(); 3] {
        return Err(LinalgError::Shape {
            op: "Adam",
            expected: format!("a gradient and moments of {:?}", point.shape()),
            found: format!("{shapes:?}"),
        });
    }
    if n * k == 0 {
        return Ok(());
    }
    let done = with_room(|room| {
        let scratch = room.room(room_for(5 * n + 2 * k + 1, k));
        let moments = (first.data(), second.data());
        move_points(rates, (n, k), point.data(), g.data(), moments, scratch)
    });
    done?.map_err(
        |(matrix, (pivot, value))| LinalgError::NotPositiveDefinite {
            op: "Adam",
            matrix,
            pivot,
            value: value.to_f64(),
        },
    )
}

kernel! {
    fn move_points<'a, S, T>(
        l: Lanes<S, T>,
        rates: &'a AdamRates<T>,
        sizes: (usize, usize),
        point: &'a mut [T],
        g: &'a [T],
        moments: (&'a mut [T], &'a mut [T]),
        scratch: &'a mut [T],
    ) -> std::result::Result<(), (usize, BadPivot<T>)> {
        let (n, k) = sizes;
        let tall = Tall::<S, T>::new(l, n, k);
        let rates = rates.in_lanes(l);
        let (size, square) = (n * tall.row(), k * tall.row());
        let (w, rest) = scratch.split_at_mut(size);
        let (step, rest) = rest.split_at_mut(size);
        let (q, rest) = rest.split_at_mut(size);
        let (m, rest) = rest.split_at_mut(size);
        let (v, rest) = rest.split_at_mut(size);
        let (s, rest) = rest.split_at_mut(square);
        let unit = &mut rest[..square + tall.row()];
        let each = n * k;
        let moments =
            (moments.0.chunks_exact_mut(each)).zip(moments.1.chunks_exact_mut(each));
        let points = point
            .chunks_exact_mut(each)
            .zip(g.chunks_exact(each));
        for (i, ((point, g), (first, second))) in points.zip(moments).enumerate() {
            tall.load(point, w);
            tall.load(g, step);
            tall.load(first, m);
            tall.load(second, v);
            tall.project(w, step, s);
            let moments = T::view_mut::<S>(m).iter_mut().zip(T::view_mut::<S>(v));
            for (step, (m, v)) in T::view_mut::<S>(step).iter_mut().zip(moments) {
                *step = adam_step(l, &rates, *step, m, v);
            }
            tall.project(w, step, s);
            for (step, &w) in T::view_mut::<S>(step).iter_mut().zip(T::view::<S>(w)) {
                *step = l.add(*step, w);
            }
            tall.orthonormalise(step, q, (s, unit))
                .map_err(|bad| (i, bad))?;
            tall.project(q, m, s);
            tall.store(q, point);
            tall.store(m, first);
            tall.store(v, second);
        }
        Ok(())
    }
}
