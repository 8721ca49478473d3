//! The short ways to distances and inner products.
//!
//! | | short way |
//! |---|---|
//! | `δ(A, B)` | `(Σ ln² λ)^{1/2}`, λ the eigenvalues of `L⁻¹BL⁻ᵀ`, `A = LLᵀ`: no eigenvectors |
//! | Bures–Wasserstein | `tr A + tr B − 2 Σ √λ`, λ the eigenvalues of `LᵀBL` |
//! | log-Euclidean | `‖log A − log B‖_F` |
//! | Euclidean, harmonic | `‖A − B‖_F`, `‖A⁻¹ − B⁻¹‖_F` |
//! | Kullback–Leibler | `(tr(B⁻¹A) − n + log det B − log det A)/2`; both ways, `(tr(B⁻¹A) + tr(A⁻¹B))/2 − n` |
//! | log-det | `(log det((A + B)/2) − (log det A + log det B)/2)^{1/2}` |
//! | Cholesky, log-Cholesky | `‖φ(A) − φ(B)‖_F` |
//! | Thompson | `max |ln λ|`, λ as for `δ` |
//! | `⟨U, V⟩_M` | `Σ_rc (L⁻¹UL⁻ᵀ)_rc (L⁻¹VL⁻ᵀ)_rc`, `M = LLᵀ` |

use super::steps::{
    Scratch, Steps, chain, common, conditioned, factor, inverse_factor, part, resolved, room,
    squares, squares_mut, stream, symmetric, trace,
};
use crate::spd::{CholeskyChart, Metric, SpectralFn, blend};
use crate::tolerance;
use std::ops::Range;
use stiefel_linalg::sums::{all_finite, dot, gap};
use stiefel_linalg::tolerance::symmetry;
use stiefel_linalg::{
    MatBatch, MatView, Outer, Scalar, Wanted, asymmetry, inverse_cholesky, sandwich_into,
    symmetric_inverse_into,
};

/// `d(A_i, B_i)` by the short way; a single matrix is paired with all.
pub(in crate::spd) fn of_metric<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<Vec<T>> {
    match metric {
        Metric::AffineInvariant | Metric::Thompson => riemann(metric, a, b),
        Metric::LogEuclidean => logeuclid(a, b),
        Metric::Euclidean => euclid(a, b),
        Metric::BuresWasserstein => wasserstein(a, b),
        Metric::Harmonic => harmonic(a, b),
        Metric::KullbackLeibler => kullback(a, b),
        Metric::SymmetrisedKullbackLeibler => kullback_sym(a, b),
        Metric::LogDet => logdet(a, b),
        Metric::Cholesky => cholesky(CholeskyChart::Factor, a, b),
        Metric::LogCholesky => cholesky(CholeskyChart::LogFactor, a, b),
    }
}

/// `f` of each pair of a part, in order; a single matrix is paired with all.
fn of_pairs<T: Scalar>(a: &[T], b: &[T], size: usize, out: &mut [T], f: impl Fn(&[T], &[T]) -> T) {
    let at = |x: &[T], i: usize| if x.len() == size { 0 } else { i * size };
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(&a[at(a, i)..][..size], &b[at(b, i)..][..size]);
    }
}

/// The two parts of a range, symmetric and finite.
fn both<'a, T: Scalar>(
    a: MatView<'a, T>,
    b: MatView<'a, T>,
    range: &Range<usize>,
) -> Option<(MatView<'a, T>, MatView<'a, T>)> {
    let (a, b) = (part(a, range)?, part(b, range)?);
    (symmetric(a) && symmetric(b)).then_some((a, b))
}

/// `δ(A_i, B_i)`, or the Thompson distance.
fn riemann<T: Scalar>(metric: Metric, a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l_inv, steps, .. } = scratch;
        let l_inv = inverse_factor(a, l_inv, steps)?;
        steps.whiten(l_inv, b, 0, out.len())?;
        steps.norms_of_logarithms(metric, a.rows(), out)
    })
}

