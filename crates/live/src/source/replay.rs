//! A recording played again, as fast as it was recorded or as fast as the machine can.
//!
//! Its events become markers at their samples; those that stand for a class are the cues that a
//! score of the same file counts. Stretches of a file with gaps, and runs of a file with several,
//! are played one after the other with a gap between them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stiefel_data::{Provenance, TrialId};
use stiefel_eeg::recipe::{LabelledRecording, labelled_recordings, sample_at};

use super::{Flow, Source};
use crate::{At, Block, Description, LiveError, Marker, Result};

/// Seconds between two runs of a file.
const BETWEEN: f64 = 10.0;

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
    recordings: Arc<[LabelledRecording]>,
    /// The markers of each recording: sample, label and trial.
    markers: Vec<Vec<(i64, String, Option<TrialId>)>>,
    description: Description,
    speed: Speed,
    /// The recording that is played, the next sample of it, its next event, and its first sample
    /// on the grid.
    at: (usize, usize, usize),
    offset: i64,
    piece: usize,
    began: Option<Instant>,
    played: u64,
    repeats: u64,
}

impl Replay {
    /// Opens a file in any format that is read, for a model that was trained on trials made so.
    pub fn open(path: impl AsRef<Path>, made: &Provenance, speed: Speed) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::new(
            &name.to_string_lossy(),
            labelled_recordings(path, made)?,
            speed,
        )
    }

    /// Plays recordings in memory, which must have the same channels and rate.
    pub fn new(name: &str, recordings: Vec<LabelledRecording>, speed: Speed) -> Result<Self> {
        let same = |r: &LabelledRecording, s: &LabelledRecording| {
            let (r, s) = (&r.recording, &s.recording);
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
        let first = &first.recording;
        let rate = first.sampling_rate();
        Ok(Self {
            markers: recordings.iter().map(markers).collect(),
            description: Description {
                name: name.to_owned(),
                rate: Some(rate),
                channels: first.channels().to_vec(),
            },
            recordings: recordings.into(),
            speed,
            at: (0, 0, 0),
            offset: 0,
            piece: ((PIECE * rate).ceil() as usize).max(1),
            began: None,
            played: 0,
            repeats: 1,
        })
    }

    /// Returns the recordings, one after the other as they are played.
    pub fn recordings(&self) -> Arc<[LabelledRecording]> {
        Arc::clone(&self.recordings)
    }

    /// Lists the events, where none of them stands for a class.
    pub fn without_cue(&self) -> Option<String> {
        let each: Option<Vec<String>> = (self.recordings.iter())
            .map(LabelledRecording::without_cue)
            .collect();
        each.map(|each| each.join("; "))
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

/// The markers of a recording, in the order of its events.
fn markers(played: &LabelledRecording) -> Vec<(i64, String, Option<TrialId>)> {
    let rate = played.recording.sampling_rate();
    let mut cues = played.cues().peekable();
    let events = played.recording.events().iter().map(|e| {
        let sample = sample_at(e.onset, rate) as i64;
        let cue = cues.next_if(|cue| cue.label == e.label && cue.sample as i64 == sample);
        (sample, e.label.clone(), cue.map(|cue| cue.trial))
    });
    events.collect()
}

/// Samples from the start of a recording to the start of the one that is played after it.
pub(crate) fn stride(played: &LabelledRecording) -> i64 {
    let gap = (BETWEEN * played.recording.sampling_rate()).round();
    played.recording.samples() as i64 + gap as i64
}

impl Source for Replay {
    fn description(&self) -> &Description {
        &self.description
    }

    fn next(&mut self, block: &mut Block) -> Result<Flow> {
        let (mut run, mut from, mut event) = self.at;
        let Some(played) = self.recordings.get(run) else {
            return Ok(Flow::End);
        };
        let recording = &played.recording;
        let (rate, n) = (recording.sampling_rate(), recording.channels().len());
        let to = (from + self.piece).min(recording.samples());
        for t in from..to {
            block
                .samples
                .extend((0..n).map(|c| recording.channel(c)[t]));
            block.times.push((self.offset + t as i64) as f64 / rate);
        }
        let due = self.markers[run].iter().skip(event);
        for (sample, label, trial) in due.take_while(|(sample, ..)| *sample < to as i64) {
            block.markers.push(Marker {
                at: At::Sample(self.offset + sample),
                label: label.clone(),
                trial: trial.clone(),
            });
            event += 1;
        }
        self.played += (to - from) as u64;
        from = to;
        if to == recording.samples() {
            self.offset += stride(played);
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
