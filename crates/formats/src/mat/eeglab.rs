//! EEGLAB's `.set`: a struct `EEG`, or its fields as variables of their own.
//!
//! ```text
//! data:  [nbchan × pnts × trials] in µV, or the name of a .fdt beside the file: float32, frame by frame (a .dat: channel by channel)
//! event: type, latency (in samples from 1, over all trials), duration (samples), epoch
//! ```
//!
//! One trial is a recording, several are epochs; the class of an epoch is the type of the event at
//! its time zero (`xmin` tells where that is), or of its only event. A `boundary` is where EEGLAB
//! cut something out: it stays an event, and is noted.

use std::path::Path;

use super::arrange::{in_microvolts, numbered, rate, transpose_trials, wrong};
use super::value::{NumericArray, StructArray, Value};
use super::variables::Variable;
use crate::events::{Marker, place};
use crate::frames::Frames;
use crate::numbers::Number;
use crate::units::excerpt;
use crate::{Channel, ChannelKind, Epochs, Recording, Result, TrialInfo};
use crate::{Content, ReadOptions, Source};

const MARKS: [&str; 4] = ["nbchan", "pnts", "srate", "data"];

/// The fields of the data set.
pub(super) struct Eeg {
    fields: Vec<(String, Value)>,
    offset: u64,
}

/// An event of the file.
struct Event {
    label: String,
    latency: f64,
    duration: f64,
    epoch: Option<f64>,
}

/// The data set, where a file has all the marks of one; otherwise its variables back.
pub(super) fn find(mut variables: Vec<Variable>) -> std::result::Result<Eeg, Vec<Variable>> {
    let marked = |fields: &[&str]| MARKS.iter().all(|m| fields.contains(m));
    let is_eeg = |v: &Variable| match &v.value {
        Value::Struct(a) if a.count() == 1 => {
            marked(&a.fields.iter().map(String::as_str).collect::<Vec<_>>())
        }
        _ => false,
    };
    if let Some(at) = variables.iter().position(is_eeg) {
        let variable = variables.swap_remove(at);
        if let Value::Struct(array) = variable.value {
            let mut elements = array.into_elements();
            return Ok(Eeg {
                fields: elements.swap_remove(0),
                offset: variable.offset,
            });
        }
        return Err(variables);
    }
    if !marked(
        &variables
            .iter()
            .map(|v| v.name.as_str())
            .collect::<Vec<_>>(),
    ) {
        return Err(variables);
    }
    let offset = variables.first().map_or(0, |v| v.offset);
    let fields = variables.into_iter().map(|v| (v.name, v.value)).collect();
    Ok(Eeg { fields, offset })
}

