//! Distances between SPD matrices.
//!
//! | metric | `d(A, B)` | source |
//! |---|---|---|
//! | affine-invariant | `‖log(A^{-1/2} B A^{-1/2})‖_F = (Σ ln² λ(A⁻¹B))^{1/2}` | Moakher 2005 |
//! | log-Euclidean | `‖log A − log B‖_F` | Arsigny et al. 2007 |
//! | Euclidean | `‖A − B‖_F` | |
//! | Bures–Wasserstein | `(tr A + tr B − 2 tr (A^{1/2} B A^{1/2})^{1/2})^{1/2}` | Bhatia, Jain & Lim 2019 |
//! | harmonic | `‖A⁻¹ − B⁻¹‖_F` | |
//! | Kullback–Leibler | `(tr(B⁻¹A) − n + log det B − log det A)/2`, and the sum of both directions | Kullback & Leibler 1951 |
//! | log-det | `(log det((A + B)/2) − (log det A + log det B)/2)^{1/2}` | Sra 2016 |
//! | Cholesky, log-Cholesky | `‖φ(A) − φ(B)‖_F` of the [charts](CholeskyChart) | Dryden et al. 2009, Lin 2019 |
//! | Thompson | `max |ln λ(A⁻¹B)|` | Thompson 1963 |
//!
//! The Bures–Wasserstein distance is taken as `‖L_A − L_B O‖_F` over Cholesky factors with `O` the
//! polar factor of `L_Bᵀ L_A`, the same number without the cancellation between nearby matrices;
//! `tr(B⁻¹A)` as `‖L_B⁻¹L_A‖²_F`.

use super::cholesky::{CholeskyChart, in_chart};
use super::fast::{mutual_riemann, of_metric, pairwise_riemann};
use super::whiten::{Factor, factor, log_eigenvalues};
use super::{blend, check_symmetric, log};
use crate::batch::{broadcast, common_count};
use crate::error::shape_error;
use crate::singular::singular_values;
use crate::stiefel::polar_factor;
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, frobenius_norm, product};

/// A way to measure how far two SPD matrices are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Metric {
    /// Invariant to every invertible linear mixing of the channels.
    #[default]
    AffineInvariant,
    /// Euclidean between matrix logarithms.
    LogEuclidean,
    /// The Frobenius norm of the difference.
    Euclidean,
    /// Optimal transport between centred Gaussians.
    BuresWasserstein,
    /// The Frobenius norm of the difference of the inverses.
    Harmonic,
    /// The divergence of the second centred Gaussian from the first, which is not symmetric in the
    /// two.
    KullbackLeibler,
    /// The sum of the divergences in both directions.
    SymmetrisedKullbackLeibler,
    /// The root of the Jensen–Bregman log-det divergence.
    LogDet,
    /// The Frobenius norm of the difference of the Cholesky factors.
    Cholesky,
    /// The same with the logarithms of their diagonals.
    LogCholesky,
    /// The largest logarithm of a ratio of variances, whatever the direction; invariant as the
    /// affine-invariant one is.
    Thompson,
}

pub(super) const FIRST: &str = "distance, first argument";
pub(super) const SECOND: &str = "distance, second argument";

/// `d(A_i, B_i)` of each pair; a single `A` or a single `B` is broadcast.
///
/// ```
/// use stiefel_geometry::spd::{Metric, distance};
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::<f64>::identity(1, 2);
/// let b = MatBatch::from_vec(1, 2, 2, vec![1.0_f64.exp(), 0.0, 0.0, 1.0])?;
/// let d = distance(Metric::AffineInvariant, a.view(), b.view())?;
/// assert!((d[0] - 1.0).abs() < 1e-15);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn distance<T: Scalar>(metric: Metric, a: MatView<'_, T>, b: MatView<'_, T>) -> Result<Vec<T>> {
    let short = match metric {
        // The short way would take matrices that are not symmetric.
        Metric::Euclidean => None,
        _ => short_distance(metric, a, b),
    };
    short.map_or_else(|| careful_distance(metric, a, b), Ok)
}

/// `d(A_i, B_i)` by the short formula, or nothing where a matrix does not allow it.
///
/// For callers with a careful way of their own, such as one for matrices that are invertible and
/// not positive definite. The Euclidean distance is that of any square matrices.
///
/// ```
/// use stiefel_geometry::spd::{Metric, short_distance};
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![-0.25])?;
/// assert_eq!(
///     short_distance(Metric::Harmonic, a.view(), a.view()),
///     Some(vec![0.0])
/// );
/// assert_eq!(short_distance(Metric::Harmonic, a.view(), b.view()), None);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn short_distance<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Option<Vec<T>> {
    of_metric(metric, a, b)
}

