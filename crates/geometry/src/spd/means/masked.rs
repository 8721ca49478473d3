//! The Fréchet mean of SPD matrices of which parts are known.
//!
//! `P_i` (`n × k_i`, orthonormal columns) says which part of `X_i` is known: for missing channels,
//! the columns of the identity that belong to the channels that are there. The mean minimises `f(M)
//! = ½ Σ w_i d²(P_iᵀMP_i, P_iᵀX_iP_i)` in the affine-invariant metric. With `M_i = P_iᵀMP_i`, `Q_i
//! = M P_i M_i⁻¹` and `V_i = log_{M_i}(P_iᵀX_iP_i)` the negative gradient is `J = Σ w_i Q_i V_i
//! Q_iᵀ`; the step is `exp_M(ν J)`, the residual `‖J‖_F`, and ν is halved where the residual grows.
//!
//! Source: Yger, Chevallier, Barthélemy & Sra 2020.

use super::{Step, given_start, iterate, size};
use crate::Result;
use crate::error::shape_error;
use crate::spd::mean::normalised;
use crate::spd::{
    FrechetMean, FrechetOptions, check_spectrum, check_symmetric, exp_map, log_map, power,
};
use crate::stiefel::check_orthonormal;
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, congruence, eigh, product, product_into};

const OP: &str = "masked mean";

/// The Fréchet mean of the known parts; `masks` has one `n × k_i` matrix for each of `X`. Without a
/// start, the search begins at the identity.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, masked_mean};
/// use stiefel_linalg::MatBatch;
///
/// // Of the second matrix only the second channel is known.
/// let x = MatBatch::from_vec(2, 2, 2, vec![4.0_f64, 0.0, 0.0, 1.0, 7.0, 0.0, 0.0, 9.0])?;
/// let masks = [
///     MatBatch::identity(1, 2),
///     MatBatch::from_vec(1, 2, 1, vec![0.0, 1.0])?,
/// ];
/// let found = masked_mean(
///     x.view(),
///     &masks,
///     &FrechetOptions {
///         max_iterations: 200,
///         ..FrechetOptions::default()
///     },
/// )?;
/// assert!(
///     (found.mean.get(0, 0, 0) - 4.0).abs() < 1e-7
///         && (found.mean.get(0, 1, 1) - 3.0).abs() < 1e-7
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn masked_mean<T: Scalar>(
    x: MatView<'_, T>,
    masks: &[MatBatch<T>],
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    let n = check_symmetric(OP, x)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    check_masks(x, masks)?;
    let known = masks
        .iter()
        .enumerate()
        .map(|(i, p)| Ok(congruence(p.view(), x.single(i))?))
        .collect::<Result<Vec<_>>>()?;
    for (i, known) in known.iter().enumerate() {
        let values = eigh(known.view())?.values;
        check_spectrum(OP, known.rows(), &values)
            .map_err(|error| crate::spd::whiten::at_trial(error, i))?;
    }
    let start = match given_start(OP, options, n)? {
        Some(start) => start,
        None => MatBatch::identity(1, n),
    };
    let (mut step, mut before) = (T::ONE, T::from_f64(f64::MAX));
    iterate(OP, options, start, |m| {
        let mut j = MatBatch::zeros(1, n, n);
        for ((p, known), &w) in masks.iter().zip(&known).zip(&weights) {
            let part = congruence(p.view(), m.view())?;
            let velocity = log_map(part.view(), known.view())?;
            let inverse = power(part.view(), -T::ONE)?;
            let mp = product(m.view(), Op::N, p.view(), Op::N)?;
            let q = product(mp.view(), Op::N, inverse.view(), Op::N)?;
            let half = product(q.view(), Op::N, velocity.view(), Op::N)?;
            product_into(j.view_mut(), true, w, half.view(), Op::N, q.view(), Op::T)?;
        }
        stiefel_linalg::symmetrise(&mut j.view_mut())?;
        let residual = size(&j);
        if residual > before {
            step *= T::from_f64(0.5);
        }
        before = residual;
        for v in j.data_mut() {
            *v *= step;
        }
        Ok(Step {
            next: exp_map(m.view(), j.view())?,
            residual,
            scale: size(m),
        })
    })
}

/// An error unless every mask has orthonormal columns, and together they know every direction.
fn check_masks<T: Scalar>(x: MatView<'_, T>, masks: &[MatBatch<T>]) -> Result<()> {
    let n = x.rows();
    if masks.len() != x.count() {
        return Err(shape_error(OP, format!("{} masks", x.count()), masks.len()));
    }
    let mut seen = MatBatch::zeros(1, n, n);
    for (i, p) in masks.iter().enumerate() {
        if (p.count(), p.rows()) != (1, n) || p.cols() == 0 || p.cols() > n {
            let expected = format!("mask {i} of {n} rows and 1 to {n} columns");
            return Err(shape_error(OP, expected, p.shape()));
        }
        check_orthonormal(OP, p.view())?;
        product_into(
            seen.view_mut(),
            true,
            T::ONE,
            p.view(),
            Op::N,
            p.view(),
            Op::T,
        )?;
    }
    let values = eigh(seen.view())?.values;
    if check_spectrum(OP, n, &values).is_err() {
        let expected = "masks that together leave no channel unknown";
        return Err(shape_error(OP, expected, "a channel that no matrix knows"));
    }
    Ok(())
}
