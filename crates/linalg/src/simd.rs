//! Vectors of lanes: one matrix per lane.
//!
//! [`Lane`] lays a scalar type out in the registers of an instruction set `S` (a token of the
//! `pulp` crate that exists only where the CPU has those instructions); [`Lanes`] carries the token
//! and gives the arithmetic. One [`kernel!`](crate::kernel!) compiles for AVX-512, AVX2+FMA, NEON
//! and plain scalars, and the set is chosen at run time. Every operation acts on each lane alone,
//! so a lane's result cannot depend on its neighbours.

mod quarters;
mod set;

#[doc(hidden)]
pub use pulp;
#[doc(hidden)]
pub use set::chosen_arch;
pub use set::{InstructionSet, VARIABLE, instruction_set};
pub(crate) use set::{lanes_for, widest_for};

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
    /// The whole registers at the beginning of a slice.
    #[inline(always)]
    fn view<S: Simd>(slice: &[Self]) -> &[Self::V<S>] {
        Self::split::<S>(slice).0
    }
    /// The whole registers at the beginning of a slice, to be written.
    #[inline(always)]
    fn view_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::V<S>] {
        Self::split_mut::<S>(slice).0
    }
    /// Whole registers, and numbers behind them.
    fn split<S: Simd>(slice: &[Self]) -> (&[Self::V<S>], &[Self]);
    /// Whole registers, and numbers behind them, to be written.
    fn split_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::V<S>], &mut [Self]);
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
            fn split<S: Simd>(slice: &[Self]) -> (&[Self::V<S>], &[Self]) {
                S::$view(slice)
            }
            #[inline(always)]
            fn split_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::V<S>], &mut [Self]) {
                S::$view_mut(slice)
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
pub type V<S, T> = <T as Lane>::V<S>;
/// One truth value per lane.
pub type M<S, T> = <T as Lane>::M<S>;

/// Writes registers one by one. A copy of the whole array is a call of `memcpy` where it has 256
/// bytes or more, and sums that are copied so live in memory, not in registers.
#[inline(always)]
#[allow(clippy::manual_memcpy)]
pub(crate) fn store<X: Copy, const N: usize>(out: &mut [X], registers: &[X; N]) {
    let out = &mut out[..N];
    for i in 0..N {
        out[i] = registers[i];
    }
}

/// The arithmetic of registers of lanes; [`kernel!`](crate::kernel!) hands it to its kernels.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<S, T> {
    /// The proof that the CPU has the instructions.
    pub simd: S,
    scalar: PhantomData<T>,
}

macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ident),*) -> $out:ident;)*) => {
        $($(#[$doc])*
        #[inline(always)]
        pub fn $name(self, $($arg: $ty<S, T>),*) -> $out<S, T> {
            T::$name(self.simd, $($arg),*)
        })*
    };
}

impl<S: Simd, T: Lane> Lanes<S, T> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn new(simd: S) -> Self {
        Self {
            simd,
            scalar: PhantomData,
        }
    }

    /// Whether registers have 512 bits; there are 32 of them then, not 16. A constant, so that code
    /// for the other case is not even compiled.
    pub const WIDE: bool = size_of::<V<S, T>>() == 64;

    /// Numbers of one matrix that go into lanes or out of them together: those of a quarter of a
    /// wide register, or one.
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

    /// Transposes every quarter of the first [`TOGETHER`](Self::TOGETHER) registers.
    #[inline(always)]
    pub(crate) fn turn(self, x: [V<S, T>; 4]) -> [V<S, T>; 4] {
        T::turn(self.simd, x)
    }

    /// Lanes per register.
    #[inline(always)]
    pub fn width() -> usize {
        size_of::<V<S, T>>() / size_of::<T>()
    }

    /// One number in all lanes.
    #[inline(always)]
    pub fn splat(self, x: T) -> V<S, T> {
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
    pub fn sum_of_lanes(self, x: V<S, T>) -> T {
        T::sum_of_lanes(self.simd, x)
    }

    /// The largest of all lanes.
    #[inline(always)]
    pub fn largest_of_lanes(self, x: V<S, T>) -> T {
        T::largest_of_lanes(self.simd, x)
    }

    forward! {
        /// `a + b`.
        add(a: V, b: V) -> V;
        /// `a − b`.
        sub(a: V, b: V) -> V;
        /// `a b`.
        mul(a: V, b: V) -> V;
        /// `a/b`.
        div(a: V, b: V) -> V;
        /// `a b + c`, fused.
        mul_add(a: V, b: V, c: V) -> V;
        /// `c − a b`, fused.
        neg_mul_add(a: V, b: V, c: V) -> V;
        /// `√a`.
        sqrt(a: V) -> V;
        /// `|a|`.
        abs(a: V) -> V;
        /// `−a`.
        neg(a: V) -> V;
        /// `a < b`.
        less(a: V, b: V) -> M;
        /// `a ≤ b`.
        less_equal(a: V, b: V) -> M;
        /// `a = b`.
        equal(a: V, b: V) -> M;
        /// Both.
        and(a: M, b: M) -> M;
        /// `a` where the mask holds, else `b`.
        select(m: M, a: V, b: V) -> V;
    }
}

/// Returns a value as a type that is its own, though the compiler knows it by another name.
///
/// # Safety
/// `A` and `B` are one type.
#[doc(hidden)]
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the compiler does not see that two types are one"
)]
pub unsafe fn same<A, B>(value: A) -> B {
    assert_eq!(size_of::<A>(), size_of::<B>());
    // SAFETY: as promised, and the value is not dropped here.
    unsafe { std::mem::transmute_copy(&std::mem::ManuallyDrop::new(value)) }
}
