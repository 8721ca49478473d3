//! The live chain against the batch computation, and its promises.

use crate::numbers::{eeg, noise, relative_error};
use proptest::prelude::*;
use stiefel_eeg::covariance::{Estimator, covariances};
use stiefel_eeg::live::{Live, LiveConfig, WindowSpec};
use stiefel_eeg::signal::{Band, FilterState, Sos, filter};
use stiefel_eeg::{Epochs, TrialInfo};

const ESTIMATORS: [Estimator; 4] = [
    Estimator::Sample,
    Estimator::Oas,
    Estimator::LedoitWolf,
    Estimator::SchaeferStrimmer,
];

fn band(low: f64, high: f64) -> Sos {
    Sos::butterworth(4, Band::BandPass(low, high), 160.0).unwrap()
}

fn config(channels: usize, windows: &[usize], estimator: Estimator) -> LiveConfig {
    let views = windows.iter().enumerate();
    LiveConfig {
        channels,
        bands: vec![Some(band(8.0, 32.0)), Some(band(10.0, 14.0))],
        views: views
            .map(|(i, &samples)| WindowSpec {
                band: i % 2,
                samples,
            })
            .collect(),
        memory: windows.iter().max().unwrap() + 50,
        estimator,
    }
}

/// A window of a view, computed by filtering all of the stream and cutting.
fn batch(config: &LiveConfig, stream: &[f64], view: usize, start: usize) -> Vec<f64> {
    let n = config.channels;
    let samples = stream.len() / n;
    let mut rows: Vec<f64> = (0..n)
        .flat_map(|i| (0..samples).map(move |t| stream[t * n + i]))
        .collect();
    let WindowSpec {
        band,
        samples: length,
    } = config.views[view];
    if let Some(sos) = &config.bands[band] {
        let mut state = FilterState::settled(sos, &stream[..n]);
        filter(sos, &mut rows, samples, &mut state).unwrap();
    }
    let cut = |i: usize| rows[i * samples + start..][..length].to_vec();
    let data = (0..n).flat_map(cut).collect();
    let info = TrialInfo {
        label: String::new(),
        domain: String::new(),
        run: None,
    };
    let channels = (0..n).map(|c| eeg(&format!("x{c}"))).collect();
    let epochs = Epochs::new(channels, 160.0, length, data, vec![info]).unwrap();
    let trials = covariances(&epochs, config.estimator).unwrap();
    trials.covariances().matrix(0).to_vec()
}

/// Windows of every view that end at, or so many samples before, the last sample of each block.
fn live(
    config: &LiveConfig,
    stream: &[f64],
    blocks: impl Iterator<Item = usize>,
    lag: u64,
) -> Vec<(usize, usize, Vec<f64>)> {
    let n = config.channels;
    let mut chain = Live::new(config.clone()).unwrap();
    let (mut windows, mut rest) = (Vec::new(), stream);
    for block in blocks {
        let (now, later) = rest.split_at((block * n).min(rest.len()));
        chain.push(now).unwrap();
        rest = later;
        for (v, view) in config.views.iter().enumerate() {
            if chain.samples() >= view.samples as u64 + lag {
                let start = chain.samples() - lag - view.samples as u64;
                let mut c = vec![0.0; n * n];
                chain.covariance(v, start, &mut c).unwrap();
                windows.push((v, start as usize, c));
            }
        }
        if rest.is_empty() {
            break;
        }
    }
    assert!(rest.is_empty());
    windows
}

#[test]
fn live_windows_are_those_of_the_batch() {
    for estimator in ESTIMATORS {
        for (n, windows, lag) in [
            (3, &[50, 33][..], 0),
            (9, &[64, 64, 20], 7),
            (5, &[40, 100], 50),
            (1, &[30], 1),
            (4, &[21, 6], 16),
        ] {
            let config = config(n, windows, estimator);
            let stream = noise(11, n * 700);
            let got = live(&config, &stream, std::iter::repeat(13), lag);
            assert!(got.len() > 40 * windows.len());
            for (view, start, got) in got {
                let want = batch(&config, &stream, view, start);
                let error = relative_error(&got, &want);
                assert!(
                    error < 1e-10,
                    "{estimator:?} {n} {windows:?}, view {view} from {start}: {error:e}"
                );
            }
        }
    }
}

