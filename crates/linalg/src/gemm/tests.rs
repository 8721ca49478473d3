use super::*;
use pulp::WithSimd;

/// The sums as they are written.
fn naive<T: Scalar>(
    shape: (usize, usize, usize),
    add: bool,
    alpha: T,
    sums: Sums,
    a: Strided<'_, T>,
    b: Strided<'_, T>,
    c: &mut [T],
    ldc: usize,
) {
    let (m, n, k) = shape;
    for r in 0..m {
        for col in 0..n {
            if sums == Sums::Lower && col > r {
                continue;
            }
            let mut sum = 0.0;
            for t in 0..k {
                sum += a.data[r * a.row + t * a.col].to_f64()
                    * b.data[t * b.row + col * b.col].to_f64();
            }
            let x = &mut c[r * ldc + col];
            *x = T::from_f64(alpha.to_f64() * sum + if add { x.to_f64() } else { 0.0 });
        }
    }
}

/// Numbers between -1 and 1 without a pattern (splitmix64).
fn numbers<T: Scalar>(len: usize, seed: u64) -> Vec<T> {
    let number = |i: u64| {
        let mut x = (i + (seed << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        T::from_f64(((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (1..=len as u64).map(number).collect()
}

/// A factor of `rows × cols` in a wider matrix, by rows or by columns.
fn factor<T: Copy>(
    data: &[T],
    (rows, cols): (usize, usize),
    transposed: bool,
    extra: usize,
) -> Strided<'_, T> {
    if transposed {
        Strided::rows(data, rows + extra).transposed()
    } else {
        Strided::rows(data, cols + extra)
    }
}

fn check<T: Scalar>((m, n, k): (usize, usize, usize), sums: Sums) {
    let extra = (m + n) % 2;
    let (a_data, b_data) = (
        numbers::<T>((m + 1) * (k + 1), 1),
        numbers::<T>((n + 1) * (k + 1), 2),
    );
    let old = numbers::<T>(m * (n + extra), 3);
    for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
        let (a, b) = (
            factor(&a_data, (m, k), ta, extra),
            factor(&b_data, (k, n), tb, extra),
        );
        for (add, alpha) in [(false, 1.0), (true, -0.5)] {
            let alpha = T::from_f64(alpha);
            let mut expected = old.clone();
            naive((m, n, k), add, alpha, sums, a, b, &mut expected, n + extra);
            for plain in [false, true] {
                let mut found = old.clone();
                let gemm = Gemm {
                    count: 1,
                    shape: (m, n, k),
                    add,
                    alpha,
                    sums,
                    a: (a, 0),
                    b: (b, 0),
                    c: (&mut found, n + extra, 0),
                };
                if plain {
                    Products {
                        gemm,
                        room: &mut Aligned::new(),
                    }
                    .with_simd(pulp::Scalar);
                } else {
                    gemm.run().expect("an instruction set");
                }
                // A sum of k terms below one, each rounded.
                let tolerance = 2.0 * T::EPSILON.to_f64() * (k + 2) as f64;
                for (at, (f, e)) in found.iter().zip(&expected).enumerate() {
                    let gap = (f.to_f64() - e.to_f64()).abs();
                    assert!(
                        gap <= tolerance,
                        "{m}×{k}×{n} {ta} {tb} {add} plain={plain} {sums:?} {at}: {f} {e}"
                    );
                }
            }
        }
    }
}

#[test]
fn agrees_with_the_sums_as_written() {
    // Around the boundaries of tiles, registers and panels of every set, and of the blocks of
    // terms.
    for m in [1, 2, 3, 4, 5, 7, 8, 9, 15, 17] {
        for n in [
            1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 65,
        ] {
            for k in [0, 1, 2, 9, 33] {
                check::<f64>((m, n, k), Sums::All);
                check::<f32>((m, n, k), Sums::All);
            }
        }
    }
}

/// More registers of one row are computed together, to the same bits.
#[test]
fn a_row_alone_has_the_bits_of_a_row_among_others() {
    fn check<T: Scalar>(n: usize, k: usize) {
        let (a, b) = (numbers::<T>(5 * k, 1), numbers::<T>(k * n, 2));
        let run = |rows: usize, a: &[T]| {
            let mut c = vec![T::ZERO; rows * n];
            Gemm {
                count: 1,
                shape: (rows, n, k),
                add: false,
                alpha: T::ONE,
                sums: Sums::All,
                a: (factor(a, (rows, k), false, 0), 0),
                b: (factor(&b, (k, n), false, 0), 0),
                c: (&mut c, n, 0),
            }
            .run()
            .expect("an instruction set");
            c
        };
        let all = run(5, &a);
        for (r, row) in all.chunks_exact(n).enumerate() {
            assert_eq!(row, run(1, &a[r * k..][..k]), "{} {n} {k}", T::NAME);
        }
    }
    for n in [20, 24, 30, 40, 48, 61, 100] {
        for k in [7, 300, 1100] {
            check::<f64>(n, k);
            check::<f32>(n, k);
        }
    }
}

#[test]
fn long_sums_and_large_matrices_too() {
    for shape in [
        (3, 5, 129),
        (9, 26, 257),
        (20, 30, 400),
        (1, 40, 300),
        (40, 1, 300),
        (1, 100, 30),
        (1, 97, 600),
        (140, 130, 150),
        (33, 1000, 20),
        (131, 17, 130),
        (2, 3, 500),
    ] {
        check::<f64>(shape, Sums::All);
        check::<f32>(shape, Sums::All);
    }
}

#[test]
fn lower_triangles_leave_the_rest() {
    for n in (1..40).chain([64, 97, 135]) {
        for k in [1, 7, 40] {
            check::<f64>((n, n, k), Sums::Lower);
            check::<f32>((n, n, k), Sums::Lower);
        }
    }
    check::<f64>((20, 20, 500), Sums::Lower);
    check::<f64>((135, 135, 140), Sums::Lower);
}

#[test]
fn a_matrix_gives_the_same_bits_in_any_batch() {
    for (m, n, k) in [
        (1, 9, 40),
        (3, 3, 3),
        (7, 5, 70),
        (5, 1, 33),
        (12, 30, 200),
        (30, 2, 11),
    ] {
        for count in [2, 3, 9] {
            for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
                for shared in [false, true] {
                    let a_data = numbers::<f32>(count * m * k, 1);
                    let b_data = numbers::<f32>(if shared { 1 } else { count } * n * k, 2);
                    let (a, b) = (
                        factor(&a_data, (m, k), ta, 0),
                        factor(&b_data, (k, n), tb, 0),
                    );
                    let b_step = if shared { 0 } else { n * k };
                    let mut all = numbers::<f32>(count * m * n, 3);
                    let mut alone = all.clone();
                    Gemm {
                        count,
                        shape: (m, n, k),
                        add: true,
                        alpha: 0.7,
                        sums: Sums::All,
                        a: (a, m * k),
                        b: (b, b_step),
                        c: (&mut all, n, m * n),
                    }
                    .run()
                    .expect("a set");
                    for i in 0..count {
                        let c = &mut alone[i * m * n..][..m * n];
                        Gemm {
                            count: 1,
                            shape: (m, n, k),
                            add: true,
                            alpha: 0.7,
                            sums: Sums::All,
                            a: (a.skip(i * m * k), 0),
                            b: (b.skip(i * b_step), 0),
                            c: (c, n, 0),
                        }
                        .run()
                        .expect("a set");
                    }
                    assert_eq!(all, alone, "{m}×{k}×{n} {ta} {tb}");
                }
            }
        }
    }
}
