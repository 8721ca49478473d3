//! Small maps of single matrices on plain slices, without allocation.

use crate::Result;
use stiefel_geometry::spd::{SpectralFn, check_spectrum, upper_into};
use stiefel_linalg::{EigenWorkspace, MatRef, MatViewMut, Op, Scalar, Wanted, product_into};

/// `out ← op(a)·op(b)`, or `out + op(a)·op(b)`; shapes are `rows × cols` as stored.
pub(crate) fn multiply<T: Scalar>(
    (out, out_shape): (&mut [T], (usize, usize)),
    add: bool,
    (a, a_shape, op_a): (&[T], (usize, usize), Op),
    (b, b_shape, op_b): (&[T], (usize, usize), Op),
) -> Result<()> {
    let out = MatViewMut::one(out_shape.0, out_shape.1, out);
    let a = MatRef::new(a_shape.0, a_shape.1, a).view();
    let b = MatRef::new(b_shape.0, b_shape.1, b).view();
    Ok(product_into(out, add, T::ONE, a, op_a, b, op_b)?)
}

/// Buffers of spectral functions of one `n × n` matrix.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum<T> {
    n: usize,
    values: Vec<T>,
    f: Vec<T>,
    eigen: EigenWorkspace<T>,
}

impl<T: Scalar> Spectrum<T> {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            values: vec![T::ZERO; n],
            f: vec![T::ZERO; n * n],
            eigen: EigenWorkspace::default(),
        }
    }

    /// `U f(λ) Uᵀ` of a symmetric matrix, `n × n`.
    pub(crate) fn map(&mut self, f: SpectralFn<T>, x: &[T]) -> Result<&[T]> {
        let n = self.n;
        let value = |lambda| f.value(lambda);
        let wanted = Wanted::Map(&value, &mut self.f);
        self.eigen
            .decompose_one(MatRef::new(n, n, x), &mut self.values, wanted)?;
        if f.needs_spd() {
            check_spectrum(f.name(), n, &self.values)?;
        }
        Ok(&self.f)
    }

    /// `upper(U f(λ) Uᵀ)`: row-major upper triangle, off-diagonals times √2.
    pub(crate) fn vector(&mut self, f: SpectralFn<T>, x: &[T], out: &mut [T]) -> Result<()> {
        upper_into(self.n, self.map(f, x)?, out);
        Ok(())
    }
}
