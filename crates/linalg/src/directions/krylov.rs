//! A few leading eigenvectors of a large symmetric positive semi-definite matrix `G` by block
//! Krylov iteration (block Lanczos, Golub & Underwood 1977; randomised start, Musco & Musco 2015).
//!
//! `K = [Q_1, Q_2, …]` (`size × dim`, orthonormal, fully re-orthogonalised) with `Q_{j+1} R_{j+1} =
//! G Q_j − K KᵀG Q_j`. The eigenvectors `y` of `KᵀGK` give `u = K y`, whose residual is `‖G u − θ
//! u‖ = ‖R_{j+1} y_last‖`.
//!
//! The start is a fixed pseudo-random block: the result is the same on every run.

use super::{Leading, leading_eigenvectors};
use crate::tolerance::{KRYLOV_DEPENDENT, KRYLOV_MIN_SIDE, KRYLOV_OVERSAMPLING, KRYLOV_RESIDUAL};
use crate::{MatBatch, MatRef, MatView, Op, Result, product, product_into, qr};
use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// The `most` leading eigenpairs, or nothing where a whole decomposition is the better way: small
/// matrices, many vectors asked for, low rank, or a spectrum too flat for quick convergence.
pub(crate) fn leading(g: MatView<'_, f64>, most: usize) -> Result<Option<Leading>> {
    let size = g.rows();
    let block = most + KRYLOV_OVERSAMPLING;
    // Beyond half of all dimensions the whole decomposition is cheaper.
    let limit = size / 2;
    if most == 0 || size < KRYLOV_MIN_SIDE || 2 * block > limit {
        return Ok(None);
    }
    let mut space = Space {
        basis: Vec::with_capacity(limit * size),
        images: Vec::with_capacity(limit * size),
        size,
        dim: 0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    // Column by column.
    let start = MatBatch::from_fn(1, block, size, |_, _, _| rng.random::<f64>() - 0.5);
    let mut next = qr(start.transposed().view())?.q;
    let mut checked = 0;
    while space.dim + block <= limit {
        let outside = qr(space.extend(g, &next)?.view())?;
        let r = &outside.r;
        // Checking costs dim³: only after the space has grown by a quarter.
        if 4 * space.dim >= 5 * checked {
            checked = space.dim;
            let Some(ritz) = space.ritz(r, most)? else {
                return Ok(None);
            };
            if ritz.residual <= KRYLOV_RESIDUAL {
                return Ok(Some(ritz.leading));
            }
            // Convergence speeds up: half of the digits after half of the way is a sign that it
            // will get there.
            if 2 * space.dim >= limit && ritz.residual > KRYLOV_RESIDUAL.sqrt() {
                return Ok(None);
            }
        }
        // A column that depends on the others has no direction of its own: low rank.
        let size = |j: usize| r.get(0, j, j).abs();
        let largest = (0..block).map(size).fold(0.0, f64::max);
        if (0..block).any(|j| size(j) <= KRYLOV_DEPENDENT * largest) {
            return Ok(None);
        }
        next = outside.q;
    }
    Ok(None)
}

/// An orthonormal basis `K` and its image `G K`, both by columns.
struct Space {
    basis: Vec<f64>,
    images: Vec<f64>,
    size: usize,
    dim: usize,
}

impl Space {
    /// `Kᵀ`.
    fn basis(&self) -> MatView<'_, f64> {
        MatRef::new(self.dim, self.size, &self.basis).view()
    }

    /// Takes in a block; gives what of its image is orthogonal to the basis.
    fn extend(&mut self, g: MatView<'_, f64>, block: &MatBatch<f64>) -> Result<MatBatch<f64>> {
        let mut image = product(g, Op::N, block.view(), Op::N)?;
        self.basis.extend_from_slice(block.transposed().data());
        self.images.extend_from_slice(image.transposed().data());
        self.dim += block.cols();
        let basis = self.basis();
        // Twice is enough (Kahan): once leaves rounding of what was removed.
        for _ in 0..2 {
            let along = product(basis, Op::N, image.view(), Op::N)?;
            product_into(
                image.view_mut(),
                true,
                -1.0,
                basis,
                Op::T,
                along.view(),
                Op::N,
            )?;
        }
        Ok(image)
    }

    /// The leading Ritz pairs; `r` is the triangular factor of what is outside the space. Nothing
    /// where all is zero.
    fn ritz(&self, r: &MatBatch<f64>, most: usize) -> Result<Option<Ritz>> {
        let basis = self.basis();
        let images = MatRef::new(self.dim, self.size, &self.images).view();
        let small = product(basis, Op::N, images, Op::T)?;
        let top = leading_eigenvectors(small.view(), most)?;
        let largest = top.values[0];
        if largest <= 0.0 {
            return Ok(None);
        }
        let (width, from) = (r.cols(), (self.dim - r.cols()) * most);
        let last = MatRef::new(width, most, &top.vectors.data()[from..]).view();
        let outside = product(r.view(), Op::N, last, Op::N)?.transposed();
        let norms = outside.data().chunks_exact(width);
        let norms = norms.map(|column| crate::sums::dot(column, column).sqrt());
        Ok(Some(Ritz {
            residual: norms.fold(0.0_f64, f64::max) / largest,
            leading: Leading {
                vectors: product(basis, Op::T, top.vectors.view(), Op::N)?,
                values: top.values,
            },
        }))
    }
}

/// Approximate eigenpairs, and the largest of their residuals as a fraction of the largest
/// eigenvalue.
struct Ritz {
    residual: f64,
    leading: Leading,
}
