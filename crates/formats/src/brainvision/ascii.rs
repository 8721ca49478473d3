//! Samples as text: a line per sample (multiplexed) or per channel (vectorised), numbers between
//! blanks.

use super::header::{AsciiLayout, Vhdr};
use crate::Result;
use crate::Source;
use crate::units::excerpt;

/// All samples, channel-major and in the unit of memory, and how many each channel has.
pub(super) fn read(
    data: &mut Source<'_>,
    header: &Vhdr,
    layout: &AsciiLayout,
) -> Result<(Vec<f64>, usize)> {
    let bytes = data.read_vec(data.len(), "the samples")?;
    let text = String::from_utf8_lossy(&bytes);
    let channels = header.channels.len();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()).skip(layout.skip_lines as usize) {
        let words = line.split_ascii_whitespace();
        let words = words.skip(layout.skip_columns as usize);
        let value = |word: &str| {
            let plain = word.replace(layout.decimal, ".");
            let value = plain.parse::<f64>().ok().filter(|v| v.is_finite());
            value.ok_or_else(|| {
                let reason = format!(
                    "line {number} should hold numbers, found \"{}\"",
                    excerpt(word)
                );
                data.malformed(0, reason)
            })
        };
        let row: Vec<f64> = words.map(value).collect::<Result<_>>()?;
        if !row.is_empty() {
            rows.push(row);
        }
    }
    let wanted = if header.vectorized {
        (channels, rows.first().map_or(0, Vec::len))
    } else {
        (rows.len(), channels)
    };
    let samples = if header.vectorized {
        wanted.1
    } else {
        wanted.0
    };
    let fits = rows.len() == wanted.0 && rows.iter().all(|r| r.len() == wanted.1);
    if !fits || header.samples.is_some_and(|n| n != samples as u64) {
        let announced = header
            .samples
            .map_or(String::new(), |n| format!(" of {n} samples"));
        return Err(data.malformed(
            data.len(),
            format!(
                "the header announces {channels} channels{announced}, but the text has {} lines \
                 of {} numbers",
                rows.len(),
                rows.first().map_or(0, Vec::len)
            ),
        ));
    }
    let mut values = vec![0.0; channels * samples];
    for (c, (row, gain)) in values
        .chunks_exact_mut(samples.max(1))
        .zip(&header.gains)
        .enumerate()
    {
        for (s, value) in row.iter_mut().enumerate() {
            *value = gain
                * if header.vectorized {
                    rows[c][s]
                } else {
                    rows[s][c]
                };
        }
    }
    Ok((values, samples))
}
