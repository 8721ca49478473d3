//! Filters against SciPy, against a naive recursion, and their properties.

use crate::numbers::{eeg, fixtures, noise, relative_error};
use proptest::prelude::*;
use stiefel_eeg::signal::{
    Band, FilterState, Sos, filter, filter_zero_phase, zero_phase_epochs, zero_phase_recording,
};
use stiefel_eeg::{Channel, ChannelKind, Epochs, Recording, TrialInfo};

const TOLERANCE: f64 = 1e-9;

/// Every design in the fixture file: its name and the filter.
fn designs() -> Vec<(String, Sos)> {
    fixtures(include_str!("../fixtures/signal.txt"))
        .keys()
        .filter_map(|key| key.strip_prefix("sos/"))
        .map(|name| {
            let parts: Vec<&str> = name.split('/').collect();
            let f: Vec<f64> = parts[2].split(',').map(|f| f.parse().unwrap()).collect();
            let band = match parts[0] {
                "bandpass" => Band::BandPass(f[0], f[1]),
                "lowpass" => Band::LowPass(f[0]),
                _ => Band::HighPass(f[0]),
            };
            let sos = Sos::butterworth(parts[1].parse().unwrap(), band, parts[3].parse().unwrap());
            (name.to_string(), sos.unwrap())
        })
        .collect()
}

#[test]
fn designs_steady_states_and_zero_phase_are_scipys() {
    let records = fixtures(include_str!("../fixtures/signal.txt"));
    let x = &records["x"];
    let designs = designs();
    assert_eq!(designs.len(), 17);
    for (name, sos) in designs {
        let sections: Vec<f64> = sos.sections().concat();
        let expected = &records[&format!("sos/{name}")];
        assert_eq!(sections.len(), expected.data.len(), "{name}");
        for (got, want) in sections.iter().zip(&expected.data) {
            // Coefficient by coefficient: the gain of the first section may be tiny.
            assert!(
                (got - want).abs() <= TOLERANCE * want.abs().max(f64::MIN_POSITIVE),
                "{name}: {got} {want}"
            );
        }
        let zi = relative_error(
            &sos.steady_state().concat(),
            &records[&format!("zi/{name}")].data,
        );
        assert!(zi < TOLERANCE, "{name}: steady state off by {zi:e}");
        let mut y = x.data.clone();
        filter_zero_phase(&sos, &mut y, x.columns).unwrap();
        let error = relative_error(&y, &records[&format!("filtfilt/{name}")].data);
        assert!(error < TOLERANCE, "{name}: zero-phase off by {error:e}");
    }
}

#[test]
fn causal_filter_with_state_is_scipys() {
    let records = fixtures(include_str!("../fixtures/signal.txt"));
    let x = &records["x"];
    let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0).unwrap();
    let mut state = FilterState::settled(&sos, &[x.data[0], x.data[x.columns]]);
    let mut y = vec![0.0; x.data.len()];
    for (from, to) in [(0, 100), (100, 260)] {
        let mut block: Vec<f64> = (0..2)
            .flat_map(|row| x.data[row * 260 + from..row * 260 + to].to_vec())
            .collect();
        filter(&sos, &mut block, to - from, &mut state).unwrap();
        for row in 0..2 {
            y[row * 260 + from..row * 260 + to]
                .copy_from_slice(&block[row * (to - from)..(row + 1) * (to - from)]);
        }
    }
    assert!(relative_error(&y, &records["sosfilt"].data) < TOLERANCE);
    let z: Vec<f64> = (0..4)
        .flat_map(|s| [state.get(s, 0), state.get(s, 1)].concat())
        .collect();
    assert!(relative_error(&z, &records["sosfilt_state"].data) < TOLERANCE);
}

/// The recursion written down once more, one sample and one row at a time.
fn naive(sos: &Sos, x: &[f64]) -> Vec<f64> {
    let mut z = vec![[0.0; 2]; sos.sections().len()];
    x.iter()
        .map(|&x| {
            sos.sections()
                .iter()
                .zip(&mut z)
                .fold(x, |x, (&[b0, b1, b2, _, a1, a2], z)| {
                    let y = b0 * x + z[0];
                    *z = [(b1 * x + z[1]) - a1 * y, b2 * x - a2 * y];
                    y
                })
        })
        .collect()
}

