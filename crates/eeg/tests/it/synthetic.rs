//! What the synthetic study promises: the same bits, independent subjects, the right shape,
//! plausible physiology.

use stiefel_data::Trials;
use stiefel_eeg::covariance::{self, Estimator, Rank, RankLoss};
use stiefel_eeg::montage::Montage;
use stiefel_eeg::signal::{Band, Sos, Window, epochs, zero_phase_recording};
use stiefel_eeg::synthetic::{Imagery, Synthetic, SyntheticConfig, SyntheticReference};

fn small(subjects: usize) -> SyntheticConfig {
    SyntheticConfig::of(
        Montage::Bnci2014001,
        128.0,
        vec![2; subjects],
        2,
        5,
        &[Imagery::RightHand, Imagery::Feet],
    )
}

fn covariances(config: SyntheticConfig, band: Band) -> Trials {
    let fs = config.sampling_rate;
    let labels: Vec<&str> = config.classes.iter().map(|c| c.label()).collect();
    let sos = Sos::butterworth(4, band, fs).unwrap();
    let mut recording = Synthetic::new(config).unwrap().recording(0, 0, 0).unwrap();
    zero_phase_recording(&mut recording, &sos).unwrap();
    let cut = epochs(&recording, &Window::new(1.0, 4.0, &labels), "0", None).unwrap();
    assert!(cut.outside.is_empty());
    covariance::covariances(&cut.epochs, Estimator::Sample).unwrap()
}

#[test]
fn same_seed_same_bits_and_subjects_do_not_depend_on_each_other() {
    let study = Synthetic::new(small(3)).unwrap();
    let recording = study.recording(1, 1, 0).unwrap();
    assert_eq!(recording, study.recording(1, 1, 0).unwrap());
    assert_eq!(
        recording,
        Synthetic::new(small(7))
            .unwrap()
            .recording(1, 1, 0)
            .unwrap()
    );
    let other = Synthetic::new(SyntheticConfig {
        seed: 1,
        ..small(3)
    })
    .unwrap();
    for different in [
        study.recording(0, 1, 0),
        study.recording(1, 0, 0),
        study.recording(1, 1, 1),
        other.recording(1, 1, 0),
    ] {
        assert!(recording.data()[..100] != different.unwrap().data()[..100]);
    }
    for (i, item) in study.recordings().enumerate().skip(6).take(1) {
        let item = item.unwrap();
        assert_eq!((i, item.subject, item.session, item.run), (6, 1, 1, 0));
        assert_eq!(item.recording, recording);
    }
}

#[test]
fn presets_have_the_geometry_of_their_datasets() {
    for (config, channels, fs, recordings, trials) in [
        (SyntheticConfig::weibo2014(), 60, 200.0, 80, 10 * 2 * 80),
        (
            SyntheticConfig::bnci2015001(),
            13,
            512.0,
            28 * 4,
            28 * 2 * 100,
        ),
        (
            SyntheticConfig::bnci2014001(),
            22,
            250.0,
            9 * 2 * 6,
            9 * 2 * 4 * 72,
        ),
    ] {
        let total: usize =
            config.sessions.iter().sum::<usize>() * config.classes.len() * config.trials_per_class;
        assert_eq!(
            (config.channels.len(), config.sampling_rate, total),
            (channels, fs, trials)
        );
        assert_eq!(
            config.sessions.iter().sum::<usize>() * config.runs,
            recordings
        );
        let classes = config.classes.clone();
        let share = config.trials_per_class / config.runs;
        let first = Synthetic::new(config).unwrap().recording(0, 0, 0).unwrap();
        for class in classes {
            assert_eq!(
                first
                    .events()
                    .iter()
                    .filter(|e| e.label == class.label())
                    .count(),
                share
            );
        }
        assert!(first.events().windows(2).all(|w| w[0].sample < w[1].sample));
        assert!(
            first
                .data()
                .iter()
                .all(|x| x.is_finite() && x.abs() < 2000.0)
        );
    }
    // Five trials of each class do not divide into two runs: three and two.
    let study = Synthetic::new(small(1)).unwrap();
    assert_eq!(
        (
            study.recording(0, 0, 0).unwrap().events().len(),
            study.recording(0, 0, 1).unwrap().events().len()
        ),
        (6, 4)
    );
}

