//! Time stamps: jitter, gaps, and rates that are a little off.

use stiefel_live::Clock;

/// A simple generator, the same on every run.
fn noise(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Offers a stamp; how many samples are missing before those that have their place now.
fn take(clock: &mut Clock, stamp: f64) -> u64 {
    clock.offer(stamp);
    let mut missing = 0;
    while let Some(count) = clock.place() {
        missing += count;
    }
    missing
}

#[test]
fn two_hours_at_a_rate_that_is_twenty_millionths_off() {
    for (ppm, jitter) in [(20.0, 0.0), (-20.0, 0.0), (20.0, 2e-3), (0.0, 4e-3)] {
        let (mut clock, mut state) = (Clock::new(160.0), 7);
        let rate = 160.0 * (1.0 + ppm * 1e-6);
        let (mut missing, mut worst) = (0, 0.0_f64);
        for k in 0..160 * 7200 {
            let exact = 1e6 + f64::from(k) / rate;
            missing += take(&mut clock, exact + jitter * noise(&mut state));
            if k > 160 * 60 {
                worst = worst.max((clock.time().unwrap() - exact).abs());
            }
        }
        assert_eq!(missing, 0, "{ppm} {jitter}");
        assert!(!clock.is_off());
        // No drift: after two hours the clock is within a tenth of a sample of the truth.
        assert!(worst < 0.1 / 160.0, "{ppm} {jitter}: {worst}");
        assert!(
            (clock.rate() / rate - 1.0).abs() < if jitter > 0.0 { 1e-4 } else { 1e-8 },
            "{}",
            clock.rate()
        );
    }
}

#[test]
fn gaps_are_counted_exactly_under_jitter() {
    let (mut clock, mut state) = (Clock::new(250.0), 3);
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    let (mut place, mut placed) = (0_u64, 0_u64);
    for k in 0..100_000_u64 {
        if k % 9973 == 5000 {
            let lost = 8 + k % 50;
            place += lost;
            expected.push((k, lost));
        }
        let stamp = 5.0 + place as f64 / 250.0 + 1e-3 * noise(&mut state);
        clock.offer(stamp);
        while let Some(missing) = clock.place() {
            if missing > 0 {
                found.push((placed, missing));
            }
            placed += 1;
        }
        place += 1;
    }
    assert_eq!(found, expected);
}

#[test]
fn stamps_that_go_back_start_the_clock_anew_and_another_rate_is_noticed() {
    let mut clock = Clock::new(100.0);
    (0..500).for_each(|k| assert_eq!(take(&mut clock, f64::from(k) / 100.0), 0));
    // Another stream: something is missing before it, and nobody can say how much.
    assert_eq!(take(&mut clock, 1.0), 1);
    assert_eq!(take(&mut clock, 1.01), 0);
    assert!((clock.samples_to(1.06).unwrap() - 5.0).abs() < 1e-6);
    let mut clock = Clock::new(100.0);
    (0..20_000).for_each(|k| assert_eq!(take(&mut clock, f64::from(k) / 99.0), 0));
    assert!(clock.is_off(), "{}", clock.rate());
}

/// A machine that hiccups: samples arrive 40 ms late, then catch up. None is missing.
#[test]
fn a_hiccup_is_no_gap() {
    let mut clock = Clock::new(160.0);
    let mut missing = 0;
    for k in 0..9500 {
        let late = if k % 800 > 790 { 0.04 } else { 0.0 };
        missing += take(&mut clock, f64::from(k) / 160.0 + late);
    }
    assert_eq!(missing, 0);
    assert!((clock.time().unwrap() - 9499.0 / 160.0).abs() < 0.5 / 160.0);
}
