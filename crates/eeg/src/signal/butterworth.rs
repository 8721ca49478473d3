//! Butterworth filters as second-order sections.
//!
//! The analogue prototype of order `N` has the poles `p_m = −exp(iπm/2N)`, `m = −N+1, −N+3, …,
//! N−1`, no zeros and unit gain. It is moved to the band (`s → s/ω₀`, `s → ω₀/s` or `s → (s² +
//! ω₀²)/(B·s)`) with band edges pre-warped to `ω = 2·fs·tan(πf/fs)`, then made digital by the
//! bilinear transform `z = (2·fs + s)/(2·fs − s)`.
//!
//! Poles and zeros are paired into sections as `scipy.signal.butter(…, output='sos')` does: the
//! pole pair nearest the unit circle goes last and takes the zeros nearest to it, so the
//! coefficients, not only the response, are SciPy's. Source: Oppenheim & Schafer, *Discrete-Time
//! Signal Processing*, §7.

use num_complex::Complex64 as c64;
use std::f64::consts::PI;

use super::Sos;
use crate::{EegError, Result};

/// The highest order accepted: beyond it the poles crowd the unit circle and the filter is noise.
pub const MAX_ORDER: usize = 24;

/// What a filter lets through. Frequencies are in hertz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Band {
    /// Everything below the cut-off.
    LowPass(f64),
    /// Everything above the cut-off.
    HighPass(f64),
    /// Everything between the two cut-offs, the lower one first.
    BandPass(f64, f64),
}

/// Zeros, poles and gain of a filter.
struct Zpk {
    z: Vec<c64>,
    p: Vec<c64>,
    k: f64,
}

pub(super) fn design(order: usize, band: Band, sampling_rate: f64) -> Result<Sos> {
    check(order, band, sampling_rate)?;
    // The normalisation of SciPy: frequencies relative to Nyquist, and a design rate of 2.
    let fs = 2.0;
    let warp = |f: f64| 2.0 * fs * (PI * (2.0 * f / sampling_rate) / fs).tan();
    let prototype = prototype(order);
    let analogue = match band {
        Band::LowPass(f) => to_low_pass(&prototype, warp(f)),
        Band::HighPass(f) => to_high_pass(&prototype, warp(f)),
        Band::BandPass(low, high) => {
            let (low, high) = (warp(low), warp(high));
            to_band_pass(&prototype, (low * high).sqrt(), high - low)
        }
    };
    Ok(Sos::from_checked(pair(&bilinear(&analogue, fs))))
}

fn check(order: usize, band: Band, fs: f64) -> Result<()> {
    let invalid = |what: String, remedy: &str| {
        Err(EegError::Invalid {
            what,
            remedy: remedy.into(),
        })
    };
    if !(fs.is_finite() && fs > 0.0) {
        return invalid(
            format!("the sampling rate is {fs} Hz"),
            "give a positive, finite rate",
        );
    }
    if order == 0 || order > MAX_ORDER {
        return invalid(
            format!("a Butterworth filter of order {order} was asked for"),
            "take an order from 1 to 24; 4 is usual for EEG",
        );
    }
    let edges = match band {
        Band::LowPass(f) | Band::HighPass(f) => vec![f],
        Band::BandPass(low, high) => vec![low, high],
    };
    if edges.iter().any(|&f| !(f > 0.0 && f < fs / 2.0)) {
        return invalid(
            format!(
                "the cut-off frequencies {edges:?} Hz do not all lie between 0 and {} Hz, half \
                 the sampling rate",
                fs / 2.0
            ),
            "choose cut-offs inside that range, or use a recording with a higher sampling rate",
        );
    }
    if edges.len() == 2 && edges[0] >= edges[1] {
        return invalid(
            format!("the band {}–{} Hz is empty or reversed", edges[0], edges[1]),
            "give the lower cut-off first",
        );
    }
    Ok(())
}

fn prototype(order: usize) -> Zpk {
    let n = order as f64;
    let p = (0..order)
        .map(|i| {
            let m = 2.0 * i as f64 - (n - 1.0);
            // The middle pole is −1 exactly, not up to the rounding of a cosine.
            if m == 0.0 {
                return c64::new(-1.0, 0.0);
            }
            let angle = PI * m / (2.0 * n);
            c64::new(-angle.cos(), -angle.sin())
        })
        .collect();
    Zpk {
        z: Vec::new(),
        p,
        k: 1.0,
    }
}

fn to_low_pass(f: &Zpk, w0: f64) -> Zpk {
    Zpk {
        z: Vec::new(),
        p: f.p.iter().map(|p| p * w0).collect(),
        k: f.k * w0.powi(f.p.len() as i32),
    }
}

