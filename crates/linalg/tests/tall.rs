//! What points on the Stiefel manifold do, against plain formulas, around every boundary of
//! registers and blocks.

use stiefel_linalg::{
    MatBatch, Op, Scalar, orthonormalise, product, project_tall, project_tall_pull_back, qr,
    symmetrise,
};
use stiefel_testkit::random_batch;

/// Sizes on either side of whole registers (4, 8, 16 numbers) and of blocks (4, 6 rows).
const SIZES: [(usize, usize); 12] = [
    (1, 1),
    (3, 2),
    (5, 5),
    (7, 6),
    (13, 12),
    (17, 16),
    (18, 17),
    (22, 20),
    (33, 31),
    (40, 33),
    (60, 30),
    (70, 65),
];

fn close<T: Scalar>(what: &str, found: &[T], expected: &[T], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let gap = (f.to_f64() - e.to_f64()).abs();
        assert!(gap <= tolerance, "{what}, number {i}: {f} against {e}");
    }
}

/// `sym(AᵀB)`.
fn symmetric<T: Scalar>(a: &MatBatch<T>, b: &MatBatch<T>) -> MatBatch<T> {
    let mut s = product(a.view(), Op::T, b.view(), Op::N).expect("shapes");
    symmetrise(&mut s.view_mut()).expect("square");
    s
}

fn times<T: Scalar>(a: &MatBatch<T>, b: &MatBatch<T>) -> MatBatch<T> {
    product(a.view(), Op::N, b.view(), Op::N).expect("shapes")
}

fn minus<T: Scalar>(a: &MatBatch<T>, b: &MatBatch<T>) -> MatBatch<T> {
    let data = a.data().iter().zip(b.data()).map(|(&a, &b)| a - b);
    MatBatch::from_vec(a.count(), a.rows(), a.cols(), data.collect()).expect("shapes")
}

fn points<T: Scalar>(seed: u64, count: usize, n: usize, k: usize) -> MatBatch<T> {
    qr(random_batch::<T>(seed, count, n, k).view())
        .expect("full rank")
        .q
}

fn check_projection<T: Scalar>(n: usize, k: usize, tolerance: f64) {
    let name = format!("{} {n} × {k}", T::NAME);
    let given = random_batch::<T>(2, 3, n, k);
    let g = random_batch::<T>(3, 3, n, k);
    for count in [1, 3] {
        let w = points::<T>(1, count, n, k);
        let (mut z, mut s) = (given.clone(), MatBatch::zeros(3, k, k));
        project_tall(w.view(), &mut z.view_mut(), &mut s.view_mut()).expect("shapes");
        let expected_s = symmetric(&w, &given);
        close(&name, s.data(), expected_s.data(), tolerance);
        let expected = minus(&given, &times(&w, &expected_s));
        close(&name, z.data(), expected.data(), tolerance);

        let h = symmetric(&w, &g);
        let (mut in_w, mut in_z) = (w.clone(), given.clone());
        let all = (w.view(), given.view(), s.view());
        let wanted = (Some(in_w.view_mut()), Some((in_z.view_mut(), true)));
        project_tall_pull_back(all, g.view(), wanted).expect("shapes");
        // Both are added to what was there, the second one only if asked.
        let of_z = minus(&g, &times(&w, &h));
        let mut written = MatBatch::from_fn(3, n, k, |_, _, _| T::from_f64(f64::NAN));
        let wanted = (None, Some((written.view_mut(), false)));
        project_tall_pull_back(all, g.view(), wanted).expect("shapes");
        close(&name, written.data(), of_z.data(), tolerance);
        let expected: Vec<T> = (given.data().iter().zip(of_z.data()))
            .map(|(&a, &b)| a + b)
            .collect();
        close(&name, in_z.data(), &expected, tolerance);
        let (zh, gs) = (times(&given, &h), times(&g, &s));
        let mut expected = w.clone();
        for i in 0..3 {
            let at = if count == 1 { 0 } else { i };
            let terms = zh.matrix(i).iter().zip(gs.matrix(i));
            for (e, (&a, &b)) in expected.matrix_mut(at).iter_mut().zip(terms) {
                *e -= a + b;
            }
        }
        close(&name, in_w.data(), expected.data(), tolerance);
    }
}

#[test]
fn projection_and_its_pull_back() {
    for (n, k) in SIZES {
        check_projection::<f64>(n, k, 1e-12);
        check_projection::<f32>(n, k, 1e-4);
    }
}

fn check_orthonormal<T: Scalar>(n: usize, k: usize, tolerance: f64) {
    let name = format!("{} {n} × {k}", T::NAME);
    let mut a = points::<T>(4, 1, n, k);
    let nudge = random_batch::<T>(5, 1, n, k);
    let small = T::from_f64(0.05);
    (a.data_mut().iter_mut().zip(nudge.data())).for_each(|(a, &x)| *a += small * x);
    let mut q = vec![T::ZERO; n * k];
    orthonormalise(a.data(), (n, k), &mut q).expect("full rank");
    let expected = qr(a.view()).expect("full rank").q;
    close(&name, &q, expected.data(), tolerance);
}

#[test]
fn orthonormal_columns_are_those_of_qr() {
    for (n, k) in SIZES {
        check_orthonormal::<f64>(n, k, 1e-12);
        check_orthonormal::<f32>(n, k, 2e-5);
    }
    let mut q = [0.0; 4];
    let error = orthonormalise(&[1.0, 0.0, 1.0, 0.0], (2, 2), &mut q).expect_err("rank 1");
    assert!(error.to_string().contains("orthonormal columns"), "{error}");
    assert!(orthonormalise(&[1.0, 1.0], (1, 2), &mut q[..2]).is_err());
}
