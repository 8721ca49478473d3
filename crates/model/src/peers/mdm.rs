//! Minimum distance to mean: `argmin_c δ(X, M_c)`, `M_c` the Fréchet mean of class `c`'s training
//! trials, `δ` affine-invariant; probabilities `softmax_c(−δ²)`. Source: Barachant, Bonnet, Congedo
//! & Jutten 2012; pyRiemann's `MDM`.

use crate::file::{Archive, Found};
use crate::{ModelError, Result, Trials};
use rayon::prelude::*;
use stiefel_geometry::spd::{FrechetOptions, frechet_mean, pair_spectrum};
use stiefel_linalg::{MatBatch, MatRef, softmax};

/// The Fréchet means of the classes with training trials, `C × n × n`.
#[derive(Debug, Clone, Default)]
pub(super) struct Means(MatBatch<f64>);

impl Means {
    /// Fits the means of these classes.
    pub(super) fn fit(op: &'static str, training: &Trials, classes: &[usize]) -> Result<Self> {
        let means: Result<Vec<Vec<f64>>> = classes
            .par_iter()
            .map(|&class| class_mean(op, training, class))
            .collect();
        let n = training.channels_count();
        Ok(Self(MatBatch::from_vec(
            classes.len(),
            n,
            n,
            means?.concat(),
        )?))
    }

    /// Returns the probabilities of one matrix, `n × n`.
    pub(super) fn probabilities(&self, x: &[f64]) -> Result<Vec<f64>> {
        let x = MatRef::new(self.0.rows(), self.0.rows(), x);
        let distances = pair_spectrum(x.view(), self.0.view())?.distances();
        let mut closeness: Vec<f64> = distances.iter().map(|d| -d * d).collect();
        softmax(&mut closeness);
        Ok(closeness)
    }

    /// Writes or reads the means of so many classes.
    pub(super) fn numbers(&mut self, count: usize, n: usize, file: &mut Archive) -> Found<()> {
        file.batch("means", (count, n, n), &mut self.0)?;
        file.check_spd("means", &self.0)
    }
}

/// Returns the Fréchet mean of a class's training trials.
fn class_mean(op: &'static str, training: &Trials, class: usize) -> Result<Vec<f64>> {
    let classes = training.classes();
    let own: Vec<usize> = (0..training.len())
        .filter(|&i| classes.indices()[i] == class)
        .collect();
    let x = training.covariances().select(&own);
    let found = frechet_mean(x.view(), &FrechetOptions::default()).map_err(|source| {
        ModelError::Reference {
            of: format!("class \"{}\" ({} trials)", classes.name(class), own.len()),
            source,
        }
    })?;
    if !found.report.converged {
        return Err(ModelError::Impossible {
            op,
            why: format!(
                "the Fréchet mean of class \"{}\" did not converge: residual {:e} after {} \
                 evaluations",
                classes.name(class),
                found.report.residual,
                found.report.iterations
            ),
            remedy: "use a larger diagonal loading",
        });
    }
    Ok(found.mean.into_vec())
}
