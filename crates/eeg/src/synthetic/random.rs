//! Random numbers: one `ChaCha8` stream for each purpose, and normal deviates by the ziggurat.
//!
//! A stream is chosen by what it is for, so the numbers for subject 3 do not depend on how many
//! subjects, sessions or channels there are. The ziggurat cuts the density into 256 layers of equal
//! area; 99 % of the draws are one product and one comparison. Source: Marsaglia & Tsang, J. Stat.
//! Softw. 5 (2000), in the form of Doornik (2005).

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use std::sync::LazyLock;

/// What random numbers are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Purpose {
    Population = 1,
    Anatomy,
    Physiology,
    Session,
    Schedule,
    Background,
    Rhythms,
    Artefacts,
    Sensors,
}

/// A source of random numbers for one purpose.
#[derive(Debug)]
pub(crate) struct Stream {
    rng: ChaCha8Rng,
    table: &'static Ziggurat,
}

impl Stream {
    /// The stream of a purpose, subject, session and run (0 where one does not apply).
    pub(crate) fn new(
        seed: u64,
        purpose: Purpose,
        subject: usize,
        session: usize,
        run: usize,
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let key = [
            (purpose as u64, 56),
            (subject as u64 & 0xFF_FFFF, 32),
            (session as u64 & 0xFFFF, 16),
            (run as u64 & 0xFFFF, 0),
        ];
        rng.set_stream(key.iter().map(|(value, shift)| value << shift).sum());
        Self {
            rng,
            table: &ZIGGURAT,
        }
    }

    /// Uniform in 0…1, 1 excluded.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The bias of the product is bound/2⁶⁴: nothing for the sizes shuffled here.
        ((u128::from(self.rng.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Standard normal.
    #[inline]
    pub(crate) fn normal(&mut self) -> f64 {
        let table = self.table;
        loop {
            let bits = self.rng.next_u64();
            let layer = (bits & 0xFF) as usize;
            // 53 bits as −1…1.
            let u = (bits >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0;
            let x = u * table.edge[layer];
            if x.abs() < table.edge[layer + 1] {
                return x;
            }
            if let Some(x) = self.edge_case(table, layer, x) {
                return x;
            }
        }
    }

    /// The curved end of a layer, or the tail below the lowest.
    #[cold]
    fn edge_case(&mut self, table: &Ziggurat, layer: usize, x: f64) -> Option<f64> {
        if layer == 0 {
            loop {
                let a = -(1.0 - self.uniform()).ln() / TAIL;
                let b = -(1.0 - self.uniform()).ln();
                if 2.0 * b >= a * a {
                    return Some((TAIL + a).copysign(x));
                }
            }
        }
        let (low, high) = (table.density[layer], table.density[layer + 1]);
        (low + self.uniform() * (high - low) < (-0.5 * x * x).exp()).then_some(x)
    }

    /// Exponential with the given mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Puts a list into random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Where the tail begins for 256 layers, and the area of a layer.
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_99;

#[derive(Debug)]
struct Ziggurat {
    edge: [f64; 257],
    /// `exp(−x²/2)` at each edge.
    density: [f64; 257],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let mut edge = [0.0; 257];
    edge[0] = AREA / (-0.5 * TAIL * TAIL).exp();
    edge[1] = TAIL;
    for i in 2..256 {
        let x: f64 = edge[i - 1];
        edge[i] = (-2.0 * (AREA / x + (-0.5 * x * x).exp()).ln()).sqrt();
    }
    Ziggurat {
        edge,
        density: edge.map(|x| (-0.5 * x * x).exp()),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_deviates_are_normal() {
        let mut stream = Stream::new(1, Purpose::Sensors, 0, 0, 0);
        let n = 400_000;
        let mut x: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let moment = |k: i32| x.iter().map(|x| x.powi(k)).sum::<f64>() / n as f64;
        // Standard errors: 1/√n, √2/√n, √15/√n, √96/√n; five of each.
        let s = 5.0 / (n as f64).sqrt();
        assert!(moment(1).abs() < s && (moment(2) - 1.0).abs() < 1.5 * s);
        assert!(moment(3).abs() < 3.9 * s && (moment(4) - 3.0).abs() < 9.8 * s);
        // Kolmogorov–Smirnov at the quantiles of the normal distribution, and the weight of the
        // tail.
        x.sort_by(f64::total_cmp);
        for (z, p) in [
            (-3.0, 0.001_349_898),
            (-1.0, 0.158_655_254),
            (0.0, 0.5),
            (0.5, 0.691_462_461),
            (2.0, 0.977_249_868),
            (3.7, 0.999_892_200),
        ] {
            let below = x.partition_point(|&x| x < z) as f64 / n as f64;
            assert!(
                (below - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt(),
                "{z}: {below} {p}"
            );
        }
    }

    #[test]
    fn streams_differ_by_every_part_of_their_key() {
        let first = |p, s, e, r| Stream::new(7, p, s, e, r).uniform();
        let base = first(Purpose::Sensors, 1, 1, 1);
        assert_eq!(base, first(Purpose::Sensors, 1, 1, 1));
        for other in [
            first(Purpose::Rhythms, 1, 1, 1),
            first(Purpose::Sensors, 2, 1, 1),
            first(Purpose::Sensors, 1, 2, 1),
            first(Purpose::Sensors, 1, 1, 2),
        ] {
            assert!(base != other);
        }
        let mut stream = Stream::new(7, Purpose::Schedule, 0, 0, 0);
        assert!((0..1000).all(|_| stream.below(3) < 3));
    }
}
