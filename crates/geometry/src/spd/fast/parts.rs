//! Careful functions part by part, and weighted sums over a stack.
//!
//! | | formula |
//! |---|---|
//! | [`in_parts`] | `f` of a few matrices at a time, whose intermediate results then stay in the cache |
//! | [`sum_spectral`] | `Σ w_i f(R X_i Rᵀ)` |
//! | [`sum_inverses`] | `Σ w_i ((X_i + M)/2)⁻¹`, or that of the `X_i` alone |
//!
//! Sums are taken part by part and then in the order of the parts: they do not depend on the number
//! of threads.

use super::distance::inverse_into;
use super::steps::{Scratch, Steps, common, part, room, squares, stream, symmetric, together};
use crate::Result;
use crate::error::shape_error;
use crate::spd::mean::weighted_sum;
use crate::spd::{SpectralFn, blend, map, power};
use rayon::prelude::*;
use std::ops::Range;
use stiefel_linalg::{MatBatch, MatView, Outer, Scalar, congruence};

/// `f` of a range and of the matrices of every stack that belong to it, `n × n` results. Where a
/// part fails, the whole stack goes through `f`, whose error then names the right trial.
pub(in crate::spd) fn in_parts<T: Scalar, const K: usize>(
    stacks: [MatView<'_, T>; K],
    f: impl Fn(Range<usize>, [MatView<'_, T>; K]) -> Result<MatBatch<T>> + Sync,
) -> Result<MatBatch<T>> {
    let n = stacks[0].rows();
    let count = common(&stacks.map(Some)).unwrap_or(0);
    let whole = || f(0..count, stacks);
    if count <= together(n) {
        return whole();
    }
    let short = stream(n, count, n * n, |_, range, out| {
        let mut parts = stacks;
        for view in &mut parts {
            *view = part(*view, &range)?;
        }
        out.copy_from_slice(f(range, parts).ok()?.data());
        Some(())
    });
    match short {
        Some(data) => Ok(MatBatch::from_vec(count, n, n, data)?),
        None => whole(),
    }
}

/// The part of one number for all, or of one for each.
pub(in crate::spd) fn of_range<'a, T>(t: &'a [T], range: &Range<usize>) -> &'a [T] {
    t.get(range.clone()).filter(|_| t.len() > 1).unwrap_or(t)
}

/// `Σ w_i Y_i`, where `each` writes the `Y_i` of a part.
fn weighted_parts<T: Scalar>(
    x: MatView<'_, T>,
    weights: &[T],
    each: impl Fn(&mut Steps<T>, MatView<'_, T>, &mut [T]) -> Option<()> + Sync,
) -> Option<MatBatch<T>> {
    let (n, count) = (x.rows(), common(&[Some(x)])?);
    let starts: Vec<usize> = (0..count).step_by(together(n)).collect();
    let sums = starts
        .into_par_iter()
        .map_init(Scratch::default, |scratch, start| {
            let range = start..(start + together(n)).min(count);
            let x = part(x, &range).filter(|x| symmetric(*x))?;
            let Scratch { l, steps, .. } = scratch;
            let out = room(l, range.len() * n * n);
            each(steps, x, out)?;
            Some(weighted_sum(squares(n, out)?, &weights[range]))
        })
        .collect::<Option<Vec<_>>>()?;
    let all: Vec<T> = sums.iter().flat_map(MatBatch::data).copied().collect();
    let ones = vec![T::ONE; sums.len()];
    Some(weighted_sum(squares(n, &all)?, &ones))
}

fn check_weights<T: Scalar>(op: &'static str, x: MatView<'_, T>, weights: &[T]) -> Result<()> {
    if weights.len() == x.count() {
        return Ok(());
    }
    Err(shape_error(
        op,
        format!("{} weights", x.count()),
        weights.len(),
    ))
}

/// `Σ w_i f(R X_i Rᵀ)` with weights as they are, as a batch of one; without `R`, of the matrices
/// themselves.
pub(in crate::spd) fn sum_spectral<T: Scalar>(
    root: Option<MatView<'_, T>>,
    x: MatView<'_, T>,
    f: SpectralFn<T>,
    weights: &[T],
) -> Result<MatBatch<T>> {
    f.check()?;
    check_weights(f.name(), x, weights)?;
    let before = root.map(|r| (r, Outer::Full));
    let short = weighted_parts(x, weights, |steps, x, out| {
        steps.run(before, x, Some(f), None, out)
    });
    if let Some(sum) = short {
        return Ok(sum);
    }
    let seen = match root {
        Some(root) => congruence(root.to_owned().transposed().view(), x)?,
        None => x.to_owned(),
    };
    Ok(weighted_sum(map(f, seen.view())?.view(), weights))
}

/// `Σ w_i ((X_i + M)/2)⁻¹` with weights as they are, as a batch of one; without `M`, of the `X_i`
/// themselves.
pub(in crate::spd) fn sum_inverses<T: Scalar>(
    x: MatView<'_, T>,
    m: Option<MatView<'_, T>>,
    weights: &[T],
) -> Result<MatBatch<T>> {
    check_weights("sum of inverses", x, weights)?;
    let half = T::from_f64(0.5);
    let middle = |x: MatView<'_, T>| match m {
        Some(m) => blend(x, m, half),
        None => Ok(x.to_owned()),
    };
    let short = weighted_parts(x, weights, |steps, x, out| {
        inverse_into(middle(x).ok()?.view(), out, steps)
    });
    match short {
        Some(sum) => Ok(sum),
        None => Ok(weighted_sum(
            power(middle(x)?.view(), -T::ONE)?.view(),
            weights,
        )),
    }
}
