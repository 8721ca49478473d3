//! What is what in a MATLAB file of any layout: variables by path.
//!
//! ```text
//! signal=EEG.data,rate=EEG.fs,labels=y,axis=time
//! path:  name.field, name{2}.field, name(2).field; without a number all cells or structs, one recording or trial each
//! ```

use std::str::FromStr;

use crate::{FormatError, Result};

/// What an axis of the signal runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Trials.
    Trials,
    /// Channels.
    Channels,
    /// Samples.
    Time,
}

/// Which variables of a MATLAB file hold what.
///
/// ```
/// use stiefel_formats::{Axis, MatRule};
/// let rule: MatRule =
///     "signal=EEG.data,rate=250,labels=y,axis=trials-channels-time".parse()?;
/// assert_eq!(rule.signal, "EEG.data");
/// assert_eq!(rule.axes, [Axis::Trials, Axis::Channels, Axis::Time]);
/// # Ok::<(), stiefel_formats::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatRule {
    /// The path of the signal.
    pub signal: String,
    /// The path of the sampling rate, or the rate itself.
    pub rate: Option<String>,
    /// The path of the classes: one per trial, per onset, or per sample.
    pub labels: Option<String>,
    /// The path of the samples at which trials start, counted from 1.
    pub onsets: Option<String>,
    /// The path of the names of the channels.
    pub names: Option<String>,
    /// The unit of the values; µV without it.
    pub unit: Option<String>,
    /// The axes of the signal in order. One alone is the first of two.
    pub axes: Vec<Axis>,
}

const EXAMPLE: &str = "signal=EEG.data,rate=fs,labels=y,axis=time";

impl FromStr for MatRule {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self> {
        let mut rule = Self {
            signal: String::new(),
            rate: None,
            labels: None,
            onsets: None,
            names: None,
            unit: None,
            axes: Vec::new(),
        };
        for part in text.split(',').map(str::trim) {
            let bad = || {
                FormatError::setting(
                    format!("\"{part}\" does not say what a variable of a MATLAB file holds"),
                    format!(
                        "give paths as {EXAMPLE}; the keys are signal, rate, labels, onsets, \
                         names, unit, axis (time, channels, or all in order: trials-channels-time)"
                    ),
                )
            };
            let (key, value) = part.split_once('=').ok_or_else(bad)?;
            let value = value.trim();
            if value.is_empty() {
                return Err(bad());
            }
            let slot = match key.trim() {
                "signal" => {
                    rule.signal = value.into();
                    continue;
                }
                "axis" => {
                    rule.axes = axes(value).ok_or_else(bad)?;
                    continue;
                }
                "rate" => &mut rule.rate,
                "labels" => &mut rule.labels,
                "onsets" => &mut rule.onsets,
                "names" => &mut rule.names,
                "unit" => &mut rule.unit,
                _ => return Err(bad()),
            };
            *slot = Some(value.into());
        }
        if rule.signal.is_empty() {
            return Err(FormatError::setting(
                format!("\"{text}\" does not say which variable is the signal"),
                format!("name it, as {EXAMPLE}"),
            ));
        }
        Ok(rule)
    }
}

/// `time`, or several with a minus between; each once.
fn axes(text: &str) -> Option<Vec<Axis>> {
    let one = |word: &str| match word.trim() {
        "trials" => Some(Axis::Trials),
        "channels" => Some(Axis::Channels),
        "time" => Some(Axis::Time),
        _ => None,
    };
    let axes: Vec<Axis> = text.split('-').map(one).collect::<Option<_>>()?;
    let once = axes.iter().enumerate().all(|(i, a)| !axes[..i].contains(a));
    (once && axes.len() <= 3).then_some(axes)
}
