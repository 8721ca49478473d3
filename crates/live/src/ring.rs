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

    /// Frames of the recent past, in order.
    pub(crate) fn frames(&self, from: u64, to: u64) -> impl Iterator<Item = &[f64]> + Clone {
        let at = |t: u64| (t % self.capacity as u64) as usize;
        (from..to).map(move |t| &self.values[at(t) * self.n..][..self.n])
    }
}
