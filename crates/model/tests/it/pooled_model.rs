//! The preset `recommended` as a whole: fits, decisions, reports, files, bad input.

use crate::support::named;
use serde_json::Value;
use std::time::Instant;
use stiefel_linalg::MatBatch;
use stiefel_model::file::seal;
use stiefel_model::pooled::{HeadConfig, HeadTrial, discriminative_anchor};
use stiefel_model::precondition::{Scaling, Tikhonov, UnseenPolicy, Whitening};
use stiefel_model::{Factor, FittedModel, PooledConfig, PooledModel, Preconditioning, Trials};
use stiefel_testkit::{assert_close, random_batch, random_symmetric};

/// Classes that differ along a direction common to all and along one of each domain.
fn trials(seed: u64, count: usize, n: usize, domains: usize) -> Trials {
    let noise = random_symmetric::<f64>(seed, count, n);
    let common = random_batch::<f64>(90, 1, n, 1);
    let own = random_batch::<f64>(91, domains, n, 1);
    let x = MatBatch::from_fn(count, n, n, |i, r, c| {
        let class = (i / domains) % 2;
        let (u, v) = (common.matrix(0), own.matrix(i % domains));
        let sign = if class == 1 { 0.4 } else { -0.4 };
        let outer = (u[r] * u[c] + 2.0 * v[r] * v[c]) / n as f64;
        0.12 * noise.get(i, r, c) + sign * outer + if r == c { 2.0 } else { 0.0 }
    });
    let spd = stiefel_linalg::matmul(x.view(), x.view()).expect("square");
    named(spd, domains)
}

fn config(filters: usize) -> PooledConfig {
    PooledConfig {
        filters,
        refit: false,
        ..PooledConfig::default()
    }
}

#[test]
fn fits_decides_and_reports() {
    let (a, b, test) = (
        trials(1, 160, 6, 4),
        trials(2, 40, 6, 4),
        trials(3, 80, 6, 4),
    );
    let model = PooledModel::fit(&a, &b, &config(4)).expect("fitted");
    assert_eq!(
        model,
        PooledModel::fit(&a, &b, &config(4)).expect("fitted again")
    );
    let report = model.report(&test, 1).expect("a report");
    let accuracy = report.scores.balanced_accuracy.value().expect("trials");
    assert!(accuracy > 0.8, "{accuracy}");
    let stats = report.stats.as_ref().expect("routing");
    assert_eq!(stats.entropy.value(), Some(0.0));
    let controls = report.controls.as_ref().expect("controls");
    assert_eq!(controls.hard_top1, accuracy);
    let gap = report.proxy_gap.value().expect("a proxy");
    assert!((report.proxy_accuracy.value().expect("a proxy") + gap - accuracy).abs() < 1e-12);

    let all = model.predict_proba(&test).expect("probabilities");
    for i in [0, 7, 41] {
        let raw = test.covariances().matrix(i);
        let name = test.domains().name(test.domains().indices()[i]);
        let one = model.decide(raw, HeadTrial::Named(name)).expect("decided");
        for (c, p) in one.iter().enumerate() {
            assert!((p - all.get(0, i, c)).abs() < 1e-12);
        }
    }
    let shared = PooledConfig {
        head: HeadConfig::shared(),
        ..config(4)
    };
    let report = PooledModel::fit(&a, &b, &shared).and_then(|m| m.report(&test, 1));
    assert!(report.expect("a report").proxy_gap.value().is_none());
}

#[test]
fn a_refit_is_a_fit_on_both_parts() {
    let all = trials(1, 160, 6, 4);
    let part = |keep: &dyn Fn(usize) -> bool| {
        let at: Vec<usize> = (0..160).filter(|&i| keep(i)).collect();
        all.select(&at).expect("in range")
    };
    let (a, b) = (part(&|i| i < 112), part(&|i| i >= 112));
    let once = PooledModel::fit(&a, &b, &config(4)).expect("fitted");
    let refit = PooledConfig {
        refit: true,
        ..config(4)
    };
    let twice = PooledModel::fit(&a, &b, &refit).expect("fitted");
    assert_eq!(twice.head().c(), once.head().c());
    assert_eq!(twice.trials(), (112, 48));
    let mut chosen = config(4);
    chosen.head.candidates = vec![once.head().c()];
    let whole = PooledModel::fit(&all, &all, &chosen).expect("fitted");
    assert_eq!(twice.head(), whole.head());
    assert_eq!(twice.anchor(), whole.anchor());
    assert!(a.joined(&trials(1, 20, 5, 4)).is_err(), "other channels");
}

