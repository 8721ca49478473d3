//! The preset with views against a naive computation of its formulas, and its laws.

use crate::support::mixed_trials;
use stiefel_geometry::spd;
use stiefel_linalg::{MatBatch, MatView, Op, congruence, eigh, peak, product};
use stiefel_model::choir::{Choir, ChoirConfig};
use stiefel_model::metrics::score;
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::Silent;
use stiefel_model::{AdaptPolicy, Factor, FittedModel, ModelError, Trials};
use stiefel_testkit::{assert_close, random_spd};

/// Trials of two classes that differ in a direction everybody shares, with `views` views.
pub(crate) fn several(seed: u64, count: usize, people: usize, views: usize) -> Trials {
    let mut trials = mixed_trials(seed, count, 5, people);
    for v in 0..views {
        let mut x = mixed_trials(seed + 10 * v as u64, count, 5, people)
            .covariances()
            .clone();
        for i in 0..count {
            let more = if trials.classes().indices()[i] == 1 {
                0.8
            } else {
                0.0
            };
            let c = v % 5;
            x.matrix_mut(i)[c * 5 + c] *= 1.0 + more;
        }
        trials = if v == 0 {
            trials.with_covariances(x).unwrap()
        } else {
            trials.with_view(x).unwrap()
        };
    }
    trials
}

pub(crate) fn small() -> ChoirConfig {
    ChoirConfig {
        filters: 4,
        further_filters: 3,
        view_weights: vec![1.0, 0.5],
        ..ChoirConfig::default()
    }
}

fn matrix(n: usize, data: Vec<f64>) -> MatBatch<f64> {
    MatBatch::from_vec(1, n, n, data).unwrap()
}

fn shrunk(x: &[f64], n: usize) -> MatBatch<f64> {
    let level = 0.01 * (0..n).map(|i| x[i * n + i]).sum::<f64>() / n as f64;
    MatBatch::from_fn(1, n, n, |_, r, c| {
        0.99 * x[r * n + c] + if r == c { level } else { 0.0 }
    })
}

fn beta(a: &MatBatch<f64>) -> MatBatch<f64> {
    let trace: f64 = (0..a.rows()).map(|i| a.get(0, i, i)).sum();
    let square: f64 = a.data().iter().map(|x| x * x).sum();
    let scaled = a.data().iter().map(|x| x * trace / square).collect();
    matrix(a.rows(), scaled)
}

fn mean(all: &[MatBatch<f64>]) -> MatBatch<f64> {
    let n = all[0].rows();
    MatBatch::from_fn(1, n, n, |_, r, c| {
        all.iter().map(|x| x.get(0, r, c)).sum::<f64>() / all.len() as f64
    })
}

