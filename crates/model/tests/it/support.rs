//! What several test files share.

use stiefel_linalg::MatBatch;
use stiefel_model::{Factor, Trials};
use stiefel_testkit::{random_batch, random_spd};

/// `count` trials that go round the domains; each domain has its own mixing, so that their means
/// differ.
pub(crate) fn mixed_trials(seed: u64, count: usize, n: usize, domains: usize) -> Trials {
    let raw = random_spd::<f64>(seed, count, n);
    let mixing = random_batch::<f64>(seed + 1, domains, n, n);
    let mut out = MatBatch::zeros(count, n, n);
    for i in 0..count {
        let d = i % domains;
        let eye = |r: usize, c: usize| if r == c { 2.0 } else { 0.0 };
        let a = MatBatch::from_fn(1, n, n, |_, r, c| eye(r, c) + 0.5 * mixing.get(d, r, c));
        let x = stiefel_linalg::congruence(a.view(), raw.single(i).view()).unwrap();
        out.matrix_mut(i).copy_from_slice(x.data());
    }
    named(out, domains)
}

/// Trials of the given matrices: domains in turn, two classes in turn within each domain.
pub(crate) fn named(x: MatBatch<f64>, domains: usize) -> Trials {
    let count = x.count();
    let classes = Factor::new(
        "class",
        vec!["hand".into(), "feet".into()],
        (0..count).map(|i| (i / domains) % 2).collect(),
    );
    let names = (0..domains).map(|d| format!("s{d}")).collect();
    let domains = Factor::new("domain", names, (0..count).map(|i| i % domains).collect());
    Trials::new(x, classes.unwrap(), domains.unwrap()).unwrap()
}

/// The mean of the matrices at `at`.
pub(crate) fn mean_of(x: &MatBatch<f64>, at: &[usize]) -> Vec<f64> {
    let mut sum = vec![0.0; x.rows() * x.cols()];
    for &i in at {
        for (s, v) in sum.iter_mut().zip(x.matrix(i)) {
            *s += v / at.len() as f64;
        }
    }
    sum
}

/// The largest entry of `|m − I|`.
pub(crate) fn distance_from_identity(m: &[f64], n: usize) -> f64 {
    (m.iter().enumerate())
        .map(|(at, x)| (x - f64::from(u8::from(at / n == at % n))).abs())
        .fold(0.0, f64::max)
}
