//! Motor imagery from a model of the head: the data set that needs no download.
//!
//! ```text
//! x(t) = L · s(t) + drift(t) + noise(t)          channels ← lead field × sources
//! ```
//!
//! `L` is the potential of current dipoles on a head of three spherical shells, seen by electrodes
//! of the 10–10 system against linked ears or their own average. The sources `s` are 40 dipoles
//! with a 1/f spectrum; a mu (8–13 Hz) and a beta (16–26 Hz) rhythm in the left and right hand,
//! foot and tongue areas, which desynchronise during imagery of that part of the body; occipital
//! alpha; blinks; temporal muscles. People differ in where the dipoles lie and point
//! ([`SyntheticConfig::anatomy_spread`]), in peak frequencies, strengths and noise
//! ([`SyntheticConfig::strength_spread`]); sessions in how the cap sits and in strengths. Not every
//! trial holds imagery ([`SyntheticConfig::engagement`]).
//!
//! **What the knobs mean for studies of adaptation.** Nothing in the generator knows of routing or
//! experts. How much the subspace that tells classes apart differs between people is
//! `anatomy_spread` alone: at 0 every recording has the same lead field, and what is gained by a
//! subject's own spatial filter is the answer to differences in noise and strength, which
//! `strength_spread = 0` removes as well.
//!
//! Recordings are made one at a time, each from its own random streams: any of them can be made
//! alone, in any order or in parallel, and subject `s` is the same in a study of ten as in a study
//! of a hundred.
//!
//! ```
//! use stiefel_eeg::montage::Montage;
//! use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
//! let classes = [Imagery::RightHand, Imagery::Feet];
//! let config = SyntheticConfig::of(Montage::Bnci2015001, 128.0, vec![1, 2], 2, 4, &classes);
//! let study = Synthetic::new(config)?;
//! let first = study.recordings().next().expect("two subjects")?;
//! assert_eq!((first.subject, first.session, first.run), (0, 0, 0));
//! assert_eq!(
//!     (
//!         first.recording.channels().len(),
//!         first.recording.events().len()
//!     ),
//!     (13, 4)
//! );
//! assert_eq!(study.recordings().count(), 6);
//! # Ok::<(), stiefel_eeg::EegError>(())
//! ```

mod artefacts;
mod config;
mod geometry;
mod head;
mod random;
mod render;
mod schedule;
mod sources;
mod subject;

pub use config::{Imagery, SyntheticConfig, SyntheticReference};

use crate::{Recording, Result};
use config::refuse;

/// A recording and whose it is; all counted from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticRecording {
    /// The subject.
    pub subject: usize,
    /// The session of that subject.
    pub session: usize,
    /// The run of that session.
    pub run: usize,
    /// The samples, with one event per trial at its cue.
    pub recording: Recording,
}

/// A study whose recordings are generated when asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    config: SyntheticConfig,
}

impl Synthetic {
    /// Checks the configuration.
    pub fn new(config: SyntheticConfig) -> Result<Self> {
        config.check()?;
        Ok(Self { config })
    }

    /// The configuration.
    pub fn config(&self) -> &SyntheticConfig {
        &self.config
    }

    /// One recording. Subjects, sessions and runs count from 0.
    pub fn recording(&self, subject: usize, session: usize, run: usize) -> Result<Recording> {
        let sessions = self.config.sessions.get(subject).copied().unwrap_or(0);
        refuse(
            session >= sessions || run >= self.config.runs,
            || {
                format!(
                    "there is no subject {subject}, session {session}, run {run}: {} subjects, \
                     {sessions} sessions of this one, {} runs",
                    self.config.sessions.len(),
                    self.config.runs
                )
            },
            "count subjects, sessions and runs from 0",
        )?;
        render::render(&self.config, subject, session, run)
    }

    /// All recordings, generated one at a time: subject by subject, session by session, run by run.
    pub fn recordings(&self) -> impl Iterator<Item = Result<SyntheticRecording>> + 'static {
        let (study, runs) = (self.clone(), self.config.runs);
        let sessions = self.config.sessions.clone().into_iter().enumerate();
        let places = sessions.flat_map(move |(subject, count)| {
            (0..count * runs).map(move |i| (subject, i / runs, i % runs))
        });
        places.map(move |(subject, session, run)| {
            let recording = study.recording(subject, session, run)?;
            Ok(SyntheticRecording {
                subject,
                session,
                run,
                recording,
            })
        })
    }
}
