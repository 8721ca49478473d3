//! Random streams, one per purpose: what one part draws never changes what another one gets.

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use stiefel_geometry::stiefel;
use stiefel_linalg::{MatBatch, Scalar};

/// The generator of a purpose: the name chooses the stream of the seed, `index` a further one
/// within.
pub(crate) fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // FNV-1a, a hash that stays the same over versions and machines.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in purpose.bytes().chain(index.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    rng.set_stream(hash);
    rng
}

/// A standard normal number (Box–Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    let v: f64 = rng.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Standard normal entries.
pub(crate) fn gaussian<T: Scalar>(
    seed: u64,
    purpose: &str,
    (count, rows, cols): (usize, usize, usize),
) -> MatBatch<T> {
    let mut rng = stream(seed, purpose, 0);
    MatBatch::from_fn(count, rows, cols, |_, _, _| T::from_f64(normal(&mut rng)))
}

/// Uniform entries in ±1/√fan_in: PyTorch's linear layers.
pub(crate) fn linear<T: Scalar>(
    seed: u64,
    purpose: &str,
    (rows, cols): (usize, usize),
    fan_in: usize,
) -> MatBatch<T> {
    let bound = 1.0 / (fan_in.max(1) as f64).sqrt();
    let mut rng = stream(seed, purpose, 0);
    MatBatch::from_fn(1, rows, cols, |_, _, _| {
        T::from_f64(bound * (2.0 * rng.random::<f64>() - 1.0))
    })
}

/// Uniform points of St(n, k), each from a stream of its own.
pub(crate) fn points(seed: u64, purpose: &str, count: usize, n: usize, k: usize) -> MatBatch<f64> {
    let mut all = MatBatch::zeros(count, n, k);
    for i in 0..count {
        let mut rng = stream(seed, purpose, i as u64);
        let gaussian = MatBatch::from_fn(1, n, k, |_, _, _| normal(&mut rng));
        // A Gaussian matrix has full rank with probability one; the identity's columns stand in for
        // the rest.
        let q = stiefel::orthonormal_factor(gaussian.view()).map(|f| f.q);
        let q =
            q.unwrap_or_else(|_| MatBatch::from_fn(1, n, k, |_, r, c| f64::from(u8::from(r == c))));
        all.matrix_mut(i).copy_from_slice(q.data());
    }
    all
}

/// `0..n` in random order.
pub(crate) fn permutation(rng: &mut ChaCha8Rng, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}
