//! Short ways for whole stacks: a few matrices at a time go through all steps of a formula, in buffers that stay in the cache.
//!
//! | | steps |
//! |---|---|
//! | `A f(R X_i Rᵀ) Aᵀ`, one `R` and `A` or one for each | two-sided product, decomposition with `f`, two-sided product |
//! | `L f(L⁻¹ X_i L⁻ᵀ) Lᵀ`, `M = LLᵀ` | the same with the factors of each part |
//! | `U g(L ∘ (Uᵀ f(X_i) U) + D) Uᵀ`, one `U`, `L` and diagonal `D` for all | the same around a product by entries |
//! | distances | see [`distance`] |
//!
//! They take no decision: a matrix that is not symmetric, not finite, not positive definite or badly conditioned makes them give
//! `None`, and the careful functions of the geometry compute the stack or say what is wrong with it. A matrix's result depends neither on
//! its neighbours nor on the number of threads.

pub(crate) mod distance;
pub(crate) mod entrywise;
pub(crate) mod point;

use entrywise::symmetric;
use rayon::prelude::*;
use std::ops::Range;
use stiefel::geometry::spd::{self, SpectralFn};
use stiefel::linalg::{
    CholeskyScratch, EigenScratch, MatBatch, MatView, MatViewMut, Outer, SandwichScratch, Scalar,
    cholesky_into, eigh_map_into, inverse_cholesky_into, sandwich_into, tolerance,
};

/// Matrices of size `n` that go through all steps together: about 128 KB in double precision, in whole groups of lanes.
fn together(n: usize) -> usize {
    ((16 * 1024 / (n * n).max(1)) & !15).clamp(16, 512)
}

/// Buffers of one thread, reused from part to part.
#[derive(Default)]
struct Scratch<T> {
    /// Cholesky factors and their inverses.
    l: Vec<T>,
    l_inv: Vec<T>,
    steps: Steps<T>,
}

/// Buffers of [`Steps::run`].
#[derive(Default)]
struct Steps<T> {
    first: Vec<T>,
    second: Vec<T>,
    values: Vec<T>,
    eigen: EigenScratch<T>,
    cholesky: CholeskyScratch<T>,
    sandwich: SandwichScratch<T>,
}

/// An outer factor of a two-sided product, one for all matrices or one for each.
type Factor<'a, T> = Option<(MatView<'a, T>, Outer)>;

/// `size` values for each of `count` matrices `n × n`, part by part, over the threads of the pool; `None` where a part gives up.
fn stream<T: Scalar>(
    n: usize,
    count: usize,
    size: usize,
    each: impl Fn(&mut Scratch<T>, Range<usize>, &mut [T]) -> Option<()> + Sync,
) -> Option<Vec<T>> {
    let mut out = vec![T::ZERO; count * size];
    let together = together(n);
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
fn part<'a, T: Scalar>(x: MatView<'a, T>, range: &Range<usize>) -> Option<MatView<'a, T>> {
    if x.count() == 1 {
        return Some(x);
    }
    let size = x.rows() * x.cols();
    let data = &x.data()[range.start * size..range.end * size];
    MatView::new(range.len(), x.rows(), x.cols(), data).ok()
}

/// The first `len` values of a buffer that grows where it must.
fn room<T: Scalar>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::ZERO);
    }
    &mut buffer[..len]
}

fn squares<T: Scalar>(n: usize, data: &[T]) -> Option<MatView<'_, T>> {
    MatView::new(data.len() / (n * n), n, n, data).ok()
}

fn squares_mut<T: Scalar>(n: usize, data: &mut [T]) -> Option<MatViewMut<'_, T>> {
    MatViewMut::new(data.len() / (n * n), n, n, data).ok()
}

