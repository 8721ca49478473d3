//! What a stream says of itself, and how it fits a model.
//!
//! Channels are picked by name (in the usual spelling, whatever their case) and put in the order of the model; voltages are turned into the
//! model's unit. A rate, a channel or a unit that does not fit is refused with both sides named, before a sample is decided.

use stiefel_data::Steps;
use stiefel_eeg::montage::canonical;
use stiefel_eeg::{Channel, ChannelKind};

use crate::{LiveError, Result};

/// What a source says of its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Its name, for messages.
    pub name: String,
    /// Samples per second, where it says.
    pub rate: Option<f64>,
    /// The channels, in the order of the values of a sample. An empty unit is one that was not said.
    pub channels: Vec<Channel>,
}

/// What somebody says of a stream that does not describe itself; what is not said is as the model has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// Names of the channels, in the order of the values of a sample.
    pub channels: Option<Vec<String>>,
    /// Samples per second.
    pub rate: Option<f64>,
    /// The unit of all channels.
    pub unit: Option<String>,
}

impl Told {
    /// The stream as it would describe itself.
    pub(crate) fn description(&self, steps: &Steps) -> Description {
        let unit = self.unit.as_ref().unwrap_or(&steps.unit);
        let channel = |name: &String| Channel {
            name: name.clone(),
            kind: ChannelKind::Eeg,
            unit: unit.clone(),
        };
        let names = self.channels.as_ref().unwrap_or(&steps.channels);
        Description {
            name: "the stream".into(),
            rate: Some(self.rate.unwrap_or(steps.rate)),
            channels: names.iter().map(channel).collect(),
        }
    }
}

/// How the values of a sample become those that the model takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// For every channel of the model, its place in the stream and the factor to the model's unit.
    pub picks: Vec<(usize, f64)>,
    /// Values in a sample of the stream.
    pub width: usize,
    /// What had to be assumed, one sentence each.
    pub notes: Vec<String>,
}

impl Fit {
    /// How a stream fits trials that were made in these steps.
    ///
    /// ```
    /// use stiefel_data::{Estimator, Phase, Steps, View};
    /// use stiefel_eeg::{Channel, ChannelKind};
    /// use stiefel_live::{Description, Fit};
    ///
    /// let steps = Steps {
    ///     views: vec![View { band: [8.0, 32.0], window: [0.5, 3.5] }],
    ///     order: 4, phase: Phase::Zero, recorded_rate: 160.0, rate: 160.0, reference: "as recorded".into(),
    ///     channels: vec!["C3".into(), "C4".into()], estimator: Estimator::Sample, rejection: None, unit: "µV".into(),
    ///     classes: vec![], trialwise: false,
    /// };
    /// let channel = |name: &str| Channel { name: name.into(), kind: ChannelKind::Eeg, unit: "V".into() };
    /// let mut stream = Description { name: "amplifier".into(), rate: Some(160.0), channels: vec![channel("C4"), channel("c3.")] };
    /// assert_eq!(Fit::new(&stream, &steps)?.picks, [(1, 1e6), (0, 1e6)]);
    /// stream.rate = Some(250.0);
    /// assert!(Fit::new(&stream, &steps).unwrap_err().to_string().contains("250 Hz"));
    /// # Ok::<(), stiefel_live::LiveError>(())
    /// ```
    pub fn new(stream: &Description, steps: &Steps) -> Result<Self> {
        let mut notes = Vec::new();
        check_rate(stream, steps, &mut notes)?;
        let mut picks = Vec::with_capacity(steps.channels.len());
        for name in &steps.channels {
            let at = place(stream, name)?;
            let unit = &stream.channels[at].unit;
            let kind = stream.channels[at].kind;
            if !matches!(kind, ChannelKind::Eeg | ChannelKind::Misc) {
                notes.push(format!(
                    "{} says that channel {name} is not EEG ({kind:?}); it is taken as it is",
                    stream.name
                ));
            }
            let factor = factor(unit, &steps.unit).ok_or_else(|| {
                LiveError::mismatch(
                    format!(
                        "{}: channel {name} is in \"{unit}\", but the model was trained on \"{}\"",
                        stream.name, steps.unit
                    ),
                    "stream voltages",
                )
            })?;
            picks.push((at, factor));
        }
        if stream.channels.iter().all(|c| c.unit.is_empty()) && !steps.unit.is_empty() {
            notes.push(format!(
                "{} does not say its unit; its samples are taken to be in {}",
                stream.name, steps.unit
            ));
        }
        Ok(Self {
            picks,
            width: stream.channels.len(),
            notes,
        })
    }
}

fn check_rate(stream: &Description, steps: &Steps, notes: &mut Vec<String>) -> Result<()> {
    if steps.rate != steps.recorded_rate {
        notes.push(format!(
            "the training signals were resampled from {} to {} Hz; the stream must come with {} Hz",
            steps.recorded_rate, steps.rate, steps.rate
        ));
    }
    match stream.rate {
        None => {
            notes.push(format!(
                "{} does not say its rate; it is taken to be {} Hz",
                stream.name, steps.rate
            ));
            Ok(())
        }
        Some(rate) if rate == steps.rate => Ok(()),
        Some(rate) => Err(LiveError::mismatch(
            format!(
                "{} has {rate} Hz, but the model was trained on {} Hz",
                stream.name, steps.rate
            ),
            format!(
                "set the amplifier to {} Hz, or train a model on {rate} Hz",
                steps.rate
            ),
        )),
    }
}

fn place(stream: &Description, name: &str) -> Result<usize> {
    let key = |name: &str| canonical(name).to_lowercase();
    let wanted = key(name);
    let exact = stream.channels.iter().position(|c| c.name == name);
    let mut alike = (0..stream.channels.len()).filter(|&i| key(&stream.channels[i].name) == wanted);
    match (exact, alike.next(), alike.next()) {
        (Some(at), ..) | (None, Some(at), None) => Ok(at),
        (None, Some(_), Some(_)) => Err(LiveError::mismatch(
            format!("{}: several channels are called {name}", stream.name),
            "give the channels different names",
        )),
        (None, None, _) => {
            let names: Vec<&str> = stream.channels.iter().map(|c| c.name.as_str()).collect();
            Err(LiveError::mismatch(
                format!(
                    "the model needs channel {name}; {} has {}",
                    stream.name,
                    names.join(", ")
                ),
                "stream the channels the model was trained on",
            ))
        }
    }
}

/// From one unit to another; a unit that was not said is the right one.
fn factor(from: &str, to: &str) -> Option<f64> {
    if from.is_empty() || to.is_empty() || from == to {
        return Some(1.0);
    }
    Some(microvolts_per(from)? / microvolts_per(to)?)
}

/// Microvolts in a unit, as files and streams spell it.
pub(crate) fn microvolts_per(unit: &str) -> Option<f64> {
    match unit.trim().to_lowercase().as_str() {
        "uv" | "µv" | "μv" | "microvolts" | "microvolt" => Some(1.0),
        "mv" | "millivolts" | "millivolt" => Some(1e3),
        "v" | "volts" | "volt" => Some(1e6),
        "nv" | "nanovolts" | "nanovolt" => Some(1e-3),
        _ => None,
    }
}
