//! Resampling against SciPy and against the definition.

use crate::numbers::{eeg, fixtures, noise, relative_error};
use proptest::prelude::*;
use stiefel_eeg::signal::{resample, resample_recording};
use stiefel_eeg::{Channel, ChannelKind, Event, Recording};

#[test]
fn resampling_is_scipys() {
    let records = fixtures(include_str!("../fixtures/signal.txt"));
    let x = &records["x"];
    let mut checked = 0;
    for (key, expected) in records
        .iter()
        .filter(|(key, _)| key.starts_with("resample/"))
    {
        let factors: Vec<usize> = key.split('/').skip(1).map(|f| f.parse().unwrap()).collect();
        let (y, length) = resample(&x.data, x.columns, factors[0], factors[1]).unwrap();
        assert_eq!(
            length as f64,
            records[&key.replace("resample", "resample_len")].data[0],
            "{key}"
        );
        // The fixture keeps the first 400 samples of each row.
        let head: Vec<f64> = y
            .chunks(length)
            .flat_map(|row| row[..expected.columns].to_vec())
            .collect();
        let error = relative_error(&head, &expected.data);
        assert!(error < 1e-9, "{key}: {error:e}");
        checked += 1;
    }
    assert_eq!(checked, 9);
}

#[test]
fn recordings_keep_their_times() {
    let trigger = Channel {
        name: "STI".into(),
        kind: ChannelKind::Stim,
        unit: String::new(),
    };
    let event = Event {
        sample: 100,
        onset: 0.4,
        duration: 0.0,
        label: "a".into(),
    };
    let mut data: Vec<f64> = (0..500).map(|t| (0.05 * f64::from(t)).cos()).collect();
    data.extend((0..500).map(|t| f64::from(u8::from(t >= 100))));
    let recording = Recording::new(vec![eeg("Cz"), trigger], 250.0, data, vec![event]).unwrap();
    let slow = resample_recording(&recording, 1, 2).unwrap();
    assert_eq!(
        (
            slow.sampling_rate(),
            slow.samples(),
            slow.events()[0].sample,
            slow.events()[0].onset
        ),
        (125.0, 250, 50, 0.4)
    );
    assert_eq!((slow.channel(1)[49], slow.channel(1)[50]), (0.0, 1.0));
    assert!((slow.channel(0)[120] - 12.0_f64.cos()).abs() < 1e-3);
}

#[test]
fn bad_requests_are_refused() {
    let x = noise(1, 100);
    assert!(resample(&x, 100, 0, 1).is_err());
    assert!(resample(&x, 100, 1, 0).is_err());
    assert!(resample(&x, 100, 100_003, 2).is_err());
    assert!(resample(&x, 0, 1, 2).is_err());
    assert!(resample(&x, 33, 1, 2).is_err());
    let mut holed = x;
    holed[57] = f64::NAN;
    assert!(
        resample(&holed, 50, 1, 2)
            .unwrap_err()
            .to_string()
            .contains("row 1, sample 7")
    );
    let recording = Recording::new(vec![eeg("Oz")], 100.0, holed, vec![]).unwrap();
    assert!(
        resample_recording(&recording, 1, 2)
            .unwrap_err()
            .to_string()
            .contains("Oz")
    );
    let empty = Recording::new(vec![eeg("Oz")], 100.0, vec![], vec![]).unwrap();
    assert!(resample_recording(&empty, 1, 2).is_err());
    let trigger = Channel {
        name: "STI".into(),
        kind: ChannelKind::Stim,
        unit: String::new(),
    };
    assert_eq!(
        resample_recording(
            &Recording::new(vec![trigger], 100.0, vec![], vec![]).unwrap(),
            1,
            2
        )
        .unwrap()
        .samples(),
        0
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn factors_reduce_and_length_is_the_documented_one(seed in 0u64..100, up in 1usize..12, down in 1usize..12, times in 1usize..4, samples in 1usize..80) {
        let x = noise(seed, samples);
        let (y, length) = resample(&x, samples, up, down).unwrap();
        prop_assert_eq!(length, (samples * up).div_ceil(down));
        prop_assert_eq!(y, resample(&x, samples, up * times, down * times).unwrap().0);
    }
}
