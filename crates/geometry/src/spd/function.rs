//! Scalar functions of eigenvalues and their divided differences.
//!
//! `f[a, b] = (f(a) − f(b))/(a − b)`, and `f′(a)` where `a = b`: the entries of the Loewner matrix
//! in the Daleckii–Krein derivative of `X ↦ U f(λ) Uᵀ` (Bhatia, *Matrix Analysis*, V.3).
//!
//! The quotient itself cancels for nearly equal eigenvalues. Each function therefore has a form
//! without cancellation, exact to rounding for every pair by itself: no threshold decides when two
//! eigenvalues are "equal".
//!
//! | f | `f[a, b]`, `a ≥ b` |
//! |---|---|
//! | log | `log1p(t)/t / b`, `t = (a − b)/b` |
//! | exp | `eᵃ·(−expm1(−d)/d)`, `d = a − b` |
//! | √ | `1/(√a + √b)` |
//! | 1/√ | `−1/(√a √b (√a + √b))` |
//! | xᵖ, p > 0 | `aᵖ⁻¹·(−expm1(−p u)/s)`, `u = log1p((a − b)/b)`, `s = (a − b)/a` |
//! | xᵖ, p < 0 | `bᵖ⁻¹·expm1(p u)/t` |
//! | max(x, ε) | 1, `(a − ε)/(a − b)` or 0: both above, one above, none above ε |
//! | log max(x, ε) | the same three times `log[a, max(b, ε)]` |

use crate::{GeometryError, Result};
use stiefel_linalg::Scalar;

/// A function applied to the eigenvalues of a symmetric matrix.
///
/// ```
/// use stiefel_geometry::spd::SpectralFn;
///
/// let f = SpectralFn::Log;
/// // Two eigenvalues that differ in the last bit: the naive quotient is off by a factor, this is not.
/// let (a, b) = (2.3_f64, 2.3 + 4.5e-16);
/// assert_ne!(a, b);
/// assert!((f.divided_difference(a, b) * 2.3 - 1.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SpectralFn<T> {
    /// The natural logarithm; needs SPD input.
    Log,
    /// The exponential; any symmetric input.
    Exp,
    /// The square root; needs SPD input.
    Sqrt,
    /// The inverse square root; needs SPD input.
    InvSqrt,
    /// `λᵖ`; needs SPD input.
    Pow(T),
    /// `max(λ, ε)` (SPDNet's rectification); any symmetric input.
    ReEig(T),
    /// `log max(λ, ε)`: rectification and logarithm with one decomposition; any symmetric input.
    ReLog(T),
}

/// `log[a, b]` for positive `a ≥ b`.
#[inline]
fn log_difference<T: Scalar>(a: T, b: T) -> T {
    let t = (a - b) / b;
    if t == T::ZERO {
        return T::ONE / b;
    }
    if !Scalar::is_finite(t) {
        // The ratio overflows; the logarithms are hundreds apart and do not cancel.
        return (Scalar::ln(a) - Scalar::ln(b)) / (a - b);
    }
    Scalar::ln_1p(t) / t / b
}

/// `(aᵖ − bᵖ)/(a − b)` for positive `a ≥ b`.
fn power_difference<T: Scalar>(p: T, a: T, b: T) -> T {
    if a == b {
        return p * Scalar::powf(a, p - T::ONE);
    }
    let t = (a - b) / b;
    let u = if Scalar::is_finite(t) {
        Scalar::ln_1p(t)
    } else {
        Scalar::ln(a) - Scalar::ln(b)
    };
    // The exponent is never positive, so that nothing overflows before the result does.
    if p >= T::ZERO {
        -Scalar::exp_m1(-p * u) / ((a - b) / a) * Scalar::powf(a, p - T::ONE)
    } else {
        Scalar::exp_m1(p * u) / (a - b) * Scalar::powf(b, p)
    }
}

/// `max(·, ε)[a, b]` for `a ≥ b`, with subgradient 0 at ε.
#[inline]
fn clamp_difference<T: Scalar>(epsilon: T, a: T, b: T) -> T {
    if b > epsilon {
        T::ONE
    } else if a > epsilon {
        (a - epsilon) / (a - b)
    } else {
        T::ZERO
    }
}

