//! The two scalar types, `f32` and `f64`, behind one trait.

use crate::aligned::Room;
use crate::simd::Lane;
use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real scalar: `f32` or `f64`.
///
/// The trait is sealed: kernels rely on what these two types guarantee.
///
/// ```
/// use stiefel_linalg::Scalar;
///
/// fn hypotenuse<T: Scalar>(a: T, b: T) -> T {
///     (a * a + b * b).sqrt()
/// }
/// assert_eq!(hypotenuse(3.0_f32, 4.0), 5.0);
/// ```
pub trait Scalar:
    Room
    + Lane
    + Copy
    + Default
    + PartialOrd
    + Debug
    + Display
    + LowerExp
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const TINY: Self;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;

    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// The value as `f64`, exact.
    fn to_f64(self) -> f64;
    /// √x.
    fn sqrt(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// eˣ − 1, accurate near zero.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + x), accurate near zero.
    fn ln_1p(self) -> Self;
    /// xʸ.
    fn powf(self, y: Self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// arccos, in radians.
    fn acos(self) -> Self;
    /// The four-quadrant arctangent of `self / x`.
    fn atan2(self, x: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// `ln x` of a positive number as the sum of two numbers, with some digits more than one has.
    fn ln_parts(self) -> (Self, Self);
    /// The largest power of two not above `|x|`, kept where its inverse is a normal number too; 1
    /// for 0.
    fn power_of_two_below(x: Self) -> Self;
}

macro_rules! scalar {
    ($t:ident, $ln_parts:ident) => {
        impl Scalar for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $t::EPSILON;
            const TINY: Self = $t::MIN_POSITIVE;
            const NAME: &'static str = stringify!($t);

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            scalar!(@unary $t sqrt exp exp_m1 ln ln_1p abs acos);
            scalar!(@binary $t powf atan2 max min);
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline]
            fn ln_parts(self) -> (Self, Self) {
                $ln_parts(self)
            }
            #[inline(always)]
            fn power_of_two_below(x: Self) -> Self {
                if x == 0.0 {
                    return 1.0;
                }
                let exponent = $t::INFINITY.to_bits();
                $t::from_bits(x.to_bits() & exponent).clamp($t::MIN_POSITIVE, 0.25 / $t::MIN_POSITIVE)
            }
        }
    };
    (@unary $t:ident $($f:ident)*) => {
        $(#[inline(always)]
        fn $f(self) -> Self {
            $t::$f(self)
        })*
    };
    (@binary $t:ident $($f:ident)*) => {
        $(#[inline(always)]
        fn $f(self, other: Self) -> Self {
            $t::$f(self, other)
        })*
    };
}

/// The logarithm in double precision, cut in two.
#[inline]
fn ln_parts_f32(x: f32) -> (f32, f32) {
    let whole = f64::from(x).ln();
    let high = whole as f32;
    (high, (whole - f64::from(high)) as f32)
}

/// `x = m 2^e` with `m` within a factor of √2 of one: `e ln 2`, of which `e·LN2_HIGH` is exact, and
/// `ln m` beside what it lacks.
#[inline]
fn ln_parts_f64(x: f64) -> (f64, f64) {
    // ln 2 = LN2_HIGH + LN2_LOW; the first has 32 bits, so that its products with exponents are
    // exact (fdlibm).
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const SHIFT: f64 = 18_014_398_509_481_984.0; // 2^54
    let (x, moved) = if x < f64::MIN_POSITIVE {
        (x * SHIFT, -54.0)
    } else {
        (x, 0.0)
    };
    let bits = x.to_bits();
    let one = 1_f64.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0 + moved;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | one);
    let (mantissa, exponent) = if mantissa > std::f64::consts::SQRT_2 {
        (0.5 * mantissa, exponent + 1.0)
    } else {
        (mantissa, exponent)
    };
    (exponent * LN2_HIGH, exponent * LN2_LOW + mantissa.ln())
}

scalar!(f32, ln_parts_f32);
scalar!(f64, ln_parts_f64);
