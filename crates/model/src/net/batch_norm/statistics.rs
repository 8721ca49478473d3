//! Exact statistics: the Fréchet mean of a domain's matrices and their mean squared distance from
//! it.

use super::Norm;
use crate::net::Network;
use crate::parameters::StateUpdate;
use crate::prepared::{CHUNK, NewDomain, NormFrame};
use crate::{ModelError, Parameters, Prepared, Result};
use stiefel_autodiff::Tape;
use stiefel_geometry::spd::{
    FrechetOptions, SpectralFn, frechet_mean, pair_spectrum, spectral_map,
};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// The statistics of one domain.
#[derive(Debug, Clone, PartialEq)]
pub struct NormStatistics {
    /// The Fréchet mean, `1 × m × m`.
    pub mean: MatBatch<f64>,
    /// The mean squared affine-invariant distance from it.
    pub dispersion: f64,
}

impl NormStatistics {
    /// Of `N × m × m` matrices; `prior` counts for as many trials as its weight says.
    pub fn from_points(x: MatView<'_, f64>, prior: Option<(&Self, f64)>) -> Result<Self> {
        let (mut all, mut weights) = (x.to_owned(), vec![1.0; x.count()]);
        if let Some((prior, kappa)) = prior.filter(|p| p.1 > 0.0) {
            let data = [x.data(), prior.mean.data()].concat();
            all = MatBatch::from_vec(x.count() + 1, x.rows(), x.rows(), data)?;
            weights.push(kappa);
        }
        if all.count() == 0 {
            return Err(ModelError::Empty {
                op: "statistics of batch normalisation",
                remedy: "give at least one trial",
            });
        }
        let options = FrechetOptions {
            weights: Some(&weights),
            ..FrechetOptions::default()
        };
        let mean = frechet_mean(all.view(), &options)?.mean;
        let distances = pair_spectrum(mean.view(), x)?.distances();
        let mut sum: f64 = distances.iter().map(|d| d * d).sum();
        let mut count = x.count() as f64;
        if let Some((prior, kappa)) = prior {
            sum += kappa * prior.dispersion;
            count += kappa;
        }
        Ok(Self {
            mean,
            dispersion: sum / count,
        })
    }

    /// What stands in for a domain nobody has seen: the Fréchet mean of the domains' means and the
    /// mean of their dispersions.
    pub fn pooled(all: &[Self]) -> Result<Self> {
        let m = all.first().map_or(0, |s| s.mean.rows());
        let means = all.iter().flat_map(|s| s.mean.data()).copied().collect();
        let means = MatBatch::from_vec(all.len(), m, m, means)?;
        let mut pooled = Self::from_points(means.view(), None)?;
        pooled.dispersion = all.iter().map(|s| s.dispersion).sum::<f64>() / all.len() as f64;
        Ok(pooled)
    }

    /// Returns the frame of a new domain with these statistics.
    pub(crate) fn frame<T: Scalar>(&self) -> Result<NormFrame<T>> {
        Ok(NormFrame {
            inverse_root: spectral_map(SpectralFn::InvSqrt, self.mean.view())?
                .value
                .cast(),
            dispersion: self.dispersion,
        })
    }

    fn updates<T: Scalar>(&self, norm: &Norm, rows: &[usize]) -> [StateUpdate<T>; 2] {
        let repeat = |x: MatBatch<f64>| x.select(&vec![0; rows.len()]).cast();
        let dispersion = MatBatch::from_fn(1, 1, 1, |_, _, _| self.dispersion);
        [
            (norm.mean, self.mean.clone()),
            (norm.dispersion, dispersion),
        ]
        .map(|(slot, value)| StateUpdate {
            slot,
            values: repeat(value),
            rows: rows.to_vec(),
        })
    }
}

fn fit<T: Scalar>(
    network: &dyn Network<T>,
    norm: &Norm,
    parameters: &mut Parameters<T>,
    data: &Prepared<T>,
) -> Result<Vec<(usize, NormStatistics)>> {
    let x: MatBatch<f64> = norm_input(network, norm, parameters, data, None)?.cast();
    let mut domains = data.domains().to_vec();
    domains.sort_unstable();
    domains.dedup();
    let mut all = Vec::with_capacity(domains.len());
    for domain in domains {
        let own: Vec<usize> = (0..data.len())
            .filter(|&i| data.domains()[i] == domain)
            .collect();
        let statistics = NormStatistics::from_points(x.select(&own).view(), None)?;
        parameters.update(&statistics.updates(norm, &[domain]))?;
        all.push((domain, statistics));
    }
    Ok(all)
}

/// First statistics: exact ones for the training domains, the pooled ones for the others.
pub(in crate::net) fn start_statistics<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &mut Parameters<T>,
    training: &Prepared<T>,
) -> Result<()> {
    let Some(norm) = network.norm() else {
        return Ok(());
    };
    let all = fit(network, norm, parameters, training)?;
    let count = parameters.at(norm.mean).map_or(0, |p| p.value.count());
    let others: Vec<usize> = (0..count)
        .filter(|d| all.iter().all(|(known, _)| known != d))
        .collect();
    if all.is_empty() || others.is_empty() {
        return Ok(());
    }
    let all: Vec<NormStatistics> = all.into_iter().map(|(_, s)| s).collect();
    parameters.update(&NormStatistics::pooled(&all)?.updates(norm, &others))
}

/// Returns the matrices that enter batch normalisation, one per sample and in evaluation, of a
/// domain without training trials where one is given.
pub(crate) fn norm_input<T: Scalar>(
    network: &dyn Network<T>,
    norm: &Norm,
    parameters: &Parameters<T>,
    data: &Prepared<T>,
    new: Option<&NewDomain<T>>,
) -> Result<MatBatch<T>> {
    let mut values = Vec::new();
    let mut m = 0;
    let mut tape = Tape::new();
    let bound = network.bind_frozen(&tape, parameters)?;
    tape.keep();
    let all: Vec<usize> = (0..data.len()).collect();
    for indices in all.chunks(CHUNK) {
        tape.rewind();
        let batch = data.batch(indices).for_new(new);
        let part = network.norm_input(&tape, &bound, &batch, norm.position())?;
        m = part.shape().1;
        values.extend_from_slice(part.value().data());
    }
    Ok(MatBatch::from_vec(data.len(), m, m, values)?)
}
