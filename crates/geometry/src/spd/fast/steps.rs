//! The steps of a formula over a few matrices at a time, in buffers that stay in the cache.
//!
//! | | steps |
//! |---|---|
//! | `A f(R X_i Rᵀ) Aᵀ`, one `R` and `A` or one for each | two-sided product, decomposition with `f`, two-sided product |
//! | `L f(L⁻¹ X_i L⁻ᵀ) Lᵀ`, `M = LLᵀ` | the same with the factors of each part |

use crate::spd::vector::{from_upper_into, upper_into};
use crate::spd::{SpectralFn, check_spectrum, upper_len};
use crate::tolerance;
use rayon::prelude::*;
use std::ops::Range;
use stiefel_linalg::tolerance::symmetry;
use stiefel_linalg::{
    CholeskyScratch, EigenWorkspace, MatBatch, MatView, MatViewMut, Outer, SandwichScratch, Scalar,
    Wanted, asymmetry, cholesky_into, inverse_cholesky_into, sandwich_into, sums,
};

/// Whether all matrices are finite and symmetric to rounding.
pub(super) fn symmetric<T: Scalar>(x: MatView<'_, T>) -> bool {
    sums::all_finite(x.data()) && asymmetry(x, symmetry::<T>()).is_none()
}

/// Matrices of size `n` that go through all steps together: about 128 KB in double precision, in
/// whole groups of lanes.
pub(super) fn together(n: usize) -> usize {
    ((16 * 1024 / (n * n).max(1)) & !15).clamp(16, 512)
}

/// Buffers of one thread, reused from part to part.
#[derive(Default)]
pub(super) struct Scratch<T> {
    /// Cholesky factors and their inverses.
    pub(super) l: Vec<T>,
    pub(super) l_inv: Vec<T>,
    pub(super) steps: Steps<T>,
}

/// Buffers of [`Steps::run`].
#[derive(Default)]
pub(super) struct Steps<T> {
    pub(super) first: Vec<T>,
    second: Vec<T>,
    pub(super) values: Vec<T>,
    pub(super) eigen: EigenWorkspace<T>,
    pub(super) cholesky: CholeskyScratch<T>,
    pub(super) sandwich: SandwichScratch<T>,
}

/// An outer factor of a two-sided product, one for all matrices or one for each.
pub(super) type Factor<'a, T> = Option<(MatView<'a, T>, Outer)>;

/// `size` values for each of `count` matrices `n × n`, part by part, over the threads of the pool;
/// `None` where a part gives up.
pub(super) fn stream<T: Scalar>(
    n: usize,
    count: usize,
    size: usize,
    each: impl Fn(&mut Scratch<T>, Range<usize>, &mut [T]) -> Option<()> + Sync,
) -> Option<Vec<T>> {
    let mut out = vec![T::ZERO; count * size];
    let together = together(n);
    if count <= together {
        // A pool that sleeps would take longer to wake than a few matrices take.
        each(&mut Scratch::default(), 0..count, &mut out)?;
        return Some(out);
    }
    out.par_chunks_mut((together * size).max(1))
        .enumerate()
        .map_init(Scratch::default, |scratch, (at, out)| {
            let begin = at * together;
            each(scratch, begin..begin + out.len() / size, out)
        })
        .collect::<Option<()>>()?;
    Some(out)
}

/// The matrices of a range, or the only one.
pub(super) fn part<'a, T: Scalar>(
    x: MatView<'a, T>,
    range: &Range<usize>,
) -> Option<MatView<'a, T>> {
    if x.count() == 1 {
        return Some(x);
    }
    let size = x.rows() * x.cols();
    let data = &x.data()[range.start * size..range.end * size];
    MatView::new(range.len(), x.rows(), x.cols(), data).ok()
}

/// The first `len` values of a buffer that grows where it must.
pub(super) fn room<T: Scalar>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::ZERO);
    }
    &mut buffer[..len]
}

pub(super) fn squares<T: Scalar>(n: usize, data: &[T]) -> Option<MatView<'_, T>> {
    MatView::new(data.len() / (n * n), n, n, data).ok()
}

pub(super) fn squares_mut<T: Scalar>(n: usize, data: &mut [T]) -> Option<MatViewMut<'_, T>> {
    MatViewMut::new(data.len() / (n * n), n, n, data).ok()
}

