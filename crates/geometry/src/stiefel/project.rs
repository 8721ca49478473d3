//! The orthogonal projection to the tangent space, `P_W(Z) = Z − W sym(WᵀZ)`, for `n × k` matrices.
//!
//! With `S = sym(WᵀZ)` and `H = sym(WᵀG)`, the gradients of `⟨G, P_W(Z)⟩` are `G − W H` in `Z` and `−(G S + Z H)` in
//! `W` (ambient, for any `W`). Edelman, Arias & Smith 1998, eq. 2.4.

use crate::Result;
use crate::batch::{common_count, sum_to, zip_with};
use crate::error::shape_error;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, product, product_into, symmetrise};

const OP: &str = "tangent projection";

/// `Z − W sym(WᵀZ)`; a single `W` or a single `Z` is broadcast.
///
/// ```
/// use stiefel_geometry::stiefel::project;
/// use stiefel_linalg::MatBatch;
///
/// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let z = MatBatch::from_vec(1, 2, 1, vec![3.0, 4.0])?;
/// assert_eq!(project(w.view(), z.view())?.data(), [0.0, 4.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn project<T: Scalar>(w: MatView<'_, T>, z: MatView<'_, T>) -> Result<MatBatch<T>> {
    let s = symmetric_product(w, z)?;
    minus_product(z, w, &s)
}

/// The gradients `(in W, in Z)` of a scalar whose gradient in `project(w, z)` is `g`. Where an operand was broadcast,
/// its gradient is the sum over the batch.
pub fn project_pull_back<T: Scalar>(
    w: MatView<'_, T>,
    z: MatView<'_, T>,
    g: MatView<'_, T>,
) -> Result<(MatBatch<T>, MatBatch<T>)> {
    let count = common_count(OP, w, z)?;
    if g.shape() != (count, w.rows(), w.cols()) {
        let expected = format!("a gradient of {count} matrices shaped like W");
        return Err(shape_error(OP, expected, g.shape()));
    }
    let s = symmetric_product(w, z)?;
    let h = symmetric_product(w, g)?;
    let in_z = minus_product(g, w, &h)?;
    let mut in_w = product(z, Op::N, h.view(), Op::N)?;
    product_into(in_w.view_mut(), true, T::ONE, g, Op::N, s.view(), Op::N)?;
    for x in in_w.data_mut() {
        *x = -*x;
    }
    Ok((sum_to(in_w, w.count()), sum_to(in_z, z.count())))
}

/// `sym(WᵀZ)`.
fn symmetric_product<T: Scalar>(w: MatView<'_, T>, z: MatView<'_, T>) -> Result<MatBatch<T>> {
    common_count(OP, w, z)?;
    let mut s = product(w, Op::T, z, Op::N)?;
    symmetrise(&mut s.view_mut())?;
    Ok(s)
}

/// `Z − W S`.
fn minus_product<T: Scalar>(
    z: MatView<'_, T>,
    w: MatView<'_, T>,
    s: &MatBatch<T>,
) -> Result<MatBatch<T>> {
    let ws = product(w, Op::N, s.view(), Op::N)?;
    zip_with(OP, z, ws.view(), |z, ws| z - ws)
}
