//! Batches group by group: gather into lanes, decompose, sort, scatter. A group with hardly a
//! matrix is decomposed [one by one](super::alone), to the same bits.

use super::Wanted;
use super::alone::{AloneScratch, decompose_alone};
use super::single::SingleScratch;
use crate::gather::{Form, IntoLanes};
use crate::lanes::eigen::{LaneEigen, room_in_lanes};
use crate::lanes::spectral::{LaneSpectral, Spectral};
use crate::simd::lanes_for;
use crate::{Aligned, Result, Scalar};
use pulp::Arch;

/// Groups that run through the QL recurrence together, so that their latencies overlap.
const GROUPS: usize = 2;

/// Buffers of eigen-decompositions, reused from matrix to matrix and from call to call.
#[derive(Debug, Clone, Default)]
pub struct EigenWorkspace<T> {
    lanes: Aligned<T>,
    order: Vec<usize>,
    /// Buffers for a matrix that has no neighbours.
    alone: AloneScratch<T>,
    /// Buffers for large matrices.
    pub(super) single: SingleScratch<T>,
}

/// Where a batch's results go.
pub(super) struct Output<'a, T> {
    /// `count × n`.
    pub(super) values: &'a mut [T],
    /// `count × n × n`, eigenvectors as columns; absent where only values are wanted.
    pub(super) vectors: Option<&'a mut [T]>,
    /// Where given, `vectors` gets `U f(λ) Uᵀ` instead.
    pub(super) f: Option<&'a (dyn Fn(T) -> T + Sync)>,
}

impl<'a, T> Output<'a, T> {
    pub(super) fn new(values: &'a mut [T], wanted: Wanted<'a, T>) -> Self {
        let (vectors, f) = match wanted {
            Wanted::Values => (None, None),
            Wanted::Vectors(out) => (Some(out), None),
            Wanted::Map(f, out) => (Some(out), Some(f)),
        };
        Self { values, vectors, f }
    }
}

/// Decomposes `input.len() / n²` matrices. The inner error is the first that did not converge.
pub(super) fn decompose<T: Scalar>(
    n: usize,
    input: &[T],
    mut output: Output<'_, T>,
    scratch: &mut EigenWorkspace<T>,
) -> Result<std::result::Result<(), usize>> {
    let square = n * n;
    let count = input.len() / square;
    let (arch, width) = lanes_for::<T>(count)?;
    for begin in (0..count).step_by(GROUPS * width) {
        let end = (begin + GROUPS * width).min(count);
        let part = Output {
            values: &mut output.values[begin * n..end * n],
            vectors: (output.vectors.as_mut()).map(|v| &mut v[begin * square..end * square]),
            f: output.f,
        };
        let matrices = &input[begin * square..end * square];
        if end - begin <= FEW && n >= ROWS_OF_ONE {
            let done = one_by_one(n, matrices, part, |input, values, vectors| {
                decompose_alone(n, input, values, vectors, output.f, &mut scratch.alone)
            })?;
            if let Err(at) = done {
                return Ok(Err(begin + at));
            }
            continue;
        }
        // A lone register's worth of matrices needs no second register.
        let groups = (end - begin).div_ceil(width);
        if let Err(at) = decompose_groups(n, groups, (arch, width), matrices, part, scratch) {
            return Ok(Err(begin + at));
        }
    }
    Ok(Ok(()))
}

/// Matrices that one after the other take less time than side by side.
const FEW: usize = 2;
/// The size from which that is so: below, registers along the rows would be empty, too.
const ROWS_OF_ONE: usize = 12;

/// One matrix after the other, by what decomposes one: it is given the matrix, and places for its
/// values and for its vectors, and says whether it converged.
pub(super) fn one_by_one<T: Scalar>(
    n: usize,
    input: &[T],
    output: Output<'_, T>,
    mut one: impl FnMut(&[T], &mut [T], &mut [T]) -> Result<bool>,
) -> Result<std::result::Result<(), usize>> {
    let (values, mut vectors) = (output.values, output.vectors);
    let pairs = input.chunks_exact(n * n).zip(values.chunks_exact_mut(n));
    for (i, (input, values)) in pairs.enumerate() {
        let vectors = match &mut vectors {
            Some(vectors) => &mut vectors[i * n * n..][..n * n],
            None => &mut [],
        };
        if !one(input, values, vectors)? {
            return Ok(Err(i));
        }
    }
    Ok(Ok(()))
}

