//! The Cayley transform `cayley(A) = (I − A/2)⁻¹(I + A/2)` of a skew `A`, as a
//! parametrisation of St(n, k).
//!
//! It needs only the first k columns for `A = [[A₁, −Bᵀ], [B, 0]]` with `A₁` of size `k × k`.
//! Eliminating the lower block,
//!
//! `cayley(A)[:, :k] = [2N − I; B N]`, `N = (I + ¼BᵀB − ½A₁)⁻¹`:
//!
//! one `k × k` inverse instead of an `n × n` one, and a tame one (`‖N‖₂ ≤ 1`, for the symmetric
//! part of its inverse is at least `I`). It is taken through a Householder QR. The columns are
//! orthonormal to `ε(1 + ‖A‖²)`.
//!
//! As in PyTorch's `orthogonal`, orthogonal_map = cayley, `W = base·cayley(A)[:, :k]` with
//! `A₁ = tril(X₁, −1) − tril(X₁, −1)ᵀ`, `B` the lower `n − k` rows of the free `n × k` matrix `X`;
//! `base` is `n × n`.

use super::qr::check_columns;
use crate::Result;
use crate::batch::with_transpose;
use crate::error::shape_error;
use stiefel_linalg::sums::add_scaled;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product, product_into, qr, solve_lower};

/// `N = (I + ¼C − ½A₁)⁻¹` for symmetric `C` and skew `A₁`.
fn core_inverse<T: Scalar>(c: &MatBatch<T>, a1: &MatBatch<T>) -> Result<MatBatch<T>> {
    let (quarter, half) = (T::from_f64(0.25), T::from_f64(0.5));
    let mut m = MatBatch::identity(c.count(), c.rows());
    add_scaled(m.data_mut(), quarter, c.data());
    add_scaled(m.data_mut(), -half, a1.data());
    let factors = qr(m.view())?;
    // M⁻¹ = R⁻¹Qᵀ with Rᵀ lower.
    Ok(solve_lower(
        factors.r.transposed().view(),
        Op::T,
        factors.q.transposed().view(),
    )?)
}

/// From the gradient in `N` that in `M = N⁻¹`: `−Nᵀ G Nᵀ`.
fn core_pull_back<T: Scalar>(n: &MatBatch<T>, g: &MatBatch<T>) -> Result<MatBatch<T>> {
    let left = product(n.view(), Op::T, g.view(), Op::N)?;
    let mut out = MatBatch::zeros(n.count(), n.rows(), n.rows());
    product_into(
        out.view_mut(),
        false,
        -T::ONE,
        left.view(),
        Op::N,
        n.view(),
        Op::T,
    )?;
    Ok(out)
}

/// `2N − I`.
fn twice_minus_identity<T: Scalar>(n: &MatBatch<T>) -> MatBatch<T> {
    with_transpose(n, |r, c, x, _| {
        x + x - if r == c { T::ONE } else { T::ZERO }
    })
}

/// Rows `from..to` of every matrix.
fn rows<T: Scalar>(x: MatView<'_, T>, from: usize, to: usize) -> MatBatch<T> {
    let cols = x.cols();
    MatBatch::from_fn(x.count(), to - from, cols, |i, r, c| {
        x.matrix(i)[(from + r) * cols + c]
    })
}

/// Each matrix of `top` above its partner in `bottom`.
fn stack<T: Scalar>(top: &MatBatch<T>, bottom: &MatBatch<T>) -> MatBatch<T> {
    let k = top.rows();
    MatBatch::from_fn(top.count(), k + bottom.rows(), top.cols(), |i, r, c| {
        if r < k {
            top.get(i, r, c)
        } else {
            bottom.get(i, r - k, c)
        }
    })
}

/// `W = base·cayley(A)[:, :k]` with what its pull-back needs.
#[derive(Debug, Clone, PartialEq)]
pub struct CayleyParametrisation<T> {
    /// `n × k`, with orthonormal columns where `base` is orthogonal.
    pub w: MatBatch<T>,
    base: MatBatch<T>,
    lower: MatBatch<T>,
    n: MatBatch<T>,
}

