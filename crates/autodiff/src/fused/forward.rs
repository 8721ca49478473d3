//! The forward pass of the fused tail.

use super::{FilterTail, GROUP, Saved};
use crate::operation::{view, view_mut};
use crate::{Context, OpResult};
use stiefel_linalg::{
    CholeskyScratch, EigenScratch, MatView, MatViewMut, Op, Scalar, eigh_into,
    inverse_cholesky_into, product_into,
};

pub(super) fn run<T: Scalar>(
    op: &FilterTail<T>,
    inputs: &[MatView<'_, T>],
    output: &mut MatViewMut<'_, T>,
    context: &Context<'_, T>,
) -> OpResult<Saved<T>> {
    let (filters, n, k) = inputs[0].shape();
    let samples = output.shape().0;
    let mut saved = Saved {
        w: op.retract.then(|| context.buffer(filters * n * k)),
        xw: context.buffer(samples * n * k),
        y: context.buffer(samples * k * k),
        u: context.buffer(samples * k * k),
        values: context.buffer(samples * k),
        l_inv: op.retract.then(|| context.buffer(filters * k * k)),
    };
    let mut scratch = Scratch::default();
    let mut z = context.buffer(2 * k * k);
    if filters == 1 && samples != 1 {
        orthonormalise(inputs[0], 0..1, &mut saved, &mut scratch)?;
    }
    for begin in (0..samples).step_by(GROUP) {
        let group = begin..(begin + GROUP).min(samples);
        if filters == samples {
            orthonormalise(inputs[0], group.clone(), &mut saved, &mut scratch)?;
        }
        for i in group.clone() {
            let at = if filters == 1 { 0 } else { i };
            let w = saved.w.as_deref().unwrap_or(inputs[0].data());
            let w = view((1, n, k), &w[at * n * k..][..n * k]);
            let x = view((1, n, n), op.covariance(inputs, i));
            let xw = &mut saved.xw[i * n * k..][..n * k];
            product_into(view_mut((1, n, k), xw), false, T::ONE, x, Op::N, w, Op::N)?;
            let y = view_mut((1, k, k), &mut saved.y[i * k * k..][..k * k]);
            product_into(y, false, T::ONE, w, Op::T, view((1, n, k), xw), Op::N)?;
        }
        let shape = (group.len(), k, k);
        let squares = group.start * k * k..group.end * k * k;
        eigh_into(
            view(shape, &saved.y[squares.clone()]),
            &mut saved.values[group.start * k..group.end * k],
            view_mut(shape, &mut saved.u[squares]),
            &mut scratch.eigen,
        )
        .map_err(|error| error.offset(group.start))?;
        for i in group {
            let u = &saved.u[i * k * k..][..k * k];
            log_vector(
                op,
                k,
                u,
                &saved.values[i * k..][..k],
                &mut z,
                output.matrix(i),
            )?;
        }
    }
    Ok(saved)
}

#[derive(Default)]
struct Scratch<T> {
    gram: Vec<T>,
    cholesky: CholeskyScratch<T>,
    eigen: EigenScratch<T>,
}

/// `W = qf(A)` for a range of filters; nothing where filters are used as they are.
fn orthonormalise<T: Scalar>(
    a: MatView<'_, T>,
    group: std::ops::Range<usize>,
    saved: &mut Saved<T>,
    scratch: &mut Scratch<T>,
) -> OpResult {
    let (Some(w), Some(l_inv)) = (&mut saved.w, &mut saved.l_inv) else {
        return Ok(());
    };
    let (_, n, k) = a.shape();
    let (filters, squares) = (
        group.start * n * k..group.end * n * k,
        group.start * k * k..group.end * k * k,
    );
    let a = view((group.len(), n, k), &a.data()[filters.clone()]);
    let shape = (group.len(), k, k);
    scratch.gram.resize(group.len() * k * k, T::ZERO);
    product_into(
        view_mut(shape, &mut scratch.gram),
        false,
        T::ONE,
        a,
        Op::T,
        a,
        Op::N,
    )?;
    let l_inv = &mut l_inv[squares];
    inverse_cholesky_into(
        view(shape, &scratch.gram),
        view_mut(shape, l_inv),
        &mut scratch.cholesky,
    )
    .map_err(|error| error.offset(group.start))?;
    let w = view_mut((group.len(), n, k), &mut w[filters]);
    product_into(w, false, T::ONE, a, Op::N, view(shape, l_inv), Op::T)?;
    Ok(())
}

/// `upper(U f(λ) Uᵀ)` of one matrix; `z` is scratch of `2k²`.
fn log_vector<T: Scalar>(
    op: &FilterTail<T>,
    k: usize,
    u: &[T],
    values: &[T],
    z: &mut [T],
    out: &mut [T],
) -> OpResult {
    let (scaled, z) = z.split_at_mut(k * k);
    for (row, from) in scaled.chunks_exact_mut(k).zip(u.chunks_exact(k)) {
        row.copy_from_slice(from);
    }
    for (c, &value) in values.iter().enumerate() {
        let f = op.f.value(value);
        for r in 0..k {
            scaled[r * k + c] *= f;
        }
    }
    let z_view = view_mut((1, k, k), z);
    product_into(
        z_view,
        false,
        T::ONE,
        view((1, k, k), scaled),
        Op::N,
        view((1, k, k), u),
        Op::T,
    )?;
    let root_two = T::from_f64(std::f64::consts::SQRT_2);
    let mut at = 0;
    for r in 0..k {
        out[at] = z[r * k + r];
        for (o, &x) in out[at + 1..at + k - r]
            .iter_mut()
            .zip(&z[r * k + r + 1..(r + 1) * k])
        {
            *o = root_two * x;
        }
        at += k - r;
    }
    Ok(())
}
