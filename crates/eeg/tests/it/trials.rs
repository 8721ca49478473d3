//! Cutting, rejecting, re-referencing and picking.

use crate::numbers::{eeg, noise};
use proptest::prelude::*;
use stiefel_data::Reference;
use stiefel_eeg::montage::{Montage, canonical, position, positions};
use stiefel_eeg::signal::{
    Window, epochs, reject_by_amplitude, rereference, rereference_epochs, resample_recording,
};
use stiefel_eeg::{ChannelKind, Epochs, Event, Recording, TrialInfo};

fn event(onset: f64, label: &str) -> Event {
    Event {
        sample: (onset * 100.0).max(0.0) as usize,
        onset,
        duration: 0.0,
        label: label.into(),
    }
}

fn recording(events: Vec<Event>) -> Recording {
    let data = (0..2000).map(f64::from).collect();
    Recording::new(vec![eeg("C3"), eeg("C4")], 100.0, data, events).unwrap()
}

fn info(domain: &str) -> TrialInfo {
    TrialInfo {
        label: "feet".into(),
        domain: domain.into(),
        run: None,
    }
}

fn peaks(values: &[(f64, &str)]) -> Epochs {
    let trials = values.iter().map(|(_, domain)| info(domain)).collect();
    Epochs::new(
        vec![eeg("Cz")],
        100.0,
        1,
        values.iter().map(|v| v.0).collect(),
        trials,
    )
    .unwrap()
}

#[test]
fn trials_start_at_the_documented_sample() {
    let r = recording(vec![event(1.0, "T1"), event(2.004, "T2"), event(3.0, "T0")]);
    let cut = epochs(
        &r,
        &Window::named(-0.5, 0.25, &[("T1", "both_hands"), ("T2", "feet")]),
        "S1",
        Some("4"),
    )
    .unwrap();
    assert_eq!(cut.epochs.samples(), 75);
    assert_eq!(cut.epochs.trial(0)[0], 50.0);
    assert_eq!(cut.epochs.trial(0)[75], 1050.0);
    assert_eq!(cut.epochs.trial(1)[0], 150.0);
    let expected = TrialInfo {
        label: "feet".into(),
        domain: "S1".into(),
        run: Some("4".into()),
    };
    assert_eq!(cut.epochs.trials()[1], expected);
    assert_eq!(cut.not_selected.get("T0"), Some(&1));
}

#[test]
fn windows_that_leave_the_recording_are_reported() {
    let r = recording(vec![
        event(0.2, "a"),
        event(5.0, "a"),
        event(9.5, "a"),
        event(f64::NAN, "a"),
        event(9.0, "a"),
    ]);
    let cut = epochs(&r, &Window::new(-0.5, 1.0, &["a"]), "S1", None).unwrap();
    assert_eq!(cut.epochs.trials().len(), 2);
    assert_eq!(
        cut.outside.iter().map(|o| o.event).collect::<Vec<_>>(),
        [0, 2, 3]
    );
}

#[test]
fn bad_windows_are_refused() {
    let r = recording(vec![event(1.0, "a")]);
    for (tmin, tmax) in [
        (0.5, 0.5),
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
        (0.0, 11.0),
        (0.0, 0.001),
    ] {
        assert!(
            epochs(&r, &Window::new(tmin, tmax, &["a"]), "S1", None).is_err(),
            "{tmin} {tmax}"
        );
    }
    let message = epochs(&r, &Window::new(0.0, 1.0, &["b"]), "S1", None)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("\"b\"") && message.contains("\"a\""),
        "{message}"
    );
}

#[test]
fn joining_and_selecting() {
    let a = peaks(&[(1.0, "S1"), (2.0, "S1")]);
    let b = peaks(&[(3.0, "S2")]);
    let joined = Epochs::concat(&[a.clone(), b]).unwrap();
    assert_eq!(joined.data(), [1.0, 2.0, 3.0]);
    assert_eq!(joined.select(&[2, 0]).unwrap().data(), [3.0, 1.0]);
    assert!(joined.select(&[3]).is_err());
    assert!(Epochs::concat(&[]).is_err());
    let other = Epochs::new(vec![eeg("C3")], 100.0, 1, vec![1.0], vec![info("S1")]).unwrap();
    assert!(Epochs::concat(&[a, other]).is_err());
}

#[test]
fn rejection_is_per_domain() {
    // S1: median 12, MAD 1 → threshold 17; S2 is ten times louder and keeps all but its own
    // outlier.
    let set = peaks(&[
        (10.0, "S1"),
        (120.0, "S2"),
        (11.0, "S1"),
        (-12.0, "S1"),
        (13.0, "S1"),
        (17.1, "S1"),
        (110.0, "S2"),
        (100.0, "S2"),
        (900.0, "S2"),
        (f64::NAN, "S2"),
    ]);
    let rejection = reject_by_amplitude(&set, 5.0).unwrap();
    assert_eq!(rejection.kept, [0, 1, 2, 3, 4, 6, 7]);
    let [s1, s2] = &rejection.domains[..] else {
        panic!()
    };
    assert_eq!(
        (s1.domain.as_str(), s1.trials, s1.rejected, s1.threshold),
        ("S1", 5, 1, 17.0)
    );
    assert_eq!((s2.domain.as_str(), s2.trials, s2.rejected), ("S2", 5, 2));
}

