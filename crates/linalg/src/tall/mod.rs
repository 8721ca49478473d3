//! Points on the Stiefel manifold, `n × k`, one after the other, each in the first-level cache:
//! tangent projection with its pull-back and CholeskyQR, alone and inside other kernels ([`Tall`]).
//!
//! ```text
//! project     Z ← Z − W S,   S = sym(WᵀZ)
//! pull back   H = sym(WᵀG),   ∂Z ← ∂Z + G − W H,   ∂W ← ∂W − (Z H + G S)
//! ```
//!
//! A matrix is copied to rows of whole registers once, and no product packs anything. The result
//! for a point does not depend on the others. Edelman, Arias & Smith 1998.

pub(crate) mod product;
mod rows;

pub use rows::{BadPivot, Tall};

use crate::aligned::with_room;
use crate::{LinalgError, MatView, MatViewMut, Result, Scalar, kernel};

/// Numbers that so many padded rows of `k` columns take at most: a register has 16 of them.
pub fn room_for(rows: usize, k: usize) -> usize {
    rows * k.next_multiple_of(16)
}

fn check(fits: bool, op: &'static str, shapes: [(usize, usize, usize); 3]) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(LinalgError::Shape {
        op,
        expected: "matrices of one shape and squares of their columns, one or one for each".into(),
        found: format!("{shapes:?}"),
    })
}

/// Matrix `i`, or the only one.
fn broadcast<T: Scalar>(x: MatView<'_, T>, i: usize) -> &[T] {
    x.matrix(if x.count() == 1 { 0 } else { i })
}

/// `Z_i ← Z_i − W_i S_i` with `S_i = sym(W_iᵀZ_i)`, which stays in `s`. A single `W` serves all of
/// `Z`; a single `S` is overwritten again and again.
///
/// ```
/// use stiefel_linalg::{MatBatch, project_tall};
///
/// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
/// let (mut z, mut s) = (
///     MatBatch::from_vec(1, 2, 1, vec![3.0, 4.0])?,
///     MatBatch::zeros(1, 1, 1),
/// );
/// project_tall(w.view(), &mut z.view_mut(), &mut s.view_mut())?;
/// assert_eq!((z.data(), s.data()), (&[0.0, 4.0][..], &[3.0][..]));
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn project_tall<T: Scalar>(
    w: MatView<'_, T>,
    z: &mut MatViewMut<'_, T>,
    s: &mut MatViewMut<'_, T>,
) -> Result<()> {
    let (count, n, k) = z.shape();
    let shapes = [w.shape(), z.shape(), s.shape()];
    let one_or_all = |c: usize| c == 1 || c == count;
    let fits = (w.rows(), w.cols()) == (n, k)
        && (s.shape().1, s.shape().2) == (k, k)
        && one_or_all(w.count())
        && one_or_all(s.shape().0);
    check(fits, "tangent projection", shapes)?;
    if n * k == 0 {
        return Ok(());
    }
    with_room(|room| {
        let scratch = room.room(room_for(2 * n + k, k));
        project_all(n, k, w, z.data(), s.data(), scratch)
    })
}

/// `Q = A R⁻¹` with the upper triangular `R`, diagonal positive, of `AᵀA = RᵀR`: CholeskyQR of one
/// `n × k` matrix, `n ≥ k`, that is well conditioned.
///
/// ```
/// let mut q = [0.0; 4];
/// stiefel_linalg::orthonormalise(&[3.0, 1.0, 4.0, 2.0], (2, 2), &mut q)?;
/// assert!((q[0] - 0.6_f64).abs() < 1e-15 && (q[1] + 0.8).abs() < 1e-12);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// Slices that do not fit the shape, or a pivot that is not positive, as that of a column of zeros.
pub fn orthonormalise<T: Scalar>(a: &[T], (n, k): (usize, usize), q: &mut [T]) -> Result<()> {
    let op = "orthonormal columns";
    let shape = (1, n, k);
    let fits = a.len() == n * k && q.len() == n * k && n >= k && k > 0;
    check(fits, op, [shape, (1, 1, a.len()), (1, 1, q.len())])?;
    let done = with_room(|room| {
        let scratch = room.room(room_for(2 * n + 2 * k + 1, k));
        orthonormalise_one(n, k, a, q, scratch)
    });
    done?.map_err(|(pivot, value)| LinalgError::NotPositiveDefinite {
        op,
        matrix: 0,
        pivot,
        value: value.to_f64(),
    })
}

kernel! {
    fn orthonormalise_one<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        k: usize,
        given: &'a [T],
        wanted: &'a mut [T],
        scratch: &'a mut [T],
    ) -> std::result::Result<(), BadPivot<T>> {
        let tall = Tall::<S, T>::new(l, n, k);
        let (a, rest) = scratch.split_at_mut(n * tall.row());
        let (q, rest) = rest.split_at_mut(n * tall.row());
        let (g, rest) = rest.split_at_mut(k * tall.row());
        tall.load(given, a);
        tall.orthonormalise(a, q, (g, &mut rest[..(k + 1) * tall.row()]))?;
        tall.store(q, wanted);
        Ok(())
    }
}