/// `⟨U_i, V_i⟩` at `M_i`; without `V`, `⟨U_i, U_i⟩`.
pub(in crate::spd) fn inner_product<T: Scalar>(
    m: MatView<'_, T>,
    u: MatView<'_, T>,
    v: Option<MatView<'_, T>>,
) -> Option<Vec<T>> {
    let count = common(&[Some(u), v, Some(m)])?;
    let (n, size) = (m.rows(), m.rows() * m.cols());
    // A foot point that all share is factorised once.
    let mut own = Scratch::default();
    let shared = match m.count() {
        1 if symmetric(m) => Some(inverse_factor(m, &mut own.l_inv, &mut own.steps)?),
        1 => return None,
        _ => None,
    };
    stream(n, count, 1, |scratch, range, out| {
        let Scratch { l_inv, steps, .. } = scratch;
        let l_inv = if let Some(shared) = shared {
            shared
        } else {
            let m = part(m, &range).filter(|m| symmetric(*m))?;
            inverse_factor(m, l_inv, steps)?
        };
        for (at, x) in [Some(u), v].into_iter().flatten().enumerate() {
            let x = part(x, &range)?;
            let skew = asymmetry(x, symmetry::<T>());
            skew.is_none().then_some(())?;
            steps.whiten(l_inv, x, at * out.len(), out.len())?;
        }
        let (first, second) = steps.first.split_at(out.len() * size);
        let second = if v.is_some() { second } else { first };
        let pairs = first.chunks_exact(size).zip(second.chunks_exact(size));
        for (out, (u, v)) in out.iter_mut().zip(pairs) {
            *out = dot(u, v);
        }
        // The last entry of a whitened matrix is made of all of them: what is not finite has come
        // through.
        all_finite(out).then_some(())
    })
}

impl<T: Scalar> Steps<T> {
    /// `L⁻¹ B L⁻ᵀ` of `count` pairs, after the first `at` of the buffer.
    fn whiten(
        &mut self,
        l_inv: MatView<'_, T>,
        b: MatView<'_, T>,
        at: usize,
        count: usize,
    ) -> Option<()> {
        let size = b.rows() * b.cols();
        let out = &mut room(&mut self.first, (at + count) * size)[at * size..];
        let out = squares_mut(b.rows(), out)?;
        sandwich_into(l_inv, Outer::Lower, b, out, &mut self.sandwich).ok()
    }

    /// Ascending eigenvalues of the first `count` matrices of the buffer.
    fn spectra(&mut self, n: usize, count: usize) -> Option<&[T]> {
        let values = room(&mut self.values, count * n);
        let matrices = squares(n, &self.first[..count * n * n])?;
        let wanted = Wanted::Values;
        self.eigen.decompose(matrices, values, wanted).ok()?;
        values.chunks_exact(n).all(resolved).then_some(values)
    }

    /// `(Σ ln² λ)^{1/2}` of each matrix in the buffer, or the largest `|ln λ|` for Thompson's
    /// distance.
    fn norms_of_logarithms(&mut self, metric: Metric, n: usize, out: &mut [T]) -> Option<()> {
        let values = self.spectra(n, out.len())?;
        for (out, lambda) in out.iter_mut().zip(values.chunks_exact(n)) {
            let square = |&l: &T| Scalar::ln(l) * Scalar::ln(l);
            *out = match metric {
                Metric::Thompson => Scalar::max(Scalar::ln(lambda[n - 1]), -Scalar::ln(lambda[0])),
                _ => Scalar::sqrt(lambda.iter().map(square).sum::<T>()),
            };
        }
        Some(())
    }
}

/// `δ(A_i, B_j)` of all pairs, `1 × Na × Nb`, or the Thompson distances.
pub(in crate::spd) fn pairwise_riemann<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let starts: Vec<usize> = (0..=a.count()).map(|i| i * b.count()).collect();
    let flat = rows_of_pairs(metric, (a, b), &starts, |_| 0)?;
    MatBatch::from_vec(1, a.count(), b.count(), flat).ok()
}

/// `δ(X_i, X_j)` of all pairs, `1 × N × N`, zero on the diagonal.
pub(in crate::spd) fn mutual_riemann<T: Scalar>(
    metric: Metric,
    x: MatView<'_, T>,
) -> Option<MatBatch<T>> {
    let count = x.count();
    let starts: Vec<usize> = (0..=count)
        .map(|i| (i * (2 * count - i)).saturating_sub(i) / 2)
        .collect();
    let mut flat = rows_of_pairs(metric, (x, x), &starts, |i| i + 1)?.into_iter();
    let mut out = MatBatch::zeros(1, count, count);
    for i in 0..count {
        for (j, d) in (i + 1..count).zip(&mut flat) {
            out.data_mut()[i * count + j] = d;
            out.data_mut()[j * count + i] = d;
        }
    }
    Some(out)
}

/// `δ(A_i, B_j)` row after row: row `i` begins at place `starts[i]` of the result and at column
/// `first(i)`. Parts run over the ends of rows, so that short rows leave no lane empty.
fn rows_of_pairs<T: Scalar>(
    metric: Metric,
    (a, b): (MatView<'_, T>, MatView<'_, T>),
    starts: &[usize],
    first: impl Fn(usize) -> usize + Sync,
) -> Option<Vec<T>> {
    let n = a.rows();
    let fits = (a.cols(), b.rows(), b.cols()) == (n, n, n) && n > 0 && a.count() * b.count() > 0;
    if !(fits && symmetric(a) && symmetric(b)) {
        return None;
    }
    let l_inv = inverse_cholesky(a).ok()?;
    stream(n, *starts.last()?, 1, |scratch, range, out| {
        let mut at = range.start;
        let mut i = starts.partition_point(|&start| start <= at) - 1;
        while at < range.end {
            let end = starts[i + 1].min(range.end);
            if end > at {
                let left = squares(n, l_inv.matrix(i))?;
                let j = first(i) + at - starts[i];
                let right = squares(n, &b.data()[j * n * n..(j + end - at) * n * n])?;
                scratch
                    .steps
                    .whiten(left, right, at - range.start, end - at)?;
            }
            (at, i) = (end, i + 1);
        }
        scratch.steps.norms_of_logarithms(metric, n, out)
    })
}

