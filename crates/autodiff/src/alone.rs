//! One matrix of a decision, along its rows, without gradient and without allocating.
//!
//! The maps are those of the operations that call them; only the kernels differ: a register full of
//! matrices of which one is there wastes the rest.

use crate::operation::{view, view_mut};
use crate::{Context, OpResult};
use stiefel_geometry::spd::{SpectralFn, check_spectrum, check_symmetric};
use stiefel_linalg::{MatRef, Op, Scalar, Wanted, orthonormalise, product_into};

/// Writes `U f(λ) Uᵀ` of a symmetric `n × n` matrix.
pub(crate) fn spectral<T: Scalar>(
    f: SpectralFn<T>,
    n: usize,
    x: &[T],
    out: &mut [T],
    context: &Context<'_, T>,
) -> OpResult {
    check_symmetric(f.name(), view((1, n, n), x))?;
    map(f, n, x, out, context)
}

/// Writes `U f(λ) Uᵀ` of a matrix of which the lower triangle is read.
pub(crate) fn map<T: Scalar>(
    f: SpectralFn<T>,
    n: usize,
    x: &[T],
    out: &mut [T],
    context: &Context<'_, T>,
) -> OpResult {
    let mut values = context.buffer(n);
    let value = |lambda| f.value(lambda);
    let wanted = Wanted::Map(&value, out);
    let x = MatRef::new(n, n, x);
    (context.arena).with_eigen(|eigen| eigen.decompose_one(x, &mut values, wanted))?;
    if f.needs_spd() {
        check_spectrum(f.name(), n, &values)?;
    }
    Ok(())
}

/// Writes `A (AᵀA)^{-1/2}` of an `n × k` matrix of full column rank.
pub(crate) fn polar<T: Scalar>(
    (n, k): (usize, usize),
    a: &[T],
    out: &mut [T],
    context: &Context<'_, T>,
) -> OpResult {
    let a = view((1, n, k), a);
    let (mut gram, mut root) = (context.buffer(k * k), context.buffer(k * k));
    let square = view_mut((1, k, k), &mut gram);
    product_into(square, false, T::ONE, a, Op::T, a, Op::N)?;
    spectral(SpectralFn::InvSqrt, k, &gram, &mut root, context)?;
    let (out, root) = (view_mut((1, n, k), out), view((1, k, k), &root));
    Ok(product_into(out, false, T::ONE, a, Op::N, root, Op::N)?)
}

/// Writes the orthonormal factor of `W + Δ`, or its polar one.
pub(crate) fn retract<T: Scalar>(
    is_polar: bool,
    (n, k): (usize, usize),
    w: &[T],
    delta: &[T],
    out: &mut [T],
    context: &Context<'_, T>,
) -> OpResult {
    let mut a = context.buffer(n * k);
    for ((a, &w), &delta) in a.iter_mut().zip(w).zip(delta) {
        *a = w + delta;
    }
    if is_polar {
        return polar((n, k), &a, out, context);
    }
    Ok(orthonormalise(&a, (n, k), out)?)
}

/// Writes `A + Σ_j α_j X_j`; terms of weight zero are not read.
pub(crate) fn mixture<T: Scalar>(a: &[T], alpha: &[T], terms: &[T], out: &mut [T]) -> OpResult {
    out.copy_from_slice(a);
    let size = a.len();
    if alpha.contains(&T::ZERO) {
        let terms = terms.chunks_exact(size.max(1)).zip(alpha);
        for (x, &a) in terms.filter(|(_, a)| **a != T::ZERO) {
            for (out, &x) in out.iter_mut().zip(x) {
                *out += a * x;
            }
        }
        return Ok(());
    }
    let (weights, terms) = (
        view((1, 1, alpha.len()), alpha),
        view((1, alpha.len(), size), terms),
    );
    let out = view_mut((1, 1, size), out);
    Ok(product_into(
        out,
        true,
        T::ONE,
        weights,
        Op::N,
        terms,
        Op::N,
    )?)
}
