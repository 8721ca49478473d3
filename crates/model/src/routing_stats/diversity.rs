//! How different the experts' subspaces are.
//!
//! The mean over all pairs of experts `W_a, W_b` in St(n, k) of the mean of their k principal
//! angles, in degrees; beside it
//! * as a share of the largest possible mean, `90°·min(k, n−k)/k`: in `n` dimensions two
//!   k-dimensional subspaces share at least `2k − n`, whose angles are zero (7.5° for 13 → 12);
//! * the average for independent uniformly random subspaces of that size, by simulation with a
//!   fixed seed to a standard error of 0.1°. By invariance one of the two may stay fixed, and by
//!   duality only `q = min(k, n−k)` angles need drawing: the non-zero angles of two subspaces are
//!   those of their orthogonal complements.

use super::OP;
use crate::{Measure, ModelError, Result};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use stiefel_geometry::stiefel::{mean_pairwise_angle, random_points};
use stiefel_linalg::{MatBatch, MatView, Op, Scalar, eigenvalues, product};

/// Standard error at which the simulation stops, degrees.
const STANDARD_ERROR: f64 = 0.1;

/// Draws per round of the simulation, and at most.
const ROUND: usize = 256;
const MOST_DRAWS: usize = 1 << 18;

/// How different the experts' subspaces are; degrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpertDiversity {
    /// The mean principal angle over all pairs.
    pub mean_angle: Measure,
    /// That, as a share of the largest mean possible.
    pub share_of_largest: Measure,
    /// What independent random subspaces of that size have on average.
    pub random_mean_angle: Measure,
}

/// The diversity of experts `K × n × k` with orthonormal columns.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::routing_stats::expert_diversity;
///
/// // Two axes of the plane: at right angles, as different as can be. Random lines are 45° apart on average.
/// let experts = MatBatch::from_vec(2, 2, 1, vec![1.0, 0.0, 0.0, 1.0])?;
/// let d = expert_diversity(experts.view())?;
/// assert!((d.mean_angle.value().unwrap() - 90.0).abs() < 1e-9);
/// assert!((d.share_of_largest.value().unwrap() - 1.0).abs() < 1e-9);
/// assert!((d.random_mean_angle.value().unwrap() - 45.0).abs() < 0.5);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
pub fn expert_diversity<T: Scalar>(experts: MatView<'_, T>) -> Result<ExpertDiversity> {
    let (count, n, k) = experts.shape();
    let random_mean_angle = random_mean_angle(n, k)?;
    if count < 2 {
        let reason = "one expert: there is no pair";
        return Ok(ExpertDiversity {
            mean_angle: Measure::undefined(reason),
            share_of_largest: Measure::undefined(reason),
            random_mean_angle: Measure::Value(random_mean_angle),
        });
    }
    let mean = mean_pairwise_angle(experts)?.to_f64().to_degrees();
    let largest = largest_mean_angle(n, k);
    Ok(ExpertDiversity {
        mean_angle: Measure::Value(mean),
        share_of_largest: if largest > 0.0 {
            Measure::Value(mean / largest)
        } else {
            Measure::undefined("k = n: every subspace is the whole space")
        },
        random_mean_angle: Measure::Value(random_mean_angle),
    })
}

/// The largest mean of the principal angles of two k-dimensional subspaces of n dimensions, in
/// degrees.
pub fn largest_mean_angle(n: usize, k: usize) -> f64 {
    90.0 * k.min(n.saturating_sub(k)) as f64 / k.max(1) as f64
}

/// The average, over independent uniformly random k-dimensional subspaces of n dimensions, of the
/// mean of their principal angles, in degrees, to a standard error of 0.1°; the same on every run.
pub fn random_mean_angle(n: usize, k: usize) -> Result<f64> {
    if k == 0 || k > n {
        return Err(ModelError::Impossible {
            op: OP,
            why: format!("experts of {n} × {k}"),
            remedy: "an expert has between one column and as many as rows",
        });
    }
    let q = k.min(n - k);
    if q == 0 {
        return Ok(0.0);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let (mut sum, mut squares, mut draws) = (0.0, 0.0, 0_usize);
    let scale = q as f64 / k as f64;
    while draws < MOST_DRAWS {
        let w = random_points::<f64, _>(&mut rng, ROUND, n, q)?;
        // Against the span of the first q axes, the cosines are the singular values of the upper q
        // × q block.
        let block = MatBatch::from_fn(ROUND, q, q, |i, r, c| w.get(i, r, c));
        let gram = product(block.view(), Op::T, block.view(), Op::N)?;
        for squared_cosines in eigenvalues(gram.view())?.chunks_exact(q) {
            let angles = (squared_cosines.iter()).map(|c| c.clamp(0.0, 1.0).sqrt().acos());
            let mean = scale * angles.sum::<f64>().to_degrees() / q as f64;
            sum += mean;
            squares += mean * mean;
        }
        draws += ROUND;
        let count = draws as f64;
        let variance = (squares / count - (sum / count).powi(2)).max(0.0);
        if (variance / count).sqrt() <= STANDARD_ERROR {
            break;
        }
    }
    Ok(sum / draws as f64)
}
