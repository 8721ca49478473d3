//! The clock the core really runs at.

use crate::timing::tenth_percentile;
use std::hint::black_box;
use std::time::Instant;

/// Cycles per nanosecond, from a chain of dependent rotations and additions of one cycle each.
pub(crate) fn gigahertz() -> f64 {
    const STEPS: u64 = 2_000_000;
    let times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            let mut x = black_box(1_u64);
            for _ in 0..STEPS {
                // Two operations of one cycle that no compiler can fold into one another.
                x = (x ^ 0x9e37).rotate_left(7);
            }
            black_box(x);
            start.elapsed().as_secs_f64()
        })
        .collect();
    2.0 * STEPS as f64 / tenth_percentile(&times) / 1e9
}