impl<T: Scalar> Steps<T> {
    /// `A f(R X Rᵀ) Aᵀ` of a part into `out`.
    pub(super) fn run(
        &mut self,
        before: Factor<'_, T>,
        x: MatView<'_, T>,
        f: Option<SpectralFn<T>>,
        after: Factor<'_, T>,
        out: &mut [T],
    ) -> Option<()> {
        let n = x.rows();
        let mut x = x;
        if let Some((r, outer)) = before {
            // What comes last writes to the output.
            let last = f.is_none() && after.is_none();
            let target = if last {
                &mut *out
            } else {
                room(&mut self.first, out.len())
            };
            sandwich_into(r, outer, x, squares_mut(n, target)?, &mut self.sandwich).ok()?;
            if last {
                return Some(());
            }
            x = squares(n, &self.first[..out.len()])?;
        }
        if let Some(f) = f {
            let count = x.count();
            let values = room(&mut self.values, count * n);
            let target = if after.is_none() {
                &mut *out
            } else {
                room(&mut self.second, count * n * n)
            };
            let value = |lambda: T| f.value(lambda);
            let wanted = Wanted::Map(&value, target);
            self.eigen.decompose(x, values, wanted).ok()?;
            // A Cholesky factor whitens pairs, whose small eigenvalues the careful functions have
            // another way to.
            let pairs = matches!(before, Some((_, Outer::Lower)));
            if f.needs_spd() {
                check_spectrum(f.name(), n, values).ok()?;
                if pairs && !values.chunks_exact(n).all(resolved) {
                    return None;
                }
            }
            if after.is_none() {
                return Some(());
            }
            x = squares(n, &self.second[..count * n * n])?;
        }
        let (a, outer) = after?;
        sandwich_into(a, outer, x, squares_mut(n, out)?, &mut self.sandwich).ok()
    }
}

