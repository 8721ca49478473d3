//! Resampling by a rational factor `u/d`, polyphase.
//!
//! ```text
//! y_m = Σ_j x_j · h(m·d − j·u),   0 ≤ m < ⌈T·u/d⌉,   x = 0 outside the signal
//! ```
//!
//! `h` is a sinc with its cut-off at the lower of both Nyquist frequencies under a Kaiser window (β
//! = 5) of `10·max(u, d)` samples to either side, scaled to a gain of `u` at zero frequency:
//! `scipy.signal.resample_poly` with its defaults. Only the products with real samples are formed.
//! Source: Vaidyanathan, *Multirate Systems and Filter Banks*, §4.3.

use crate::{ChannelKind, EegError, Event, Recording, Result};

/// The largest factor accepted, after the common divisor is taken out.
pub const MAX_FACTOR: usize = 100_000;

const BETA: f64 = 5.0;

/// The coefficients that meet the samples around `q`, for one phase: `taps[i]` goes with sample `q
/// + first + i`.
struct Phase {
    first: isize,
    taps: Vec<f64>,
}

/// Resamples rows of `samples` values each; returns the rows and their new length.
///
/// ```
/// use stiefel_eeg::signal::resample;
/// let slow: Vec<f64> = (0..200).map(|t| (0.1 * f64::from(t)).sin()).collect();
/// let (fast, samples) = resample(&slow, 200, 2, 1)?;
/// assert_eq!(samples, 400);
/// assert!((fast[201] - 10.05_f64.sin()).abs() < 1e-3);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn resample(rows: &[f64], samples: usize, up: usize, down: usize) -> Result<(Vec<f64>, usize)> {
    let (up, down) = factors(up, down)?;
    if samples == 0 || !rows.len().is_multiple_of(samples) {
        return Err(EegError::Invalid {
            what: format!(
                "{} values are not whole rows of {samples} samples",
                rows.len()
            ),
            remedy: "pass the samples row by row, at least one per row".into(),
        });
    }
    if let Some(at) = rows.iter().position(|x| !x.is_finite()) {
        return Err(EegError::Invalid {
            what: format!(
                "row {}, sample {}: the value is {}",
                at / samples,
                at % samples,
                rows[at]
            ),
            remedy: "repair or drop the row before resampling".into(),
        });
    }
    if up == down {
        return Ok((rows.to_vec(), samples));
    }
    let length = (samples * up).div_ceil(down);
    let phases = phases(up, down);
    let mut out = Vec::with_capacity(rows.len() / samples * length);
    for row in rows.chunks_exact(samples) {
        out.extend((0..length).map(|m| {
            let phase = &phases[m * down % up];
            convolve(row, phase, (m * down / up) as isize + phase.first)
        }));
    }
    Ok((out, length))
}

/// The recording at `up/down` times its sampling rate. Events keep their onset in seconds; trigger
/// lines take the nearest sample, everything else is filtered.
pub fn resample_recording(recording: &Recording, up: usize, down: usize) -> Result<Recording> {
    let (up, down) = factors(up, down)?;
    let samples = recording.samples();
    let mut data = Vec::new();
    for (index, channel) in recording.channels().iter().enumerate() {
        let row = recording.channel(index);
        if channel.kind == ChannelKind::Stim {
            let length = (samples * up).div_ceil(down);
            data.extend((0..length).map(|m| row[((m * down + up / 2) / up).min(samples - 1)]));
            continue;
        }
        let (row, _) = resample(row, samples, up, down).map_err(|error| EegError::Invalid {
            what: format!("channel {}: {error}", channel.name),
            remedy: "see above".into(),
        })?;
        data.extend(row);
    }
    let last = data
        .len()
        .checked_div(recording.channels().len())
        .unwrap_or(0)
        .saturating_sub(1);
    // The nearest sample; the very last may be nearest to one behind the end.
    let move_event = |event: &Event| Event {
        sample: (event.sample.saturating_mul(up).saturating_add(down / 2) / down).min(last),
        ..event.clone()
    };
    Ok(Recording::new(
        recording.channels().to_vec(),
        recording.sampling_rate() * up as f64 / down as f64,
        data,
        recording.events().iter().map(move_event).collect(),
    )?)
}

fn factors(up: usize, down: usize) -> Result<(usize, usize)> {
    let divisor = gcd(up, down).max(1);
    let (reduced_up, reduced_down) = (up / divisor, down / divisor);
    if up == 0 || down == 0 || reduced_up.max(reduced_down) > MAX_FACTOR {
        return Err(EegError::Invalid {
            what: format!("resampling by {up}/{down} was asked for"),
            remedy: format!("give two positive factors that reduce to at most {MAX_FACTOR}"),
        });
    }
    Ok((reduced_up, reduced_down))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn convolve(row: &[f64], phase: &Phase, start: isize) -> f64 {
    let skip = usize::try_from(-start).unwrap_or(0).min(phase.taps.len());
    let from = usize::try_from(start).unwrap_or(0).min(row.len());
    phase.taps[skip..]
        .iter()
        .zip(&row[from..])
        .map(|(h, x)| h * x)
        .sum()
}

/// One set of coefficients for each remainder of `m·d` by `u`.
fn phases(up: usize, down: usize) -> Vec<Phase> {
    let (h, half) = low_pass(up, down);
    (0..up)
        .map(|phase| {
            // Sample q − i meets h[half + phase + i·up], which exists for i from −before to after.
            let before = (half + phase) / up;
            let after = (half as isize - phase as isize).div_euclid(up as isize);
            let taps = (-(before as isize)..=after)
                .rev()
                .map(|i| h[(half as isize + phase as isize + i * up as isize) as usize])
                .collect();
            Phase {
                first: -after,
                taps,
            }
        })
        .collect()
}

/// The windowed sinc and the place of its middle.
fn low_pass(up: usize, down: usize) -> (Vec<f64>, usize) {
    let rate = up.max(down);
    let half = 10 * rate;
    let cut_off = 1.0 / rate as f64;
    let mut h: Vec<f64> = (0..=2 * half)
        .map(|i| {
            let m = i as f64 - half as f64;
            let x = std::f64::consts::PI * cut_off * m;
            let sinc = if x == 0.0 { 1.0 } else { x.sin() / x };
            let r = m / half as f64;
            cut_off * sinc * bessel_i0(BETA * (1.0 - r * r).max(0.0).sqrt()) / bessel_i0(BETA)
        })
        .collect();
    let gain = up as f64 / h.iter().sum::<f64>();
    for h in &mut h {
        *h *= gain;
    }
    (h, half)
}

/// The modified Bessel function of order 0 by its power series `Σ (x²/4)ᵏ/k!²`; fast for the small
/// arguments here.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    let mut k = 1.0;
    while term > sum * f64::EPSILON / 4.0 {
        term *= quarter / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}