kernel! {
    fn project_all<'a, S, T>(
        l: Lanes<S, T>,
        n: usize,
        k: usize,
        w: MatView<'a, T>,
        z: &'a mut [T],
        s: &'a mut [T],
        scratch: &'a mut [T],
    ) {
        let tall = Tall::<S, T>::new(l, n, k);
        let row = tall.row();
        let (own_w, rest) = scratch.split_at_mut(n * row);
        let (own_z, rest) = rest.split_at_mut(n * row);
        let own_s = &mut rest[..k * row];
        for (i, z) in z.chunks_exact_mut(n * k).enumerate() {
            if i == 0 || w.count() > 1 {
                tall.load(broadcast(w, i), own_w);
            }
            tall.load(z, own_z);
            tall.project(own_w, own_z, own_s);
            tall.store(own_z, z);
            let at = if s.len() == k * k { 0 } else { i * k * k };
            tall.store(own_s, &mut s[at..at + k * k]);
        }
    }
}

/// The places of the gradients `(in W, in Z)` of a projection that are wanted. That in `W` is added
/// to what is there, that in `Z` where its flag says so, and written otherwise.
pub type ProjectionGradients<'a, T> =
    (Option<MatViewMut<'a, T>>, Option<(MatViewMut<'a, T>, bool)>);

/// The gradients of what [`project_tall`] gave, from its gradient `g` and the `s` that it left, one
/// for each matrix; a single `W` or a single `Z` gets a sum.
///
/// # Errors
/// Shapes that do not fit.
pub fn project_tall_pull_back<T: Scalar>(
    (w, z, s): (MatView<'_, T>, MatView<'_, T>, MatView<'_, T>),
    g: MatView<'_, T>,
    (in_w, in_z): ProjectionGradients<'_, T>,
) -> Result<()> {
    let (count, n, k) = g.shape();
    let fits =
        |x: MatView<'_, T>| (x.rows(), x.cols()) == (n, k) && [1, count].contains(&x.count());
    let w_like = in_w.as_ref().is_none_or(|x| x.shape() == w.shape());
    let z_like = (in_z.as_ref()).is_none_or(|(x, _)| x.shape() == z.shape());
    let all = fits(w) && fits(z) && s.shape() == (count, k, k) && w_like && z_like;
    check(all, "tangent projection", [w.shape(), z.shape(), s.shape()])?;
    if n * k == 0 {
        return Ok(());
    }
    with_room(|room| {
        let scratch = room.room(room_for(4 * n + 2 * k, k));
        pull_back((w, z, s), g, (in_w, in_z), scratch)
    })
}

kernel! {
    fn pull_back<'a, S, T>(
        l: Lanes<S, T>,
        given: (MatView<'a, T>, MatView<'a, T>, MatView<'a, T>),
        gradient: MatView<'a, T>,
        wanted: ProjectionGradients<'a, T>,
        scratch: &'a mut [T],
    ) {
        let ((w_all, z_all, s_all), (mut in_w, mut in_z)) = (given, wanted);
        let (count, n, k) = gradient.shape();
        let tall = Tall::<S, T>::new(l, n, k);
        let (size, square) = (n * tall.row(), k * tall.row());
        let (w, rest) = scratch.split_at_mut(size);
        let (g, rest) = rest.split_at_mut(size);
        let (own, rest) = rest.split_at_mut(size);
        let (sum, rest) = rest.split_at_mut(size);
        let (s, rest) = rest.split_at_mut(square);
        let h = &mut rest[..square];
        for i in 0..count {
            let (first, last) = (i == 0, i + 1 == count);
            if first || w_all.count() > 1 {
                tall.load(broadcast(w_all, i), w);
            }
            tall.load(gradient.matrix(i), g);
            tall.symmetric_product(w, g, h);
            if let Some(in_w) = &mut in_w {
                let one = in_w.shape().0 == 1;
                let of_w = &mut in_w.data()[if one { 0 } else { i * n * k }..][..n * k];
                if first || !one {
                    tall.load(of_w, sum);
                }
                tall.load(s_all.matrix(i), s);
                tall.subtract((broadcast(z_all, i), k), h, sum);
                tall.subtract((g, tall.row()), s, sum);
                if last || !one {
                    tall.store(sum, of_w);
                }
            }
            if let Some((in_z, add)) = &mut in_z {
                let one = in_z.shape().0 == 1;
                let of_z = &mut in_z.data()[if one { 0 } else { i * n * k }..][..n * k];
                tall.subtract((w, tall.row()), h, g);
                if *add || (one && !first) {
                    tall.load(of_z, own);
                    for (g, &own) in T::view_mut::<S>(g).iter_mut().zip(T::view::<S>(own)) {
                        *g = tall.l.add(*g, own);
                    }
                }
                tall.store(g, of_z);
            }
        }
    }
}