#[test]
fn offsets_and_artefacts_leave_no_trace() {
    let (n, samples) = (4, 20_000);
    let mut config = config(n, &[100], Estimator::Sample);
    // Without a filter the offset of 1e4 and an artefact of 1e7 reach the sums as they are.
    config.bands = vec![None];
    let mut stream: Vec<f64> = noise(12, n * samples).iter().map(|x| x + 1e4).collect();
    for x in &mut stream[n * 10_000..n * 10_020] {
        *x *= 1e3;
    }
    // One channel only, later.
    (14_000..14_010).for_each(|t| stream[t * n + 2] = 1e8);
    let mut worst: f64 = 0.0;
    for (_, start, got) in live(&config, &stream, std::iter::repeat(23), 0) {
        let want = batch(&config, &stream[start * n..][..100 * n], 0, 0);
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
fn after_a_gap_everything_is_as_at_the_start() {
    let config = config(3, &[40, 25], Estimator::Sample);
    let stream = noise(13, 3 * 200);
    let mut chain = Live::new(config.clone()).unwrap();
    chain.push(&stream[..3 * 71]).unwrap();
    chain.skip(30);
    assert_eq!((chain.samples(), chain.began()), (101, 101));
    chain.push(&stream[3 * 71..]).unwrap();
    let mut c = vec![0.0; 9];
    // What is before the gap, over it, or not there yet is refused.
    for start in [60, 90, 100, 101 + 129 - 24] {
        let message = chain.covariance(1, start, &mut c).unwrap_err().to_string();
        assert!(message.contains("was asked for"), "{message}");
    }
    let view = &config.views[1];
    for start in [140, 150, 101 + 129 - view.samples as u64] {
        chain.covariance(1, start, &mut c).unwrap();
        let want = batch(&config, &stream[3 * 71..], 1, start as usize - 101);
        assert!(relative_error(&c, &want) < 1e-10, "{start}");
    }
    assert_eq!(chain.settled(), 101 + chain.settling() as u64);
}

/// A step at the start of a filter at rest has died away by then; sooner it has not.
#[test]
fn filters_settle_in_the_time_they_say() {
    for sos in [band(8.0, 32.0), band(10.0, 14.0)] {
        let mut rows = vec![1.0; 2000];
        filter(&sos, &mut rows, 2000, &mut FilterState::new(&sos, 1)).unwrap();
        let peak = |from: usize| rows[from..].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let settled = sos.settling();
        assert!((20..400).contains(&settled), "{settled}");
        assert!(peak(settled) < 0.02 * peak(0), "{}", peak(settled));
        assert!(peak(settled / 4) > 0.02 * peak(0));
    }
}

#[test]
fn bad_blocks_are_refused_and_change_nothing() {
    let config = config(3, &[20], Estimator::Sample);
    let stream = noise(13, 3 * 100);
    let mut chain = Live::new(config.clone()).unwrap();
    let mut bad = stream[..90].to_vec();
    bad[61] = f64::NAN;
    for block in stream.chunks(30) {
        let message = chain.push(&block[..29]).unwrap_err().to_string();
        assert!(
            message.contains("29") && message.contains("3 channels"),
            "{message}"
        );
        let before = chain.samples();
        let message = chain.push(&bad).unwrap_err().to_string();
        assert!(
            message.contains(&format!("sample {}, channel 1", before + 20)),
            "{message}"
        );
        chain.push(block).unwrap();
    }
    let mut c = vec![0.0; 9];
    chain.covariance(0, 80, &mut c).unwrap();
    let whole = live(&config, &stream, std::iter::repeat(100), 0);
    assert_eq!(c, whole[0].2);
    assert!(chain.covariance(1, 80, &mut c).is_err());
    assert!(chain.covariance(0, 80, &mut c[..8]).is_err());
    assert!(chain.covariance(0, u64::MAX, &mut c).is_err());
    chain.push(&[]).unwrap();
}

#[test]
fn bad_configurations_are_refused() {
    let bad = |change: &dyn Fn(&mut LiveConfig)| {
        let mut config = config(2, &[10], Estimator::Sample);
        change(&mut config);
        let message = Live::new(config).unwrap_err().to_string();
        assert!(message.contains("was asked for"), "{message}");
    };
    bad(&|c| c.channels = 0);
    bad(&|c| c.channels = usize::MAX);
    bad(&|c| c.views.clear());
    bad(&|c| c.views[0].samples = 1);
    bad(&|c| c.views[0].samples = c.memory + 1);
    bad(&|c| c.views[0].band = 2);
    bad(&|c| c.memory = usize::MAX);
    bad(&|c| (c.channels, c.memory) = (1 << 20, 1 << 20));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn block_sizes_do_not_matter_to_the_bit(seed in 0u64..1000, cuts in prop::collection::vec(1usize..90, 1..20), n in 1usize..11) {
        let config = config(n, &[24, 50], Estimator::Sample);
        let stream = noise(seed, n * 300);
        let one_by_one = live(&config, &stream, std::iter::repeat(1), 0);
        for window in live(&config, &stream, cuts.into_iter().cycle(), 0) {
            prop_assert!(one_by_one.contains(&window));
        }
    }
}