impl Eeg {
    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|f| f.0 == name).map(|f| &f.1)
    }

    fn count(&self, path: &Path, name: &str) -> Result<usize> {
        let value = self.get(name).and_then(Value::number);
        let whole = value.filter(|n| *n >= 1.0 && n.fract() == 0.0 && *n < 1e12);
        whole.map(|n| n as usize).ok_or_else(|| {
            let reason = format!("{name} should be a whole number, found {value:?}");
            wrong(path, self.offset, reason)
        })
    }

    /// Reads signal, channels and events.
    pub(super) fn read(mut self, source: &Source<'_>, options: &ReadOptions) -> Result<Content> {
        let path = source.path().to_path_buf();
        let rate = rate(
            &path,
            self.offset,
            self.get("srate").and_then(Value::number),
        )?;
        let channels = self.count(&path, "nbchan")?;
        let samples = self.count(&path, "pnts")?;
        let trials = match self.get("trials").and_then(Value::number) {
            Some(n) if n > 1.0 => self.count(&path, "trials")?,
            _ => 1,
        };
        let mut shape = [channels, samples, trials];
        let mut notes = Vec::new();
        let place = self.fields.iter().position(|f| f.0 == "data");
        let value = place.map(|i| self.fields.swap_remove(i).1);
        let data = match value {
            Some(Value::Numeric(array)) => self.inside(&path, array, shape)?,
            Some(Value::Char(text)) => {
                let name = text.rows.concat();
                beside(source, &name, &mut shape, options, &mut notes)?
            }
            other => {
                let kind = other.map_or("nothing".into(), |v| v.kind());
                let reason = format!("data should be numbers or the name of a file, found {kind}");
                return Err(wrong(&path, self.offset, reason));
            }
        };
        let channels = self.channels(channels);
        let events = self.events();
        let [_, samples, kept] = shape;
        if trials == 1 {
            continuous(channels, rate, samples, data, events, notes)
        } else {
            self.epochs(channels, rate, [samples, kept], data, &events, notes)
        }
    }

    /// The signal in the file itself.
    fn inside(
        &self,
        path: &Path,
        array: NumericArray,
        [channels, samples, trials]: [usize; 3],
    ) -> Result<Vec<f64>> {
        let count = channels
            .checked_mul(samples)
            .and_then(|n| n.checked_mul(trials));
        if count != Some(array.data.len()) || array.complex {
            return Err(wrong(
                path,
                self.offset,
                format!(
                    "data should be [{channels} × {samples} × {trials}] real numbers, its size is \
                     {:?}",
                    array.dims
                ),
            ));
        }
        let mut data = array.data;
        transpose_trials(&mut data, channels, samples);
        Ok(data)
    }

    fn channels(&self, count: usize) -> Vec<Channel> {
        let locations = match self.get("chanlocs") {
            Some(Value::Struct(array)) if array.count() == count => Some(array),
            _ => None,
        };
        let names = numbered(count);
        let one = |(i, default): (usize, String)| {
            let text = |field: &str| locations?.field(i, field)?.label();
            let name = text("labels").filter(|n| !n.trim().is_empty());
            let mut channel = in_microvolts(name.unwrap_or(default).trim().to_string());
            let kind = text("type").unwrap_or_default().to_ascii_uppercase();
            channel.kind = match kind.trim() {
                "EEG" => ChannelKind::Eeg,
                "EOG" | "VEOG" | "HEOG" => ChannelKind::Eog,
                "EMG" => ChannelKind::Emg,
                "ECG" | "EKG" => ChannelKind::Ecg,
                "STIM" | "TRIG" | "TRIGGER" | "STATUS" => ChannelKind::Stim,
                "MISC" | "AUX" | "RESP" | "GSR" => ChannelKind::Misc,
                _ => channel.kind,
            };
            channel
        };
        names.into_iter().enumerate().map(one).collect()
    }

    /// The events that have a place.
    fn events(&self) -> Vec<Event> {
        let Some(Value::Struct(array)) = self.get("event") else {
            return Vec::new();
        };
        (0..array.count()).filter_map(|i| event(array, i)).collect()
    }

    fn epochs(
        &self,
        channels: Vec<Channel>,
        rate: f64,
        [samples, trials]: [usize; 2],
        data: Vec<f64>,
        events: &[Event],
        mut notes: Vec<String>,
    ) -> Result<Content> {
        let zero = -self.get("xmin").and_then(Value::number).unwrap_or(0.0) * rate;
        let mut infos = Vec::with_capacity(trials);
        let mut unsure = 0;
        for trial in 0..trials {
            let start = (trial * samples) as f64;
            let inside = |e: &&Event| match e.epoch {
                Some(epoch) => epoch == (trial + 1) as f64,
                None => (start..start + samples as f64).contains(&(e.latency - 1.0)),
            };
            let mine: Vec<&Event> = events.iter().filter(inside).collect();
            let at_zero = |e: &&&Event| (e.latency - 1.0 - start - zero).abs() < 0.5;
            let label = match (mine.iter().find(at_zero), mine.as_slice()) {
                (Some(event), _) | (None, [event]) => event.label.clone(),
                _ => {
                    unsure += 1;
                    "unknown".into()
                }
            };
            infos.push(TrialInfo {
                label,
                domain: String::new(),
                run: None,
            });
        }
        if unsure > 0 {
            notes.push(format!(
                "{unsure} of {trials} trials have no event at their time zero: their class is \
                 `unknown`"
            ));
        }
        if zero > 0.0 {
            notes.push(format!(
                "the trials start {} s from their events; windows count from the first sample",
                -zero / rate
            ));
        }
        let epochs = Epochs::new(channels, rate, samples, data, infos)?;
        Ok(Content::Epochs(epochs.with_notes(notes)))
    }
}

