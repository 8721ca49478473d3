//! LogEig in one operation: `z_i = upper(log X_i)` of SPD matrices `n × n`.
//!
//! ```text
//! X_i = U diag(λ) Uᵀ,  z_i = upper(U log(λ) Uᵀ)     n(n+1)/2 values, off-diagonals × √2
//! G_X = U (Λ ∘ UᵀG U) Uᵀ                            G: the symmetric matrix of ∂ℓ/∂z;  Λ: divided differences
//! ```
//!
//! The tail of [`filtered_log_vectors`](crate::Tape::filtered_log_vectors) without a filter.
//! Eigenvectors stay in lanes from the forward pass to the pull-back: nothing is laid out along
//! rows in between.

use super::forward::check_finite;
use super::groups::{Groups, Parts};
use super::pull_back::from_upper_gradient;
use crate::{Buffer, Context, Forward, OpResult, Operation, PullBack, Shape};
use std::f64::consts::SQRT_2;
use std::ops::Range;
use stiefel_geometry::spd::{check_spectrum, check_symmetric, upper_len};
use stiefel_linalg::lanes::{self, Logarithms};
use stiefel_linalg::tolerance::noise;
use stiefel_linalg::{MatView, Scalar};

const OP: &str = "matrix logarithm";

pub(crate) struct LogVectors<T: Scalar> {
    pub(crate) saved: Option<Saved<T>>,
}

/// State for the pull-back, in lanes, group after group.
pub(crate) struct Saved<T: Scalar> {
    groups: Groups,
    u: Buffer<T>,
    values: Buffer<T>,
    /// Two rows per group: the parts of the logarithms.
    logarithms: Buffer<T>,
}

impl<T: Scalar> Operation<T> for LogVectors<T> {
    fn name(&self) -> &'static str {
        "log_vectors"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let n = crate::ops::square(inputs)?;
        Ok((inputs[0].0, 1, upper_len(n)))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let x = pass.inputs[0];
        let n = check_symmetric(OP, x)?;
        let groups = Groups::new::<T>(x.count(), n, n)?;
        let count = groups.count();
        let mut saved = Saved {
            groups,
            u: pass.context.buffer(count * groups.square()),
            values: pass.context.buffer(count * groups.row()),
            logarithms: pass.context.buffer(2 * count * groups.row()),
        };
        let tasks = tasks(&mut saved, pass.output.data());
        groups.run(tasks, |task| task.run(x, pass.context))?;
        self.saved = pass.context.wants_gradient().then_some(saved);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let (Some(saved), Some(d_x)) = (&self.saved, &mut pass.gradients[0]) else {
            return Ok(());
        };
        let groups = saved.groups;
        let (d_x, add) = d_x.place();
        let mut d_x = Parts::from_slice(d_x);
        let size = groups.width * groups.n * groups.n;
        let mut tasks: Vec<_> = (0..groups.count()).map(|at| (at, d_x.next(size))).collect();
        // What the forward pass left last is still in the cache.
        tasks.reverse();
        groups.run(tasks, |(at, d_x)| {
            saved.pull_back(at, pass.g, (d_x, add), pass.context)
        })
    }
}

/// A few groups, with their parts of what is saved.
struct Task<'a, T> {
    groups: Groups,
    start: usize,
    len: usize,
    u: &'a mut [T],
    values: &'a mut [T],
    logarithms: &'a mut [T],
    output: &'a mut [T],
}

fn tasks<'a, T: Scalar>(saved: &'a mut Saved<T>, output: &'a mut [T]) -> Vec<Task<'a, T>> {
    let groups = saved.groups;
    let per_task = groups.per_task();
    let (mut u, mut values) = (Parts::new(&mut saved.u), Parts::new(&mut saved.values));
    let mut logarithms = Parts::new(&mut saved.logarithms);
    let mut output = Parts::from_slice(output);
    let task = |start: usize| {
        let len = per_task.min(groups.count() - start);
        Task {
            groups,
            start,
            len,
            u: u.next(len * groups.square()),
            values: values.next(len * groups.row()),
            logarithms: logarithms.next(2 * len * groups.row()),
            output: output.next(len * groups.width * upper_len(groups.k)),
        }
    };
    (0..groups.count()).step_by(per_task).map(task).collect()
}

