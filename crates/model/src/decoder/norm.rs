//! Batch normalisation of one matrix, in evaluation: `Y = B^{1/2} (Z X Z)^{s/√(v + ε)} B^{1/2}` with `Z = R^{-1/2}`, `R` and `v` the statistics
//! of the trial's domain. `X` is `m × m`.

use super::OP;
use super::filter::point;
use super::kernel::{Spectrum, multiply};
use crate::net::batch_norm::{BIAS, DISPERSION, MEAN, NormStatistics, SCALE};
use crate::net::{BatchNormConfig, NormPosition};
use crate::{ModelError, Parameters, Result};
use stiefel_geometry::spd::{self, SpectralFn};
use stiefel_linalg::{MatBatch, Op, Scalar};

/// The statistics of a domain, ready for use.
#[derive(Debug, Clone)]
pub(super) struct NormFrame {
    /// `R^{-1/2}`, `m × m`.
    z: Vec<f64>,
    /// `s/√(v + ε)`.
    power: f64,
}

/// Whose statistics a trial is normalised with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose<'a> {
    /// Those of a domain the network knows.
    Domain(usize),
    /// Those of a new one.
    Given(Option<&'a NormFrame>),
}

/// The frozen layer and its buffers.
#[derive(Debug)]
pub(super) struct Norm<T> {
    m: usize,
    pub(super) position: NormPosition,
    epsilon: f64,
    scale: f64,
    bias: Option<Vec<T>>,
    known: Vec<NormFrame>,
    z: Vec<T>,
    half: Vec<T>,
    spectrum: Spectrum<T>,
}

impl<T: Scalar> Norm<T> {
    pub(super) fn new(p: &Parameters<T>, config: &BatchNormConfig) -> Result<Self> {
        let mean = point(p, MEAN)?;
        let (domains, m, _) = mean.shape();
        let dispersion = point(p, DISPERSION)?;
        let scale = point(p, SCALE)?.data()[0].to_f64().exp();
        let bias = match p.get(BIAS) {
            Some(bias) => {
                let mut log = spd::from_upper(bias.value.view())?;
                let half = T::from_f64(0.5);
                log.data_mut().iter_mut().for_each(|v| *v *= half);
                Some(spd::exp(log.view())?.into_vec())
            }
            None => None,
        };
        let mut norm = Self {
            m,
            position: config.position,
            epsilon: config.epsilon,
            scale,
            bias,
            known: Vec::with_capacity(domains),
            z: vec![T::ZERO; m * m],
            half: vec![T::ZERO; m * m],
            spectrum: Spectrum::new(m),
        };
        // In the precision of the network, as the tape does.
        let roots = spd::inv_sqrt(mean.view())?;
        for d in 0..domains {
            let z = roots.matrix(d).iter().map(|v| v.to_f64()).collect();
            let power = norm.power(dispersion.matrix(d)[0].to_f64());
            norm.known.push(NormFrame { z, power });
        }
        Ok(norm)
    }

    fn power(&self, dispersion: f64) -> f64 {
        self.scale / (dispersion + self.epsilon).sqrt()
    }

    /// The size of its matrices.
    pub(super) fn size(&self) -> usize {
        self.m
    }

    /// The frame of the statistics of a new domain.
    pub(super) fn frame(&self, statistics: &NormStatistics) -> Result<NormFrame> {
        Ok(NormFrame {
            z: spd::inv_sqrt(statistics.mean.view())?.into_vec(),
            power: self.power(statistics.dispersion),
        })
    }

    /// Normalises a matrix in place.
    pub(super) fn apply(&mut self, x: &mut [T], whose: Whose<'_>) -> Result<()> {
        let frame = match whose {
            Whose::Domain(d) => self.known.get(d).ok_or(ModelError::NoSuchDomain {
                op: OP,
                domain: d,
                count: self.known.len(),
            })?,
            Whose::Given(Some(frame)) if frame.z.len() == x.len() => frame,
            Whose::Given(_) => {
                return Err(ModelError::Impossible {
                    op: OP,
                    why: "the handle was made for another network".into(),
                    remedy: "make it with this decoder's adapt_domain",
                });
            }
        };
        let values = self.z.iter_mut().zip(&frame.z);
        values.for_each(|(z, &v)| *z = T::from_f64(v));
        let power = SpectralFn::Pow(T::from_f64(frame.power));
        sandwich(&self.z, x, &mut self.half, self.m)?;
        let y = self.spectrum.map(power, x)?;
        x.copy_from_slice(y);
        match &self.bias {
            Some(bias) => sandwich(bias, x, &mut self.half, self.m),
            None => Ok(()),
        }
    }
}

/// `x ← z·x·z` for symmetric `z`.
fn sandwich<T: Scalar>(z: &[T], x: &mut [T], half: &mut [T], m: usize) -> Result<()> {
    let shape = (m, m);
    multiply((half, shape), false, (x, shape, Op::N), (z, shape, Op::N))?;
    multiply((x, shape), false, (z, shape, Op::T), (half, shape, Op::N))
}

/// The statistics of the training domains, pooled for one that nobody has seen.
pub(super) fn pooled<T: Scalar>(p: &Parameters<T>, known: &[usize]) -> Result<NormStatistics> {
    let (means, dispersions) = (point(p, MEAN)?, point(p, DISPERSION)?);
    let all: Vec<NormStatistics> = (known.iter())
        .map(|&d| NormStatistics {
            mean: means.single(d).cast(),
            dispersion: dispersions.matrix(d)[0].to_f64(),
        })
        .collect();
    NormStatistics::pooled(&all)
}

/// Statistics of matrices `N × m × m` that a new domain showed, drawn towards `prior`, which counts for κ of them.
pub(super) fn shrunk(
    x: &MatBatch<f64>,
    prior: &NormStatistics,
    kappa: f64,
) -> Result<NormStatistics> {
    NormStatistics::of(x.view(), Some((prior, kappa)))
}
