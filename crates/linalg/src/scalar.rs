//! The two scalar types, `f32` and `f64`, behind one trait.

use crate::simd::Lane;
use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

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
    sealed::Sealed
    + faer::traits::RealField
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
    /// The largest power of two not above `|x|`, kept where its inverse is a normal number too; 1 for 0.
    fn power_of_two_below(x: Self) -> Self;
}

macro_rules! scalar {
    ($t:ident) => {
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

scalar!(f32);
scalar!(f64);
