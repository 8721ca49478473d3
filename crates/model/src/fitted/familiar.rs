//! How far a trial lies from the mean of its domain, beside the training trials.
//!
//! `δ(X, M) = ‖log(L⁻¹ X L⁻ᵀ)‖_F` with `M = L Lᵀ`: the affine-invariant distance of the broad view,
//! both matrices with the loading of the pre-conditioning. The shrinkage of CHOIR, `(1−s)X + s·(tr
//! X/n)·I`, is `1−s` times a relative loading of `s/(1−s)`, and a factor that both have leaves the
//! distance as it is. Of a training trial `X_i` it is the distance to the mean of the **other**
//! training trials of its domain, `(T·M − X_i)/(T − 1)`: a trial that is part of a mean is nearer
//! to it than any later one can be.
//!
//! People differ: half of the trials of one lie beyond 4.6, of another beyond 9.1. So distances are
//! told as multiples of the median of their own domain, which all people have alike, and what share
//! of the training trials stays below a multiple is counted over all of them.

use super::FittedModel;
use crate::precondition::Tikhonov;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stiefel_data::Trials;
use stiefel_linalg::{
    EigenWorkspace, MatRef, MatViewMut, Op, Wanted, inverse_cholesky, product_into, symmetrise,
};

const OP: &str = "distance to training";

/// Training trials that are looked at: they tell one in a hundred apart.
const KEPT: usize = 1000;

/// The distances of training trials to the mean of their domain, every domain by its own measure:
/// `δ/median_d δ` of all of them, in ascending order, and the medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Distances {
    ratios: Vec<f64>,
    /// By number of the domain; none where it has no training trials.
    medians: Vec<Option<f64>>,
}

#[derive(Deserialize)]
struct Stored {
    ratios: Vec<f64>,
    medians: Vec<Option<f64>>,
}

impl TryFrom<Stored> for Distances {
    type Error = &'static str;

    fn try_from(Stored { ratios, medians }: Stored) -> std::result::Result<Self, Self::Error> {
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let sound = ratios.iter().chain(medians.iter().flatten()).all(positive);
        let some = medians.iter().any(Option::is_some) && !ratios.is_empty();
        let found = (sound && some && ratios.is_sorted()).then_some(Self { ratios, medians });
        found.ok_or("distances to training that are no distances")
    }
}

impl Distances {
    /// From the distances of the trials of every domain, in any order; none where there is none, or
    /// one is not above 0.
    ///
    /// ```
    /// use stiefel_model::fitted::Distances;
    /// let d = Distances::new(vec![vec![3.0, 1.0, 2.0], vec![], vec![30.0, 10.0, 20.0]]).unwrap();
    /// assert_eq!(
    ///     (d.scale(Some(0)), d.scale(Some(2)), d.scale(None)),
    ///     (2.0, 20.0, 11.0)
    /// );
    /// assert_eq!(
    ///     (d.quantile_of(25.0 / d.scale(Some(2))), d.at(1.0)),
    ///     (4.0 / 6.0, 1.5)
    /// );
    /// ```
    pub fn new(by_domain: Vec<Vec<f64>>) -> Option<Self> {
        let (mut ratios, mut medians) = (Vec::new(), Vec::with_capacity(by_domain.len()));
        for mut own in by_domain {
            let median = median(&mut own);
            medians.push(median);
            ratios.extend(median.iter().flat_map(|m| own.iter().map(move |d| d / m)));
        }
        let sound = !ratios.is_empty() && ratios.iter().all(|r| r.is_finite() && *r > 0.0);
        ratios.sort_by(f64::total_cmp);
        sound.then_some(Self { ratios, medians })
    }

    /// What the distances of a domain are measured by, by number: their median, and where it has
    /// none the median of all domains.
    pub fn scale(&self, domain: Option<usize>) -> f64 {
        let own = domain.and_then(|d| *self.medians.get(d)?);
        own.unwrap_or_else(|| self.typical())
    }

    /// The median of the domains' medians.
    fn typical(&self) -> f64 {
        let mut all: Vec<f64> = self.medians.iter().flatten().copied().collect();
        median(&mut all).unwrap_or(f64::INFINITY)
    }

    /// The share of the training trials that are nearer than this many times the measure of their
    /// domain.
    pub fn quantile_of(&self, ratio: f64) -> f64 {
        self.ratios.partition_point(|d| *d < ratio) as f64 / self.ratios.len() as f64
    }

    /// How many times the measure of their domain a share of the training trials does not exceed.
    pub fn at(&self, quantile: f64) -> f64 {
        let last = self.ratios.len().saturating_sub(1);
        let place = (quantile * last as f64).ceil().max(0.0) as usize;
        self.ratios
            .get(place.min(last))
            .copied()
            .unwrap_or(f64::INFINITY)
    }

