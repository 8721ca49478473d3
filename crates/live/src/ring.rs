//! The last samples, as they came.

/// Frames of `n` values; frame `t` is at `t % capacity`.
#[derive(Debug, Clone)]
pub(crate) struct Ring {
    n: usize,
    capacity: usize,
    values: Vec<f64>,
    seen: u64,
}

impl Ring {
    pub(crate) fn new(n: usize, capacity: usize) -> Self {
        Self {
            n,
            capacity,
            values: vec![0.0; n * capacity],
            seen: 0,
        }
    }

    pub(crate) fn push(&mut self, frames: &[f64]) {
        for frame in frames.chunks_exact(self.n) {
            let at = (self.seen % self.capacity as u64) as usize;
            self.values[at * self.n..][..self.n].copy_from_slice(frame);
            self.seen += 1;
        }
    }

    /// Counts frames that are not there.
    pub(crate) fn skip(&mut self, count: u64) {
        self.seen += count;
    }

    /// Frames of the recent past, in order: those up to the end of the ring, and those from its
    /// beginning on.
    pub(crate) fn frames(&self, from: u64, to: u64) -> [&[f64]; 2] {
        let count = (to.saturating_sub(from) as usize).min(self.capacity);
        let first = (from % self.capacity as u64) as usize;
        let before = count.min(self.capacity - first);
        [
            &self.values[first * self.n..][..before * self.n],
            &self.values[..(count - before) * self.n],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn frames_come_in_order_around_the_end() {
        let mut ring = Ring::new(2, 5);
        for t in 0..13 {
            ring.push(&[f64::from(t), f64::from(-t)]);
        }
        for from in 8..13_u64 {
            for to in from..=13 {
                let found = ring.frames(from, to).concat();
                let expected: Vec<f64> = (from..to).flat_map(|t| [t as f64, -(t as f64)]).collect();
                assert_eq!(found, expected, "{from} to {to}");
            }
        }
    }
}
