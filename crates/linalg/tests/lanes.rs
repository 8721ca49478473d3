//! Kernels on matrices in lanes against plain loops, for sizes around every block boundary.

use stiefel_linalg::lanes::{self, BAND, Laid, Logarithms, Product, Sums, Terms};
use stiefel_linalg::{Aligned, MatBatch, Scalar, eigh, inverse_cholesky};
use stiefel_testkit::{random_batch, random_spd};

/// Matrices in lanes, in a buffer that starts at a cache line.
fn laid<T: Scalar>(x: &MatBatch<T>) -> Aligned<T> {
    let width = lanes::width::<T>().unwrap();
    let mut buffer = Aligned::default();
    let out = buffer.room(x.rows() * x.cols() * width);
    lanes::gather(x.count(), |i| x.matrix(i), out).unwrap();
    buffer
}

fn scattered<T: Scalar>(count: usize, (m, n): (usize, usize), lanes: &[T]) -> MatBatch<T> {
    let mut out = MatBatch::zeros(count, m, n);
    lanes::scatter(lanes, false, out.data_mut()).unwrap();
    out
}

/// `α Σ_s A_s B_s`, one entry.
fn entry<T: Scalar>(pairs: &[(&MatBatch<T>, &MatBatch<T>)], i: usize, r: usize, c: usize) -> f64 {
    let terms = |(a, b): &(&MatBatch<T>, &MatBatch<T>)| -> f64 {
        let of = |t| a.get(i, r, t).to_f64() * b.get(i, t, c).to_f64();
        (0..a.cols()).map(of).sum()
    };
    pairs.iter().map(terms).sum()
}

fn check_product<T: Scalar>(m: usize, n: usize, k: usize) {
    let width = lanes::width::<T>().unwrap();
    let count = width.min(3);
    let (a, b) = (
        random_batch::<T>(1, count, m, k),
        random_batch(2, count, k, n),
    );
    let (a2, b2) = (random_batch(3, count, m, k), random_batch(4, count, k, n));
    let (la, lb, la2) = (laid(&a), laid(&b.transposed()), laid(&a2));
    let lb2 = laid(&b2);
    let mut out = Aligned::default();
    let out = out.room(m * n * width);
    lanes::product(Product {
        more: Some((
            Laid::new(la2.get(m * k * width), k),
            Laid::new(lb2.get(k * n * width), n),
        )),
        scale: T::from_f64(-2.0),
        ..Product::new(
            (m, n, k),
            Laid::new(la.get(m * k * width), k),
            Laid::new(lb.get(k * n * width), k).transposed(),
            out,
        )
    })
    .unwrap();
    let found = scattered(count, (m, n), out);
    for i in 0..count {
        for (r, c) in (0..m).flat_map(|r| (0..n).map(move |c| (r, c))) {
            let expected = -2.0 * entry(&[(&a, &b), (&a2, &b2)], i, r, c);
            let gap = (found.get(i, r, c).to_f64() - expected).abs();
            let allowed = 8.0 * (k as f64 + 2.0) * T::EPSILON.to_f64();
            assert!(gap < allowed * 4.0, "{m} {n} {k}: {gap:e} at {r}, {c}");
        }
    }
}

#[test]
fn products_of_any_size() {
    for (m, n, k) in [
        (1, 1, 1),
        (3, 5, 2),
        (4, 6, 9),
        (5, 7, 1),
        (13, 12, 13),
        (2, 17, 6),
        (19, 3, 4),
    ] {
        check_product::<f64>(m, n, k);
        check_product::<f32>(m, n, k);
    }
}

