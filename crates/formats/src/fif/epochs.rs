//! Epochs: one array [trials × channels × samples] and a list of events.

use std::collections::BTreeMap;

use super::info::Info;
use super::tags::{Directory, block, tag};
use crate::{Epochs, Result, TrialInfo};
use crate::{ReadOptions, Source};

/// Bytes of the shape behind the values: three sizes and their number.
const SHAPE: u64 = 16;

/// Reads the trials; an event's code is its class, or the name that the file gives it.
pub(super) fn read(
    mut source: Source<'_>,
    directory: &Directory,
    info: Info,
    kind: i32,
    options: &ReadOptions,
) -> Result<Epochs> {
    let tags = directory.first_block(kind);
    let find = |wanted: i32| tags.iter().find(|e| e.kind == wanted).copied();
    let (Some(first), Some(last), Some(data)) = (
        find(tag::FIRST_SAMPLE),
        find(tag::LAST_SAMPLE),
        find(tag::EPOCH),
    ) else {
        return Err(source.malformed(
            0,
            "the epochs have no first sample, no last one, or no data",
        ));
    };
    let first = first.value(&mut source, "the first sample")?;
    let last = last.value(&mut source, "the last sample")?;
    let samples = last - first + 1.0;
    let number = data.number().ok_or_else(|| {
        let reason = format!("epochs of the type {} cannot be read", data.form);
        source.malformed(data.at, reason)
    })?;
    let channels = info.channels.len();
    let values = data.size.saturating_sub(SHAPE) / number.size() as u64;
    let per_trial = samples * channels as f64;
    let codes = events(&mut source, directory)?;
    if samples < 1.0 || codes.len() as f64 * per_trial != values as f64 {
        return Err(source.malformed(
            data.at,
            format!(
                "{} events, {channels} channels and {samples} samples make {} values, there are \
                 {values}",
                codes.len(),
                codes.len() as f64 * per_trial
            ),
        ));
    }
    let samples = samples as usize;
    let mut out = source.zeros(values as usize, 1)?;
    source.seek_to(data.at, "the epochs")?;
    let size = number.size();
    for row in out.chunks_exact_mut(samples).enumerate() {
        let (i, row) = row;
        let bytes = source.read_vec((samples * size) as u64, "a trial")?;
        let gain = info.cal[i % channels];
        number.strided(true, &bytes, (0, size), (gain, 0.0), row);
    }
    let mut notes = info.notes;
    if !options.partial && directory.block_of(&[block::REF]).is_some() {
        notes.push(
            "these are the epochs of one part of a split file; give the other parts too".into(),
        );
    }
    notes.extend(directory.cut.clone());
    if first != 0.0 {
        notes.push(format!(
            "the trials start {} s from their events; windows count from the first sample",
            first / info.rate
        ));
    }
    let trials = codes.into_iter().map(|(_, label)| TrialInfo {
        label,
        domain: String::new(),
        run: None,
    });
    let epochs = Epochs::new(info.channels, info.rate, samples, out, trials.collect())?;
    Ok(epochs.with_notes(notes))
}

/// The sample and the class of every event.
pub(super) fn events(source: &mut Source<'_>, directory: &Directory) -> Result<Vec<(f64, String)>> {
    let Some(list) = directory.find(block::MNE_EVENTS, tag::MNE_EVENT_LIST) else {
        return Ok(Vec::new());
    };
    let list = list.numbers(source, u64::MAX, "the events")?;
    let mut names = BTreeMap::new();
    if let Some(entry) = directory.find(block::MNE_EVENTS, tag::COMMENT) {
        // name:code;name:code
        for part in entry.text(source, "the names of events")?.split(';') {
            if let Some((name, code)) = part.rsplit_once(':')
                && let Ok(code) = code.trim().parse::<i64>()
            {
                names.insert(code, name.to_string());
            }
        }
    }
    let event = |event: &[f64]| {
        let code = event[2] as i64;
        let label = names.get(&code).cloned();
        (event[0], label.unwrap_or_else(|| code.to_string()))
    };
    Ok(list.chunks_exact(3).map(event).collect())
}
