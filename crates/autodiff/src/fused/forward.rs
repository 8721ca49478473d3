//! The forward pass of the fused tail, in lanes.

use super::groups::{Groups, Parts};
use super::{FilterTail, Saved};
use crate::operation::{view, view_mut};
use crate::{Context, Forward, OpResult};
use std::f64::consts::SQRT_2;
use std::ops::Range;
use stiefel_geometry::spd::{SpectralFn, upper_into};
use stiefel_linalg::lanes::{self, Laid, Logarithms, Product, Sums, Terms};
use stiefel_linalg::{LinalgError, MatView, Op, Scalar, product_into, sums};

pub(super) fn run<T: Scalar>(op: &FilterTail<T>, pass: &mut Forward<'_, T>) -> OpResult<Saved<T>> {
    let (inputs, context) = (pass.inputs, pass.context);
    let (filters, n, k) = inputs[usize::from(op.mixed)].shape();
    let groups = Groups::new::<T>(pass.output.shape().0, n, k)?;
    let count = groups.count();
    let shared = !op.mixed && filters == 1 && groups.samples != 1;
    let filter_groups = if shared { 1 } else { count };
    let mut saved = Saved {
        groups,
        shared,
        w: context.buffer(filter_groups * groups.tall()),
        l_inv: (op.retract).then(|| context.buffer(filter_groups * groups.square())),
        xw: context.buffer(count * groups.tall()),
        y: context.buffer(count * groups.square()),
        u: context.buffer(count * groups.square()),
        values: context.buffer(count * groups.row()),
        logarithms: context.buffer(2 * count * groups.row()),
    };
    if groups.samples == 0 {
        return Ok(saved);
    }
    if shared {
        let l_inv = saved.l_inv.as_deref_mut().unwrap_or_default();
        let gather = |out: &mut [T]| lanes::gather(1, |_| inputs[0].matrix(0), out);
        orthonormalise(&groups, 1, gather, &mut saved.w, l_inv, context)?;
    }
    let tasks = tasks(&mut saved, pass.output.data());
    groups.run(tasks, |task| task.run(op, inputs, context))?;
    Ok(saved)
}

/// The forward pass of one sample of a decision, along the rows of its matrices.
pub(super) fn alone<T: Scalar>(op: &FilterTail<T>, pass: &mut Forward<'_, T>) -> OpResult {
    let (inputs, context) = (pass.inputs, pass.context);
    let (_, n, k) = inputs[usize::from(op.mixed)].shape();
    let (mut mixed, mut orthonormal) = (context.buffer(n * k), context.buffer(n * k));
    let mut w = if op.mixed {
        let (alpha, directions, base) = (inputs[0].data(), inputs[1].data(), inputs[2].data());
        crate::alone::mixture(base, alpha, directions, &mut mixed)?;
        &*mixed
    } else {
        inputs[0].matrix(0)
    };
    if op.retract {
        stiefel_linalg::orthonormalise(w, (n, k), &mut orthonormal)?;
        w = &*orthonormal;
    }
    let (w, x) = (
        view((1, n, k), w),
        view((1, n, n), op.covariance(inputs, 0)),
    );
    let (mut xw, mut y, mut z) = (
        context.buffer(n * k),
        context.buffer(k * k),
        context.buffer(k * k),
    );
    let out = view_mut((1, n, k), &mut xw);
    product_into(out, false, T::ONE, x, Op::N, w, Op::N)?;
    let (out, xw) = (view_mut((1, k, k), &mut y), view((1, n, k), &xw));
    product_into(out, false, T::ONE, w, Op::T, xw, Op::N)?;
    // Symmetric to rounding.
    crate::alone::map(SpectralFn::ReLog(op.epsilon), k, &y, &mut z, context)?;
    upper_into(k, &z, pass.output.data());
    Ok(())
}

/// A few groups, with their parts of what is saved.
struct Task<'a, T> {
    groups: Groups,
    range: Range<usize>,
    /// The one filter of all samples, where there is one.
    shared: Option<&'a [T]>,
    w: &'a mut [T],
    l_inv: &'a mut [T],
    xw: &'a mut [T],
    y: &'a mut [T],
    u: &'a mut [T],
    values: &'a mut [T],
    logarithms: &'a mut [T],
    output: &'a mut [T],
}

