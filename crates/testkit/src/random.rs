//! Reproducible random matrices.

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use stiefel_linalg::{MatBatch, Op, Scalar, product};

/// A generator from a seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A standard normal number (Box–Muller).
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    let v: f64 = rng.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Independent standard normal entries.
pub fn random_batch<T: Scalar>(seed: u64, count: usize, rows: usize, cols: usize) -> MatBatch<T> {
    let mut rng = rng(seed);
    MatBatch::from_fn(count, rows, cols, |_, _, _| T::from_f64(normal(&mut rng)))
}

/// Symmetric matrices with standard normal entries below the diagonal.
pub fn random_symmetric<T: Scalar>(seed: u64, count: usize, n: usize) -> MatBatch<T> {
    let g = random_batch::<T>(seed, count, n, n);
    MatBatch::from_fn(count, n, n, |i, r, c| g.get(i, r.max(c), r.min(c)))
}

/// Well-conditioned SPD matrices `G Gᵀ/(2n) + I/2` with `G` of size `n × 2n`.
pub fn random_spd<T: Scalar>(seed: u64, count: usize, n: usize) -> MatBatch<T> {
    let g = random_batch::<f64>(seed, count, n, 2 * n);
    let p = product(g.view(), Op::N, g.view(), Op::T).expect("matching shapes");
    MatBatch::from_fn(count, n, n, |i, r, c| {
        let eye = if r == c { 0.5 } else { 0.0 };
        T::from_f64(p.get(i, r.max(c), r.min(c)) / (2.0 * n as f64) + eye)
    })
}
