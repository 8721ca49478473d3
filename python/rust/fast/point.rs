//! `U g(L ∘ (Uᵀ f(X_i) U) + D) Uᵀ`: derivatives of functions of eigenvalues at one point, in many directions, and maps around them.

use super::entrywise::symmetric;
use super::{common, part, room, squares, stream};
use stiefel::geometry::spd::SpectralFn;
use stiefel::linalg::{MatBatch, MatView, Outer, Scalar};

/// A point with the derivative of a function there: eigenvectors `U`, the Loewner matrix `L`, and a diagonal `D`.
pub(crate) struct Point<T> {
    /// `U`, and its transpose.
    u: MatBatch<T>,
    turned: MatBatch<T>,
    loewner: Vec<T>,
    shift: Vec<T>,
}

impl<T: Scalar> Point<T> {
    /// The derivative of `f` at a point with eigenvectors `u` and eigenvalues `values`.
    pub(crate) fn new(f: SpectralFn<T>, u: MatBatch<T>, values: &[T]) -> Self {
        let n = u.rows();
        let turned = MatBatch::from_fn(1, n, n, |_, r, c| u.matrix(0)[c * n + r]);
        let mut loewner = vec![T::ZERO; n * n];
        f.loewner_into(values, &mut loewner);
        Self {
            u,
            turned,
            loewner,
            shift: vec![T::ZERO; n],
        }
    }

    /// The same with a diagonal, given the diagonal of `L`.
    pub(crate) fn shifted(mut self, of: impl Fn(usize, T) -> T) -> Self {
        let n = self.shift.len();
        for (i, shift) in self.shift.iter_mut().enumerate() {
            *shift = of(i, self.loewner[i * (n + 1)]);
        }
        self
    }

    /// `L ∘ Y + D` of every matrix.
    fn weigh(&self, y: &mut [T]) {
        let n = self.shift.len();
        for y in y.chunks_exact_mut(n * n) {
            for (value, &l) in y.iter_mut().zip(&self.loewner) {
                *value *= l;
            }
            for (i, &shift) in self.shift.iter().enumerate() {
                y[i * (n + 1)] += shift;
            }
        }
    }
}

/// `U g(L ∘ (Uᵀ f(X_i) U) + D) Uᵀ` of symmetric matrices, `f` and `g` where they are given.
pub(crate) fn tilted<T: Scalar>(
    point: &Point<T>,
    x: MatView<'_, T>,
    f: Option<SpectralFn<T>>,
    g: Option<SpectralFn<T>>,
) -> Option<MatBatch<T>> {
    let (count, n) = (x.count(), x.rows());
    common(&[Some(x), Some(point.u.view())])?;
    let (u, turned) = [&point.u, &point.turned]
        .map(|m| Some((m.view(), Outer::Full)))
        .into();
    // Around a function the factor comes last, else first.
    let places = |factor, f: Option<_>| {
        if f.is_some() {
            (None, factor)
        } else {
            (factor, None)
        }
    };
    let data = stream(n, count, n * n, |scratch, range, out| {
        let x = part(x, &range)?;
        if !symmetric(x) {
            return None;
        }
        let inner = room(&mut scratch.l, out.len());
        let (before, after) = places(turned, f);
        scratch.steps.run(before, x, f, after, inner)?;
        point.weigh(inner);
        let (before, after) = places(u, g);
        (scratch.steps).run(before, squares(n, inner)?, g, after, out)
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}
