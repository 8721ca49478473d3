//! The pipeline holds one recording at a time, however many it is given.

#[path = "../../formats/tests/counting/mod.rs"]
mod counting;

use stiefel_eeg::io::{Content, Source, read_from};
use stiefel_eeg::recipe::{PipelineOutput, Preparing, Recipe};

const CHANNELS: usize = 32;
const RATE: usize = 160;
const SECONDS: usize = 60;
const NOTES: usize = 30;

/// One field of each signal's header, padded to its width.
fn field(out: &mut Vec<u8>, width: usize, values: impl Iterator<Item = String>) {
    for value in values {
        out.extend(format!("{value:<width$}").into_bytes());
    }
}

/// An EDF+ file of noise with records of one second and a cue `T1` every five.
fn edf(mut seed: u64) -> Vec<u8> {
    let signals = CHANNELS + 1;
    let channel = |value: &str, note: &str| {
        let values = std::iter::repeat_n(value.to_string(), CHANNELS);
        values.chain([note.to_string()]).collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    let header = 256 * (signals + 1);
    for (width, value) in [
        (8, "0"),
        (80, "X X X X"),
        (80, "Startdate X X X X"),
        (8, "01.01.01"),
        (8, "00.00.00"),
        (8, &header.to_string()),
        (44, "EDF+C"),
        (8, &SECONDS.to_string()),
        (8, "1"),
        (4, &signals.to_string()),
    ] {
        field(&mut out, width, [value.to_string()].into_iter());
    }
    let names = (0..CHANNELS).map(|c| format!("E{c}"));
    field(&mut out, 16, names.chain(["EDF Annotations".to_string()]));
    for (width, value, note) in [
        (80, "", ""),
        (8, "uV", ""),
        (8, "-3276.8", "-1"),
        (8, "3276.7", "1"),
        (8, "-32768", "-32768"),
        (8, "32767", "32767"),
        (80, "", ""),
        (8, &RATE.to_string(), &NOTES.to_string()),
        (32, "", ""),
    ] {
        field(&mut out, width, channel(value, note).into_iter());
    }
    for second in 0..SECONDS {
        for _ in 0..CHANNELS * RATE {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            out.extend(((seed >> 53) as i16).to_le_bytes());
        }
        let cue = if second % 5 == 0 { "\x14T1" } else { "" };
        let mut note = format!("+{second}\x14\x14\0").into_bytes();
        if !cue.is_empty() {
            note.extend(format!("+{second}{cue}\x14\0").into_bytes());
        }
        note.resize(2 * NOTES, 0);
        out.extend(note);
    }
    out
}

fn prepare(files: &[Vec<u8>]) -> PipelineOutput {
    let recipe = Recipe {
        classes: vec![("T1".into(), "feet".into())],
        ..Recipe::default()
    };
    let mut preparing = Preparing::new(&recipe).unwrap();
    for (subject, bytes) in files.iter().enumerate() {
        let Content::Recordings(mut runs) =
            read_from(Source::from_bytes("run.edf", bytes)).unwrap()
        else {
            panic!("an EDF file is a recording");
        };
        preparing
            .add(runs.remove(0), &format!("S{subject}"), None)
            .unwrap();
    }
    preparing.finish().unwrap()
}

#[test]
fn memory_is_bounded_by_one_recording() {
    let files: Vec<_> = (1..=6).map(edf).collect();
    let recording = CHANNELS * RATE * SECONDS * size_of::<f64>();
    let trials = SECONDS / 5;
    let covariances = trials * CHANNELS * CHANNELS * size_of::<f64>();

    let (one, alone) = counting::peak(|| prepare(&files[..1]));
    assert_eq!(one.rejection.domains[0].trials, trials);
    assert!(alone > recording, "the samples are counted");

    let (six, together) = counting::peak(|| prepare(&files));
    assert_eq!(six.rejection.domains.len(), 6);
    // What is kept of a recording is its covariances, twice while they are joined at the end: far
    // less than its samples.
    assert!(6 * 2 * covariances < recording);
    assert!(
        together <= alone + 6 * 2 * covariances,
        "{together} bytes for six recordings, {alone} for one"
    );
}