/// Points of St(n, k) from free `n × k` matrices `X`, of which the strictly lower triangle counts;
/// `base` is orthogonal `n × n`, and `X = 0` gives its first k columns. A single `base` is
/// broadcast.
///
/// ```
/// use stiefel_geometry::stiefel::cayley_parametrisation;
/// use stiefel_linalg::MatBatch;
///
/// let base = MatBatch::identity(1, 2);
/// let x = MatBatch::from_vec(1, 2, 1, vec![0.0_f64, 2.0])?;
/// // A rotation by 2·atan(½·2) = 90°.
/// let w = cayley_parametrisation(base.view(), x.view())?.w;
/// assert!(w.get(0, 0, 0).abs() < 1e-15 && (w.get(0, 1, 0) - 1.0).abs() < 1e-15);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn cayley_parametrisation<T: Scalar>(
    base: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<CayleyParametrisation<T>> {
    const OP: &str = "Cayley parametrisation";
    check_columns(OP, x)?;
    x.check_finite(OP)?;
    base.check_finite(OP)?;
    let (count, n, k) = x.shape();
    let base_fits = base.rows() == n && base.cols() == n;
    if !base_fits || (base.count() != 1 && base.count() != count) {
        let expected = format!("a base of one or {count} {n} × {n} matrices");
        return Err(shape_error(OP, expected, base.shape()));
    }
    let a1 = with_transpose(&rows(x, 0, k), |r, c, below, above| match r.cmp(&c) {
        std::cmp::Ordering::Greater => below,
        std::cmp::Ordering::Equal => T::ZERO,
        std::cmp::Ordering::Less => -above,
    });
    let lower = rows(x, k, n);
    let inverse = core_inverse(&product(lower.view(), Op::T, lower.view(), Op::N)?, &a1)?;
    let bottom = product(lower.view(), Op::N, inverse.view(), Op::N)?;
    let columns = stack(&twice_minus_identity(&inverse), &bottom);
    Ok(CayleyParametrisation {
        w: product(base, Op::N, columns.view(), Op::N)?,
        base: base.to_owned(),
        lower,
        n: inverse,
    })
}

impl<T: Scalar> CayleyParametrisation<T> {
    /// The gradient in `X` (zero on and above the diagonal) of a scalar whose gradient in `W` is
    /// `g`.
    pub fn pull_back(&self, g: MatView<'_, T>) -> Result<MatBatch<T>> {
        if g.shape() != self.w.shape() {
            let expected = format!("a gradient of shape {:?}", self.w.shape());
            return Err(shape_error("Cayley pull-back", expected, g.shape()));
        }
        let (_, n, k) = self.w.shape();
        let (two, quarter, half) = (T::from_f64(2.0), T::from_f64(0.25), T::from_f64(0.5));
        let inner = product(self.base.view(), Op::T, g, Op::N)?;
        let (top, bottom) = (rows(inner.view(), 0, k), rows(inner.view(), k, n));
        let mut in_n = product(self.lower.view(), Op::T, bottom.view(), Op::N)?;
        add_scaled(in_n.data_mut(), two, top.data());
        let in_m = core_pull_back(&self.n, &in_n)?;
        let both = with_transpose(&in_m, |_, _, m, mt| m + mt);
        let mut in_lower = product(bottom.view(), Op::N, self.n.view(), Op::T)?;
        let lower = self.lower.view();
        product_into(
            in_lower.view_mut(),
            true,
            quarter,
            lower,
            Op::N,
            both.view(),
            Op::N,
        )?;
        let in_top = with_transpose(
            &in_m,
            |r, c, m, mt| {
                if r > c { half * (mt - m) } else { T::ZERO }
            },
        );
        Ok(stack(&in_top, &in_lower))
    }
}
