//! Geometric medians: the minimisers of `Σ w_i d(M, X_i)`, by Weiszfeld's iteration.
//!
//! | median | step | residual |
//! |---|---|---|
//! | Euclidean, of any `n × m` matrices | `Σ v_i X_i`, `v_i ∝ w_i/‖X_i − M‖_F` | `‖step(M) − M‖_F` |
//! | affine-invariant | `M^{1/2} exp(s J) M^{1/2}`, `J = Σ v_i log(M^{-1/2}X_iM^{-1/2})`, `v_i ∝ w_i/d(M, X_i)` | `‖J‖_F` |
//!
//! Matrices at distance zero have no direction and are left out of the sums. The Euclidean step is
//! then shortened by their weight `η` as Vardi & Zhang do: `max(0, 1 − η/r)` of it, `r = ‖Σ w_i
//! (X_i − M)/‖X_i − M‖‖`. Sources: Vardi & Zhang 2000; Fletcher, Venkatasubramanian & Joshi 2009.

use super::{Step, given_start, iterate, size};
use crate::spd::mean::{normalised, weighted_sum};
use crate::spd::{
    FrechetMean, FrechetOptions, check_spd, check_symmetric, coloured_exp, mean_euclidean,
    whitened_log,
};
use crate::{GeometryError, Result};
use stiefel_linalg::{MatBatch, MatView, Scalar, frobenius_norm, sums};

/// The Euclidean median of matrices of any one shape.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, median_euclidean};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(3, 1, 1, vec![1.0_f64, 2.0, 90.0])?;
/// let found = median_euclidean(
///     x.view(),
///     &FrechetOptions {
///         max_iterations: 500,
///         ..FrechetOptions::default()
///     },
/// )?;
/// assert!((found.mean.get(0, 0, 0) - 2.0).abs() < 1e-6);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn median_euclidean<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "Euclidean median";
    x.check_finite(OP)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    let start = match options.given(OP, (x.rows(), x.cols()))? {
        Some(start) => {
            start.check_finite(OP)?;
            start.to_owned()
        }
        None => weighted_sum(x, &weights),
    };
    iterate(OP, options, start, |m| {
        let distances: Vec<T> = (0..x.count())
            .map(|i| sums::gap(x.matrix(i), m.data()))
            .collect();
        let (pulls, here) = pulls(&weights, &distances);
        let total: T = pulls.iter().copied().sum();
        if total == T::ZERO {
            return Ok(arrived(m));
        }
        let sum = weighted_sum(x, &pulls);
        let force = MatBatch::from_fn(1, x.rows(), x.cols(), |_, r, c| {
            sum.get(0, r, c) - total * m.get(0, r, c)
        });
        let force = size(&force);
        // How much of the way to the mean of the others is left by the matrices that are here.
        let share = if here == T::ZERO {
            T::ONE
        } else if force <= here {
            T::ZERO
        } else {
            T::ONE - here / force
        };
        let next = MatBatch::from_fn(1, x.rows(), x.cols(), |_, r, c| {
            let m = m.get(0, r, c);
            m + share * (sum.get(0, r, c) / total - m)
        });
        Ok(Step {
            residual: sums::gap(next.data(), m.data()),
            scale: size(m),
            next,
        })
    })
}

/// The median of the affine-invariant distance; a step size `s` in (0, 2], usually 1.
pub fn median_affine_invariant<T: Scalar>(
    x: MatView<'_, T>,
    step_size: T,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    const OP: &str = "affine-invariant median";
    if !(step_size > T::ZERO && step_size <= T::from_f64(2.0)) {
        return Err(GeometryError::Parameter {
            op: OP,
            name: "the step size",
            value: step_size.to_f64(),
            expected: "a number in (0, 2]",
        });
    }
    let n = check_symmetric(OP, x)?;
    check_spd(x)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    let start = match given_start(OP, options, n)? {
        Some(start) => start,
        None => mean_euclidean(x, options.weights)?,
    };
    iterate(OP, options, start, |m| {
        let logs = whitened_log(m.view(), x)?;
        let (mut pulls, _) = pulls(&weights, &frobenius_norm(logs.view()));
        let total: T = pulls.iter().copied().sum();
        if total == T::ZERO {
            return Ok(arrived(m));
        }
        for v in &mut pulls {
            *v /= total;
        }
        let mut velocity = weighted_sum(logs.view(), &pulls);
        let residual = size(&velocity);
        for v in velocity.data_mut() {
            *v *= step_size;
        }
        Ok(Step {
            next: coloured_exp(m.view(), velocity.view())?,
            residual,
            scale: T::ONE,
        })
    })
}

/// `w_i/d_i`, zero where `d_i` is, and the sum of the weights there.
fn pulls<T: Scalar>(weights: &[T], distances: &[T]) -> (Vec<T>, T) {
    let mut here = T::ZERO;
    let pulls = weights.iter().zip(distances).map(|(&w, &d)| {
        if d == T::ZERO {
            here += w;
            T::ZERO
        } else {
            w / d
        }
    });
    let pulls = pulls.collect();
    (pulls, here)
}

/// All matrices are here.
fn arrived<T: Scalar>(m: &MatBatch<T>) -> Step<T> {
    Step {
        next: m.clone(),
        residual: T::ZERO,
        scale: T::ONE,
    }
}
