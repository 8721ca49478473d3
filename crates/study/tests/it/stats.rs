//! Statistics against SciPy and statsmodels, against their definitions, and under bad input.

use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use stiefel_model::Measure;
use stiefel_study::stats::{
    EXACT_SIGN_FLIPS, RANDOM_SIGN_FLIPS, StatsError, above_chance, attainable, compare,
    effect_size, holm, mean_interval, mean_std, sign_flip, sign_flip_above, student,
    trial_interval, wilcoxon,
};
use stiefel_study::tolerance::SIGNIFICANT;

fn numbers(v: &Value) -> Vec<f64> {
    let array = v.as_array().unwrap();
    array.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/stats.json")).unwrap()
}

fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    assert!(gap <= tolerance, "{what}: {found} is off by {gap:e}");
}

#[test]
fn scipy_agrees() {
    let fixture = fixture();
    let cases = fixture["paired"].as_array().unwrap();
    assert_eq!(cases.len(), 32);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let d = numbers(&case["differences"]);
        let near = |what: &str, found: f64| {
            let expected = case[what].as_f64().unwrap();
            assert_near(&format!("{name}, {what}"), found, expected, 1e-12);
        };
        near("wilcoxon", wilcoxon(&d).unwrap().value().unwrap());
        near("effect", effect_size(&d).unwrap().value().unwrap());
        let m = mean_std(&d).unwrap();
        near("mean", m.mean);
        near("std", m.std);
        if d.len() <= EXACT_SIGN_FLIPS {
            near("sign_flip", sign_flip(&d, 0).unwrap().value().unwrap());
        }
    }
}

#[test]
fn small_p_values_keep_their_digits() {
    // 109 subjects, far from zero: an absolute tolerance says nothing here.
    let fixture = fixture();
    let cases = fixture["paired"].as_array().unwrap();
    let case = cases.iter().find(|c| c["name"] == "shifted 109").unwrap();
    let found = wilcoxon(&numbers(&case["differences"])).unwrap();
    let ratio = found.value().unwrap() / case["wilcoxon"].as_f64().unwrap();
    assert!(found.value().unwrap() < 1e-12);
    assert_near("ratio", ratio, 1.0, 1e-12);
}

#[test]
fn random_flips_come_close_to_all_flips() {
    let fixture = fixture();
    let cases = fixture["paired"].as_array().unwrap();
    let case = cases.iter().find(|c| c["name"] == "plain 18").unwrap();
    let d = numbers(&case["differences"]);
    let p = case["sign_flip"].as_f64().unwrap();
    // Four standard deviations of a share of that many.
    let allowed = 4.0 * (p * (1.0 - p) / RANDOM_SIGN_FLIPS as f64).sqrt();
    let found: Vec<f64> = (0..5)
        .map(|seed| sign_flip(&d, seed).unwrap().value().unwrap())
        .collect();
    for &found in &found {
        assert_near("sign flips", found, p, allowed);
    }
    assert!(found.iter().any(|p| *p != found[0]));
    assert_eq!(sign_flip(&d, 3).unwrap().value(), Some(found[3]));
    // The +1 rule: never zero.
    let sure = vec![1.0; 70];
    let p = sign_flip(&sure, 0).unwrap().value().unwrap();
    assert_eq!(p, 1.0 / (RANDOM_SIGN_FLIPS + 1) as f64);
}

#[test]
fn statsmodels_agrees_on_holm() {
    let fixture = fixture();
    for case in fixture["holm"].as_array().unwrap() {
        let p: Vec<Option<f64>> = numbers(&case["p"]).into_iter().map(Some).collect();
        let found = holm(&p).unwrap();
        for (found, expected) in found.iter().zip(numbers(&case["holm"])) {
            assert_near("holm", found.unwrap(), expected, 1e-12);
        }
    }
    assert_eq!(holm(&[]).unwrap(), []);
    assert_eq!(holm(&[None]).unwrap(), [None]);
}

#[test]
fn what_does_not_exist_has_a_reason() {
    for (d, word) in [
        (vec![], "two subjects"),
        (vec![0.4], "two subjects"),
        (vec![0.0; 8], "zero"),
        (vec![0.0; 80], "zero"),
    ] {
        for found in [wilcoxon(&d).unwrap(), sign_flip(&d, 0).unwrap()] {
            assert!(found.reason().unwrap().contains(word), "{found:?}");
        }
        assert!(effect_size(&d).unwrap().reason().is_some());
    }
    // Equal but for rounding: no spread.
    let d = [0.3 - 0.2, 0.2 - 0.1, 0.1];
    let found = effect_size(&d).unwrap();
    assert!(found.reason().unwrap().contains("equal"), "{found:?}");
    assert!(matches!(
        compare(&[], &[], 0).unwrap().difference,
        Measure::Undefined(_)
    ));
}

