//! The batched eigen-decomposition against a naive one, on difficult spectra, and its promises.

use proptest::prelude::*;
use stiefel_linalg::{
    Eigen, EigenWorkspace, LinalgError, MatBatch, Op, Scalar, Wanted, eigenvalues, eigh, product,
    qr, symmetrise,
};
use stiefel_testkit::{random_batch, random_spd, random_symmetric};

/// Cyclic Jacobi: slow, simple and accurate. Ascending eigenvalues.
fn jacobi(x: &[f64], n: usize) -> Vec<f64> {
    let mut a = x.to_vec();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[p * n + q];
                if apq == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (kp, kq) = (a[k * n + p], a[k * n + q]);
                    a[k * n + p] = c * kp - s * kq;
                    a[k * n + q] = s * kp + c * kq;
                }
                for k in 0..n {
                    let (pk, qk) = (a[p * n + k], a[q * n + k]);
                    a[p * n + k] = c * pk - s * qk;
                    a[q * n + k] = s * pk + c * qk;
                }
            }
        }
    }
    let mut d: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    d.sort_by(f64::total_cmp);
    d
}

/// Residual, orthogonality and order of every decomposition, in units of `n·ε·‖X‖`.
fn check<T: Scalar>(what: &str, x: &MatBatch<T>) {
    let e = eigh(x.view()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let alone = eigenvalues(x.view()).expect("values");
    assert_eq!(
        alone, e.values,
        "{what}: values alone differ from values with vectors"
    );
    check_decomposition(what, x, &e);
    check_decomposition(what, x, &one_by_one(what, x));
}

/// The kernel for single matrices, one after the other.
fn one_by_one<T: Scalar>(what: &str, x: &MatBatch<T>) -> Eigen<T> {
    let (count, n, _) = x.shape();
    let (mut values, mut vectors) = (vec![T::ZERO; count * n], MatBatch::zeros(count, n, n));
    let mut workspace = EigenWorkspace::default();
    for i in 0..count {
        let wanted = Wanted::Vectors(vectors.matrix_mut(i));
        workspace
            .decompose_one(x.matrix_ref(i), &mut values[i * n..(i + 1) * n], wanted)
            .unwrap_or_else(|error| panic!("{what}[{i}] alone: {error}"));
    }
    Eigen { values, vectors }
}

fn check_decomposition<T: Scalar>(what: &str, x: &MatBatch<T>, e: &Eigen<T>) {
    let n = x.rows();
    let unit = 4.0 * (n as f64 + 4.0) * T::EPSILON.to_f64();
    for i in 0..x.count() {
        let (m, u, d) = (x.matrix(i), e.vectors.matrix(i), e.values_of(i));
        assert!(d.windows(2).all(|w| w[0] <= w[1]), "{what}: not ascending");
        let size = d.iter().fold(0.0_f64, |s, v| s.max(v.to_f64().abs()));
        for r in 0..n {
            for c in 0..n {
                let (mut xu, mut uu) = (0.0, 0.0);
                for k in 0..n {
                    let lower = if r >= k { m[r * n + k] } else { m[k * n + r] };
                    xu += lower.to_f64() * u[k * n + c].to_f64();
                    uu += u[k * n + r].to_f64() * u[k * n + c].to_f64();
                }
                let residual = (xu - u[r * n + c].to_f64() * d[c].to_f64()).abs();
                assert!(
                    residual <= unit * size,
                    "{what}[{i}]: residual {residual:e} of {size:e}"
                );
                let eye = f64::from(u8::from(r == c));
                assert!(
                    (uu - eye).abs() <= unit,
                    "{what}[{i}]: UᵀU − I = {:e}",
                    uu - eye
                );
            }
        }
    }
}

/// `Q diag(λ) Qᵀ` with random orthogonal `Q`.
fn with_spectrum(seed: u64, spectrum: &[f64]) -> MatBatch<f64> {
    let n = spectrum.len();
    let q = qr(random_batch::<f64>(seed, 1, n, n).view())
        .expect("full rank")
        .q;
    let scaled = MatBatch::from_fn(1, n, n, |_, r, c| q.get(0, r, c) * spectrum[c]);
    let x = product(scaled.view(), Op::N, q.view(), Op::T).expect("square");
    MatBatch::from_fn(1, n, n, |_, r, c| x.get(0, r.max(c), r.min(c)))
}

#[test]
fn agrees_with_jacobi() {
    for n in [1, 2, 3, 4, 5, 7, 12, 13, 22, 30] {
        let x = random_symmetric::<f64>(n as u64, 9, n);
        let e = eigh(x.view()).expect("finite");
        for i in 0..9 {
            let truth = jacobi(x.matrix(i), n);
            for (a, b) in e.values_of(i).iter().zip(&truth) {
                assert!((a - b).abs() <= 1e-13 * n as f64, "n={n}: {a} against {b}");
            }
        }
    }
}

#[test]
fn every_size_and_both_precisions() {
    for n in (1..=33).chain([47, 60, 64, 65, 101]) {
        check(&format!("f64 n={n}"), &random_symmetric::<f64>(7, 5, n));
        check(&format!("f32 n={n}"), &random_spd::<f32>(8, 5, n));
    }
}

/// Matrices of `n` rows on which decompositions have failed somewhere: repeated and clustered
/// eigenvalues, lost rank, grading, weak coupling.
fn difficult(n: usize) -> Vec<(String, MatBatch<f64>)> {
    let tridiagonal = |diagonal: &dyn Fn(usize) -> f64, beside: &dyn Fn(usize) -> f64| {
        MatBatch::from_fn(1, n, n, |_, r, c| match r.abs_diff(c) {
            0 => diagonal(r),
            1 => beside(r.min(c)),
            _ => 0.0,
        })
    };
    let middle = (n / 2) as f64;
    let last = (n - 1) as f64;
    let spectrum = |of: &dyn Fn(f64) -> f64| {
        let values: Vec<f64> = (0..n).map(|i| of(i as f64)).collect();
        with_spectrum(3, &values)
    };
    let shaped = |of: &dyn Fn(usize, usize) -> f64| MatBatch::from_fn(1, n, n, |_, r, c| of(r, c));
    let cases: Vec<(&str, MatBatch<f64>)> = vec![
        ("zero", MatBatch::zeros(3, n, n)),
        ("identity", MatBatch::identity(3, n)),
        ("ones", shaped(&|_, _| 1.0)),
        ("anti-diagonal", shaped(&|r, c| f64::from(r + c == n - 1))),
        (
            "arrow",
            shaped(&|r, c| match (r == c, r == 0 || c == 0) {
                (true, _) => r as f64,
                (_, true) => 1.0,
                _ => 0.0,
            }),
        ),
        (
            "wilkinson",
            tridiagonal(&|r| (r as f64 - middle).abs(), &|_| 1.0),
        ),
        (
            "glued",
            tridiagonal(&|r| (r % 7) as f64, &|r| {
                if r % 7 == 6 { 1e-9 } else { 1.0 }
            }),
        ),
        ("diagonal", tridiagonal(&|r| (r * r) as f64, &|_| 0.0)),
        ("equal diagonal", tridiagonal(&|_| 1.0, &|_| 1e-17)),
        (
            "graded",
            shaped(&|r, c| 1e-18_f64.powf(r.max(c) as f64 / last)),
        ),
        (
            "graded up",
            shaped(&|r, c| 1e-18_f64.powf(1.0 - r.min(c) as f64 / last)),
        ),
        ("repeated", spectrum(&|i| (i / 3.0).floor())),
        ("cluster", spectrum(&|i| 1.0 + 1e-14 * i)),
        (
            "clusters",
            spectrum(&|i| (i % 3.0) + 1e-13 * (i / 3.0).floor()),
        ),
        (
            "two scales",
            spectrum(&|i| if i < middle { 1e-12 } else { 1.0 }),
        ),
        ("rank one", spectrum(&|i| f64::from(u8::from(i == 4.0)))),
        ("signs", spectrum(&|i| i - middle)),
        ("geometric", spectrum(&|i| 1e-17_f64.powf(i / last))),
    ];
    let named = |(name, x): (&str, _)| (format!("{name}, n={n}"), x);
    cases.into_iter().map(named).collect()
}

/// From 24 rows on single matrices are divided, from 64 on all.
#[test]
fn difficult_spectra_of_larger_matrices() {
    for n in [24, 25, 33, 40, 64, 65, 97, 130] {
        for (name, x) in &difficult(n) {
            check(name, x);
            check(&format!("{name}, f32"), &x.cast::<f32>());
        }
    }
}

#[test]
fn difficult_spectra() {
    let cases: Vec<_> = [10, 21].into_iter().flat_map(difficult).collect();
    for scale in [1.0, 1e-300, 1e300, 1e-310, 5e-324] {
        for (name, x) in &cases {
            let scaled = MatBatch::from_fn(x.count(), x.rows(), x.rows(), |i, r, c| {
                x.get(i, r, c) * scale
            });
            // Subnormal input has few digits; what matters there is that nothing breaks.
            if scale >= 1e-300 {
                check(&format!("{name} × {scale:e}"), &scaled);
            } else {
                let e = eigh(scaled.view()).expect("finite");
                assert!(
                    e.values
                        .iter()
                        .chain(e.vectors.data())
                        .all(|v| v.is_finite())
                );
            }
        }
    }
    for (name, x) in &cases {
        check(&format!("{name} f32"), &x.cast::<f32>());
        for scale in [1e-30_f32, 1e30] {
            let scaled = MatBatch::from_fn(x.count(), x.rows(), x.rows(), |i, r, c| {
                x.get(i, r, c) as f32 * scale
            });
            check(&format!("{name} f32 × {scale:e}"), &scaled);
        }
    }
}

#[test]
fn known_values() {
    let x = MatBatch::from_fn(1, 40, 40, |_, r, c| match r.abs_diff(c) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    let e = eigh(x.view()).expect("finite");
    for (k, value) in e.values.iter().enumerate() {
        let exact = 2.0 - 2.0 * (std::f64::consts::PI * (k + 1) as f64 / 41.0).cos();
        assert!((value - exact).abs() < 1e-14, "{value} against {exact}");
    }
}

#[test]
fn results_do_not_depend_on_neighbours_batch_size_or_threads() {
    let n = 13;
    // Quick and slow lanes side by side.
    let mut x = random_symmetric::<f64>(5, 301, n);
    for i in (0..301).step_by(3) {
        x.matrix_mut(i).fill(0.0);
    }
    let whole = eigh(x.view()).expect("finite");
    for i in (0..301).step_by(17) {
        let alone = eigh(x.single(i).view()).expect("finite");
        assert!(
            alone
                .values
                .iter()
                .zip(whole.values_of(i))
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
        let (a, b) = (alone.vectors.data(), whole.vectors.matrix(i));
        assert!(
            a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
            "matrix {i}"
        );
    }
    let large = random_spd::<f64>(6, 700, 22);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| eigh(large.view()).expect("finite"))
    };
    let one = run(1);
    for threads in [2, 4] {
        let many = run(threads);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same(&one.values, &many.values) && same(one.vectors.data(), many.vectors.data()));
    }
}

