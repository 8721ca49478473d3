//! The preset `recommended`: the head against scikit-learn, the filter against its definition, the whole against bad input.

use crate::support::named;
use serde_json::Value;
use std::time::Instant;
use stiefel_geometry::stiefel::orthonormality_defect;
use stiefel_linalg::{MatBatch, Op, matmul, product};
use stiefel_model::pooled::{
    HeadConfig, HeadRouting, HeadTrial, RoutedHead, discriminative_anchor,
};
use stiefel_model::precondition::UnseenPolicy;
use stiefel_model::{Factor, PooledConfig, PooledModel, Trials};
use stiefel_testkit::{random_batch, random_spd, random_symmetric};

struct Case {
    z: MatBatch<f64>,
    labels: Vec<usize>,
    domains: Vec<usize>,
    sizes: (usize, usize),
    config: HeadConfig,
    decision: Vec<f64>,
}

fn cases() -> Vec<Case> {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../fixtures/pooled.json")).expect("the fixture");
    let floats = |v: &Value| serde_json::from_value::<Vec<f64>>(v.clone()).expect("numbers");
    let indices = |v: &Value| serde_json::from_value::<Vec<usize>>(v.clone()).expect("indices");
    let size = |v: &Value| v.as_u64().expect("a size") as usize;
    let case = |c: &Value| {
        let (labels, z) = (indices(&c["labels"]), floats(&c["z"]));
        Case {
            z: MatBatch::from_vec(1, labels.len(), size(&c["width"]), z).expect("rows"),
            labels,
            domains: indices(&c["domain"]),
            sizes: (size(&c["classes"]), size(&c["domains"])),
            config: HeadConfig {
                ratio: c["rho"].as_f64().expect("rho"),
                candidates: vec![c["c"].as_f64().expect("c")],
            },
            decision: floats(&c["decision"]),
        }
    };
    all.iter().map(case).collect()
}

impl Case {
    fn fit(&self) -> RoutedHead {
        let (z, y, d) = (&self.z, &self.labels, &self.domains);
        let head = self.config.fit(z, y, d, z, y, d, self.sizes);
        head.expect("a minimum")
    }
}

#[test]
fn equals_scikit_learn_on_the_feature_map() {
    for case in cases() {
        let head = case.fit();
        let routing = HeadRouting::Domain(&case.domains);
        let scores = head
            .decision_values(case.z.view(), routing)
            .expect("scores");
        let l = scores.cols();
        // Several scores are given up to a common offset.
        let offset = |row: &[f64]| {
            if l == 1 {
                0.0
            } else {
                row.iter().sum::<f64>() / l as f64
            }
        };
        let rows = scores.data().chunks_exact(l);
        for (ours, theirs) in rows.zip(case.decision.chunks_exact(l)) {
            for (a, b) in ours.iter().zip(theirs) {
                let difference = (a - offset(ours)) - (b - offset(theirs));
                assert!(
                    difference.abs() < 1e-6,
                    "{difference:e} in {:?}",
                    case.config
                );
            }
        }
    }
}

/// The penalised loss, written down plainly.
fn objective(case: &Case, shared: &MatBatch<f64>, own: &MatBatch<f64>, b: &[f64]) -> f64 {
    let (p, l) = (shared.cols(), shared.rows());
    let n = case.labels.len();
    let (vs, vo) = case.config.variances(case.config.candidates[0]);
    let centre: Vec<f64> = (0..p)
        .map(|j| (0..n).map(|i| case.z.get(0, i, j)).sum::<f64>() / n as f64)
        .collect();
    let squares = |m: &MatBatch<f64>| m.data().iter().map(|v| v * v).sum::<f64>();
    let mut f = squares(shared) / (2.0 * vs);
    if vo > 0.0 {
        f += squares(own) / (2.0 * vo);
    }
    for i in 0..n {
        let mut eta: Vec<f64> = (0..l)
            .map(|s| {
                let weight = |j| shared.get(0, s, j) + own.get(case.domains[i], s, j);
                b[s] + (0..p)
                    .map(|j| weight(j) * (case.z.get(0, i, j) - centre[j]))
                    .sum::<f64>()
            })
            .collect();
        if l == 1 {
            eta.insert(0, 0.0);
        }
        f += eta.iter().map(|e| e.exp()).sum::<f64>().ln() - eta[case.labels[i]];
    }
    f
}