/// What is known of a factor changes the work, not the result.
#[test]
fn triangular_and_symmetric_factors() {
    let width = lanes::width::<f64>().unwrap();
    for n in (1..=15).chain([18, 30]) {
        let a = random_batch::<f64>(5, 2.min(width), n, n);
        let spd = random_spd::<f64>(6, 2.min(width), n);
        let count = a.count();
        let part = |keep: fn(usize, usize) -> bool| {
            MatBatch::from_fn(
                count,
                n,
                n,
                |i, r, c| {
                    if keep(r, c) { a.get(i, r, c) } else { 0.0 }
                },
            )
        };
        let (upper, lower) = (part(|r, c| r <= c), part(|r, c| r >= c));
        // Beyond the band nothing may be read above the diagonal.
        let banded = MatBatch::from_fn(count, n, n, |i, r, c| {
            if c <= r + BAND {
                spd.get(i, r, c)
            } else {
                f64::NAN
            }
        });
        for (left, right, terms, whole) in [
            (&a, &upper, Terms::UpperRight, (&a, &upper)),
            (&a, &lower, Terms::LowerRight, (&a, &lower)),
            (&banded, &a, Terms::SymmetricLeft, (&spd, &a)),
        ] {
            let (l, r) = (laid(left), laid(right));
            let mut out = Aligned::default();
            let out = out.room(n * n * width);
            let (l, r) = (l.get(n * n * width), r.get(n * n * width));
            lanes::product(Product {
                terms,
                ..Product::new((n, n, n), Laid::new(l, n), Laid::new(r, n), out)
            })
            .unwrap();
            let found = scattered(count, (n, n), out);
            for i in 0..count {
                for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
                    let gap = (found.get(i, r, c) - entry(&[whole], i, r, c)).abs();
                    assert!(gap < 1e-12, "{terms:?} n={n}: {gap:e}");
                }
            }
        }
    }
}

/// Symmetric results are exactly symmetric, and their lower triangles are the same alone.
#[test]
fn symmetric_products() {
    let width = lanes::width::<f32>().unwrap();
    for n in (1..=14).chain([18, 30]) {
        let a = random_batch::<f32>(7, width.min(4), 9, n);
        let la = laid(&a);
        let la = Laid::new(la.get(9 * n * width), n);
        let mut out = Aligned::default();
        let out = out.room(n * n * width);
        lanes::product(Product {
            sums: Sums::Symmetric,
            ..Product::new((n, n, 9), la.transposed(), la, out)
        })
        .unwrap();
        let found = scattered(a.count(), (n, n), out);
        assert_eq!(found, found.transposed());
        lanes::product(Product {
            sums: Sums::Lower,
            ..Product::new((n, n, 9), la.transposed(), la, out)
        })
        .unwrap();
        let lower = scattered(a.count(), (n, n), out);
        for (r, c) in (0..n).flat_map(|r| (0..=r).map(move |c| (r, c))) {
            assert_eq!(lower.get(0, r, c), found.get(0, r, c), "n={n}: {r}, {c}");
        }
        let gap =
            (found.get(0, n - 1, 0).to_f64() - entry(&[(&a.transposed(), &a)], 0, n - 1, 0)).abs();
        assert!(gap < 1e-4, "n={n}: {gap:e}");
    }
}

/// The same bits as the decomposition of rows, for one group and for two.
#[test]
fn eigenvalues_as_from_rows() {
    let width = lanes::width::<f64>().unwrap();
    for (n, groups) in [(1, 1), (2, 2), (7, 1), (12, 2), (20, 1)] {
        let x = random_spd::<f64>(8, groups * width, n);
        let square = n * n * width;
        let mut buffers = Aligned::default();
        let room = lanes::eigen_room::<f64>(n, groups).unwrap();
        let all = buffers.room(groups * (2 * square + n * width) + room);
        let (input, rest) = all.split_at_mut(groups * square);
        let (u, rest) = rest.split_at_mut(groups * square);
        let (values, scratch) = rest.split_at_mut(groups * n * width);
        for (g, input) in input.chunks_exact_mut(square).enumerate() {
            lanes::gather_lower((n, 0), width, |i| x.matrix(g * width + i), input).unwrap();
        }
        lanes::eigen(n, groups, input, values, u, scratch).unwrap();
        let rows = eigh(x.view()).unwrap();
        for i in 0..x.count() {
            let (group, lane) = (i / width, i % width);
            let of = |k: usize| values[(group * n + k) * width + lane];
            let mut found: Vec<f64> = (0..n).map(of).collect();
            found.sort_by(f64::total_cmp);
            assert_eq!(found, rows.values_of(i), "n={n}, matrix {i}");
        }
    }
}

#[test]
fn inverse_factors_as_from_rows() {
    let width = lanes::width::<f64>().unwrap();
    for n in [1, 3, 8, 13, 30] {
        let x = random_spd::<f64>(9, width, n);
        let mut lx = laid(&x);
        let mut out = Aligned::default();
        let (out, pivots) = out.room((n + 1) * n * width).split_at_mut(n * n * width);
        lanes::inverse_cholesky(n, width, lx.room(n * n * width), out, pivots).unwrap();
        let expected = inverse_cholesky(x.view()).unwrap();
        assert_eq!(scattered(width, (n, n), out), expected, "n={n}");
    }
}

