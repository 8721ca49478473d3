//! The live chain against the batch computation, and its promises.

use crate::numbers::{eeg, noise, relative_error};
use proptest::prelude::*;
use std::ops::ControlFlow;
use stiefel_eeg::covariance::{Estimator, covariances};
use stiefel_eeg::live::{Live, LiveConfig};
use stiefel_eeg::signal::{Band, FilterState, Sos, filter};
use stiefel_eeg::{Epochs, TrialInfo};

fn config(channels: usize, window: usize, hop: usize, estimator: Estimator) -> LiveConfig {
    let filter = Some(Sos::butterworth(4, Band::BandPass(8.0, 32.0), 160.0).unwrap());
    LiveConfig {
        channels,
        filter,
        window,
        hop,
        estimator,
    }
}

/// Every window of the stream, computed by filtering all of it and cutting.
fn batch(config: &LiveConfig, stream: &[f64]) -> Vec<Vec<f64>> {
    let n = config.channels;
    let samples = stream.len() / n;
    let mut rows: Vec<f64> = (0..n)
        .flat_map(|i| (0..samples).map(move |t| stream[t * n + i]))
        .collect();
    if let Some(sos) = &config.filter {
        filter(sos, &mut rows, samples, &mut FilterState::new(sos, n)).unwrap();
    }
    let starts = (0..)
        .map(|k| k * config.hop)
        .take_while(|s| s + config.window <= samples);
    starts
        .map(|start| {
            let data = (0..n)
                .flat_map(|i| {
                    rows[i * samples + start..i * samples + start + config.window].to_vec()
                })
                .collect();
            let info = TrialInfo {
                label: String::new(),
                domain: String::new(),
                run: None,
            };
            let channels = (0..n).map(|c| eeg(&format!("x{c}"))).collect();
            let epochs = Epochs::new(channels, 160.0, config.window, data, vec![info]).unwrap();
            let trials = covariances(&epochs, config.estimator).unwrap();
            trials.covariances().matrix(0).to_vec()
        })
        .collect()
}

