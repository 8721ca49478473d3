//! Functions of symmetric matrices through their eigenvalues, and their adjoints.
//!
//! `f(X) = U f(λ) Uᵀ` where `X = U diag(λ) Uᵀ`; batches of `n × n`. The pull-back of a gradient `G`
//! is `U (L ∘ (Uᵀ sym(G) U)) Uᵀ` with the Loewner matrix `L_rc = f[λ_r, λ_c]` (Daleckii & Krein
//! 1965; Ionescu et al. 2015 for networks). The divided differences are exact for repeated and
//! nearly equal eigenvalues (see [`SpectralFn`]), so the gradient is finite everywhere. Values and
//! gradients are exactly symmetric.
//!
//! [`map`] and its short names compute the value alone, a few matrices at a time. [`spectral_map`]
//! keeps the decomposition; its values agree with those of [`map`] to rounding, not to the bit.

use super::fast::chain;
use super::{SpectralFn, check_spectrum, check_symmetric};
use crate::Result;
use crate::error::shape_error;
use stiefel_linalg::{
    Eigen, MatBatch, MatView, Op, Scalar, eigh, product, product_into, symmetrise,
};

/// `f(X)` with the decomposition it came from, which the pull-back needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectral<T> {
    /// The function.
    pub f: SpectralFn<T>,
    /// The decomposition of `X`.
    pub eigen: Eigen<T>,
    /// `f(X)`, exactly symmetric.
    pub value: MatBatch<T>,
}

impl<T: Scalar> Spectral<T> {
    /// The gradient in `X` of a scalar whose gradient in `f(X)` is `g`; see [`pull_back`].
    pub fn pull_back(&self, g: MatView<'_, T>) -> Result<MatBatch<T>> {
        pull_back(self.f, &self.eigen, g)
    }
}

/// `f(X_i)` for every matrix of the batch, with its decomposition.
///
/// The input must be symmetric to rounding, and SPD where `f` [needs it](SpectralFn::needs_spd).
///
/// ```
/// use stiefel_geometry::spd::{SpectralFn, spectral_map};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![4.0_f64, 0.0, 0.0, 9.0])?;
/// let root = spectral_map(SpectralFn::Sqrt, x.view())?;
/// assert_eq!(root.value.data(), [2.0, 0.0, 0.0, 3.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn spectral_map<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Result<Spectral<T>> {
    f.check()?;
    let n = check_symmetric(f.name(), x)?;
    let eigen = eigh(x)?;
    if f.needs_spd() {
        check_spectrum(f.name(), n, &eigen.values)?;
    }
    let value = apply(f, &eigen)?;
    Ok(Spectral { f, eigen, value })
}

/// `U f(λ) Uᵀ` from a decomposition: several functions of the same matrix share one.
///
/// The eigenvalues are taken as they are: [`spectral_map`] is the door that checks them.
pub fn apply<T: Scalar>(f: SpectralFn<T>, eigen: &Eigen<T>) -> Result<MatBatch<T>> {
    check_eigen(f, eigen)?;
    Ok(eigen.map(|lambda| f.value(lambda))?)
}

/// `U (L ∘ (Uᵀ sym(G) U)) Uᵀ`: the gradient in `X` of a scalar whose gradient in `f(X)` is `g`,
/// exactly symmetric.
pub fn pull_back<T: Scalar>(
    f: SpectralFn<T>,
    eigen: &Eigen<T>,
    g: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    let u = eigen.vectors.view();
    let (count, n, _) = u.shape();
    check_eigen(f, eigen)?;
    if g.shape() != u.shape() {
        let expected = format!("a gradient of shape {:?}", u.shape());
        return Err(shape_error(f.name(), expected, g.shape()));
    }
    let mut sym = g.to_owned();
    symmetrise(&mut sym.view_mut())?;
    let half = product(sym.view(), Op::N, u, Op::N)?;
    let mut inner = sym;
    product_into(
        inner.view_mut(),
        false,
        T::ONE,
        u,
        Op::T,
        half.view(),
        Op::N,
    )?;
    let mut loewner = vec![T::ZERO; n * n];
    for i in 0..count {
        f.loewner_into(eigen.values_of(i), &mut loewner);
        for (x, &l) in inner.matrix_mut(i).iter_mut().zip(&loewner) {
            *x *= l;
        }
    }
    let mut outer = half;
    product_into(
        outer.view_mut(),
        false,
        T::ONE,
        u,
        Op::N,
        inner.view(),
        Op::N,
    )?;
    let mut gradient = inner;
    product_into(
        gradient.view_mut(),
        false,
        T::ONE,
        outer.view(),
        Op::N,
        u,
        Op::T,
    )?;
    symmetrise(&mut gradient.view_mut())?;
    Ok(gradient)
}

/// Decompositions are public fields: an ill-assembled one is an error, not a panic.
fn check_eigen<T: Scalar>(f: SpectralFn<T>, eigen: &Eigen<T>) -> Result<()> {
    let n = eigen.vectors.view().check_square(f.name())?;
    if eigen.values.len() == eigen.vectors.count() * n {
        return Ok(());
    }
    let expected = format!("{} × {n} eigenvalues", eigen.vectors.count());
    Err(shape_error(f.name(), expected, eigen.values.len()))
}

/// Returns `f(X_i)` without the decomposition: [`spectral_map`] where nothing is pulled back.
///
/// ```
/// use stiefel_geometry::spd::{SpectralFn, map};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![4.0, 9.0])?;
/// assert_eq!(map(SpectralFn::Sqrt, x.view())?.data(), [2.0, 3.0]);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn map<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    f.check()?;
    // Whatever has no fast way is an error, which the decomposition names.
    let careful = || Ok(spectral_map(f, x)?.value);
    chain(None, x, Some(f), None).map_or_else(careful, Ok)
}

/// The matrix logarithm of SPD matrices.
pub fn log<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    map(SpectralFn::Log, x)
}

/// The matrix exponential of symmetric matrices.
pub fn exp<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    map(SpectralFn::Exp, x)
}

/// The SPD square root of SPD matrices.
pub fn sqrt<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    map(SpectralFn::Sqrt, x)
}

/// `X^{-1/2}` of SPD matrices.
pub fn inv_sqrt<T: Scalar>(x: MatView<'_, T>) -> Result<MatBatch<T>> {
    map(SpectralFn::InvSqrt, x)
}

/// `Xᵖ` of SPD matrices.
pub fn power<T: Scalar>(x: MatView<'_, T>, p: T) -> Result<MatBatch<T>> {
    map(SpectralFn::Pow(p), x)
}
