//! From sources to a recording, in blocks: `X ← L·S`, then drift and noise of the electrodes.

use stiefel_data::DataError;
use stiefel_linalg::{MatRef, MatViewMut, Op, product_into};

use super::artefacts::Artefacts;
use super::config::{SyntheticConfig, SyntheticReference};
use super::random::{Purpose, Stream};
use super::schedule::{Trial, envelope, modulation, schedule};
use super::sources::{Background, Rhythms, STEP};
use super::subject::{AREAS, BACKGROUND, RHYTHMS, SOURCES, Session, Subject};
use crate::{Channel, ChannelKind, Event, Recording, Result};

/// Samples generated together: their sources stay in the second-level cache.
const BLOCK: usize = 512;
/// Standard deviation (µV) and step (s) of the slow drift of an electrode.
const DRIFT: f64 = 8.0;
const DRIFT_STEP: f64 = 2.0;

pub(super) fn render(
    config: &SyntheticConfig,
    subject: usize,
    session: usize,
    run: usize,
) -> Result<Recording> {
    let fs = config.sampling_rate;
    let n = config.channels.len();
    let (trials, samples) = schedule(config, subject, session, run);
    let person = Subject::new(config, subject);
    let today = Session::new(config, subject, session);
    let stream = |purpose| Stream::new(config.seed, purpose, subject + 1, session + 1, run + 1);
    let field = person.lead_field(config, today.cap);

    // Half the drift of the session lies before its middle, half after.
    let progress = (run as f64 + 0.5) / config.runs as f64 - 0.5;
    let level = (today.drift * progress).exp();
    let mut rhythms = person.rhythms.clone();
    for (rhythm, factor) in rhythms.iter_mut().zip(&today.rhythms) {
        rhythm.amplitude *= factor * level;
    }
    let mut sources = Sources {
        background: Background::new(stream(Purpose::Background), fs),
        background_amplitude: person.background * today.background * level,
        rhythms: Rhythms::new(stream(Purpose::Rhythms), &rhythms, fs),
        artefacts: Artefacts::new(
            stream(Purpose::Artefacts),
            samples as f64 / fs,
            person.blinks_per_minute,
            config.bursts_per_minute,
        ),
        trials: &trials,
        current: 0,
        depth: person.depth,
        imagery: config.imagery,
        fs,
    };
    let mut sensors = Sensors::new(
        stream(Purpose::Sensors),
        n,
        fs,
        person.sensor_noise * today.sensor_noise,
        config.reference,
    );

    let mut data = vec![0.0; n * samples];
    let mut block = vec![0.0; BLOCK * SOURCES];
    let mut mixed = vec![0.0; BLOCK * n];
    for start in (0..samples).step_by(BLOCK) {
        let count = BLOCK.min(samples - start);
        for t in 0..count {
            sources.next(start + t, &mut block[t * SOURCES..(t + 1) * SOURCES]);
        }
        let (block, mixed) = (&block[..count * SOURCES], &mut mixed[..count * n]);
        mix(&field, block, mixed, (n, count)).map_err(DataError::from)?;
        for (t, x) in mixed.chunks_exact_mut(n).enumerate() {
            sensors.add(start + t, x);
        }
        for (channel, row) in data.chunks_exact_mut(samples).enumerate() {
            for (x, frame) in row[start..start + count]
                .iter_mut()
                .zip(mixed.chunks_exact(n))
            {
                *x = frame[channel];
            }
        }
    }
    let events = events(&trials, config);
    Ok(Recording::new(channels(config), fs, data, events)?)
}

/// `Xᵀ ← SᵀLᵀ`: sample after sample, each of `n` channels from [`SOURCES`] sources.
fn mix(
    l: &[f64],
    s: &[f64],
    x: &mut [f64],
    (n, count): (usize, usize),
) -> stiefel_linalg::Result<()> {
    let l = MatRef::new(n, SOURCES, l).view();
    let s = MatRef::new(count, SOURCES, s).view();
    let x = MatViewMut::one(count, n, x);
    product_into(x, false, 1.0, s, Op::N, l, Op::T)
}