fn event(array: &StructArray, i: usize) -> Option<Event> {
    let number = |name: &str| array.field(i, name).and_then(Value::number);
    Some(Event {
        label: array.field(i, "type").and_then(Value::label)?,
        latency: number("latency").filter(|l| l.is_finite())?,
        duration: number("duration").filter(|d| d.is_finite()).unwrap_or(0.0),
        epoch: number("epoch"),
    })
}

fn continuous(
    channels: Vec<Channel>,
    rate: f64,
    samples: usize,
    data: Vec<f64>,
    events: Vec<Event>,
    mut notes: Vec<String>,
) -> Result<Content> {
    let cuts = events.iter().filter(|e| e.label == "boundary").count();
    if cuts > 0 {
        notes.push(format!(
            "the signal was cut at {cuts} places (events `boundary`): filters and windows reach \
             across them"
        ));
    }
    let marker = |e: Event| Marker {
        onset: (e.latency - 1.0) / rate,
        duration: e.duration / rate,
        label: e.label,
    };
    let markers = events.into_iter().map(marker).collect();
    let events = place(markers, rate, samples, &mut notes);
    let recording = Recording::new(channels, rate, data, events)?.with_notes(notes);
    Ok(Content::Recordings(vec![recording]))
}

/// The signal in a file beside this one, by the name that is told or by the name of this file. Of a
/// file that was cut short the complete samples or trials are kept on request, and the shape says
/// how many.
fn beside(
    source: &Source<'_>,
    name: &str,
    shape: &mut [usize; 3],
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<f64>> {
    let stem = source
        .path()
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let own = format!("{stem}.fdt");
    let found = source
        .sibling(name)
        .or_else(|error| source.sibling(&own).map_err(|_| error));
    let mut file = found.map_err(|error| {
        let reason = format!(
            "the signal is in \"{}\", which should lie beside this file: {error}",
            excerpt(name)
        );
        source.malformed(0, reason)
    })?;
    let by_channel = name.to_ascii_lowercase().ends_with(".dat") && shape[2] == 1;
    fit(&file, shape, by_channel, options, notes)?;
    let [channels, samples, trials] = *shape;
    let mut out = file.zeros(samples * trials, channels)?;
    if by_channel {
        let frames = Frames::of(Number::F32, false, &[1.0]);
        for row in out.chunks_exact_mut(samples.max(1)) {
            frames.read(&mut file, samples, row, samples, 0)?;
        }
        return Ok(out);
    }
    let frames = Frames::of(Number::F32, false, &vec![1.0; channels]);
    for trial in out.chunks_exact_mut((channels * samples).max(1)) {
        frames.read(&mut file, samples, trial, samples, 0)?;
    }
    Ok(out)
}

/// Compares the size of the file with the shape that was told.
fn fit(
    file: &Source<'_>,
    shape: &mut [usize; 3],
    by_channel: bool,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    let [channels, samples, trials] = shape.map(|n| n as u64);
    let frame = channels.saturating_mul(4);
    let bytes = frame.saturating_mul(samples).saturating_mul(trials);
    if bytes == file.len() {
        return Ok(());
    }
    let what = format!(
        "{channels} channels × {samples} samples × {trials} trials take {bytes} bytes, the file \
         has {}",
        file.len()
    );
    // Where a channel starts is known only when all samples of those before it are there.
    if !options.partial || (by_channel && file.len() < bytes) {
        let keep = if by_channel && file.len() < bytes {
            ""
        } else {
            ", or keep what is there with the option `partial`"
        };
        let reason = format!("the signal does not fit: {what}; fetch it again{keep}");
        return Err(file.malformed(file.len(), reason));
    }
    notes.push(what);
    if file.len() < bytes && trials == 1 {
        shape[1] = (file.len() / frame) as usize;
    } else if file.len() < bytes {
        shape[2] = (file.len() / frame.saturating_mul(samples)) as usize;
    }
    Ok(())
}