fn tasks<'a, T: Scalar>(saved: &'a mut Saved<T>, output: &'a mut [T]) -> Vec<Task<'a, T>> {
    let groups = saved.groups;
    let (per_task, features) = (groups.per_task(), groups.k * (groups.k + 1) / 2);
    let (shared, mut w) = if saved.shared {
        (Some(&*saved.w), Parts::from_slice(&mut []))
    } else {
        (None, Parts::new(&mut saved.w))
    };
    let mut l_inv = match &mut saved.l_inv {
        Some(l_inv) if !saved.shared => Parts::new(l_inv),
        _ => Parts::from_slice(&mut []),
    };
    let (mut xw, mut y) = (Parts::new(&mut saved.xw), Parts::new(&mut saved.y));
    let (mut u, mut values) = (Parts::new(&mut saved.u), Parts::new(&mut saved.values));
    let mut logarithms = Parts::new(&mut saved.logarithms);
    let mut output = Parts::from_slice(output);
    let starts = (0..groups.count()).step_by(per_task);
    let task = |start: usize| {
        let len = per_task.min(groups.count() - start);
        Task {
            groups,
            range: start..start + len,
            shared,
            w: w.next(len * groups.tall()),
            l_inv: l_inv.next(len * groups.square()),
            xw: xw.next(len * groups.tall()),
            y: y.next(len * groups.square()),
            u: u.next(len * groups.square()),
            values: values.next(len * groups.row()),
            logarithms: logarithms.next(2 * len * groups.row()),
            output: output.next(len * groups.width * features),
        }
    };
    starts.map(task).collect()
}

