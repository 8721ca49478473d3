//! What the core can do at most: fused multiply-adds that depend on nothing but themselves, as wide
//! as the CPU has them.

use crate::timing::tenth_percentile;
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::time::Instant;

/// Chains that run side by side: more than latency times throughput of any CPU.
const CHAINS: usize = 12;
const STEPS: usize = 100_000;

struct Chains<T>(T);

macro_rules! chains {
    ($t:ty, $splat:ident, $fma:ident, $sum:ident) => {
        impl WithSimd for Chains<$t> {
            type Output = (f64, usize);

            #[inline(always)]
            fn with_simd<S: Simd>(self, s: S) -> (f64, usize) {
                let (x, y) = (s.$splat(self.0), s.$splat(1.0));
                let mut sums = [y; CHAINS];
                for _ in 0..STEPS {
                    for i in 0..CHAINS {
                        sums[i] = s.$fma(sums[i], x, y);
                    }
                }
                let mut total = 0.0;
                for i in 0..CHAINS {
                    total += f64::from(s.$sum(sums[i]));
                }
                (total, size_of_val(&y) / size_of::<$t>())
            }
        }
    };
}

chains!(f32, splat_f32s, mul_add_e_f32s, reduce_sum_f32s);
chains!(f64, splat_f64s, mul_add_e_f64s, reduce_sum_f64s);

fn measure(run: impl Fn() -> (f64, usize)) -> f64 {
    let mut lanes = 1;
    let times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            let (total, width) = run();
            black_box(total);
            lanes = width;
            start.elapsed().as_secs_f64()
        })
        .collect();
    (2 * lanes * CHAINS * STEPS) as f64 / tenth_percentile(&times)
}

/// Floating-point operations per second of `f32` or `f64`, the widest instructions of this CPU.
pub(crate) fn flops(name: &str) -> f64 {
    let x = black_box(0.5_f64);
    if name == "f32" {
        measure(|| Arch::new().dispatch(Chains(x as f32)))
    } else {
        measure(|| Arch::new().dispatch(Chains(x)))
    }
}