/// `U f(λ) Uᵀ` and the eigenvalues, without the eigenvectors.
fn mapped<T: Scalar>(x: &MatBatch<T>, f: &(dyn Fn(T) -> T + Sync)) -> (Vec<T>, MatBatch<T>) {
    let (count, n, _) = x.shape();
    let (mut values, mut out) = (vec![T::ZERO; count * n], MatBatch::zeros(count, n, n));
    let wanted = Wanted::Map(f, out.data_mut());
    let done = EigenWorkspace::default().decompose(x.view(), &mut values, wanted);
    done.expect("finite");
    (values, out)
}

fn check_mapped<T: Scalar>(n: usize, tolerance: f64) {
    let x = random_symmetric::<T>(n as u64, 11, n);
    let f = |l: T| Scalar::exp(l) + T::ONE;
    let e = eigh(x.view()).expect("finite");
    let (values, found) = mapped(&x, &f);
    assert_eq!(values, e.values, "n = {n}");
    assert_eq!(found, found.transposed(), "n = {n}");
    for i in 0..11 {
        let (u, lambda) = (e.vectors.matrix(i), e.values_of(i));
        let size = f(lambda[n - 1]).to_f64();
        for r in 0..n {
            for c in 0..n {
                let expected: T = (0..n)
                    .map(|k| u[r * n + k] * f(lambda[k]) * u[c * n + k])
                    .sum();
                let gap = (found.get(i, r, c) - expected).to_f64().abs();
                assert!(gap <= tolerance * size * n as f64, "n = {n}, {i}, {r}, {c}");
            }
        }
        let (_, alone) = mapped(&x.single(i), &f);
        assert_eq!(alone.data(), found.matrix(i), "n = {n}, {i}");
    }
}

