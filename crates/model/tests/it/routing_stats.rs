//! Routing statistics against the golden files, against their definitions, and under bad input.

use proptest::prelude::*;
use stiefel_linalg::{MatBatch, qr};
use stiefel_model::routing_stats::{
    expert_diversity, largest_mean_angle, random_mean_angle, routing_stats,
};
use stiefel_testkit::{Golden, random_batch};

const FILES: [&str; 16] = [
    "small_4class",
    "small_all_losses",
    "small_barrier",
    "small_dasp_full",
    "small_ded_nodsp",
    "small_naive_bary",
    "small_naive_bary_alpha",
    "small_naive_w1",
    "small_noemb",
    "small_polar",
    "small_polar_retr",
    "medium_dasp_full",
    "medium_ded_nodsp",
    "medium_naive_w1",
    "medium_polar",
    "bnci2014001_ded",
];

#[test]
fn golden_diagnostics() {
    let mut angles = 0;
    for file in FILES {
        let golden = Golden::open(file);
        let alpha: MatBatch<f64> = golden.batch("out_alpha");
        let stats = routing_stats(alpha.view(), &golden.indices("d")).unwrap();
        let close = |found: Option<f64>, key: &str| {
            let gap = (found.unwrap() - golden.scalar(key)).abs();
            assert!(gap < 1e-11, "{file} {key}: {gap:e}");
        };
        close(stats.entropy.value(), "diag_H");
        close(stats.domain_alignment_paper.value(), "diag_r_d");
        if golden.has("diag_diversity_deg") {
            let key = if golden.has("p_W") { "p_W" } else { "p_Q" };
            let experts: MatBatch<f64> = golden.batch(key);
            let found = expert_diversity(experts.view()).unwrap();
            close(found.mean_angle.value(), "diag_diversity_deg");
            angles += 1;
        }
    }
    assert!(angles >= 14, "{angles}");
}