/// `A f(R X_i Rᵀ) Aᵀ` of symmetric matrices, each step where it is given; a single factor or matrix
/// is broadcast.
pub(in crate::spd) fn chain<T: Scalar>(
    before: Option<MatView<'_, T>>,
    x: MatView<'_, T>,
    f: Option<SpectralFn<T>>,
    after: Option<MatView<'_, T>>,
) -> Option<MatBatch<T>> {
    let n = x.rows();
    let count = common(&[Some(x), before, after])?;
    let data = stream(n, count, n * n, |scratch, range, out| {
        let x = part(x, &range)?;
        let [before, after] = factors([before, after], &range)?;
        symmetric(x).then(|| scratch.steps.run(before, x, f, after, out))?
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}

fn factors<'a, T: Scalar>(
    views: [Option<MatView<'a, T>>; 2],
    range: &Range<usize>,
) -> Option<[Factor<'a, T>; 2]> {
    let of = |m: Option<MatView<'a, T>>| match m {
        Some(m) => part(m, range).map(|m| Some((m, Outer::Full))),
        None => Some(None),
    };
    Some([of(views[0])?, of(views[1])?])
}

/// `upper(log(R X_i R))`, `count × 1 × n(n+1)/2`.
pub(in crate::spd) fn tangent<T: Scalar>(
    root: MatView<'_, T>,
    x: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let n = x.rows();
    let count = common(&[Some(x), Some(root)])?;
    let len = upper_len(n);
    let data = stream(n, count, len, |scratch, range, out| {
        let x = part(x, &range)?;
        let [before, _] = factors([Some(root), None], &range)?;
        let logs = room(&mut scratch.l, range.len() * n * n);
        let done = symmetric(x).then(|| {
            let f = Some(SpectralFn::Log);
            scratch.steps.run(before, x, f, None, logs)
        })?;
        upper_into(n, logs, out);
        done
    })?;
    MatBatch::from_vec(count, 1, len, data).ok()
}

/// `A exp(V_i) A` of tangent vectors `count × 1 × n(n+1)/2`.
pub(in crate::spd) fn untangent<T: Scalar>(
    root: MatView<'_, T>,
    v: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let n = root.rows();
    let counts = root.count() == 1 || v.count() == 1 || root.count() == v.count();
    let finite = sums::all_finite(v.data());
    let fits = (v.rows(), v.cols()) == (1, upper_len(n)) && n > 0 && v.count() > 0;
    if !(counts && finite && fits) {
        return None;
    }
    let count = root.count().max(v.count());
    let data = stream(n, count, n * n, |scratch, range, out| {
        let v = part(v, &range)?;
        let [_, after] = factors([None, Some(root)], &range)?;
        let matrices = room(&mut scratch.l, v.count() * n * n);
        from_upper_into(n, v.data(), matrices);
        let x = squares(n, matrices)?;
        scratch
            .steps
            .run(None, x, Some(SpectralFn::Exp), after, out)
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}

/// `L f(L⁻¹ X_i L⁻ᵀ) Lᵀ`, `M = LLᵀ`: the geodesic for a power, the logarithmic map for `log`, the
/// exponential map for `exp`.
pub(in crate::spd) fn around<T: Scalar>(
    m: MatView<'_, T>,
    x: MatView<'_, T>,
    f: SpectralFn<T>,
) -> Option<MatBatch<T>> {
    let n = x.rows();
    let count = common(&[Some(x), Some(m)])?;
    let data = stream(n, count, n * n, |scratch, range, out| {
        let (m, x) = (part(m, &range)?, part(x, &range)?);
        if !(symmetric(m) && symmetric(x)) {
            return None;
        }
        let Scratch { l, l_inv, steps } = scratch;
        let l = factor(m, l, steps)?;
        let l_inv = inverse_factor(m, l_inv, steps)?;
        steps.run(
            Some((l_inv, Outer::Lower)),
            x,
            Some(f),
            Some((l, Outer::Lower)),
            out,
        )
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}

/// `L` of `M = LLᵀ`.
pub(super) fn factor<'a, T: Scalar>(
    m: MatView<'_, T>,
    buffer: &'a mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<MatView<'a, T>> {
    let l = room(buffer, m.data().len());
    cholesky_into(m, squares_mut(m.rows(), l)?, &mut steps.cholesky).ok()?;
    squares(m.rows(), l)
}

/// `L⁻¹` of `M = LLᵀ`, where `M` is certainly positive definite beyond rounding.
pub(super) fn inverse_factor<'a, T: Scalar>(
    m: MatView<'_, T>,
    buffer: &'a mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<MatView<'a, T>> {
    let n = m.rows();
    let l_inv = room(buffer, m.data().len());
    inverse_cholesky_into(m, squares_mut(n, l_inv)?, &mut steps.cholesky).ok()?;
    let floor = tolerance::trace_bound::<T>(n).to_f64();
    let of_inverse = |l_inv: &[T]| sums::dot(l_inv, l_inv);
    conditioned(m.data(), l_inv, n, floor, of_inverse).then_some(())?;
    squares(n, l_inv)
}

/// Whether the smallest eigenvalue of each matrix certainly exceeds a share of the largest: `1/(tr
/// M · tr M⁻¹) ≤ λ_min/λ_max`.
pub(super) fn conditioned<T: Scalar>(
    m: &[T],
    inverse: &[T],
    n: usize,
    share: f64,
    trace_of_inverse: impl Fn(&[T]) -> T,
) -> bool {
    let mut pairs = m.chunks_exact(n * n).zip(inverse.chunks_exact(n * n));
    pairs.all(|(m, inverse)| {
        let traces = trace(m, n) * trace_of_inverse(inverse);
        traces.to_f64() * share < 1.0
    })
}

pub(super) fn trace<T: Scalar>(x: &[T], n: usize) -> T {
    x.iter().step_by(n + 1).copied().sum()
}

/// The count of stacks of square matrices of one size, all of one count or of a single matrix;
/// nothing is empty.
pub(super) fn common<T: Scalar>(stacks: &[Option<MatView<'_, T>>]) -> Option<usize> {
    let stacks = || stacks.iter().flatten();
    let count = stacks().map(MatView::count).max()?;
    let n = stacks().next()?.rows();
    let fits = |x: &MatView<'_, T>| {
        (x.rows(), x.cols()) == (n, n) && (x.count() == count || x.count() == 1)
    };
    (n > 0 && stacks().all(fits)).then_some(count)
}

/// Whether the smallest of ascending eigenvalues has the digits its logarithm or root needs.
pub(super) fn resolved<T: Scalar>(lambda: &[T]) -> bool {
    lambda[0].to_f64() > tolerance::RESOLVED_RATIO * lambda[lambda.len() - 1].to_f64()
}