#[test]
fn a_stranger_is_decided_by_the_shared_weights() {
    let all = trials(1, 200, 6, 5);
    let of = |keep: &dyn Fn(usize) -> bool| {
        let at: Vec<usize> = (0..200).filter(|&i| keep(i)).collect();
        all.select(&at).expect("in range")
    };
    let (a, b) = (
        of(&|i| i % 5 < 4 && i < 150),
        of(&|i| i % 5 < 4 && i >= 150),
    );
    let stranger = of(&|i| i % 5 == 4);
    let model = PooledModel::fit(&a, &b, &config(4)).expect("fitted");
    assert!(
        model.evaluate(&stranger).is_err(),
        "no whitening of its own"
    );
    let seen = model
        .evaluate_unseen(&stranger, UnseenPolicy::Pooled)
        .expect("decided");
    let one = model
        .decide(stranger.covariances().matrix(3), HeadTrial::Unseen)
        .expect("decided");
    assert!((one[1] - seen.probabilities.get(0, 3, 1)).abs() < 1e-12);
    assert!(
        model.evaluate_unseen(&a, UnseenPolicy::Pooled).is_err(),
        "known domains"
    );
    assert!(model.head().own(4).is_none() && model.head().own(3).is_some());
}

#[test]
fn bad_input_is_refused_with_the_reason() {
    let (a, b) = (trials(1, 40, 4, 2), trials(2, 20, 4, 2));
    let message = |result: stiefel_model::Result<PooledModel>| {
        result.map(|_| ()).expect_err("refused").to_string()
    };
    assert!(message(PooledModel::fit(&a, &b, &config(0))).contains("at least 1"));
    for (ratio, candidates) in [
        (-1.0, vec![1.0]),
        (f64::NAN, vec![1.0]),
        (8.0, vec![]),
        (8.0, vec![0.0]),
    ] {
        let head = HeadConfig { ratio, candidates };
        let bad = PooledConfig { head, ..config(2) };
        assert!(PooledModel::fit(&a, &b, &bad).is_err());
    }
    let none = b.select(&[]).expect("empty");
    assert!(message(PooledModel::fit(&a, &none, &config(2))).contains("validation"));
    let one_class: Vec<usize> = (0..40).filter(|i| (i / 2) % 2 == 0).collect();
    let text = message(PooledModel::fit(
        &a.select(&one_class).expect("in range"),
        &b,
        &config(2),
    ));
    assert!(text.contains("class \"feet\""), "{text}");
    // Both classes, but never in one domain.
    let apart: Vec<usize> = (0..40).filter(|i| (i / 2) % 2 == i % 2).collect();
    let text = message(PooledModel::fit(
        &a.select(&apart).expect("in range"),
        &b,
        &config(2),
    ));
    assert!(
        text.contains("no domain has trials of two classes"),
        "{text}"
    );
    assert!(discriminative_anchor(&a, 5).is_err() && discriminative_anchor(&a, 0).is_err());
    let model = PooledModel::fit(&a, &b, &config(9)).expect("k is at most the number of channels");
    assert_eq!(model.anchor().shape(), (1, 4, 4));
    assert!(
        model.evaluate(&trials(2, 20, 5, 2)).is_err(),
        "five channels"
    );
    assert!(model.decide(&[1.0; 15], HeadTrial::Known(0)).is_err());
    assert!(model.decide(&[f64::NAN; 16], HeadTrial::Known(0)).is_err());
    assert!(
        model
            .decide(a.covariances().matrix(0), HeadTrial::Known(7))
            .is_err()
    );
    assert!(
        model
            .decide(a.covariances().matrix(0), HeadTrial::Named("nobody"))
            .is_err()
    );
    let empty = a.select(&[]).expect("empty");
    assert!(model.report(&empty, 0).is_err());
}

/// `cargo test -p stiefel-model --release --test it -- --ignored --nocapture pooled` prints how long a fit takes.
#[test]
#[ignore = "a timing, not a check"]
fn time_of_a_fit() {
    let (a, b) = (trials(1, 1680, 64, 40), trials(2, 360, 64, 40));
    let start = Instant::now();
    let model = PooledModel::fit(&a, &b, &PooledConfig::default()).expect("fitted");
    let whole = start.elapsed();
    let z = random_batch::<f64>(5, 1, 1680, 136);
    let (y, d) = (a.classes().indices(), a.domains().indices());
    let start = Instant::now();
    let head = HeadConfig::default()
        .fit(&z, y, d, &z, y, d, (2, 40))
        .expect("fitted");
    println!(
        "64 channels, 40 domains, 1680 trials: {:.0} ms in all (C = {}); four heads alone {:.0} ms (C = {})",
        1e3 * whole.as_secs_f64(),
        model.head().c(),
        1e3 * start.elapsed().as_secs_f64(),
        head.c(),
    );
}

