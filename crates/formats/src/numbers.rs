//! Stored numbers to `f64`: integers of 8 to 64 bits and IEEE floats, little-endian.
//!
//! 64-bit integers beyond ±2⁵³ are rounded to the nearest `f64`.

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    I24,
    U24,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    /// Bytes per number.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I24 | Self::U24 => 3,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Writes `gain · stored + add` for every number of `bytes`.
    pub(crate) fn calibrate(self, bytes: &[u8], gain: f64, add: f64, out: &mut [f64]) {
        self.map(bytes, out, |stored| stored * gain + add);
    }

    /// Writes every number of `bytes` as it is stored.
    pub(crate) fn decode(self, bytes: &[u8], out: &mut [f64]) {
        self.map(bytes, out, |stored| stored);
    }

    /// Writes `gain · stored + add` for the number at `offset` of every `stride` bytes.
    pub(crate) fn strided(
        self,
        big_endian: bool,
        bytes: &[u8],
        (offset, stride): (usize, usize),
        (gain, add): (f64, f64),
        out: &mut [f64],
    ) {
        #[inline]
        fn each<const N: usize>(
            big_endian: bool,
            frames: impl Iterator<Item = [u8; N]>,
            out: &mut [f64],
            get: impl Fn([u8; N]) -> f64,
        ) {
            if big_endian {
                for (value, mut raw) in out.iter_mut().zip(frames) {
                    raw.reverse();
                    *value = get(raw);
                }
            } else {
                for (value, raw) in out.iter_mut().zip(frames) {
                    *value = get(raw);
                }
            }
        }
        macro_rules! arm {
            ($n:literal, $get:expr) => {{
                let frames = bytes.chunks_exact(stride);
                let picked = frames.filter_map(|f| f.get(offset..)?.first_chunk::<$n>().copied());
                each(big_endian, picked, out, |raw| $get(raw) * gain + add)
            }};
        }
        match self {
            Self::I8 => arm!(1, |b| f64::from(i8::from_le_bytes(b))),
            Self::U8 => arm!(1, |b| f64::from(u8::from_le_bytes(b))),
            Self::I16 => arm!(2, |b| f64::from(i16::from_le_bytes(b))),
            Self::U16 => arm!(2, |b| f64::from(u16::from_le_bytes(b))),
            Self::I24 => arm!(3, |[a, b, c]: [u8; 3]| f64::from(
                i32::from_le_bytes([0, a, b, c]) >> 8
            )),
            Self::U24 => arm!(3, |[a, b, c]: [u8; 3]| f64::from(u32::from_le_bytes([
                a, b, c, 0
            ]))),
            Self::I32 => arm!(4, |b| f64::from(i32::from_le_bytes(b))),
            Self::U32 => arm!(4, |b| f64::from(u32::from_le_bytes(b))),
            Self::I64 => arm!(8, |b| i64::from_le_bytes(b) as f64),
            Self::U64 => arm!(8, |b| u64::from_le_bytes(b) as f64),
            Self::F32 => arm!(4, |b| f64::from(f32::from_le_bytes(b))),
            Self::F64 => arm!(8, f64::from_le_bytes),
        }
    }

    /// The loop of each arm has a fixed stride and no branch: the compiler turns it into vector
    /// code.
    #[inline]
    fn map(self, bytes: &[u8], out: &mut [f64], f: impl Fn(f64) -> f64) {
        #[inline]
        fn each<const N: usize>(bytes: &[u8], out: &mut [f64], get: impl Fn([u8; N]) -> f64) {
            for (value, raw) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
                *value = get(*raw);
            }
        }
        match self {
            Self::I8 => each(bytes, out, |b| f(f64::from(i8::from_le_bytes(b)))),
            Self::U8 => each(bytes, out, |b| f(f64::from(u8::from_le_bytes(b)))),
            Self::I16 => each(bytes, out, |b| f(f64::from(i16::from_le_bytes(b)))),
            Self::U16 => each(bytes, out, |b| f(f64::from(u16::from_le_bytes(b)))),
            // The sign bit moves to bit 31 and the shift back spreads it.
            Self::I24 => each(bytes, out, |[a, b, c]| {
                f(f64::from(i32::from_le_bytes([0, a, b, c]) >> 8))
            }),
            Self::U24 => each(bytes, out, |[a, b, c]| {
                f(f64::from(u32::from_le_bytes([a, b, c, 0])))
            }),
            Self::I32 => each(bytes, out, |b| f(f64::from(i32::from_le_bytes(b)))),
            Self::U32 => each(bytes, out, |b| f(f64::from(u32::from_le_bytes(b)))),
            Self::I64 => each(bytes, out, |b| f(i64::from_le_bytes(b) as f64)),
            Self::U64 => each(bytes, out, |b| f(u64::from_le_bytes(b) as f64)),
            Self::F32 => each(bytes, out, |b| f(f64::from(f32::from_le_bytes(b)))),
            Self::F64 => each(bytes, out, |b| f(f64::from_le_bytes(b))),
        }
    }
}

/// Turns big-endian numbers of `size` bytes into little-endian ones, in place.
pub(crate) fn swap_bytes(bytes: &mut [u8], size: usize) {
    if size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two's complement by its definition.
    fn naive(bytes: &[u8], signed: bool) -> f64 {
        let unsigned: i128 = bytes
            .iter()
            .enumerate()
            .map(|(i, &b)| i128::from(b) << (8 * i))
            .sum();
        let span = 1i128 << (8 * bytes.len());
        (if signed && unsigned >= span / 2 {
            unsigned - span
        } else {
            unsigned
        }) as f64
    }

    proptest! {
        #[test]
        fn integers_match_the_definition(bytes in proptest::collection::vec(any::<u8>(), 0..120), gain in -3.0..3.0f64) {
            use Number::*;
            for (number, signed) in [
                (I8, true), (U8, false), (I16, true), (U16, false), (I24, true), (U24, false),
                (I32, true), (U32, false), (I64, true), (U64, false),
            ] {
                let size = number.size();
                let mut out = vec![0.0; bytes.len() / size];
                number.calibrate(&bytes, gain, 1.5, &mut out);
                for (chunk, value) in bytes.chunks_exact(size).zip(out) {
                    prop_assert_eq!(value, naive(chunk, signed) * gain + 1.5);
                }
            }
        }

        #[test]
        fn floats_survive_either_byte_order(values in proptest::collection::vec(any::<f32>(), 0..20)) {
            let want: Vec<u64> = values.iter().map(|&v| f64::from(v).to_bits()).collect();
            let mut single: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
            let mut double: Vec<u8> = values.iter().flat_map(|v| f64::from(*v).to_be_bytes()).collect();
            for (number, bytes) in [(Number::F32, &mut single), (Number::F64, &mut double)] {
                swap_bytes(bytes, number.size());
                let mut out = vec![0.0; values.len()];
                number.decode(bytes, &mut out);
                let got: Vec<u64> = out.iter().map(|v| v.to_bits()).collect();
                prop_assert_eq!(&got, &want);
            }
        }
    }
}
