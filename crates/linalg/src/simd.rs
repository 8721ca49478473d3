//! Vectors of lanes: one matrix per lane.
//!
//! [`Lane`] says how a scalar type travels in the registers of an instruction set `S` (a token of the
//! `pulp` crate that exists only where the CPU has those instructions); [`Lanes`] carries the token
//! and gives the arithmetic. The same kernel compiles for AVX-512, AVX2+FMA, NEON or plain scalars, and
//! [`dispatch`] picks at run time ([`set`]). Every operation acts on each lane alone, so a lane's result cannot
//! depend on its neighbours.

mod quarters;
mod set;

pub(crate) use set::{Compiled, compiled, dispatch, lanes_for, same, widest_for};
pub use set::{InstructionSet, VARIABLE, instruction_set};

use pulp::Simd;
use pulp::bytemuck::{cast, cast_slice_mut};
use std::marker::PhantomData;

/// How a scalar type is laid out in the registers of an instruction set.
pub trait Lane: Sized + Copy + pulp::bytemuck::Pod {
    /// A register of lanes.
    type V<S: Simd>: Copy + std::fmt::Debug + pulp::bytemuck::Pod;
    /// One truth value per lane.
    type M<S: Simd>: Copy + std::fmt::Debug;

    #[doc(hidden)]
    fn splat<S: Simd>(s: S, x: Self) -> Self::V<S>;
    #[doc(hidden)]
    fn add<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn sub<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn mul<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn div<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn mul_add<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn neg_mul_add<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn sqrt<S: Simd>(s: S, a: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn abs<S: Simd>(s: S, a: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn neg<S: Simd>(s: S, a: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn less<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::M<S>;
    #[doc(hidden)]
    fn less_equal<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::M<S>;
    #[doc(hidden)]
    fn equal<S: Simd>(s: S, a: Self::V<S>, b: Self::V<S>) -> Self::M<S>;
    #[doc(hidden)]
    fn and<S: Simd>(s: S, a: Self::M<S>, b: Self::M<S>) -> Self::M<S>;
    #[doc(hidden)]
    fn select<S: Simd>(s: S, m: Self::M<S>, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    #[doc(hidden)]
    fn number(i: usize) -> Self;
    #[doc(hidden)]
    fn sum_of_lanes<S: Simd>(s: S, x: Self::V<S>) -> Self;
    #[doc(hidden)]
    fn largest_of_lanes<S: Simd>(s: S, x: Self::V<S>) -> Self;
    #[doc(hidden)]
    fn turn<S: Simd>(s: S, x: [Self::V<S>; 4]) -> [Self::V<S>; 4];
    #[doc(hidden)]
    fn view<S: Simd>(slice: &[Self]) -> &[Self::V<S>];
    #[doc(hidden)]
    fn view_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::V<S>];
}

macro_rules! lane {
    ($t:ty, $v:ident, $m:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
     $fma:ident, $fnma:ident, $sqrt:ident, $and_bits:ident, $xor_bits:ident,
     $lt:ident, $le:ident, $eq:ident, $and:ident, $select:ident,
     $sum:ident, $max:ident, $turn:ident, $view:ident, $view_mut:ident) => {
        impl Lane for $t {
            type V<S: Simd> = S::$v;
            type M<S: Simd> = S::$m;

            lane!(@op $splat => splat(x: Self) -> Self::V<S>);
            lane!(@op $add => add(a: Self::V<S>, b: Self::V<S>) -> Self::V<S>);
            lane!(@op $sub => sub(a: Self::V<S>, b: Self::V<S>) -> Self::V<S>);
            lane!(@op $mul => mul(a: Self::V<S>, b: Self::V<S>) -> Self::V<S>);
            lane!(@op $div => div(a: Self::V<S>, b: Self::V<S>) -> Self::V<S>);
            lane!(@op $fma => mul_add(a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>);
            lane!(@op $fnma => neg_mul_add(a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>);
            lane!(@op $sqrt => sqrt(a: Self::V<S>) -> Self::V<S>);
            // pulp's own `abs`, `neg` and `select` are not always inlined, and then cost a call each.
            #[inline(always)]
            fn abs<S: Simd>(s: S, a: Self::V<S>) -> Self::V<S> {
                s.$and_bits(a, s.$splat(<$t>::from_bits(!(-0.0 as $t).to_bits())))
            }
            #[inline(always)]
            fn neg<S: Simd>(s: S, a: Self::V<S>) -> Self::V<S> {
                s.$xor_bits(a, s.$splat(-0.0))
            }
            lane!(@op $lt => less(a: Self::V<S>, b: Self::V<S>) -> Self::M<S>);
            lane!(@op $le => less_equal(a: Self::V<S>, b: Self::V<S>) -> Self::M<S>);
            lane!(@op $eq => equal(a: Self::V<S>, b: Self::V<S>) -> Self::M<S>);
            lane!(@op $and => and(a: Self::M<S>, b: Self::M<S>) -> Self::M<S>);
            #[inline(always)]
            fn select<S: Simd>(s: S, m: Self::M<S>, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
                cast(s.$select(m, cast(a), cast(b)))
            }

            #[inline(always)]
            fn number(i: usize) -> Self {
                i as $t
            }
            lane!(@op $sum => sum_of_lanes(x: Self::V<S>) -> Self);
            lane!(@op $max => largest_of_lanes(x: Self::V<S>) -> Self);
            #[inline(always)]
            fn turn<S: Simd>(s: S, x: [Self::V<S>; 4]) -> [Self::V<S>; 4] {
                quarters::$turn(s, x)
            }
            #[inline(always)]
            fn view<S: Simd>(slice: &[Self]) -> &[Self::V<S>] {
                S::$view(slice).0
            }
            #[inline(always)]
            fn view_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::V<S>] {
                S::$view_mut(slice).0
            }
        }
    };
    (@op $pulp:ident => $name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {
        #[inline(always)]
        fn $name<S: Simd>(s: S, $($arg: $ty),*) -> $out {
            s.$pulp($($arg),*)
        }
    };
}

lane!(
    f64,
    f64s,
    m64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    mul_add_e_f64s,
    negate_mul_add_e_f64s,
    sqrt_f64s,
    and_f64s,
    xor_f64s,
    less_than_f64s,
    less_than_or_equal_f64s,
    equal_f64s,
    and_m64s,
    select_u64s,
    reduce_sum_f64s,
    reduce_max_f64s,
    turn_twos,
    as_simd_f64s,
    as_mut_simd_f64s
);
lane!(
    f32,
    f32s,
    m32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    mul_add_e_f32s,
    negate_mul_add_e_f32s,
    sqrt_f32s,
    and_f32s,
    xor_f32s,
    less_than_f32s,
    less_than_or_equal_f32s,
    equal_f32s,
    and_m32s,
    select_u32s,
    reduce_sum_f32s,
    reduce_max_f32s,
    turn_fours,
    as_simd_f32s,
    as_mut_simd_f32s
);

/// Registers of lanes of `T` on the instruction set `S`.
pub(crate) type V<S, T> = <T as Lane>::V<S>;
/// One truth value per lane.
pub(crate) type M<S, T> = <T as Lane>::M<S>;

/// Writes registers one by one. A copy of the whole array is a call of `memcpy` where it has 256 bytes or more, and sums that are copied so live in memory,
/// not in registers.
#[inline(always)]
#[allow(clippy::manual_memcpy)]
pub(crate) fn store<X: Copy, const N: usize>(out: &mut [X], registers: &[X; N]) {
    let out = &mut out[..N];
    for i in 0..N {
        out[i] = registers[i];
    }
}

/// The arithmetic of registers of lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<S, T> {
    pub(crate) simd: S,
    scalar: PhantomData<T>,
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ident),*) -> $out:ident;)*) => {
        $(#[inline(always)]
        pub(crate) fn $name(self, $($arg: $ty<S, T>),*) -> $out<S, T> {
            T::$name(self.simd, $($arg),*)
        })*
    };
}