/// The Bures–Wasserstein distance of pairs.
fn wasserstein<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    let n = a.rows();
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l, steps, .. } = scratch;
        let turned = factor(a, l, steps)?.to_owned().transposed();
        let matrices = squares_mut(n, room(&mut steps.first, out.len() * n * n))?;
        sandwich_into(turned.view(), Outer::Full, b, matrices, &mut steps.sandwich).ok()?;
        let values = steps.spectra(n, out.len())?;
        let traces = |a: &[T], b: &[T]| trace(a, n) + trace(b, n);
        of_pairs(a.data(), b.data(), n * n, out, traces);
        for (out, lambda) in out.iter_mut().zip(values.chunks_exact(n)) {
            let roots: T = lambda.iter().map(|&l| Scalar::sqrt(l)).sum();
            let squared = *out - roots - roots;
            if squared.to_f64() <= tolerance::TRACES_APART * out.to_f64() {
                return None;
            }
            *out = Scalar::sqrt(squared);
        }
        Some(())
    })
}

/// `‖log A_i − log B_i‖_F`.
fn logeuclid<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    // The logarithm of a single matrix serves all parts.
    let single =
        |x: MatView<'_, T>| (x.count() == 1).then(|| chain(None, x, Some(SpectralFn::Log), None));
    let (log_a, log_b) = (single(a), single(b));
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l, l_inv, steps } = scratch;
        let mut log =
            |x: MatView<'_, T>, known: &Option<Option<MatBatch<T>>>, buffer: &mut Vec<T>| {
                let buffer = room(buffer, x.data().len());
                if let Some(log) = known {
                    buffer.copy_from_slice(log.as_ref()?.data());
                    return Some(buffer.len());
                }
                steps.run(None, x, Some(SpectralFn::Log), None, buffer)?;
                Some(buffer.len())
            };
        let (of_a, of_b) = (log(a, &log_a, l)?, log(b, &log_b, l_inv)?);
        let size = a.rows() * a.cols();
        of_pairs(&l[..of_a], &l_inv[..of_b], size, out, gap);
        Some(())
    })
}

/// `‖φ(A_i) − φ(B_i)‖_F` of a chart of Cholesky factors.
fn cholesky<T: Scalar>(
    chart: CholeskyChart,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    let n = a.rows();
    stream(n, count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l, l_inv, steps } = scratch;
        let coordinates = |x: MatView<'_, T>, buffer: &mut Vec<T>, steps: &mut Steps<T>| {
            // Only matrices that certainly are positive definite; the inverse factor is not needed
            // otherwise.
            inverse_factor(x, buffer, steps)?;
            let len = factor(x, buffer, steps)?.data().len();
            if chart == CholeskyChart::LogFactor {
                for l in buffer[..len].chunks_exact_mut(n * n) {
                    for pivot in l.iter_mut().step_by(n + 1) {
                        *pivot = Scalar::ln(*pivot);
                    }
                }
            }
            Some(len)
        };
        let (of_a, of_b) = (coordinates(a, l, steps)?, coordinates(b, l_inv, steps)?);
        of_pairs(&l[..of_a], &l_inv[..of_b], n * n, out, gap);
        Some(())
    })
}

/// `‖A_i − B_i‖_F` of any matrices of one size; `None` where a value is not finite.
fn euclid<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let mut out = vec![T::ZERO; common(&[Some(a), Some(b)])?];
    of_pairs(a.data(), b.data(), a.rows() * a.cols(), &mut out, gap);
    out.iter().all(|&d| Scalar::is_finite(d)).then_some(out)
}

/// `‖A_i⁻¹ − B_i⁻¹‖_F`.
fn harmonic<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    of_inverses(a, b, |n, _, a_inv, _, b_inv, out| {
        of_pairs(a_inv, b_inv, n * n, out, gap);
        Some(())
    })
}

/// `(tr(B_i⁻¹A_i) + tr(A_i⁻¹B_i))/2 − n`.
fn kullback_sym<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    of_inverses(a, b, |n, a, a_inv, b, b_inv, out| {
        let mut other = vec![T::ZERO; out.len()];
        of_pairs(a, b_inv, n * n, out, dot);
        of_pairs(a_inv, b, n * n, &mut other, dot);
        for (out, other) in out.iter_mut().zip(other) {
            *out = T::from_f64(0.5) * (*out + other) - T::from_f64(n as f64);
        }
        Some(())
    })
}

