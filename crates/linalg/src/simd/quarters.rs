//! What lies in rows into lanes and back, a quarter of a register at a time, where registers have
//! 512 bits.
//!
//! A quarter has 16 bytes: `p` numbers, four or two. [`quarters`] makes a register of four such
//! stretches, each of another matrix; of `p` such registers [`turn_fours`] and [`turn_twos`]
//! transpose every quarter, `p × p` numbers, so that a register becomes one entry of all matrices.
//! The way back is the same.

use super::Lane;
use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::{bytemuck::cast, x86::V4};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128, __m512, __m512d};

/// The proof that the CPU has registers of 512 bits, where `S` is that.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn wide<S: Simd>(simd: S) -> Option<V4> {
    let simd: &dyn std::any::Any = &simd;
    simd.downcast_ref().copied()
}

/// A register of four stretches, 16 bytes each; zeros where registers have no 512 bits.
#[inline(always)]
pub(super) fn quarters<S: Simd, T: Lane, const P: usize>(simd: S, from: [&[T; P]; 4]) -> T::V<S> {
    #[cfg(target_arch = "x86_64")]
    if let Some(V4 { avx512f, .. }) = wide(simd) {
        let [a, b, c, d] = from;
        let row = avx512f._mm512_castps128_ps512(stretch(a));
        let row = avx512f._mm512_insertf32x4::<1>(row, stretch(b));
        let row = avx512f._mm512_insertf32x4::<2>(row, stretch(c));
        return cast(avx512f._mm512_insertf32x4::<3>(row, stretch(d)));
    }
    let _ = from;
    T::splat(simd, T::number(0))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn stretch<T: Lane, const P: usize>(from: &[T; P]) -> __m128 {
    pulp::bytemuck::pod_read_unaligned(pulp::bytemuck::cast_slice(from))
}

/// Four times four numbers are transposed in every quarter; what it is given where registers have
/// no 512 bits.
#[inline(always)]
pub(super) fn turn_fours<S: Simd>(simd: S, x: [S::f32s; 4]) -> [S::f32s; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(V4 { avx512f, .. }) = wide(simd) {
        let [a, b, c, d]: [__m512; 4] = [cast(x[0]), cast(x[1]), cast(x[2]), cast(x[3])];
        let ab_low: __m512d = cast(avx512f._mm512_unpacklo_ps(a, b));
        let ab_high: __m512d = cast(avx512f._mm512_unpackhi_ps(a, b));
        let cd_low: __m512d = cast(avx512f._mm512_unpacklo_ps(c, d));
        let cd_high: __m512d = cast(avx512f._mm512_unpackhi_ps(c, d));
        return [
            cast(avx512f._mm512_unpacklo_pd(ab_low, cd_low)),
            cast(avx512f._mm512_unpackhi_pd(ab_low, cd_low)),
            cast(avx512f._mm512_unpacklo_pd(ab_high, cd_high)),
            cast(avx512f._mm512_unpackhi_pd(ab_high, cd_high)),
        ];
    }
    let _ = simd;
    x
}

/// Two times two numbers are transposed in every quarter of the first two; what it is given where
/// registers have no 512 bits.
#[inline(always)]
pub(super) fn turn_twos<S: Simd>(simd: S, x: [S::f64s; 4]) -> [S::f64s; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(V4 { avx512f, .. }) = wide(simd) {
        let [a, b]: [__m512d; 2] = [cast(x[0]), cast(x[1])];
        let low = avx512f._mm512_unpacklo_pd(a, b);
        let high = avx512f._mm512_unpackhi_pd(a, b);
        return [cast(low), cast(high), x[2], x[3]];
    }
    let _ = simd;
    x
}