#[test]
fn the_gradient_vanishes_at_the_minimum() {
    for case in cases() {
        let head = case.fit();
        let (shared, b) = (head.shared(), head.intercept());
        let (l, p) = (shared.rows(), shared.cols());
        let own = &MatBatch::from_fn(case.sizes.1, l, p, |d, s, j| {
            head.own(d).map_or(0.0, |own| own[s * p + j])
        });
        let at = |s: &MatBatch<f64>, o: &MatBatch<f64>, b: &[f64]| objective(&case, s, o, b);
        let h = 1e-5;
        let slope = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
        let mut worst = 0.0_f64;
        for e in 0..shared.data().len() {
            let moved = |t: f64| {
                let mut s = shared.clone();
                s.data_mut()[e] += t;
                at(&s, own, b)
            };
            worst = worst.max(slope(&moved).abs());
        }
        let own_count = if case.config.ratio > 0.0 {
            own.data().len()
        } else {
            0
        };
        for e in 0..own_count {
            let moved = |t: f64| {
                let mut o = own.clone();
                o.data_mut()[e] += t;
                at(shared, &o, b)
            };
            worst = worst.max(slope(&moved).abs());
        }
        for e in 0..b.len() {
            let moved = |t: f64| {
                let mut b = b.to_vec();
                b[e] += t;
                at(shared, own, &b)
            };
            worst = worst.max(slope(&moved).abs());
        }
        // Central differences of a loss of about 50 are good to 1e-8 or so.
        assert!(worst < 1e-6, "{worst:e}");
    }
}

#[test]
fn without_domain_weights_everybody_has_the_same_head() {
    let case = cases()
        .into_iter()
        .find(|c| c.config.ratio == 0.0)
        .expect("one");
    let head = case.fit();
    assert!((0..case.sizes.1).all(|d| head.own(d).is_none()));
    let by = |routing| {
        head.decision_values(case.z.view(), routing)
            .expect("scores")
    };
    assert_eq!(
        by(HeadRouting::Domain(&case.domains)),
        by(HeadRouting::Shared)
    );
    assert_eq!(by(HeadRouting::Averaged), by(HeadRouting::Shared));
}

