//! `U g(L ∘ (Uᵀ f(X_i) U) + D) Uᵀ`: derivatives of functions of eigenvalues at one point, in many
//! directions, and the maps that are made of the like: the log-Euclidean ones, and the
//! Bures–Wasserstein exponential, where `L_rc = 1/(λ_r + λ_c)`.

use super::steps::{common, part, room, squares, squares_mut, stream, symmetric};
use crate::Result;
use crate::batch::{broadcast, common_count, zip_with};
use crate::spd::{SpectralFn, check_spectrum, check_symmetric, exp, log, pull_back, spectral_map};
use stiefel_linalg::{Eigen, MatBatch, MatView, Op, Outer, Scalar, eigh, product_into};

/// A point with the derivative of a function there: eigenvectors `U`, the Loewner matrix `L`, and a
/// diagonal `D`.
struct Point<T> {
    /// `U`, and its transpose.
    u: MatBatch<T>,
    turned: MatBatch<T>,
    loewner: Vec<T>,
    shift: Vec<T>,
}

impl<T: Scalar> Point<T> {
    /// The derivative of `f` at a point with eigenvectors `u` and eigenvalues `values`.
    fn new(f: SpectralFn<T>, u: MatBatch<T>, values: &[T]) -> Self {
        let n = u.rows();
        let mut loewner = vec![T::ZERO; n * n];
        f.loewner_into(values, &mut loewner);
        Self::weighted(u, loewner)
    }

    /// With eigenvectors `u` and weights of its own.
    fn weighted(u: MatBatch<T>, loewner: Vec<T>) -> Self {
        let n = u.rows();
        Self {
            turned: u.transposed(),
            u,
            loewner,
            shift: vec![T::ZERO; n],
        }
    }

    /// The same with a diagonal, given the diagonal of `L`.
    fn shifted(mut self, of: impl Fn(usize, T) -> T) -> Self {
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
fn tilted<T: Scalar>(
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

/// The derivative of a function of eigenvalues at `C_i` in the directions `X_i`, `U (L ∘ (Uᵀ X_i
/// U)) Uᵀ`.
///
/// ```
/// use stiefel_geometry::spd::{SpectralFn, differential};
/// use stiefel_linalg::MatBatch;
///
/// let c = MatBatch::from_vec(1, 1, 1, vec![4.0])?;
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0, 2.0])?;
/// assert_eq!(
///     differential(SpectralFn::Log, c.view(), x.view())?.data(),
///     [0.25, 0.5]
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn differential<T: Scalar>(
    f: SpectralFn<T>,
    c: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    let count = common_count("differential", c, x)?;
    let eigen = spectral_map(f, c)?.eigen;
    // One point for all directions is decomposed once.
    if c.count() == 1 {
        let point = Point::new(f, eigen.vectors.clone(), &eigen.values);
        if let Some(short) = tilted(&point, x, None, None) {
            return Ok(short);
        }
    }
    check_symmetric("differential, direction", x)?;
    let n = c.rows();
    let at = |i: usize| if c.count() == 1 { 0 } else { i };
    let spread = Eigen {
        values: (0..count)
            .flat_map(|i| eigen.values_of(at(i)).to_vec())
            .collect(),
        vectors: MatBatch::from_fn(count, n, n, |i, r, s| {
            eigen.vectors.matrix(at(i))[r * n + s]
        }),
    };
    let x = MatBatch::from_fn(count, n, n, |i, r, s| broadcast(x, i)[r * n + s]);
    // The derivative is its own adjoint, so the pull-back computes it.
    pull_back(f, &spread, x.view())
}

/// The log-Euclidean logarithmic map, `D exp(log C_i)[log X_i − log C_i]`.
pub fn log_map_log_euclidean<T: Scalar>(
    c: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    common_count("log-Euclidean logarithm map", c, x)?;
    let at = spectral_map(SpectralFn::Log, c)?;
    if c.count() == 1 {
        let logs: Vec<T> = at.eigen.values.iter().map(|&l| Scalar::ln(l)).collect();
        let point =
            Point::new(SpectralFn::Exp, at.eigen.vectors, &logs).shifted(|i, l| -l * logs[i]);
        if let Some(short) = tilted(&point, x, Some(SpectralFn::Log), None) {
            return Ok(short);
        }
    }
    let logs = log(x)?;
    let apart = zip_with("log-Euclidean map", logs.view(), at.value.view(), |x, c| {
        x - c
    })?;
    differential(SpectralFn::Exp, at.value.view(), apart.view())
}

/// The log-Euclidean exponential map, `exp(log C_i + D log(C_i)[X_i])`.
pub fn exp_map_log_euclidean<T: Scalar>(
    c: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    common_count("log-Euclidean exponential map", c, x)?;
    let at = spectral_map(SpectralFn::Log, c)?;
    if c.count() == 1 {
        let values = &at.eigen.values;
        let point = Point::new(SpectralFn::Log, at.eigen.vectors, values)
            .shifted(|i, _| Scalar::ln(values[i]));
        if let Some(short) = tilted(&point, x, None, Some(SpectralFn::Exp)) {
            return Ok(short);
        }
    }
    let moved = differential(SpectralFn::Log, c, x)?;
    let sum = zip_with(
        "log-Euclidean map",
        at.value.view(),
        moved.view(),
        |c, x| c + x,
    )?;
    exp(sum.view())
}

/// `(I + H_i) M (I + H_i)` with `H_i M + M H_i = V_i`, at one point `M = U diag(λ) Uᵀ` that is
/// decomposed once: `U K Kᵀ Uᵀ` with `K = Uᵀ(I + H_i)U diag(√λ)`, `K_rc = (UᵀV_iU)_rc √λ_c/(λ_r +
/// λ_c) + δ_rc √λ_c`.
pub(in crate::spd) fn exp_map_wasserstein<T: Scalar>(
    m: MatView<'_, T>,
    v: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let (count, n) = (v.count(), v.rows());
    common(&[Some(v), Some(m)])?;
    if m.count() > 1 || !symmetric(m) {
        return None;
    }
    let Eigen { values, vectors } = eigh(m).ok()?;
    check_spectrum("", n, &values).ok()?;
    let roots: Vec<T> = values.iter().map(|&l| Scalar::sqrt(l)).collect();
    let weights = values.iter().flat_map(|&r| {
        let columns = values.iter().zip(&roots);
        columns.map(move |(&c, &root)| root / (r + c))
    });
    let point = Point::weighted(vectors, weights.collect()).shifted(|i, _| roots[i]);
    let [u, turned] = [&point.u, &point.turned].map(|m| Some((m.view(), Outer::Full)));
    let data = stream(n, count, n * n, |scratch, range, out| {
        let v = part(v, &range).filter(|v| symmetric(*v))?;
        let [k, square] = [&mut scratch.l, &mut scratch.l_inv].map(|b| room(b, out.len()));
        scratch.steps.run(turned, v, None, None, k)?;
        point.weigh(k);
        let k = squares(n, k)?;
        let place = squares_mut(n, square)?;
        product_into(place, false, T::ONE, k, Op::N, k, Op::T).ok()?;
        let square = squares(n, square)?;
        scratch.steps.run(u, square, None, None, out)
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}
