//! The polar factor `Q = A(AᵀA)^{-1/2}`, the orthonormal matrix nearest to `A`, and the retraction
//! by it.
//!
//! With `A = QP`, `P = (AᵀA)^{1/2} = U diag(p) Uᵀ` and `M = QᵀG`, the pull-back is
//! `(G − QM)P⁻¹ + Q U[(Uᵀ(M − Mᵀ)U) ∘ 1/(p_r + p_c)]Uᵀ`: from `dQ = (I − QQᵀ)dA P⁻¹ + QΩ` where the
//! skew Ω solves `PΩ + ΩP = QᵀdA − dAᵀQ`. For `W` on the manifold and Δ tangent there, `AᵀA = I +
//! ΔᵀΔ` at `A = W + Δ` (Absil, Mahony & Sepulchre 2008, eq. 4.7).

use super::qr::check_columns;
use crate::batch::{with_transpose, zip_with};
use crate::error::shape_error;
use crate::tolerance;
use crate::{GeometryError, Result};
use stiefel_linalg::tolerance::noise;
use stiefel_linalg::{
    Eigen, MatBatch, MatView, Op, Scalar, eigh, product, product_into, symmetrise,
};

/// The polar factor with what its pull-back needs.
#[derive(Debug, Clone, PartialEq)]
pub struct PolarFactor<T> {
    /// `n × k` with orthonormal columns.
    pub q: MatBatch<T>,
    /// The decomposition of `AᵀA`.
    gram: Eigen<T>,
    /// `(AᵀA)^{-1/2}`.
    p_inv: MatBatch<T>,
}

impl<T: Scalar> PolarFactor<T> {
    /// The gradient in `A` (for a retraction: in `W` as in `Δ`) of a scalar whose gradient in `Q`
    /// is `g`.
    pub fn pull_back(&self, g: MatView<'_, T>) -> Result<MatBatch<T>> {
        let q = self.q.view();
        if g.shape() != q.shape() {
            let expected = format!("a gradient of shape {:?}", q.shape());
            return Err(shape_error("polar pull-back", expected, g.shape()));
        }
        let m = product(q, Op::T, g, Op::N)?;
        let mut normal = g.to_owned();
        product_into(normal.view_mut(), true, -T::ONE, q, Op::N, m.view(), Op::N)?;
        let mut gradient = product(normal.view(), Op::N, self.p_inv.view(), Op::N)?;
        let skew = self.solve_sylvester(&with_transpose(&m, |_, _, m, mt| m - mt))?;
        product_into(
            gradient.view_mut(),
            true,
            T::ONE,
            q,
            Op::N,
            skew.view(),
            Op::N,
        )?;
        Ok(gradient)
    }

    /// The `Ω` of `PΩ + ΩP = K`.
    fn solve_sylvester(&self, k: &MatBatch<T>) -> Result<MatBatch<T>> {
        let u = self.gram.vectors.view();
        let ku = product(k.view(), Op::N, u, Op::N)?;
        let mut inner = product(u, Op::T, ku.view(), Op::N)?;
        let n = u.rows();
        for i in 0..u.count() {
            let p: Vec<T> = self
                .gram
                .values_of(i)
                .iter()
                .map(|&l| Scalar::sqrt(l))
                .collect();
            for (r, row) in inner.matrix_mut(i).chunks_exact_mut(n).enumerate() {
                for (x, &p_c) in row.iter_mut().zip(&p) {
                    *x /= p[r] + p_c;
                }
            }
        }
        let outer = product(u, Op::N, inner.view(), Op::N)?;
        Ok(product(outer.view(), Op::N, u, Op::T)?)
    }
}

/// The polar factors of matrices of full column rank.
pub fn polar_factor<T: Scalar>(a: MatView<'_, T>) -> Result<PolarFactor<T>> {
    const OP: &str = "polar factor";
    check_columns(OP, a)?;
    a.check_finite(OP)?;
    let (_, n, k) = a.shape();
    let mut gram = product(a, Op::T, a, Op::N)?;
    symmetrise(&mut gram.view_mut())?;
    let gram = eigh(gram.view())?;
    let noise = noise::<T>(n);
    let mut polish = false;
    for (i, lambda) in gram.values.chunks_exact(k).enumerate() {
        let (smallest, largest) = (lambda[0], lambda[k - 1]);
        if smallest <= noise * largest {
            let ratio =
                (smallest.to_f64().max(0.0) / largest.to_f64().max(f64::MIN_POSITIVE)).sqrt();
            return Err(GeometryError::RankDeficient {
                op: OP,
                matrix: i,
                ratio,
            });
        }
        let condition = tolerance::CHOLESKY_QR_CONDITION;
        polish |= largest.to_f64() > condition * condition * smallest.to_f64();
    }
    let p_inv = gram.map(|lambda| T::ONE / Scalar::sqrt(lambda))?;
    let mut q = product(a, Op::N, p_inv.view(), Op::N)?;
    if polish {
        newton_schulz(&gram, &mut q)?;
    }
    Ok(PolarFactor { q, gram, p_inv })
}

/// `Q ← Q(3I − QᵀQ)/2` for the ill-conditioned matrices: the error in `QᵀQ`, of order `ε·cond(A)²`,
/// is squared.
fn newton_schulz<T: Scalar>(gram: &Eigen<T>, q: &mut MatBatch<T>) -> Result<()> {
    let limit = T::from_f64(tolerance::CHOLESKY_QR_CONDITION * tolerance::CHOLESKY_QR_CONDITION);
    let (half, k) = (T::from_f64(0.5), q.cols());
    for i in 0..q.count() {
        let lambda = gram.values_of(i);
        if lambda[k - 1] <= limit * lambda[0] {
            continue;
        }
        for _ in 0..2 {
            let single = q.single(i);
            let qtq = product(single.view(), Op::T, single.view(), Op::N)?;
            let step = with_transpose(&qtq, |r, c, x, _| {
                half * (if r == c { T::from_f64(3.0) } else { T::ZERO } - x)
            });
            let better = product(single.view(), Op::N, step.view(), Op::N)?;
            q.matrix_mut(i).copy_from_slice(better.data());
        }
    }
    Ok(())
}

/// The retraction `R_W(Δ) = (W + Δ)(I + ΔᵀΔ)^{-1/2}`; a single `W` or `Δ` is broadcast.
///
/// ```
/// use stiefel_geometry::stiefel::retract_polar;
/// use stiefel_linalg::MatBatch;
///
/// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let delta = MatBatch::from_vec(1, 2, 1, vec![0.0, 1.0])?;
/// let moved = retract_polar(w.view(), delta.view())?;
/// let half = 0.5_f64.sqrt();
/// assert!(
///     moved
///         .q
///         .data()
///         .iter()
///         .all(|q: &f64| (q - half).abs() < 1e-15)
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn retract_polar<T: Scalar>(
    w: MatView<'_, T>,
    delta: MatView<'_, T>,
) -> Result<PolarFactor<T>> {
    let a = zip_with("polar retraction", w, delta, |w, d| w + d)?;
    polar_factor(a.view())
}
