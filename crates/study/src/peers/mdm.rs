//! Minimum distance to mean: `argmin_c δ(X, M_c)`, `M_c` the Fréchet mean of class `c`'s training trials, `δ` affine-invariant;
//! probabilities `softmax_c(−δ²)`. Source: Barachant, Bonnet, Congedo & Jutten 2012; pyRiemann's `MDM`.

use super::parts::Parts;
use super::{PeerError, PeerOutcome};
use rayon::prelude::*;
use stiefel_geometry::spd::{FrechetOptions, Metric, frechet_mean, pairwise_distances};
use stiefel_linalg::{MatBatch, argmax, softmax};
use stiefel_model::ModelError;

pub(super) fn decide(parts: &Parts) -> Result<PeerOutcome, PeerError> {
    let means: Result<Vec<Vec<f64>>, PeerError> = parts
        .classes
        .par_iter()
        .map(|&class| class_mean(parts, class))
        .collect();
    let n = parts.training.channels_count();
    let means = MatBatch::from_vec(parts.classes.len(), n, n, means?.concat())?;
    let distances = pairwise_distances(
        Metric::AffineInvariant,
        parts.test.covariances().view(),
        means.view(),
    )?;
    let closeness: Vec<f64> = distances.data().iter().map(|d| -d * d).collect();
    let rows = closeness.chunks_exact(parts.classes.len());
    let mut probabilities = closeness.clone();
    for row in probabilities.chunks_exact_mut(parts.classes.len()) {
        softmax(row);
    }
    Ok(PeerOutcome {
        probabilities: parts.widened(&probabilities),
        decided: rows.map(|row| parts.classes[argmax(row)]).collect(),
        notes: parts.notes.clone(),
    })
}

/// The Fréchet mean of a class's training trials.
fn class_mean(parts: &Parts, class: usize) -> Result<Vec<f64>, PeerError> {
    let classes = parts.training.classes();
    let own: Vec<usize> = (0..parts.training.len())
        .filter(|&i| classes.indices()[i] == class)
        .collect();
    let x = parts.training.covariances().select(&own);
    let found = frechet_mean(x.view(), &FrechetOptions::default()).map_err(|source| {
        PeerError::Model(ModelError::Reference {
            of: format!("class \"{}\" ({} trials)", classes.name(class), own.len()),
            source,
        })
    })?;
    if !found.report.converged {
        return Err(PeerError::Model(ModelError::Impossible {
            op: parts.peer.name(),
            why: format!(
                "the Fréchet mean of class \"{}\" did not converge: residual {:e} after {} evaluations",
                classes.name(class),
                found.report.residual,
                found.report.iterations
            ),
            remedy: "use a larger diagonal loading",
        }));
    }
    Ok(found.mean.into_vec())
}
