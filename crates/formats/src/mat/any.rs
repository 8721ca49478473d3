//! A MATLAB file of any layout, read by a [`MatRule`].
//!
//! ```text
//! one array, two axes             ─▶ a recording; labels per sample, or per onset, are its events
//! one array, three axes           ─▶ epochs; one label per trial
//! several arrays, a label each    ─▶ epochs          several arrays otherwise ─▶ recordings
//! ```

use std::path::Path;

use super::arrange::{channels, numbered, permuted, rate};
use super::path::resolve;
use super::value::{NumericArray, Value};
use super::variables::Variable;
use crate::events::{Marker, place};
use crate::mat_rule::{Axis, MatRule};
use crate::{Content, ReadOptions};
use crate::{Epochs, FormatError, Recording, Result, TrialInfo};

struct Parts<'v> {
    path: &'v Path,
    variables: &'v [Variable],
    rule: &'v MatRule,
}

/// Reads what the rule names.
pub(super) fn read(
    path: &Path,
    variables: &[Variable],
    rule: &MatRule,
    options: &ReadOptions,
) -> Result<Content> {
    let parts = Parts {
        path,
        variables,
        rule,
    };
    parts.read(options).map_err(|error| match error {
        FormatError::Setting { what, remedy } => {
            FormatError::setting(format!("{}: {what}", path.display()), remedy)
        }
        FormatError::Invalid { what, remedy } => {
            FormatError::invalid(format!("{}: {what}", path.display()), remedy)
        }
        other => other,
    })
}

