//! Whitening by a Cholesky factor: `C = L⁻¹ B L⁻ᵀ` for `A = L Lᵀ`, with the logarithms of its
//! eigenvalues.
//!
//! `C` is similar to `A⁻¹B`, so whatever is invariant to congruence (distance, geodesic, transport)
//! can be taken from it. Where `C` is so ill-conditioned that the eigen kernel loses the digits of
//! the smallest eigenvalues, they come from the singular values of `L_A⁻¹ L_B`, whose squares they
//! are.

use super::{SpectralFn, apply, check_spectrum, check_symmetric};
use crate::singular::norm;
use crate::tolerance;
use crate::{GeometryError, Result};
use stiefel_linalg::{
    Eigen, LinalgError, MatBatch, MatView, Op, Outer, SandwichScratch, Scalar, cholesky,
    eigenvalues, eigh, frobenius_norm, invert_lower, orthogonal_columns, product, sandwich_into,
    trace,
};

/// `A = L Lᵀ` with `L⁻¹`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factor<T> {
    pub(crate) l: MatBatch<T>,
    pub(crate) l_inv: MatBatch<T>,
}

/// The Cholesky factors of a batch that is checked to be SPD beyond rounding.
pub(crate) fn factor<T: Scalar>(op: &'static str, x: MatView<'_, T>) -> Result<Factor<T>> {
    let n = check_symmetric(op, x)?;
    let l = match cholesky(x) {
        Ok(l) => l,
        Err(error @ LinalgError::NotPositiveDefinite { .. }) => {
            check_spectrum(op, n, &eigh(x)?.values)?;
            return Err(error.into());
        }
        Err(other) => return Err(other.into()),
    };
    let l_inv = invert_lower(l.view())?;
    // 1/(tr X · tr X⁻¹) ≤ λ_min/λ_max: only where this bound does not settle it are eigenvalues
    // needed.
    let floor = tolerance::trace_bound::<T>(n);
    let sizes = trace(x)?.into_iter().zip(frobenius_norm(l_inv.view()));
    if sizes
        .into_iter()
        .any(|(t, inverse)| t * inverse * inverse * floor >= T::ONE)
    {
        check_spectrum(op, n, &eigh(x)?.values)?;
    }
    Ok(Factor { l, l_inv })
}

/// `L⁻¹ B L⁻ᵀ`, exactly symmetric; a single factor or a single `B` is broadcast.
pub(crate) fn whiten<T: Scalar>(a: &Factor<T>, b: MatView<'_, T>) -> Result<MatBatch<T>> {
    sandwich(a.l_inv.view(), Outer::Lower, b)
}

/// `L Y Lᵀ`, exactly symmetric.
pub(crate) fn colour<T: Scalar>(a: &Factor<T>, y: MatView<'_, T>) -> Result<MatBatch<T>> {
    sandwich(a.l.view(), Outer::Lower, y)
}

/// `A_i X_i A_iᵀ` for symmetric `X_i`, exactly symmetric; a single operand is broadcast.
pub(crate) fn sandwich<T: Scalar>(
    a: MatView<'_, T>,
    outer: Outer,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    let count = if a.count() == 1 { x.count() } else { a.count() };
    let mut y = MatBatch::zeros(count, x.rows(), x.cols());
    let scratch = &mut SandwichScratch::default();
    sandwich_into(a, outer, x, y.view_mut(), scratch)?;
    Ok(y)
}

/// Eigenvectors of `C = L⁻¹BL⁻ᵀ` with the *logarithms* of its eigenvalues in place of the
/// eigenvalues.
pub(crate) fn log_spectrum<T: Scalar>(
    op: &'static str,
    a: &Factor<T>,
    b: MatView<'_, T>,
) -> Result<Eigen<T>> {
    check_symmetric(op, b)?;
    let c = whiten(a, b)?;
    let mut eigen = eigh(c.view())?;
    let Eigen { values, vectors } = &mut eigen;
    for (i, lambda) in values.chunks_exact_mut(b.rows()).enumerate() {
        logarithms(op, (a, b, i), lambda, vectors.matrix_mut(i))?;
    }
    Ok(eigen)
}

