//! Whole files: stretches without gap, with their events.

use super::reader::EdfReader;
use super::tal::TalLog;
use crate::events::{Marker, place};
use crate::{Event, Recording, Result};

/// Two records are adjacent when their distance is off by less than this part of a sample.
const GAP_SAMPLES: f64 = 0.5;

/// A stretch of adjacent records and its start in the file's time.
struct Stretch {
    records: usize,
    start: f64,
}

impl EdfReader<'_> {
    /// Decodes everything: one recording, or one per stretch of a discontinuous file.
    pub(super) fn into_recordings(mut self) -> Result<Vec<Recording>> {
        let stretches = if self.discontinuous() {
            self.stretches()?
        } else {
            vec![Stretch {
                records: self.records() as usize,
                start: f64::NAN,
            }]
        };
        let mut log = TalLog::default();
        let mut signals = Vec::with_capacity(stretches.len());
        for stretch in &stretches {
            let samples = stretch.records * self.samples_per_record();
            let mut data = self.source.zeros(samples, self.channels().len())?;
            self.fill(stretch.records, &mut data, &mut log)?;
            signals.push(data);
        }
        self.assemble(stretches, signals, log)
    }

    fn stretches(&mut self) -> Result<Vec<Stretch>> {
        let duration = self.header().record_duration;
        let tolerance = GAP_SAMPLES / self.sampling_rate();
        let mut stretches: Vec<Stretch> = Vec::new();
        for start in self.record_starts()? {
            match stretches.last_mut() {
                Some(last)
                    if (last.start + last.records as f64 * duration - start).abs() < tolerance =>
                {
                    last.records += 1;
                }
                _ => stretches.push(Stretch { records: 1, start }),
            }
        }
        if stretches.is_empty() {
            stretches.push(Stretch {
                records: 0,
                start: 0.0,
            });
        }
        Ok(stretches)
    }

    fn assemble(
        &self,
        stretches: Vec<Stretch>,
        signals: Vec<Vec<f64>>,
        log: TalLog,
    ) -> Result<Vec<Recording>> {
        let rate = self.sampling_rate();
        let count = stretches.len();
        let mut recordings = Vec::with_capacity(count);
        let markers = deal(&stretches, log.markers, GAP_SAMPLES / rate);
        for (i, ((stretch, data), mut mine)) in
            stretches.into_iter().zip(signals).zip(markers).enumerate()
        {
            let samples = stretch.records * self.samples_per_record();
            let start = if stretch.start.is_nan() {
                log.first_onset.unwrap_or(0.0)
            } else {
                stretch.start
            };
            for marker in &mut mine {
                marker.onset -= start;
            }
            // The notes on the whole file would grow with the number of stretches: the first has
            // them.
            let mut notes = if i == 0 {
                self.notes().to_vec()
            } else {
                Vec::new()
            };
            if count > 1 {
                notes.push(format!(
                    "stretch {} of {count} of a file with gaps, from {start} s",
                    i + 1
                ));
            }
            let events = if self.channels().is_empty() {
                annotations(mine, rate, &mut notes)
            } else {
                place(mine, rate, samples, &mut notes)
            };
            let recording = Recording::new(self.channels().to_vec(), rate, data, events)?;
            let began = self.header().started().map(|s| s + start);
            recordings.push(recording.with_notes(notes).with_start(began));
        }
        Ok(recordings)
    }
}

/// The markers of a file without signal, at the rate that stands for it.
fn annotations(markers: Vec<Marker>, rate: f64, notes: &mut Vec<String>) -> Vec<Event> {
    notes.push(format!(
        "the file holds {} annotations and no signal",
        markers.len()
    ));
    let event = |m: Marker| Event {
        sample: (m.onset * rate).round_ties_even().max(0.0) as usize,
        onset: m.onset,
        duration: m.duration,
        label: m.label,
    };
    let mut events: Vec<Event> = markers.into_iter().map(event).collect();
    events.sort_by(|a, b| a.onset.total_cmp(&b.onset));
    events
}

/// Deals markers to the last stretch that starts before them (within `tolerance` seconds).
fn deal(stretches: &[Stretch], markers: Vec<Marker>, tolerance: f64) -> Vec<Vec<Marker>> {
    let mut dealt: Vec<Vec<Marker>> = stretches.iter().map(|_| Vec::new()).collect();
    for marker in markers {
        let after = stretches.partition_point(|s| s.start - tolerance <= marker.onset);
        if let Some(stretch) = dealt.get_mut(after.saturating_sub(1)) {
            stretch.push(marker);
        }
    }
    dealt
}