#[test]
fn lanes_do_not_mix_and_odd_row_counts_work() {
    let sos = Sos::butterworth(3, Band::BandPass(8.0, 30.0), 200.0).unwrap();
    for rows in [1, 2, 7, 8, 9, 17] {
        for samples in [1, 63, 64, 65, 300] {
            let x = noise(rows as u64, rows * samples);
            let mut y = x.clone();
            filter(&sos, &mut y, samples, &mut FilterState::new(&sos, rows)).unwrap();
            for row in 0..rows {
                let row = row * samples..(row + 1) * samples;
                assert_eq!(y[row.clone()], naive(&sos, &x[row]));
            }
        }
    }
}

#[test]
fn gain_at_cut_off_is_half_power() {
    let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0).unwrap();
    for f in [8.0, 32.0] {
        assert!((sos.gain(f, 250.0) - 0.5f64.sqrt()).abs() < 1e-12);
    }
}

#[test]
fn bad_designs_are_refused() {
    let bad = [
        (0, Band::LowPass(10.0), 100.0),
        (25, Band::LowPass(10.0), 100.0),
        (4, Band::LowPass(50.0), 100.0),
        (4, Band::HighPass(0.0), 100.0),
        (4, Band::HighPass(f64::NAN), 100.0),
        (4, Band::BandPass(8.0, 8.0), 100.0),
        (4, Band::BandPass(30.0, 8.0), 100.0),
        (4, Band::BandPass(8.0, f64::INFINITY), 100.0),
        (4, Band::LowPass(10.0), 0.0),
        (4, Band::LowPass(10.0), f64::NAN),
    ];
    for (order, band, fs) in bad {
        assert!(
            Sos::butterworth(order, band, fs).is_err(),
            "{order} {band:?} {fs}"
        );
    }
    assert!(Sos::new(vec![]).is_err());
    assert!(Sos::new(vec![[1.0, 0.0, 0.0, 1.0, 0.0, 1.0]]).is_err());
    assert!(Sos::new(vec![[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]).is_err());
    assert!(Sos::new(vec![[2.0, 0.0, 0.0, 2.0, 0.0, 0.5]]).is_ok());
}

#[test]
fn bad_signals_are_refused_and_left_alone() {
    let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0).unwrap();
    assert_eq!(sos.padding(), 27);
    let mut short = noise(1, 27);
    let message = filter_zero_phase(&sos, &mut short, 27)
        .unwrap_err()
        .to_string();
    assert!(message.contains("27"), "{message}");
    assert_eq!(short, noise(1, 27));
    assert!(filter_zero_phase(&sos, &mut noise(1, 28), 28).is_ok());
    assert!(filter_zero_phase(&sos, &mut noise(1, 29), 28).is_err());
    assert!(filter_zero_phase(&sos, &mut [], 0).is_err());
    let mut holed = noise(1, 200);
    holed[130] = f64::NAN;
    let message = filter_zero_phase(&sos, &mut holed, 100)
        .unwrap_err()
        .to_string();
    assert!(message.contains("row 1, sample 30"), "{message}");
    assert_eq!(holed[129], noise(1, 200)[129]);
    let mut state = FilterState::new(&sos, 2);
    assert!(filter(&sos, &mut holed, 100, &mut state).is_err());
    assert_eq!(state, FilterState::new(&sos, 2));
    assert!(filter(&sos, &mut noise(1, 300), 100, &mut state).is_err());
}