#[test]
fn functions_without_eigenvectors_agree_with_the_decomposition() {
    for n in 1..=27 {
        check_mapped::<f64>(n, 1e-15);
        check_mapped::<f32>(n, 1e-6);
    }
    let large = random_spd::<f64>(6, 700, 22);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let two = pool.expect("a pool").install(|| mapped(&large, &f64::ln));
    assert_eq!(two, mapped(&large, &f64::ln));
    let (x, mut values) = (MatBatch::<f64>::identity(2, 3), [0.0; 6]);
    let mut out = MatBatch::<f64>::zeros(1, 3, 3);
    let wanted = Wanted::Map(&f64::ln, out.data_mut());
    let error = EigenWorkspace::default().decompose(x.view(), &mut values, wanted);
    assert!(matches!(error, Err(LinalgError::Shape { .. })));
}

#[test]
fn bad_input_is_named() {
    let mut x = MatBatch::<f64>::identity(9, 4);
    x.matrix_mut(6)[2 * 4 + 1] = f64::NAN;
    let error = eigh(x.view()).expect_err("a NaN");
    assert!(
        matches!(
            error,
            LinalgError::NotFinite {
                matrix: 6,
                row: 2,
                col: 1,
                ..
            }
        ),
        "{error}"
    );
    x.matrix_mut(6)[2 * 4 + 1] = f64::INFINITY;
    assert!(eigh(x.view()).is_err());
    assert!(matches!(
        eigh(MatBatch::<f64>::zeros(1, 2, 3).view()),
        Err(LinalgError::Shape { .. })
    ));
    assert!(
        eigh(MatBatch::<f64>::zeros(0, 5, 5).view())
            .expect("empty")
            .values
            .is_empty()
    );
    assert!(
        eigh(MatBatch::<f64>::zeros(3, 0, 0).view())
            .expect("empty")
            .values
            .is_empty()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn trace_and_norm_are_kept(seed in 0_u64..1_000_000, n in 1_usize..25, count in 1_usize..12) {
        let x = random_symmetric::<f64>(seed, count, n);
        let e = eigh(x.view()).expect("finite");
        for i in 0..count {
            let trace: f64 = (0..n).map(|k| x.get(i, k, k)).sum();
            let square: f64 = x.matrix(i).iter().map(|v| v * v).sum();
            let (sum, squares) = e.values_of(i).iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
            prop_assert!((sum - trace).abs() <= 1e-12 * n as f64 * square.sqrt().max(1.0));
            prop_assert!((squares - square).abs() <= 1e-12 * n as f64 * square.max(1.0));
        }
    }
}

#[test]
fn one_matrix_alone_refuses_bad_input() {
    let mut workspace = EigenWorkspace::default();
    let mut run = |x: &MatBatch<f64>, values: usize| {
        let mut vectors = MatBatch::zeros(1, x.rows(), x.cols());
        let mut values = vec![0.0; values];
        let wanted = Wanted::Vectors(vectors.data_mut());
        workspace.decompose_one(x.matrix_ref(0), &mut values, wanted)
    };
    assert!(run(&MatBatch::identity(1, 3), 4).is_err());
    assert!(run(&MatBatch::zeros(1, 2, 3), 2).is_err());
    let mut bad = MatBatch::identity(1, 3);
    bad.data_mut()[4] = f64::NAN;
    assert!(matches!(
        run(&bad, 3),
        Err(LinalgError::NotFinite { row: 1, col: 1, .. })
    ));
    assert!(run(&MatBatch::zeros(1, 0, 0), 0).is_ok());
}

/// Without the vectors nothing else is computed of the values.
#[test]
fn values_alone_have_the_bits_of_values_with_vectors() {
    let mut workspace = EigenWorkspace::default();
    for n in [1, 2, 7, 23, 24, 31, 32, 33, 47, 64, 65, 100, 129] {
        let wave = |_, r: usize, c: usize| ((r * c + 3 * (r + c)) as f64).sin();
        let mut x = MatBatch::from_fn(1, n, n, wave);
        symmetrise(&mut x.view_mut()).unwrap();
        let (mut alone, mut beside) = (vec![0.0; n], vec![0.0; n]);
        let mut vectors = vec![0.0; n * n];
        for (values, wanted) in [
            (&mut alone, Wanted::Values),
            (&mut beside, Wanted::Vectors(&mut vectors)),
        ] {
            workspace
                .decompose_one(x.matrix_ref(0), values, wanted)
                .unwrap();
        }
        assert_eq!(alone, beside, "{n}");
    }
}

/// Matrices that make the two ways take every turn: dense, graded over many decades, already
/// diagonal or tridiagonal, in blocks, of low rank, tiny, zero.
fn varied<T: Scalar>(n: usize) -> MatBatch<T> {
    let dense = random_symmetric::<T>(n as u64, 8, n);
    let spd = random_spd::<T>(n as u64 + 100, 8, n);
    let decades = |r: usize| 10_f64.powf(-(6.0 * r as f64) / n as f64);
    MatBatch::from_fn(16, n, n, |i, r, c| {
        let (dense, spd) = (dense.get(i % 8, r, c), spd.get(i % 8, r, c));
        let near = T::from_f64(if r.abs_diff(c) < 2 { 1.0 } else { 0.0 });
        match i {
            0 => dense,
            1 => spd * T::from_f64(decades(r) * decades(c)),
            2 => spd * T::from_f64(decades(n - 1 - r) * decades(n - 1 - c)),
            3 if r != c => T::ZERO,
            4 => spd * near,
            5 if (r < n / 2) != (c < n / 2) => T::ZERO,
            6 => T::ONE,
            7 if r == c => T::ONE,
            7 | 8 => T::ZERO,
            9 => dense * T::from_f64(1e-20),
            10 if r % 3 != c % 3 => T::ZERO,
            _ => spd,
        }
    })
}

fn check_few<T: Scalar>(n: usize) {
    let x = varied::<T>(n);
    let bits = |x: &[T]| x.iter().map(|x| x.to_f64().to_bits()).collect::<Vec<_>>();
    let whole = eigh(x.view()).expect("finite");
    let f = |l: T| Scalar::exp(-l * l);
    let (_, map) = mapped(&x, &f);
    for i in 0..x.count() {
        let one = x.single(i);
        let alone = eigh(one.view()).expect("finite");
        let values = eigenvalues(one.view()).expect("finite");
        let name = format!("{} n = {n}, matrix {i}", T::NAME);
        assert_eq!(bits(&alone.values), bits(whole.values_of(i)), "{name}");
        assert_eq!(bits(&values), bits(whole.values_of(i)), "{name}");
        let (a, b) = (alone.vectors.data(), whole.vectors.matrix(i));
        assert_eq!(bits(a), bits(b), "{name}: vectors");
        let (_, alone) = mapped(&one, &f);
        assert_eq!(bits(alone.data()), bits(map.matrix(i)), "{name}: map");
    }
}

#[test]
fn one_matrix_has_the_bits_it_has_in_a_batch() {
    for n in (1..=34).chain([40, 47, 48, 49, 60, 63, 64, 65]) {
        check_few::<f64>(n);
        check_few::<f32>(n);
    }
}
