//! Blinks and muscle bursts, at random times.
//!
//! Blink: `A·sin²(πt/D)`, `D` about 0.35 s, `A` about 120 µV at the forehead. Burst: white noise,
//! differenced so that its power lies in the upper half of the spectrum, under `sin²(πt/D)`, `D`
//! 0.3…1.5 s, about 12 µV at one of four places on the temples.

use super::random::Stream;
use super::subject::MUSCLES;

#[derive(Debug, Clone, Copy)]
struct Artefact {
    start: f64,
    duration: f64,
    amplitude: f64,
    /// 0 is the blink, the muscles follow.
    source: usize,
}

/// The artefacts of a run, in order of onset.
pub(super) struct Artefacts {
    stream: Stream,
    coming: Vec<Artefact>,
    active: Vec<Artefact>,
    white: [f64; MUSCLES],
}

impl Artefacts {
    pub(super) fn new(
        mut stream: Stream,
        seconds: f64,
        blinks_per_minute: f64,
        bursts_per_minute: f64,
    ) -> Self {
        let mut coming = Vec::new();
        for (rate, muscle) in [(blinks_per_minute, false), (bursts_per_minute, true)] {
            // At a rate of 0 the first one comes after for ever.
            let mut now = stream.exponential(60.0 / rate);
            while now < seconds {
                let strength = (0.3 * stream.normal()).exp();
                coming.push(if muscle {
                    let source = 1 + stream.below(MUSCLES);
                    Artefact {
                        start: now,
                        duration: 0.3 + 1.2 * stream.uniform(),
                        amplitude: 12.0 * strength,
                        source,
                    }
                } else {
                    Artefact {
                        start: now,
                        duration: 0.3 + 0.1 * stream.uniform(),
                        amplitude: 120.0 * strength,
                        source: 0,
                    }
                });
                now += stream.exponential(60.0 / rate);
            }
        }
        // The next one to come is at the end.
        coming.sort_by(|a, b| b.start.total_cmp(&a.start));
        Self {
            stream,
            coming,
            active: Vec::new(),
            white: [0.0; MUSCLES],
        }
    }

    /// The blink and the muscles at time `t` (seconds).
    pub(super) fn next(&mut self, t: f64, out: &mut [f64]) {
        out.fill(0.0);
        while let Some(artefact) = self.coming.pop_if(|a| a.start <= t) {
            self.active.push(artefact);
        }
        if self.active.is_empty() {
            return;
        }
        self.active.retain(|a| t < a.start + a.duration);
        for a in &self.active {
            let shape = (std::f64::consts::PI * (t - a.start) / a.duration)
                .sin()
                .powi(2);
            out[a.source] += a.amplitude * shape;
        }
        for (muscle, out) in out[1..].iter_mut().enumerate() {
            if *out != 0.0 {
                let white = self.stream.normal();
                *out *= (white - self.white[muscle]) / std::f64::consts::SQRT_2;
                self.white[muscle] = white;
            }
        }
    }
}
