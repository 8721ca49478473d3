//! The Gaussian error linear unit `xΦ(x)` and its slope `Φ(x) + xφ(x)`, with `Φ` the standard
//! normal distribution function and `φ` its density.
//!
//! ```text
//! Φ(−a) = ½ erfc(z) = ½ t Q(t) e^{−a²/2},   a ≥ 0, z = a/√2, t = 2/(2 + z);     Φ(a) = 1 − Φ(−a)
//! ```
//!
//! `Q(t) = erfc(z) e^{z²}/t` is smooth on the whole half-line; a polynomial of degree 23 has it to
//! 8e-17. Nothing cancels in the lower tail, and the square in the exponent is split so that its
//! rounding does not show there. No step asks which case a number is, and none is fused: a loop
//! over numbers becomes one over registers, with the same bits in every instruction set. Compared
//! with `erfc` of libm at `x/√2`, whose rounding alone is worth `x²/2` units in the last place,
//! `Φ(x)` differs by at most `6 + x²` of them down to −37; below −37.5 it is zero.

use stiefel_linalg::{Scalar, kernel};

/// `Q` in powers of `(t − MIDDLE)·SPREAD`, the highest first, from `t = 2/29.3` to 1: a Chebyshev fit.
#[rustfmt::skip]
const Q: [f64; 24] = [
    4.796011119258705e-10, 9.782889900961748e-10, -6.784816978564955e-09, -1.3691067225949664e-09,
    3.6943839968847986e-08, -4.159028358687094e-08, -7.368573655417256e-08, 2.8620302463701994e-07,
    -2.7080308816020103e-07, -7.090049685080464e-07, 2.7137381846380157e-06, -1.7768192927436257e-06,
    -1.0633181439971862e-05, 2.8004483652127355e-05, 1.4347569650512821e-05, -0.00018627847060971486,
    0.00014469201859922156, 0.0011135668273091045, -0.00180588285228424, -0.00885472355569859,
    0.012249449921966101, 0.12428028537458684, 0.33812644261939095, 0.5349005709592316,
];
const MIDDLE: f64 = 0.534_129_692_832_764_5;
const SPREAD: f64 = 2.146_520_146_520_146_4;

/// Below `−LAST` the distribution function is taken for zero: it is less than 1e-307.
const LAST: f64 = 37.5;

/// `1/n!`, the highest first.
#[rustfmt::skip]
const EXP: [f64; 14] = [
    1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0, 1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5_040.0,
    1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0,
];

/// `Σ c_i xⁱ`, the highest coefficient first.
#[inline(always)]
fn horner(coefficients: &[f64], x: f64) -> f64 {
    let mut sum = 0.0;
    for &c in coefficients {
        sum = sum * x + c;
    }
    sum
}

/// `e^y` for `−708 ≤ y ≤ 0`.
#[inline(always)]
fn exp(y: f64) -> f64 {
    /// The logarithm of two, of which the first part times a small integer is exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    /// Added to a number, leaves it rounded to an integer in the last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let rounded = y * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (y - k * LN_2[0]) - k * LN_2[1];
    let scale = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    horner(&EXP, r) * scale
}

/// `(Φ(x), φ(x))`.
#[inline(always)]
fn normal(x: f64) -> (f64, f64) {
    /// 1/√(2π).
    const PHI_0: f64 = 0.398_942_280_401_432_7;
    let a = x.abs();
    let beyond = a > LAST;
    let a = if beyond { LAST } else { a };
    // The square of the first half of the digits is exact.
    let head = f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000);
    let rest = 0.5 * (a - head) * (a + head);
    let bell = exp(-0.5 * head * head) * (1.0 - rest + 0.5 * rest * rest);
    let t = 2.0 / (2.0 + a * std::f64::consts::FRAC_1_SQRT_2);
    let tail = 0.5 * t * horner(&Q, (t - MIDDLE) * SPREAD) * bell;
    let tail = if beyond { 0.0 } else { tail };
    let bell = if beyond { 0.0 } else { PHI_0 * bell };
    (if x < 0.0 { tail } else { 1.0 - tail }, bell)
}

kernel! {
    /// `x ← xΦ(x)`; with a slope for each number, or none at all.
    fn each<'a, S, T>(_simd: S, numbers: &'a mut [T], slopes: &'a mut [T]) {
        if slopes.is_empty() {
            for number in numbers {
                let x = number.to_f64();
                *number = T::from_f64(x * normal(x).0);
            }
            return;
        }
        for (number, slope) in numbers.iter_mut().zip(slopes) {
            let x = number.to_f64();
            let (cdf, density) = normal(x);
            *number = T::from_f64(x * cdf);
            *slope = T::from_f64(cdf + x * density);
        }
    }
}

/// `x ← xΦ(x)` for every number.
///
/// ```
/// let mut x = [0.0, 1.0, -1.0_f64];
/// stiefel_autodiff::gelu(&mut x);
/// assert!(
///     x[0] == 0.0
///         && (x[1] - 0.841_344_746_068_543).abs() < 1e-15
///         && (x[2] + 0.158_655_253_931_457).abs() < 1e-15
/// );
/// ```
pub fn gelu<T: Scalar>(numbers: &mut [T]) {
    each(numbers, &mut []);
}

/// `x ← xΦ(x)` with the slopes `Φ(x) + xφ(x)`, which cost little once `Φ(x)` is computed.
///
/// ```
/// let (mut x, mut slope) = ([0.0_f32], [0.0]);
/// stiefel_autodiff::gelu_with_slope(&mut x, &mut slope);
/// assert_eq!((x, slope), ([0.0], [0.5]));
/// ```
///
/// # Panics
/// If there are not as many slopes as numbers.
pub fn gelu_with_slope<T: Scalar>(numbers: &mut [T], slopes: &mut [T]) {
    assert_eq!(numbers.len(), slopes.len(), "a slope for every number");
    each(numbers, slopes);
}
