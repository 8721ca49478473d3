//! MATLAB files: version 5 (`save -v6`, `-v7`) and 7.3 (HDF5), in the layouts that are known, or in
//! any layout by a [`MatRule`](crate::MatRule).
//!
//! ```text
//! 128 bytes: text, version 0x0100, "IM" (little-endian) or "MI" (big-endian)
//! element:   type u32, bytes u32, data padded to 8      (or both in one u32 and four bytes of data)
//! matrix:    flags, dimensions, name, values or nested matrices
//! ```
//!
//! A layout is known by all its marks; a file that has not all of them is refused with its
//! variables, their shapes and the rule that would read it.
//!
//! * **EEGLAB** (`.set`): `EEG`, a struct with `data`, `nbchan`, `pnts` and `srate`, or these as
//!   variables; continuous or in epochs, the signal inside or in a `.fdt`.
//! * **FieldTrip**: a struct with `trial`, `time` and `label`, raw or in trials.
//! * **BNCI** (Graz motor imagery): `data`, a cell or struct array of runs with `X` [samples ×
//!   channels] in µV, `trial` (first sample of each trial, counted from 1), `y`, `fs` and
//!   `classes`. Each run becomes a [`Recording`](crate::Recording) with an event per trial,
//!   labelled with the class's text; a run without trials has no events. The files hold no channel
//!   names: they follow from the number of channels and the rate where those tell the data set
//!   (001-2014, 004-2014, 001-2015, 004-2015), with a note, and are `EEG1`, `EEG2`, … otherwise.
//! * **Weibo 2014**: `data` [64 channels × samples × trials] in µV and `label`, and nothing else,
//!   become [`Epochs`](crate::Epochs) at 200 Hz, in the domain named like the file.
//!
//! Source: MathWorks, *MAT-File Format*, version 5; EEGLAB's and FieldTrip's documentation; channel
//! names as MOABB assigns them.

mod any;
mod arrange;
mod bnci;
mod eeglab;
mod element;
mod fieldtrip;
mod matrix;
mod path;
mod v73;
mod value;
mod variables;
mod weibo;

use variables::{Variable, read_variables};

use super::{Content, Format, Head, ReadOptions, Reader, Source, hdf5};
use crate::{FormatError, Result};
use std::path::Path;

/// MATLAB in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mat;

/// MATLAB 5 and 7.3: EEGLAB, FieldTrip, BNCI, Weibo 2014, and any other by a rule.
pub const FORMAT: Format = Format {
    name: "MATLAB and EEGLAB (.mat, .set)",
    extensions: &["mat", "set"],
};

impl Reader for Mat {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        // The text may be anything; version and byte order are at the end of the 128 bytes.
        matches!(
            head.bytes.get(124..128),
            Some(b"\x00\x01IM" | b"\x01\x00MI")
        ) || hdf5::start(head.bytes).is_some()
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let path = source.path().to_path_buf();
        let variables = read_variables(&mut source, options)?;
        if let Some(rule) = &options.mat {
            return any::read(&path, &variables, rule, options);
        }
        let variables = match eeglab::find(variables) {
            Ok(eeg) => return eeg.read(&source, options),
            Err(variables) => variables,
        };
        known(&path, variables)
    }
}

/// One of the layouts of public collections, or a refusal with what the file has.
fn known(path: &Path, mut variables: Vec<Variable>) -> Result<Content> {
    if let Some(variable) = variables.iter().find(|v| fieldtrip::is_fieldtrip(v)) {
        return fieldtrip::read(path, variable);
    }
    if weibo::is_weibo(&variables)
        && let (Some(data), Some(label)) =
            (take(&mut variables, "data"), take(&mut variables, "label"))
    {
        return weibo::epochs(path, data, &label).map(Content::Epochs);
    }
    let is_bnci = |v: &Variable| v.name == "data" && bnci::is_bnci(&v.value);
    if let Some(at) = variables.iter().position(is_bnci) {
        let data = variables.swap_remove(at);
        return bnci::recordings(path, data).map(Content::Recordings);
    }
    Err(FormatError::Unsupported {
        kind: format!(
            "MATLAB file whose layout is not clear ({})",
            path::listed(&variables)
        ),
        remedy: format!(
            "say what its variables mean with the option `mat`, probably \"{}\"",
            suggestion(&variables)
        ),
        path: path.to_path_buf(),
    })
}

/// A rule for the variables at hand: the largest array, and what has a telling name.
fn suggestion(variables: &[Variable]) -> String {
    let named = |names: &[&str]| {
        let is = |v: &&Variable| names.iter().any(|n| v.name.eq_ignore_ascii_case(n));
        variables.iter().find(is).map(|v| v.name.as_str())
    };
    let numbers = |v: &&Variable| v.value.numbers().map_or(0, <[f64]>::len);
    let largest = variables
        .iter()
        .max_by_key(numbers)
        .filter(|v| numbers(v) > 1);
    let signal = largest.map_or("EEG.data", |v| v.name.as_str());
    let rate = named(&[
        "fs",
        "srate",
        "sfreq",
        "fsample",
        "rate",
        "sampling_rate",
        "freq",
    ]);
    let labels = named(&["y", "label", "labels", "class", "classes", "target"]);
    let labels = labels.filter(|l| *l != signal);
    let count = |name: &str| {
        let variable = variables.iter().find(|v| v.name == name)?;
        Some(variable.value.dims().iter().product::<usize>())
    };
    let trials = labels.and_then(count);
    let dims = largest.map_or(Vec::new(), |v| v.value.dims());
    let axis = likely_axes(&dims, trials);
    let labels = labels.map_or(String::new(), |l| format!(",labels={l}"));
    // A rate that nobody told is left to be filled in.
    let rate = rate.unwrap_or("HZ");
    format!("signal={signal},rate={rate}{labels},axis={axis}")
}

/// What the axes are likely to be: one is as long as the labels, and there are fewer channels than
/// samples.
fn likely_axes(dims: &[usize], trials: Option<usize>) -> String {
    match *dims {
        [rows, columns] if rows < columns => "channels".into(),
        [_, _, _] => {
            let trial = dims.iter().position(|d| Some(*d) == trials).unwrap_or(0);
            let mut rest: Vec<usize> = (0..3).filter(|d| *d != trial).collect();
            rest.sort_by_key(|&d| dims[d]);
            let mut names = ["trials"; 3];
            (names[rest[0]], names[rest[1]]) = ("channels", "time");
            names.join("-")
        }
        _ => "time".into(),
    }
}

fn take(variables: &mut Vec<Variable>, name: &str) -> Option<Variable> {
    let index = variables.iter().position(|v| v.name == name)?;
    Some(variables.swap_remove(index))
}

#[cfg(test)]
mod tests;
