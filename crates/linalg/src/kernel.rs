//! Kernels: code over registers that is compiled once, in the crate that writes it.

/// Writes a kernel, with its arguments stated once.
///
/// A kernel is a function of registers: its first parameter is [`Lanes<S, T>`](crate::simd::Lanes),
/// the arithmetic of one instruction set, which callers do not pass. The macro compiles it for
/// `f32` and `f64` and for every set. Generic code that calls it from another crate does not
/// compile it again.
///
/// | written | makes |
/// |---|---|
/// | `fn f<'a, S, T>(l: Lanes<S, T>, …) -> R` | `f(…) -> Result<R>` with the chosen instruction set |
/// | `fn f<'a, S, T>(simd: S, …) -> R` | `f(…) -> R` with the widest set of the CPU |
/// | `struct K<'a, S, T>(l: Lanes<S, T>, …) -> R` | arguments to `K { … }.run(arch)`, or to `vectorize` inside another kernel |
///
/// The second form is for loops whose bits no instruction set changes: nothing is summed across
/// lanes, nothing is fused.
///
/// ```
/// use stiefel_linalg::kernel;
///
/// kernel! {
///     /// `y ← y + a x`, fused.
///     pub fn axpy<'a, S, T>(l: Lanes<S, T>, a: T, x: &'a [T], y: &'a mut [T]) {
///         let (x, x_rest) = T::split::<S>(x);
///         let (y, y_rest) = T::split_mut::<S>(y);
///         for (y, &x) in y.iter_mut().zip(x) {
///             *y = l.mul_add(l.splat(a), x, *y);
///         }
///         for (y, &x) in y_rest.iter_mut().zip(x_rest) {
///             *y += a * x;
///         }
///     }
/// }
///
/// let mut y = [1.0; 11];
/// axpy(2.0, &[3.0; 11], &mut y)?;
/// assert_eq!(y, [7.0; 11]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
#[macro_export]
macro_rules! kernel {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<'a, S, T>(
        $l:ident: Lanes<S, T> $(, $arg:ident: $ty:ty)* $(,)?
    ) $(-> $out:ty)? $body:block) => {
        $crate::kernel! {
            $(#[$meta])*
            $vis struct $name<'a, S, T>(simd: S $(, $arg: $ty)*) $(-> $out)? {
                let $l = $crate::simd::Lanes::<S, T>::new(simd);
                $body
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident<'a, S, T>(
        $simd:ident: S $(, $arg:ident: $ty:ty)* $(,)?
    ) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $vis struct $name<'a, T> {
            $($vis $arg: $ty,)*
        }

        impl<'a, T: $crate::Scalar> $crate::simd::pulp::WithSimd for $name<'a, T> {
            type Output = $crate::kernel!(@output $($out)?);

            #[inline(always)]
            fn with_simd<S: $crate::simd::pulp::Simd>(self, $simd: S) -> Self::Output {
                let Self { $($arg),* } = self;
                $body
            }
        }

        impl<T: $crate::Scalar> $name<'_, T> {
            /// Runs the kernel with these instructions.
            #[inline]
            #[allow(dead_code, reason = "a kernel may run inside others alone")]
            #[allow(unsafe_code, reason = "the compiler does not see that two types are one")]
            $vis fn run(
                self,
                arch: $crate::simd::pulp::Arch,
            ) -> <Self as $crate::simd::pulp::WithSimd>::Output {
                type Output<T> = <$name<'static, T> as $crate::simd::pulp::WithSimd>::Output;
                #[inline(never)]
                fn single(
                    kernel: $name<'_, f32>,
                    arch: $crate::simd::pulp::Arch,
                ) -> Output<f32> {
                    arch.dispatch(kernel)
                }
                #[inline(never)]
                fn double(
                    kernel: $name<'_, f64>,
                    arch: $crate::simd::pulp::Arch,
                ) -> Output<f64> {
                    arch.dispatch(kernel)
                }
                use $crate::simd::same;
                // SAFETY: `T` is the type of the kernel that is run: both sides are one type.
                if std::any::TypeId::of::<T>() == std::any::TypeId::of::<f32>() {
                    unsafe { same(single(same(self), arch)) }
                } else {
                    unsafe { same(double(same(self), arch)) }
                }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident<'a, S, T>(
        $l:ident: Lanes<S, T> $(, $arg:ident: $ty:ty)* $(,)?
    ) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name<'a, T: $crate::Scalar>(
            $($arg: $ty),*
        ) -> $crate::Result<$crate::kernel!(@output $($out)?)> {
            $crate::kernel! {
                struct Kernel<'a, S, T>($l: Lanes<S, T> $(, $arg: $ty)*) $(-> $out)? $body
            }
            Ok(Kernel { $($arg),* }.run($crate::simd::chosen_arch()?))
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident<'a, S, T>(
        $simd:ident: S $(, $arg:ident: $ty:ty)* $(,)?
    ) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name<'a, T: $crate::Scalar>(
            $($arg: $ty),*
        ) -> $crate::kernel!(@output $($out)?) {
            $crate::kernel! {
                struct Kernel<'a, S, T>($simd: S $(, $arg: $ty)*) $(-> $out)? $body
            }
            Kernel { $($arg),* }.run($crate::simd::pulp::Arch::new())
        }
    };
    (@output) => { () };
    (@output $out:ty) => { $out };
}
