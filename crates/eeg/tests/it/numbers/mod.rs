//! Reading the fixture files: records of `name rows columns`, then one line per row.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use stiefel_eeg::{Channel, ChannelKind};

pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) data: Vec<f64>,
}

pub(crate) fn fixtures(text: &str) -> BTreeMap<String, Matrix> {
    let mut lines = text.lines();
    let mut records = BTreeMap::new();
    while let Some(header) = lines.next() {
        let parts: Vec<&str> = header.split(' ').collect();
        let (rows, columns) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
        let data: Vec<f64> = (0..rows)
            .flat_map(|_| lines.next().unwrap().split(' '))
            .map(|v| v.parse().unwrap())
            .collect();
        assert_eq!(data.len(), rows * columns, "{header}");
        records.insert(
            parts[0].to_string(),
            Matrix {
                rows,
                columns,
                data,
            },
        );
    }
    records
}

/// The largest difference relative to the largest expected value.
pub(crate) fn relative_error(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let scale = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    got.iter().zip(expected).fold(0.0, |m: f64, (a, b)| {
        if (a - b).is_nan() {
            f64::INFINITY
        } else {
            m.max((a - b).abs())
        }
    }) / scale
}

pub(crate) fn eeg(name: &str) -> Channel {
    Channel {
        name: name.into(),
        kind: ChannelKind::Eeg,
        unit: "µV".into(),
    }
}

/// Reproducible values in −1…1 without any structure worth the name.
pub(crate) fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}