/// Pairs of matrices with their inverses, part by part.
fn of_inverses<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    f: impl Fn(usize, &[T], &[T], &[T], &[T], &mut [T]) -> Option<()> + Sync,
) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    let n = a.rows();
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let a_inv = inverse(a, &mut scratch.l, &mut scratch.steps)?;
        let b_inv = inverse(b, &mut scratch.l_inv, &mut scratch.steps)?;
        f(n, a.data(), a_inv, b.data(), b_inv, out)
    })
}

fn inverse<'a, T: Scalar>(
    x: MatView<'_, T>,
    buffer: &'a mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<&'a [T]> {
    let out = room(buffer, x.data().len());
    inverse_into(x, out, steps)?;
    Some(out)
}

/// `X⁻¹` where it keeps the digits of a comparison with another way to it.
pub(super) fn inverse_into<T: Scalar>(
    x: MatView<'_, T>,
    out: &mut [T],
    steps: &mut Steps<T>,
) -> Option<()> {
    let n = x.rows();
    symmetric_inverse_into(x, squares_mut(n, out)?, &mut steps.cholesky).ok()?;
    let share = tolerance::RESOLVED_RATIO;
    conditioned(x.data(), out, n, share, |x| trace(x, n)).then_some(())
}

/// `X_i⁻¹` of SPD matrices, exactly symmetric; nothing where one is not positive definite or too
/// badly conditioned for its digits.
pub fn inverses<T: Scalar>(x: MatView<'_, T>) -> Option<MatBatch<T>> {
    let n = x.rows();
    let count = common(&[Some(x)])?;
    let data = stream(n, count, n * n, |scratch, range, out| {
        let x = part(x, &range)?;
        symmetric(x).then_some(())?;
        inverse_into(x, out, &mut scratch.steps)
    })?;
    MatBatch::from_vec(count, n, n, data).ok()
}

/// `(tr(B_i⁻¹A_i) − n + log det B_i − log det A_i)/2`.
fn kullback<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    let n = a.rows();
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l, l_inv, steps } = scratch;
        let b_inv = inverse(b, l_inv, steps)?;
        of_pairs(a.data(), b_inv, n * n, out, dot);
        let of_a = log_determinants(a, l, steps)?;
        let of_b = log_determinants(b, l, steps)?;
        let size = T::from_f64(n as f64);
        let mut gaps = vec![T::ZERO; out.len()];
        of_pairs(&of_a, &of_b, 1, &mut gaps, |a, b| b[0] - a[0]);
        for (out, gap) in out.iter_mut().zip(gaps) {
            *out = T::from_f64(0.5) * (*out - size + gap);
        }
        Some(())
    })
}

/// `(log det((A_i + B_i)/2) − (log det A_i + log det B_i)/2)^{1/2}`.
fn logdet<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Option<Vec<T>> {
    let count = common(&[Some(a), Some(b)])?;
    let half = T::from_f64(0.5);
    stream(a.rows(), count, 1, |scratch, range, out| {
        let (a, b) = both(a, b, &range)?;
        let Scratch { l, l_inv, steps } = scratch;
        let middle = blend(a, b, half).ok()?;
        let of_middle = log_determinants(middle.view(), l, steps)?;
        let of_a = log_determinants(a, l, steps)?;
        let of_b = log_determinants(b, l_inv, steps)?;
        of_pairs(&of_a, &of_b, 1, out, |a, b| half * (a[0] + b[0]));
        for (out, middle) in out.iter_mut().zip(of_middle) {
            *out = Scalar::sqrt(Scalar::max(middle - *out, T::ZERO));
        }
        Some(())
    })
}

/// `log det X = 2 Σ log L_rr` of each matrix, where it keeps the digits of a comparison with
/// another way to it: a pivot `L_rr²` is seldom more than `n` times the smallest eigenvalue.
fn log_determinants<T: Scalar>(
    x: MatView<'_, T>,
    buffer: &mut Vec<T>,
    steps: &mut Steps<T>,
) -> Option<Vec<T>> {
    let n = x.rows();
    let l = factor(x, buffer, steps)?;
    let of = |l: &[T]| {
        let (mut least, mut most, mut logs) = (l[0], l[0], T::ZERO);
        for &pivot in l.iter().step_by(n + 1) {
            (least, most) = (Scalar::min(least, pivot), Scalar::max(most, pivot));
            logs += Scalar::ln(pivot);
        }
        let ratio = (least / most).to_f64();
        (ratio * ratio > tolerance::RESOLVED_RATIO * n as f64).then_some(logs + logs)
    };
    l.data().chunks_exact(n * n).map(of).collect()
}
