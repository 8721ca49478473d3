//! Whether signals are EEG: one look for files, data sets and live streams.
//!
//! ```text
//! window ─▶ range, runs of equal values, share of the mains ┐
//! trials ─▶ mean covariance, rank of each                   ┴─▶ Quality { amplitudes, findings }
//! ```
//!
//! With `R_c = max − min` of electrode `c` within a window, in microvolts where the unit is known:
//! an electrode is **flat** where `R_c ≤ `[`FLAT_SHARE`]` · median_c R_c` or no value changes for
//! [`FLAT_SECONDS`]; **saturated** where the largest or the smallest value stays for
//! [`SATURATED_SECONDS`]; **out of range** where `R_c > `[`OUT_OF_RANGE`]. A live session judges
//! every window by these rules ([`WindowRule`]); for data sets the windows are counted by electrode
//! and person. What a covariance tells (bridged, disconnected, rank, names) is read off the broad
//! view.
//!
//! Names that were permuted leave the amplitudes as they are. They are seen where neighbours on the
//! head are less alike than electrodes far apart; two electrodes that were swapped, and a mirrored
//! montage, are not.
//!
//! [`FLAT_SHARE`]: crate::tolerance::FLAT_SHARE
//! [`FLAT_SECONDS`]: crate::tolerance::FLAT_SECONDS
//! [`SATURATED_SECONDS`]: crate::tolerance::SATURATED_SECONDS
//! [`OUT_OF_RANGE`]: crate::tolerance::OUT_OF_RANGE

mod line;
mod matrices;
mod rule;
mod signals;
mod window;

pub use rule::WindowRule;
pub(crate) use signals::{SignalLook, WindowOrigin};

use stiefel_data::{Finding, FindingKind, Quality, Trials};

use crate::tolerance::BAD_SHARE;
use crate::{EegError, Result};

/// Looks at covariances of which no signal is at hand. Their amplitudes are standard deviations.
pub fn of_trials(trials: &Trials) -> Result<Quality> {
    let mut quality = matrices::amplitudes(trials);
    quality.findings.extend(matrices::findings(trials)?);
    condemn(&mut quality);
    Ok(quality)
}

/// Joins what the signals and the covariances of trials tell.
pub(crate) fn join(signals: &SignalLook, trials: &Trials) -> Result<Quality> {
    let mut quality = signals.finish(&trials.channel_names());
    quality.findings.extend(matrices::findings(trials)?);
    condemn(&mut quality);
    Ok(quality)
}

/// Returns why covariances of signals are impossible, where the signals say it.
pub(crate) fn cause(signals: &SignalLook, electrodes: &[String]) -> Option<EegError> {
    let mut quality = signals.finish(electrodes);
    condemn(&mut quality);
    check(&quality).err()
}

/// Refuses signals that make every result worthless, with person, electrodes and remedy.
pub fn check(quality: &Quality) -> Result<()> {
    let kinds = FindingKind::ALL.into_iter();
    let mut told = kinds.filter(|k| quality.worthless().any(|f| f.kind == *k));
    let Some(kind) = told.next() else {
        return Ok(());
    };
    let mut what = quality.sentence(kind, true).unwrap_or_default();
    for other in told {
        what.push_str("; ");
        what.push_str(&quality.sentence(other, true).unwrap_or_default());
    }
    Err(EegError::setting(what, kind.remedy()))
}

/// Marks the findings of a person whose electrodes have mostly no signal of the brain, and sorts.
fn condemn(quality: &mut Quality) {
    let lost = |f: &Finding| {
        let kinds = [
            FindingKind::Flat,
            FindingKind::OutOfRange,
            FindingKind::Disconnected,
        ];
        kinds.contains(&f.kind) && f.share > 0.5
    };
    let most = BAD_SHARE * quality.electrodes.len() as f64;
    for domain in quality.amplitudes.iter().map(|a| &a.domain) {
        let own = |f: &Finding| f.domain == *domain && lost(f);
        let mut bad: Vec<&String> = (quality.findings.iter().filter(|f| own(f)))
            .flat_map(|f| &f.electrodes)
            .collect();
        bad.sort_unstable();
        bad.dedup();
        if bad.len() as f64 > most {
            let condemned = quality.findings.iter_mut().filter(|f| own(f));
            condemned.for_each(|f| f.worthless = true);
        }
    }
    quality.findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.kind, f.domain.clone());
        key(a).cmp(&key(b))
    });
}

/// Returns microvolts in a unit as recordings hold it, which keep all voltages in microvolts.
fn microvolts(unit: &str) -> Option<f64> {
    (unit == "µV").then_some(1.0)
}

/// Returns the median, sorting; of an even number the upper one.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
