//! Signals that are no EEG, found by electrode and person; clean ones are silent.

use std::sync::OnceLock;

use stiefel_data::{Estimator, Factor, Finding, FindingKind, Quality, Recipe, Trials};
use stiefel_eeg::montage::Montage;
use stiefel_eeg::quality::{check, of_trials};
use stiefel_eeg::recipe::{Preparing, quality_of};
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};
use stiefel_eeg::{Channel, Recording};
use stiefel_linalg::MatBatch;

/// Sixty channels at 160 Hz.
fn clean() -> &'static Recording {
    static MADE: OnceLock<Recording> = OnceLock::new();
    MADE.get_or_init(|| {
        let classes = [Imagery::RightHand, Imagery::Feet];
        let config = SyntheticConfig::of(Montage::Weibo2014, 160.0, vec![1], 1, 10, &classes);
        let first = Synthetic::new(config).unwrap().recordings().next();
        first.unwrap().unwrap().recording
    })
}

fn recipe() -> Recipe {
    let names = ["right_hand", "feet"];
    Recipe {
        reject: None,
        classes: names.map(|c| (c.to_owned(), c.to_owned())).to_vec(),
        ..Recipe::default()
    }
}

fn look(recording: Recording) -> Quality {
    let mut preparing = Preparing::new(&recipe()).unwrap();
    preparing.add(recording, "S01", Some("R1")).unwrap();
    preparing.finish().unwrap().quality
}

/// Why a recording is refused, by the recipe or by what was found.
fn refused(recording: Recording) -> String {
    let mut preparing = Preparing::new(&recipe()).unwrap();
    preparing.add(recording, "S01", None).unwrap();
    let found = preparing.finish().and_then(|made| check(&made.quality));
    found.unwrap_err().to_string()
}

/// The clean recording, one channel after the other changed.
fn changed(mut change: impl FnMut(&str, &mut [f64])) -> Recording {
    let mut recording = clean().clone();
    let names: Vec<String> = recording
        .channels()
        .iter()
        .map(|c| c.name.clone())
        .collect();
    let samples = recording.samples();
    for (name, row) in names
        .iter()
        .zip(recording.data_mut().chunks_exact_mut(samples))
    {
        change(name, row);
    }
    recording
}

/// The only kind of finding there is, and its electrodes.
fn only(quality: &Quality, kind: FindingKind) -> Vec<String> {
    let other = quality.findings.iter().find(|f| f.kind != kind);
    assert!(other.is_none(), "{other:?}");
    let of = |f: &Finding| f.electrodes.join("+");
    quality.findings.iter().map(of).collect()
}

#[test]
fn a_clean_recording_is_silent_and_has_amplitudes() {
    let quality = look(clean().clone());
    assert_eq!(quality.findings, []);
    let amplitudes = &quality.amplitudes[0];
    assert_eq!(
        (amplitudes.domain.as_str(), amplitudes.median.len()),
        ("S01", 60)
    );
    for c in 0..60 {
        let [low, median, high] = [amplitudes.low[c], amplitudes.median[c], amplitudes.high[c]];
        assert!(1.0 < low && low <= median && median <= high && high < 1000.0);
    }
    // Without events, too.
    let whole = quality_of(&clean().clone().with_events(Vec::new()), "file").unwrap();
    assert_eq!((whole.findings.len(), whole.amplitudes.len()), (0, 1));
}

#[test]
fn electrodes_are_named() {
    let wave = |t: usize, hertz: f64| (t as f64 * std::f64::consts::TAU * hertz / 160.0).sin();
    let one = |change: &dyn Fn(usize, &mut f64)| {
        look(changed(|name, row| {
            if name == "Cz" {
                row.iter_mut().enumerate().for_each(|(t, x)| change(t, x));
            }
        }))
    };
    let cz = ["Cz"];
    assert_eq!(only(&one(&|_, x| *x = 3.0), FindingKind::Flat)[0], "Cz");
    let clipped = one(&|_, x| *x = x.clamp(-5.0, 5.0));
    assert_eq!(only(&clipped, FindingKind::Saturated), cz);
    assert_eq!(only(&one(&|_, x| *x *= 500.0), FindingKind::OutOfRange), cz);
    let hum = one(&|t, x| *x += 200.0 * wave(t, 50.0));
    assert_eq!(only(&hum, FindingKind::LineNoise), cz);
    let alone = one(&|t, x| *x = 30.0 * wave(t * t % 997, 31.0));
    assert_eq!(only(&alone, FindingKind::Disconnected), cz);
    let fz: Vec<f64> = clean().channel(9).to_vec();
    assert_eq!(clean().channels()[9].name, "Fz");
    let bridged = one(&|t, x| *x = fz[t] + 0.01 * wave(t, 11.0));
    assert_eq!(only(&bridged, FindingKind::Bridged), ["Fz+Cz"]);
    for quality in [&clipped, &hum] {
        assert_eq!(quality.findings[0].runs, ["R1"]);
    }
    for quality in [clipped, hum, alone, bridged] {
        check(&quality).unwrap();
    }
}

