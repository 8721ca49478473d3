//! How a batch is cut into groups of lanes, and groups into tasks for threads.

use crate::{Buffer, OpResult};
use std::ops::Range;
use stiefel_linalg::{Scalar, lanes, on_threads, threads_for};

/// Groups that one task takes: two share the latencies of the eigen-decomposition.
const PER_TASK: usize = 2;

/// The sizes of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups {
    /// Samples.
    pub(super) samples: usize,
    /// Samples of a group.
    pub(super) width: usize,
    /// Channels and filters.
    pub(super) n: usize,
    pub(super) k: usize,
}

impl Groups {
    pub(super) fn new<T: Scalar>(samples: usize, n: usize, k: usize) -> OpResult<Self> {
        let width = lanes::width::<T>()?;
        Ok(Self {
            samples,
            width,
            n,
            k,
        })
    }

    /// How many groups there are.
    pub(super) fn count(&self) -> usize {
        self.samples.div_ceil(self.width)
    }

    /// Numbers of an `n × k` matrix in lanes.
    pub(super) fn tall(&self) -> usize {
        self.n * self.k * self.width
    }

    /// Numbers of a `k × k` matrix in lanes.
    pub(super) fn square(&self) -> usize {
        self.k * self.k * self.width
    }

    /// Numbers of `k` registers.
    pub(super) fn row(&self) -> usize {
        self.k * self.width
    }

    /// The samples of a group.
    pub(super) fn samples_in(&self, group: usize) -> Range<usize> {
        group * self.width..((group + 1) * self.width).min(self.samples)
    }

    /// The threads to use: more than one where the work is worth it. What is computed does not
    /// depend on it.
    pub(super) fn threads(&self) -> usize {
        let (n, k) = (self.n, self.k);
        let work = self.samples * k * (n * n + 3 * n * k + 10 * k * k) / 2;
        threads_for(work)
    }

    /// Groups per task: two, or one where threads would have nothing to do.
    pub(super) fn per_task(&self) -> usize {
        if self.count() < PER_TASK * self.threads() {
            1
        } else {
            PER_TASK
        }
    }

    /// Runs tasks, on several threads where that pays.
    pub(super) fn run<X: Send>(
        &self,
        tasks: Vec<X>,
        task: impl Fn(X) -> OpResult + Sync + Send,
    ) -> OpResult {
        if self.threads() == 1 || tasks.len() == 1 {
            return tasks.into_iter().try_for_each(task);
        }
        // The first error in the order of the tasks, whichever thread was faster.
        on_threads(tasks, task).into_iter().collect()
    }
}

/// A buffer in parts, to be handed out one after the other; none where there is no buffer.
pub(super) struct Parts<'a, T> {
    rest: &'a mut [T],
}

impl<'a, T: Scalar> Parts<'a, T> {
    pub(super) fn new(buffer: &'a mut Buffer<T>) -> Self {
        Self { rest: buffer }
    }

    pub(super) fn from_slice(rest: &'a mut [T]) -> Self {
        Self { rest }
    }

    /// The next `len` numbers, or what is left.
    pub(super) fn next(&mut self, len: usize) -> &'a mut [T] {
        let rest = std::mem::take(&mut self.rest);
        let len = len.min(rest.len());
        let (part, rest) = rest.split_at_mut(len);
        self.rest = rest;
        part
    }
}
