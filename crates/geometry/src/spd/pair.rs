//! Pairs of SPD matrices `A`, `B` (`n × n`) through one decomposition.
//!
//! With `A = LLᵀ` and `L⁻¹BL⁻ᵀ = U diag(λ) Uᵀ`, `λ` the eigenvalues of `A⁻¹B`:
//!
//! | | formula |
//! |---|---|
//! | affine-invariant distance | `‖ln λ‖₂` |
//! | geodesic | `L U diag(λᵗ) Uᵀ Lᵀ` |
//! | logarithm at `A` | `L U diag(ln λ) Uᵀ Lᵀ` |
//! | the root that transports | `E = (B A⁻¹)^{1/2} = L U diag(λ^{1/2}) Uᵀ L⁻¹` |
//!
//! Small eigenvalues keep their digits (see `whiten.rs`), whatever the condition of the pair.

use super::whiten::{Factor, colour, exp_scaled, factor, log_spectrum};
use crate::Result;
use crate::batch::common_count;
use crate::singular::norm;
use stiefel_linalg::{Eigen, MatBatch, MatView, Op, Scalar, product, symmetrise};

/// The spectra of matrices `B_i` seen from matrices `A_i`.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSpectrum<T> {
    from: Factor<T>,
    logs: Eigen<T>,
}

/// Decomposes `A_i⁻¹B_i`; a single `A` or `B` is broadcast.
///
/// A matrix gives the same bits alone and among others, where [`distance`](super::distance()) and
/// [`geodesic`](super::geodesic) take the faster of two ways for the whole batch.
///
/// ```
/// use stiefel_geometry::spd::pair_spectrum;
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0_f64])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![16.0])?;
/// let pair = pair_spectrum(a.view(), b.view())?;
/// assert!((pair.distances()[0] - 16.0_f64.ln()).abs() < 1e-15);
/// assert!((pair.geodesic(0.25)?.get(0, 0, 0) - 2.0).abs() < 1e-14);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn pair_spectrum<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Result<PairSpectrum<T>> {
    common_count("pair", a, b)?;
    PairSpectrum::named(["pair, first argument", "pair, second argument"], a, b)
}

impl<T: Scalar> PairSpectrum<T> {
    /// Decomposes pairs whose counts fit, under the names that errors give to the operands.
    pub(super) fn named(
        [first, second]: [&'static str; 2],
        a: MatView<'_, T>,
        b: MatView<'_, T>,
    ) -> Result<Self> {
        let from = factor(first, a)?;
        let logs = log_spectrum(second, &from, b)?;
        Ok(Self { from, logs })
    }

    /// Returns the affine-invariant distances of the pairs.
    pub fn distances(&self) -> Vec<T> {
        let logs = self.logs.values.chunks_exact(self.logs.vectors.rows());
        logs.map(norm).collect()
    }

    /// Returns the points at `t` of the geodesics from `A_i` to `B_i`.
    pub fn geodesic(&self, t: T) -> Result<MatBatch<T>> {
        colour(&self.from, exp_scaled(&self.logs, t)?.view())
    }

    /// Returns the tangent vectors at `A_i` that point to `B_i`.
    pub fn log_map(&self) -> Result<MatBatch<T>> {
        let n = self.logs.vectors.rows();
        let u = self.logs.vectors.view();
        let scaled = MatBatch::from_fn(u.count(), n, n, |i, r, c| {
            u.matrix(i)[r * n + c] * self.logs.values[i * n + c]
        });
        let mut inner = product(scaled.view(), Op::N, u, Op::T)?;
        symmetrise(&mut inner.view_mut())?;
        colour(&self.from, inner.view())
    }

    /// Returns `E = (B A⁻¹)^{1/2}`.
    pub(super) fn transport(&self) -> Result<MatBatch<T>> {
        let root = exp_scaled(&self.logs, T::from_f64(0.5))?;
        let half = product(self.from.l.view(), Op::N, root.view(), Op::N)?;
        Ok(product(half.view(), Op::N, self.from.l_inv.view(), Op::N)?)
    }
}