#[test]
fn a_unit_that_is_wrong_by_a_power_of_ten_is_refused_or_told() {
    for (factor, refused) in [
        (1e6, true),
        (1e3, true),
        (1e-3, true),
        (1e-6, true),
        (0.1, false),
    ] {
        let quality = look(changed(|_, row| row.iter_mut().for_each(|x| *x *= factor)));
        assert_eq!(only(&quality, FindingKind::Amplitude), [""], "{factor}");
        let found = check(&quality);
        assert_eq!(found.is_err(), refused, "{factor} {found:?}");
        if let Err(error) = found {
            let text = error.to_string();
            assert!(text.contains("S01") && text.contains("unit"), "{text}");
        }
    }
}

#[test]
fn people_of_two_units_are_told_apart_where_no_unit_is_known() {
    let mut recording = clean().clone();
    let unitless = |r: &Recording| {
        let channels = r.channels().iter().map(|c| Channel {
            unit: String::new(),
            ..c.clone()
        });
        let events = r.events().to_vec();
        let (channels, data) = (channels.collect(), r.data().to_vec());
        Recording::new(channels, r.sampling_rate(), data, events).unwrap()
    };
    let mut preparing = Preparing::new(&recipe()).unwrap();
    preparing.add(unitless(&recording), "S01", None).unwrap();
    recording.data_mut().iter_mut().for_each(|x| *x *= 1.5);
    preparing.add(unitless(&recording), "S02", None).unwrap();
    recording.data_mut().iter_mut().for_each(|x| *x *= 1e-6);
    preparing.add(unitless(&recording), "S03", None).unwrap();
    let quality = preparing.finish().unwrap().quality;
    assert_eq!(only(&quality, FindingKind::Amplitude).len(), 1);
    assert_eq!(quality.findings[0].domain, "S03");
}

#[test]
fn many_orders_of_magnitude_and_many_lost_electrodes_are_refused() {
    let mut place = 0;
    let spread = refused(changed(|_, row| {
        let factor = 10.0_f64.powf(f64::from(place % 8) * 18.0 / 7.0 - 9.0);
        for x in row.iter_mut() {
            *x *= factor;
        }
        place += 1;
    }));
    assert!(spread.contains("orders of magnitude"), "{spread}");
    let mut lost = 0;
    let flat = refused(changed(|_, row| {
        lost += 1;
        if lost <= 20 {
            row.fill(0.0);
        }
    }));
    assert!(
        flat.contains("S01 Fp1") && flat.contains("and 16 more"),
        "{flat}"
    );
}

#[test]
fn permuted_names_are_seen_and_a_swap_is_not() {
    let named = |permute: &dyn Fn(usize) -> usize| {
        let r = clean();
        let channel = |i: usize| Channel {
            name: r.channels()[permute(i)].name.clone(),
            ..r.channels()[i].clone()
        };
        let channels = (0..60).map(channel).collect();
        let events = r.events().to_vec();
        look(Recording::new(channels, 160.0, r.data().to_vec(), events).unwrap())
    };
    assert_eq!(only(&named(&|i| i * 37 % 60), FindingKind::Names), [""]);
    assert_eq!(named(&|i| if i < 2 { 1 - i } else { i }).findings, []);
}

#[test]
fn bare_covariances_are_looked_at_as_well() {
    let of = |scales: [f64; 8]| {
        let x = MatBatch::from_fn(4, 8, 8, |_, r, c| {
            scales[r] * scales[c] * if r == c { 2.0 } else { 0.5 }
        });
        let one = || Factor::from_labels(["S01"; 4]);
        of_trials(&Trials::new(x, one(), one()).unwrap()).unwrap()
    };
    assert_eq!(of([1e-6; 8]).findings, []);
    let flat = of([1.0, 1.0, 1.0, 1e-5, 1.0, 1.0, 1.0, 1.0]);
    assert!(
        flat.findings
            .iter()
            .any(|f| f.kind == FindingKind::Flat && f.electrodes == ["4"])
    );
    let orders: Vec<f64> = (0..8)
        .map(|c| 10.0_f64.powf(f64::from(c) * 18.0 / 7.0 - 9.0))
        .collect();
    assert!(check(&of(orders.try_into().unwrap())).is_err());
}

#[test]
fn windows_with_few_samples_are_shrunk() {
    let mut recipe = recipe();
    recipe.views[0].window = [0.5, 0.75];
    let mut preparing = Preparing::new(&recipe).unwrap();
    preparing.add(clean().clone(), "S01", None).unwrap();
    let made = preparing.finish().unwrap();
    assert_eq!(made.provenance.recipe.estimator, Estimator::Oas);
    assert!(made.trials.ranks().unwrap().iter().all(|rank| *rank == 60));
}
