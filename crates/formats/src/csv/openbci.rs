//! The columns of OpenBCI's files that do not name them (GUI 1 to 4).
//!
//! ```text
//! counter, EEG × n, acceleration × 3, 13:14:15.123, 1489500855123
//! ```
//!
//! The time of day and the time stamp in milliseconds came with later versions. The header tells
//! `n` since version 3; before, it is what is left, if a board has so many channels.

use super::columns::{self, Column};

/// How many channels the boards have: Ganglion, Cyton, Cyton with Daisy.
const BOARDS: [usize; 3] = [4, 8, 16];
const ACCELERATIONS: usize = 3;

/// The columns of a file by its first row of samples.
pub(super) fn columns(first: &[&str], count: Option<usize>) -> Result<Vec<Column>, String> {
    let is_stamp = |cell: &str| cell.contains(':') || cell.parse().is_ok_and(|t: f64| t > 1e9);
    let stamps = first.iter().rev().take_while(|cell| is_stamp(cell)).count();
    let values = first.len().saturating_sub(1 + stamps);
    let left = values.checked_sub(ACCELERATIONS);
    let count = match count {
        Some(count) if (1..=values).contains(&count) => count,
        Some(count) => {
            return Err(format!(
                "the header tells {count} channels, the first row has {values} values"
            ));
        }
        None => left.filter(|n| BOARDS.contains(n)).ok_or_else(|| {
            format!(
                "the columns have no names and the number of channels is not told; {values} \
                 values in a row fit no board of OpenBCI: put a line of names before the first \
                 sample"
            )
        })?,
    };
    let mut names = vec!["Sample Index".to_owned()];
    names.extend((0..count).map(|i| format!("EXG Channel {i}")));
    names.extend((0..values - count).map(|i| match i {
        0..ACCELERATIONS => format!("Accel Channel {i}"),
        _ => "Other".to_owned(),
    }));
    names.extend((0..stamps).map(|_| "Other".to_owned()));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(columns::columns(&names))
}
