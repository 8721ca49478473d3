//! FieldTrip's raw structures: `trial` (a cell of [channels × samples] each), `time`, `label`, and,
//! where known, `fsample`, `trialinfo` and the units in `hdr.chanunit` or `elec.chanunit`.
//!
//! One trial is a recording, several of one length are epochs, several of different lengths are
//! recordings. The class of a trial is the first column of `trialinfo`, as in MNE.

use std::path::Path;

use super::arrange::{rate, transpose_trials, wrong};
use super::value::{StructArray, Value};
use super::variables::Variable;
use crate::Content;
use crate::units::{channel, excerpt};
use crate::{Channel, Epochs, Recording, Result, TrialInfo};

const MARKS: [&str; 3] = ["trial", "time", "label"];

/// Whether a variable has all the marks of the layout.
pub(super) fn is_fieldtrip(variable: &Variable) -> bool {
    match &variable.value {
        Value::Struct(a) => {
            let has = |mark: &&str| a.fields.iter().any(|f| f == mark);
            a.count() == 1
                && MARKS.iter().all(has)
                && matches!(a.field(0, "trial"), Some(Value::Cell(_)))
        }
        _ => false,
    }
}

/// Recordings or epochs.
pub(super) fn read(path: &Path, variable: &Variable) -> Result<Content> {
    let Value::Struct(fields) = &variable.value else {
        return Err(wrong(path, variable.offset, "the variable is not a struct"));
    };
    let bad = |reason: String| wrong(path, variable.offset, reason);
    let names = fields.field(0, "label").and_then(Value::strings);
    let names = names.ok_or_else(|| bad("label should be the names of the channels".into()))?;
    let rate = rate(path, variable.offset, sampling_rate(fields))?;
    let mut notes = Vec::new();
    let (channels, gains) = channels(fields, &names, &mut notes);
    let trials = match fields.field(0, "trial") {
        Some(Value::Cell(array)) => &array.cells,
        _ => return Err(bad("trial should be a cell array".into())),
    };
    let mut signals = Vec::with_capacity(trials.len());
    for (i, trial) in trials.iter().enumerate() {
        let (Value::Numeric(array), &[rows, samples]) = (trial, trial.dims().as_slice()) else {
            return Err(bad(format!("trial {} is a {}", i + 1, trial.kind())));
        };
        if rows != names.len() || array.complex {
            return Err(bad(format!(
                "trial {} should be [{} channels × samples], its size is {:?}",
                i + 1,
                names.len(),
                array.dims
            )));
        }
        let mut data = array.data.clone();
        transpose_trials(&mut data, rows, samples);
        for (row, gain) in data.chunks_exact_mut(samples.max(1)).zip(&gains) {
            for value in row {
                *value *= gain;
            }
        }
        signals.push((samples, data));
    }
    let same = signals.windows(2).all(|w| w[0].0 == w[1].0);
    if signals.len() > 1 && same {
        let labels = classes(fields, signals.len(), &mut notes);
        let samples = signals[0].0;
        let data = signals.into_iter().flat_map(|s| s.1).collect();
        let epochs = Epochs::new(channels, rate, samples, data, labels)?;
        return Ok(Content::Epochs(epochs.with_notes(notes)));
    }
    if signals.is_empty() {
        return Err(bad("there are no trials".into()));
    }
    let mut recordings = Vec::with_capacity(signals.len());
    for (_, data) in signals {
        let recording = Recording::new(channels.clone(), rate, data, Vec::new())?;
        recordings.push(recording.with_notes(std::mem::take(&mut notes)));
    }
    Ok(Content::Recordings(recordings))
}

/// `fsample`, or the step of the first time axis.
fn sampling_rate(fields: &StructArray) -> Option<f64> {
    let told = fields.field(0, "fsample").and_then(Value::number);
    told.or_else(|| match fields.field(0, "time")? {
        Value::Cell(array) => match array.cells.first()?.numbers()? {
            [first, .., last] => {
                let steps = array.cells.first()?.numbers()?.len() - 1;
                Some(steps as f64 / (last - first))
            }
            _ => None,
        },
        _ => None,
    })
}

fn channels(
    fields: &StructArray,
    names: &[String],
    notes: &mut Vec<String>,
) -> (Vec<Channel>, Vec<f64>) {
    // Units are told for the channels of a header, which may be more than those of the data.
    let table = ["hdr", "elec"]
        .iter()
        .find_map(|part| match fields.field(0, part)? {
            Value::Struct(part) => {
                let labels = part.field(0, "label")?.strings()?;
                let units = part.field(0, "chanunit")?.strings()?;
                (labels.len() == units.len()).then_some((labels, units))
            }
            _ => None,
        });
    if table.is_none() {
        notes.push("the file does not give units: values were taken to be µV".into());
    }
    let one = |name: &String| {
        let told = table.as_ref().and_then(|(labels, units)| {
            let place = labels.iter().position(|l| l == name)?;
            Some(units[place].as_str())
        });
        channel(name, told.unwrap_or("µV"))
    };
    names.iter().map(one).unzip()
}

fn classes(fields: &StructArray, trials: usize, notes: &mut Vec<String>) -> Vec<TrialInfo> {
    let info = fields.field(0, "trialinfo");
    let codes = info.and_then(Value::numbers).filter(|c| c.len() >= trials);
    if codes.is_none() {
        notes.push("the file has no trialinfo: the class of every trial is `unknown`".into());
    }
    let label = |i: usize| codes.map_or("unknown".into(), |c| excerpt(c[i].to_string()));
    let one = |i: usize| TrialInfo {
        label: label(i),
        domain: String::new(),
        run: None,
    };
    (0..trials).map(one).collect()
}
