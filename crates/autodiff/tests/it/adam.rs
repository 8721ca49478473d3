//! A step of Adam against plain formulas, around every boundary of registers and blocks.

use stiefel_autodiff::{AdamRates, adam_flat, adam_tall};
use stiefel_linalg::{MatBatch, Scalar, project_tall, qr};
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

/// `Z − W sym(WᵀZ)`.
fn project<T: Scalar>(w: &MatBatch<T>, z: &MatBatch<T>) -> MatBatch<T> {
    let (count, _, k) = w.shape();
    let (mut z, mut s) = (z.clone(), MatBatch::zeros(count, k, k));
    project_tall(w.view(), &mut z.view_mut(), &mut s.view_mut()).expect("shapes");
    z
}

fn rates<T: Scalar>() -> AdamRates<T> {
    AdamRates {
        keep: [0.9, 0.999].map(T::from_f64),
        take: [0.1, 0.001].map(T::from_f64),
        rate: T::from_f64(-0.1),
        unbias: T::from_f64(31.0),
        epsilon: T::from_f64(1e-8),
    }
}

/// Plain Adam, number by number.
fn plain<T: Scalar>(g: &[T], m: &mut [T], v: &mut [T]) -> Vec<T> {
    let rates = rates::<T>();
    let moments = m.iter_mut().zip(v);
    let step = |(&g, (m, v)): (&T, (&mut T, &mut T))| {
        *m = rates.keep[0] * *m + rates.take[0] * g;
        *v = rates.keep[1] * *v + rates.take[1] * g * g;
        rates.rate * *m / (Scalar::sqrt(*v) * rates.unbias + rates.epsilon)
    };
    g.iter().zip(moments).map(step).collect()
}

fn check_adam<T: Scalar>(n: usize, k: usize, tolerance: f64) {
    let name = format!("{} {n} × {k}", T::NAME);
    let w = qr(random_batch::<T>(6, 3, n, k).view())
        .expect("full rank")
        .q;
    let g = random_batch::<T>(7, 3, n, k);
    let first = random_batch::<T>(8, 3, n, k);
    let mut second = random_batch::<T>(9, 3, n, k);
    second.data_mut().iter_mut().for_each(|v| *v = *v * *v);
    let (mut moved, mut m, mut v) = (w.clone(), first.clone(), second.clone());
    let moments = (&mut m.view_mut(), &mut v.view_mut());
    adam_tall(&rates(), &mut moved.view_mut(), g.view(), moments).expect("full rank");

    let (mut em, mut ev) = (first.clone(), second.clone());
    let step = plain(project(&w, &g).data(), em.data_mut(), ev.data_mut());
    let step = project(&w, &MatBatch::from_vec(3, n, k, step).expect("shape"));
    let sum: Vec<T> = (w.data().iter().zip(step.data()))
        .map(|(&a, &b)| a + b)
        .collect();
    let sum = MatBatch::from_vec(3, n, k, sum).expect("shape");
    let q = qr(sum.view()).expect("full rank").q;
    close(&name, moved.data(), q.data(), tolerance);
    close(&name, v.data(), ev.data(), tolerance);
    close(&name, m.data(), project(&q, &em).data(), tolerance);

    // One by one to the same bits.
    for i in 0..3 {
        let (mut one, mut m1, mut v1) = (w.single(i), first.single(i), second.single(i));
        let moments = (&mut m1.view_mut(), &mut v1.view_mut());
        let g = g.single(i);
        adam_tall(&rates(), &mut one.view_mut(), g.view(), moments).expect("full rank");
        assert_eq!(one.data(), moved.matrix(i), "{name}");
        assert_eq!(m1.data(), m.matrix(i), "{name}");
    }
}

#[test]
fn adam_on_the_manifold() {
    for (n, k) in SIZES {
        check_adam::<f64>(n, k, 1e-10);
        check_adam::<f32>(n, k, 2e-3);
    }
}

#[test]
fn adam_of_plain_numbers_has_the_bits_of_the_formula() {
    for len in [0, 1, 7, 16, 37] {
        let g = random_batch::<f64>(1, 1, 1, len);
        let (mut x, mut m, mut v) = (vec![1.0; len], vec![0.5; len], vec![0.25; len]);
        let (mut em, mut ev) = (m.clone(), v.clone());
        adam_flat(&rates(), &mut x, g.data(), (&mut m, &mut v)).expect("a set");
        let step = plain(g.data(), &mut em, &mut ev);
        let expected: Vec<f64> = step.iter().map(|s| 1.0 + s).collect();
        assert_eq!((x, m, v), (expected, em, ev), "{len} numbers");
    }
}