impl<T: Scalar> Task<'_, T> {
    fn run(
        mut self,
        op: &FilterTail<T>,
        inputs: &[MatView<'_, T>],
        context: &Context<'_, T>,
    ) -> OpResult {
        let (k, len) = (self.groups.k, self.range.len());
        let first = self.groups.samples_in(self.range.start).start;
        let mut x = context.buffer(self.groups.n * self.groups.n * self.groups.width);
        for at in 0..len {
            self.filter(at, op, inputs, &mut x, context)
                .map_err(|error| {
                    error.offset(self.groups.samples_in(self.range.start + at).start)
                })?;
        }
        let mut scratch = context.buffer(lanes::eigen_room::<T>(k, len)?);
        let done = lanes::eigen(k, len, self.y, self.values, self.u, &mut scratch);
        // What is not finite leaves no eigenvalue of its matrix finite, or ends in no convergence;
        // its place is looked for then.
        if done.is_err() || !sums::all_finite(self.values) {
            for (at, y) in self.y.chunks_exact(self.groups.square()).enumerate() {
                check_finite(k, self.groups.width, y)
                    .map_err(|error| error.offset(first + at * self.groups.width))?;
            }
        }
        done.map_err(|error| error.offset(first))?;
        for at in 0..len {
            self.log_vectors(at, op.epsilon, context)?;
        }
        Ok(())
    }

    /// `W`, `X W` and `Y` of a group.
    fn filter(
        &mut self,
        at: usize,
        op: &FilterTail<T>,
        inputs: &[MatView<'_, T>],
        x: &mut [T],
        context: &Context<'_, T>,
    ) -> Result<(), LinalgError> {
        let Groups { width, n, k, .. } = self.groups;
        let (tall, square) = (self.groups.tall(), self.groups.square());
        let samples = self.groups.samples_in(self.range.start + at);
        let w = if let Some(shared) = self.shared {
            shared
        } else {
            let write = |out: &mut [T]| {
                if op.mixed {
                    return mix(width, samples.clone(), inputs, out, context);
                }
                let filter = |i| inputs[0].matrix(samples.start + i);
                lanes::gather(samples.len(), filter, out)
            };
            let w = &mut self.w[at * tall..][..tall];
            let l_inv = if op.retract {
                &mut self.l_inv[at * square..][..square]
            } else {
                &mut []
            };
            orthonormalise(&self.groups, samples.len(), write, w, l_inv, context)?;
            w
        };
        let of = |i| op.covariance(inputs, samples.start + i);
        lanes::gather_lower((n, lanes::BAND), samples.len(), of, x)?;
        let xw = &mut self.xw[at * tall..][..tall];
        let (x, w) = (Laid::new(x, n), Laid::new(w, k));
        lanes::product(Product {
            terms: Terms::SymmetricLeft,
            ..Product::new((n, k, n), x, w, xw)
        })?;
        let y = &mut self.y[at * square..][..square];
        lanes::product(Product {
            sums: Sums::Symmetric,
            ..Product::new((k, k, n), w.transposed(), Laid::new(xw, k), y)
        })
    }

    /// `upper(U log max(λ, ε) Uᵀ)` of a group, to the samples it belongs to.
    fn log_vectors(&mut self, at: usize, epsilon: T, context: &Context<'_, T>) -> OpResult {
        let Groups { width, k, .. } = self.groups;
        let (square, row) = (self.groups.square(), self.groups.row());
        let values = &self.values[at * row..][..row];
        let (high, low) = self.logarithms[2 * at * row..][..2 * row].split_at_mut(row);
        Logarithms::split(epsilon, values, high, low);
        let mut buffer = context.buffer(row + 2 * square);
        let (f, rest) = buffer.split_at_mut(row);
        let (scratch, z) = rest.split_at_mut(square);
        for ((f, &high), &low) in f.iter_mut().zip(&*high).zip(&*low) {
            *f = high + low;
        }
        lanes::recompose(k, &self.u[at * square..][..square], f, scratch, z)?;
        let features = k * (k + 1) / 2;
        let count = self.groups.samples_in(self.range.start + at).len();
        let output = &mut self.output[at * width * features..][..count * features];
        Ok(lanes::scatter_upper((k, T::from_f64(SQRT_2)), z, output)?)
    }
}

/// `A_i = B + Σ_j α_ij Δ_j` of a group.
fn mix<T: Scalar>(
    width: usize,
    samples: Range<usize>,
    inputs: &[MatView<'_, T>],
    out: &mut [T],
    context: &Context<'_, T>,
) -> Result<(), LinalgError> {
    let [weights, directions, base] = [inputs[0], inputs[1], inputs[2]];
    let experts = weights.cols();
    let mut own = context.buffer(experts * width);
    let of = |i: usize| &weights.data()[(samples.start + i) * experts..][..experts];
    lanes::gather(samples.len(), of, &mut own)?;
    lanes::mixture(&own, base.data(), directions.data(), out)
}

/// `W = qf(A)` of a group of `count` filters that `write` writes, and `L⁻¹`; where there is no room
/// for that, `W = A`.
fn orthonormalise<T: Scalar>(
    groups: &Groups,
    count: usize,
    write: impl Fn(&mut [T]) -> Result<(), LinalgError>,
    w: &mut [T],
    l_inv: &mut [T],
    context: &Context<'_, T>,
) -> Result<(), LinalgError> {
    let Groups { n, k, .. } = *groups;
    if l_inv.is_empty() {
        return write(w);
    }
    let mut buffer = context.buffer(groups.tall() + groups.square() + groups.row());
    let (a, rest) = buffer.split_at_mut(groups.tall());
    let (gram, pivots) = rest.split_at_mut(groups.square());
    write(a)?;
    let a = Laid::new(a, k);
    lanes::product(Product {
        sums: Sums::Lower,
        ..Product::new((k, k, n), a.transposed(), a, gram)
    })?;
    lanes::inverse_cholesky(k, count, gram, l_inv, pivots)?;
    lanes::product(Product {
        terms: Terms::UpperRight,
        ..Product::new((n, k, k), a, Laid::new(l_inv, k).transposed(), w)
    })
}

/// An error that names the first entry that is not finite.
pub(super) fn check_finite<T: Scalar>(k: usize, width: usize, y: &[T]) -> Result<(), LinalgError> {
    if sums::all_finite(y) {
        return Ok(());
    }
    for matrix in 0..width {
        for e in 0..k * k {
            let value = y[e * width + matrix].to_f64();
            if !value.is_finite() {
                return Err(LinalgError::NotFinite {
                    op: "symmetric eigen-decomposition",
                    matrix,
                    row: e / k,
                    col: e % k,
                    value,
                });
            }
        }
    }
    Ok(())
}