impl<T: Scalar> SpectralFn<T> {
    /// The name used in errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Log => "matrix logarithm",
            Self::Exp => "matrix exponential",
            Self::Sqrt => "matrix square root",
            Self::InvSqrt => "inverse matrix square root",
            Self::Pow(_) => "matrix power",
            Self::ReEig(_) => "eigenvalue rectification",
            Self::ReLog(_) => "rectified matrix logarithm",
        }
    }

    /// Whether the function is defined on SPD matrices only.
    pub fn needs_spd(&self) -> bool {
        matches!(self, Self::Log | Self::Sqrt | Self::InvSqrt | Self::Pow(_))
    }

    /// The same function in another precision.
    pub fn cast<U: Scalar>(self) -> SpectralFn<U> {
        let to = |x: T| U::from_f64(x.to_f64());
        match self {
            Self::Log => SpectralFn::Log,
            Self::Exp => SpectralFn::Exp,
            Self::Sqrt => SpectralFn::Sqrt,
            Self::InvSqrt => SpectralFn::InvSqrt,
            Self::Pow(p) => SpectralFn::Pow(to(p)),
            Self::ReEig(e) => SpectralFn::ReEig(to(e)),
            Self::ReLog(e) => SpectralFn::ReLog(to(e)),
        }
    }

    /// An error where a parameter is out of its range.
    pub(crate) fn check(&self) -> Result<()> {
        let (value, expected, good) = match *self {
            Self::Pow(p) => (p, "a finite exponent", Scalar::is_finite(p)),
            Self::ReEig(e) | Self::ReLog(e) => {
                let good = Scalar::is_finite(e) && e > T::ZERO;
                (e, "a positive finite threshold", good)
            }
            _ => return Ok(()),
        };
        if good {
            return Ok(());
        }
        Err(GeometryError::Parameter {
            op: self.name(),
            name: if matches!(self, Self::Pow(_)) {
                "the exponent"
            } else {
                "epsilon"
            },
            value: value.to_f64(),
            expected,
        })
    }

    /// `f(λ)`.
    #[inline]
    pub fn value(&self, lambda: T) -> T {
        match *self {
            Self::Log => Scalar::ln(lambda),
            Self::Exp => Scalar::exp(lambda),
            Self::Sqrt => Scalar::sqrt(lambda),
            Self::InvSqrt => T::ONE / Scalar::sqrt(lambda),
            Self::Pow(p) => Scalar::powf(lambda, p),
            Self::ReEig(e) => Scalar::max(lambda, e),
            Self::ReLog(e) => Scalar::ln(Scalar::max(lambda, e)),
        }
    }

    /// `f′(λ)`; 0 where a threshold clamps (`λ ≤ ε`).
    #[inline]
    pub fn derivative(&self, lambda: T) -> T {
        self.divided_difference(lambda, lambda)
    }

    /// `(f(a) − f(b))/(a − b)`, and `f′(a)` where `a = b`; symmetric in its arguments and exact to
    /// a few roundings for every gap.
    #[inline]
    pub fn divided_difference(&self, a: T, b: T) -> T {
        let (a, b) = if a < b { (b, a) } else { (a, b) };
        match *self {
            Self::Log => log_difference(a, b),
            Self::Exp => {
                let d = a - b;
                let slope = if d == T::ZERO {
                    T::ONE
                } else {
                    -Scalar::exp_m1(-d) / d
                };
                Scalar::exp(a) * slope
            }
            Self::Sqrt => T::ONE / (Scalar::sqrt(a) + Scalar::sqrt(b)),
            Self::InvSqrt => {
                let (a, b) = (Scalar::sqrt(a), Scalar::sqrt(b));
                -T::ONE / (a * b * (a + b))
            }
            Self::Pow(p) => power_difference(p, a, b),
            Self::ReEig(e) => clamp_difference(e, a, b),
            Self::ReLog(e) => {
                let clamped = clamp_difference(e, a, b);
                if clamped == T::ZERO {
                    return T::ZERO;
                }
                clamped * log_difference(a, Scalar::max(b, e))
            }
        }
    }

    /// The Loewner matrix `L_rc = f[λ_r, λ_c]` of one matrix, row-major, into `out`; what
    /// [`divided_difference`] gives pair by pair, to rounding, with the logarithms taken once
    /// per eigenvalue where they do not cancel.
    ///
    /// [`divided_difference`]: Self::divided_difference
    ///
    /// # Panics
    /// If `out.len() != values.len()²`.
    pub fn loewner_into(&self, values: &[T], out: &mut [T]) {
        let n = values.len();
        assert_eq!(out.len(), n * n, "a Loewner matrix of {n} eigenvalues");
        // Below the smallest number every eigenvalue passes: no threshold.
        let threshold = match *self {
            Self::Log => Some(T::ZERO),
            Self::ReLog(epsilon) => Some(epsilon),
            _ => None,
        };
        let logs: Vec<T> = match threshold {
            Some(_) => values.iter().map(|&l| self.value(l)).collect(),
            None => Vec::new(),
        };
        for r in 0..n {
            for c in 0..=r {
                let quick = threshold.and_then(|t| {
                    let above = values[r] > t && values[c] > t;
                    above.then(|| quotient(values[r], values[c], logs[r], logs[c]))?
                });
                let l = quick.unwrap_or_else(|| self.divided_difference(values[r], values[c]));
                out[r * n + c] = l;
                out[c * n + r] = l;
            }
        }
    }
}

/// `(x − y)/(a − b)` where neither difference cancels: `|x − y|` is at least half of `|x| + |y|`,
/// and `a`, `b` are far apart as their logarithms `x`, `y` are.
#[inline]
fn quotient<T: Scalar>(a: T, b: T, x: T, y: T) -> Option<T> {
    let gap = x - y;
    let size = Scalar::abs(gap);
    let exact = size + size >= Scalar::abs(x) + Scalar::abs(y) && size >= T::from_f64(0.5);
    exact.then(|| gap / (a - b))
}
