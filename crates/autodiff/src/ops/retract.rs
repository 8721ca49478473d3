//! Retractions `W, Δ ↦ W_new` on St(n, k) and the factors they are made of; `W` and `Δ` are `count
//! × n × k`, a single one is broadcast.
//!
//! * QR: `qf(W + Δ)`, the orthonormal factor with positive diagonal of `R`; pull-back `[(I−QQᵀ)G +
//!   Q·tril(QᵀG−GᵀQ, −1)]·R⁻ᵀ`, to `W` as to `Δ`.
//! * polar: `(W + Δ)((W + Δ)ᵀ(W + Δ))^{−1/2}`.
//!
//! Maps and pull-backs are those of `stiefel_geometry::stiefel`.

use super::broadcast::reduce;
use super::{tall_pairs, wrong_shape};
use crate::operation::view;
use crate::{Forward, Gradient, OpResult, Operation, PullBack, Result, Shape, Var, alone};
use stiefel_geometry::stiefel::{
    OrthonormalFactor, PolarFactor, orthonormal_factor, retract_polar, retract_qr,
};
use stiefel_linalg::{MatBatch, Scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retraction {
    Qr,
    Polar,
    QrFactor,
}

/// What the pull-back needs.
#[derive(Debug)]
enum Saved<T> {
    Qr(OrthonormalFactor<T>),
    Polar(PolarFactor<T>),
}

impl<T: Scalar> Saved<T> {
    fn value(&self) -> &MatBatch<T> {
        match self {
            Self::Qr(f) => &f.q,
            Self::Polar(f) => &f.q,
        }
    }
}

/// A retraction has the inputs `(W, Δ)`, a factor `A` alone.
#[derive(Debug)]
pub(crate) struct Retract<T> {
    factor: Retraction,
    saved: Option<Saved<T>>,
}

impl<T> Retract<T> {
    pub(crate) fn new(factor: Retraction) -> Self {
        let saved = None;
        Self { factor, saved }
    }
}

/// `dx ← dx + Σ g` over the axis that was broadcast.
fn add_broadcast<T: Scalar>(dx: &mut Gradient<'_, T>, g: &MatBatch<T>) {
    if dx.shape() == g.shape() {
        dx.add(g.data());
        return;
    }
    let (shape, one) = (dx.shape(), [T::ONE]);
    let one = view((1, 1, 1), &one);
    reduce(dx.accumulator(), shape, g.shape(), g.data(), one, |g, _| g);
}

impl<T: Scalar> Operation<T> for Retract<T> {
    fn name(&self) -> &'static str {
        match self.factor {
            Retraction::Qr => "retract_qr",
            Retraction::Polar => "retract_polar",
            Retraction::QrFactor => "orthonormal_factor",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        match *inputs {
            [a] if a.1 < a.2 => wrong_shape("matrices not wider than tall", inputs),
            [a] => Ok(a),
            _ => tall_pairs(inputs[0], inputs[1]),
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (count, n, k) = pass.output.shape();
        if pass.context.alone(count) && matches!(self.factor, Retraction::Qr | Retraction::Polar) {
            let (w, delta) = (pass.inputs[0].data(), pass.inputs[1].data());
            let is_polar = self.factor == Retraction::Polar;
            let out = pass.output.data();
            return alone::retract(is_polar, (n, k), w, delta, out, pass.context);
        }
        let saved = match self.factor {
            Retraction::Qr => Saved::Qr(retract_qr(pass.inputs[0], pass.inputs[1])?),
            Retraction::Polar => Saved::Polar(retract_polar(pass.inputs[0], pass.inputs[1])?),
            Retraction::QrFactor => Saved::Qr(orthonormal_factor(pass.inputs[0])?),
        };
        pass.output.data().copy_from_slice(saved.value().data());
        self.saved = pass.context.wants_gradient().then_some(saved);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        let in_sum = match saved {
            Saved::Qr(f) => f.pull_back(g)?,
            Saved::Polar(f) => f.pull_back(g)?,
        };
        for dx in pass.gradients.iter_mut().flatten() {
            add_broadcast(dx, &in_sum);
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    #[track_caller]
    fn retract(factor: Retraction, inputs: &[Var<'t, T>]) -> Result<Self> {
        inputs[0].tape.apply(Retract::new(factor), inputs)
    }

    /// `qf(W + Δ)`; `self` is `W` on St(n, k), `Δ` is tangent there.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let w = tape.parameter(&MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?);
    /// let z = tape.parameter(&MatBatch::from_vec(1, 2, 1, vec![7.0, 1.0])?);
    /// let moved = w.retract_qr(w.project_tangent(z)?)?;
    /// assert!((moved.value().data()[0] - 0.5_f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn retract_qr(self, delta: Var<'t, T>) -> Result<Self> {
        Self::retract(Retraction::Qr, &[self, delta])
    }

    /// The polar factor of `W + Δ`; `self` is `W` on St(n, k), `Δ` is tangent there.
    #[track_caller]
    pub fn retract_polar(self, delta: Var<'t, T>) -> Result<Self> {
        Self::retract(Retraction::Polar, &[self, delta])
    }

    /// `qf(A)` of matrices of full column rank: `A = QR` with positive diagonal of `R`.
    #[track_caller]
    pub fn orthonormal_factor(self) -> Result<Self> {
        Self::retract(Retraction::QrFactor, &[self])
    }
}
