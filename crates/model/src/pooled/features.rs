//! Features with a class and a domain each: what a head is fitted on.

use crate::{ModelError, Result, Trials};
use stiefel_geometry::spd::{log, upper};
use stiefel_linalg::{MatBatch, congruence};

/// `N` rows of `p` numbers, a class and a domain for each.
#[derive(Debug, Clone)]
pub(super) struct Features {
    /// `1 × N × p`.
    pub(super) z: MatBatch<f64>,
    pub(super) labels: Vec<usize>,
    pub(super) domains: Vec<usize>,
    /// Weights of the trials in the loss; `None` counts each once.
    pub(super) weights: Option<Vec<f64>>,
}

/// `upper(log Wᵀ X W)` of pre-conditioned trials, not centred.
pub(super) fn features(whitened: &Trials, anchor: &MatBatch<f64>) -> Result<Features> {
    let y = congruence(anchor.view(), whitened.covariances().view())?;
    let z = upper(log(y.view())?.view())?;
    let (count, _, p) = z.shape();
    Ok(Features {
        z: MatBatch::from_vec(1, count, p, z.into_vec())?,
        labels: whitened.classes().indices().to_vec(),
        domains: whitened.domains().indices().to_vec(),
        weights: whitened.weights().map(<[f64]>::to_vec),
    })
}

impl Features {
    /// The mean row; an error where there is none.
    pub(super) fn mean(&self) -> Result<Vec<f64>> {
        let (_, count, p) = self.z.shape();
        if count == 0 {
            return Err(ModelError::Empty {
                op: "routed head",
                remedy: "fit on at least one training trial of every class",
            });
        }
        let mut mean = vec![0.0; p];
        for row in self.z.data().chunks_exact(p) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
        }
        for m in &mut mean {
            *m /= count as f64;
        }
        Ok(mean)
    }
}

/// The same rows minus `centre`.
pub(super) fn centred(z: &MatBatch<f64>, centre: &[f64]) -> MatBatch<f64> {
    MatBatch::from_fn(1, z.rows(), z.cols(), |_, i, j| z.get(0, i, j) - centre[j])
}
