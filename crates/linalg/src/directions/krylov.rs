//! A few leading eigenvectors of a large symmetric positive semi-definite matrix `G` by block Krylov iteration (block Lanczos,
//! Golub & Underwood 1977; randomised start, Musco & Musco 2015).
//!
//! `K = [Q_1, Q_2, …]` (`size × dim`, orthonormal, fully re-orthogonalised) with `Q_{j+1} R_{j+1} = G Q_j − K KᵀG Q_j`. The eigenvectors `y` of
//! `KᵀGK` give `u = K y`, whose residual is `‖G u − θ u‖ = ‖R_{j+1} y_last‖`.
//!
//! The start is a fixed pseudo-random block: the result is the same on every run.

use super::Leading;
use crate::tolerance::{KRYLOV_DEPENDENT, KRYLOV_MIN_SIDE, KRYLOV_OVERSAMPLING, KRYLOV_RESIDUAL};
use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The `most` leading eigenpairs, or nothing where a whole decomposition is the better way: small matrices, many vectors asked for,
/// low rank, or a spectrum too flat for quick convergence.
pub(crate) fn leading(g: &Mat<f64>, most: usize) -> Option<Leading> {
    let size = g.nrows();
    let block = most + KRYLOV_OVERSAMPLING;
    // Beyond half of all dimensions the whole decomposition is cheaper.
    let limit = size / 2;
    if most == 0 || size < KRYLOV_MIN_SIDE || 2 * block > limit {
        return None;
    }
    let mut space = Space {
        basis: Mat::zeros(size, limit),
        images: Mat::zeros(size, limit),
        dim: 0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let start = Mat::from_fn(size, block, |_, _| rng.random::<f64>() - 0.5);
    let mut next = start.qr().compute_thin_Q();
    let mut checked = 0;
    while space.dim + block <= limit {
        let outside = space.extend(g, &next).qr();
        let r = outside.thin_R();
        // Checking costs dim³: only after the space has grown by a quarter.
        if 4 * space.dim >= 5 * checked {
            checked = space.dim;
            let ritz = space.ritz(r, most)?;
            if ritz.residual <= KRYLOV_RESIDUAL {
                return Some(ritz.leading);
            }
            // Convergence speeds up: half of the digits after half of the way is a sign that it will get there.
            if 2 * space.dim >= limit && ritz.residual > KRYLOV_RESIDUAL.sqrt() {
                return None;
            }
        }
        // A column that depends on the others has no direction of its own: low rank.
        let size = |j: usize| r[(j, j)].abs();
        let largest = (0..block).map(size).fold(0.0, f64::max);
        if (0..block).any(|j| size(j) <= KRYLOV_DEPENDENT * largest) {
            return None;
        }
        next = outside.compute_thin_Q();
    }
    None
}

/// An orthonormal basis `K` and its image `G K`.
struct Space {
    basis: Mat<f64>,
    images: Mat<f64>,
    dim: usize,
}

impl Space {
    fn basis(&self) -> MatRef<'_, f64> {
        self.basis.subcols(0, self.dim)
    }

    /// Takes in a block; gives what of its image is orthogonal to the basis.
    fn extend(&mut self, g: &Mat<f64>, block: &Mat<f64>) -> Mat<f64> {
        let width = block.ncols();
        let mut image = g * block;
        self.basis.subcols_mut(self.dim, width).copy_from(block);
        self.images.subcols_mut(self.dim, width).copy_from(&image);
        self.dim += width;
        // Twice is enough (Kahan): once leaves rounding of what was removed.
        for _ in 0..2 {
            let along = self.basis().transpose() * &image;
            image -= self.basis() * along;
        }
        image
    }

    /// The leading Ritz pairs; `r` is the triangular factor of what is outside the space. Nothing where all is zero.
    fn ritz(&self, r: MatRef<'_, f64>, most: usize) -> Option<Ritz> {
        let small = self.basis().transpose() * self.images.subcols(0, self.dim);
        let eigen = small.self_adjoint_eigen(Side::Lower).ok()?;
        let theta = eigen.S().column_vector();
        let top = Mat::from_fn(self.dim, most, |i, j| eigen.U()[(i, self.dim - 1 - j)]);
        let outside = r * top.subrows(self.dim - r.ncols(), r.ncols());
        let norms = outside.col_iter().map(|column| column.norm_l2());
        let largest = theta[self.dim - 1];
        (largest > 0.0).then(|| Ritz {
            residual: norms.fold(0.0_f64, f64::max) / largest,
            leading: Leading {
                values: (0..most).map(|j| theta[self.dim - 1 - j]).collect(),
                vectors: self.basis() * top,
            },
        })
    }
}

/// Approximate eigenpairs, and the largest of their residuals as a fraction of the largest eigenvalue.
struct Ritz {
    residual: f64,
    leading: Leading,
}
