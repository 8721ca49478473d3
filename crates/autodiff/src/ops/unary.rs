//! Entry-wise functions `y = f(x)` with pull-back `g·f′(x)`.

use crate::gelu::{gelu, gelu_with_slope};
use crate::{Buffer, Forward, OpResult, Operation, PullBack, Result, Var};
use stiefel_linalg::Scalar;

/// An entry-wise function `y(x)` and its pull-back from `(g, x, y)`.
struct Each<F, G> {
    name: &'static str,
    y: F,
    pulled: G,
}

impl<T, F, G> Operation<T> for Each<F, G>
where
    T: Scalar,
    F: Fn(T) -> T + Send + 'static,
    G: Fn(T, T, T) -> T + Send + 'static,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let pairs = pass.output.data().iter_mut().zip(pass.inputs[0].data());
        pairs.for_each(|(y, &x)| *y = (self.y)(x));
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        if let Some(dx) = &mut pass.gradients[0] {
            let (x, y) = (pass.inputs[0].data(), pass.output.data());
            dx.add_map3(pass.g.data(), x, y, &self.pulled);
        }
        Ok(())
    }
}

/// Methods that apply `name(s): x ↦ y, (g, x, y) ↦ gradient`, where `s` is a fixed number.
macro_rules! unary {
    ($($(#[$meta:meta])*
        $name:ident($($s:ident)?): |$x:ident| $y:expr, |$($from:pat_param),*| $pulled:expr;)*) => {
        impl<T: Scalar> Var<'_, T> {$(
            $(#[$meta])*
            #[track_caller]
            pub fn $name(self $(, $s: f64)?) -> Result<Self> {
                $(let $s = T::from_f64($s);)?
                let each = Each {
                    name: stringify!($name),
                    y: move |$x: T| $y,
                    pulled: move |$($from: T),*| $pulled,
                };
                self.tape.apply(each, &[self])
            }
        )*}
    };
}

unary! {
    /// `−x`.
    #[allow(clippy::should_implement_trait, reason = "an operator could not return an error")]
    neg(): |x| -x, |g, _, _| -g;

    /// `s·x` for a fixed number `s`.
    scale(s): |x| s * x, |g, _, _| s * g;

    /// `x + s` for a fixed number `s`.
    add_scalar(s): |x| x + s, |g, _, _| g;

    /// `eˣ`, entry by entry (the matrix exponential is [`spd_exp`](Self::spd_exp)).
    exp(): |x| Scalar::exp(x), |g, _, y| g * y;

    /// The natural logarithm, entry by entry (the matrix logarithm is [`spd_log`](Self::spd_log)).
    ln(): |x| Scalar::ln(x), |g, x, _| g / x;

    /// `√x`, entry by entry; its slope at 0 is infinite.
    sqrt(): |x| Scalar::sqrt(x), |g, _, y| T::from_f64(0.5) * g / y;

    /// `x²`, entry by entry.
    square(): |x| x * x, |g, x, _| T::from_f64(2.0) * g * x;

}

/// `xΦ(x)`, whose slopes are made with its values.
struct Gelu<T> {
    slopes: Option<Buffer<T>>,
}

impl<T: Scalar> Operation<T> for Gelu<T> {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let y = pass.output.data();
        y.copy_from_slice(pass.inputs[0].data());
        if pass.context.wants_gradient() {
            gelu_with_slope(y, self.slopes.insert(pass.context.buffer(y.len())));
        } else {
            gelu(y);
        }
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        if let (Some(dx), Some(slopes)) = (&mut pass.gradients[0], &self.slopes) {
            dx.add_map2(pass.g.data(), slopes, |g, slope| g * slope);
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The exact GELU `x·Φ(x)`, `Φ` the standard normal distribution function.
    #[track_caller]
    pub fn gelu(self) -> Result<Self> {
        self.tape.apply(Gelu { slopes: None }, &[self])
    }
}
