//! The layout of Weibo et al. 2014: `data` [64 channels × samples × trials] in µV and `label`.
//!
//! The values are those of the file; no trial is demeaned. The marks by which the layout is known:
//! the file has these two variables and no other, 64 rows, and a label for every trial. The files
//! do not tell their rate; one that does is another layout.

use std::path::Path;

use super::arrange::transpose_trials;
use super::value::Value;
use super::variables::Variable;
use crate::units::{MICROVOLT, guess_kind};
use crate::{Channel, ChannelKind, Epochs, FormatError, Result, TrialInfo};

/// Samples per second; the files do not say.
const RATE: f64 = 200.0;

/// Rows of `data`.
const CHANNELS: usize = 64;

const NAMES: &str = "Fp1 Fpz Fp2 AF3 AF4 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 \
                     FC6 FT8 T7 C5 C3 C1 Cz C2 C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 P7 P5 \
                     P3 P1 Pz P2 P4 P6 P8 PO7 PO5 PO3 POz PO4 PO6 PO8 CB1 O1 Oz O2 CB2 VEO HEO";

/// The classes of the codes 1 to 7, in this crate's words (see [`crate`]).
const CLASSES: [&str; 7] = [
    "left_hand",
    "right_hand",
    "both_hands",
    "feet",
    "left_hand_right_foot",
    "right_hand_left_foot",
    "rest",
];

/// Whether a file has all the marks of the layout.
pub(super) fn is_weibo(variables: &[Variable]) -> bool {
    let find = |name: &str| variables.iter().find(|v| v.name == name);
    let (Some(data), Some(label)) = (find("data"), find("label")) else {
        return false;
    };
    let trials = match *data.value.dims().as_slice() {
        [CHANNELS, _] => 1,
        [CHANNELS, _, trials] => trials,
        _ => return false,
    };
    let labels = label.value.numbers().map(<[f64]>::len);
    matches!(data.value, Value::Numeric(_)) && variables.len() == 2 && labels == Some(trials)
}

/// Joins signals and labels; trials belong to the domain named like the file.
pub(super) fn epochs(path: &Path, data: Variable, label: &Variable) -> Result<Epochs> {
    let malformed = |offset, reason| FormatError::Malformed {
        path: path.to_path_buf(),
        offset,
        reason,
    };
    let kind = data.value.kind();
    let Value::Numeric(array) = data.value else {
        return Err(malformed(data.offset, format!("data is a {kind}")));
    };
    let dims = match *array.dims.as_slice() {
        [channels, samples] => Some([channels, samples, 1]),
        [channels, samples, trials] => Some([channels, samples, trials]),
        _ => None,
    };
    let Some([channels, samples, trials]) =
        dims.filter(|_| !array.complex && !array.data.is_empty())
    else {
        return Err(malformed(
            data.offset,
            format!("data should be [channels × samples × trials], found a {kind}"),
        ));
    };
    let codes = label.value.numbers().filter(|codes| codes.len() == trials);
    let codes = codes.ok_or_else(|| {
        malformed(
            label.offset,
            format!(
                "label should have {trials} numbers, found a {}",
                label.value.kind()
            ),
        )
    })?;
    let domain = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let info = |&code: &f64| TrialInfo {
        label: class(code),
        domain: domain.clone(),
        run: None,
    };
    let trials = codes.iter().map(info).collect();
    let mut data = array.data;
    transpose_trials(&mut data, channels, samples);
    Epochs::new(channel_list(channels), RATE, samples, data, trials)
}

/// A code's class, or the code itself where it has none.
fn class(code: f64) -> String {
    let known = (1..=CLASSES.len()).find(|&c| c as f64 == code);
    known.map_or_else(|| code.to_string(), |c| CLASSES[c - 1].to_string())
}

fn channel_list(count: usize) -> Vec<Channel> {
    let names = NAMES
        .split_ascii_whitespace()
        .map(str::to_string)
        .take(count);
    let channel = |name: String| {
        // CB1 and CB2 have no place in the 10-10 system.
        let kind = if name.starts_with("CB") {
            ChannelKind::Misc
        } else {
            guess_kind(&name, MICROVOLT)
        };
        Channel {
            name,
            kind,
            unit: MICROVOLT.into(),
        }
    };
    names.map(channel).collect()
}