/// `x` with `a x = b`, by Gauss–Jordan elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let best = (i..n)
            .max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs()))
            .unwrap();
        a.swap(i, best);
        b.swap(i, best);
        for r in 0..n {
            if r != i {
                let f = a[r][i] / a[i][i];
                let row = a[i].clone();
                a[r].iter_mut().zip(&row).for_each(|(x, y)| *x -= f * y);
                b[r] -= f * b[i];
            }
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

/// Scores `(w_0 + δ)·z` of the training trials themselves, formula by formula.
fn naive(trials: &Trials, k: &[usize], weights: &[f64], (v0, vd): (f64, f64)) -> Vec<f64> {
    let (n, views) = (trials.channels_count(), trials.views());
    let people = trials.domains().present();
    let (labels, domains) = (trials.classes().indices(), trials.domains().indices());
    let x: Vec<Vec<MatBatch<f64>>> = (0..views)
        .map(|v| {
            (0..trials.len())
                .map(|i| shrunk(trials.view(v).matrix(i), n))
                .collect()
        })
        .collect();
    let of = |v: usize, d: usize, class: Option<usize>| -> Vec<MatBatch<f64>> {
        (0..trials.len())
            .filter(|&i| domains[i] == d && class.is_none_or(|c| labels[i] == c))
            .map(|i| x[v][i].clone())
            .collect()
    };
    let root = |d: usize| spd::inv_sqrt(mean(&of(0, d, None)).view()).unwrap();
    let mut a = MatBatch::<f64>::zeros(1, n, n);
    for &d in &people {
        let whitened = |class| -> MatBatch<f64> {
            let all: Vec<_> = (of(0, d, Some(class)).iter())
                .map(|x| beta(&congruence(root(d).view(), x.view()).unwrap()))
                .collect();
            mean(&all)
        };
        let (one, zero) = (whitened(1), whitened(0));
        let s = MatBatch::from_fn(1, n, n, |_, r, c| one.get(0, r, c) - zero.get(0, r, c));
        let square = product(s.view(), Op::T, s.view(), Op::N).unwrap();
        a.data_mut()
            .iter_mut()
            .zip(square.data())
            .for_each(|(a, s)| *a += s);
    }
    let vectors = eigh(a.view()).unwrap().vectors;
    let w = |k: usize| {
        MatBatch::from_fn(1, n, k, |_, r, c| {
            let column = (0..n).map(|row| vectors.get(0, row, n - 1 - c));
            peak(column).signum() * vectors.get(0, r, n - 1 - c)
        })
    };
    let mut f = vec![Vec::new(); trials.len()];
    for v in 0..views {
        let mut z = vec![Vec::new(); trials.len()];
        for &d in &people {
            let basis = product(root(d).view(), Op::N, w(k[v]).view(), Op::N).unwrap();
            let inside = congruence(basis.view(), mean(&of(v, d, None)).view()).unwrap();
            let u = product(
                basis.view(),
                Op::N,
                spd::inv_sqrt(inside.view()).unwrap().view(),
                Op::N,
            )
            .unwrap();
            let at: Vec<usize> = (0..trials.len()).filter(|&i| domains[i] == d).collect();
            for &i in &at {
                let y = beta(&congruence(u.view(), x[v][i].view()).unwrap());
                z[i] = spd::upper(spd::log(y.view()).unwrap().view())
                    .unwrap()
                    .into_vec();
            }
            let centre: Vec<f64> = (0..z[at[0]].len())
                .map(|j| at.iter().map(|&i| z[i][j]).sum::<f64>() / at.len() as f64)
                .collect();
            for &i in &at {
                z[i].iter_mut().zip(&centre).for_each(|(z, c)| *z -= c);
            }
        }
        let level = z.iter().flatten().map(|z| z * z).sum::<f64>() / trials.len() as f64;
        let scale = (weights[v] / (weights.iter().sum::<f64>() * level)).sqrt();
        for (f, z) in f.iter_mut().zip(z) {
            f.extend(z.iter().map(|z| z * scale));
        }
    }
    let t: Vec<f64> = labels.iter().map(|&y| 2.0 * y as f64 - 1.0).collect();
    let ridge = |rows: &[usize], targets: &[f64], variance: f64| {
        let p = f[0].len();
        let gram = (0..p)
            .map(|a| {
                (0..p)
                    .map(|b| {
                        let sum: f64 = rows.iter().map(|&i| f[i][a] * f[i][b]).sum();
                        sum + if a == b { 1.0 / variance } else { 0.0 }
                    })
                    .collect()
            })
            .collect();
        let right = (0..p)
            .map(|a| rows.iter().zip(targets).map(|(&i, t)| f[i][a] * t).sum())
            .collect();
        solve(gram, right)
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let all: Vec<usize> = (0..trials.len()).collect();
    let shared = ridge(&all, &t, v0);
    let mut scores = vec![0.0; trials.len()];
    for &d in &people {
        let at: Vec<usize> = (0..trials.len()).filter(|&i| domains[i] == d).collect();
        let rest: Vec<f64> = at.iter().map(|&i| t[i] - dot(&shared, &f[i])).collect();
        let own = ridge(&at, &rest, vd);
        for &i in &at {
            scores[i] = dot(&shared, &f[i]) + dot(&own, &f[i]);
        }
    }
    scores
}

pub(crate) fn trial(trials: &Trials, i: usize) -> Vec<f64> {
    (0..trials.views())
        .flat_map(|v| trials.view(v).matrix(i).to_vec())
        .collect()
}

#[test]
fn scores_are_those_of_the_formulas() {
    // Twelve trials of each person, six of each class.
    let trials = several(3, 36, 3, 3);
    let model = Choir::fit(&trials, &small()).unwrap();
    let expected = naive(&trials, &[4, 3, 3], &[1.0, 0.5, 0.5], (0.1, 2.0));
    let found: Vec<f64> = (0..36)
        .map(|i| {
            let d = trials.domains().indices()[i];
            let p = model.decide(d, &trial(&trials, i)).unwrap();
            (p[1] / p[0]).ln() / model.link().slope(12)
        })
        .collect();
    assert_close("scores", &found, &expected, 1e-9);
}

#[test]
fn one_view_and_one_person_are_cases_like_others() {
    for (people, views) in [(3, 1), (1, 2), (1, 1)] {
        let trials = several(5, 24, people, views);
        let model = Choir::fit(&trials, &ChoirConfig::default()).unwrap();
        assert_eq!(
            (model.view_count(), model.link().slopes.is_empty()),
            (views, false)
        );
        let p: Vec<f64> = (0..24)
            .flat_map(|i| {
                let d = trials.domains().indices()[i];
                model.decide(d, &trial(&trials, i)).unwrap()
            })
            .collect();
        let scores = score(trials.classes().indices(), &p, 2).unwrap();
        assert!(scores.balanced_accuracy.value().unwrap() > 0.9);
    }
}

#[test]
fn three_classes_have_a_score_each() {
    let trials = several(8, 45, 3, 2);
    let three = (0..45).map(|i| (i / 3) % 3).collect();
    let names = ["hand", "feet", "tongue"].map(String::from).to_vec();
    let mut x = trials.covariances().clone();
    for i in 0..45 {
        let c = (i / 3) % 3;
        x.matrix_mut(i)[c * 5 + c] *= 3.0;
    }
    let trials = trials
        .with_covariances(x)
        .unwrap()
        .with_view(trials.view(1).clone())
        .unwrap()
        .with_classes(Factor::new("class", names, three).unwrap())
        .unwrap();
    let model = Choir::fit(&trials, &small()).unwrap();
    assert_eq!(model.shared().rows(), 3);
    let right = (0..45).filter(|&i| {
        let p = model
            .decide(trials.domains().indices()[i], &trial(&trials, i))
            .unwrap();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        stiefel_linalg::argmax(&p) == trials.classes().indices()[i]
    });
    assert!(right.count() > 38);
    assert_eq!(model.patterns(2).unwrap().shape(), (6, 2, 5));
}

#[test]
fn the_scale_of_a_recording_does_not_matter() {
    let trials = several(3, 36, 3, 2);
    let model = Choir::fit(&trials, &small()).unwrap();
    let volts = |x: &MatBatch<f64>| {
        let data = x.data().iter().map(|x| x * 1e-12).collect();
        MatBatch::from_vec(x.count(), 5, 5, data).unwrap()
    };
    let small_numbers = trials
        .with_covariances(volts(trials.covariances()))
        .unwrap()
        .with_view(volts(trials.view(1)))
        .unwrap();
    let again = Choir::fit(&small_numbers, &small()).unwrap();
    let [a, b] = [(&model, &trials), (&again, &small_numbers)].map(|(m, t)| {
        (0..9)
            .flat_map(|i| m.decide(i % 3, &trial(t, i)).unwrap())
            .collect::<Vec<_>>()
    });
    assert_close("probabilities", &a, &b, 1e-9);
}

/// The mean of all trials is the causal mean after the last of them.
#[test]
fn own_mean_and_causal_mean_meet_at_the_last_trial() {
    let known = several(3, 36, 3, 2);
    let new = several(90, 14, 1, 2);
    let model = Choir::fit(&known, &small()).unwrap();
    let mut causal = model
        .new_person(None, &[], Adaptation::Causal { kappa: 6.0 })
        .unwrap();
    let mut last = Vec::new();
    for i in 0..14 {
        last = causal.decide(&model, &trial(&new, i)).unwrap();
    }
    let all = new.matrices();
    let mut own = model
        .new_person(None, &all, Adaptation::OwnMean { kappa: 6.0 })
        .unwrap();
    assert_close(
        "the last trial",
        &own.decide(&model, &trial(&new, 13)).unwrap(),
        &last,
        1e-12,
    );
}

/// A frozen mean decides a trial the same way, whatever came in between.
#[test]
fn a_frozen_mean_learns_nothing() {
    let model = Choir::fit(&several(3, 36, 3, 2), &small()).unwrap();
    let new = several(90, 14, 1, 2);
    let policy = Adaptation::Causal { kappa: 6.0 };
    let mut causal = model.new_person(None, &[], policy).unwrap();
    for i in 0..5 {
        causal.decide(&model, &trial(&new, i)).unwrap();
    }
    causal.freeze(true);
    let first = causal.decide(&model, &trial(&new, 13)).unwrap();
    for i in 5..13 {
        causal.decide(&model, &trial(&new, i)).unwrap();
    }
    assert_eq!(causal.decide(&model, &trial(&new, 13)).unwrap(), first);
    causal.freeze(false);
    causal.decide(&model, &trial(&new, 5)).unwrap();
    assert_ne!(causal.decide(&model, &trial(&new, 13)).unwrap(), first);
}

/// Whatever comes later, memory stays bounded, and the centre is that of the whole session.
#[test]
fn a_long_session_stays_close_to_the_mean_of_all() {
    let known = several(3, 36, 3, 1);
    let new = several(91, 300, 1, 1);
    let model = Choir::fit(&known, &small()).unwrap();
    let mut causal = model
        .new_person(None, &[], Adaptation::Causal { kappa: 6.0 })
        .unwrap();
    let mut last = Vec::new();
    for i in 0..300 {
        last = causal.decide(&model, &trial(&new, i)).unwrap();
    }
    let mut first = model.new_person(None, &[], Adaptation::Pooled).unwrap();
    let pooled = first.decide(&model, &trial(&new, 299)).unwrap();
    assert!(last[0].is_finite() && last != pooled);
}

/// A trial that is refused changes nothing, to the bit, also where it is found out only under the
/// new mean.
#[test]
fn a_refused_trial_leaves_the_mean_as_it_was() {
    let model = Choir::fit(&several(3, 36, 3, 2), &small()).unwrap();
    let new = several(90, 80, 1, 2);
    let policy = Adaptation::Causal { kappa: 6.0 };
    let (mut one, mut other) = (
        model.new_person(None, &[], policy).unwrap(),
        model.new_person(None, &[], policy).unwrap(),
    );
    // Finite, symmetric, of positive trace, and no covariance.
    let mut indefinite = vec![0.0; 50];
    for view in indefinite.chunks_exact_mut(25) {
        for (at, x) in view.iter_mut().step_by(6).enumerate() {
            *x = if at == 4 { -19.0 } else { 5.0 };
        }
    }
    for i in 0..80 {
        if i % 9 == 4 {
            assert!(other.decide(&model, &indefinite).is_err());
            assert!(other.decide(&model, &[f64::NAN; 50]).is_err());
        }
        let x = trial(&new, i);
        assert_eq!(
            one.decide(&model, &x).unwrap(),
            other.decide(&model, &x).unwrap(),
            "{i}"
        );
    }
}

/// What the views add up to: the log-odds of the class that is decided.
#[test]
fn contributions_add_up_to_the_log_odds() {
    let trials = several(3, 36, 3, 3);
    let model = FittedModel::from(Choir::fit(&trials, &small()).unwrap());
    let unseen = AdaptPolicy::from(Adaptation::Causal { kappa: 6.0 });
    for name in ["s1", "new"] {
        let mut session = model.session(name, Some(&unseen), &[]).unwrap();
        let mut against = false;
        for i in 0..36 {
            let p = session
                .decide(&trial(&trials, i))
                .unwrap()
                .probabilities
                .to_vec();
            let each = session.contributions().unwrap();
            assert_eq!(each.len(), 3);
            let odds = (p[0].max(p[1]) / p[0].min(p[1])).ln();
            assert!(
                (each.iter().sum::<f64>() - odds).abs() < 1e-9 * (1.0 + odds),
                "{each:?} {p:?}"
            );
            against |= each.iter().any(|c| *c < 0.0);
        }
        assert!(against, "every view always agrees");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let trials = several(3, 36, 3, 2);
    let config = small().into();
    let model = FittedModel::fit(&trials, &trials, &config, &mut Silent).unwrap();
    assert_eq!((model.view_count(), model.name()), (2, "choir"));
    let one = trials.pick_views(&[0]).unwrap();
    let said = model.decide(&one, None).unwrap_err().to_string();
    assert!(
        said.contains("the trials have 1 view, but the model takes 2"),
        "{said}"
    );
    let said = FittedModel::fit(&trials, &one, &config, &mut Silent).unwrap_err();
    assert!(matches!(
        said,
        ModelError::Count {
            expected: 2,
            found: 1,
            ..
        }
    ));
    let views = model.get::<Choir>().unwrap();
    assert!(views.decide(0, &[1.0; 25]).is_err());
    let mut flat = trial(&trials, 0);
    flat[25..].fill(0.0);
    assert!(views.decide(0, &flat).is_err());
    let mut wrong = trial(&trials, 0);
    wrong[3] = f64::NAN;
    assert!(views.decide(0, &wrong).is_err());
    for policy in [
        Adaptation::OwnMean { kappa: 10.0 },
        Adaptation::Causal { kappa: -1.0 },
    ] {
        assert!(views.new_person(None, &[], policy).is_err());
    }
}

#[test]
fn weights_of_zero_are_trials_that_are_not_there() {
    let trials = several(3, 48, 3, 2);
    let weights = (0..48).map(|i| if i < 36 { 1.0 } else { 0.0 }).collect();
    let first: Vec<usize> = (0..36).collect();
    let part = Choir::fit(&trials.select(&first).unwrap(), &small()).unwrap();
    let weighted = trials.with_weights(weights).unwrap();
    assert_eq!(Choir::fit(&weighted, &small()).unwrap(), part);
}

#[test]
fn patterns_point_to_the_channel_that_differs() {
    // In view 1 the classes differ in channel 1.
    let trials = several(21, 120, 3, 2);
    let model = Choir::fit(&trials, &small()).unwrap();
    let patterns = model.patterns(1).unwrap();
    let row = &patterns.matrix(1)[..5];
    let largest = (0..5).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()));
    assert_eq!((patterns.shape(), largest), ((2, 1, 5), Some(1)));
    let own = trials.select(&trials.of_domain(2)).unwrap();
    assert_eq!(model.own_patterns(2, &own, 2).unwrap().shape(), (2, 2, 5));
    let shares = model.shares();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.len() == 2);
}

#[test]
fn a_view_without_anything_to_say_is_carried_along() {
    // The second view is the identity in every trial.
    let trials = several(3, 36, 3, 1)
        .with_view(MatBatch::identity(36, 5))
        .unwrap();
    let model = Choir::fit(&trials, &small()).unwrap();
    let p = model.decide(0, &trial(&trials, 0)).unwrap();
    assert!(p.iter().all(|p| p.is_finite()));
    let unseen = AdaptPolicy::from(Adaptation::OwnMean { kappa: 10.0 });
    let new = random_spd::<f64>(4, 12, 5);
    let eye = MatBatch::<f64>::identity(12, 5);
    let views: [MatView<'_, f64>; 2] = [new.view(), eye.view()];
    let model = FittedModel::from(model);
    assert!(model.session("new", Some(&unseen), &views).is_ok());
}