#[test]
fn scores_that_differ_by_rounding_are_equal() {
    let c = compare(&[0.1 + 0.2, 0.7], &[0.3, 0.7], 0).unwrap();
    assert_eq!(c.difference.value(), Some(0.0));
    assert!(c.wilcoxon.reason().unwrap().contains("zero"));
    // Ties that binary fractions hide: 0.3 − 0.2, 0.2 − 0.1 and 0.1 are one group of three.
    let hidden = wilcoxon(&[0.3 - 0.2, 0.2 - 0.1, -0.1, 0.5]).unwrap();
    assert_eq!(hidden, wilcoxon(&[1.0, 1.0, -1.0, 5.0]).unwrap());
}

#[test]
fn bad_input_is_an_error() {
    for bad in [f64::NAN, f64::INFINITY] {
        let d = [0.1, bad];
        let named = |e: StatsError| matches!(e, StatsError::NotFinite { index: 1, .. });
        assert!(named(wilcoxon(&d).unwrap_err()));
        assert!(named(sign_flip(&d, 0).unwrap_err()));
        assert!(named(effect_size(&d).unwrap_err()));
        assert!(named(mean_std(&d).unwrap_err()));
        assert!(named(compare(&[0.1, 0.2], &d, 0).unwrap_err()));
    }
    assert_eq!(mean_std(&[]).unwrap_err(), StatsError::Empty);
    for bad in [f64::NAN, -0.1, 1.5] {
        let error = holm(&[Some(0.5), Some(bad)]).unwrap_err();
        assert!(matches!(
            error,
            StatsError::NotAProbability { index: 1, .. }
        ));
    }
    let error = compare(&[0.5], &[0.5, 0.6], 0).unwrap_err();
    assert_eq!(
        error,
        StatsError::Unpaired {
            first: 1,
            second: 2
        }
    );
}

/// Balanced accuracy of random decisions: 12 subjects, 5 folds of 8 trials each.
fn random_scores(rng: &mut ChaCha8Rng) -> [[f64; 5]; 12] {
    let mut fold = || f64::from((rng.next_u32() & 0xff).count_ones()) / 8.0;
    std::array::from_fn(|_| std::array::from_fn(|_| fold()))
}

#[test]
fn random_decisions_raise_about_as_many_alarms_as_the_level_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let (repetitions, methods) = (2000, 4);
    let (mut single, mut family, mut old) = (0, 0, 0);
    for _ in 0..repetitions {
        let scores: Vec<_> = (0..methods).map(|_| random_scores(&mut rng)).collect();
        let by_subject: Vec<Vec<f64>> = (scores.iter())
            .map(|s| s.iter().map(|f| f.iter().sum::<f64>() / 5.0).collect())
            .collect();
        let alarm = |p: &[Option<f64>]| p.iter().any(|p| p.unwrap() < SIGNIFICANT);
        single += usize::from(alarm(&above_chance(&by_subject[..1], 0.5, 0).unwrap()));
        family += usize::from(alarm(&above_chance(&by_subject, 0.5, 0).unwrap()));
        // What the null study once did: two standard errors over folds, and no correction.
        old += usize::from(scores.iter().any(|s| {
            let fold = |f: usize| s.iter().map(|subject| subject[f]).sum::<f64>() / 12.0;
            let m = mean_std(&[0, 1, 2, 3, 4].map(fold)).unwrap();
            m.mean - 0.5 > 2.0 * m.std / 5_f64.sqrt()
        }));
    }
    let rate = |count: usize| count as f64 / f64::from(repetitions);
    // Three standard deviations of a rate of .05 over the repetitions are .015; ties make the test
    // a little cautious.
    assert!((0.03..0.065).contains(&rate(single)), "{}", rate(single));
    assert!((0.02..0.065).contains(&rate(family)), "{}", rate(family));
    assert!(rate(old) > 1.0 / 7.0, "{}", rate(old));
}

#[test]
fn what_is_attainable_is_what_the_best_data_reach() {
    for subjects in [2, 3, 6, 12, 17] {
        let best = vec![0.1; subjects];
        let p = sign_flip(&best, 0).unwrap().value().unwrap();
        let least = attainable(subjects, 1, 2);
        assert!(
            p >= least && (subjects > 16 || p == least),
            "{subjects}: {p} {least}"
        );
        let p = sign_flip_above(&best, 0).unwrap().value().unwrap();
        let least = attainable(subjects, 1, 1);
        assert!(
            p >= least && (subjects > 16 || p == least),
            "{subjects}: {p} {least}"
        );
    }
    // Six people and eleven comparisons reach nothing.
    let p: Vec<Option<f64>> = vec![Some(2.0 / 64.0); 11];
    assert_eq!(holm(&p).unwrap()[0], Some(attainable(6, 11, 2)));
    assert!(
        sign_flip_above(&[-0.1, -0.2, -0.3], 0)
            .unwrap()
            .value()
            .unwrap()
            > 0.8
    );
}