impl<S: Simd, T: Lane> Lanes<S, T> {
    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        Self {
            simd,
            scalar: PhantomData,
        }
    }

    /// Whether registers have 512 bits; there are 32 of them then, not 16. A constant, so that what is written for the other case is not even compiled.
    pub(crate) const WIDE: bool = size_of::<V<S, T>>() == 64;

    /// Numbers of one matrix that go into lanes or out of them together: those of a quarter of a wide register, or one.
    pub(crate) const TOGETHER: usize = if cfg!(target_arch = "x86_64") && Self::WIDE {
        16 / size_of::<T>()
    } else {
        1
    };

    /// A register of four stretches of [`TOGETHER`](Self::TOGETHER) numbers.
    #[inline(always)]
    pub(crate) fn quarters<const P: usize>(self, from: [&[T; P]; 4]) -> V<S, T> {
        quarters::quarters(self.simd, from)
    }

    /// Every quarter of the first [`TOGETHER`](Self::TOGETHER) registers is transposed.
    #[inline(always)]
    pub(crate) fn turn(self, x: [V<S, T>; 4]) -> [V<S, T>; 4] {
        T::turn(self.simd, x)
    }

    /// Lanes per register.
    #[inline(always)]
    pub(crate) fn width() -> usize {
        size_of::<V<S, T>>() / size_of::<T>()
    }

    #[inline(always)]
    pub(crate) fn splat(self, x: T) -> V<S, T> {
        T::splat(self.simd, x)
    }

    /// Lanes from this one on.
    #[inline(always)]
    pub(crate) fn lanes_from(self, first: usize) -> M<S, T> {
        let mut lanes = [self.splat(T::number(0))];
        let numbers: &mut [T] = cast_slice_mut(&mut lanes);
        for i in 0..Self::width() {
            numbers[i] = T::number(i);
        }
        self.less_equal(self.splat(T::number(first)), lanes[0])
    }

    /// The sum of all lanes.
    #[inline(always)]
    pub(crate) fn sum_of_lanes(self, x: V<S, T>) -> T {
        T::sum_of_lanes(self.simd, x)
    }

    /// The largest of all lanes.
    #[inline(always)]
    pub(crate) fn largest_of_lanes(self, x: V<S, T>) -> T {
        T::largest_of_lanes(self.simd, x)
    }

    forward! {
        add(a: V, b: V) -> V;
        sub(a: V, b: V) -> V;
        mul(a: V, b: V) -> V;
        div(a: V, b: V) -> V;
        mul_add(a: V, b: V, c: V) -> V;
        neg_mul_add(a: V, b: V, c: V) -> V;
        sqrt(a: V) -> V;
        abs(a: V) -> V;
        neg(a: V) -> V;
        less(a: V, b: V) -> M;
        less_equal(a: V, b: V) -> M;
        equal(a: V, b: V) -> M;
        and(a: M, b: M) -> M;
        select(m: M, a: V, b: V) -> V;
    }
}
