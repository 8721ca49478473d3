//! Conjugate gradients and the line search against plain references, to the bit where the order of
//! sums is the same.

use proptest::prelude::*;
use std::convert::Infallible;
use stiefel_linalg::minimise::{System, conjugate_gradients, line_search};
use stiefel_linalg::{MatBatch, Op, asymmetry, product, tolerance};
use stiefel_testkit::random_spd;

/// `H x = b` behind the diagonal of `H`.
struct Dense {
    h: MatBatch<f64>,
    goal: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl System<f64> for Dense {
    type Error = Infallible;

    fn times(&mut self, v: &[f64]) -> Result<Vec<f64>, Infallible> {
        let rows = self.h.data().chunks_exact(v.len());
        Ok(rows.map(|row| dot(row, v)).collect())
    }

    fn is_small(&self, residual: &[f64]) -> bool {
        dot(residual, residual).sqrt() <= self.goal
    }

    fn precondition(&mut self, r: &[f64]) -> Result<Vec<f64>, Infallible> {
        Ok((0..r.len()).map(|i| r[i] / self.h.get(0, i, i)).collect())
    }
}

/// The textbook's loop, written out.
fn reference(system: &mut Dense, b: &[f64], most: usize) -> Vec<f64> {
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let Ok(mut z) = system.precondition(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    for _ in 0..most {
        let Ok(hp) = system.times(&p);
        let curvature = dot(&p, &hp);
        if curvature <= 0.0 {
            break;
        }
        let t = rz / curvature;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += t * p);
        r.iter_mut().zip(&hp).for_each(|(r, h)| *r += -t * h);
        if dot(&r, &r).sqrt() <= system.goal {
            break;
        }
        let Ok(next) = system.precondition(&r);
        z = next;
        let next = dot(&r, &z);
        let beta = next / rz;
        rz = next;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
    }
    x
}

proptest! {
    #[test]
    fn conjugate_gradients_solve(seed in 0..10_000_u64, n in 1..12_usize) {
        let h = random_spd::<f64>(seed, 1, n);
        let b: Vec<f64> = random_spd::<f64>(seed + 1, 1, n).data()[..n].to_vec();
        let goal = 1e-12 * dot(&b, &b).sqrt();
        let mut system = Dense { h, goal };
        let Ok(x) = conjugate_gradients(&mut system, b.clone(), None, 50 * n);
        prop_assert_eq!(&x, &reference(&mut system, &b, 50 * n));
        let x = MatBatch::from_vec(1, n, 1, x).unwrap();
        let back = product(system.h.view(), Op::N, x.view(), Op::N).unwrap();
        let apart = stiefel_linalg::sums::gap(back.data(), &b);
        prop_assert!(apart <= 1e-9 * dot(&b, &b).sqrt(), "{apart:e}");
    }
}

#[test]
fn a_direction_without_curvature_ends_the_search() {
    for h in [-1.0, 0.0, f64::NAN] {
        let h = MatBatch::from_vec(1, 1, 1, vec![h]).unwrap();
        let Ok(x) = conjugate_gradients(&mut Dense { h, goal: 0.0 }, vec![1.0], Some(1.0), 5);
        assert_eq!(x, [0.0]);
    }
}

#[test]
fn a_line_search_gives_up() {
    let mut tried = Vec::new();
    let found = line_search(0.0, -1.0, |t| {
        tried.push(t);
        Ok::<_, Infallible>((1.0, ()))
    });
    assert_eq!(found, Ok(None));
    assert_eq!(tried.len(), tolerance::HALVINGS);
    assert_eq!(tried[..3], [1.0, 0.5, 0.25]);
}

#[test]
fn one_rule_says_what_is_symmetric() {
    // The rounding of f32 on a covariance: fine where it came in as f32, not where it came in as
    // f64.
    let x = MatBatch::from_vec(1, 2, 2, vec![4.0, 1.0, 1.0 + 1e-4, 1.0]).unwrap();
    assert_eq!(asymmetry(x.view(), tolerance::symmetry_of(true)), None);
    assert_eq!(
        asymmetry(x.view(), tolerance::symmetry_of(false)),
        Some((0, 1, 0))
    );
    assert_eq!(
        asymmetry(x.cast::<f32>().view(), tolerance::symmetry::<f32>()),
        None
    );
}