#[test]
fn rejection_never_empties_a_domain_in_silence() {
    let message = reject_by_amplitude(
        &peaks(&[(1.0, "S1"), (f64::NAN, "S2"), (f64::INFINITY, "S2")]),
        5.0,
    )
    .unwrap_err()
    .to_string();
    assert!(message.contains("S2"), "{message}");
    for c in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(reject_by_amplitude(&peaks(&[(1.0, "S1")]), c).is_err());
    }
    let same = reject_by_amplitude(
        &peaks(&[(7.0, "S1"), (7.0, "S1"), (7.0, "S1"), (7.5, "S1")]),
        5.0,
    )
    .unwrap();
    assert_eq!(same.kept, [0, 1, 2]);
}

#[test]
fn references() {
    let channels = vec![eeg("C3"), eeg("C4")];
    let make =
        || Recording::new(channels.clone(), 100.0, vec![1.0, 2.0, 3.0, 8.0], vec![]).unwrap();
    let mut r = make();
    rereference(&mut r, &Reference::Average).unwrap();
    assert_eq!(r.data(), [-1.0, -3.0, 1.0, 3.0]);
    let mut r = make();
    rereference(&mut r, &Reference::Channels(vec!["c4".into()])).unwrap();
    assert_eq!(r.data(), [-2.0, -6.0, 0.0, 0.0]);
    assert!(rereference(&mut make(), &Reference::Channels(vec!["Oz".into()])).is_err());
    assert!(rereference(&mut make(), &Reference::Channels(vec![])).is_err());
    let mut e = Epochs::new(
        channels,
        100.0,
        1,
        vec![1.0, 3.0, 5.0, 6.0],
        vec![info("S1"); 2],
    )
    .unwrap();
    rereference_epochs(&mut e, &Reference::Average).unwrap();
    assert_eq!(e.data(), [-1.0, 1.0, -0.5, 0.5]);
}

#[test]
fn names_of_electrodes() {
    for (given, expected) in [
        ("Fc5.", "FC5"),
        ("fp1", "Fp1"),
        ("EEG Fp1-REF", "Fp1"),
        ("EEG-Cz", "Cz"),
        ("T3", "T7"),
        ("t4..", "T8"),
        ("T5-LE", "P7"),
        ("EEG T6", "P8"),
        ("POZ", "POz"),
        ("EEG 1", "EEG 1"),
        ("EEG-0", "EEG-0"),
        ("STI 014", "STI 014"),
        ("", ""),
        ("-REF", "-REF"),
    ] {
        assert_eq!(canonical(given), expected, "{given:?}");
    }
}

#[test]
fn picking_channels() {
    let names = ["EEG T3-REF", "Cz..", "FC5.", "T5"];
    let r = Recording::new(
        names.map(eeg).to_vec(),
        100.0,
        vec![0.0, 1.0, 2.0, 3.0],
        vec![event(0.0, "a")],
    )
    .unwrap();
    let picked = r.pick(&["P7", "fc5", "T7"]).unwrap();
    assert_eq!(
        (picked.data(), picked.events().len()),
        (&[3.0, 2.0, 0.0][..], 1)
    );
    let message = r.pick(&["Oz", "Cz", "Pz"]).unwrap_err().to_string();
    assert!(
        message.contains("Oz, Pz") && message.contains("FC5."),
        "{message}"
    );
    assert!(r.pick(&["T3", "T7"]).is_err());
    assert!(r.pick_kind(ChannelKind::Ecg).is_err());
    let both = Recording::new(
        ["T3", "T7"].map(eeg).to_vec(),
        100.0,
        vec![0.0, 1.0],
        vec![],
    )
    .unwrap();
    assert_eq!(both.pick(&["T7"]).unwrap().data(), [1.0]);
    assert!(
        both.pick(&["t7"])
            .unwrap_err()
            .to_string()
            .contains("T3, T7")
    );
    let epochs = Epochs::new(
        ["C3", "C4"].map(eeg).to_vec(),
        100.0,
        1,
        vec![1.0, 2.0, 3.0, 4.0],
        vec![info("S1"); 2],
    )
    .unwrap();
    assert_eq!(epochs.pick(&["C4"]).unwrap().data(), [2.0, 4.0]);
    assert!(epochs.pick(&Montage::Bnci2015001.channels()).is_err());
}

