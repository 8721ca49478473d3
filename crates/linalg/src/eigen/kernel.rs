//! One group of matrices through the whole decomposition: gather into lanes, scale, reduce, iterate, sort, scatter.

use super::recompose::{ROWS, recompose};
use super::rotations::Rotations;
use super::{ql, tridiagonal};
use crate::Scalar;
use crate::simd::{Lanes, V};
use pulp::bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

/// Registers that run through the QL recurrence together, so that their latencies overlap.
const REGISTERS: usize = 2;

/// Buffers of one group, reused from group to group and from call to call.
#[derive(Debug, Clone, Default)]
pub struct EigenScratch<T> {
    lanes: Vec<T>,
    order: Vec<usize>,
    scales: Vec<T>,
}

/// Where a group's results go.
pub(super) struct Output<'a, T> {
    /// `count × n`.
    pub(super) values: &'a mut [T],
    /// `count × n × n`, eigenvectors as columns; absent where only values are wanted.
    pub(super) vectors: Option<&'a mut [T]>,
    /// Where given, `vectors` gets `U f(λ) Uᵀ` instead.
    pub(super) f: Option<&'a (dyn Fn(T) -> T + Sync)>,
}

/// Decomposes `input.len() / n²` matrices, group by group. The error is the first matrix that did not converge.
pub(super) struct Decompose<'a, T> {
    pub(super) n: usize,
    pub(super) input: &'a [T],
    pub(super) output: Output<'a, T>,
    pub(super) scratch: &'a mut EigenScratch<T>,
}

impl<T: Scalar> WithSimd for Decompose<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self {
            n,
            input,
            mut output,
            scratch,
        } = self;
        let l = Lanes::<S, T>::new(simd);
        let group = REGISTERS * Lanes::<S, T>::width();
        let count = input.len() / (n * n);
        for begin in (0..count).step_by(group) {
            let end = (begin + group).min(count);
            let part = Output {
                values: &mut output.values[begin * n..end * n],
                vectors: output
                    .vectors
                    .as_mut()
                    .map(|v| &mut v[begin * n * n..end * n * n]),
                f: output.f,
            };
            let matrices = &input[begin * n * n..end * n * n];
            // A lone register's worth of matrices needs no second register.
            let converged = if end - begin <= Lanes::<S, T>::width() {
                decompose_group::<S, T, 1>(l, n, matrices, part, scratch)
            } else {
                decompose_group::<S, T, REGISTERS>(l, n, matrices, part, scratch)
            };
            converged.map_err(|at| begin + at)?;
        }
        Ok(())
    }
}

/// How many sweeps are recorded before they are applied: about a first-level cache half full of rotations.
fn recorded_sweeps<T>(n: usize, width: usize) -> usize {
    let bytes = 2 * n * width * size_of::<T>();
    (16 * 1024 / bytes.max(1)).clamp(2, 16) & !1
}

#[inline(always)]
fn decompose_group<S: Simd, T: Scalar, const R: usize>(
    l: Lanes<S, T>,
    n: usize,
    input: &[T],
    mut output: Output<'_, T>,
    scratch: &mut EigenScratch<T>,
) -> Result<(), usize> {
    let width = Lanes::<S, T>::width();
    let count = input.len() / (n * n);
    let sweeps = recorded_sweeps::<T>(n, width);
    let registers = R * n * n * 2 + R * n * 3 + ROWS * n + sweeps * R * n * 2;
    let EigenScratch {
        lanes,
        order,
        scales,
    } = scratch;
    lanes.resize((registers * width).max(lanes.len()), T::ZERO);
    scales.clear();
    let lanes: &mut [V<S, T>] = T::view_mut::<S>(&mut lanes[..registers * width]);
    let (a, rest) = lanes.split_at_mut(R * n * n);
    let (z, rest) = rest.split_at_mut(R * n * n);
    let (d, rest) = rest.split_at_mut(R * n);
    let (e, rest) = rest.split_at_mut(R * n);
    let (h_inv, rest) = rest.split_at_mut(R * n);
    let (p, pairs) = rest.split_at_mut(ROWS * n);

    for r in 0..R {
        let a = &mut a[r * n * n..(r + 1) * n * n];
        gather(n, input, r * width, cast_slice_mut(a), scales);
        let (d, e) = (&mut d[r * n..][..n], &mut e[r * n..][..n]);
        let h_inv = &mut h_inv[r * n..][..n];
        tridiagonal::reduce(l, n, a, d, e, h_inv, p);
        if output.vectors.is_some() {
            tridiagonal::accumulate(l, n, a, h_inv, &mut z[r * n * n..(r + 1) * n * n]);
        }
    }

    let identity = [l.splat(T::ONE), l.splat(T::ZERO)];
    let mut rotations = Rotations::new(n, R, identity, cast_slice_mut(pairs));
    let rotated = if output.vectors.is_some() {
        &mut *z
    } else {
        &mut []
    };
    let converged = ql::iterate::<S, T, R>(l, n, d, e, &mut rotations, rotated);
    let lane = |i: usize| Lane {
        n,
        width,
        register: i / width,
        at: i % width,
    };
    if !converged {
        let e: &[T] = cast_slice(e);
        let stuck = |i: &usize| (0..n - 1).any(|k| lane(*i).vector(e, k) != T::ZERO);
        return Err((0..count).find(stuck).unwrap_or(0));
    }
    if let Some(f) = output.f {
        // The off-diagonals are done with: their place takes f(λ).
        for i in 0..count {
            lane(i).map_values(cast_slice(d), cast_slice_mut(e), scales[i], f);
        }
        for r in 0..R {
            let (z, a) = (&z[r * n * n..][..n * n], &mut a[r * n * n..][..n * n]);
            recompose(l, n, z, &e[r * n..][..n], p, a);
        }
    }
    for i in 0..count {
        lane(i).scatter_values(i, cast_slice(d), output.values, order, scales[i]);
        match &mut output.vectors {
            Some(out) if output.f.is_some() => lane(i).scatter_symmetric(i, cast_slice(a), out),
            Some(out) => lane(i).scatter_vectors(i, cast_slice(z), out, order),
            None => {}
        }
    }
    Ok(())
}

