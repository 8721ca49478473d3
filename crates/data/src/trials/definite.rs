//! Matrices that can be covariances: no negative eigenvalue, not zero, and enough rank for
//! shrinkage and loading to make up the rest.

use crate::tolerance::{LEAST_RANK, NEGATIVE, RANK_TOLERANCE};
use crate::{DataError, Result};
use stiefel_linalg::{
    CholeskyScratch, MatBatch, MatRef, MatView, MatViewMut, cholesky_into, eigenvalues,
};

/// Matrices that are factored together; large ones one by one, for the room that they take.
fn group_of(n: usize) -> usize {
    if n <= LARGE { 32 } else { 1 }
}

/// Rows above which a matrix is large.
const LARGE: usize = 128;

/// Calls `each` with the place and the eigenvalues, in ascending order, of every matrix without
/// numerically full rank, scaled to unit variances.
///
/// A Cholesky factor with pivots well above rounding is full rank enough. Only a matrix without one
/// has its eigenvalues computed.
fn deficient(x: &MatBatch<f64>, mut each: impl FnMut(usize, &[f64]) -> Result<()>) -> Result<()> {
    let n = x.rows();
    let mut scratch = CholeskyScratch::default();
    let size = group_of(n);
    let mut factors = MatBatch::zeros(size.min(x.count()), n, n);
    for (group, data) in x.data().chunks(size * n * n).enumerate() {
        let count = data.len() / (n * n);
        let own = MatView::new(count, n, n, data)?;
        let into = MatViewMut::new(count, n, n, &mut factors.data_mut()[..data.len()])?;
        let factored = cholesky_into(own, into, &mut scratch).is_ok();
        for i in 0..count {
            let matrix = &data[i * n * n..][..n * n];
            if !(factored && is_full(matrix, factors.matrix(i), n)) {
                let values = eigenvalues(MatRef::new(n, n, &scaled(matrix, n)).view())?;
                each(group * size + i, &values)?;
            }
        }
    }
    Ok(())
}

/// Returns an error unless every matrix can be a covariance.
pub(super) fn check(x: &MatBatch<f64>, op: &'static str) -> Result<()> {
    deficient(x, |trial, values| check_one(values, trial, op))
}

/// Returns the numerical rank of every matrix.
pub(super) fn ranks(x: &MatBatch<f64>) -> Result<Vec<usize>> {
    let mut ranks = vec![x.rows(); x.count()];
    deficient(x, |trial, values| {
        ranks[trial] = rank(values);
        Ok(())
    })?;
    Ok(ranks)
}

/// Counts the eigenvalues above rounding.
fn rank(values: &[f64]) -> usize {
    let (smallest, largest) = (values[0], values[values.len() - 1]);
    let floor = (RANK_TOLERANCE * largest).max(-smallest);
    values.iter().filter(|v| **v > floor).count()
}

/// Tells whether the pivots of a factor are well above rounding, each beside its own variance.
fn is_full(matrix: &[f64], factor: &[f64], n: usize) -> bool {
    let kept = (0..n).map(|c| factor[c * n + c] * factor[c * n + c] / matrix[c * n + c]);
    kept.fold(f64::INFINITY, f64::min) > RANK_TOLERANCE * n as f64
}

/// Divides rows and columns by the deviations of the channels, so that units play no part. A
/// channel without variance is divided by the largest deviation.
fn scaled(matrix: &[f64], n: usize) -> Vec<f64> {
    let variance = |c: usize| matrix[c * n + c];
    let largest = (0..n).map(variance).fold(0.0, f64::max);
    if largest <= 0.0 {
        return matrix.to_vec();
    }
    let deviation = |c: usize| {
        if variance(c) > 0.0 {
            variance(c)
        } else {
            largest
        }
        .sqrt()
    };
    let deviations: Vec<f64> = (0..n).map(deviation).collect();
    let entry = |at: usize| matrix[at] / deviations[at / n] / deviations[at % n];
    (0..n * n).map(entry).collect()
}

/// Judges the eigenvalues of a matrix, in ascending order.
fn check_one(values: &[f64], trial: usize, op: &'static str) -> Result<()> {
    let wrong = |why: String, remedy| DataError::NoCovariance {
        op,
        trial,
        why,
        remedy,
    };
    let n = values.len();
    let (smallest, largest) = (values[0], values[n - 1]);
    if smallest == 0.0 && largest == 0.0 {
        return Err(wrong("is zero".into(), "leave the trial out"));
    }
    if largest <= 0.0 || smallest < -NEGATIVE * largest {
        let why = format!(
            "is not positive definite: its smallest eigenvalue is {smallest:.3e}, its largest \
             {largest:.3e}"
        );
        return Err(wrong(why, "pass covariances"));
    }
    let rank = rank(values);
    if (rank as f64) < LEAST_RANK * n as f64 {
        return Err(wrong(
            format!("has rank {rank} of {n}"),
            "estimate it from more samples, or by an estimator that shrinks (oas, ledoit-wolf)",
        ));
    }
    Ok(())
}