#[test]
fn montages_have_their_channels_and_every_channel_a_place() {
    for (montage, count) in Montage::ALL.into_iter().zip([22, 13, 60, 64]) {
        let channels = montage.channels();
        assert_eq!(channels.len(), count);
        assert_eq!(Montage::from_name(montage.name()), Some(montage));
        for channel in &channels {
            assert_eq!(&canonical(channel), channel);
            assert!(position(channel).is_some(), "{channel}");
        }
        let all = Recording::new(
            Montage::Eegmmidb.channels().into_iter().map(eeg).collect(),
            160.0,
            vec![0.0; 64],
            vec![],
        )
        .unwrap();
        assert_eq!(
            all.pick(&montage.channels()).is_ok(),
            montage != Montage::Weibo2014
        );
    }
    assert_eq!(Montage::from_name("nobody"), None);
}

#[test]
fn electrodes_lie_on_the_sphere_in_mirrored_pairs() {
    for p in positions() {
        assert!(
            (p.at.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12,
            "{}",
            p.name
        );
        let split = p.name.find(|c: char| c.is_ascii_digit());
        if let Some((letters, digits)) = split.map(|at| p.name.split_at(at)) {
            let number: i32 = digits.parse().unwrap();
            let twin = position(&format!(
                "{letters}{}",
                if number % 2 == 1 {
                    number + 1
                } else {
                    number - 1
                }
            ))
            .unwrap();
            assert!(
                (twin[0] + p.at[0]).abs() < 1e-12 && (twin[1] - p.at[1]).abs() < 1e-12,
                "{}",
                p.name
            );
            assert_eq!(p.at[0] < 0.0, number % 2 == 1);
        }
    }
    // C3 is half way from the vertex to T7, which is 72° away.
    let c3 = position("C3").unwrap();
    assert!((c3[2].acos().to_degrees() - 36.0).abs() < 1e-9);
    let mut names: Vec<&str> = positions().iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), positions().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_is_accounted_for(onsets in prop::collection::vec(-2.0..14.0f64, 1..40), tmin in -1.0..1.0f64, length in 0.05..2.0f64) {
        let labels = ["a", "b", "c"];
        let events: Vec<Event> = onsets.iter().enumerate().map(|(i, &onset)| event(onset, labels[i % 3])).collect();
        let total = events.len();
        if let Ok(cut) = epochs(&recording(events), &Window::new(tmin, tmin + length, &["a", "b"]), "S1", None) {
            let others: usize = cut.not_selected.values().sum();
            prop_assert_eq!(cut.epochs.trials().len() + cut.outside.len() + others, total);
            for trial in 0..cut.epochs.trials().len() {
                // The samples count up, so a window is in one piece and both channels are aligned.
                let x = cut.epochs.trial(trial);
                let t = cut.epochs.samples();
                prop_assert!(x[..t].windows(2).all(|w| w[1] == w[0] + 1.0));
                prop_assert_eq!(x[t], x[0] + 1000.0);
            }
        }
    }

    #[test]
    fn rejection_keeps_at_least_half_of_every_domain(seed in 0u64..1000, count in 1usize..40, c in 0.0..6.0f64) {
        let values: Vec<(f64, &str)> = noise(seed, count).into_iter().enumerate().map(|(i, x)| (x.powi(9), ["S1", "S2"][i % 2])).collect();
        for domain in reject_by_amplitude(&peaks(&values), c).unwrap().domains {
            prop_assert!(2 * domain.rejected <= domain.trials);
        }
    }
}

#[test]
fn bad_rates_are_refused_and_events_behind_the_end_noted() {
    for rate in [0.0, -160.0, f64::NAN, f64::INFINITY] {
        let message = Epochs::new(vec![eeg("C3")], rate, 2, vec![], vec![])
            .unwrap_err()
            .to_string();
        assert!(message.contains("sampling rate"), "{message}");
        assert!(Recording::new(vec![eeg("C3")], rate, vec![0.0; 4], vec![]).is_err());
    }
    let at = |sample| Event {
        sample,
        ..event(0.0, "T1")
    };
    let recording = |sample| Recording::new(vec![eeg("C3")], 100.0, vec![0.0; 4], vec![at(sample)]);
    assert!(recording(3).unwrap().notes().is_empty());
    let noted = recording(4).unwrap().with_notes(vec!["more".into()]);
    assert_eq!(noted.notes().len(), 2, "a reader's notes join it");
    let message = &noted.notes()[0];
    assert!(
        message.contains("\"T1\"") && message.contains("sample 4"),
        "{message}"
    );
}

#[test]
fn an_event_at_the_end_stays_inside_a_shorter_recording() {
    let last = Event {
        sample: 399,
        ..event(3.99, "T1")
    };
    let r = Recording::new(vec![eeg("C3")], 100.0, vec![0.0; 400], vec![last]).unwrap();
    let half = resample_recording(&r, 1, 2).unwrap();
    assert_eq!((half.samples(), half.events()[0].sample), (200, 199));
}
