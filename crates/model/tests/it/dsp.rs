//! The encoder against the golden file, against a naive reference, and under bad input.

use proptest::prelude::*;
use stiefel_linalg::{MatBatch, MatView, Op, eigh, product};
use stiefel_model::ModelError;
use stiefel_model::dsp::{DspConfig, DspEncoder, Fill};
use stiefel_testkit::{Golden, assert_close, random_batch, relative_error};

fn config(rank: usize, fill: Fill) -> DspConfig {
    DspConfig { rank, fill }
}

#[test]
fn golden_projections_and_codes() {
    let golden = Golden::open("ops_precond_dsp");
    let x: MatBatch<f64> = MatBatch::from_vec(40, 1, 21, golden.vec("x")).unwrap();
    let (domains, flags) = (golden.indices("d"), golden.indices("train"));
    let train: Vec<usize> = (0..40).filter(|&i| flags[i] == 1).collect();
    let training = x.select(&train);
    let domains: Vec<usize> = train.iter().map(|&i| domains[i]).collect();
    for r in [2, 3, 10, 21] {
        for (name, fill) in [("within_pca", Fill::Within), ("none", Fill::BetweenOnly)] {
            let key = format!("dsp_r{r}_{name}");
            let encoder = config(r, fill).fit(training.view(), &domains).unwrap();
            let expected: MatBatch<f64> = golden.batch(&key);
            assert_eq!(
                (encoder.inputs(), encoder.outputs()),
                (expected.rows(), expected.cols()),
                "{key}"
            );
            assert_eq!(encoder.between(), r.min(3), "{key}");
            assert_close(&key, encoder.projection().data(), expected.data(), 1e-11);
            let code = encoder.encode(x.view()).unwrap();
            let expected = golden.vec(&format!("{key}_xt"));
            assert_close(&key, code.data(), &expected, 1e-11);
        }
    }
}

/// `(S_B, S_W)` with sums as they are written.
fn scatters(x: &MatBatch<f64>, domains: &[usize]) -> (MatBatch<f64>, MatBatch<f64>) {
    let (count, _, p) = x.shape();
    let mean = |at: &[usize]| crate::support::mean_of(x, at);
    let all: Vec<usize> = (0..count).collect();
    let mu = mean(&all);
    let mut sb = MatBatch::zeros(1, p, p);
    let mut sw = MatBatch::zeros(1, p, p);
    for d in 0..=domains.iter().copied().max().unwrap() {
        let own: Vec<usize> = all.iter().copied().filter(|&i| domains[i] == d).collect();
        if own.is_empty() {
            continue;
        }
        let m = mean(&own);
        for r in 0..p {
            for c in 0..p {
                let between = (m[r] - mu[r]) * (m[c] - mu[c]);
                sb.data_mut()[r * p + c] += own.len() as f64 * between;
                for &i in &own {
                    sw.data_mut()[r * p + c] += (x.get(i, 0, r) - m[r]) * (x.get(i, 0, c) - m[c]);
                }
            }
        }
    }
    (sb, sw)
}

/// The projection by full `p × p` eigen-decompositions.
fn naive(x: &MatBatch<f64>, domains: &[usize], between: usize, r: usize) -> MatBatch<f64> {
    let (sb, sw) = scatters(x, domains);
    let p = sb.rows();
    let top = |s: &MatBatch<f64>, r: usize| {
        let e = eigh(s.view()).unwrap();
        MatBatch::from_fn(1, p, r, |_, row, c| e.vectors.get(0, row, p - 1 - c))
    };
    let b = top(&sb, between);
    let bbt = product(b.view(), Op::N, b.view(), Op::T).unwrap();
    let out = MatBatch::from_fn(1, p, p, |_, r, c| {
        f64::from(u8::from(r == c)) - bbt.get(0, r, c)
    });
    let w = top(
        &stiefel_linalg::congruence(out.view(), sw.view()).unwrap(),
        r - between,
    );
    let all = MatBatch::from_fn(1, p, r, |_, row, c| {
        if c < between {
            b.get(0, row, c)
        } else {
            w.get(0, row, c - between)
        }
    });
    let sign = |c: usize| {
        let column = (0..p).map(|row| all.get(0, row, c));
        column
            .fold(0.0_f64, |a, x| if x.abs() > a.abs() { x } else { a })
            .signum()
    };
    MatBatch::from_fn(1, p, r, |_, row, c| sign(c) * all.get(0, row, c))
}

