//! MATLAB 5 files (`save -v6` and `-v7`), in the layouts of two public collections.
//!
//! ```text
//! 128 bytes: text, version 0x0100, "IM" (little-endian) or "MI" (big-endian)
//! element:   type u32, bytes u32, data padded to 8      (or both in one u32 and four bytes of data)
//! matrix:    flags, dimensions, name, values or nested matrices
//! ```
//!
//! * **BNCI** (Graz motor imagery): `data`, a cell or struct array of runs with `X` [samples × channels]
//!   in µV, `trial` (first sample of each trial, counted from 1), `y`, `fs` and `classes`. Each run
//!   becomes a [`Recording`](crate::Recording) with an event per trial, labelled with the class's text;
//!   a run without trials has no events. The files hold no channel names: they follow from the number of
//!   channels and the rate where those tell the data set (001-2014, 004-2014, 001-2015, 004-2015), with a
//!   note, and are `EEG1`, `EEG2`, … otherwise.
//! * **Weibo 2014**: `data` [channels × samples × trials] in µV and `label` become
//!   [`Epochs`](crate::Epochs) at 200 Hz, in the domain named like the file.
//!
//! EEGLAB's `.set` files are recognised and refused. [`read_variables`] gives the variables of any file.
//!
//! Source: MathWorks, *MAT-File Format*, version 5; channel names as MOABB assigns them.

mod bnci;
mod element;
mod matrix;
mod value;
mod variables;
mod weibo;

pub use value::{CellArray, CharArray, NumericArray, StructArray, Value};
pub use variables::{Variable, read_variables};

use super::{Content, Format, Head, ReadOptions, Reader, Source};
use crate::{EegError, Result};

/// MATLAB 5 in the registry of formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mat;

/// MATLAB 5 in the BNCI or Weibo 2014 layout.
pub const FORMAT: Format = Format {
    name: "MATLAB 5",
    extensions: &["mat"],
};

impl Reader for Mat {
    fn format(&self) -> Format {
        FORMAT
    }

    fn recognises(&self, head: &Head<'_>) -> bool {
        // The text may be anything; version and byte order are at the end of the 128 bytes.
        matches!(
            head.bytes.get(124..128),
            Some(b"\x00\x01IM" | b"\x01\x00MI")
        )
    }

    fn read(&self, mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
        let path = source.path().to_path_buf();
        let mut variables = read_variables(&mut source, options)?;
        if variables
            .iter()
            .any(|v| v.name == "EEG" || v.name == "setname")
        {
            return Err(EegError::Unsupported {
                kind: "EEGLAB".into(),
                remedy: format!(
                    "convert it with MNE-Python: mne.io.read_raw_eeglab(\"{}\", preload=True).export(\"converted.edf\")",
                    path.display()
                ),
                path,
            });
        }
        let label = take(&mut variables, "label");
        match (take(&mut variables, "data"), label) {
            (Some(data), Some(label)) if matches!(data.value, Value::Numeric(_)) => {
                weibo::epochs(&path, data, &label).map(Content::Epochs)
            }
            (Some(data), _) if matches!(data.value, Value::Cell(_) | Value::Struct(_)) => {
                bnci::recordings(&path, data).map(Content::Recordings)
            }
            (data, label) => {
                let known = data.iter().chain(&label).chain(&variables);
                let names: Vec<_> = known.map(|v| v.name.as_str()).take(8).collect();
                Err(EegError::Unsupported {
                    kind: format!("MATLAB (variables: {})", names.join(", ")),
                    remedy: "BNCI files have data{run}.X, .trial, .y, .fs; save other layouts with NumPy: \
                             np.savez(\"converted.npz\", X=X, y=y, ch_names=names, sfreq=rate)"
                        .into(),
                    path,
                })
            }
        }
    }
}

fn take(variables: &mut Vec<Variable>, name: &str) -> Option<Variable> {
    let index = variables.iter().position(|v| v.name == name)?;
    Some(variables.swap_remove(index))
}
