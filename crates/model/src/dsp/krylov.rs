//! A few leading right singular vectors of a large matrix by block Krylov iteration (block Lanczos on `AᵀA`, Golub & Underwood
//! 1977; randomised start, Musco & Musco 2015).
//!
//! `K = [Q_1, Q_2, …]` (`p × dim`, orthonormal, fully re-orthogonalised) with `Q_{j+1} R_{j+1} = AᵀA Q_j − K KᵀAᵀA Q_j`. The eigenvectors
//! `y` of `(AK)ᵀ(AK)` give `v = K y`, whose residual is `‖AᵀA v − θ v‖ = ‖R_{j+1} y_last‖`.
//!
//! The start is a fixed pseudo-random block: the result is the same on every run.

use super::directions::Leading;
use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use stiefel_linalg::tolerance::{KRYLOV_MIN_SIDE, KRYLOV_OVERSAMPLING, KRYLOV_RESIDUAL};

/// The `most` leading directions, or nothing where a whole decomposition is the better way: small matrices, many directions asked
/// for, low rank, or a spectrum too flat for quick convergence.
pub(super) fn leading(a: &Mat<f64>, most: usize) -> Option<Leading> {
    let (m, p) = a.shape();
    let block = most + KRYLOV_OVERSAMPLING;
    // Beyond half of all dimensions the whole decomposition is cheaper.
    let limit = m.min(p) / 2;
    if most == 0 || m.min(p) < KRYLOV_MIN_SIDE || 2 * block > limit {
        return None;
    }
    let mut space = Space {
        basis: Mat::zeros(p, limit),
        images: Mat::zeros(m, limit),
        dim: 0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let start = Mat::from_fn(p, block, |_, _| rng.random::<f64>() - 0.5);
    let mut next = start.qr().compute_thin_Q();
    let mut checked = 0;
    while space.dim + block <= limit {
        let residual = space.extend(a, &next);
        let factors = residual.qr();
        let r = factors.thin_R();
        // Checking costs dim³: only after the space has grown by a quarter.
        if 4 * space.dim >= 5 * checked {
            checked = space.dim;
            if let Some(found) = space.converged(r, most) {
                return Some(found);
            }
        }
        // A column that depends on the others has no direction of its own: low rank.
        let size = |j: usize| r[(j, j)].abs();
        let largest = (0..block).map(size).fold(0.0, f64::max);
        if (0..block).any(|j| size(j) <= f64::EPSILON.sqrt() * largest) {
            return None;
        }
        next = factors.compute_thin_Q();
    }
    None
}

/// An orthonormal basis and its image under `A`.
struct Space {
    basis: Mat<f64>,
    images: Mat<f64>,
    dim: usize,
}

impl Space {
    fn basis(&self) -> MatRef<'_, f64> {
        self.basis.subcols(0, self.dim)
    }

    /// Takes in a block; gives `AᵀA` of it, orthogonal to the basis.
    fn extend(&mut self, a: &Mat<f64>, block: &Mat<f64>) -> Mat<f64> {
        let width = block.ncols();
        let image = a * block;
        let mut residual = a.transpose() * &image;
        self.basis.subcols_mut(self.dim, width).copy_from(block);
        self.images.subcols_mut(self.dim, width).copy_from(&image);
        self.dim += width;
        // Twice is enough (Kahan): once leaves rounding of what was removed.
        for _ in 0..2 {
            let along = self.basis().transpose() * &residual;
            residual -= self.basis() * along;
        }
        residual
    }

    /// The leading Ritz pairs, if the residuals of all of them are small; `r` is the triangular factor of what is outside the space.
    fn converged(&self, r: MatRef<'_, f64>, most: usize) -> Option<Leading> {
        let images = self.images.subcols(0, self.dim);
        let gram = images.transpose() * images;
        let eigen = gram.self_adjoint_eigen(Side::Lower).ok()?;
        let theta = eigen.S().column_vector();
        let largest = theta[self.dim - 1];
        let top = Mat::from_fn(self.dim, most, |i, j| eigen.U()[(i, self.dim - 1 - j)]);
        let outside = r * top.subrows(self.dim - r.ncols(), r.ncols());
        let worst = outside
            .col_iter()
            .map(|c| c.norm_l2())
            .fold(0.0_f64, f64::max);
        // Not `worst > …`: where everything is zero nothing has converged.
        if largest > 0.0 && worst <= KRYLOV_RESIDUAL * largest {
            return Some(Leading {
                squares: (0..most).map(|j| theta[self.dim - 1 - j]).collect(),
                vectors: self.basis() * top,
            });
        }
        None
    }
}
