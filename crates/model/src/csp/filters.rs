//! Common spatial patterns of one domain (Koles 1990; Ramoser, Müller-Gerking & Pfurtscheller 2000), as a subspace.
//!
//! ```text
//! C_c w = λ (C_c + C_rest) w        λ in [0, 1]: the share of class c in the power of source w
//! ```
//!
//! `C_c` is the mean covariance of a class, `C_rest` the mean over the other classes, both `n × n`. The leading filters are those whose λ is
//! farthest from ½. With two classes one problem has them all; with more, the classes take turns (one against the rest). Their span is
//! given as an orthonormal basis, `n × s`.

use crate::{ModelError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, congruence, eigh, inverse_cholesky, product};

const OP: &str = "CSP filters";

/// What of a filter must be new, as a share of its length, for it to widen the basis.
const NEW_SHARE: f64 = 1e-6;

/// Solutions of `A w = λ (A + B) w`, `λ` ascending: the values and the vectors as columns, `1 × n × n`, with `wᵀ(A + B)w = 1`.
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
    if a.shape() != b.shape() || a.count() != 1 || a.rows() != a.cols() {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("matrices of shapes {:?} and {:?}", a.shape(), b.shape()),
            remedy: "give two covariances of the same size",
        });
    }
    let n = a.rows();
    let sum = MatBatch::from_fn(1, n, n, |_, r, c| a.data()[r * n + c] + b.data()[r * n + c]);
    // A + B = L Lᵀ; the problem of L⁻¹ A L⁻ᵀ is an ordinary one.
    let unmix = inverse_cholesky(sum.view())?.transposed();
    let eigen = eigh(congruence(unmix.view(), a)?.view())?;
    let vectors = product(unmix.view(), Op::N, eigen.vectors.view(), Op::N)?;
    Ok((eigen.values_of(0).to_vec(), vectors))
}

/// An orthonormal basis `1 × n × s` of the `s` leading CSP filters of class means `C × n × n`, at least two classes, `1 ≤ s ≤ n`.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::csp::csp_basis;
///
/// // The classes differ in the power of the second channel.
/// let means = MatBatch::from_fn(2, 3, 3, |k, r, c| if r != c { 0.0 } else if r == 1 { 1.0 + k as f64 } else { 1.0 });
/// let basis = csp_basis(means.view(), 1)?;
/// assert!((basis.get(0, 1, 0).abs() - 1.0).abs() < 1e-12);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn csp_basis(means: MatView<'_, f64>, s: usize) -> Result<MatBatch<f64>> {
    let (classes, n, _) = means.shape();
    if classes < 2 || s == 0 || s > n {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("{s} filters of {classes} classes and {n} channels"),
            remedy: "ask for 1 to n filters of at least two classes",
        });
    }
    // With two classes, "the second against the rest" has the same filters as the first.
    let turns = if classes == 2 { 1 } else { classes };
    let lists: Vec<MatBatch<f64>> = (0..turns)
        .map(|c| ordered(means, c))
        .collect::<Result<_>>()?;
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(s);
    for place in 0..n * turns {
        if basis.len() == s {
            break;
        }
        let (list, rank) = (&lists[place % turns], place / turns);
        let filter: Vec<f64> = (0..n).map(|r| list.get(0, r, rank)).collect();
        basis.extend(what_is_new(&basis, filter));
    }
    if basis.len() < s {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("the filters span {} directions, not {s}", basis.len()),
            remedy: "ask for fewer filters",
        });
    }
    Ok(MatBatch::from_fn(1, n, s, |_, r, c| basis[c][r]))
}

/// The filters of class `c` against the rest, farthest from ½ first.
fn ordered(means: MatView<'_, f64>, c: usize) -> Result<MatBatch<f64>> {
    let (classes, n, _) = means.shape();
    let own = MatView::new(1, n, n, means.matrix(c))?;
    let rest = MatBatch::from_fn(1, n, n, |_, row, col| {
        let others = (0..classes).filter(|&k| k != c);
        others.map(|k| means.matrix(k)[row * n + col]).sum::<f64>() / (classes - 1) as f64
    });
    let (values, vectors) = generalised_eigen(own, rest.view())?;
    let mut order: Vec<usize> = (0..n).collect();
    let far = |j: usize| (values[j] - 0.5).abs();
    order.sort_by(|&a, &b| far(b).total_cmp(&far(a)).then(a.cmp(&b)));
    Ok(MatBatch::from_fn(1, n, n, |_, r, j| {
        vectors.get(0, r, order[j])
    }))
}

/// The part of a vector orthogonal to the basis, of length one; nothing where there is none. Twice is enough (Kahan).
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
    (left > NEW_SHARE * whole).then(|| x.into_iter().map(|v| v / left).collect())
}
