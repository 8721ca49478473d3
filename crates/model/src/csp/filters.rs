//! Common spatial patterns of one domain (Koles 1990; Ramoser, Müller-Gerking & Pfurtscheller
//! 2000), as a subspace.
//!
//! ```text
//! C_c w = λ (C_c + C_rest) w        λ in [0, 1]: the share of class c in the power of source w
//! ```
//!
//! `C_c` is the mean covariance of a class, `C_rest` the mean over the other classes, both `n × n`.
//! The leading filters are those whose λ is farthest from ½. With two classes one problem has them
//! all; with more, the classes take turns (one against the rest). Their span is given as an
//! orthonormal basis, `n × s`.

use crate::tolerance;
use crate::{ModelError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, congruence, eigh, inverse_cholesky, product};

const OP: &str = "CSP filters";

/// Solutions of `A_i w = λ (A_i + B_i) w` for batches `count × n × n`, `λ` ascending: the values,
/// `n` per problem, and the vectors as columns, `count × n × n`, with `wᵀ(A + B)w = 1`.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::csp::generalised_eigen;
///
/// let a = MatBatch::from_vec(1, 2, 2, vec![3.0, 0.0, 0.0, 1.0])?;
/// let (values, _) = generalised_eigen(a.view(), MatBatch::identity(1, 2).view())?;
/// assert!((values[0] - 0.5).abs() < 1e-15 && (values[1] - 0.75).abs() < 1e-15);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn generalised_eigen(
    a: MatView<'_, f64>,
    b: MatView<'_, f64>,
) -> Result<(Vec<f64>, MatBatch<f64>)> {
    let (count, n, cols) = a.shape();
    if a.shape() != b.shape() || n != cols {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("matrices of shapes {:?} and {:?}", a.shape(), b.shape()),
            remedy: "give two covariances of the same size for every problem",
        });
    }
    let sum = a.data().iter().zip(b.data()).map(|(a, b)| a + b).collect();
    let sum = MatBatch::from_vec(count, n, n, sum)?;
    // A + B = L Lᵀ; the problem of L⁻¹ A L⁻ᵀ is an ordinary one.
    let unmix = inverse_cholesky(sum.view())?.transposed();
    let eigen = eigh(congruence(unmix.view(), a)?.view())?;
    let vectors = product(unmix.view(), Op::N, eigen.vectors.view(), Op::N)?;
    Ok((eigen.values, vectors))
}

/// An orthonormal basis `1 × n × s` of the `s` leading CSP filters of class means `C × n × n`, at
/// least two classes, `1 ≤ s ≤ n`.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::csp::csp_basis;
///
/// // The classes differ in the power of the second channel.
/// let means = MatBatch::from_fn(2, 3, 3, |k, r, c| {
///     if r != c {
///         0.0
///     } else if r == 1 {
///         1.0 + k as f64
///     } else {
///         1.0
///     }
/// });
/// let basis = csp_basis(&means, 1)?;
/// assert!((basis.get(0, 1, 0).abs() - 1.0).abs() < 1e-12);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn csp_basis(means: &MatBatch<f64>, s: usize) -> Result<MatBatch<f64>> {
    csp_bases(std::slice::from_ref(means), s)
}

/// The bases of several domains, `domains × n × s`: their eigenproblems are solved together, side
/// by side in the processor's lanes.
pub(super) fn csp_bases(domains: &[MatBatch<f64>], s: usize) -> Result<MatBatch<f64>> {
    let n = domains.first().map_or(0, MatBatch::rows);
    for means in domains {
        let (classes, rows, cols) = means.shape();
        if classes < 2 || s == 0 || s > n || (rows, cols) != (n, n) {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!("{s} filters of {classes} class means of {rows} × {cols}"),
                remedy: "ask for 1 to n filters of at least two classes, n channels each",
            });
        }
    }
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    for means in domains {
        for c in 0..turns(means) {
            own.extend_from_slice(means.matrix(c));
            rest.extend(mean_of_others(means, c));
        }
    }
    let count = own.len() / (n * n).max(1);
    let (own, rest) = (
        MatBatch::from_vec(count, n, n, own)?,
        MatBatch::from_vec(count, n, n, rest)?,
    );
    let (values, vectors) = generalised_eigen(own.view(), rest.view())?;
    let mut bases = MatBatch::zeros(domains.len(), n, s);
    let mut first = 0;
    for (d, means) in domains.iter().enumerate() {
        let problems = first..first + turns(means);
        first = problems.end;
        let basis = leading(problems, &values, &vectors, s)?;
        for (r, row) in bases.matrix_mut(d).chunks_exact_mut(s).enumerate() {
            row.iter_mut().zip(&basis).for_each(|(out, b)| *out = b[r]);
        }
    }
    Ok(bases)
}

/// How many problems a domain has: with two classes, "the second against the rest" has the same
/// filters as the first.
fn turns(means: &MatBatch<f64>) -> usize {
    if means.count() == 2 { 1 } else { means.count() }
}

/// `C_rest` of class `c`.
fn mean_of_others(means: &MatBatch<f64>, c: usize) -> Vec<f64> {
    let (classes, n, _) = means.shape();
    let mut sum = vec![0.0; n * n];
    for k in (0..classes).filter(|&k| k != c) {
        sum.iter_mut()
            .zip(means.matrix(k))
            .for_each(|(s, x)| *s += x);
    }
    sum.into_iter().map(|s| s / (classes - 1) as f64).collect()
}

/// `s` orthonormal vectors that span the leading filters of the problems, which take turns.
fn leading(
    problems: std::ops::Range<usize>,
    values: &[f64],
    vectors: &MatBatch<f64>,
    s: usize,
) -> Result<Vec<Vec<f64>>> {
    let n = vectors.rows();
    let orders: Vec<Vec<usize>> = problems
        .clone()
        .map(|p| order(&values[p * n..][..n]))
        .collect();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(s);
    for rank in 0..n {
        for (p, order) in problems.clone().zip(&orders) {
            if basis.len() == s {
                return Ok(basis);
            }
            let filter = (0..n).map(|r| vectors.get(p, r, order[rank])).collect();
            basis.extend(what_is_new(&basis, filter));
        }
    }
    if basis.len() == s {
        return Ok(basis);
    }
    Err(ModelError::Impossible {
        op: OP,
        why: format!("the filters span {} directions, not {s}", basis.len()),
        remedy: "ask for fewer filters",
    })
}

/// Places of the values, farthest from ½ first.
fn order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let far = |j: usize| (values[j] - 0.5).abs();
    order.sort_by(|&a, &b| far(b).total_cmp(&far(a)).then(a.cmp(&b)));
    order
}

/// The part of a vector orthogonal to the basis, of length one; nothing where there is none. Twice
/// is enough (Kahan).
fn what_is_new(basis: &[Vec<f64>], mut x: Vec<f64>) -> Option<Vec<f64>> {
    let length = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let whole = length(&x);
    for _ in 0..2 {
        for b in basis {
            let along: f64 = b.iter().zip(&x).map(|(b, x)| b * x).sum();
            x.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
        }
    }
    let left = length(&x);
    (left > tolerance::NEW_DIRECTION * whole).then(|| x.into_iter().map(|v| v / left).collect())
}
