//! The BNCI layout: runs with a continuous signal and trials.

use std::path::Path;

use super::value::{NumericArray, Value};
use super::variables::Variable;
use crate::events::{Marker, place};
use crate::units::{MICROVOLT, guess_kind};
use crate::{Channel, FormatError, Recording, Result};

/// Channel names of a data set, told by its number of channels and rate.
struct Montage {
    data_set: &'static str,
    channels: usize,
    rate: f64,
    names: &'static str,
}

const MONTAGES: [Montage; 4] = [
    Montage {
        data_set: "001-2014",
        channels: 25,
        rate: 250.0,
        names: "Fz FC3 FC1 FCz FC2 FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CP1 CPz CP2 CP4 P1 Pz P2 POz EOG1 \
                EOG2 EOG3",
    },
    Montage {
        data_set: "004-2014",
        channels: 6,
        rate: 250.0,
        names: "C3 Cz C4 EOG1 EOG2 EOG3",
    },
    Montage {
        data_set: "001-2015",
        channels: 13,
        rate: 512.0,
        names: "FC3 FCz FC4 C5 C3 C1 Cz C2 C4 C6 CP3 CPz CP4",
    },
    Montage {
        data_set: "004-2015",
        channels: 30,
        rate: 256.0,
        names: "AFz F7 F3 Fz F4 F8 FC3 FCz FC4 T3 C3 Cz C4 T4 CP3 CPz CP4 P7 P5 P3 P1 Pz P2 P4 P6 \
                P8 PO3 PO4 O1 O2",
    },
];

/// A class is a word or two.
const LONGEST_CLASS: usize = 256;

/// One struct of `data`, with words for errors.
struct Run<'p> {
    path: &'p Path,
    offset: u64,
    number: usize,
    fields: Vec<(String, Value)>,
}

/// Whether `data` has all the marks of the layout: structs, each with a signal, its rate, trials
/// and their classes.
pub(super) fn is_bnci(data: &Value) -> bool {
    let marked = |value: &Value| match value {
        Value::Struct(array) => ["X", "trial", "y"]
            .iter()
            .all(|mark| array.fields.iter().any(|f| f == mark)),
        _ => false,
    };
    match data {
        Value::Cell(array) => !array.cells.is_empty() && array.cells.iter().all(marked),
        other => marked(other),
    }
}

/// Takes the runs of `data` apart.
pub(super) fn recordings(path: &Path, data: Variable) -> Result<Vec<Recording>> {
    let offset = data.offset;
    let mut runs = Vec::new();
    let cells = match data.value {
        Value::Cell(array) => array.cells,
        other => vec![other],
    };
    for cell in cells {
        match cell {
            Value::Struct(array) => runs.extend(array.into_elements()),
            other => {
                return Err(FormatError::Malformed {
                    path: path.to_path_buf(),
                    offset,
                    reason: format!(
                        "run {} of `data` should be a struct, found a {}",
                        runs.len() + 1,
                        other.kind()
                    ),
                });
            }
        }
    }
    if runs.is_empty() {
        return Err(FormatError::Malformed {
            path: path.to_path_buf(),
            offset,
            reason: "`data` has no runs".into(),
        });
    }
    let runs = runs.into_iter().enumerate();
    runs.map(|(i, fields)| {
        Run {
            path,
            offset,
            number: i + 1,
            fields,
        }
        .recording()
    })
    .collect()
}

impl Run<'_> {
    fn error(&self, reason: &str) -> FormatError {
        FormatError::Malformed {
            path: self.path.to_path_buf(),
            offset: self.offset,
            reason: format!("run {} of `data`: {reason}", self.number),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|f| f.0 == name).map(|f| &f.1)
    }

    /// The numbers of a field, none where it is missing.
    fn numbers(&self, name: &str) -> Result<&[f64]> {
        match self.get(name) {
            None => Ok(&[]),
            Some(value) => value.numbers().ok_or_else(|| {
                self.error(&format!(
                    "{name} should be numbers, found a {}",
                    value.kind()
                ))
            }),
        }
    }

    fn signal(&mut self) -> Result<NumericArray> {
        let index = self.fields.iter().position(|f| f.0 == "X");
        match index.map(|i| self.fields.swap_remove(i).1) {
            Some(Value::Numeric(array)) if array.dims.len() == 2 && !array.complex => Ok(array),
            Some(other) => Err(self.error(&format!(
                "X should be [samples × channels], found a {}",
                other.kind()
            ))),
            None => Err(self.error("there is no signal X")),
        }
    }

    fn recording(mut self) -> Result<Recording> {
        let x = self.signal()?;
        let (samples, channels) = (x.dims[0], x.dims[1]);
        if x.data.is_empty() {
            return Err(self.error(&format!("X is empty, its size is {:?}", x.dims)));
        }
        let &[rate] = self.numbers("fs")? else {
            return Err(self.error("fs should be one number, the samples per second"));
        };
        if !(rate.is_finite() && rate > 0.0) {
            return Err(self.error(&format!("fs is {rate}")));
        }
        let mut notes = Vec::new();
        let channels = self.channels(channels, rate, &mut notes)?;
        let events = place(self.markers(rate)?, rate, samples, &mut notes);
        // X is stored column by column: that is channel-major already.
        Ok(Recording::new(channels, rate, x.data, events)?.with_notes(notes))
    }

    fn markers(&self, rate: f64) -> Result<Vec<Marker>> {
        let (starts, codes) = (self.numbers("trial")?, self.numbers("y")?);
        if starts.len() != codes.len() {
            return Err(self.error(&format!(
                "{} trials have {} labels in y",
                starts.len(),
                codes.len()
            )));
        }
        let classes = self
            .get("classes")
            .and_then(Value::strings)
            .unwrap_or_default();
        // Every trial gets a copy of its class.
        if let Some(long) = classes.iter().find(|class| class.len() > LONGEST_CLASS) {
            return Err(self.error(&format!("the name of a class has {} bytes", long.len())));
        }
        let label = |code: f64| match classes.get((code - 1.0) as usize) {
            Some(class) if code >= 1.0 && code.fract() == 0.0 => class.clone(),
            _ => code.to_string(),
        };
        let marker = |(&start, &code): (&f64, &f64)| Marker {
            onset: (start - 1.0) / rate,
            duration: 0.0,
            label: label(code),
        };
        Ok(starts.iter().zip(codes).map(marker).collect())
    }

    fn channels(&self, count: usize, rate: f64, notes: &mut Vec<String>) -> Result<Vec<Channel>> {
        let montage = MONTAGES
            .iter()
            .find(|m| m.channels == count && m.rate == rate);
        let names: Vec<String> = match (self.get("channels").and_then(Value::strings), montage) {
            (Some(names), _) => names,
            (None, Some(montage)) => {
                notes.push(format!(
                    "{count} channels at {rate} Hz were named as in BNCI {}: the file does not \
                     name them",
                    montage.data_set
                ));
                montage.names.split(' ').map(str::to_string).collect()
            }
            (None, None) => (1..=count).map(|i| format!("EEG{i}")).collect(),
        };
        if names.len() != count {
            return Err(self.error(&format!("{count} channels have {} names", names.len())));
        }
        let channel = |name: String| Channel {
            kind: guess_kind(&name, MICROVOLT),
            unit: MICROVOLT.into(),
            name,
        };
        Ok(names.into_iter().map(channel).collect())
    }
}