fn live(config: &LiveConfig, stream: &[f64], blocks: impl Iterator<Item = usize>) -> Vec<Vec<f64>> {
    let mut chain = Live::new(config.clone()).unwrap();
    let mut windows = Vec::new();
    let mut rest = stream;
    for block in blocks {
        let (now, later) = rest.split_at((block * config.channels).min(rest.len()));
        chain
            .push(now, |w| {
                assert_eq!(w.start, (windows.len() * config.hop) as u64);
                assert_eq!(w.end, w.start + config.window as u64);
                windows.push(w.covariance.to_vec());
            })
            .unwrap();
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    assert!(rest.is_empty());
    windows
}

#[test]
fn live_windows_are_those_of_the_batch() {
    for estimator in [
        Estimator::Sample,
        Estimator::Oas,
        Estimator::LedoitWolf,
        Estimator::SchaeferStrimmer,
    ] {
        for (n, window, hop) in [
            (3, 50, 7),
            (9, 64, 64),
            (5, 40, 100),
            (1, 30, 1),
            (4, 21, 10),
        ] {
            let config = config(n, window, hop, estimator);
            let stream = noise(11, n * 700);
            let (got, want) = (
                live(&config, &stream, std::iter::repeat(13)),
                batch(&config, &stream),
            );
            assert_eq!(got.len(), want.len());
            for (k, (got, want)) in got.iter().zip(&want).enumerate() {
                let error = relative_error(got, want);
                assert!(
                    error < 1e-10,
                    "{estimator:?} {n} {window} {hop}, window {k}: {error:e}"
                );
            }
        }
    }
}

#[test]
fn drift_stays_bounded_through_offsets_and_artefacts() {
    let (n, samples) = (4, 60_000);
    let mut config = config(n, 100, 3, Estimator::Sample);
    // Without a filter the offset of 1e4 and an artefact of 1e7 reach the sums as they are.
    config.filter = None;
    let mut stream: Vec<f64> = noise(12, n * samples).iter().map(|x| x + 1e4).collect();
    for x in &mut stream[n * 30_000..n * 30_020] {
        *x *= 1e3;
    }
    // One channel only, later.
    (40_000..40_010).for_each(|t| stream[t * n + 2] = 1e8);
    let (got, want) = (
        live(&config, &stream, std::iter::repeat(501)),
        batch(&config, &stream),
    );
    let mut worst: f64 = 0.0;
    for (got, want) in got.iter().zip(&want) {
        for i in 0..n {
            for j in 0..n {
                // Against the entry's own channels: a loud one may not hide a wrong quiet one.
                let scale = (want[i * n + i] * want[j * n + j]).sqrt();
                worst = worst.max((got[i * n + j] - want[i * n + j]).abs() / scale);
            }
        }
    }
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn bad_blocks_are_refused_and_change_nothing() {
    let config = config(3, 20, 5, Estimator::Sample);
    let stream = noise(13, 3 * 100);
    let mut chain = Live::new(config.clone()).unwrap();
    let mut windows = Vec::new();
    let mut bad = stream[..90].to_vec();
    bad[61] = f64::NAN;
    for block in stream.chunks(30) {
        let message = chain
            .push(&block[..29], |_| panic!("no window"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("29") && message.contains("3 channels"),
            "{message}"
        );
        let before = chain.samples();
        let message = chain
            .push(&bad, |_| panic!("no window"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(&format!("sample {}, channel 1", before + 20)),
            "{message}"
        );
        chain
            .push(block, |w| windows.push(w.covariance.to_vec()))
            .unwrap();
    }
    assert_eq!(windows, live(&config, &stream, std::iter::repeat(100)));
    assert_eq!(chain.push(&[], |_| ()).unwrap(), 0);
}

#[test]
fn bad_configurations_are_refused() {
    for (n, window, hop) in [
        (0, 10, 1),
        (2, 1, 1),
        (2, 10, 0),
        (usize::MAX, 10, 1),
        (2, usize::MAX, 1),
        (1 << 20, 1 << 20, 1),
    ] {
        assert!(
            Live::new(config(n, window, hop, Estimator::Sample)).is_err(),
            "{n} {window} {hop}"
        );
    }
    // A hop of any length is fine: it takes no memory.
    let far = config(2, 10, usize::MAX, Estimator::Sample);
    assert_eq!(Live::new(far).unwrap().push(&[0.5; 60], |_| ()).unwrap(), 1);
}

#[test]
fn streams_can_be_stopped_and_restarted() {
    let config = config(2, 16, 4, Estimator::Sample);
    let stream = noise(14, 2 * 80);
    let mut chain = Live::new(config.clone()).unwrap();
    let mut seen = 0;
    let flow = |seen: &mut usize| {
        *seen += 1;
        if *seen == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let windows = chain.run(stream.chunks(2), |_| flow(&mut seen)).unwrap();
    assert_eq!((windows, seen, chain.samples()), (3, 3, 24));
    chain.reset();
    let mut again = Vec::new();
    chain
        .push(&stream, |w| again.push(w.covariance.to_vec()))
        .unwrap();
    assert_eq!(again, live(&config, &stream, std::iter::repeat(80)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn block_sizes_do_not_matter_to_the_bit(seed in 0u64..1000, cuts in prop::collection::vec(1usize..90, 1..20), n in 1usize..11, hop in 1usize..30) {
        let config = config(n, 24, hop, Estimator::Sample);
        let stream = noise(seed, n * 300);
        let whole = live(&config, &stream, std::iter::once(300));
        prop_assert_eq!(&live(&config, &stream, cuts.into_iter().cycle()), &whole);
        prop_assert_eq!(&live(&config, &stream, std::iter::repeat(1)), &whole);
    }
}
