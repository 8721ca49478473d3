//! Geometric means by recursion: each matrix is replaced by a mean of it and the others, until all
//! are equal.
//!
//! | mean | step, for each `h` of `N` matrices |
//! |---|---|
//! | Ando, Li & Mathias 2004 | the mean of the other `N − 1`, by recursion |
//! | Bini, Meini & Poloni 2010 | the point at `(N − 1)/N` from `X_h` to the mean of the others, by recursion |
//! | cheap (Bini & Iannazzo 2011) | `exp_{X_h}(Σ_j log_{X_h}(X_j)/N)` |
//!
//! Two matrices have the middle of their affine-invariant geodesic as mean. The residual is
//! `‖step(X_1) − X_1‖_F/‖X_1‖_F`. The first two take a time that grows like the factorial of `N`;
//! the first gains one binary digit a step, the others three times the digits. None has weights:
//! where matrices count differently, the Fréchet mean is the one to take.

use crate::batch::zip_with;
use crate::spd::{
    FrechetMean, FrechetOptions, FrechetReport, check_spd, check_symmetric, exp_map, geodesic,
    log_map,
};
use crate::tolerance;
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar, sums};

/// Which mean of the others replaces a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecursiveMean {
    /// Ando, Li and Mathias.
    Alm,
    /// Bini, Meini and Poloni.
    Bmp,
    /// Bini and Iannazzo, without recursion.
    Cheap,
}

const OP: &str = "recursive mean";

/// A geometric mean by recursion.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, RecursiveMean, mean_recursive};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(3, 1, 1, vec![1.0_f64, 2.0, 4.0])?;
/// for kind in [RecursiveMean::Alm, RecursiveMean::Bmp, RecursiveMean::Cheap] {
///     let found = mean_recursive(kind, x.view(), &FrechetOptions::default())?;
///     assert!((found.mean.get(0, 0, 0) - 2.0).abs() < 1e-8);
/// }
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn mean_recursive<T: Scalar>(
    kind: RecursiveMean,
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    if options.weights.is_some() {
        return Err(GeometryError::NoWeights { op: OP });
    }
    if options.start.is_some() {
        return Err(GeometryError::NoStart { op: OP });
    }
    if x.count() == 0 {
        return Err(GeometryError::Empty { op: OP });
    }
    options.check_tolerance(OP)?;
    check_symmetric(OP, x)?;
    check_spd(x)?;
    level(kind, x.to_owned(), options)
}

fn level<T: Scalar>(
    kind: RecursiveMean,
    x: MatBatch<T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    let mut report = FrechetReport {
        iterations: 0,
        residual: 0.0,
        converged: true,
    };
    if x.count() <= 2 {
        let mean = match x.count() {
            2 => geodesic(x.view().single(0), x.view().single(1), T::from_f64(0.5))?,
            _ => x,
        };
        return Ok(FrechetMean { mean, report });
    }
    (report.residual, report.converged) = (f64::INFINITY, false);
    let goal = Scalar::max(options.tolerance, tolerance::stationary::<T>(x.rows()));
    let mut here = x;
    let mut below = true;
    while !report.converged && report.iterations < options.max_iterations {
        let next = (0..here.count())
            .map(|h| one(kind, &here, h, options))
            .collect::<Result<Vec<_>>>()?;
        below = next.iter().all(|(_, converged)| *converged);
        let gap = sums::gap(next[0].0.data(), here.matrix(0));
        let residual = gap / super::size(&here.single(0));
        for (h, (matrix, _)) in next.iter().enumerate() {
            here.matrix_mut(h).copy_from_slice(matrix.data());
        }
        report.iterations += 1;
        report.residual = residual.to_f64();
        report.converged = residual <= goal;
    }
    report.converged &= below;
    let mean = sums::mean(here.view());
    Ok(FrechetMean { mean, report })
}

/// What replaces matrix `h`, and whether every mean below converged.
fn one<T: Scalar>(
    kind: RecursiveMean,
    x: &MatBatch<T>,
    h: usize,
    options: &FrechetOptions<'_, T>,
) -> Result<(MatBatch<T>, bool)> {
    let count = x.count();
    let size = T::from_f64(count as f64);
    let others: Vec<usize> = (1..count).map(|k| (h + k) % count).collect();
    let others = x.select(&others);
    let at = x.view().single(h);
    if kind == RecursiveMean::Cheap {
        let logs = log_map(at, others.view())?;
        let mean = sums::mean(logs.view());
        // The logarithm of the matrix itself, which is zero, counts too.
        let share = (size - T::ONE) / size;
        let velocity = zip_with(OP, mean.view(), mean.view(), |v, _| share * v)?;
        return Ok((exp_map(at, velocity.view())?, true));
    }
    let FrechetMean { mean, report } = level(kind, others, options)?;
    let next = match kind {
        RecursiveMean::Bmp => {
            let t = (size - T::ONE) / size;
            geodesic(at, mean.view(), t)?
        }
        _ => mean,
    };
    Ok((next, report.converged))
}
