//! Time courses of the sources, sample by sample.
//!
//! * Background: `Σ_k s_k`, `s_k ← ρ_k s_k + √(1−ρ_k²)·w` with corner frequencies 0.5, 2, 8 and 32
//!   Hz and one white `w`: its power falls as 1/f from half a hertz up.
//! * Rhythm: the real part of `z ← ρ·e^{iω}·z + √(1−ρ²)·w`, complex `w`: a spectral line at `ω`
//!   with a half-power width of `Δf`, `ρ = exp(−πΔf/fs)`, times `exp(a)` where `a` wanders slowly
//!   (3 s, 0.3) as rhythms wax and wane.

use super::random::Stream;
use super::subject::{BACKGROUND, RHYTHMS, Rhythm};

const CORNERS: [f64; 4] = [0.5, 2.0, 8.0, 32.0];

/// The 1/f sources.
pub(super) struct Background {
    stream: Stream,
    keep: [f64; 4],
    feed: [f64; 4],
    state: [[f64; BACKGROUND]; 4],
}

impl Background {
    /// Sources in their stationary state, each with a variance of 1.
    pub(super) fn new(mut stream: Stream, sampling_rate: f64) -> Self {
        let keep = CORNERS.map(|f| (-std::f64::consts::TAU * f / sampling_rate).exp());
        let feed = keep.map(|k| (1.0 - k * k).sqrt());
        // Var Σs_k = Σ_jk √(1−ρ_j²)√(1−ρ_k²)/(1−ρ_jρ_k).
        let variance: f64 = (0..16)
            .map(|i| (i / 4, i % 4))
            .map(|(j, k)| feed[j] * feed[k] / (1.0 - keep[j] * keep[k]))
            .sum();
        let feed = feed.map(|f| f / variance.sqrt());
        let state =
            std::array::from_fn(|_| std::array::from_fn(|_| stream.normal() / variance.sqrt()));
        Self {
            stream,
            keep,
            feed,
            state,
        }
    }

    pub(super) fn next(&mut self, out: &mut [f64]) {
        let white: [f64; BACKGROUND] = std::array::from_fn(|_| self.stream.normal());
        let mut sum = [0.0; BACKGROUND];
        for k in 0..4 {
            let (keep, feed) = (self.keep[k], self.feed[k]);
            for ((s, w), sum) in self.state[k].iter_mut().zip(&white).zip(&mut sum) {
                *s = keep * *s + feed * w;
                *sum += *s;
            }
        }
        out.copy_from_slice(&sum);
    }
}

/// The oscillating sources.
pub(super) struct Rhythms {
    stream: Stream,
    re: [f64; RHYTHMS],
    im: [f64; RHYTHMS],
    /// `ρ cos ω`, `ρ sin ω` and `√(1−ρ²)`.
    turn: [[f64; 3]; RHYTHMS],
    amplitude: [f64; RHYTHMS],
    wander: [f64; RHYTHMS],
    slow: [f64; 2],
    /// The present amplitude and its change per sample.
    gain: [f64; RHYTHMS],
    slope: [f64; RHYTHMS],
}

/// Samples between two values of the amplitude, which runs straight between them.
pub(super) const STEP: usize = 16;
/// Standard deviation and time constant in seconds of the slow change of a rhythm's amplitude.
const WANDER: f64 = 0.3;
const WANDER_TIME: f64 = 3.0;

impl Rhythms {
    pub(super) fn new(mut stream: Stream, rhythms: &[Rhythm], sampling_rate: f64) -> Self {
        let mut normals = |scale: f64| std::array::from_fn(|_| scale * stream.normal());
        let (re, im): ([f64; RHYTHMS], [f64; RHYTHMS]) = (normals(1.0), normals(1.0));
        let wander: [f64; RHYTHMS] = normals(WANDER);
        let turn = std::array::from_fn(|i| {
            let r = rhythms[i];
            let keep = (-std::f64::consts::PI * r.bandwidth / sampling_rate).exp();
            let (sin, cos) = (std::f64::consts::TAU * r.frequency / sampling_rate).sin_cos();
            [keep * cos, keep * sin, (1.0 - keep * keep).sqrt()]
        });
        // exp(a) raises the mean square by exp(2·WANDER²).
        let amplitude: [f64; RHYTHMS] =
            std::array::from_fn(|i| rhythms[i].amplitude * (-WANDER * WANDER).exp());
        let keep = (-(STEP as f64) / (WANDER_TIME * sampling_rate)).exp();
        Self {
            stream,
            re,
            im,
            turn,
            amplitude,
            wander,
            slow: [keep, WANDER * (1.0 - keep * keep).sqrt()],
            gain: std::array::from_fn(|i| amplitude[i] * wander[i].exp()),
            slope: [0.0; RHYTHMS],
        }
    }

