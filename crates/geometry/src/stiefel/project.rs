//! The orthogonal projection to the tangent space, `P_W(Z) = Z − W sym(WᵀZ)`, for `n × k` matrices.
//!
//! With `S = sym(WᵀZ)` and `H = sym(WᵀG)`, the gradients of `⟨G, P_W(Z)⟩` are `G − W H` in `Z` and `−(G S + Z H)` in
//! `W` (ambient, for any `W`). Edelman, Arias & Smith 1998, eq. 2.4.

use crate::Result;
use crate::batch::common_count;
use crate::error::shape_error;
use stiefel_linalg::{MatBatch, MatView, MatViewMut, Op, Scalar, product_into, symmetrise};

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
    let mut tangent = repeated(z, common_count(OP, w, z)?)?;
    project_in_place(w, &mut tangent.view_mut())?;
    Ok(tangent)
}

/// `Z ← Z − W sym(WᵀZ)`; a single `W` serves all of `Z`.
///
/// ```
/// use stiefel_geometry::stiefel::project_in_place;
/// use stiefel_linalg::MatBatch;
///
/// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let mut z = MatBatch::from_vec(1, 2, 1, vec![3.0, 4.0])?;
/// project_in_place(w.view(), &mut z.view_mut())?;
/// assert_eq!(z.data(), [0.0, 4.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn project_in_place<T: Scalar>(w: MatView<'_, T>, z: &mut MatViewMut<'_, T>) -> Result<()> {
    let mut s = MatBatch::zeros(1, w.cols(), w.cols());
    project_keeping(w, z, &mut s.view_mut())
}

/// [`project_in_place`] that leaves `S = sym(WᵀZ)` of every pair in `s`, for [`project_pull_back_add`]; an `s` of one matrix is used again and again.
pub fn project_keeping<T: Scalar>(
    w: MatView<'_, T>,
    z: &mut MatViewMut<'_, T>,
    s: &mut MatViewMut<'_, T>,
) -> Result<()> {
    let count = z.shape().0;
    if common_count(OP, w, z.as_view())? != count {
        let expected = "one W, or one for every Z";
        return Err(shape_error(OP, expected, (w.shape(), z.shape())));
    }
    for i in 0..count {
        let w = of_pair(w, i);
        let mut s = s.single(if s.shape().0 == 1 { 0 } else { i });
        symmetric_product(w, z.as_view().single(i), &mut s)?;
        minus_product(z.single(i), w, s.as_view())?;
    }
    Ok(())
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
    let mut in_w = MatBatch::zeros(w.count(), w.rows(), w.cols());
    let mut in_z = MatBatch::zeros(z.count(), z.rows(), z.cols());
    let mut s = MatBatch::zeros(count, w.cols(), w.cols());
    for i in 0..count {
        symmetric_product(of_pair(w, i), of_pair(z, i), &mut s.view_mut().single(i))?;
    }
    let wanted = (Some(in_w.view_mut()), Some(in_z.view_mut()));
    project_pull_back_add((w, z, s.view()), g, wanted)?;
    Ok((in_w, in_z))
}

/// Adds the gradients `(in W, in Z)` to those that are wanted, given `W`, `Z` and what [`project_keeping`] left; see [`project_pull_back`].
pub fn project_pull_back_add<T: Scalar>(
    (w, z, s): (MatView<'_, T>, MatView<'_, T>, MatView<'_, T>),
    g: MatView<'_, T>,
    (mut in_w, mut in_z): (Option<MatViewMut<'_, T>>, Option<MatViewMut<'_, T>>),
) -> Result<()> {
    let mut h = MatBatch::zeros(1, w.cols(), w.cols());
    for i in 0..g.count() {
        let at = |x: MatView<'_, T>| if x.count() == 1 { 0 } else { i };
        let (w_at, z_at) = (at(w), at(z));
        let (w, z, g) = (of_pair(w, i), of_pair(z, i), g.single(i));
        symmetric_product(w, g, &mut h.view_mut())?;
        if let Some(in_z) = &mut in_z {
            let mut in_z = in_z.single(z_at);
            in_z.data()
                .iter_mut()
                .zip(g.data())
                .for_each(|(d, &g)| *d += g);
            minus_product(in_z, w, h.view())?;
        }
        if let Some(in_w) = &mut in_w {
            minus_product(in_w.single(w_at), z, h.view())?;
            minus_product(in_w.single(w_at), g, s.single(i))?;
        }
    }
    Ok(())
}

/// Matrix `i`, or the only one.
fn of_pair<T: Scalar>(x: MatView<'_, T>, i: usize) -> MatView<'_, T> {
    x.single(if x.count() == 1 { 0 } else { i })
}

/// `count` matrices: those there are, or the only one again and again.
fn repeated<T: Scalar>(x: MatView<'_, T>, count: usize) -> Result<MatBatch<T>> {
    if x.count() == count {
        return Ok(x.to_owned());
    }
    let data = x.data().repeat(count);
    Ok(MatBatch::from_vec(count, x.rows(), x.cols(), data)?)
}

/// `S ← sym(WᵀZ)`.
fn symmetric_product<T: Scalar>(
    w: MatView<'_, T>,
    z: MatView<'_, T>,
    s: &mut MatViewMut<'_, T>,
) -> Result<()> {
    product_into(s.single(0), false, T::ONE, w, Op::T, z, Op::N)?;
    Ok(symmetrise(s)?)
}

/// `Z ← Z − W S`.
fn minus_product<T: Scalar>(
    z: MatViewMut<'_, T>,
    w: MatView<'_, T>,
    s: MatView<'_, T>,
) -> Result<()> {
    Ok(product_into(z, true, -T::ONE, w, Op::N, s, Op::N)?)
}
