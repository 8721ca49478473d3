//! Intervals that hold the true value with probability [`CONFIDENCE`].
//!
//! **Over people**, of a mean difference: `d̄ ± t sd(d)/√S`, `t` the two-sided quantile of Student's
//! distribution with `S − 1` degrees of freedom.
//!
//! **Within a person**, of the difference of two methods' balanced accuracies over that person's
//! trials. With `e_i ∈ [−1, 1]` how much more often the one method was right on trial `i` than the
//! other (over the units that tested it), `n_c` the trials of class `c` of `C`:
//!
//! ```text
//! d ± t (Σ_c v_c/(C² (m_c − 1)))^{1/2},   v_c = (Σ e_i² + 1/C)/m_c − (Σ e_i/m_c)²,   m_c = n_c + 2/C,   Σ over the trials of class c
//! ```
//!
//! which is Wald's interval of paired proportions with half a trial added to each of the four ways
//! in which two decisions can turn out (Agresti & Min 2005), spread over the classes: without them,
//! two methods that agree on a handful of trials would seem to agree for certain. It speaks of the
//! trials of one person under the models as they were trained, not of other people.

use super::{StatsError, check_finite, mean_std};
use crate::tolerance::SIGNIFICANT;

/// How often an interval holds the true value.
pub const CONFIDENCE: f64 = 1.0 - SIGNIFICANT;

/// The `t` with `P(|T| ≤ t) = level` for Student's distribution with so many degrees of freedom.
///
/// The probability is a finite sum (Abramowitz & Stegun 26.7.3 and 26.7.4), inverted by halving.
///
/// ```
/// use stiefel_study::stats::student;
///
/// assert!((student(0.95, 1) - 12.706_204_736).abs() < 1e-8);
/// assert!((student(0.95, 10) - 2.228_138_852).abs() < 1e-8);
/// ```
pub fn student(level: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    // In the angle atan(t/√ν) the whole line is an interval.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).tan() * (freedom as f64).sqrt()
}

/// `P(|T| ≤ √ν tan θ)`.
fn within(theta: f64, freedom: usize) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let odd = freedom % 2 == 1;
    // cos θ + 2/3 cos³ θ + 2·4/(3·5) cos⁵ θ + …, or 1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + …
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut k = usize::from(odd);
    while k + 2 <= freedom {
        sum += term;
        k += 2;
        term *= cos * cos * (k - 1) as f64 / k as f64;
    }
    if odd {
        std::f64::consts::FRAC_2_PI * (theta + sin * sum)
    } else {
        sin * sum
    }
}

/// The interval of a mean over people; nothing for fewer than two.
///
/// ```
/// use stiefel_study::stats::mean_interval;
///
/// let (low, high) = mean_interval(&[0.1, 0.2, 0.3])?.unwrap();
/// assert!((low + 0.048_413_771).abs() < 1e-8 && (high - 0.448_413_771).abs() < 1e-8);
/// assert_eq!(mean_interval(&[0.1])?, None);
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn mean_interval(differences: &[f64]) -> Result<Option<(f64, f64)>, StatsError> {
    if differences.len() < 2 {
        check_finite("difference", differences)?;
        return Ok(None);
    }
    let m = mean_std(differences)?;
    let half = student(CONFIDENCE, m.count - 1) * m.std / (m.count as f64).sqrt();
    Ok(Some((m.mean - half, m.mean + half)))
}

/// Half the width of the interval of a person's difference: `classes[c]` holds `e_i` of the trials
/// of class `c`; nothing for fewer than two trials.
///
/// ```
/// use stiefel_study::stats::trial_interval;
///
/// // Always right against always wrong, and no difference at all: neither is certain after six trials.
/// let sure = trial_interval(&[vec![1.0; 3], vec![1.0; 3]])?.unwrap();
/// let same = trial_interval(&[vec![0.0; 3], vec![0.0; 3]])?.unwrap();
/// assert!(sure > 0.1 && same > 0.1);
/// assert!(trial_interval(&[vec![0.0; 30], vec![0.0; 30]])?.unwrap() < same / 5.0);
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn trial_interval(classes: &[Vec<f64>]) -> Result<Option<f64>, StatsError> {
    let present: Vec<&Vec<f64>> = classes.iter().filter(|e| !e.is_empty()).collect();
    let trials: usize = present.iter().map(|e| e.len()).sum();
    if trials < 2 {
        return Ok(None);
    }
    let count = present.len() as f64;
    let mut variance = 0.0;
    for e in present {
        check_finite("difference", e)?;
        let m = e.len() as f64 + 2.0 / count;
        let squares = e.iter().map(|e| e * e).sum::<f64>() + 1.0 / count;
        let mean = e.iter().sum::<f64>() / m;
        variance += (squares / m - mean * mean) / (m - 1.0);
    }
    let half = student(CONFIDENCE, trials - 1) * variance.sqrt() / count;
    Ok(Some(half))
}
