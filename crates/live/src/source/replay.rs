//! A recording played again, as fast as it was recorded or as fast as the machine can.
//!
//! Its events become markers at their samples. Stretches of a file with gaps, and runs of a file with several, are played one after the other with a gap
//! between them.

use std::path::Path;
use std::time::{Duration, Instant};

use stiefel_eeg::Recording;
use stiefel_eeg::io::read;

use super::{Flow, Source};
use crate::{At, Block, Description, LiveError, Marker, Result};

/// Seconds between two runs of a file.
pub(crate) const BETWEEN: f64 = 10.0;

/// Seconds that are played at a time.
const PIECE: f64 = 0.02;

/// How fast a recording is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// So many times as fast as it was recorded.
    Times(f64),
    /// As fast as it can be decided.
    Max,
}

/// A recording played again.
#[derive(Debug)]
pub struct Replay {
    recordings: Vec<Recording>,
    description: Description,
    speed: Speed,
    /// The recording that is played, the next sample of it, its next event, and its first sample on the grid.
    at: (usize, usize, usize),
    offset: i64,
    piece: usize,
    began: Option<Instant>,
    played: u64,
    repeats: u64,
}

impl Replay {
    /// Of a file in any format that is read.
    pub fn open(path: impl AsRef<Path>, speed: Speed) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or(path.as_os_str());
        let recordings = read(path)?.into_recordings()?;
        Self::new(&name.to_string_lossy(), recordings, speed)
    }

    /// Of recordings in memory, which must have the same channels and rate.
    pub fn new(name: &str, recordings: Vec<Recording>, speed: Speed) -> Result<Self> {
        let same = |r: &Recording, s: &Recording| {
            r.channels() == s.channels() && r.sampling_rate() == s.sampling_rate()
        };
        let Some(first) = recordings
            .first()
            .filter(|f| recordings.iter().all(|r| same(r, f)))
        else {
            return Err(LiveError::failed(
                format!("{name} holds no recording, or recordings of different channels or rates"),
                "play one recording",
            ));
        };
        if let Speed::Times(times) = speed
            && !(times.is_finite() && times > 0.0)
        {
            return Err(LiveError::setting(
                format!("a speed of {times} was asked for"),
                "give a number above 0, or max",
            ));
        }
        let rate = first.sampling_rate();
        Ok(Self {
            description: Description {
                name: name.to_owned(),
                rate: Some(rate),
                channels: first.channels().to_vec(),
            },
            recordings,
            speed,
            at: (0, 0, 0),
            offset: 0,
            piece: ((PIECE * rate).ceil() as usize).max(1),
            began: None,
            played: 0,
            repeats: 1,
        })
    }

    /// Whether an event has a label that a question says yes to.
    pub fn has_event(&self, is: impl Fn(&str) -> bool) -> bool {
        let mut events = self.recordings.iter().flat_map(Recording::events);
        events.any(|e| is(&e.label))
    }

    /// Plays everything so many times, with a gap between.
    pub fn repeated(mut self, times: u64) -> Self {
        self.repeats = times.max(1);
        self
    }

    /// Sleeps until the samples so far would have been recorded.
    fn wait(&mut self, rate: f64) {
        let Speed::Times(times) = self.speed else {
            return;
        };
        let began = *self.began.get_or_insert_with(Instant::now);
        let due = Duration::from_secs_f64(self.played as f64 / (rate * times));
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
}

impl Source for Replay {
    fn description(&self) -> &Description {
        &self.description
    }

    fn next(&mut self, block: &mut Block) -> Result<Flow> {
        let (mut run, mut from, mut event) = self.at;
        let Some(recording) = self.recordings.get(run) else {
            return Ok(Flow::End);
        };
        let (rate, n) = (recording.sampling_rate(), recording.channels().len());
        let to = (from + self.piece).min(recording.samples());
        for t in from..to {
            block
                .samples
                .extend((0..n).map(|c| recording.channel(c)[t]));
            block.times.push((self.offset + t as i64) as f64 / rate);
        }
        while let Some(e) = recording
            .events()
            .get(event)
            .filter(|e| ((e.onset * rate).round_ties_even() as i64) < to as i64)
        {
            block.markers.push(Marker {
                at: At::Sample(self.offset + (e.onset * rate).round_ties_even() as i64),
                label: e.label.clone(),
            });
            event += 1;
        }
        self.played += (to - from) as u64;
        from = to;
        if to == recording.samples() {
            self.offset += to as i64 + (BETWEEN * rate).round() as i64;
            (run, from, event) = (run + 1, 0, 0);
            if run == self.recordings.len() && self.repeats > 1 {
                self.repeats -= 1;
                run = 0;
            }
        }
        self.at = (run, from, event);
        self.wait(rate);
        Ok(Flow::Block)
    }
}
