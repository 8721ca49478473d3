//! Fixtures and the values other programs read from them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::PathBuf;

use stiefel_formats::{Event, Recording};

/// The path of a fixture.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// The bytes of a fixture.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The values of a little-endian float64 `.npy` in C order, whatever its shape: the plainest
/// reader.
pub(crate) fn npy(name: &str) -> Vec<f64> {
    let bytes = bytes(name);
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "{name}");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]);
    assert!(
        header.contains("'<f8'") && header.contains("'fortran_order': False"),
        "{header}"
    );
    bytes[start..]
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// A JSON fixture.
pub(crate) fn json(name: &str) -> serde_json::Value {
    serde_json::from_slice(&bytes(name)).unwrap()
}

/// The strings of a JSON list.
pub(crate) fn strings(value: &serde_json::Value) -> Vec<String> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap().to_string())
        .collect()
}

/// The events of a JSON list of `{onset, duration, label, sample}`.
pub(crate) fn events(value: &serde_json::Value) -> Vec<Event> {
    let event = |e: &serde_json::Value| Event {
        sample: e["sample"].as_u64().unwrap() as usize,
        onset: e["onset"].as_f64().unwrap(),
        duration: e["duration"].as_f64().unwrap(),
        label: e["label"].as_str().unwrap().to_string(),
    };
    value.as_array().unwrap().iter().map(event).collect()
}

/// Asserts equality to `tolerance` relative to the largest value.
pub(crate) fn assert_close(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    let scale = want.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in got.iter().zip(want).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "value {i}: {a} against {b}, scale {scale}"
        );
    }
}

/// Asserts that a recording is what `NAME.npy` and `NAME.json` tell.
pub(crate) fn assert_recording(recording: &Recording, name: &str) {
    let meta = json(&format!("{name}.json"));
    let names: Vec<_> = recording
        .channels()
        .iter()
        .map(|c| c.name.clone())
        .collect();
    let expected: Vec<_> = strings(&meta["channels"])
        .iter()
        .map(|n| n.trim_end_matches('.').to_string())
        .collect();
    assert_eq!(names, expected);
    assert_eq!(recording.sampling_rate(), meta["rate"].as_f64().unwrap());
    let want = npy(&format!("{name}.npy"));
    for c in 0..names.len() {
        let n = recording.samples();
        assert_close(recording.channel(c), &want[c * n..(c + 1) * n], 1e-12);
    }
    assert_eq!(recording.data().len(), want.len());
    let wanted = events(&meta["events"]);
    assert_eq!(recording.events().len(), wanted.len());
    for (got, want) in recording.events().iter().zip(&wanted) {
        assert_eq!((got.sample, &got.label), (want.sample, &want.label));
        assert!((got.onset - want.onset).abs() < 1e-9, "{got:?} {want:?}");
        assert!(
            (got.duration - want.duration).abs() < 1e-9,
            "{got:?} {want:?}"
        );
    }
}