/// A pivot that is not positive is named with its lane; lanes that are not used do not matter.
#[test]
fn a_bad_lane_is_named() {
    let width = lanes::width::<f32>().unwrap();
    let mut x = MatBatch::<f32>::identity(width, 3);
    x.matrix_mut(width - 1)[4] = -1.0;
    let mut out = Aligned::default();
    let (out, pivots) = out.room(12 * width).split_at_mut(9 * width);
    let mut factor =
        |count| lanes::inverse_cholesky(3, count, laid(&x).room(9 * width), out, pivots);
    let error = factor(width).unwrap_err();
    assert!(
        error.to_string().contains(&format!("matrix {}", width - 1)),
        "{error}"
    );
    assert!(width == 1 || factor(width - 1).is_ok());
}

/// Equal, close, distant and clamped eigenvalues; each pair against a sum in twice the precision of
/// f32.
#[test]
fn differences_of_logarithms() {
    let width = lanes::width::<f32>().unwrap();
    let epsilon = 1e-4_f32;
    let list = [
        2.5_f32,
        2.5,
        2.500_000_2,
        3.4,
        3.6,
        1e-4,
        0.9e-4,
        1.1e-4,
        1e-9,
        -3.0,
        1e6,
        1e30,
        0.1,
    ];
    let n = list.len();
    let values: Vec<f32> = list.iter().flat_map(|&x| vec![x; width]).collect();
    let (mut high, mut low) = (vec![0.0; n * width], vec![0.0; n * width]);
    Logarithms::split(epsilon, &values, &mut high, &mut low);
    let logarithms = Logarithms {
        epsilon,
        high: &high,
        low: &low,
    };
    let mut out = vec![0.0_f32; n * n * width];
    lanes::log_differences(n, &values, &logarithms, &mut out).unwrap();
    for r in 0..n {
        for c in 0..=r {
            let (a, b) = (
                f64::from(list[r].max(list[c])),
                f64::from(list[r].min(list[c])),
            );
            let e = f64::from(epsilon);
            let expected = match (a > e, a == b) {
                (false, _) => 0.0,
                (true, true) => 1.0 / a,
                (true, false) => ((a - b.max(e)) / b.max(e)).ln_1p() / (a - b),
            };
            let found = f64::from(out[(r * n + c) * width]);
            let gap = (found - expected).abs();
            assert!(
                gap <= 4e-7 * expected,
                "{a} {b}: {found} against {expected}"
            );
        }
    }
}

fn check_mixture<T: Scalar>(len: usize, experts: usize) {
    let width = lanes::width::<T>().unwrap();
    let count = width.min(3);
    let weights = random_batch::<T>(5, count, 1, experts);
    let directions = random_batch::<T>(6, experts, 1, len);
    let (base, g) = (
        random_batch::<T>(7, 1, 1, len),
        random_batch::<T>(8, count, 1, len),
    );
    let (mut mixed, mut inner) = (Aligned::default(), Aligned::default());
    let (mixed, inner) = (mixed.room(len * width), inner.room(experts * width));
    let own = laid(&weights);
    lanes::mixture(
        own.get(experts * width),
        base.data(),
        directions.data(),
        mixed,
    )
    .unwrap();
    lanes::inner_products(laid(&g).get(len * width), directions.data(), inner).unwrap();
    let (mixed, inner) = (
        scattered(count, (1, len), mixed),
        scattered(count, (1, experts), inner),
    );
    // The sums, `width` directions at a time: here the first ones.
    let first = experts.min(width);
    let mut own = Aligned::default();
    let own = own.room(width * width);
    own.fill(T::ZERO);
    for (i, row) in own.chunks_exact_mut(width).take(count).enumerate() {
        row[..first].copy_from_slice(&weights.matrix(i)[..first]);
    }
    let mut sums = Aligned::default();
    let sums = sums.room(len * width);
    for add in [false, true] {
        lanes::weighted_sums(own, laid(&g).get(len * width), add, sums).unwrap();
    }
    let sums = scattered(first, (1, len), sums);
    let limit = 100.0 * T::EPSILON.to_f64() * (len + experts) as f64;
    let product = |a: T, b: T| a.to_f64() * b.to_f64();
    for j in 0..first {
        for e in 0..len {
            let term = |i| product(weights.get(i, 0, j), g.get(i, 0, e));
            let sum: f64 = (0..count).map(term).sum();
            assert!((sums.get(j, 0, e).to_f64() - 2.0 * sum).abs() < limit);
        }
    }
    for i in 0..count {
        for e in 0..len {
            let term = |j| product(weights.get(i, 0, j), directions.get(j, 0, e));
            let sum = base.get(0, 0, e).to_f64() + (0..experts).map(term).sum::<f64>();
            assert!((mixed.get(i, 0, e).to_f64() - sum).abs() < limit);
        }
        for j in 0..experts {
            let term = |e| product(g.get(i, 0, e), directions.get(j, 0, e));
            let sum: f64 = (0..len).map(term).sum();
            assert!((inner.get(i, 0, j).to_f64() - sum).abs() < limit);
        }
    }
}