    /// Sets where the amplitudes will be [`STEP`] samples from now, multiplied by `exp(change)`.
    pub(super) fn aim(&mut self, change: &[f64; RHYTHMS]) {
        for i in 0..RHYTHMS {
            self.wander[i] = self.slow[0] * self.wander[i] + self.slow[1] * self.stream.normal();
            let target = self.amplitude[i] * (self.wander[i] + change[i]).exp();
            self.slope[i] = (target - self.gain[i]) / STEP as f64;
        }
    }

    /// The next sample of each rhythm.
    pub(super) fn next(&mut self, out: &mut [f64]) {
        for i in 0..RHYTHMS {
            let [c, s, feed] = self.turn[i];
            let (re, im) = (self.re[i], self.im[i]);
            self.re[i] = c * re - s * im + feed * self.stream.normal();
            self.im[i] = s * re + c * im + feed * self.stream.normal();
            self.gain[i] += self.slope[i];
            out[i] = self.re[i] * self.gain[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::Purpose;

    /// Power at a frequency, averaged over segments of one second.
    fn power(x: &[f64], frequency: f64, fs: f64) -> f64 {
        let n = fs as usize;
        let segments: Vec<f64> = x
            .chunks_exact(n)
            .map(|segment| {
                let (mut re, mut im) = (0.0, 0.0);
                for (t, x) in segment.iter().enumerate() {
                    let window = 0.5 - 0.5 * (std::f64::consts::TAU * t as f64 / n as f64).cos();
                    let (sin, cos) = (std::f64::consts::TAU * frequency * t as f64 / fs).sin_cos();
                    re += window * x * cos;
                    im += window * x * sin;
                }
                re * re + im * im
            })
            .collect();
        segments.iter().sum::<f64>() / segments.len() as f64
    }

    #[test]
    fn background_has_unit_variance_and_falls_as_one_over_f() {
        let fs = 200.0;
        let mut source = Background::new(Stream::new(3, Purpose::Background, 1, 1, 1), fs);
        let mut x = vec![Vec::new(); BACKGROUND];
        let mut out = [0.0; BACKGROUND];
        for _ in 0..20_000 {
            source.next(&mut out);
            (0..BACKGROUND).for_each(|s| x[s].push(out[s]));
        }
        let variance =
            x.iter().flatten().map(|x| x * x).sum::<f64>() / (20_000 * BACKGROUND) as f64;
        assert!((variance - 1.0).abs() < 0.1, "{variance}");
        let mean = |f: f64| x.iter().map(|x| power(x, f, fs)).sum::<f64>();
        let slope = (mean(4.0) / mean(32.0)).log2() / 3.0;
        assert!((slope - 1.0).abs() < 0.35, "{slope}");
    }

    #[test]
    fn rhythms_have_their_amplitude_and_frequency() {
        let fs = 250.0;
        let rhythms: Vec<Rhythm> = (0..RHYTHMS)
            .map(|i| Rhythm {
                frequency: 9.0 + i as f64,
                bandwidth: 1.5,
                amplitude: 4.0,
            })
            .collect();
        let mut source = Rhythms::new(Stream::new(3, Purpose::Rhythms, 1, 1, 1), &rhythms, fs);
        let mut x = vec![Vec::new(); RHYTHMS];
        let mut out = [0.0; RHYTHMS];
        for t in 0..50_000 {
            if t % STEP == 0 {
                source.aim(&[0.0; RHYTHMS]);
            }
            source.next(&mut out);
            (0..RHYTHMS).for_each(|s| x[s].push(out[s]));
        }
        let rms =
            (x.iter().flatten().map(|x| x * x).sum::<f64>() / (50_000 * RHYTHMS) as f64).sqrt();
        assert!((rms / 4.0 - 1.0).abs() < 0.1, "{rms}");
        for (i, x) in x.iter().enumerate() {
            let peak = (5..30)
                .max_by(|&a, &b| power(x, f64::from(a), fs).total_cmp(&power(x, f64::from(b), fs)));
            assert_eq!(peak, Some(9 + i as i32));
        }
    }
}
