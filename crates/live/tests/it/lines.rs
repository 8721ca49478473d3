//! Lines are JSON, with the keys and types that the documentation promises.

use std::time::Duration;

use serde_json::Value;
use stiefel_live::{At, Block, Event, Lines, Marker, Options};

use crate::study::{N, RATE, STUDY, frames, session};

fn lines(options: Options, block: &Block) -> Vec<Value> {
    let (mut session, mut lines, mut all) = (session(options), Lines::default(), Vec::new());
    session
        .push(block, &mut |event: Event<'_>| {
            let line = lines.event(&event, Duration::from_micros(250));
            assert!(!line.contains('\n'));
            all.push(serde_json::from_str(line).unwrap());
        })
        .unwrap();
    all
}

/// The keys of every kind of line, as documented; a question mark stands for a key that may be
/// missing.
const SCHEMA: &str = include_str!("../../../../docs/live.md");

fn documented(kind: &str) -> Vec<(String, bool)> {
    let heading = format!("### `{kind}`");
    let part = SCHEMA
        .split(&heading)
        .nth(1)
        .unwrap_or_else(|| panic!("{kind} is not documented"));
    let rows = part
        .lines()
        .skip_while(|l| !l.starts_with("| `"))
        .take_while(|l| l.starts_with("| `"));
    rows.map(|row| {
        let key = row.split('`').nth(1).unwrap().to_owned();
        (key, row.contains("only"))
    })
    .collect()
}

fn check(line: &Value) {
    let object = line.as_object().unwrap();
    let keys = documented(object["type"].as_str().unwrap());
    for key in object.keys() {
        assert!(
            keys.iter().any(|(k, _)| k == key),
            "{key} is not documented: {line}"
        );
    }
    for (key, optional) in keys {
        assert!(
            optional || object.contains_key(&key),
            "{key} is missing: {line}"
        );
    }
}

#[test]
fn every_line_has_the_documented_keys() {
    let samples = frames(&STUDY.recording)[..N * 128 * 30].to_vec();
    let count = samples.len() / N;
    let mut block = Block {
        times: (0..count)
            .map(|t| if t < 2000 { t as f64 } else { t as f64 + 300.0 } / RATE)
            .collect(),
        samples,
        ..Block::default()
    };
    block.samples[N * 3000 + 1] = f64::NAN;
    for (i, label) in ["right_hand", "feet", "rest"].into_iter().enumerate() {
        let at = At::Sample(300 + 500 * i as i64);
        block.markers.push(Marker::new(at, label));
    }
    let all = lines(Options::default(), &block);
    all.iter().for_each(check);
    let of = |kind: &str| all.iter().filter(|l| l["type"] == kind).count();
    assert_eq!(of("gap"), 1);
    assert!(of("window") > 30);
    let with = |key: &str| {
        all.iter()
            .filter(|l| l.get(key).is_some_and(|v| !v.is_null()))
            .count()
    };
    for key in [
        "class",
        "probabilities",
        "evidence",
        "stable",
        "familiarity",
        "distance",
        "cue",
        "trial",
        "reason",
        "channel",
        "stamp",
    ] {
        assert!(with(key) > 0, "{key}");
    }
    let line = all.iter().find(|l| l["status"] == "decided").unwrap();
    let p = line["probabilities"].as_object().unwrap();
    assert_eq!(p.len(), 2);
    assert!((p.values().map(|p| p.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(line["milliseconds"], 0.25);
}

#[test]
fn names_are_quoted() {
    let mut lines = Lines::default();
    let line: Value =
        serde_json::from_str(lines.stream("lost", "a \"quote\", a \\ and a\nline")).unwrap();
    assert_eq!(line["message"], "a \"quote\", a \\ and a\nline");
    check(&line);
}
