//! What is to be generated.

use crate::catalogue::DomainUnit;
use crate::montage::{Montage, position};
use crate::{EegError, Result};

/// The most values in one recording: 8 GB.
const MAX_VALUES: f64 = 1e9;

/// An imagined movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Imagery {
    /// Label `left_hand`.
    LeftHand,
    /// Label `right_hand`.
    RightHand,
    /// Label `feet`.
    Feet,
    /// Label `tongue`.
    Tongue,
}

impl Imagery {
    /// The label of its events.
    pub fn label(self) -> &'static str {
        match self {
            Self::LeftHand => "left_hand",
            Self::RightHand => "right_hand",
            Self::Feet => "feet",
            Self::Tongue => "tongue",
        }
    }
}

/// What the voltages are measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntheticReference {
    /// The mean of both ear lobes; the channels keep full rank.
    LinkedEars,
    /// The mean of all channels; one dimension is lost.
    Average,
}

/// A study to generate: its geometry, its people and how hard it is. Amplitudes are
/// root-mean-square microvolts at the electrode where a source is strongest.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticConfig {
    /// Names of the channels, each an electrode of the 10–10 system.
    pub channels: Vec<String>,
    /// Samples per second.
    pub sampling_rate: f64,
    /// Sessions of each subject; its length is the number of subjects.
    pub sessions: Vec<usize>,
    /// What a domain is: a subject, or a subject on one day.
    pub domain: DomainUnit,
    /// Runs per session.
    pub runs: usize,
    /// The imagined movements.
    pub classes: Vec<Imagery>,
    /// Trials of each class in a session, spread over its runs.
    pub trials_per_class: usize,
    /// Length of the imagery in seconds, from the cue.
    pub imagery: f64,
    /// Mean pause between trials in seconds; varies by ±10 %.
    pub pause: f64,
    /// The reference.
    pub reference: SyntheticReference,
    /// Same seed, same configuration: same bits on the same kind of machine.
    pub seed: u64,
    /// How much people differ in where their sources lie and how these are turned, and how
    /// differently the cap sits from session to session. 1 is plausible for adults (7° of
    /// place, 20° of direction, 1.5° of cap); at 0 all recordings share one geometry, so a
    /// spatial filter made for one subject has nothing to gain over a common one.
    pub anatomy_spread: f64,
    /// How much people differ in the strength of their rhythms, background and noise: the standard
    /// deviation of the natural logarithm, and with it that of peak frequencies (2 Hz at 1).
    pub strength_spread: f64,
    /// Mean depth of desynchronisation: during imagery the amplitude of the area concerned falls
    /// by `1 − exp(−depth)`.
    pub depth: f64,
    /// The chance that the subject really imagines in a trial; otherwise the trial says nothing.
    pub engagement: f64,
    /// Amplitude of the mu rhythm of each area; beta has a third of it.
    pub mu: f64,
    /// Amplitude of the occipital alpha rhythm.
    pub alpha: f64,
    /// Amplitude of each of the 1/f background sources.
    pub background: f64,
    /// Amplitude of the noise of an electrode.
    pub sensor_noise: f64,
    /// Mean number of blinks per minute.
    pub blinks_per_minute: f64,
    /// Mean number of muscle bursts per minute.
    pub bursts_per_minute: f64,
}

impl SyntheticConfig {
    /// The geometry of Weibo 2014: 60 channels, 200 Hz, 10 subjects, 80 trials per class in 8 runs.
    pub fn weibo2014() -> Self {
        Self::of(
            Montage::Weibo2014,
            200.0,
            vec![1; 10],
            8,
            80,
            &[Imagery::RightHand, Imagery::Feet],
        )
    }

    /// The geometry of BNCI 2015-001: 13 channels, 512 Hz, 12 subjects with 28 sessions, 100 trials
    /// per class and session.
    pub fn bnci2015001() -> Self {
        let sessions = vec![2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 2];
        let mut config = Self::of(
            Montage::Bnci2015001,
            512.0,
            sessions,
            4,
            100,
            &[Imagery::RightHand, Imagery::Feet],
        );
        config.imagery = 5.0;
        config.domain = DomainUnit::SubjectSession;
        config
    }

    /// The geometry of BNCI 2014-001: 22 channels, 250 Hz, 9 subjects with 2 sessions, 72 trials
    /// per class and session in 6 runs.
    pub fn bnci2014001() -> Self {
        let classes = [
            Imagery::LeftHand,
            Imagery::RightHand,
            Imagery::Feet,
            Imagery::Tongue,
        ];
        Self::of(Montage::Bnci2014001, 250.0, vec![2; 9], 6, 72, &classes)
    }

