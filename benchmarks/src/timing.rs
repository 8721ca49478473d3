//! Interleaved timing: every contender runs once per round, so that noise strikes all alike.

use std::time::Instant;

/// The 10th percentile: what the machine can do when left alone.
pub(crate) fn tenth_percentile(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 10]
}

/// Seconds of every call of each contender over `rounds` (at least one), after one warm-up call
/// each.
pub(crate) fn interleaved<const N: usize>(
    rounds: usize,
    mut contenders: [&mut dyn FnMut(); N],
) -> [Vec<f64>; N] {
    let mut times = [const { Vec::new() }; N];
    for contender in &mut contenders {
        contender();
    }
    for _ in 0..rounds.max(1) {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            contender();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times
}

/// Seconds per call of each contender: the 10th percentile of [`interleaved`].
pub(crate) fn side_by_side<const N: usize>(
    rounds: usize,
    contenders: [&mut dyn FnMut(); N],
) -> [f64; N] {
    interleaved(rounds, contenders).map(|times| tenth_percentile(&times))
}
