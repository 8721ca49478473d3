//! Kernels and faer's routines compiled once, here, for `f32` and for `f64`.
//!
//! A generic function is compiled again in every crate that calls it, optimised each time. A kernel is long: everything is inlined, once for every
//! instruction set. So generic code calls kernels as associated functions of the scalar type, whose two implementations are not generic.

use crate::batch::sums::{Add, Sum};
use crate::cholesky::kernel::{BadPivot, Factor};
use crate::eigen::DecomposeSingle;
use crate::lanes::kernel::{LaneDifferences, LaneEigen, LaneFactor, LaneProduct, LaneSpectral};
use crate::product::release_vector_registers;
use crate::sandwich::Sandwich;
use crate::simd::dispatch;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use std::result::Result as Outcome;

macro_rules! compiled {
    ($($name:ident($kernel:ident) -> $out:ty;)*) => {
        /// What is compiled for each scalar type. The outer error says that the instruction set cannot be had.
        pub trait Compiled: Sized {
            $(#[doc(hidden)]
            fn $name(kernel: $kernel<'_, Self>) -> crate::Result<$out>;)*
            #[doc(hidden)]
            fn total(kernel: Sum<'_, Self>) -> Self;
            #[doc(hidden)]
            fn add_all(kernel: Add<'_, Self>);
            /// `C ← [C +] α A B`.
            #[doc(hidden)]
            fn multiply(c: MatMut<'_, Self>, keep: Accum, a: MatRef<'_, Self>, b: MatRef<'_, Self>, alpha: Self);
            /// `Q` and `R` of a thin QR factorisation, signs as they come.
            #[doc(hidden)]
            fn thin_qr(a: MatRef<'_, Self>) -> (Mat<Self>, Mat<Self>);
            /// The lower Cholesky factor, or the pivot that is not positive.
            #[doc(hidden)]
            fn factor_large(a: MatRef<'_, Self>) -> Outcome<Mat<Self>, usize>;
            /// `B ← L⁻¹ B`.
            #[doc(hidden)]
            fn solve_with_lower(l: MatRef<'_, Self>, b: MatMut<'_, Self>);
            /// `B ← U⁻¹ B`.
            #[doc(hidden)]
            fn solve_with_upper(u: MatRef<'_, Self>, b: MatMut<'_, Self>);
        }
        compiled!(@type f32; $($name($kernel) -> $out;)*);
        compiled!(@type f64; $($name($kernel) -> $out;)*);
    };
    (@type $t:ty; $($name:ident($kernel:ident) -> $out:ty;)*) => {
        impl Compiled for $t {
            $(#[inline(never)]
            fn $name(kernel: $kernel<'_, Self>) -> crate::Result<$out> {
                dispatch(kernel)
            })*
            #[inline(never)]
            fn total(kernel: Sum<'_, Self>) -> Self {
                pulp::Arch::new().dispatch(kernel)
            }
            #[inline(never)]
            fn add_all(kernel: Add<'_, Self>) {
                pulp::Arch::new().dispatch(kernel);
            }
            #[inline(never)]
            fn multiply(c: MatMut<'_, Self>, keep: Accum, a: MatRef<'_, Self>, b: MatRef<'_, Self>, alpha: Self) {
                matmul(c, keep, a, b, alpha, Par::Seq);
            }
            #[inline(never)]
            fn thin_qr(a: MatRef<'_, Self>) -> (Mat<Self>, Mat<Self>) {
                let factors = a.qr();
                (factors.compute_thin_Q(), factors.thin_R().to_owned())
            }
            #[inline(never)]
            fn factor_large(a: MatRef<'_, Self>) -> Outcome<Mat<Self>, usize> {
                let factor = a.llt(Side::Lower);
                let factor = factor.map_err(|error| {
                    let faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index } = error;
                    index
                })?;
                Ok(factor.L().to_owned())
            }
            #[inline(never)]
            fn solve_with_lower(l: MatRef<'_, Self>, b: MatMut<'_, Self>) {
                solve_lower_triangular_in_place(l, b, Par::Seq);
                release_vector_registers();
            }
            #[inline(never)]
            fn solve_with_upper(u: MatRef<'_, Self>, b: MatMut<'_, Self>) {
                solve_upper_triangular_in_place(u, b, Par::Seq);
                release_vector_registers();
            }
        }
    };
}

compiled! {
    lane_product(LaneProduct) -> ();
    lane_factor(LaneFactor) -> Outcome<(), BadPivot<Self>>;
    lane_eigen(LaneEigen) -> Outcome<(), usize>;
    lane_spectral(LaneSpectral) -> ();
    lane_differences(LaneDifferences) -> ();
    decompose_single(DecomposeSingle) -> bool;
    factor(Factor) -> Outcome<(), BadPivot<Self>>;
    sandwich(Sandwich) -> ();
}
