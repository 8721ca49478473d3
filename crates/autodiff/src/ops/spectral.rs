//! Spectral functions `f(X) = U f(λ) Uᵀ` of symmetric matrices `count × n × n`.
//!
//! Pull-back by divided differences (Daleckii–Krein): `U (L ∘ (Uᵀ sym(G) U)) Uᵀ`, finite for
//! repeated eigenvalues, computed by `stiefel_geometry::spd`. Input must be symmetric to rounding;
//! its gradient is exactly symmetric.

use crate::{Forward, OpResult, Operation, PullBack, Result, Shape, Var, alone};
use stiefel_geometry::spd::{self, SpectralFn};
use stiefel_linalg::{Eigen, Scalar};

#[derive(Debug)]
pub(crate) struct Spectral<T> {
    pub(crate) f: SpectralFn<T>,
    pub(crate) eigen: Option<Eigen<T>>,
}

impl<T: Scalar> Operation<T> for Spectral<T> {
    fn name(&self) -> &'static str {
        match self.f {
            SpectralFn::Log => "spd_log",
            SpectralFn::Exp => "spd_exp",
            SpectralFn::Sqrt => "spd_sqrt",
            SpectralFn::InvSqrt => "spd_inv_sqrt",
            SpectralFn::Pow(_) => "spd_power",
            SpectralFn::ReEig(_) => "reeig",
            SpectralFn::ReLog(_) => "reeig_log",
            _ => "spectral",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        super::square(inputs)?;
        Ok(inputs[0])
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (count, n, _) = pass.inputs[0].shape();
        if pass.context.alone(count) {
            let (x, out) = (pass.inputs[0].data(), pass.output.data());
            return alone::spectral(self.f, n, x, out, pass.context);
        }
        let map = spd::spectral_map(self.f, pass.inputs[0])?;
        pass.output.data().copy_from_slice(map.value.data());
        self.eigen = pass.context.wants_gradient().then_some(map.eigen);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        if let (Some(dx), Some(eigen)) = (&mut pass.gradients[0], &self.eigen) {
            dx.add(spd::pull_back(self.f, eigen, g)?.data());
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// `f(X_i) = U f(λ) Uᵀ` of symmetric matrices, for any [`SpectralFn`].
    #[track_caller]
    pub fn spectral(self, f: SpectralFn<T>) -> Result<Self> {
        self.tape.apply(Spectral { f, eigen: None }, &[self])
    }

    /// The matrix logarithm of SPD matrices.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.parameter(&MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?);
    /// let trace = x.spd_log()?.trace()?; // = log det X
    /// assert!((trace.item().unwrap() - 3_f64.ln()).abs() < 1e-14);
    /// let gradients = tape.backward(trace)?; // = X⁻¹
    /// assert!((gradients.get(x).unwrap().data()[1] + 1.0 / 3.0).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spd_log(self) -> Result<Self> {
        self.spectral(SpectralFn::Log)
    }

    /// The matrix exponential of symmetric matrices.
    #[track_caller]
    pub fn spd_exp(self) -> Result<Self> {
        self.spectral(SpectralFn::Exp)
    }

    /// `X^{−1/2}` of SPD matrices.
    #[track_caller]
    pub fn spd_inv_sqrt(self) -> Result<Self> {
        self.spectral(SpectralFn::InvSqrt)
    }

    /// ReEig and LogEig with one decomposition, `U log max(λ, ε) Uᵀ`.
    #[track_caller]
    pub fn reeig_log(self, epsilon: f64) -> Result<Self> {
        self.spectral(SpectralFn::ReLog(T::from_f64(epsilon)))
    }
}
