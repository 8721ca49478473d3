//! Interleaved timing: every contender runs once per round, so that noise strikes all alike.

use std::time::Instant;

/// The 10th percentile: what the machine can do when left alone.
pub(crate) fn tenth_percentile(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 10]
}

/// Seconds per call of each contender, 10th percentile over `rounds`, after one warm-up call each.
pub(crate) fn side_by_side<const N: usize>(
    rounds: usize,
    mut contenders: [&mut dyn FnMut(); N],
) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for contender in &mut contenders {
        contender();
    }
    for _ in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            contender();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut t| tenth_percentile(&mut t))
}