/// Copies the matrices from `first` on into the lanes of one register, lower triangle to upper, scaled by a power of two
/// so that the largest entry is near one: squares neither overflow nor vanish. Lanes beyond the last matrix repeat it.
fn gather<T: Scalar>(n: usize, input: &[T], first: usize, lanes: &mut [T], scales: &mut Vec<T>) {
    let count = input.len() / (n * n);
    let width = lanes.len() / (n * n);
    for lane in 0..width {
        let matrix = (first + lane).min(count - 1);
        let entries = &input[matrix * n * n..(matrix + 1) * n * n];
        let mut largest = T::ZERO;
        for (r, row) in entries.chunks_exact(n).enumerate() {
            for &x in &row[..=r] {
                largest = Scalar::max(largest, Scalar::abs(x));
            }
        }
        let scale = T::power_of_two_below(largest);
        if first + lane < count {
            scales.push(scale);
        }
        let inverse = T::ONE / scale;
        for (r, row) in entries.chunks_exact(n).enumerate() {
            for (c, &x) in row[..=r].iter().enumerate() {
                lanes[(c * n + r) * width + lane] = x * inverse;
            }
        }
    }
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

    /// `f(λ)` of every eigenvalue, in the order of `d`.
    fn map_values<T: Scalar>(&self, d: &[T], out: &mut [T], scale: T, f: &dyn Fn(T) -> T) {
        for k in 0..self.n {
            let at = (self.register * self.n + k) * self.width + self.at;
            out[at] = f(d[at] * scale + T::ZERO);
        }
    }

    /// Writes eigenvalues in ascending order and leaves that order in `order`.
    fn scatter_values<T: Scalar>(
        &self,
        i: usize,
        d: &[T],
        values: &mut [T],
        order: &mut Vec<usize>,
        scale: T,
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
        // Adding zero turns −0 into +0, the one trace an identity rotation can leave.
        for (value, &k) in values[i * n..(i + 1) * n].iter_mut().zip(&*order) {
            *value = self.vector(d, k) * scale + T::ZERO;
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
                *x = row[k * self.width + self.at] + T::ZERO;
            }
        }
    }

    /// Writes a lower triangle to both sides of the diagonal.
    fn scatter_symmetric<T: Scalar>(&self, i: usize, a: &[T], out: &mut [T]) {
        let (n, square) = (self.n, self.square(a));
        let out = &mut out[i * n * n..(i + 1) * n * n];
        for r in 0..n {
            for c in 0..=r {
                let x = square[(r * n + c) * self.width + self.at];
                out[r * n + c] = x;
                out[c * n + r] = x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatBatch;

    /// Every instruction set gives the same answer to rounding; `Scalar` is what a CPU without vectors runs.
    #[test]
    fn portable_and_vector_kernels_agree() {
        for n in [1, 2, 5, 12, 31] {
            let x = MatBatch::<f64>::from_fn(7, n, n, |i, r, c| {
                ((1 + i) as f64 * (1 + r.max(c)) as f64).sin() + 1.0 / (1.0 + r.min(c) as f64)
            });
            let run = |portable: bool| {
                let (mut values, mut vectors) = (vec![0.0; 7 * n], vec![0.0; 7 * n * n]);
                let output = Output {
                    values: &mut values,
                    vectors: Some(&mut vectors),
                    f: None,
                };
                let scratch = &mut EigenScratch::default();
                let kernel = Decompose {
                    n,
                    input: x.data(),
                    output,
                    scratch,
                };
                if portable {
                    kernel.with_simd(pulp::Scalar)
                } else {
                    crate::simd::dispatch(kernel)
                }
                .expect("convergence");
                (values, vectors)
            };
            let (slow, fast) = (run(true), run(false));
            for (a, b) in slow.0.iter().zip(&fast.0) {
                assert!((a - b).abs() < 1e-13 * n as f64, "n={n}: {a} against {b}");
            }
        }
    }
}