impl<T: Scalar> Task<'_, T> {
    fn run(self, x: MatView<'_, T>, context: &Context<'_, T>) -> OpResult {
        let Groups { width, k, .. } = self.groups;
        let (square, row) = (self.groups.square(), self.groups.row());
        let first = self.groups.samples_in(self.start).start;
        let mut laid = context.buffer(self.len * square);
        for (at, laid) in laid.chunks_exact_mut(square).enumerate() {
            let samples = self.groups.samples_in(self.start + at);
            let of = |i| x.matrix(samples.start + i);
            lanes::gather_lower((k, 0), samples.len(), of, laid)?;
        }
        let mut scratch = context.buffer(lanes::eigen_room::<T>(k, self.len)?);
        lanes::eigen(k, self.len, &laid, self.values, self.u, &mut scratch)
            .map_err(|error| error.offset(first))?;
        for at in 0..self.len {
            let samples = self.groups.samples_in(self.start + at);
            let values = &self.values[at * row..][..row];
            check_group(k, width, samples.clone(), values)?;
            let (high, low) = self.logarithms[2 * at * row..][..2 * row].split_at_mut(row);
            Logarithms::split(T::ZERO, values, high, low);
            // The matrix itself is no longer needed: its place is scratch.
            let part = &mut laid[at * square..][..square];
            let mut z = context.buffer(square + row);
            let (f, z) = z.split_at_mut(row);
            for ((f, &high), &low) in f.iter_mut().zip(&*high).zip(&*low) {
                *f = high + low;
            }
            lanes::recompose(k, &self.u[at * square..][..square], f, part, z)?;
            check_finite(k, width, z)?;
            let features = upper_len(k);
            let output = &mut self.output[at * width * features..][..samples.len() * features];
            lanes::scatter_upper((k, T::from_f64(SQRT_2)), z, output)?;
        }
        Ok(())
    }
}

/// An error unless the eigenvalues of every matrix of a group, in no order, are positive beyond
/// rounding; it names the matrix of the whole batch.
fn check_group<T: Scalar>(n: usize, width: usize, samples: Range<usize>, values: &[T]) -> OpResult {
    let floor = noise::<T>(n);
    for (lane, sample) in samples.enumerate() {
        let own = || values.iter().skip(lane).step_by(width).copied();
        let smallest = own().fold(T::from_f64(f64::INFINITY), Scalar::min);
        let largest = own().fold(T::from_f64(f64::NEG_INFINITY), Scalar::max);
        if smallest > floor * largest {
            continue;
        }
        // Ones for all matrices before it, so that the error counts from the first.
        let mut all = vec![T::ONE; sample * n];
        all.extend(own());
        all[sample * n..].sort_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
        check_spectrum(OP, n, &all)?;
    }
    Ok(())
}

impl<T: Scalar> Saved<T> {
    fn pull_back(
        &self,
        at: usize,
        g: MatView<'_, T>,
        (d_x, add): (&mut [T], bool),
        context: &Context<'_, T>,
    ) -> OpResult {
        let groups = self.groups;
        let (square, row, n) = (groups.square(), groups.row(), groups.k);
        let mut buffer = context.buffer(5 * square);
        let (g_z, rest) = buffer.split_at_mut(square);
        let (divided, rest) = rest.split_at_mut(square);
        let (out, scratch) = rest.split_at_mut(square);
        from_upper_gradient(&groups, groups.samples_in(at), g, g_z)?;
        let (high, low) = self.logarithms[2 * at * row..][..2 * row].split_at(row);
        let logarithms = Logarithms {
            epsilon: T::ZERO,
            high,
            low,
        };
        lanes::log_differences(n, &self.values[at * row..][..row], &logarithms, divided)?;
        let u = &self.u[at * square..][..square];
        lanes::spectral_derivative(n, u, divided, g_z, scratch, out)?;
        Ok(lanes::scatter(out, add, d_x)?)
    }
}
