//! The pull-back of the fused tail.

use super::{FilterTail, Saved};
use crate::operation::{view, view_mut};
use crate::{Context, Gradient, OpResult};
use stiefel_linalg::{MatView, Op, Scalar, product_into};

pub(super) fn run<T: Scalar>(
    op: &FilterTail<T>,
    saved: &Saved<T>,
    inputs: &[MatView<'_, T>],
    g: MatView<'_, T>,
    gradients: &mut [Option<Gradient<'_, T>>],
    context: &Context<'_, T>,
) -> OpResult {
    let (filters, n, k) = inputs[0].shape();
    let samples = g.count();
    let (wide, square) = ((1, n, k), (1, k, k));
    let two = T::from_f64(2.0);
    let mut buffers = context.buffer(4 * k * k + n * k);
    let (g_y, rest) = buffers.split_at_mut(k * k);
    let (half, rest) = rest.split_at_mut(k * k);
    let (inner, rest) = rest.split_at_mut(k * k);
    let (loewner, g_w) = rest.split_at_mut(k * k);
    let (of_filters, of_data) = gradients.split_at_mut(1);
    let mut d_a = of_filters[0].as_mut().map(Gradient::accumulator);
    let mut d_x = of_data
        .first_mut()
        .and_then(Option::as_mut)
        .map(Gradient::accumulator);
    for i in 0..samples {
        let at = if filters == 1 { 0 } else { i };
        let w = saved.w.as_deref().unwrap_or(inputs[0].data());
        let w = view(wide, &w[at * n * k..][..n * k]);
        let xw = view(wide, &saved.xw[i * n * k..][..n * k]);
        let u = view(square, &saved.u[i * k * k..][..k * k]);

        from_upper_gradient(k, g.matrix(i), g_y);
        product_into(
            view_mut(square, half),
            false,
            T::ONE,
            view(square, g_y),
            Op::N,
            u,
            Op::N,
        )?;
        product_into(
            view_mut(square, inner),
            false,
            T::ONE,
            u,
            Op::T,
            view(square, half),
            Op::N,
        )?;
        op.f.loewner_into(&saved.values[i * k..][..k], loewner);
        for (x, l) in inner.iter_mut().zip(&*loewner) {
            *x *= *l;
        }
        product_into(
            view_mut(square, half),
            false,
            T::ONE,
            u,
            Op::N,
            view(square, inner),
            Op::N,
        )?;
        product_into(
            view_mut(square, g_y),
            false,
            T::ONE,
            view(square, half),
            Op::N,
            u,
            Op::T,
        )?;

        let g_y = view(square, g_y);
        if let Some(d_a) = &mut d_a {
            // G_W = 2 X W G_Y, and where W = qf(A) its pull-back.
            product_into(view_mut(wide, g_w), false, two, xw, Op::N, g_y, Op::N)?;
            let d_a = &mut d_a[at * n * k..][..n * k];
            if let Some(l_inv) = &saved.l_inv {
                let y = view(square, &saved.y[i * k * k..][..k * k]);
                product_into(view_mut(square, half), false, two, y, Op::N, g_y, Op::N)?;
                negative_lower(k, half, inner);
                let low = view(square, inner);
                product_into(view_mut(wide, g_w), true, T::ONE, w, Op::N, low, Op::N)?;
                let (d_a, g_w) = (view_mut(wide, d_a), view(wide, g_w));
                let l_inv = view(square, &l_inv[at * k * k..][..k * k]);
                product_into(d_a, true, T::ONE, g_w, Op::N, l_inv, Op::N)?;
            } else {
                d_a.iter_mut().zip(&*g_w).for_each(|(d, &g)| *d += g);
            }
        }
        if let Some(d_x) = &mut d_x {
            product_into(view_mut(wide, g_w), false, T::ONE, w, Op::N, g_y, Op::N)?;
            let d_x = view_mut((1, n, n), &mut d_x[i * n * n..][..n * n]);
            product_into(d_x, true, T::ONE, view(wide, g_w), Op::N, w, Op::T)?;
        }
    }
    Ok(())
}

/// The symmetric gradient of a matrix from that of its upper vector: off-diagonals carry `√2/2` on either side.
fn from_upper_gradient<T: Scalar>(k: usize, g: &[T], out: &mut [T]) {
    let half_root = T::from_f64(std::f64::consts::FRAC_1_SQRT_2);
    let mut at = 0;
    for r in 0..k {
        out[r * k + r] = g[at];
        for c in r + 1..k {
            let x = half_root * g[at + c - r];
            out[r * k + c] = x;
            out[c * k + r] = x;
        }
        at += k - r;
    }
}

/// `−M_cr` below the diagonal, `−M_rc` on and above it.
fn negative_lower<T: Scalar>(k: usize, m: &[T], out: &mut [T]) {
    for r in 0..k {
        for c in 0..k {
            out[r * k + c] = if r > c { -m[c * k + r] } else { -m[r * k + c] };
        }
    }
}