    /// Of the training trials of a model; none where matrices are singular, or every domain has one
    /// trial only.
    pub(super) fn from_training(model: &FittedModel, training: &Trials) -> Option<Self> {
        let (x, n) = (training.covariances(), training.channels_count());
        let tikhonov = model.model.loading();
        let arithmetic = model.model.has_arithmetic_means();
        let step = training.len().div_ceil(KEPT).max(1);
        let mut distances = vec![Vec::new(); model.domains().len()];
        let mut loaded = vec![0.0; n * n];
        for i in (0..training.len()).step_by(step) {
            let name = training.domains().name(training.domains().indices()[i]);
            let d = model.names().domain(name)?;
            let (mean, count) = (
                model.model.domain_mean(d)?,
                model.model.trial_count(d) as f64,
            );
            if count < 2.0 {
                continue;
            }
            loaded.copy_from_slice(x.matrix(i));
            tikhonov.load(&mut loaded, n);
            let others = mean.iter().zip(&loaded);
            let others: Vec<f64> = if arithmetic {
                others
                    .map(|(m, x)| (count * m - x) / (count - 1.0))
                    .collect()
            } else {
                mean.into_owned()
            };
            let mut baseline = FamiliarityBaseline::new(n, &others, tikhonov).ok()?;
            distances[d].push(baseline.distance(x.matrix(i)).ok()?);
        }
        Self::new(distances)
    }
}

/// The median, with the mean of two in the middle; sorts.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let at = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => None,
        0 => Some(f64::midpoint(values[at - 1], values[at])),
        _ => Some(values[at]),
    }
}

/// Distances to one mean; nothing is allocated after the first.
#[derive(Debug)]
pub struct FamiliarityBaseline {
    n: usize,
    tikhonov: Tikhonov,
    /// `L⁻¹`, and buffers.
    inverse: Vec<f64>,
    loaded: Vec<f64>,
    half: Vec<f64>,
    values: Vec<f64>,
    eigen: EigenWorkspace<f64>,
}

impl FamiliarityBaseline {
    fn new(n: usize, mean: &[f64], tikhonov: Tikhonov) -> Result<Self> {
        let inverse = inverse_cholesky(MatRef::new(n, n, mean).view())?.into_vec();
        Ok(Self {
            n,
            tikhonov,
            inverse,
            loaded: vec![0.0; n * n],
            half: vec![0.0; n * n],
            values: vec![0.0; n],
            eigen: EigenWorkspace::default(),
        })
    }

    /// `δ(X, M)` of a raw covariance, `n × n`.
    pub fn distance(&mut self, x: &[f64]) -> Result<f64> {
        let n = self.n;
        crate::precondition::check_single(n, x, 0)?;
        self.loaded.copy_from_slice(x);
        self.tikhonov.load(&mut self.loaded, n);
        let l = MatRef::new(n, n, &self.inverse).view();
        let half = MatViewMut::one(n, n, &mut self.half);
        let loaded = MatRef::new(n, n, &self.loaded).view();
        product_into(half, false, 1.0, l, Op::N, loaded, Op::N)?;
        let whole = MatViewMut::one(n, n, &mut self.loaded);
        let half = MatRef::new(n, n, &self.half).view();
        product_into(whole, false, 1.0, half, Op::N, l, Op::T)?;
        symmetrise(&mut MatViewMut::one(n, n, &mut self.loaded))?;
        let y = MatRef::new(n, n, &self.loaded);
        self.eigen
            .decompose_one(y, &mut self.values, Wanted::Values)?;
        let square: f64 = self.values.iter().map(|v| v.ln() * v.ln()).sum();
        if square.is_finite() {
            return Ok(square.sqrt());
        }
        Err(ModelError::Impossible {
            op: OP,
            why: format!(
                "the covariance does not have full rank (smallest eigenvalue {:e} beside the mean)",
                self.values.iter().copied().fold(f64::INFINITY, f64::min)
            ),
            remedy: "choose channels that do not depend on each other",
        })
    }
}

impl FittedModel {
    /// How far its training trials lie from the mean of their domain.
    pub fn distances(&self) -> Option<&Distances> {
        self.about.distances.as_ref()
    }

    /// Distances to the mean of a training domain, or to a mean of raw covariances that is given;
    /// none where the domain is not known and none is given.
    ///
    /// ```
    /// # use stiefel_linalg::MatBatch;
    /// # use stiefel_model::{Factor, ModelSpec, FittedModel, Trials, train::Silent};
    /// # let x = MatBatch::from_fn(8, 3, 3, |i, r, c| if r == c { 1.0 + ((i * 3 + r) % 5) as f64 } else { 0.2 });
    /// # let classes = Factor::from_labels(["hand", "feet", "hand", "feet", "hand", "feet", "hand", "feet"]);
    /// # let trials = Trials::new(x, classes, Factor::from_labels(vec!["s1"; 8]))?;
    /// let model = FittedModel::fit(&trials, &trials, &ModelSpec::default(), &mut Silent)?;
    /// let mut baseline = model.familiarity_baseline("s1", None)?.unwrap();
    /// let far = baseline.distance(&[1e6, 0., 0., 0., 1e6, 0., 0., 0., 1e6])?;
    /// let distances = model.distances().unwrap();
    /// assert_eq!(distances.quantile_of(far / distances.scale(Some(0))), 1.0);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    pub fn familiarity_baseline(
        &self,
        domain: &str,
        mean: Option<&[f64]>,
    ) -> Result<Option<FamiliarityBaseline>> {
        let (n, tikhonov) = (self.channel_count(), self.model.loading());
        let loaded = |raw: &[f64]| {
            let mut loaded = raw.to_vec();
            tikhonov.load(&mut loaded, n);
            Cow::Owned(loaded)
        };
        let known = || self.model.domain_mean(self.names().domain(domain)?);
        let mean = mean.map(loaded).or_else(known);
        mean.map(|mean| FamiliarityBaseline::new(n, &mean, tikhonov))
            .transpose()
    }
}
