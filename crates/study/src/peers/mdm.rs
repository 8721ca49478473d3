//! Minimum distance to mean: `argmin_c δ(X, M_c)`, `M_c` the Fréchet mean of class `c`'s training trials, `δ` affine-invariant;
//! probabilities `softmax_c(−δ²)`. Source: Barachant, Bonnet, Congedo & Jutten 2012; pyRiemann's `MDM`.

use super::PeerError;
use super::fitted::Ready;
use rayon::prelude::*;
use stiefel_geometry::spd::{FrechetOptions, Metric, frechet_mean, pairwise_distances};
use stiefel_linalg::{MatBatch, argmax, softmax};
use stiefel_model::{ModelError, Trials};

/// The Fréchet means of the classes with training trials, `C × n × n`.
#[derive(Debug, Clone)]
pub(super) struct Means(MatBatch<f64>);

impl Means {
    pub(super) fn fit(ready: &Ready) -> Result<Self, PeerError> {
        let means: Result<Vec<Vec<f64>>, PeerError> = ready
            .classes
            .par_iter()
            .map(|&class| class_mean(ready, class))
            .collect();
        let n = ready.training.channels_count();
        let means = MatBatch::from_vec(ready.classes.len(), n, n, means?.concat())?;
        Ok(Self(means))
    }

    /// Probabilities, row by row, and the nearest class of every trial.
    pub(super) fn decide(&self, trials: &Trials) -> Result<(Vec<f64>, Vec<usize>), PeerError> {
        let x = trials.covariances().view();
        let distances = pairwise_distances(Metric::AffineInvariant, x, self.0.view())?;
        let mut closeness: Vec<f64> = distances.data().iter().map(|d| -d * d).collect();
        let nearest = (closeness.chunks_exact(self.0.count()).map(argmax)).collect();
        for row in closeness.chunks_exact_mut(self.0.count()) {
            softmax(row);
        }
        Ok((closeness, nearest))
    }
}

/// The Fréchet mean of a class's training trials.
fn class_mean(ready: &Ready, class: usize) -> Result<Vec<f64>, PeerError> {
    let classes = ready.training.classes();
    let own: Vec<usize> = (0..ready.training.len())
        .filter(|&i| classes.indices()[i] == class)
        .collect();
    let x = ready.training.covariances().select(&own);
    let found = frechet_mean(x.view(), &FrechetOptions::default()).map_err(|source| {
        PeerError::Model(ModelError::Reference {
            of: format!("class \"{}\" ({} trials)", classes.name(class), own.len()),
            source,
        })
    })?;
    if !found.report.converged {
        return Err(PeerError::Model(ModelError::Impossible {
            op: ready.peer.name(),
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
