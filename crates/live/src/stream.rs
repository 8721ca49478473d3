//! What a stream says of itself, and how it fits a model.
//!
//! Channels are picked by name (in the usual spelling, whatever their case) and put in the order of
//! the model; voltages are turned into the model's unit. A rate, a channel or a unit that does not
//! fit is refused with both sides named, before a sample is decided.

use stiefel_data::{Provenance, Reference};
use stiefel_eeg::io::{electrode, microvolts_per};
use stiefel_eeg::{Channel, ChannelKind};

use crate::{LiveError, Result};

/// What a source says of its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Its name, for messages.
    pub name: String,
    /// Samples per second, where it says.
    pub rate: Option<f64>,
    /// The channels, in the order of the values of a sample. An empty unit is one that was not
    /// said.
    pub channels: Vec<Channel>,
}

/// A stream that does not describe itself; what is left open is as the model has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamSpec {
    /// Names of the channels, in the order of the values of a sample.
    pub channels: Option<Vec<String>>,
    /// Samples per second.
    pub rate: Option<f64>,
    /// The unit of all channels.
    pub unit: Option<String>,
}

impl StreamSpec {
    /// The stream as it would describe itself.
    pub(crate) fn description(&self, made: &Provenance) -> Description {
        let unit = self.unit.as_ref().unwrap_or(&made.unit);
        let channel = |name: &String| Channel {
            name: name.clone(),
            kind: ChannelKind::Eeg,
            unit: unit.clone(),
        };
        let names = self.channels.as_deref().unwrap_or(made.channels());
        Description {
            name: "the stream".into(),
            rate: Some(self.rate.unwrap_or(made.rate())),
            channels: names.iter().map(channel).collect(),
        }
    }
}

/// How the values of a sample become those that the model takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// For every channel of the model, its place in the stream and the factor to the model's unit.
    pub picks: Vec<(usize, f64)>,
    /// Places and factors of the electrodes whose mean is the reference; none keeps that of the
    /// stream.
    pub reference: Vec<(usize, f64)>,
    /// Values in a sample of the stream.
    pub width: usize,
    /// What had to be assumed, one sentence each.
    pub notes: Vec<String>,
}

impl Fit {
    /// Fits a stream to trials that were made so.
    ///
    /// ```
    /// use stiefel_data::{Provenance, Recipe};
    /// use stiefel_eeg::{Channel, ChannelKind};
    /// use stiefel_live::{Description, Fit};
    ///
    /// let recipe = Recipe {
    ///     channels: Some(vec!["C3".into(), "C4".into()]),
    ///     ..Recipe::default()
    /// };
    /// let made = Provenance {
    ///     recipe,
    ///     recorded_rate: 160.0,
    ///     unit: "µV".into(),
    ///     ..Provenance::default()
    /// };
    /// let channel = |name: &str| Channel {
    ///     name: name.into(),
    ///     kind: ChannelKind::Eeg,
    ///     unit: "V".into(),
    /// };
    /// let mut stream = Description {
    ///     name: "amplifier".into(),
    ///     rate: Some(160.0),
    ///     channels: vec![channel("C4"), channel("c3.")],
    /// };
    /// assert_eq!(Fit::new(&stream, &made)?.picks, [(1, 1e6), (0, 1e6)]);
    /// stream.rate = Some(250.0);
    /// assert!(
    ///     Fit::new(&stream, &made)
    ///         .unwrap_err()
    ///         .to_string()
    ///         .contains("250 Hz")
    /// );
    /// # Ok::<(), stiefel_live::LiveError>(())
    /// ```
    pub fn new(stream: &Description, made: &Provenance) -> Result<Self> {
        let mut notes = Vec::new();
        check_rate(stream, made, &mut notes)?;
        let mut pick = |at: usize| -> Result<(usize, f64)> {
            let Channel { name, kind, unit } = &stream.channels[at];
            if !matches!(kind, ChannelKind::Eeg | ChannelKind::Misc) {
                notes.push(format!(
                    "{} says that channel {name} is not EEG ({kind:?}); it is taken as it is",
                    stream.name
                ));
            }
            let factor = factor(unit, &made.unit).ok_or_else(|| {
                LiveError::mismatch(
                    format!(
                        "{}: channel {name} is in \"{unit}\", but the model was trained on \"{}\"",
                        stream.name, made.unit
                    ),
                    "stream voltages",
                )
            })?;
            Ok((at, factor))
        };
        // Electrodes are found by name as in a file.
        let find = |names: &[String]| {
            let remedy = "stream the channels the model was trained on";
            electrode::find(&stream.channels, names)
                .map_err(|error| LiveError::mismatch(format!("{}: {error}", stream.name), remedy))
        };
        let own = find(made.channels())?;
        let picks: Vec<(usize, f64)> = own.into_iter().map(&mut pick).collect::<Result<_>>()?;
        let reference = match &made.recipe.reference {
            Reference::AsRecorded => Vec::new(),
            Reference::Average => picks.clone(),
            Reference::Channels(names) => find(names)?
                .into_iter()
                .map(&mut pick)
                .collect::<Result<_>>()?,
        };
        if stream.channels.iter().all(|c| c.unit.is_empty()) && !made.unit.is_empty() {
            notes.push(format!(
                "{} does not say its unit; its samples are taken to be in {}",
                stream.name, made.unit
            ));
        }
        Ok(Self {
            picks,
            reference,
            width: stream.channels.len(),
            notes,
        })
    }
}

fn check_rate(stream: &Description, made: &Provenance, notes: &mut Vec<String>) -> Result<()> {
    if made.rate() != made.recorded_rate {
        notes.push(format!(
            "the training signals were resampled from {} to {} Hz; the stream must come with {} Hz",
            made.recorded_rate,
            made.rate(),
            made.rate()
        ));
    }
    match stream.rate {
        None => {
            notes.push(format!(
                "{} does not say its rate; it is taken to be {} Hz",
                stream.name,
                made.rate()
            ));
            Ok(())
        }
        Some(rate) if rate == made.rate() => Ok(()),
        Some(rate) => Err(LiveError::mismatch(
            format!(
                "{} has {rate} Hz, but the model was trained on {} Hz",
                stream.name,
                made.rate()
            ),
            format!(
                "set the amplifier to {} Hz, or train a model on {rate} Hz",
                made.rate()
            ),
        )),
    }
}

/// From one unit to another; a unit that was not said is the right one.
fn factor(from: &str, to: &str) -> Option<f64> {
    if from.is_empty() || to.is_empty() || from == to {
        return Some(1.0);
    }
    Some(microvolts_per(from)? / microvolts_per(to)?)
}
