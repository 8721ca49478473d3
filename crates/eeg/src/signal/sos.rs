//! A recursive filter as a cascade of second-order sections.
//!
//! Section `s` is `H_s(z) = (b₀ + b₁z⁻¹ + b₂z⁻²)/(1 + a₁z⁻¹ + a₂z⁻²)` and the filter their product.
//! A section runs in transposed direct form II:
//!
//! ```text
//! y  = b₀x + z₀
//! z₀ ← b₁x − a₁y + z₁
//! z₁ ← b₂x − a₂y
//! ```
//!
//! The **steady state** of a section for a constant input `u` is the `(z₀, z₁)` that repeats
//! itself; starting from it a filter shows no step response (SciPy's `sosfilt_zi`).

use super::butterworth::{self, Band};
use crate::{EegError, Result};

/// Second-order sections `[b₀, b₁, b₂, 1, a₁, a₂]`, applied first to last.
///
/// ```
/// use stiefel_eeg::signal::{Band, Sos};
/// let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0)?;
/// assert_eq!(sos.sections().len(), 4);
/// assert!(sos.gain(16.0, 250.0) > 0.99 && sos.gain(1.0, 250.0) < 1e-3);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sos {
    sections: Vec<[f64; 6]>,
}

impl Sos {
    /// A Butterworth filter; the order is that of the prototype, so a band-pass has twice as many
    /// poles.
    pub fn butterworth(order: usize, band: Band, sampling_rate: f64) -> Result<Self> {
        butterworth::design(order, band, sampling_rate)
    }

    /// Any other design, normalised so that `a₀ = 1`. Refuses values that are not finite and poles
    /// on or outside the unit circle.
    pub fn new(mut sections: Vec<[f64; 6]>) -> Result<Self> {
        if sections.is_empty() {
            return Err(EegError::Invalid {
                what: "a filter without sections".into(),
                remedy: "give at least one row [b0, b1, b2, a0, a1, a2]".into(),
            });
        }
        for (index, section) in sections.iter_mut().enumerate() {
            let a0 = section[3];
            for c in section.iter_mut() {
                *c /= a0;
            }
            section[3] = 1.0;
            let [.., a1, a2] = *section;
            // The stability triangle of a second-order denominator.
            let stable = a2.abs() < 1.0 && a1.abs() < 1.0 + a2;
            if !stable || section.iter().any(|c| !c.is_finite()) {
                return Err(EegError::Invalid {
                    what: format!(
                        "section {index} of the filter is {section:?}: it is not finite or not \
                         stable"
                    ),
                    remedy: "give finite coefficients with all poles inside the unit circle".into(),
                });
            }
        }
        Ok(Self { sections })
    }

    pub(super) fn from_checked(sections: Vec<[f64; 6]>) -> Self {
        Self { sections }
    }

    /// The sections in order of application.
    pub fn sections(&self) -> &[[f64; 6]] {
        &self.sections
    }

    /// The state `(z₀, z₁)` of each section that a constant input of 1 leaves unchanged.
    pub fn steady_state(&self) -> Vec<[f64; 2]> {
        let mut scale = 1.0;
        self.sections
            .iter()
            .map(|&[b0, b1, b2, _, a1, a2]| {
                let first = ((b1 - a1 * b0) + (b2 - a2 * b0)) / (1.0 + a1 + a2);
                let second = (1.0 + a1) * first - (b1 - a1 * b0);
                let state = [scale * first, scale * second];
                scale *= (b0 + b1 + b2) / (1.0 + a1 + a2);
                state
            })
            .collect()
    }

    /// Samples of odd reflection at each end for zero-phase filtering, SciPy's default: three times
    /// the number of taps.
    pub fn padding(&self) -> usize {
        let without = |column: usize| self.sections.iter().filter(|s| s[column] == 0.0).count();
        3 * (2 * self.sections.len() + 1 - without(2).min(without(5)))
    }

    /// `|H|` at a frequency. Zero-phase filtering applies it twice.
    pub fn gain(&self, frequency: f64, sampling_rate: f64) -> f64 {
        let w = std::f64::consts::TAU * frequency / sampling_rate;
        let norm = |c0: f64, c1: f64, c2: f64| {
            let re = c0 + c1 * w.cos() + c2 * (2.0 * w).cos();
            let im = c1 * w.sin() + c2 * (2.0 * w).sin();
            re.hypot(im)
        };
        self.sections
            .iter()
            .map(|&[b0, b1, b2, a0, a1, a2]| norm(b0, b1, b2) / norm(a0, a1, a2))
            .product()
    }
}