#[test]
fn more_trials_than_features_or_fewer_give_the_same_minimum() {
    // Each trial twice at half the C: the same problem, with domains larger than the width.
    for case in cases() {
        let n = case.labels.len();
        let twice: Vec<usize> = (0..2 * n).map(|i| i % n).collect();
        let z = MatBatch::from_fn(1, 2 * n, case.z.cols(), |_, i, j| case.z.get(0, i % n, j));
        let pick = |v: &[usize]| twice.iter().map(|&i| v[i]).collect::<Vec<_>>();
        let (y, d) = (pick(&case.labels), pick(&case.domains));
        let config = HeadConfig {
            candidates: vec![case.config.candidates[0] / 2.0],
            ..case.config.clone()
        };
        let doubled = config
            .fit(&z, &y, &d, &z, &y, &d, case.sizes)
            .expect("fitted");
        let once = case.fit();
        for (a, b) in doubled.shared().data().iter().zip(once.shared().data()) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

#[test]
fn validation_chooses_c() {
    let case = &cases()[0];
    let (z, y, d) = (&case.z, &case.labels, &case.domains);
    let flipped: Vec<usize> = y.iter().map(|c| 1 - c).collect();
    let config = HeadConfig::default();
    let kept = config.fit(z, y, d, z, y, d, case.sizes).expect("fitted");
    // Where the validation labels say the opposite, the weakest head loses least.
    let wrong = config
        .fit(z, y, d, z, &flipped, d, case.sizes)
        .expect("fitted");
    assert!(kept.c() >= wrong.c(), "{} {}", kept.c(), wrong.c());
    assert!(config.candidates.contains(&kept.c()));
}

#[test]
fn the_anchor_is_what_its_formula_says() {
    for classes in [2, 3] {
        let (n, k, domains, count) = (5, 3, 3, 90);
        let x = random_spd::<f64>(11, count, n);
        let y: Vec<usize> = (0..count).map(|i| (i / domains) % classes).collect();
        let d: Vec<usize> = (0..count).map(|i| i % domains).collect();
        let names = |k: usize| (0..k).map(|i| format!("n{i}")).collect();
        let trials = Trials::new(
            x.clone(),
            Factor::new("class", names(classes), y.clone()).expect("classes"),
            Factor::new("domain", names(domains), d.clone()).expect("domains"),
        )
        .expect("trials");
        let mut scatter = MatBatch::<f64>::zeros(1, n, n);
        for domain in 0..domains {
            let mean = |keep: &dyn Fn(usize) -> bool| {
                let at: Vec<usize> = (0..count).filter(|&i| d[i] == domain && keep(i)).collect();
                crate::support::mean_of(&x, &at)
            };
            let differences: Vec<Vec<f64>> = if classes == 2 {
                let (a, b) = (mean(&|i| y[i] == 1), mean(&|i| y[i] == 0));
                vec![a.iter().zip(&b).map(|(a, b)| a - b).collect()]
            } else {
                let all = mean(&|_| true);
                let of = |c: usize| {
                    let m = mean(&|i| y[i] == c);
                    m.iter().zip(&all).map(|(a, b)| a - b).collect()
                };
                (0..classes).map(of).collect()
            };
            for s in differences {
                let s = MatBatch::from_vec(1, n, n, s).expect("square");
                let square = matmul(s.view(), s.view()).expect("fits");
                for (t, v) in scatter.data_mut().iter_mut().zip(square.data()) {
                    *t += v / domains as f64;
                }
            }
        }
        let w = discriminative_anchor(&trials, k).expect("an anchor");
        assert!(orthonormality_defect(w.view()).expect("a point")[0] < 1e-13);
        // Invariant subspace, with eigenvalues that are the largest ones, in order.
        let aw = matmul(scatter.view(), w.view()).expect("fits");
        let ritz = product(w.view(), Op::T, aw.view(), Op::N).expect("fits");
        let eigenvalues = stiefel_linalg::eigenvalues(scatter.view()).expect("symmetric");
        for c in 0..k {
            let lambda = ritz.get(0, c, c);
            assert!((lambda - eigenvalues[n - 1 - c]).abs() < 1e-12);
            for r in 0..n {
                assert!((aw.get(0, r, c) - lambda * w.get(0, r, c)).abs() < 1e-12);
            }
        }
    }
}

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
        model.save(&file.0).expect("saved");
        let again = PooledModel::load(&file.0).expect("loaded");
        assert_eq!(again, model);
        let (p, q) = (model.predict_proba(&a), again.predict_proba(&a));
        assert_eq!(p.expect("decided"), q.expect("decided"));
    }
}

#[test]
fn other_and_damaged_files_are_refused() {
    let a = trials(1, 60, 4, 3);
    let model = PooledModel::fit(&a, &a, &config(3)).expect("fitted");
    let file = Saved::new("pooled-damaged.safetensors");
    model.save(&file.0).expect("saved");
    let error = stiefel_model::Model::<f64>::load(&file.0).expect_err("another kind");
    assert!(error.to_string().contains("PooledModel"), "{error}");
    let good = std::fs::read(&file.0).expect("bytes");
    let load = |bytes: &[u8]| {
        std::fs::write(&file.0, bytes).expect("written");
        PooledModel::load(&file.0)
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
        ("\"format_version\":\"1\"", "\"format_version\":\"9\""),
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
    assert_eq!(load(&good).expect("undamaged"), model);
}