#[test]
fn hands_and_feet_desynchronise_their_own_areas() {
    let mut config = small(1);
    config.trials_per_class = 40;
    config.runs = 1;
    config.engagement = 1.0;
    config.depth = 1.0;
    // The model itself, without what hides it on a single electrode.
    config.anatomy_spread = 0.0;
    config.alpha = 0.0;
    config.background = 1.0;
    config.classes = vec![Imagery::LeftHand, Imagery::RightHand, Imagery::Feet];
    let set = covariances(config, Band::BandPass(8.0, 14.0));
    let power = |channel: &str, class: &str| {
        let i = set
            .channel_names()
            .iter()
            .position(|c| c == channel)
            .unwrap();
        let of_class: Vec<f64> = (0..set.len())
            .filter(|&t| set.classes().label(t) == class)
            .map(|t| set.covariances().get(t, i, i))
            .collect();
        of_class.iter().sum::<f64>() / of_class.len() as f64
    };
    assert!(power("C3", "right_hand") < 0.8 * power("C3", "left_hand"));
    assert!(power("C4", "left_hand") < 0.8 * power("C4", "right_hand"));
    assert!(power("Cz", "feet") < 0.8 * power("Cz", "right_hand"));
}

#[test]
fn references_and_rank() {
    let set = covariances(small(1), Band::BandPass(8.0, 32.0));
    assert!(Rank::of_mean(&set, 384).unwrap().is_full());
    let average = SyntheticConfig {
        reference: SyntheticReference::Average,
        ..small(1)
    };
    let rank = Rank::of_mean(&covariances(average, Band::BandPass(8.0, 32.0)), 384).unwrap();
    assert_eq!(
        (rank.rank, rank.losses),
        (21, vec![RankLoss::AverageReference])
    );
}

#[test]
fn without_spread_everyone_has_the_same_field() {
    // Sources alone, equally strong: the expected covariance is L·diag·Lᵀ, the same for all.
    let quiet = |spread: f64| SyntheticConfig {
        anatomy_spread: spread,
        strength_spread: 0.0,
        depth: 0.0,
        blinks_per_minute: 0.0,
        bursts_per_minute: 0.0,
        trials_per_class: 30,
        runs: 1,
        ..small(2)
    };
    let distance = |spread: f64| {
        let study = Synthetic::new(quiet(spread)).unwrap();
        let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), 128.0).unwrap();
        let mean = |subject: usize| {
            let mut recording = study.recording(subject, 0, 0).unwrap();
            zero_phase_recording(&mut recording, &sos).unwrap();
            let cut = epochs(
                &recording,
                &Window::new(0.0, 4.0, &["right_hand", "feet"]),
                "0",
                None,
            )
            .unwrap();
            let set = covariance::covariances(&cut.epochs, Estimator::Sample).unwrap();
            let size = set.channels_count() * set.channels_count();
            (0..size)
                .map(|k| {
                    (0..set.len())
                        .map(|t| set.covariances().matrix(t)[k])
                        .sum::<f64>()
                })
                .collect::<Vec<f64>>()
        };
        let (a, b) = (mean(0), mean(1));
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        norm(&difference) / norm(&a)
    };
    assert!(
        distance(0.0) < 0.5 * distance(1.0),
        "{} {}",
        distance(0.0),
        distance(1.0)
    );
}

#[test]
fn bad_configurations_are_refused() {
    type Spoil = Box<dyn Fn(&mut SyntheticConfig)>;
    let bad: Vec<(&str, Spoil)> = vec![
        ("sampling_rate", Box::new(|c| c.sampling_rate = f64::NAN)),
        ("sampling_rate", Box::new(|c| c.sampling_rate = 60.0)),
        ("imagery", Box::new(|c| c.imagery = 0.0)),
        ("pause", Box::new(|c| c.pause = -1.0)),
        ("engagement", Box::new(|c| c.engagement = 1.5)),
        ("values", Box::new(|c| c.imagery = 1e300)),
        ("strength_spread", Box::new(|c| c.strength_spread = 1e3)),
        ("bursts_per_minute", Box::new(|c| c.bursts_per_minute = 1e9)),
        ("alpha", Box::new(|c| c.alpha = f64::NAN)),
        ("depth", Box::new(|c| c.depth = f64::INFINITY)),
        ("anatomy_spread", Box::new(|c| c.anatomy_spread = -0.1)),
        ("subjects", Box::new(|c| c.sessions.clear())),
        ("subject 1 has 0 sessions", Box::new(|c| c.sessions[1] = 0)),
        ("runs", Box::new(|c| c.runs = 6)),
        ("classes", Box::new(|c| c.classes.clear())),
        ("feet", Box::new(|c| c.classes.push(Imagery::Feet))),
        ("nose", Box::new(|c| c.channels[3] = "nose".into())),
        ("Fz", Box::new(|c| c.channels[3] = "Fz".into())),
    ];
    for (word, spoil) in bad {
        let mut config = small(2);
        spoil(&mut config);
        let message = Synthetic::new(config).unwrap_err().to_string();
        assert!(message.contains(word), "{word}: {message}");
    }
    let study = Synthetic::new(small(2)).unwrap();
    for (subject, session, run) in [(2, 0, 0), (0, 2, 0), (0, 0, 2)] {
        assert!(study.recording(subject, session, run).is_err());
    }
}