pub(super) fn careful_distance<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Result<Vec<T>> {
    let count = common_count("distance", a, b)?;
    let left = Prepared::new(metric, FIRST, a)?;
    let right = Prepared::new(metric, SECOND, b)?;
    left.to(&right, count)
}

/// The matrix of all `d(A_i, B_j)`, as one `Na × Nb` matrix.
pub fn pairwise_distances<T: Scalar>(
    metric: Metric,
    a: MatView<'_, T>,
    b: MatView<'_, T>,
) -> Result<MatBatch<T>> {
    if (a.rows(), a.cols()) != (b.rows(), b.cols()) {
        return Err(shape_error(
            "distance",
            "matrices of one size",
            (a.shape(), b.shape()),
        ));
    }
    if of_pair_spectrum(metric)
        && let Some(short) = pairwise_riemann(metric, a, b)
    {
        return Ok(short);
    }
    let left = Prepared::new(metric, FIRST, a)?;
    let right = Prepared::new(metric, SECOND, b)?;
    let mut out = MatBatch::zeros(1, a.count(), b.count());
    for i in 0..a.count() {
        let row = left.select(i..i + 1).to(&right, b.count())?;
        out.data_mut()[i * b.count()..(i + 1) * b.count()].copy_from_slice(&row);
    }
    Ok(out)
}

/// The matrix of all distances within one batch. Where the metric is symmetric, so is the matrix,
/// with zeros on the diagonal, for half the work of [`pairwise_distances`].
pub fn mutual_distances<T: Scalar>(metric: Metric, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    if metric == Metric::KullbackLeibler {
        return pairwise_distances(metric, x, x);
    }
    if of_pair_spectrum(metric)
        && let Some(short) = mutual_riemann(metric, x)
    {
        return Ok(short);
    }
    let all = Prepared::new(metric, FIRST, x)?;
    let count = x.count();
    let mut out = MatBatch::zeros(1, count, count);
    for i in 0..count {
        let row = all
            .select(i..i + 1)
            .to(&all.select(i + 1..count), count - i - 1)?;
        for (j, d) in (i + 1..count).zip(row) {
            out.data_mut()[i * count + j] = d;
            out.data_mut()[j * count + i] = d;
        }
    }
    Ok(out)
}

/// Whether a distance is made of the eigenvalues of `A⁻¹B`.
fn of_pair_spectrum(metric: Metric) -> bool {
    matches!(metric, Metric::AffineInvariant | Metric::Thompson)
}

/// A batch with what its metric needs once per matrix.
struct Prepared<T> {
    metric: Metric,
    /// What Euclidean distances are taken of: the matrices, their logarithms, inverses or Cholesky
    /// coordinates.
    x: MatBatch<T>,
    /// Cholesky factors where the metric uses them.
    factor: Option<Factor<T>>,
}

impl<T: Scalar> Prepared<T> {
    fn new(metric: Metric, op: &'static str, x: MatView<'_, T>) -> Result<Self> {
        check_symmetric(op, x)?;
        let factor = match metric {
            Metric::LogEuclidean | Metric::Euclidean => None,
            _ => Some(factor(op, x)?),
        };
        let x = match (metric, &factor) {
            (Metric::LogEuclidean, _) => log(x)?,
            (Metric::Harmonic, Some(f)) => product(f.l_inv.view(), Op::T, f.l_inv.view(), Op::N)?,
            (Metric::Cholesky, Some(f)) => f.l.clone(),
            (Metric::LogCholesky, Some(f)) => in_chart(CholeskyChart::LogFactor, f.l.clone()),
            _ => x.to_owned(),
        };
        Ok(Self { metric, x, factor })
    }

    fn select(&self, range: std::ops::Range<usize>) -> Self {
        let indices: Vec<usize> = range.collect();
        Self {
            metric: self.metric,
            x: self.x.select(&indices),
            factor: self.factor.as_ref().map(|f| Factor {
                l: f.l.select(&indices),
                l_inv: f.l_inv.select(&indices),
            }),
        }
    }