/// Both tests from their definition: every choice of signs, ranks by counting.
fn naive(d: &[f64]) -> (f64, f64) {
    let left: Vec<f64> = d.iter().copied().filter(|d| *d != 0.0).collect();
    let rank = |x: f64| {
        let below = left.iter().filter(|d| d.abs() < x.abs()).count();
        let equal = left.iter().filter(|d| d.abs() == x.abs()).count();
        below as f64 + f64::midpoint(equal as f64, 1.0)
    };
    let signed: Vec<f64> = left.iter().map(|&d| rank(d) * d.signum()).collect();
    let share = |values: &[f64]| {
        let observed = values.iter().sum::<f64>().abs();
        let reached = (0..1_u32 << values.len()).filter(|signs| {
            let flipped = values.iter().enumerate();
            let sum: f64 = flipped
                .map(|(s, v)| if signs >> s & 1 == 1 { -v } else { *v })
                .sum();
            sum.abs() >= observed
        });
        reached.count() as f64 / f64::from(1_u32 << values.len())
    };
    (share(&signed), share(d))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_tests_follow_their_definitions(eighths in prop::collection::vec(-6_i32..=6, 2..11)) {
        prop_assume!(eighths.iter().any(|&e| e != 0));
        let d: Vec<f64> = eighths.iter().map(|&e| f64::from(e) / 8.0).collect();
        let (rank, mean) = naive(&d);
        prop_assert!((wilcoxon(&d).unwrap().value().unwrap() - rank).abs() < 1e-12);
        prop_assert!((sign_flip(&d, 0).unwrap().value().unwrap() - mean).abs() < 1e-12);
    }

    #[test]
    fn tests_are_two_sided_and_scale_free(d in prop::collection::vec(-1.0_f64..1.0, 2..60), scale in 1e-6_f64..1e6) {
        let other: Vec<f64> = d.iter().map(|d| -scale * d).collect();
        let p = wilcoxon(&d).unwrap().value().unwrap();
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert_eq!(p, wilcoxon(&other).unwrap().value().unwrap());
        let p = sign_flip(&d, 1).unwrap().value().unwrap();
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert_eq!(p, sign_flip(&other, 1).unwrap().value().unwrap());
    }

    #[test]
    fn holm_lies_between_p_and_bonferroni(p in prop::collection::vec(0.0_f64..=1.0, 1..12)) {
        let given: Vec<Option<f64>> = p.iter().copied().map(Some).collect();
        let corrected = holm(&given).unwrap();
        for (i, c) in corrected.iter().enumerate() {
            let c = c.unwrap();
            prop_assert!(c >= p[i] && c <= (p.len() as f64 * p[i]).min(1.0));
            for (j, other) in corrected.iter().enumerate() {
                prop_assert!(p[i] >= p[j] || c <= other.unwrap());
            }
        }
    }
}

#[test]
fn students_quantiles_are_those_of_the_tables() {
    // scipy.stats.t.ppf(0.975, ν) and ppf(0.995, ν), SciPy 1.17.1.
    for (freedom, t95, t99) in [
        (1, 12.706_204_736_174_698, 63.656_741_162_871_53),
        (2, 4.302_652_729_749_464, 9.924_843_200_918_29),
        (3, 3.182_446_305_283_710_5, 5.840_909_309_733_356),
        (8, 2.306_004_135_204_166_4, 3.355_387_331_333_395),
        (52, 2.006_646_805_061_688, 2.673_733_630_647_219_7),
        (199, 1.971_956_544_251_753_3, 2.600_760_216_058_516),
    ] {
        for (level, expected) in [(0.95, t95), (0.99, t99)] {
            let found = student(level, freedom);
            assert!((found / expected - 1.0).abs() < 1e-10, "{freedom}: {found}");
        }
    }
}

#[test]
fn intervals_of_people_and_trials_are_what_their_formulas_say() {
    let d = [0.10, -0.02, 0.05, 0.07];
    let (low, high) = mean_interval(&d).unwrap().unwrap();
    // Mean 0.05, standard deviation 0.05099 with n − 1, t = 3.18245.
    assert!(
        (low + 0.031_136).abs() < 1e-5 && (high - 0.131_136).abs() < 1e-5,
        "{low} {high}"
    );
    assert_eq!(mean_interval(&[0.3]).unwrap(), None);
    assert!(mean_interval(&[0.3, f64::NAN]).is_err() && mean_interval(&[f64::NAN]).is_err());
    // Three trials of one class, two of the other: m = 4 and 3, Σe² + ½ = 1.5 and 1.75.
    let half = trial_interval(&[vec![1.0, 0.0, 0.0], vec![-1.0, 0.5]])
        .unwrap()
        .unwrap();
    let first: f64 = (1.5 / 4.0 - (1.0_f64 / 4.0).powi(2)) / 3.0;
    let second: f64 = (1.75 / 3.0 - (-0.5_f64 / 3.0).powi(2)) / 2.0;
    assert!(
        (half - student(0.95, 4) * (first + second).sqrt() / 2.0).abs() < 1e-12,
        "{half}"
    );
    // A class without trials is none; one trial says nothing.
    let with_empty = trial_interval(&[vec![1.0, 0.0, 0.0], vec![], vec![-1.0, 0.5]]).unwrap();
    assert_eq!(with_empty, Some(half));
    assert_eq!(trial_interval(&[vec![1.0], vec![]]).unwrap(), None);
    assert!(trial_interval(&[vec![f64::NAN, 0.0]]).is_err());
}
