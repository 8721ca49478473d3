//! Adaptive rejection by amplitude, within each domain.
//!
//! The peak of trial `i` is `p_i = max |x|` over channels and samples. With `m` the median of the
//! peaks of its domain and `MAD` the median of `|p_j − m|`, trial `i` is rejected where `p_i > m +
//! c·MAD`. Labels are not read. At least half the trials of a domain lie at or below its median, so
//! no domain is emptied; one in which no trial is finite is an error. A trial with a value that is
//! not finite has an infinite peak and takes no part in the median.

use std::collections::BTreeMap;

use crate::{EegError, Epochs, Result};

/// The default number `c` of median absolute deviations.
pub const DEFAULT_DEVIATIONS: f64 = 5.0;

/// What rejection did to one domain.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainRejection {
    /// The domain.
    pub domain: String,
    /// Its trials before rejection.
    pub trials: usize,
    /// How many of them were rejected.
    pub rejected: usize,
    /// The peak above which a trial was rejected, in µV.
    pub threshold: f64,
}

/// Which trials survived, and the count for each domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// Places of the surviving trials, ascending.
    pub kept: Vec<usize>,
    /// One entry per domain, by name.
    pub domains: Vec<DomainRejection>,
}

/// Finds the trials whose peak stands out in their domain; see [`Epochs::select`] to drop the
/// others.
///
/// ```
/// # use stiefel_eeg::{Channel, ChannelKind, Epochs, TrialInfo};
/// use stiefel_eeg::signal::{DEFAULT_DEVIATIONS, reject_by_amplitude};
/// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// # let info = TrialInfo { label: "feet".into(), domain: "S1".into(), run: None };
/// let epochs = Epochs::new(vec![cz], 250.0, 1, vec![10., -11., 12., 13., 400.], vec![info; 5])?;
/// let rejection = reject_by_amplitude(&epochs, DEFAULT_DEVIATIONS)?;
/// assert_eq!((rejection.kept, rejection.domains[0].rejected), (vec![0, 1, 2, 3], 1));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn reject_by_amplitude(epochs: &Epochs, c: f64) -> Result<Rejection> {
    let domains: Vec<&str> = epochs.trials().iter().map(|t| t.domain.as_str()).collect();
    reject_peaks(&peaks(epochs), &domains, c)
}

/// The largest magnitude of each trial, infinite where a value is not finite.
pub fn peaks(epochs: &Epochs) -> Vec<f64> {
    (0..epochs.trials().len())
        .map(|i| peak(epochs.trial(i)))
        .collect()
}

/// Rejection from the peak and the domain of each trial.
pub fn reject_peaks(peaks: &[f64], domains: &[&str], c: f64) -> Result<Rejection> {
    if !(c.is_finite() && c >= 0.0) || peaks.len() != domains.len() {
        return Err(EegError::Invalid {
            what: format!(
                "the rejection threshold is {c} median absolute deviations, for {} peaks and {} \
                 domains",
                peaks.len(),
                domains.len()
            ),
            remedy: "give a finite number that is not negative (5 is the default) and one domain \
                     per peak"
                .into(),
        });
    }
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, &domain) in domains.iter().enumerate() {
        members.entry(domain).or_default().push(index);
    }
    let mut rejection = Rejection {
        kept: Vec::new(),
        domains: Vec::new(),
    };
    for (domain, trials) in members {
        let finite = trials.iter().map(|&i| peaks[i]).filter(|p| p.is_finite());
        let threshold = threshold(finite.collect(), c).ok_or_else(|| EegError::Invalid {
            what: format!(
                "all {} trials of domain {domain:?} hold values that are not finite",
                trials.len()
            ),
            remedy: "leave the domain out, or repair its recordings".into(),
        })?;
        let kept: Vec<usize> = trials
            .iter()
            .copied()
            .filter(|&i| peaks[i] <= threshold)
            .collect();
        rejection.domains.push(DomainRejection {
            domain: domain.into(),
            trials: trials.len(),
            rejected: trials.len() - kept.len(),
            threshold,
        });
        rejection.kept.extend(kept);
    }
    rejection.kept.sort_unstable();
    Ok(rejection)
}

/// The largest magnitude, infinite where a value is not a number.
pub(crate) fn peak(x: &[f64]) -> f64 {
    // Eight running maxima, so that no comparison waits for the one before. Zero times a value is
    // zero only where it is finite.
    let (mut largest, mut zero) = ([0.0_f64; 8], [0.0_f64; 8]);
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        for l in 0..8 {
            let size = chunk[l].abs();
            largest[l] = if size > largest[l] { size } else { largest[l] };
            zero[l] += 0.0 * chunk[l];
        }
    }
    if zero.iter().any(|z| z.is_nan()) || rest.iter().any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    largest.iter().chain(rest).fold(0.0, |p, x| x.abs().max(p))
}

fn threshold(peaks: Vec<f64>, c: f64) -> Option<f64> {
    let m = median(peaks.clone())?;
    let mad = median(peaks.into_iter().map(|p| (p - m).abs()).collect())?;
    Some(m + c * mad)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        // Halved before they are added: the sum of two large peaks may overflow.
        _ => Some(0.5 * values[n / 2 - 1] + 0.5 * values[n / 2]),
    }
}
