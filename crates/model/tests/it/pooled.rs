//! The preset `recommended`: the head against scikit-learn, the filter against its definition.

use serde_json::Value;
use stiefel_geometry::stiefel::orthonormality_defect;
use stiefel_linalg::{MatBatch, Op, matmul, product};
use stiefel_model::pooled::{HeadConfig, HeadRouting, RoutedHead, discriminative_anchor};
use stiefel_model::{Factor, Trials};
use stiefel_testkit::random_spd;

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
