//! What runs on registers behind the functions of this module.

use super::differences::{self, Logarithms};
use super::eigen;
use super::mixture;
use super::product::{self, Laid, Product, Sums};
use crate::Scalar;
use crate::cholesky::kernel::{self as cholesky, BadPivot};
use crate::simd::{Lanes, V, compiled};
use pulp::{Simd, WithSimd};

compiled!(
    Scalar;
    LaneProduct,
    LaneFactor,
    LaneMixture,
    LaneInnerProducts,
    LaneWeightedSums,
    LaneTotals,
    LaneEigen,
    LaneSpectral,
    LaneDifferences,
    LaneCurvatures
);

#[derive(Debug)]
pub(crate) struct LaneProduct<'a, T>(pub(crate) Product<'a, T>);

impl<T: Scalar> WithSimd for LaneProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        product::run(Lanes::<S, T>::new(simd), self.0);
    }
}

#[derive(Debug)]
pub(crate) struct LaneFactor<'a, T> {
    pub(crate) n: usize,
    pub(crate) count: usize,
    pub(crate) x: &'a mut [T],
    pub(crate) out: &'a mut [T],
    pub(crate) pivots: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneFactor<'_, T> {
    type Output = Result<(), BadPivot<T>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let l = Lanes::<S, T>::new(simd);
        let n = self.n;
        let x = &mut T::view_mut::<S>(self.x)[..n * n];
        let pivots = &mut T::view_mut::<S>(self.pivots)[..n];
        let out = T::view_mut::<S>(self.out);
        cholesky::factor(l, n, x, pivots);
        cholesky::check(l, self.count, pivots)?;
        cholesky::invert(l, n, x, out);
        for r in 0..n {
            out[r * n + r + 1..(r + 1) * n].fill(l.splat(T::ZERO));
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct LaneMixture<'a, T> {
    pub(crate) weights: &'a [T],
    pub(crate) base: &'a [T],
    pub(crate) directions: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneMixture<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let (weights, out) = (T::view::<S>(self.weights), T::view_mut::<S>(self.out));
        mixture::mix(l, weights, self.base, self.directions, out);
    }
}

#[derive(Debug)]
pub(crate) struct LaneInnerProducts<'a, T> {
    pub(crate) g: &'a [T],
    pub(crate) directions: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneInnerProducts<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let (g, out) = (T::view::<S>(self.g), T::view_mut::<S>(self.out));
        mixture::inner_products(l, g, self.directions, out);
    }
}

#[derive(Debug)]
pub(crate) struct LaneWeightedSums<'a, T> {
    pub(crate) weights: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) add: bool,
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneWeightedSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let (weights, out) = (T::view::<S>(self.weights), T::view_mut::<S>(self.out));
        mixture::weighted_sums(l, weights, self.g, self.add, out);
    }
}

#[derive(Debug)]
pub(crate) struct LaneTotals<'a, T> {
    pub(crate) samples: usize,
    pub(crate) g: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneTotals<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        mixture::totals(l, self.samples, T::view::<S>(self.g), self.out);
    }
}

#[derive(Debug)]
pub(crate) struct LaneEigen<'a, T> {
    pub(crate) n: usize,
    pub(crate) groups: usize,
    pub(crate) x: &'a [T],
    pub(crate) values: &'a mut [T],
    pub(crate) u: &'a mut [T],
    pub(crate) scratch: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneEigen<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let l = Lanes::<S, T>::new(simd);
        let (x, u) = (T::view::<S>(self.x), T::view_mut::<S>(self.u));
        let values = T::view_mut::<S>(self.values);
        if self.groups == 2 {
            eigen::decompose_lanes::<S, T, 2>(l, self.n, x, values, u, self.scratch)
        } else {
            eigen::decompose_lanes::<S, T, 1>(l, self.n, x, values, u, self.scratch)
        }
    }
}

/// What is made of eigenvectors.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spectral<'a, T> {
    /// `U diag(f) Uᵀ`.
    Map(&'a [T]),
    /// `U (Λ ∘ UᵀG U) Uᵀ`.
    Derivative {
        /// `Λ`, lower triangle.
        divided: &'a [T],
        /// `G`, both triangles.
        g: &'a [T],
    },
}

#[derive(Debug)]
pub(crate) struct LaneSpectral<'a, T> {
    pub(crate) n: usize,
    pub(crate) u: &'a [T],
    pub(crate) task: Spectral<'a, T>,
    pub(crate) scratch: &'a mut [T],
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneSpectral<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let n = self.n;
        let (shape, square) = ((n, n, n), n * n * Lanes::<S, T>::width());
        let u = Laid::new(self.u, n);
        let (half, inner) = self.scratch.split_at_mut(square);
        match self.task {
            Spectral::Map(f) => {
                let f = &T::view::<S>(f)[..n];
                let rows = T::view::<S>(self.u).chunks_exact(n);
                for (out, row) in T::view_mut::<S>(half).chunks_exact_mut(n).zip(rows) {
                    for ((out, &u), &f) in out.iter_mut().zip(row).zip(f) {
                        *out = l.mul(u, f);
                    }
                }
            }
            Spectral::Derivative { divided, g } => {
                simd.vectorize(LaneProduct(Product::new(shape, Laid::new(g, n), u, half)));
                let inner = &mut inner[..square];
                let right = Laid::new(half, n);
                let mut lower = Product::new(shape, u.transposed(), right, inner);
                lower.sums = Sums::Lower;
                simd.vectorize(LaneProduct(lower));
                weigh(l, n, T::view::<S>(divided), T::view_mut::<S>(inner));
                simd.vectorize(LaneProduct(Product::new(
                    shape,
                    u,
                    Laid::new(inner, n),
                    half,
                )));
            }
        }
        let half = Laid::new(half, n);
        let mut lower = Product::new(shape, half, u.transposed(), self.out);
        lower.sums = Sums::Symmetric;
        simd.vectorize(LaneProduct(lower));
    }
}

/// `x ← Λ ∘ x` for symmetric `x`, given the lower triangle of `Λ`.
#[inline(always)]
fn weigh<S: Simd, T: Scalar>(l: Lanes<S, T>, n: usize, divided: &[V<S, T>], x: &mut [V<S, T>]) {
    for r in 0..n {
        for c in 0..=r {
            let entry = l.mul(divided[r * n + c], x[r * n + c]);
            x[r * n + c] = entry;
            x[c * n + r] = entry;
        }
    }
}

#[derive(Debug)]
pub(crate) struct LaneDifferences<'a, T> {
    pub(crate) n: usize,
    pub(crate) values: &'a [T],
    pub(crate) logarithms: Logarithms<'a, T>,
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneDifferences<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let (values, out) = (T::view::<S>(self.values), T::view_mut::<S>(self.out));
        differences::run(l, self.n, values, &self.logarithms, out);
    }
}

#[derive(Debug)]
pub(crate) struct LaneCurvatures<'a, T> {
    pub(crate) n: usize,
    pub(crate) logarithms: &'a [T],
    pub(crate) values: &'a [T],
    pub(crate) weights: &'a [T],
    pub(crate) out: &'a mut [T],
}

impl<T: Scalar> WithSimd for LaneCurvatures<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let l = Lanes::<S, T>::new(simd);
        let (logarithms, values) = (T::view::<S>(self.logarithms), T::view::<S>(self.values));
        let (weights, out) = (T::view::<S>(self.weights)[0], T::view_mut::<S>(self.out));
        differences::curvatures(l, self.n, logarithms, values, weights, out);
    }
}
