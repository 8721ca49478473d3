//! Entry-wise functions `y = f(x)` with pull-back `g·f′(x)`.

use crate::{Buffer, Context, Gradient, OpResult, Operation, Result, Shape, Var};
use stiefel_linalg::{MatView, MatViewMut, Scalar, gelu, gelu_with_slope};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unary<T> {
    Neg,
    Scale(T),
    AddScalar(T),
    Exp,
    Ln,
    Sqrt,
    Square,
    Relu,
    Tanh,
    ClampMin(T),
}

fn tanh<T: Scalar>(x: T) -> T {
    T::from_f64(x.to_f64().tanh())
}

impl<T: Scalar> Operation<T> for Unary<T> {
    fn name(&self) -> &'static str {
        match self {
            Self::Neg => "neg",
            Self::Scale(_) => "scale",
            Self::AddScalar(_) => "add_scalar",
            Self::Exp => "exp",
            Self::Ln => "ln",
            Self::Sqrt => "sqrt",
            Self::Square => "square",
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::ClampMin(_) => "clamp_min",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        Ok(inputs[0])
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        _: &Context<'_, T>,
    ) -> OpResult {
        fn each<T: Copy>(y: &mut [T], x: &[T], f: impl Fn(T) -> T) {
            y.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x));
        }
        let (y, x) = (output.data(), inputs[0].data());
        match *self {
            Self::Neg => each(y, x, |x| -x),
            Self::Scale(s) => each(y, x, |x| s * x),
            Self::AddScalar(s) => each(y, x, |x| x + s),
            Self::Exp => each(y, x, Scalar::exp),
            Self::Ln => each(y, x, Scalar::ln),
            Self::Sqrt => each(y, x, Scalar::sqrt),
            Self::Square => each(y, x, |x| x * x),
            // Written so that a NaN stays one: `max` would hide it.
            Self::Relu => each(y, x, |x| if x < T::ZERO { T::ZERO } else { x }),
            Self::Tanh => each(y, x, tanh),
            Self::ClampMin(s) => each(y, x, |x| if x < s { s } else { x }),
        }
        Ok(())
    }

    fn pull_back(
        &self,
        inputs: &[MatView<'_, T>],
        output: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        _: &Context<'_, T>,
    ) -> OpResult {
        let Some(dx) = &mut gradients[0] else {
            return Ok(());
        };
        let (x, y, g) = (inputs[0].data(), output.data(), g.data());
        let (half, two) = (T::from_f64(0.5), T::from_f64(2.0));
        match *self {
            Self::Neg => dx.add_map(g, |g| -g),
            Self::Scale(s) => dx.add_map(g, |g| s * g),
            Self::AddScalar(_) => dx.add(g),
            Self::Exp => dx.add_map2(g, y, |g, y| g * y),
            Self::Ln => dx.add_map2(g, x, |g, x| g / x),
            Self::Sqrt => dx.add_map2(g, y, |g, y| half * g / y),
            Self::Square => dx.add_map2(g, x, |g, x| two * g * x),
            Self::Relu => dx.add_map2(g, x, |g, x| if x > T::ZERO { g } else { T::ZERO }),
            Self::Tanh => dx.add_map2(g, y, |g, y| g * (T::ONE - y * y)),
            Self::ClampMin(s) => dx.add_map2(g, x, |g, x| if x > s { g } else { T::ZERO }),
        }
        Ok(())
    }
}

/// `xΦ(x)`, whose slopes are made with its values.
struct Gelu<T> {
    slopes: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for Gelu<T> {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        Ok(inputs[0])
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        context: &Context<'_, T>,
    ) -> OpResult {
        let y = output.data();
        y.copy_from_slice(inputs[0].data());
        if context.wants_gradient() {
            gelu_with_slope(y, self.slopes.insert(context.buffer(y.len())));
        } else {
            gelu(y);
        }
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
        if let (Some(dx), Some(slopes)) = (&mut gradients[0], &self.slopes) {
            dx.add_map2(g.data(), slopes, |g, slope| g * slope);
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// `−x`.
    #[track_caller]
    #[allow(
        clippy::should_implement_trait,
        reason = "an operator could not return an error"
    )]
    pub fn neg(self) -> Result<Self> {
        self.tape.apply(Unary::Neg, &[self])
    }

    /// `s·x` for a fixed number `s`.
    #[track_caller]
    pub fn scale(self, s: f64) -> Result<Self> {
        self.tape.apply(Unary::Scale(T::from_f64(s)), &[self])
    }

    /// `x + s` for a fixed number `s`.
    #[track_caller]
    pub fn add_scalar(self, s: f64) -> Result<Self> {
        self.tape.apply(Unary::AddScalar(T::from_f64(s)), &[self])
    }

    /// `eˣ`, entry by entry (the matrix exponential is [`spd_exp`](Self::spd_exp)).
    #[track_caller]
    pub fn exp(self) -> Result<Self> {
        self.tape.apply(Unary::Exp, &[self])
    }

    /// The natural logarithm, entry by entry (the matrix logarithm is [`spd_log`](Self::spd_log)).
    #[track_caller]
    pub fn ln(self) -> Result<Self> {
        self.tape.apply(Unary::Ln, &[self])
    }

    /// `√x`, entry by entry; its slope at 0 is infinite.
    #[track_caller]
    pub fn sqrt(self) -> Result<Self> {
        self.tape.apply(Unary::Sqrt, &[self])
    }

    /// `x²`, entry by entry.
    #[track_caller]
    pub fn square(self) -> Result<Self> {
        self.tape.apply(Unary::Square, &[self])
    }

    /// `max(x, 0)`, slope 0 at 0.
    #[track_caller]
    pub fn relu(self) -> Result<Self> {
        self.tape.apply(Unary::Relu, &[self])
    }

    /// The exact GELU `x·Φ(x)`, `Φ` the standard normal distribution function.
    #[track_caller]
    pub fn gelu(self) -> Result<Self> {
        self.tape.apply(Gelu { slopes: None }, &[self])
    }

    /// The hyperbolic tangent.
    #[track_caller]
    pub fn tanh(self) -> Result<Self> {
        self.tape.apply(Unary::Tanh, &[self])
    }

    /// `max(x, s)`, slope 0 where the bound is reached.
    #[track_caller]
    pub fn clamp_min(self, s: f64) -> Result<Self> {
        self.tape.apply(Unary::ClampMin(T::from_f64(s)), &[self])
    }
}
