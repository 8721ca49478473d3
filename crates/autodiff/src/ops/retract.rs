//! Retractions `W, Δ ↦ W_new` on St(n, k) and the factors they are made of; `W` and `Δ` are `count × n × k`, a single one is broadcast.
//!
//! * QR: `qf(W + Δ)`, the orthonormal factor with positive diagonal of `R`; pull-back `[(I−QQᵀ)G + Q·tril(QᵀG−GᵀQ, −1)]·R⁻ᵀ`, to `W` as to `Δ`.
//! * polar: `(W + Δ)((W + Δ)ᵀ(W + Δ))^{−1/2}`.
//! * Cayley: `(I − Ω/2)⁻¹(I + Ω/2) W` with the skew `Ω` that `Δ` stands for.
//!
//! Maps and pull-backs are those of `stiefel_geometry::stiefel`.

use super::broadcast::reduce;
use crate::operation::view;
use crate::{Context, Gradient, OpError, OpResult, Operation, Result, Shape, Var};
use stiefel_geometry::stiefel::{
    CayleyRetraction, OrthonormalFactor, PolarFactor, orthonormal_factor, polar_factor,
    retract_cayley, retract_polar, retract_qr,
};
use stiefel_linalg::{MatBatch, MatView, MatViewMut, Scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Qr,
    Polar,
    Cayley,
    QrFactor,
    PolarFactor,
}

/// What the pull-back needs.
#[derive(Debug)]
enum Saved<T> {
    Qr(OrthonormalFactor<T>),
    Polar(PolarFactor<T>),
    Cayley(CayleyRetraction<T>),
}

impl<T: Scalar> Saved<T> {
    fn value(&self) -> &MatBatch<T> {
        match self {
            Self::Qr(f) => &f.q,
            Self::Polar(f) => &f.q,
            Self::Cayley(f) => &f.q,
        }
    }
}

/// A retraction has the inputs `(W, Δ)`, a factor `A` alone.
#[derive(Debug)]
struct Retract<T> {
    kind: Kind,
    saved: Option<Saved<T>>,
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
        match self.kind {
            Kind::Qr => "retract_qr",
            Kind::Polar => "retract_polar",
            Kind::Cayley => "retract_cayley",
            Kind::QrFactor => "orthonormal_factor",
            Kind::PolarFactor => "polar_factor",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (first, last) = (inputs[0], inputs[inputs.len() - 1]);
        let counts_fit = first.0 == last.0 || first.0 == 1 || last.0 == 1;
        if counts_fit && (first.1, first.2) == (last.1, last.2) && first.1 >= first.2 {
            let count = if first.0 == 1 { last.0 } else { first.0 };
            return Ok((count, first.1, first.2));
        }
        Err(OpError::Shape {
            needs: "equally sized matrices, not wider than tall, and equal counts or a count of one",
            found: inputs.to_vec(),
        })
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        context: &Context<'_, T>,
    ) -> OpResult {
        let saved = match self.kind {
            Kind::Qr => Saved::Qr(retract_qr(inputs[0], inputs[1])?),
            Kind::Polar => Saved::Polar(retract_polar(inputs[0], inputs[1])?),
            Kind::Cayley => Saved::Cayley(retract_cayley(inputs[0], inputs[1])?),
            Kind::QrFactor => Saved::Qr(orthonormal_factor(inputs[0])?),
            Kind::PolarFactor => Saved::Polar(polar_factor(inputs[0])?),
        };
        output.data().copy_from_slice(saved.value().data());
        self.saved = context.wants_gradient().then_some(saved);
        Ok(())
    }

    fn pull_back(
        &self,
        _: &[MatView<'_, T>],
        _: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        _: &Context<'_, T>,
    ) -> OpResult {
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        let in_sum = match saved {
            Saved::Qr(f) => f.pull_back(g)?,
            Saved::Polar(f) => f.pull_back(g)?,
            Saved::Cayley(f) => {
                let (in_w, in_delta) = f.pull_back(g)?;
                for (dx, g) in gradients.iter_mut().zip([in_w, in_delta]) {
                    if let Some(dx) = dx {
                        add_broadcast(dx, &g);
                    }
                }
                return Ok(());
            }
        };
        for dx in gradients.iter_mut().flatten() {
            add_broadcast(dx, &in_sum);
        }
        Ok(())
    }
}

/// The retraction by QR or polar factors by itself, inputs `(W, Δ)`.
pub(crate) fn operation<T: Scalar>(polar: bool) -> Box<dyn Operation<T>> {
    let kind = if polar { Kind::Polar } else { Kind::Qr };
    Box::new(Retract { kind, saved: None })
}

impl<'t, T: Scalar> Var<'t, T> {
    #[track_caller]
    fn retract(kind: Kind, inputs: &[Var<'t, T>]) -> Result<Self> {
        let saved = None;
        inputs[0].tape.apply(Retract { kind, saved }, inputs)
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
        Self::retract(Kind::Qr, &[self, delta])
    }

    /// The polar factor of `W + Δ`; `self` is `W` on St(n, k), `Δ` is tangent there.
    #[track_caller]
    pub fn retract_polar(self, delta: Var<'t, T>) -> Result<Self> {
        Self::retract(Kind::Polar, &[self, delta])
    }

    /// The Cayley retraction of `Δ`, tangent at `W`; `self` is `W` on St(n, k).
    #[track_caller]
    pub fn retract_cayley(self, delta: Var<'t, T>) -> Result<Self> {
        Self::retract(Kind::Cayley, &[self, delta])
    }

    /// `qf(A)` of matrices of full column rank: `A = QR` with positive diagonal of `R`.
    #[track_caller]
    pub fn orthonormal_factor(self) -> Result<Self> {
        Self::retract(Kind::QrFactor, &[self])
    }

    /// The polar factor `A(AᵀA)^{−1/2}` of matrices of full column rank.
    #[track_caller]
    pub fn polar_factor(self) -> Result<Self> {
        Self::retract(Kind::PolarFactor, &[self])
    }
}
