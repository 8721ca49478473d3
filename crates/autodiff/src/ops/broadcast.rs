//! Reading and writing with broadcasting: an axis of size one is used with every index of the other
//! operand's axis.
//!
//! The adjoint of reading an axis again and again is summing over it, in an order that depends on
//! nothing but the shapes.

use crate::{OpError, Shape};
use stiefel_linalg::{MatView, Scalar};

/// The shape two operands share after broadcasting.
pub(super) fn common(a: Shape, b: Shape) -> Result<Shape, OpError> {
    let fit = |x: usize, y: usize| match (x, y) {
        (1, n) | (n, 1) => Some(n),
        (x, y) => (x == y).then_some(x),
    };
    match (fit(a.0, b.0), fit(a.1, b.1), fit(a.2, b.2)) {
        (Some(count), Some(rows), Some(cols)) => Ok((count, rows, cols)),
        _ => Err(OpError::Shape {
            needs: "on each axis equal sizes or a size of one",
            found: vec![a, b],
        }),
    }
}

/// How far apart neighbours along each axis are, zero where the axis is repeated.
#[derive(Clone, Copy)]
struct Strides {
    count: usize,
    row: usize,
    col: usize,
}

fn strides((count, rows, cols): Shape) -> Strides {
    let unless_one = |size: usize, step: usize| if size == 1 { 0 } else { step };
    Strides {
        count: unless_one(count, rows * cols),
        row: unless_one(rows, cols),
        col: unless_one(cols, 1),
    }
}

/// Calls `f(start, length, a, step_a, b, step_b)` for stretches of the output `full` over which
/// both operands advance evenly.
fn stretches(
    full: Shape,
    a: Shape,
    b: Shape,
    mut f: impl FnMut(usize, usize, usize, usize, usize, usize),
) {
    let (count, rows, cols) = full;
    let whole = |s: Shape| s == full || s == (1, 1, 1);
    if whole(a) && whole(b) {
        let step = |s: Shape| usize::from(s == full);
        f(0, count * rows * cols, 0, step(a), 0, step(b));
        return;
    }
    let (sa, sb) = (strides(a), strides(b));
    for i in 0..count {
        for r in 0..rows {
            let (at_a, at_b) = (i * sa.count + r * sa.row, i * sb.count + r * sb.row);
            f((i * rows + r) * cols, cols, at_a, sa.col, at_b, sb.col);
        }
    }
}

/// `out ← f(a, b)`, broadcast.
pub(super) fn map<T: Scalar>(
    out: &mut [T],
    full: Shape,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    f: impl Fn(T, T) -> T,
) {
    stretches(
        full,
        a.shape(),
        b.shape(),
        |start, len, ia, step_a, ib, step_b| {
            if len == 0 {
                return;
            }
            let out = out[start..start + len].iter_mut();
            let (a, b) = (&a.data()[ia..], &b.data()[ib..]);
            match (step_a, step_b) {
                (0, 0) => out.for_each(|o| *o = f(a[0], b[0])),
                (0, _) => out.zip(b).for_each(|(o, &y)| *o = f(a[0], y)),
                (_, 0) => out.zip(a).for_each(|(o, &x)| *o = f(x, b[0])),
                _ => out.zip(a).zip(b).for_each(|((o, &x), &y)| *o = f(x, y)),
            }
        },
    );
}

/// `target ← target + Σ f(g, other)` over the entries of `full` that read the same entry of the
/// target.
pub(super) fn reduce<T: Scalar>(
    target: &mut [T],
    target_shape: Shape,
    full: Shape,
    g: &[T],
    other: MatView<'_, T>,
    f: impl Fn(T, T) -> T,
) {
    stretches(
        full,
        target_shape,
        other.shape(),
        |start, len, it, step_t, io, step_o| {
            if len == 0 {
                return;
            }
            let g = &g[start..start + len];
            let (target, other) = (&mut target[it..], &other.data()[io..]);
            match (step_t, step_o) {
                (0, 0) => target[0] += sum(len, |e| f(g[e], other[0])),
                (0, _) => {
                    let other = &other[..len];
                    target[0] += sum(len, |e| f(g[e], other[e]));
                }
                (_, 0) => target
                    .iter_mut()
                    .zip(g)
                    .for_each(|(t, &g)| *t += f(g, other[0])),
                _ => {
                    let triples = target.iter_mut().zip(g).zip(other);
                    triples.for_each(|((t, &g), &o)| *t += f(g, o));
                }
            }
        },
    );
}

/// `Σ term(e)` in a fixed order: eight running sums, so that the additions need not wait for one
/// another, then their sum.
fn sum<T: Scalar>(len: usize, term: impl Fn(usize) -> T) -> T {
    const LANES: usize = 8;
    let mut lanes = [T::ZERO; LANES];
    let whole = len / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (l, lane) in lanes.iter_mut().enumerate() {
            *lane += term(start + l);
        }
    }
    let rest: T = (whole..len).map(term).sum();
    lanes.into_iter().sum::<T>() + rest
}