/// Vectors with distinct domain means and a spread-out spectrum, so that directions are well
/// defined.
fn vectors(seed: u64, count: usize, p: usize, domains: usize) -> (MatBatch<f64>, Vec<usize>) {
    let noise = random_batch::<f64>(seed, count, 1, p);
    let means = random_batch::<f64>(seed + 1, domains, 1, p);
    let d: Vec<usize> = (0..count).map(|i| i % domains).collect();
    let x = MatBatch::from_fn(count, 1, p, |i, _, c| {
        (means.get(d[i], 0, c) + noise.get(i, 0, c)) * (1.0 + c as f64) + 3.0
    });
    (x, d)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn equals_the_naive_reference(seed in 0_u64..10_000, p in 6_usize..16, count in 9_usize..30, domains in 1_usize..4) {
        let (x, d) = vectors(seed, count, p, domains);
        let r = (domains + 1).min(p).min(count - 1);
        let encoder = config(r, Fill::Within).fit(x.view(), &d).unwrap();
        prop_assert_eq!((encoder.between(), encoder.outputs()), (domains - 1, r));
        let expected = naive(&x, &d, domains - 1, r);
        let error = relative_error(encoder.projection().data(), expected.data());
        // The reference squares the data, and neighbouring eigenvalues may be close.
        prop_assert!(error < 1e-7, "{error:e}");
    }

    #[test]
    fn columns_are_orthonormal_and_peaks_positive(seed in 0_u64..10_000, p in 1_usize..20, count in 1_usize..40, domains in 1_usize..6, rank in 1_usize..25) {
        let (x, d) = vectors(seed, count, p, domains.min(count));
        let domains = domains.min(count);
        let Ok(encoder) = config(rank, Fill::Within).fit(x.view(), &d) else {
            prop_assert_eq!(count, 1);
            return Ok(());
        };
        // The differences of N vectors span N − 1 dimensions, D − 1 of them between domains.
        prop_assert_eq!(encoder.between(), (domains - 1).min(p).min(rank));
        prop_assert_eq!(encoder.outputs(), rank.min(p).min(count - 1));
        let w = encoder.projection();
        let gram = product(w.view(), Op::T, w.view(), Op::N).unwrap();
        let off = crate::support::distance_from_identity(gram.data(), encoder.outputs());
        prop_assert!(off < 1e-12, "{off:e}");
        for c in 0..encoder.outputs() {
            let peak = (0..p).map(|r| w.get(0, r, c)).fold(0.0_f64, |a, x| if x.abs() > a.abs() { x } else { a });
            prop_assert!(peak > 0.0);
        }
    }
}

#[test]
fn small_directions_keep_their_digits() {
    // Standard deviations over five decades: the scatter's eigenvalues span ten.
    let (count, p) = (60, 40);
    let noise = random_batch::<f64>(5, count, 1, p);
    let x = MatBatch::from_fn(count, 1, p, |i, _, c| {
        noise.get(i, 0, c) * 10_f64.powf(-5.0 * c as f64 / 39.0)
    });
    for count in [60, 30] {
        let at: Vec<usize> = (0..count).collect();
        let part = x.select(&at);
        let encoder = config(p, Fill::Within)
            .fit(part.view(), &vec![0; count])
            .unwrap();
        assert_eq!(encoder.outputs(), p.min(count - 1));
        let code = encoder.encode(part.view()).unwrap();
        // Principal components are uncorrelated: correlations of the codes vanish, also of the
        // smallest.
        let r = encoder.outputs();
        let all: Vec<usize> = (0..count).collect();
        let mean = crate::support::mean_of(&code, &all);
        let cov = |a: usize, b: usize| -> f64 {
            (0..count)
                .map(|i| (code.get(i, 0, a) - mean[a]) * (code.get(i, 0, b) - mean[b]))
                .sum()
        };
        for a in 0..r {
            assert!(a == 0 || cov(a, a) <= cov(a - 1, a - 1));
            for b in 0..a {
                let correlation = cov(a, b) / (cov(a, a) * cov(b, b)).sqrt();
                assert!(correlation.abs() < 1e-8, "{a} {b} {correlation:e}");
            }
        }
    }
}