fn channels(config: &SyntheticConfig) -> Vec<Channel> {
    let channel = |name: &String| Channel {
        name: name.clone(),
        kind: ChannelKind::Eeg,
        unit: "µV".into(),
    };
    config.channels.iter().map(channel).collect()
}

fn events(trials: &[Trial], config: &SyntheticConfig) -> Vec<Event> {
    let event = |trial: &Trial| Event {
        sample: trial.sample,
        onset: trial.sample as f64 / config.sampling_rate,
        duration: config.imagery,
        label: trial.class.label().into(),
    };
    trials.iter().map(event).collect()
}

/// All sources of a run.
struct Sources<'a> {
    background: Background,
    background_amplitude: f64,
    rhythms: Rhythms,
    artefacts: Artefacts,
    trials: &'a [Trial],
    current: usize,
    depth: f64,
    imagery: f64,
    fs: f64,
}

impl Sources<'_> {
    fn next(&mut self, sample: usize, out: &mut [f64]) {
        let (background, rest) = out.split_at_mut(BACKGROUND);
        let (rhythms, artefacts) = rest.split_at_mut(RHYTHMS);
        self.background.next(background);
        for x in background {
            *x *= self.background_amplitude;
        }
        if sample.is_multiple_of(STEP) {
            let change = self.change(sample + STEP);
            self.rhythms.aim(&change);
        }
        self.rhythms.next(rhythms);
        self.artefacts.next(sample as f64 / self.fs, artefacts);
    }

    /// The change of the logarithm of each rhythm's amplitude; alpha does not take part.
    fn change(&mut self, sample: usize) -> [f64; RHYTHMS] {
        let mut change = [0.0; RHYTHMS];
        while self
            .trials
            .get(self.current + 1)
            .is_some_and(|next| next.sample <= sample)
        {
            self.current += 1;
        }
        let Some(trial) = self.trials.get(self.current).filter(|t| t.sample <= sample) else {
            return change;
        };
        let g = envelope((sample - trial.sample) as f64 / self.fs, self.imagery);
        if g * trial.effort > 0.0 {
            for (area, m) in modulation(trial.class).into_iter().enumerate() {
                change[area] = self.depth * g * trial.effort * m;
                change[AREAS + area] = change[area];
            }
        }
        change
    }
}

/// What the electrodes add.
struct Sensors {
    stream: Stream,
    amplitude: f64,
    reference: SyntheticReference,
    step: usize,
    /// The drift of each electrode at the start of this step, and its change per sample.
    drift: Vec<[f64; 2]>,
}

impl Sensors {
    fn new(
        mut stream: Stream,
        n: usize,
        fs: f64,
        amplitude: f64,
        reference: SyntheticReference,
    ) -> Self {
        let drift = (0..n).map(|_| [DRIFT * stream.normal(), 0.0]).collect();
        Self {
            stream,
            amplitude,
            reference,
            step: (DRIFT_STEP * fs).ceil() as usize,
            drift,
        }
    }

    fn add(&mut self, sample: usize, x: &mut [f64]) {
        let phase = sample % self.step;
        if phase == 0 {
            for [at, slope] in &mut self.drift {
                *at += *slope * self.step as f64;
                // An autoregressive walk with the standard deviation DRIFT.
                let target =
                    0.95 * *at + DRIFT * (1.0_f64 - 0.95 * 0.95).sqrt() * self.stream.normal();
                *slope = (target - *at) / self.step as f64;
            }
        }
        for (x, [at, slope]) in x.iter_mut().zip(&self.drift) {
            *x += at + slope * phase as f64 + self.amplitude * self.stream.normal();
        }
        match self.reference {
            // The ears have noise of their own, and every channel carries their mean.
            SyntheticReference::LinkedEars => {
                let ears = self.amplitude * std::f64::consts::FRAC_1_SQRT_2 * self.stream.normal();
                for x in x {
                    *x -= ears;
                }
            }
            SyntheticReference::Average => {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                for x in x {
                    *x -= mean;
                }
            }
        }
    }
}