/// A file of its own, gone with the test.
struct Saved(std::path::PathBuf);

impl Saved {
    fn new(name: &str) -> Self {
        Self(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_gives_the_same_model_back() {
    let all = trials(1, 120, 5, 4);
    let known: Vec<usize> = (0..120).filter(|i| i % 4 != 2).collect();
    let a = all.select(&known).expect("in range");
    for (name, head) in [
        ("own", HeadConfig::default()),
        ("shared", HeadConfig::shared()),
    ] {
        let config = PooledConfig { head, ..config(3) };
        let model = PooledModel::fit(&a, &a, &config).expect("fitted");
        let file = Saved::new(&format!("pooled-{name}.safetensors"));
        let fitted = FittedModel::from(model.clone());
        fitted.save(&file.0, true).expect("saved");
        let loaded = FittedModel::load(&file.0).expect("loaded");
        let again = loaded.preset().expect("the preset");
        assert_eq!(*again, model);
        assert!(loaded.network::<f64>().is_none() && !loaded.is_network());
        let (p, q) = (model.predict_proba(&a), again.predict_proba(&a));
        assert_eq!(p.expect("decided"), q.expect("decided"));
    }
}

#[test]
fn other_and_damaged_files_are_refused() {
    let a = trials(1, 60, 4, 3);
    let model = PooledModel::fit(&a, &a, &config(3)).expect("fitted");
    let file = Saved::new("pooled-damaged.safetensors");
    FittedModel::from(model.clone())
        .save(&file.0, true)
        .expect("saved");
    let good = std::fs::read(&file.0).expect("bytes");
    // What is wrong is meant: the checksum is right.
    let load = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        seal(&mut bytes);
        std::fs::write(&file.0, bytes).expect("written");
        FittedModel::load(&file.0)
    };
    for cut in [0, 7, 100, good.len() / 2, good.len() - 1] {
        assert!(load(&good[..cut]).is_err(), "{cut} bytes");
    }
    let header = u64::from_le_bytes(good[..8].try_into().expect("eight")) as usize;
    let text = String::from_utf8(good[8..8 + header].to_vec()).expect("text");
    let with = |from: &str, to: &str| {
        assert!(
            text.contains(from) && from.len() == to.len(),
            "{from} in {text}"
        );
        let mut bytes = good[..8].to_vec();
        bytes.extend(text.replacen(from, to, 1).bytes());
        bytes.extend(&good[8 + header..]);
        load(&bytes)
    };
    for (from, to) in [
        ("stiefel-pooled", "stiefel-fooled"),
        ("\\\"filters\\\":3", "\\\"filters\\\":2"),
        ("head.own", "head.owl"),
        ("\\\"s2\\\"", "\\\"s1\\\""),
        ("\"format_version\":\"2\"", "\"format_version\":\"9\""),
    ] {
        let error = with(from, to).expect_err(to);
        assert!(
            matches!(error, stiefel_model::ModelError::File { .. }),
            "{error}"
        );
    }
    // A value that is not finite, and a filter that is not orthonormal.
    for value in [f64::NAN, 1e3] {
        let table: Value = serde_json::from_str(&text).expect("a table");
        let from = table["anchor"]["data_offsets"][0]
            .as_u64()
            .expect("an offset") as usize;
        let mut bytes = good.clone();
        bytes[8 + header + from..][..8].copy_from_slice(&value.to_le_bytes());
        assert!(load(&bytes).is_err(), "{value}");
    }
    let undamaged = load(&good).expect("undamaged");
    assert_eq!(undamaged.preset(), Some(&model));
}

/// No pre-conditioning and all directions: nothing but the head sees how often a trial is there.
fn plain(c: f64) -> PooledConfig {
    PooledConfig {
        preconditioning: Preconditioning {
            tikhonov: Tikhonov::None,
            whitening: Whitening::None,
            scaling: Scaling::None,
            ..Preconditioning::default()
        },
        head: HeadConfig {
            candidates: vec![c],
            ..HeadConfig::default()
        },
        ..config(5)
    }
}

/// Every matrix is followed by its inverse, in the same domain: the mean of the logarithms is zero, however often a pair is there.
fn pairs(classes: usize) -> Trials {
    let s = random_symmetric::<f64>(4, 60, 5);
    let x = MatBatch::from_fn(120, 5, 5, |i, r, c| {
        let class = (i / 6) % classes;
        let mark = if r == class && c == class { 0.3 } else { 0.0 };
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        sign * (0.3 * s.get(i / 2, r, c) + mark)
    });
    let names = (0..classes).map(|c| format!("c{c}")).collect();
    let class = |i: usize| {
        let class = (i / 6) % classes;
        (class + i % 2) % classes
    };
    Trials::new(
        stiefel_geometry::spd::exp(x.view()).expect("symmetric"),
        Factor::new("class", names, (0..120).map(class).collect()).expect("named"),
        Factor::from_labels((0..120).map(|i| ["s0", "s1", "s2"][(i / 2) % 3])),
    )
    .expect("valid")
}

#[test]
fn a_weight_of_two_is_a_trial_twice() {
    for set in [pairs(2), pairs(3)] {
        let again = |i: &usize| (i / 2).is_multiple_of(4);
        let at: Vec<usize> = (0..120).chain((0..120).filter(again)).collect();
        let twice = set.select(&at).expect("in range");
        let weights = (0..120).map(|i| if again(&i) { 2.0 } else { 1.0 });
        let weighted = set.clone().with_weights(weights.collect()).expect("valid");
        let fit = |t: &Trials, c| PooledModel::fit(t, &set, &plain(c)).expect("fitted");
        let p = |t: &Trials, c| fit(t, c).predict_proba(&set).expect("probabilities");
        let (found, unweighted) = (p(&weighted, 3.0), p(&set, 3.0));
        assert_close("weights", found.data(), p(&twice, 3.0).data(), 1e-9);
        let moved = found.data().iter().zip(unweighted.data());
        assert!(moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) > 1e-3);
        let all = |w| set.clone().with_weights(vec![w; 120]).expect("valid");
        assert_eq!(fit(&all(1.0), 3.0), fit(&set, 3.0));
        // All twice is half the penalty.
        assert_close(
            "all twice",
            p(&all(2.0), 3.0).data(),
            p(&set, 6.0).data(),
            1e-9,
        );
    }
}

#[test]
fn batches_are_decided_one_by_one() {
    let data = trials(1, 80, 6, 4);
    let model = PooledModel::fit(&data, &data, &config(4)).expect("fitted");
    let x = data.covariances();
    let known = model.decide_batch(x.view(), HeadTrial::Known(2));
    let known = known.expect("decided");
    let strangers = model.decide_unseen(x.view(), x.view(), UnseenPolicy::Pooled);
    let strangers = strangers.expect("decided");
    for i in 0..80 {
        let one = |trial| model.decide(x.matrix(i), trial).expect("decided");
        assert_eq!(known.data()[2 * i..][..2], one(HeadTrial::Named("s2")));
        assert_eq!(strangers.data()[2 * i..][..2], one(HeadTrial::Unseen));
    }
    let new = named(x.clone(), 1);
    let names = vec!["new".into()];
    let new = Trials::new(
        new.covariances().clone(),
        new.classes().clone(),
        Factor::new("domain", names, vec![0; 80]).expect("one"),
    )
    .expect("valid");
    let own = UnseenPolicy::OwnMean { kappa: 10.0 };
    let expected = model.evaluate_unseen(&new, own).expect("decided");
    let found = model
        .decide_unseen(x.view(), x.view(), own)
        .expect("decided");
    assert_close(
        "own mean",
        found.data(),
        expected.probabilities.data(),
        1e-12,
    );
    let mut broken = x.clone();
    broken.matrix_mut(7)[1] += 1.0;
    let error = model.decide_batch(broken.view(), HeadTrial::Unseen);
    assert!(
        error
            .expect_err("not symmetric")
            .to_string()
            .contains("trial 7")
    );
    assert!(model.decide_batch(x.view(), HeadTrial::Known(9)).is_err());
}

#[test]
fn a_fit_can_be_stopped() {
    let data = trials(1, 80, 6, 4);
    let asked = std::cell::Cell::new(0);
    let stop_at = |limit: usize| {
        asked.set(0);
        PooledModel::fit_while(&data, &data, &config(4), &|| {
            asked.set(asked.get() + 1);
            asked.get() < limit
        })
    };
    assert_eq!(
        stop_at(usize::MAX),
        PooledModel::fit(&data, &data, &config(4))
    );
    let all = asked.get();
    assert!(all > 10, "{all}");
    for limit in [1, all / 2, all] {
        let error = stop_at(limit).expect_err("stopped");
        assert_eq!(error.to_string(), "routed head: cancelled");
        assert_eq!(asked.get(), limit);
    }
}