    /// Any other geometry, with the default people.
    pub fn of(
        montage: Montage,
        sampling_rate: f64,
        sessions: Vec<usize>,
        runs: usize,
        trials_per_class: usize,
        classes: &[Imagery],
    ) -> Self {
        Self {
            channels: montage.channels().into_iter().map(String::from).collect(),
            sampling_rate,
            sessions,
            domain: DomainUnit::Subject,
            runs,
            classes: classes.to_vec(),
            trials_per_class,
            imagery: 4.0,
            pause: 3.0,
            reference: SyntheticReference::LinkedEars,
            seed: 0,
            anatomy_spread: 1.0,
            strength_spread: 0.3,
            depth: 0.55,
            engagement: 0.8,
            mu: 3.0,
            alpha: 6.0,
            background: 3.0,
            sensor_noise: 0.7,
            blinks_per_minute: 6.0,
            bursts_per_minute: 1.0,
        }
    }

    /// Checks every value once, at the door.
    pub(super) fn check(&self) -> Result<()> {
        let positive = [
            ("sampling_rate", self.sampling_rate),
            ("imagery", self.imagery),
            ("pause", self.pause),
        ];
        let bounded = [
            ("anatomy_spread", self.anatomy_spread, 10.0),
            ("strength_spread", self.strength_spread, 2.0),
            ("depth", self.depth, 5.0),
            ("engagement", self.engagement, 1.0),
            ("mu", self.mu, 1e4),
            ("alpha", self.alpha, 1e4),
            ("background", self.background, 1e4),
            ("sensor_noise", self.sensor_noise, 1e4),
            ("blinks_per_minute", self.blinks_per_minute, 600.0),
            ("bursts_per_minute", self.bursts_per_minute, 600.0),
        ];
        for (name, value) in positive {
            refuse(
                !(value.is_finite() && value > 0.0),
                || format!("{name} is {value}"),
                "give a positive, finite number",
            )?;
        }
        for (name, value, most) in bounded {
            refuse(
                !(0.0..=most).contains(&value),
                || format!("{name} is {value}"),
                &format!("give a number between 0 and {most}"),
            )?;
        }
        refuse(
            self.sampling_rate < 80.0,
            || {
                format!(
                    "sampling_rate is {} Hz, the beta rhythm reaches 30 Hz",
                    self.sampling_rate
                )
            },
            "take at least 80 Hz",
        )?;
        let counts = [
            ("channels", self.channels.len()),
            ("subjects", self.sessions.len()),
            ("runs", self.runs),
            ("classes", self.classes.len()),
            ("trials_per_class", self.trials_per_class),
        ];
        for (name, count) in counts {
            refuse(
                count == 0 || count > 0xFFFF,
                || format!("there are {count} {name}"),
                "take between 1 and 65535",
            )?;
        }
        for (subject, &count) in self.sessions.iter().enumerate() {
            refuse(
                count == 0 || count > 0xFFFF,
                || format!("subject {subject} has {count} sessions"),
                "take between 1 and 65535",
            )?;
        }
        refuse(
            self.trials_per_class < self.runs,
            || {
                format!(
                    "{} trials per class do not fill {} runs",
                    self.trials_per_class, self.runs
                )
            },
            "take at least one trial of each class per run",
        )?;
        let trials = (self.trials_per_class.div_ceil(self.runs) * self.classes.len()) as f64;
        let seconds = trials * (self.imagery + 1.1 * self.pause);
        let values = seconds * self.sampling_rate * self.channels.len() as f64;
        refuse(
            values > MAX_VALUES,
            || format!("a run would hold {values:e} values"),
            "take more runs, fewer channels or a lower sampling rate; 1e9 values are the most",
        )?;
        for (index, name) in self.channels.iter().enumerate() {
            refuse(
                position(name).is_none(),
                || format!("channel {index}, {name:?}, is not an electrode of the 10–10 system"),
                "use names such as C3, Cz, FC4",
            )?;
            refuse(
                self.channels[..index].contains(name),
                || format!("channel {name:?} is named twice"),
                "name every channel once",
            )?;
        }
        for (index, class) in self.classes.iter().enumerate() {
            refuse(
                self.classes[..index].contains(class),
                || format!("class {} is named twice", class.label()),
                "name every class once",
            )?;
        }
        Ok(())
    }
}

pub(super) fn refuse(bad: bool, what: impl FnOnce() -> String, remedy: &str) -> Result<()> {
    if bad {
        return Err(EegError::Invalid {
            what: format!("synthetic data: {}", what()),
            remedy: remedy.into(),
        });
    }
    Ok(())
}