impl Parts<'_> {
    fn read(&self, options: &ReadOptions) -> Result<Content> {
        let values = resolve(self.variables, &self.rule.signal)?;
        let mut arrays = Vec::with_capacity(values.len());
        for value in values {
            match value {
                Value::Numeric(array) if !array.complex && !array.data.is_empty() => {
                    arrays.push(array);
                }
                other => {
                    return Err(FormatError::setting(
                        format!("the signal {} is a {}", self.rule.signal, other.kind()),
                        "name an array of real numbers",
                    ));
                }
            }
        }
        let rate = self.rate(options)?;
        let labels = match &self.rule.labels {
            Some(path) => Some(texts(&resolve(self.variables, path)?)),
            None => None,
        };
        let names = self.names()?;
        let each = arrays
            .iter()
            .map(|a| self.arranged(a, names.as_deref(), labels.as_deref()));
        let each: Vec<Arranged> = each.collect::<Result<_>>()?;
        let single = matches!(each.as_slice(), [one] if one.trials.is_none());
        let same = each.windows(2).all(|w| w[0].shape() == w[1].shape());
        let labelled = labels.as_ref().is_some_and(|l| l.len() == each.len());
        if let [one] = each.as_slice()
            && one.trials.is_some()
        {
            return self.epochs(each, rate, names.as_deref(), labels);
        }
        if !single && same && labelled && self.rule.onsets.is_none() {
            return self.epochs(each, rate, names.as_deref(), labels);
        }
        self.recordings(each, rate, names.as_deref(), labels.as_deref())
    }

    /// A number in the file, a number in the rule, or the option.
    fn rate(&self, options: &ReadOptions) -> Result<f64> {
        let value = match &self.rule.rate {
            Some(text) => match text.parse::<f64>() {
                Ok(number) => Some(number),
                Err(_) => resolve(self.variables, text)?
                    .first()
                    .and_then(|v| v.number()),
            },
            None => options.sampling_rate,
        };
        if value.is_none() && self.rule.rate.is_none() {
            return Err(FormatError::setting(
                "the sampling rate is not known",
                "name its variable or give the rate itself, for example rate=fs or rate=250",
            ));
        }
        rate(self.path, 0, value)
    }

    fn names(&self) -> Result<Option<Vec<String>>> {
        let Some(path) = &self.rule.names else {
            return Ok(None);
        };
        Ok(Some(texts(&resolve(self.variables, path)?)))
    }

    /// An array as trials × channels × samples.
    fn arranged(
        &self,
        array: &NumericArray,
        names: Option<&[String]>,
        labels: Option<&[String]>,
    ) -> Result<Arranged> {
        let mut dims = array.dims.clone();
        while dims.len() > 2 && dims.last() == Some(&1) {
            dims.pop();
        }
        let axes = self.axes(&dims, names, labels)?;
        let at = |axis: Axis| axes.iter().position(|a| *a == axis);
        let missing = axes.len();
        let (channel, time) = (
            at(Axis::Channels).unwrap_or(missing),
            at(Axis::Time).unwrap_or(missing),
        );
        let trial = at(Axis::Trials);
        let mut sizes = [1; 3];
        sizes[..dims.len()].copy_from_slice(&dims);
        let order = [trial.unwrap_or(3 - channel - time), channel, time];
        Ok(Arranged {
            trials: trial.map(|t| sizes[t]),
            channels: sizes[channel],
            samples: sizes[time],
            data: permuted(&array.data, sizes, order),
        })
    }

    /// The axes: as they are told, or as the numbers of names and labels tell them.
    fn axes(
        &self,
        dims: &[usize],
        names: Option<&[String]>,
        labels: Option<&[String]>,
    ) -> Result<Vec<Axis>> {
        use Axis::{Channels, Time, Trials};
        let unsure = || {
            FormatError::setting(
                format!(
                    "it is not clear which axis of {} [{}] is which",
                    self.rule.signal,
                    text_of(dims)
                ),
                match dims.len() {
                    2 => "say what its rows are: axis=time or axis=channels",
                    3 => "say what each axis is, for example axis=trials-channels-time",
                    _ => "name an array of two or three axes",
                },
            )
        };
        let told = self.rule.axes.as_slice();
        if dims.len() == 2 {
            return match told {
                [Time] | [Time, Channels] => Ok(vec![Time, Channels]),
                [Channels] | [Channels, Time] => Ok(vec![Channels, Time]),
                [] => match names.map(<[String]>::len) {
                    Some(n) if n == dims[0] && n != dims[1] => Ok(vec![Channels, Time]),
                    Some(n) if n == dims[1] && n != dims[0] => Ok(vec![Time, Channels]),
                    _ => Err(unsure()),
                },
                _ => Err(unsure()),
            };
        }
        if dims.len() != 3 {
            return Err(unsure());
        }
        if told.len() == 3 {
            return Ok(told.to_vec());
        }
        let only = |n: usize| {
            let places: Vec<usize> = (0..3).filter(|&d| dims[d] == n).collect();
            if let [one] = places.as_slice() {
                Some(*one)
            } else {
                None
            }
        };
        let trial = labels.and_then(|l| only(l.len()));
        let channel = names.and_then(|n| only(n.len()));
        match (trial, channel, told) {
            (Some(t), Some(c), []) if t != c => {
                let mut axes = vec![Time; 3];
                (axes[t], axes[c]) = (Trials, Channels);
                Ok(axes)
            }
            _ => Err(unsure()),
        }
    }

    fn epochs(
        &self,
        each: Vec<Arranged>,
        rate: f64,
        names: Option<&[String]>,
        labels: Option<Vec<String>>,
    ) -> Result<Content> {
        let (count, samples) = (each[0].channels, each[0].samples);
        let trials: usize = each.iter().map(|a| a.trials.unwrap_or(1)).sum();
        let labels = labels.unwrap_or_else(|| vec!["unknown".into(); trials]);
        if labels.len() != trials {
            return Err(FormatError::setting(
                format!("{trials} trials have {} labels", labels.len()),
                "name the variable that has one for every trial",
            ));
        }
        let (channels, gains) = self.channels(count, names)?;
        let mut data: Vec<f64> = Vec::new();
        for mut one in each {
            scale(&mut one, &gains);
            if data.is_empty() {
                data = one.data;
            } else {
                data.append(&mut one.data);
            }
        }
        let info = |label: String| TrialInfo {
            label,
            domain: String::new(),
            run: None,
        };
        let trials = labels.into_iter().map(info).collect();
        Ok(Content::Epochs(Epochs::new(
            channels, rate, samples, data, trials,
        )?))
    }

    fn recordings(
        &self,
        each: Vec<Arranged>,
        rate: f64,
        names: Option<&[String]>,
        labels: Option<&[String]>,
    ) -> Result<Content> {
        if each.iter().any(|a| a.trials.is_some()) {
            return Err(FormatError::setting(
                format!("{} holds several arrays of trials", self.rule.signal),
                "name one of them, for example signal=data{1}",
            ));
        }
        let several = each.len() > 1;
        if several && (labels.is_some() || self.rule.onsets.is_some()) {
            return Err(FormatError::setting(
                format!(
                    "{} arrays of different sizes have {} labels in all",
                    each.len(),
                    labels.map_or(0, <[String]>::len)
                ),
                "name one of them, for example signal=data{1}.X,labels=data{1}.y",
            ));
        }
        let mut recordings = Vec::with_capacity(each.len());
        for mut one in each {
            let (channels, gains) = self.channels(one.channels, names)?;
            scale(&mut one, &gains);
            let mut notes = Vec::new();
            let markers = self.markers(labels, one.samples, rate)?;
            let events = place(markers, rate, one.samples, &mut notes);
            let recording = Recording::new(channels, rate, one.data, events)?;
            recordings.push(recording.with_notes(notes));
        }
        Ok(Content::Recordings(recordings))
    }

    /// Labels at onsets, or where a label per sample changes.
    fn markers(&self, labels: Option<&[String]>, samples: usize, rate: f64) -> Result<Vec<Marker>> {
        let onsets: Option<Vec<f64>> = match &self.rule.onsets {
            Some(path) => {
                let values = resolve(self.variables, path)?;
                Some(
                    values
                        .iter()
                        .flat_map(|v| v.numbers().unwrap_or_default().to_vec())
                        .collect(),
                )
            }
            None => None,
        };
        let marker = |sample: f64, label: &str| Marker {
            onset: sample / rate,
            duration: 0.0,
            label: label.to_string(),
        };
        match (onsets, labels) {
            (None, None) => Ok(Vec::new()),
            (Some(onsets), labels) => {
                let default = vec!["onset".to_string(); onsets.len()];
                let labels = labels.unwrap_or(&default);
                if labels.len() != onsets.len() {
                    return Err(FormatError::setting(
                        format!("{} onsets have {} labels", onsets.len(), labels.len()),
                        "name variables of one length",
                    ));
                }
                let pairs = onsets.iter().zip(labels);
                Ok(pairs.map(|(&o, l)| marker(o - 1.0, l)).collect())
            }
            (None, Some(line)) if line.len() == samples => {
                let changes = (1..samples).filter(|&i| line[i] != line[i - 1] && line[i] != "0");
                Ok(changes.map(|i| marker(i as f64, &line[i])).collect())
            }
            (None, Some(labels)) => Err(FormatError::setting(
                format!(
                    "{} labels for {samples} samples do not say where trials start",
                    labels.len()
                ),
                "name the samples at which they start, for example onsets=trial",
            )),
        }
    }

    fn channels(
        &self,
        count: usize,
        names: Option<&[String]>,
    ) -> Result<(Vec<crate::Channel>, Vec<f64>)> {
        let unit = self.rule.unit.as_deref().unwrap_or("µV");
        match names {
            None => Ok(channels(&numbered(count), unit)),
            Some(names) if names.len() == count => Ok(channels(names, unit)),
            Some(names) => Err(FormatError::setting(
                format!("{count} channels have {} names", names.len()),
                "name the variable that has one for every channel, or another axis",
            )),
        }
    }
}

/// A signal in the order of memory.
struct Arranged {
    trials: Option<usize>,
    channels: usize,
    samples: usize,
    data: Vec<f64>,
}

impl Arranged {
    fn shape(&self) -> (Option<usize>, usize, usize) {
        (self.trials, self.channels, self.samples)
    }
}

fn scale(one: &mut Arranged, gains: &[f64]) {
    let rows = one.data.chunks_exact_mut(one.samples.max(1));
    for (row, gain) in rows.zip(gains.iter().cycle()) {
        if *gain != 1.0 {
            for value in row {
                *value *= gain;
            }
        }
    }
}

/// Strings, or numbers as strings.
fn texts(values: &[&Value]) -> Vec<String> {
    let one = |value: &&Value| {
        value.strings().unwrap_or_else(|| {
            let numbers = value.numbers().unwrap_or_default();
            numbers.iter().map(f64::to_string).collect()
        })
    };
    values.iter().flat_map(one).collect()
}

fn text_of(dims: &[usize]) -> String {
    let each: Vec<String> = dims.iter().map(usize::to_string).collect();
    each.join("×")
}
