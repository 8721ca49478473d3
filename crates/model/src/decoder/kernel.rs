//! The small maps of the forward pass on plain slices, as the tape computes them, without allocation.

use crate::Result;
use stiefel_geometry::spd::{SpectralFn, check_spectrum, upper_into};
use stiefel_linalg::{
    MatView, MatViewMut, Op, Scalar, SingleScratch, eigh_map_single_into, product_into,
};

/// `out ← op(a)·op(b)`, or `out + op(a)·op(b)`; shapes are `rows × cols` as stored.
pub(crate) fn multiply<T: Scalar>(
    (out, out_shape): (&mut [T], (usize, usize)),
    add: bool,
    (a, a_shape, op_a): (&[T], (usize, usize), Op),
    (b, b_shape, op_b): (&[T], (usize, usize), Op),
) -> Result<()> {
    let out = MatViewMut::new(1, out_shape.0, out_shape.1, out)?;
    let a = MatView::new(1, a_shape.0, a_shape.1, a)?;
    let b = MatView::new(1, b_shape.0, b_shape.1, b)?;
    Ok(product_into(out, add, T::ONE, a, op_a, b, op_b)?)
}

/// `out ← w·x + b` with `w` of `out.len() × x.len()`.
pub(super) fn linear<T: Scalar>(out: &mut [T], w: &[T], b: &[T], x: &[T]) -> Result<()> {
    out.copy_from_slice(b);
    let (rows, cols) = (out.len(), x.len());
    multiply(
        (out, (1, rows)),
        true,
        (x, (1, cols), Op::N),
        (w, (rows, cols), Op::T),
    )
}

/// Class probabilities of a row of scores.
pub(super) fn probabilities<T: Scalar>(scores: &[T], out: &mut [f64]) {
    let top = scores.iter().fold(scores[0], |top, &x| Scalar::max(top, x));
    let sum: T = scores.iter().map(|&x| Scalar::exp(x - top)).sum();
    let rest = Scalar::ln(sum);
    for (p, &x) in out.iter_mut().zip(scores) {
        *p = ((x - top) - rest).to_f64().exp();
    }
}

/// Buffers of spectral functions of one `n × n` matrix.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum<T> {
    n: usize,
    values: Vec<T>,
    f: Vec<T>,
    scratch: SingleScratch<T>,
}

impl<T: Scalar> Spectrum<T> {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            values: vec![T::ZERO; n],
            f: vec![T::ZERO; n * n],
            scratch: SingleScratch::default(),
        }
    }

    /// `U f(λ) Uᵀ` of a symmetric matrix, `n × n`.
    pub(crate) fn map(&mut self, f: SpectralFn<T>, x: &[T]) -> Result<&[T]> {
        let n = self.n;
        let x = MatView::new(1, n, n, x)?;
        let out = MatViewMut::new(1, n, n, &mut self.f)?;
        let (values, scratch) = (&mut self.values, &mut self.scratch);
        eigh_map_single_into(x, &|value| f.value(value), values, out, scratch)?;
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