fn to_high_pass(f: &Zpk, w0: f64) -> Zpk {
    let product = f.p.iter().fold(c64::new(1.0, 0.0), |a, p| a * -p);
    Zpk {
        z: vec![c64::new(0.0, 0.0); f.p.len()],
        p: f.p.iter().map(|p| c64::new(w0, 0.0) / p).collect(),
        k: f.k * (c64::new(1.0, 0.0) / product).re,
    }
}

fn to_band_pass(f: &Zpk, w0: f64, width: f64) -> Zpk {
    let scaled: Vec<c64> = f.p.iter().map(|p| p * (width / 2.0)).collect();
    let root = |p: &c64| (p * p - w0 * w0).sqrt();
    let p = scaled
        .iter()
        .map(|p| p + root(p))
        .chain(scaled.iter().map(|p| p - root(p)))
        .collect();
    Zpk {
        z: vec![c64::new(0.0, 0.0); f.p.len()],
        p,
        k: f.k * width.powi(f.p.len() as i32),
    }
}

fn bilinear(f: &Zpk, fs: f64) -> Zpk {
    let twice = c64::new(2.0 * fs, 0.0);
    let map = |s: &c64| (twice + s) / (twice - s);
    let mut z: Vec<c64> = f.z.iter().map(map).collect();
    // Zeros at infinity land on −1.
    z.resize(f.p.len(), c64::new(-1.0, 0.0));
    let one = c64::new(1.0, 0.0);
    let numerator = f.z.iter().fold(one, |a, s| a * (twice - s));
    let denominator = f.p.iter().fold(one, |a, s| a * (twice - s));
    Zpk {
        z,
        p: f.p.iter().map(map).collect(),
        k: f.k * (numerator / denominator).re,
    }
}

/// One of each conjugate pair (positive imaginary part), sorted, then the real ones, sorted.
fn halves(values: &[c64]) -> Vec<c64> {
    let is_real = |v: &c64| v.im.abs() <= 100.0 * f64::EPSILON * v.norm();
    let by_parts = |a: &c64, b: &c64| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im));
    let mut complex: Vec<c64> = values
        .iter()
        .filter(|v| !is_real(v) && v.im > 0.0)
        .copied()
        .collect();
    let mut real: Vec<c64> = values
        .iter()
        .filter(|v| is_real(v))
        .map(|v| c64::new(v.re, 0.0))
        .collect();
    complex.sort_by(by_parts);
    real.sort_by(by_parts);
    complex.append(&mut real);
    complex
}

/// The first index of the smallest key.
fn first_min(keys: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    keys.fold(None, |best: Option<(usize, f64)>, (i, key)| match best {
        Some((_, smallest)) if smallest <= key => best,
        _ => Some((i, key)),
    })
    .map(|(i, _)| i)
}

/// Takes out the zero nearest to `pole`, or 0 (no zero) where none is left.
fn take_nearest(z: &mut Vec<c64>, pole: c64) -> f64 {
    first_min(z.iter().map(|z| (z - pole).norm()).enumerate()).map_or(0.0, |i| z.remove(i).re)
}

/// Takes out the pole nearest the unit circle, of the real ones only if asked.
fn take_worst(p: &mut Vec<c64>, only_real: bool) -> Option<c64> {
    first_min(
        p.iter()
            .enumerate()
            .filter(|(_, p)| !only_real || p.im == 0.0)
            .map(|(i, p)| (i, (1.0 - p.norm()).abs())),
    )
    .map(|i| p.remove(i))
}

/// Pairs poles with zeros. The zeros of a Butterworth filter are all real (±1, and 0 for padding).
fn pair(f: &Zpk) -> Vec<[f64; 6]> {
    let (mut z, mut p) = (f.z.clone(), f.p.clone());
    if p.len() % 2 == 1 {
        z.push(c64::new(0.0, 0.0));
        p.push(c64::new(0.0, 0.0));
    }
    let (mut z, mut p) = (halves(&z), halves(&p));
    let mut sections = Vec::with_capacity(f.p.len().div_ceil(2));
    while let Some(p1) = take_worst(&mut p, false) {
        let p2 = if p1.im == 0.0 {
            take_worst(&mut p, true).unwrap_or_default()
        } else {
            p1.conj()
        };
        let (z1, z2) = (take_nearest(&mut z, p1), take_nearest(&mut z, p1));
        sections.push([1.0, -(z1 + z2), z1 * z2, 1.0, -(p1 + p2).re, (p1 * p2).re]);
    }
    sections.reverse();
    for b in &mut sections[0][..3] {
        *b *= f.k;
    }
    sections
}