#[test]
fn mixtures_of_shared_matrices() {
    for len in [1, 7, 8, 9, 16, 35] {
        for experts in [1, 3, 8, 9, 17] {
            check_mixture::<f64>(len, experts);
            check_mixture::<f32>(len, experts);
        }
    }
}

/// Every way into lanes and out of them, entry by entry, for sizes around what goes together and
/// for groups that are not full.
fn check_ways<T: Scalar>(n: usize) {
    let width = lanes::width::<T>().unwrap();
    let two = T::from_f64(2.0);
    for count in 1..=width {
        let x = random_spd::<T>(n as u64, count, n);
        let of = |lane: usize| lane.min(count - 1);
        let mut buffer = Aligned::default();
        let out = buffer.room(n * n * width);
        lanes::gather_lower((n, BAND), count, |i| x.matrix(i), out).unwrap();
        for (r, c) in (0..n).flat_map(|r| (0..n.min(r + 1 + BAND)).map(move |c| (r, c))) {
            for lane in 0..width {
                let expected = x.get(of(lane), r.max(c), r.min(c));
                assert_eq!(out[(r * n + c) * width + lane], expected);
            }
        }
        lanes::gather(count, |i| x.matrix(i), out).unwrap();
        let size = n * (n + 1) / 2;
        let mut vectors = vec![T::ZERO; count * size];
        lanes::scatter_upper((n, two), out, &mut vectors).unwrap();
        let upper = (0..n).flat_map(|r| (r..n).map(move |c| (r, c)));
        for (at, (r, c)) in upper.enumerate() {
            for i in 0..count {
                let factor = if r == c { T::ONE } else { two };
                assert_eq!(vectors[i * size + at], factor * x.get(i, r, c));
            }
        }
        let half = T::from_f64(0.5);
        lanes::gather_upper((n, half), count, |i| &vectors[i * size..], out).unwrap();
        let mut back = x.clone();
        lanes::scatter(out, true, back.data_mut()).unwrap();
        for i in 0..count {
            for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
                let expected = x.get(i, r, c) + x.get(i, r.min(c), r.max(c));
                assert_eq!(back.get(i, r, c), expected);
            }
        }
    }
}

#[test]
fn what_goes_into_lanes_comes_out_again() {
    for n in 1..=18 {
        check_ways::<f32>(n);
        check_ways::<f64>(n);
    }
}

/// One entry that is not finite leaves an eigenvalue that is not, or no convergence: who looks at
/// the values need not look at the entries.
#[test]
fn eigenvalues_of_what_is_not_finite_are_not_finite() {
    let width = lanes::width::<f64>().unwrap();
    for n in 1..=6 {
        for (r, c) in (0..n).flat_map(|r| (0..=r).map(move |c| (r, c))) {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut x = MatBatch::<f64>::identity(width, n);
                x.matrix_mut(width - 1)[r * n + c] = bad;
                let (lx, mut buffers) = (laid(&x), Aligned::default());
                let (values, rest) = buffers
                    .room((n + n * n) * width + lanes::eigen_room::<f64>(n, 1).unwrap())
                    .split_at_mut(n * width);
                let (u, scratch) = rest.split_at_mut(n * n * width);
                let done = lanes::eigen(n, 1, lx.get(n * n * width), values, u, scratch);
                let finite = values.iter().all(|v| v.is_finite());
                assert!(done.is_err() || !finite, "n={n}: {bad} at {r}, {c}");
            }
        }
    }
}