#[test]
fn equal_domain_means_give_no_between_direction() {
    // Every domain has the same vectors: the means differ by rounding at most.
    let base = random_batch::<f64>(1, 10, 1, 8);
    let x = MatBatch::from_fn(30, 1, 8, |i, _, c| 1e3 + base.get(i / 3, 0, c));
    let d: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let encoder = config(4, Fill::Within).fit(x.view(), &d).unwrap();
    assert_eq!((encoder.between(), encoder.outputs()), (0, 4));
    let error = config(4, Fill::BetweenOnly).fit(x.view(), &d).unwrap_err();
    assert!(
        error.to_string().contains("3 domain(s) do not differ"),
        "{error}"
    );
}

#[test]
fn domain_numbers_may_have_gaps() {
    let (x, d) = vectors(9, 24, 10, 3);
    let gaps: Vec<usize> = d.iter().map(|d| 7 * d + 2).collect();
    let a = config(5, Fill::Within).fit(x.view(), &d).unwrap();
    assert_eq!(a, config(5, Fill::Within).fit(x.view(), &gaps).unwrap());
}

#[test]
fn bad_input() {
    let (x, d) = vectors(2, 12, 6, 3);
    let fit = |x: MatView<'_, f64>, d: &[usize]| config(4, Fill::Within).fit(x, d);
    assert!(matches!(
        fit(x.view(), &d[1..]),
        Err(ModelError::Count {
            expected: 12,
            found: 11,
            ..
        })
    ));
    assert!(matches!(
        fit(x.select(&[]).view(), &[]),
        Err(ModelError::Empty { .. })
    ));
    assert!(fit(MatBatch::zeros(12, 2, 3).view(), &d).is_err());
    assert!(fit(MatBatch::zeros(12, 1, 0).view(), &d).is_err());
    // All the same: nothing to span.
    assert!(matches!(
        fit(
            MatBatch::from_fn(12, 1, 6, |_, _, c| c as f64 + 0.1).view(),
            &d
        ),
        Err(ModelError::Impossible { .. })
    ));
    let mut bad = x.clone();
    bad.data_mut()[7] = f64::INFINITY;
    assert!(fit(bad.view(), &d).is_err());
    assert!(config(0, Fill::Within).fit(x.view(), &d).is_err());
    assert!(
        config(3, Fill::BetweenOnly)
            .fit(x.view(), &[4; 12])
            .is_err()
    );
    let encoder = fit(x.view(), &d).unwrap();
    let error = encoder
        .encode(MatBatch::<f64>::zeros(2, 1, 7).view())
        .unwrap_err();
    assert!(error.to_string().contains("fitted on 1 × 6"), "{error}");
    assert_eq!(
        encoder.encode(x.select(&[]).view()).unwrap().shape(),
        (0, 1, 4)
    );
}

#[test]
fn columns_from_elsewhere_are_checked() {
    let (x, d) = vectors(3, 12, 6, 3);
    let encoder = config(4, Fill::Within).fit(x.view(), &d).unwrap();
    let columns = encoder.projection();
    let again = DspEncoder::from_columns(columns.clone(), encoder.between()).unwrap();
    assert_eq!(again, encoder);
    let wide = MatBatch::zeros(1, 3, 4);
    let nan = MatBatch::from_fn(1, 6, 4, |_, _, _| f64::NAN);
    let none = MatBatch::zeros(1, 6, 0);
    for (bad, between) in [(columns, 5), (&wide, 2), (&nan, 2), (&none, 0)] {
        assert!(DspEncoder::from_columns(bad.clone(), between).is_err());
    }
}

/// 64 channels, 1300 trials, 40 domains: the size at which a `p × p` decomposition would take many
/// seconds.
#[test]
fn large_fits_hold_the_whole_between_domain_scatter() {
    let (x, d) = vectors(4, 1300, 2080, 40);
    let encoder = config(40, Fill::Within).fit(x.view(), &d).unwrap();
    assert_eq!((encoder.between(), encoder.outputs()), (39, 40));
    let code = encoder.encode(x.view()).unwrap();
    let spread = |v: &MatBatch<f64>| -> f64 {
        let all = crate::support::mean_of(v, &(0..1300).collect::<Vec<_>>());
        (0..40)
            .map(|own| {
                let at: Vec<usize> = (0..1300).filter(|&i| d[i] == own).collect();
                let mean = crate::support::mean_of(v, &at);
                let gap = mean.iter().zip(&all).map(|(m, a)| (m - a).powi(2));
                at.len() as f64 * gap.sum::<f64>()
            })
            .sum()
    };
    assert!((spread(&code) / spread(&x) - 1.0).abs() < 1e-10);
}