impl<T: Scalar> Steps<T> {
    /// `A f(R X Rᵀ) Aᵀ` of a part into `out`.
    fn run(
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
            eigh_map_into(x, &value, values, squares_mut(n, target)?, &mut self.eigen).ok()?;
            // A Cholesky factor whitens pairs, whose small eigenvalues the careful functions have another way to.
            let pairs = matches!(before, Some((_, Outer::Lower)));
            if f.needs_spd() {
                spd::check_spectrum(f.name(), n, values).ok()?;
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

/// `f(X_i)`.
pub(crate) fn spectral<T: Scalar>(f: SpectralFn<T>, x: MatView<'_, T>) -> Option<MatBatch<T>> {
    chain(None, x, Some(f), None)
}

/// `A f(R X_i Rᵀ) Aᵀ` of symmetric matrices, each step where it is given; a single factor or matrix is broadcast.
pub(crate) fn chain<T: Scalar>(
    before: Option<&MatBatch<T>>,
    x: MatView<'_, T>,
    f: Option<SpectralFn<T>>,
    after: Option<&MatBatch<T>>,
) -> Option<MatBatch<T>> {
    let n = x.rows();
    let views = [before, after].map(|m| m.map(MatBatch::view));
    let count = common(&[Some(x), views[0], views[1]])?;
    let data = stream(n, count, n * n, |scratch, range, out| {
        let x = part(x, &range)?;
        let [before, after] = factors(views, &range)?;
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
pub(crate) fn tangent<T: Scalar>(root: &MatBatch<T>, x: MatView<'_, T>) -> Option<MatBatch<T>> {
    let n = x.rows();
    let count = common(&[Some(x), Some(root.view())])?;
    let len = spd::upper_len(n);
    let data = stream(n, count, len, |scratch, range, out| {
        let x = part(x, &range)?;
        let [before, _] = factors([Some(root.view()), None], &range)?;
        let logs = room(&mut scratch.l, range.len() * n * n);
        let done = symmetric(x).then(|| {
            let f = Some(SpectralFn::Log);
            scratch.steps.run(before, x, f, None, logs)
        })?;
        entrywise::upper(n, logs, out);
        done
    })?;
    MatBatch::from_vec(count, 1, len, data).ok()
}

/// `A exp(V_i) A` of tangent vectors `count × 1 × n(n+1)/2`.
pub(crate) fn untangent<T: Scalar>(root: &MatBatch<T>, v: MatView<'_, T>) -> Option<MatBatch<T>> {
    let n = root.rows();
    let counts = root.count() == 1 || v.count() == 1 || root.count() == v.count();
    let finite = entrywise::finite(v.data());
    let fits = (v.rows(), v.cols()) == (1, spd::upper_len(n)) && n > 0 && v.count() > 0;
    if !(counts && finite && fits) {
        return None;
    }
    let count = root.count().max(v.count());
    let data = stream(n, count, n * n, |scratch, range, out| {
        let v = part(v, &range)?;
        let [_, after] = factors([None, Some(root.view())], &range)?;
        let matrices = room(&mut scratch.l, v.count() * n * n);
        entrywise::from_upper(n, v.data(), matrices);
        let x = squares(n, matrices)?;
        scratch
            .steps
            .run(None, x, Some(SpectralFn::Exp), after, out)
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}

/// `L f(L⁻¹ X_i L⁻ᵀ) Lᵀ`, `M = LLᵀ`: the geodesic for a power, the logarithmic map for `log`, the exponential map for `exp`.
pub(crate) fn around<T: Scalar>(
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
fn factor<'a, T: Scalar>(
    m: MatView<'_, T>,
    buffer: &'a mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<MatView<'a, T>> {
    let l = room(buffer, m.data().len());
    cholesky_into(m, squares_mut(m.rows(), l)?, &mut steps.cholesky).ok()?;
    squares(m.rows(), l)
}

/// `L⁻¹` of `M = LLᵀ`, where `M` is certainly positive definite beyond rounding.
fn inverse_factor<'a, T: Scalar>(
    m: MatView<'_, T>,
    buffer: &'a mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<MatView<'a, T>> {
    let n = m.rows();
    let l_inv = room(buffer, m.data().len());
    inverse_cholesky_into(m, squares_mut(n, l_inv)?, &mut steps.cholesky).ok()?;
    let floor = T::EPSILON.to_f64() * 5.0 * n as f64;
    let of_inverse = |l_inv: &[T]| entrywise::dot(l_inv, l_inv);
    conditioned(m.data(), l_inv, n, floor, of_inverse).then_some(())?;
    squares(n, l_inv)
}

/// Whether the smallest eigenvalue of each matrix certainly exceeds a share of the largest: `1/(tr M · tr M⁻¹) ≤ λ_min/λ_max`.
fn conditioned<T: Scalar>(
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

fn trace<T: Scalar>(x: &[T], n: usize) -> T {
    x.iter().step_by(n + 1).copied().sum()
}

/// The count of stacks of square matrices of one size, all of one count or of a single matrix; nothing is empty.
fn common<T: Scalar>(stacks: &[Option<MatView<'_, T>>]) -> Option<usize> {
    let stacks = || stacks.iter().flatten();
    let count = stacks().map(MatView::count).max()?;
    let n = stacks().next()?.rows();
    let fits = |x: &MatView<'_, T>| {
        (x.rows(), x.cols()) == (n, n) && (x.count() == count || x.count() == 1)
    };
    (n > 0 && stacks().all(fits)).then_some(count)
}

/// Whether the smallest of ascending eigenvalues has the digits its logarithm or root needs.
fn resolved<T: Scalar>(lambda: &[T]) -> bool {
    lambda[0].to_f64() > tolerance::RESOLVED_RATIO * lambda[lambda.len() - 1].to_f64()
}