/// Rows on the simplex.
fn weights(seed: u64, count: usize, k: usize) -> MatBatch<f64> {
    let g = random_batch::<f64>(seed, count, 1, k);
    let sum = |i: usize| (0..k).map(|j| g.get(i, 0, j).exp()).sum::<f64>();
    MatBatch::from_fn(count, 1, k, |i, _, j| g.get(i, 0, j).exp() / sum(i))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn ranges_and_symmetries(seed in 0_u64..1000, k in 2_usize..6, count in 4_usize..30) {
        let alpha = weights(seed, count, k);
        let domains: Vec<usize> = (0..count).map(|i| i % 3).collect();
        let stats = routing_stats(alpha.view(), &domains).unwrap();
        let (h, r) = (stats.entropy.value().unwrap(), stats.domain_alignment.value().unwrap());
        prop_assert!((0.0..=1.0).contains(&h) && (0.0..=1.0).contains(&r));
        prop_assert!((stats.mean_weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Neither depends on the names of experts or domains.
        let renamed = MatBatch::from_fn(count, 1, k, |i, _, j| alpha.get(i, 0, (j + 1) % k));
        let moved: Vec<usize> = domains.iter().map(|d| 100 - d).collect();
        let again = routing_stats(renamed.view(), &moved).unwrap();
        prop_assert!((again.entropy.value().unwrap() - h).abs() < 1e-12);
        prop_assert!((again.domain_alignment.value().unwrap() - r).abs() < 1e-12 * r.max(1.0));
        // One matrix of N rows is the same as N matrices of one.
        let flat = MatBatch::from_vec(1, count, k, alpha.data().to_vec()).unwrap();
        prop_assert_eq!(routing_stats(flat.view(), &domains).unwrap(), stats);
    }

    #[test]
    fn with_equally_many_trials_both_alignments_are_one(seed in 0_u64..1000) {
        let alpha = weights(seed, 24, 4);
        let domains: Vec<usize> = (0..24).map(|i| i % 4).collect();
        let stats = routing_stats(alpha.view(), &domains).unwrap();
        let (ours, paper) = (stats.domain_alignment.value().unwrap(), stats.domain_alignment_paper.value().unwrap());
        prop_assert!((ours - paper).abs() < 1e-12);
    }
}

#[test]
fn a_large_domain_near_the_mean_drives_the_papers_alignment_above_one() {
    // Nine trials of one domain, one of the other, each domain with one vector of weights: the
    // domain explains everything.
    let alpha = MatBatch::from_fn(10, 1, 2, |i, _, j| f64::from(u8::from((i < 9) == (j == 0))));
    let domains: Vec<usize> = (0..10).map(|i| usize::from(i == 9)).collect();
    let stats = routing_stats(alpha.view(), &domains).unwrap();
    assert_eq!(stats.domain_alignment.value(), Some(1.0));
    assert!(stats.domain_alignment_paper.value().unwrap() > 2.7);
}

#[test]
fn extremes() {
    let uniform = MatBatch::from_fn(6, 1, 4, |_, _, _| 0.25);
    let stats = routing_stats(uniform.view(), &[0, 1, 2, 0, 1, 2]).unwrap();
    assert_eq!(stats.entropy.value(), Some(1.0));
    assert!(
        stats
            .domain_alignment
            .reason()
            .unwrap()
            .contains("same for every trial")
    );
    // The rounding of a softmax in f32 is no routing either.
    let noisy = MatBatch::from_fn(6, 1, 2, |i, _, j| {
        0.5_f32 + if j == i % 2 { 3e-8 } else { -3e-8 }
    });
    let stats = routing_stats(noisy.view(), &[0, 1, 0, 1, 0, 1]).unwrap();
    assert!(stats.domain_alignment.value().is_none());
    let one_domain = routing_stats(weights(1, 5, 3).view(), &[7; 5]).unwrap();
    assert!(
        one_domain
            .domain_alignment
            .reason()
            .unwrap()
            .contains("one domain")
    );
    let one_expert =
        routing_stats(MatBatch::from_fn(3, 1, 1, |_, _, _| 1.0).view(), &[0, 1, 2]).unwrap();
    assert!(one_expert.entropy.reason().unwrap().contains("one expert"));
}

#[test]
fn random_angles_are_those_of_pairs_drawn_and_measured() {
    // Known: lines in the plane 45°, lines in space 1 radian.
    assert!((random_mean_angle(2, 1).unwrap() - 45.0).abs() < 0.4);
    assert!((random_mean_angle(3, 1).unwrap() - 57.2958).abs() < 0.4);
    // By duality planes in space have half of that (one of two angles is zero), and by definition k
    // = n has none.
    assert!((random_mean_angle(3, 2).unwrap() - 28.6479).abs() < 0.4);
    assert_eq!(random_mean_angle(4, 4).unwrap(), 0.0);
    // Against many experts drawn at random, all their pairs measured.
    for (n, k) in [(6, 3), (7, 5), (12, 4)] {
        let experts = qr(random_batch::<f64>(3, 60, n, k).view()).unwrap().q;
        let d = expert_diversity(experts.view()).unwrap();
        let gap = (d.mean_angle.value().unwrap() - d.random_mean_angle.value().unwrap()).abs();
        assert!(gap < 1.0, "{n} {k} {gap}");
    }
    assert_eq!(
        random_mean_angle(22, 20).unwrap(),
        random_mean_angle(22, 20).unwrap()
    );
}

#[test]
fn shares_of_the_largest_mean() {
    assert_eq!(largest_mean_angle(13, 12), 7.5);
    assert_eq!(largest_mean_angle(60, 30), 90.0);
    // Two hyperplanes with orthogonal normals reach the largest mean of 13 → 12.
    let axes = |skip: usize| {
        move |r: usize, c: usize| f64::from(u8::from(r == c + usize::from(c >= skip)))
    };
    let experts = MatBatch::from_fn(2, 13, 12, |i, r, c| axes(i)(r, c));
    let d = expert_diversity(experts.view()).unwrap();
    assert!((d.share_of_largest.value().unwrap() - 1.0).abs() < 1e-9);
    // In the whole space there is no share; of one expert there is no angle.
    let whole = expert_diversity(MatBatch::<f64>::identity(2, 3).view()).unwrap();
    assert_eq!(whole.mean_angle.value(), Some(0.0));
    assert!(whole.share_of_largest.reason().unwrap().contains("k = n"));
    let one = expert_diversity(MatBatch::<f64>::identity(1, 3).view()).unwrap();
    assert!(one.mean_angle.reason().is_some() && one.random_mean_angle.value().is_some());
}

#[test]
fn bad_input() {
    let alpha = weights(1, 4, 3);
    assert!(routing_stats(alpha.view(), &[0, 1, 2]).is_err());
    assert!(routing_stats(MatBatch::<f64>::zeros(0, 1, 3).view(), &[]).is_err());
    assert!(routing_stats(MatBatch::<f64>::zeros(3, 1, 0).view(), &[0, 1, 2]).is_err());
    for (at, bad) in [(4, f64::NAN), (4, -0.1), (4, 2.0)] {
        let mut wrong = alpha.clone();
        wrong.data_mut()[at] = bad;
        let error = routing_stats(wrong.view(), &[0, 1, 0, 1]).unwrap_err();
        assert!(error.to_string().contains("trial 1"), "{error}");
    }
    assert!(
        expert_diversity(random_batch::<f64>(1, 3, 4, 2).view()).is_err(),
        "not orthonormal"
    );
    assert!(
        expert_diversity(MatBatch::<f64>::zeros(3, 2, 4).view()).is_err(),
        "wide"
    );
    assert!(random_mean_angle(3, 0).is_err());
}