#[test]
fn recordings_keep_their_triggers_and_name_the_bad_channel() {
    let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 250.0).unwrap();
    let trigger = Channel {
        name: "STI".into(),
        kind: ChannelKind::Stim,
        unit: String::new(),
    };
    let channels = vec![eeg("C3"), trigger, eeg("C4")];
    let x = noise(3, 300);
    let mut recording = Recording::new(channels.clone(), 250.0, x.clone(), vec![]).unwrap();
    zero_phase_recording(&mut recording, &sos).unwrap();
    assert_eq!(recording.channel(1), &x[100..200]);
    let mut alone = x[200..].to_vec();
    filter_zero_phase(&sos, &mut alone, 100).unwrap();
    assert_eq!(recording.channel(2), alone);
    let mut x = x;
    x[150] = f64::NAN;
    x[250] = f64::INFINITY;
    let mut recording = Recording::new(channels, 250.0, x, vec![]).unwrap();
    let message = zero_phase_recording(&mut recording, &sos)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("C4") && message.contains("50") && message.contains("inf"),
        "{message}"
    );
}

#[test]
fn trials_are_filtered_each_by_itself() {
    let sos = Sos::butterworth(2, Band::BandPass(8.0, 32.0), 200.0).unwrap();
    let info = TrialInfo {
        label: "feet".into(),
        domain: "S1".into(),
        run: None,
    };
    let x = noise(4, 3 * 2 * 90);
    let mut epochs = Epochs::new(
        vec![eeg("C3"), eeg("C4")],
        200.0,
        90,
        x.clone(),
        vec![info; 3],
    )
    .unwrap();
    zero_phase_epochs(&mut epochs, &sos).unwrap();
    let mut row = x[4 * 90..5 * 90].to_vec();
    filter_zero_phase(&sos, &mut row, 90).unwrap();
    assert_eq!(&epochs.trial(2)[..90], row);
    epochs.data_mut()[3 * 90 + 7] = f64::NAN;
    let message = zero_phase_epochs(&mut epochs, &sos)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("trial 1") && message.contains("C4") && message.contains("sample 7"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn filtering_is_linear(seed in 0u64..1000, a in -5.0..5.0f64, b in -5.0..5.0f64, order in 1usize..6) {
        let sos = Sos::butterworth(order, Band::BandPass(8.0, 32.0), 160.0).unwrap();
        let (x, y) = (noise(seed, 200), noise(seed + 7777, 200));
        let run = |mut v: Vec<f64>| { filter_zero_phase(&sos, &mut v, 200).unwrap(); v };
        let mixed = run(x.iter().zip(&y).map(|(x, y)| a * x + b * y).collect());
        let expected: Vec<f64> = run(x).iter().zip(&run(y)).map(|(x, y)| a * x + b * y).collect();
        for (got, want) in mixed.iter().zip(&expected) {
            prop_assert!((got - want).abs() < 1e-10);
        }
    }

    #[test]
    fn blocks_of_any_size_give_the_same_bits(seed in 0u64..1000, cuts in prop::collection::vec(1usize..150, 1..8)) {
        let sos = Sos::butterworth(4, Band::HighPass(2.0), 160.0).unwrap();
        let total: usize = cuts.iter().sum();
        let x = noise(seed, total);
        let mut whole = x.clone();
        filter(&sos, &mut whole, total, &mut FilterState::new(&sos, 1)).unwrap();
        let mut state = FilterState::new(&sos, 1);
        let mut pieces = x;
        let mut rest = &mut pieces[..];
        for cut in cuts {
            let (block, after) = rest.split_at_mut(cut);
            filter(&sos, block, cut, &mut state).unwrap();
            rest = after;
        }
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn zero_phase_commutes_with_time_reversal(seed in 0u64..1000) {
        // The middle of a long signal, away from the transients of either end.
        let sos = Sos::butterworth(2, Band::BandPass(8.0, 32.0), 160.0).unwrap();
        let mut forward = noise(seed, 600);
        let mut backward: Vec<f64> = forward.iter().rev().copied().collect();
        filter_zero_phase(&sos, &mut forward, 600).unwrap();
        filter_zero_phase(&sos, &mut backward, 600).unwrap();
        for t in 250..350 {
            prop_assert!((forward[t] - backward[599 - t]).abs() < 1e-7);
        }
    }
}