fn decompose_groups<T: Scalar>(
    n: usize,
    groups: usize,
    (arch, width): (Arch, usize),
    input: &[T],
    output: Output<'_, T>,
    scratch: &mut EigenWorkspace<T>,
) -> std::result::Result<(), usize> {
    let (square, count) = (n * n * width, input.len() / (n * n));
    let room = room_in_lanes::<T>(n, groups, width);
    let EigenWorkspace { lanes, order, .. } = scratch;
    let lanes = lanes.room(2 * groups * square + 2 * groups * n * width + room);
    let (x, rest) = lanes.split_at_mut(groups * square);
    let (u, rest) = rest.split_at_mut(groups * square);
    let (values, rest) = rest.split_at_mut(groups * n * width);
    let (mapped, room) = rest.split_at_mut(groups * n * width);
    for (x, matrices) in (x.chunks_exact_mut(square)).zip(input.chunks(n * n * width)) {
        let count = matrices.len() / (n * n);
        IntoLanes::new(count, |i| &matrices[i * n * n..], Form::Lower(n, 0), x).run(arch);
    }
    let eigen = LaneEigen {
        n,
        groups,
        x,
        values,
        u: if output.vectors.is_some() { u } else { &mut [] },
        scratch: room,
    };
    eigen.run(arch)?;
    let lane = |i: usize| Lane {
        n,
        width,
        register: i / width,
        at: i % width,
    };
    if let Some(f) = output.f {
        for (mapped, &value) in mapped.iter_mut().zip(&*values) {
            *mapped = f(value);
        }
        for group in 0..groups {
            let map = LaneSpectral {
                n,
                u: &u[group * square..][..square],
                task: Spectral::Map(&mapped[group * n * width..][..n * width]),
                scratch: &mut room[..square],
                out: &mut x[group * square..][..square],
            };
            map.run(arch);
        }
    }
    let mut vectors = output.vectors;
    for i in 0..count {
        lane(i).scatter_values(i, values, output.values, order);
        match &mut vectors {
            Some(out) if output.f.is_some() => lane(i).scatter_square(i, x, out),
            Some(out) => lane(i).scatter_vectors(i, u, out, order),
            None => {}
        }
    }
    Ok(())
}

/// Where one matrix of a group lives.
struct Lane {
    n: usize,
    width: usize,
    register: usize,
    at: usize,
}

impl Lane {
    /// Entry `k` of this lane in an array of `n` registers per group.
    fn vector<T: Copy>(&self, lanes: &[T], k: usize) -> T {
        lanes[(self.register * self.n + k) * self.width + self.at]
    }

    /// Writes eigenvalues in ascending order and leaves that order in `order`.
    fn scatter_values<T: Scalar>(
        &self,
        i: usize,
        d: &[T],
        values: &mut [T],
        order: &mut Vec<usize>,
    ) {
        let n = self.n;
        order.clear();
        order.extend(0..n);
        // Insertion sort: QL leaves the values nearly in order.
        for k in 1..n {
            let mut at = k;
            while at > 0 && self.vector(d, order[at - 1]) > self.vector(d, order[at]) {
                order.swap(at - 1, at);
                at -= 1;
            }
        }
        for (value, &k) in values[i * n..(i + 1) * n].iter_mut().zip(&*order) {
            *value = self.vector(d, k);
        }
    }

    /// This lane's square of `n × n` registers.
    fn square<'a, T>(&self, lanes: &'a [T]) -> &'a [T] {
        let size = self.n * self.n * self.width;
        &lanes[self.register * size..(self.register + 1) * size]
    }

    /// Writes eigenvectors in the given order of columns.
    fn scatter_vectors<T: Scalar>(&self, i: usize, z: &[T], out: &mut [T], order: &[usize]) {
        let n = self.n;
        let rows = out[i * n * n..(i + 1) * n * n].chunks_exact_mut(n);
        for (out, row) in rows.zip(self.square(z).chunks_exact(n * self.width)) {
            for (x, &k) in out.iter_mut().zip(order) {
                // Adding zero turns −0 into +0, the one trace an identity rotation can leave.
                *x = row[k * self.width + self.at] + T::ZERO;
            }
        }
    }

    /// Writes a square as it is.
    fn scatter_square<T: Scalar>(&self, i: usize, a: &[T], out: &mut [T]) {
        let size = self.n * self.n;
        let registers = self.square(a).chunks_exact(self.width);
        for (x, register) in out[i * size..(i + 1) * size].iter_mut().zip(registers) {
            *x = register[self.at];
        }
    }
}
