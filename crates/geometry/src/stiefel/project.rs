//! The orthogonal projection to the tangent space, `P_W(Z) = Z − W sym(WᵀZ)`, for `n × k` matrices.
//!
//! With `S = sym(WᵀZ)` and `H = sym(WᵀG)`, the gradients of `⟨G, P_W(Z)⟩` are `G − W H` in `Z` and
//! `−(G S + Z H)` in `W` (ambient, for any `W`). Edelman, Arias & Smith 1998, eq. 2.4.

use crate::Result;
use crate::batch::common_count;
use crate::error::shape_error;
use stiefel_linalg::{
    MatBatch, MatView, MatViewMut, ProjectionGradients, Scalar, on_threads, project_tall,
    project_tall_pull_back, sums, threads_for,
};

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
    // One square after the other in the same place, unless threads need a place each.
    let threads = threads_for(work(z.shape()));
    let squares = if threads > 1 { z.shape().0 } else { 1 };
    let mut s = MatBatch::zeros(squares, w.cols(), w.cols());
    project_keeping(w, z, &mut s.view_mut())
}

/// [`project_in_place`] that leaves `S = sym(WᵀZ)` of every pair in `s`, for [`project_pull_back`];
/// an `s` of one matrix is used again and again.
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
    let threads = threads_for(work(z.shape())).min(count);
    if threads < 2 || s.shape().0 != count {
        return Ok(project_tall(w, z, s)?);
    }
    let ((_, n, k), part) = (z.shape(), count.div_ceil(threads));
    let (z, s) = (z.data(), s.data());
    let parts = z.chunks_mut(part * n * k).zip(s.chunks_mut(part * k * k));
    let done = on_threads(parts.enumerate().collect(), |(at, (z, s))| {
        let count = s.len() / (k * k);
        let w = if w.count() == 1 {
            w
        } else {
            w.range(at * part..at * part + count)
        };
        let (mut z, mut s) = (
            MatViewMut::new(count, n, k, z)?,
            MatViewMut::new(count, k, k, s)?,
        );
        Ok(project_tall(w, &mut z, &mut s)?)
    });
    // The first error in the order of the matrices.
    done.into_iter().collect()
}

/// Multiplications of the projection of so many matrices.
fn work((count, n, k): (usize, usize, usize)) -> usize {
    2 * count * n * k * k
}

/// The gradients that are wanted, given `W`, `Z` and what [`project_keeping`] left, into their
/// places.
pub fn project_pull_back<T: Scalar>(
    (w, z, s): (MatView<'_, T>, MatView<'_, T>, MatView<'_, T>),
    g: MatView<'_, T>,
    (mut in_w, mut in_z): ProjectionGradients<'_, T>,
) -> Result<()> {
    let (count, n, k) = g.shape();
    if s.shape() != (count, k, k) {
        let expected = format!("{count} symmetric matrices, as the projection left them");
        return Err(shape_error(OP, expected, s.shape()));
    }
    if w.count() != 1 || z.count() != count {
        return Ok(project_tall_pull_back((w, z, s), g, (in_w, in_z))?);
    }
    // Parts of a few matrices, whoever computes them: the sum over the parts has one order.
    let size = PART * n * k;
    let (of_z, add) = in_z
        .as_mut()
        .map(|(x, add)| (x.data(), *add))
        .unwrap_or_default();
    let mut of_z = of_z.chunks_mut(size.max(1));
    let wants_w = in_w.is_some();
    let parts: Vec<_> = (0..count)
        .step_by(PART)
        .map(|at| (at, of_z.next()))
        .collect();
    let one = |(at, in_z): (usize, Option<&mut [T]>)| -> Result<MatBatch<T>> {
        let range = at..(at + PART).min(count);
        let len = range.len();
        let mut own = MatBatch::zeros(usize::from(wants_w), n, k);
        let in_z = in_z.map(|x| MatViewMut::new(len, n, k, x)).transpose()?;
        let given = (w, z.range(range.clone()), s.range(range.clone()));
        let wanted = (wants_w.then(|| own.view_mut()), in_z.map(|x| (x, add)));
        project_tall_pull_back(given, g.range(range), wanted)?;
        Ok(own)
    };
    let parts: Vec<Result<MatBatch<T>>> = if threads_for(2 * work(g.shape())) > 1 {
        on_threads(parts, one)
    } else {
        parts.into_iter().map(one).collect()
    };
    for part in parts {
        let part = part?;
        if let Some(sum) = &mut in_w {
            sums::add_scaled(sum.data(), T::ONE, part.data());
        }
    }
    Ok(())
}

/// Matrices of a part.
const PART: usize = 4;

/// `count` matrices: those there are, or the only one again and again.
fn repeated<T: Scalar>(x: MatView<'_, T>, count: usize) -> Result<MatBatch<T>> {
    if x.count() == count {
        return Ok(x.to_owned());
    }
    let data = x.data().repeat(count);
    Ok(MatBatch::from_vec(count, x.rows(), x.cols(), data)?)
}
