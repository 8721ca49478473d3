//! From the markers of a file to events inside a recording.
//!
//! `sample = round(onset · rate)`, halves to even as Python and NumPy round. A marker within the
//! last half sample belongs to the last sample; one exactly at the end is kept at `sample =
//! samples`, where no trial can be cut. Any other marker outside the signal has no place in the
//! recording: it is left out and noted.

use super::units::excerpt;
use crate::Event;

/// A marker as a file tells it: seconds from the first sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Marker {
    pub(crate) onset: f64,
    pub(crate) duration: f64,
    pub(crate) label: String,
}

/// Places markers on the samples of a recording, in order of onset.
pub(crate) fn place(
    markers: Vec<Marker>,
    rate: f64,
    samples: usize,
    notes: &mut Vec<String>,
) -> Vec<Event> {
    let mut outside: Option<(usize, String)> = None;
    let mut events = Vec::with_capacity(markers.len());
    for Marker {
        onset,
        duration,
        label,
    } in markers
    {
        let position = onset * rate;
        let end = samples as f64;
        let sample = match position.round_ties_even() {
            rounded if rounded == end && position < end && samples > 0 => end - 1.0,
            rounded => rounded,
        };
        if sample >= 0.0 && sample <= end && samples > 0 {
            events.push(Event {
                sample: sample as usize,
                onset,
                duration,
                label,
            });
        } else {
            let first =
                outside.get_or_insert_with(|| (0, format!("\"{}\" at {onset} s", excerpt(&label))));
            first.0 += 1;
        }
    }
    if let Some((count, first)) = outside {
        notes.push(format!(
            "{count} events lie outside the {} s of signal and were left out, the first {first}",
            samples as f64 / rate
        ));
    }
    events.sort_by(|a, b| a.onset.total_cmp(&b.onset));
    events
}

/// The rate to keep when channels differ: the one most EEG channels have, or most channels where
/// none is EEG; the higher rate when two are equally common.
pub(crate) fn common_rate(channels: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    let mut counts: Vec<(f64, usize, usize)> = Vec::new();
    for (rate, eeg) in channels {
        match counts.iter_mut().find(|c| c.0 == rate) {
            Some(count) => {
                count.1 += usize::from(eeg);
                count.2 += 1;
            }
            None => counts.push((rate, usize::from(eeg), 1)),
        }
    }
    counts
        .into_iter()
        .max_by(|a, b| (a.1, a.2).cmp(&(b.1, b.2)).then(a.0.total_cmp(&b.0)))
        .map(|c| c.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(onset: f64, label: &str) -> Marker {
        Marker {
            onset,
            duration: 0.0,
            label: label.into(),
        }
    }

    #[test]
    fn markers_outside_the_signal_are_noted() {
        let mut notes = Vec::new();
        let markers = vec![
            marker(9.99, "late"),
            marker(-1.0, "early"),
            marker(0.0, "a"),
            marker(9.9977, "last half sample"),
            marker(10.0, "end"),
            marker(10.01, "beyond"),
        ];
        let events = place(markers, 100.0, 1000, &mut notes);
        let labels: Vec<_> = events
            .iter()
            .map(|e| (e.label.as_str(), e.sample))
            .collect();
        let kept = [
            ("a", 0),
            ("late", 999),
            ("last half sample", 999),
            ("end", 1000),
        ];
        assert_eq!(labels, kept);
        assert_eq!(
            notes,
            [
                "2 events lie outside the 10 s of signal and were left out, the first \"early\" \
                 at -1 s"
            ]
        );
    }

    #[test]
    fn eeg_decides_the_rate() {
        let sleep = [
            (100.0, true),
            (100.0, true),
            (1.0, false),
            (1.0, false),
            (1.0, false),
        ];
        assert_eq!(common_rate(sleep.into_iter()), Some(100.0));
        assert_eq!(
            common_rate([(50.0, true), (200.0, true)].into_iter()),
            Some(200.0)
        );
        assert_eq!(common_rate(std::iter::empty()), None);
    }
}