/// Its values alone, `count × n`, ascending.
pub(crate) fn log_eigenvalues<T: Scalar>(
    op: &'static str,
    a: &Factor<T>,
    b: MatView<'_, T>,
) -> Result<Vec<T>> {
    let n = check_symmetric(op, b)?;
    let mut values = eigenvalues(whiten(a, b)?.view())?;
    let mut vectors = vec![T::ZERO; n * n];
    for (i, lambda) in values.chunks_exact_mut(n).enumerate() {
        logarithms(op, (a, b, i), lambda, &mut vectors)?;
    }
    Ok(values)
}

/// The eigenvalues of a pair become their logarithms. Where the kernel did not resolve the
/// smallest, both are computed again, eigenvectors too.
fn logarithms<T: Scalar>(
    op: &'static str,
    (a, b, i): (&Factor<T>, MatView<'_, T>, usize),
    lambda: &mut [T],
    vectors: &mut [T],
) -> Result<()> {
    if is_resolved(lambda) {
        to_logarithms(lambda);
        return Ok(());
    }
    let own = |x: MatView<'_, T>| if x.count() == 1 { 0 } else { i };
    let right = factor(op, b.single(own(b))).map_err(|e| at_trial(e, own(b)))?;
    let l_inv = a.l_inv.view();
    let l_inv = l_inv.single(own(l_inv));
    let f = product(l_inv, Op::N, right.l.view(), Op::N)?;
    let columns = orthogonal_columns(f.view())?;
    read_columns(columns.data(), b.rows(), lambda, vectors);
    Ok(())
}

/// Whether the eigen kernel's smallest eigenvalue has enough digits for its logarithm.
pub(crate) fn is_resolved<T: Scalar>(lambda: &[T]) -> bool {
    lambda[0] > tolerance::jacobi_ratio::<T>() * lambda[lambda.len() - 1]
}

/// Each eigenvalue replaced by its logarithm.
pub(crate) fn to_logarithms<T: Scalar>(lambda: &mut [T]) {
    for l in lambda {
        *l = Scalar::ln(*l);
    }
}

/// `U exp(s·l) Uᵀ` from a decomposition with logarithms `l` in place of eigenvalues.
pub(crate) fn exp_scaled<T: Scalar>(logs: &Eigen<T>, s: T) -> Result<MatBatch<T>> {
    let scaled = Eigen {
        values: logs.values.iter().map(|&l| s * l).collect(),
        vectors: logs.vectors.clone(),
    };
    apply(SpectralFn::Exp, &scaled)
}

/// From rows `σ_j u_jᵀ`: `2 ln σ_j` into `logs` and `u_j` into the columns of `vectors`, ascending.
pub(crate) fn read_columns<T: Scalar>(rows: &[T], n: usize, logs: &mut [T], vectors: &mut [T]) {
    let two = T::from_f64(2.0);
    let mut order: Vec<(T, &[T])> = rows.chunks_exact(n).map(|row| (norm(row), row)).collect();
    order.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    for (c, (sigma, row)) in order.into_iter().enumerate() {
        logs[c] = two * Scalar::ln(sigma);
        for (r, &x) in row.iter().enumerate() {
            vectors[r * n + c] = x / sigma;
        }
    }
}

/// An error about a batch of one, renamed to its place in the whole batch.
pub(crate) fn at_trial(error: GeometryError, at: usize) -> GeometryError {
    match error {
        GeometryError::NotSpd {
            op,
            size,
            smallest,
            largest,
            defect,
            ..
        } => GeometryError::NotSpd {
            op,
            trial: at,
            size,
            smallest,
            largest,
            defect,
        },
        other => other,
    }
}