    /// The distances of `count` pairs.
    fn to(&self, other: &Self, count: usize) -> Result<Vec<T>> {
        match (self.metric, &self.factor, &other.factor) {
            (Metric::AffineInvariant | Metric::Thompson, Some(left), _) => {
                let n = self.x.rows();
                let logs = log_eigenvalues(SECOND, left, other.x.view())?;
                let of = match self.metric {
                    Metric::Thompson => |l: &[T]| Scalar::max(l[l.len() - 1], -l[0]),
                    _ => crate::singular::norm,
                };
                Ok(logs.chunks_exact(n).map(of).collect())
            }
            (Metric::BuresWasserstein, Some(left), Some(right)) => {
                bures_wasserstein(left.l.view(), right.l.view())
            }
            (Metric::KullbackLeibler, Some(left), Some(right)) => kullback_leibler(left, right),
            (Metric::SymmetrisedKullbackLeibler, Some(left), Some(right)) => {
                let there = kullback_leibler(left, right)?.into_iter();
                let back = kullback_leibler(right, left)?;
                Ok(there.zip(back).map(|(there, back)| there + back).collect())
            }
            (Metric::LogDet, Some(left), Some(right)) => log_det(self, left, other, right),
            _ => Ok((0..count)
                .map(|i| difference_norm(broadcast(self.x.view(), i), broadcast(other.x.view(), i)))
                .collect()),
        }
    }
}

fn difference_norm<T: Scalar>(a: &[T], b: &[T]) -> T {
    Scalar::sqrt(a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum::<T>())
}

/// `‖L_A − L_B O‖_F`, `O` the polar factor of `L_Bᵀ L_A`.
fn bures_wasserstein<T: Scalar>(a: MatView<'_, T>, b: MatView<'_, T>) -> Result<Vec<T>> {
    let m = product(b, Op::T, a, Op::N)?;
    match polar_factor(m.view()) {
        Ok(polar) => {
            let turned = product(b, Op::N, polar.q.view(), Op::N)?;
            Ok((0..m.count())
                .map(|i| difference_norm(broadcast(a, i), turned.matrix(i)))
                .collect())
        }
        Err(GeometryError::RankDeficient { .. }) if m.count() > 1 => {
            let one = |i: usize| -> Result<T> {
                let at = |x: MatView<'_, T>| if x.count() == 1 { 0 } else { i };
                Ok(bures_wasserstein(a.single(at(a)), b.single(at(b)))?[0])
            };
            (0..m.count()).map(one).collect()
        }
        // cond(A)·cond(B) beyond 1/ε: no polar factor, but the sum of singular values still has its
        // digits.
        Err(GeometryError::RankDeficient { .. }) => {
            let square = |x: MatView<'_, T>| x.data().iter().map(|&v| v * v).sum::<T>();
            let nuclear: T = singular_values(m.view())?.into_iter().sum();
            let squared = square(a) + square(b) - (nuclear + nuclear);
            Ok(vec![Scalar::sqrt(Scalar::max(squared, T::ZERO))])
        }
        Err(other) => Err(other),
    }
}

/// `(‖L_B⁻¹L_A‖²_F − n)/2 + Σ ln L_B − Σ ln L_A`, sums over the diagonals.
fn kullback_leibler<T: Scalar>(a: &Factor<T>, b: &Factor<T>) -> Result<Vec<T>> {
    let half = T::from_f64(0.5);
    let n = T::from_f64(a.l.rows() as f64);
    let between = product(b.l_inv.view(), Op::N, a.l.view(), Op::N)?;
    let one = |(i, norm): (usize, T)| {
        half * (norm * norm - n) + log_diagonal(&b.l, i) - log_diagonal(&a.l, i)
    };
    let norms = frobenius_norm(between.view()).into_iter();
    Ok(norms.enumerate().map(one).collect())
}

/// `(2 Σ ln L_{(A+B)/2} − Σ ln L_A − Σ ln L_B)^{1/2}`, sums over the diagonals.
fn log_det<T: Scalar>(
    a: &Prepared<T>,
    l_a: &Factor<T>,
    b: &Prepared<T>,
    l_b: &Factor<T>,
) -> Result<Vec<T>> {
    let half = T::from_f64(0.5);
    let middle = blend(a.x.view(), b.x.view(), half)?;
    let middle = factor(FIRST, middle.view())?.l;
    let one = |i: usize| {
        let of_middle = log_diagonal(&middle, i);
        let squared = of_middle + of_middle - log_diagonal(&l_a.l, i) - log_diagonal(&l_b.l, i);
        Scalar::sqrt(Scalar::max(squared, T::ZERO))
    };
    Ok((0..middle.count()).map(one).collect())
}

/// `Σ_r ln L_rr` of matrix `i`, or of the only one: half of the logarithm of the determinant of
/// `LLᵀ`.
fn log_diagonal<T: Scalar>(l: &MatBatch<T>, i: usize) -> T {
    let diagonal = broadcast(l.view(), i).iter().step_by(l.rows() + 1);
    diagonal.map(|&x| Scalar::ln(x)).sum()
}
