//! A split ready for the network: everything that depends only on the data, computed once.

use crate::error::check_count;
use crate::{DspEncoder, ModelError, Result, Trials, tangent_vectors};
use smallvec::SmallVec;
use std::borrow::Cow;
use stiefel_autodiff::{Covariances, Tape, Var};
use stiefel_linalg::{MatBatch, Scalar};

/// Samples per forward pass: large enough for full lanes, small enough for the caches.
pub(crate) const CHUNK: usize = 64;

/// Pre-conditioned covariances with the input of the query, classes and domains, in the precision
/// of the network. The query sees the broad view.
#[derive(Debug, Clone)]
pub struct Prepared<T> {
    /// One batch per view, the broad one first.
    covariances: Vec<MatBatch<T>>,
    encoded: MatBatch<T>,
    labels: Vec<usize>,
    domains: Vec<usize>,
    weights: Option<Vec<f64>>,
}

/// Samples of a prepared split, by position.
#[derive(Debug, Clone)]
pub struct Batch<'a, T> {
    /// The split.
    pub data: &'a Prepared<T>,
    /// Which of its samples.
    pub indices: Cow<'a, [usize]>,
    /// What stands for the domain of all of them, where it had no training trials.
    pub(crate) new: Option<&'a NewDomain<T>>,
}

/// What a network knows of a domain without training trials.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewDomain<T> {
    /// What stands in for its row of the embedding.
    pub(crate) row: Row<T>,
    /// What its trials are normalised with, where the network has batch normalisation.
    pub(crate) norm: Option<NormFrame<T>>,
}

/// What stands in for a row of the embedding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row<T> {
    /// Nothing: the network has no embedding.
    Absent,
    /// Zeros.
    Zero,
    /// The row of a training domain.
    At(usize),
    /// A row of its own.
    Given(Vec<T>),
}

/// The statistics of a new domain in batch normalisation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormFrame<T> {
    /// `R^{-1/2}` of its mean, `1 × m × m`.
    pub(crate) inverse_root: MatBatch<T>,
    /// Its dispersion.
    pub(crate) dispersion: f64,
}

/// Lists of a batch; what is longer than a usual batch is allocated.
pub(crate) type PerSample<X> = SmallVec<[X; 32]>;

impl<T: Scalar> Prepared<T> {
    /// From pre-conditioned trials: tangent vectors `upper(log X)`, projected by the encoder where
    /// there is one.
    pub fn new(trials: &Trials, encoder: Option<&DspEncoder>) -> Result<Self> {
        Self::with_tangent(trials, &tangent_vectors(trials)?, encoder)
    }

    /// The same, from tangent vectors that are there already.
    pub fn with_tangent(
        trials: &Trials,
        tangent: &MatBatch<f64>,
        encoder: Option<&DspEncoder>,
    ) -> Result<Self> {
        let encoded = match encoder {
            Some(encoder) => encoder.encode(tangent.view())?.cast(),
            None => tangent.cast(),
        };
        let prepared = Self::from_parts(
            trials.covariances().cast(),
            encoded,
            trials.classes().indices().to_vec(),
            trials.domains().indices().to_vec(),
        )?;
        let weights = trials.weights().map(<[f64]>::to_vec);
        (1..trials.views()).try_fold(
            Self {
                weights,
                ..prepared
            },
            |all, v| all.with_view(trials.view(v).cast()),
        )
    }

    /// From pre-conditioned covariances of the broad view, without classes and domains.
    pub(crate) fn unlabelled(x: &MatBatch<f64>, encoder: Option<&DspEncoder>) -> Result<Self> {
        let tangent = stiefel_geometry::spd::log_vectors(x.view())?;
        let encoded = match encoder {
            Some(encoder) => encoder.encode(tangent.view())?,
            None => tangent,
        };
        let none = vec![0; x.count()];
        Self::from_parts(x.cast(), encoded.cast(), none.clone(), none)
    }

    /// From parts: covariances `N × n × n`, query input `N × 1 × r`, a class and a domain for each.
    pub fn from_parts(
        covariances: MatBatch<T>,
        encoded: MatBatch<T>,
        labels: Vec<usize>,
        domains: Vec<usize>,
    ) -> Result<Self> {
        let count = covariances.count();
        for (what, found) in [
            ("query rows", encoded.count()),
            ("classes", labels.len()),
            ("domains", domains.len()),
        ] {
            check_count("prepared split", what, count, found)?;
        }
        Ok(Self {
            covariances: vec![covariances],
            encoded,
            labels,
            domains,
            weights: None,
        })
    }

    /// With one view more, `N × n × n` as the others.
    pub fn with_view(mut self, covariances: MatBatch<T>) -> Result<Self> {
        let (expected, found) = (self.covariances[0].shape(), covariances.shape());
        if expected != found {
            return Err(ModelError::Impossible {
                op: "prepared split",
                why: format!("a view has the shape {found:?}, the broad one {expected:?}"),
                remedy: "give every view the same trials and channels",
            });
        }
        self.covariances.push(covariances);
        Ok(self)
    }

    /// How many covariances a sample has.
    pub fn views(&self) -> usize {
        self.covariances.len()
    }

    /// How many samples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The covariances of the broad view, `N × n × n`.
    pub fn covariances(&self) -> &MatBatch<T> {
        &self.covariances[0]
    }

    /// The covariances of a view, `N × n × n`.
    ///
    /// # Panics
    /// If there are not so many views.
    pub fn view(&self, view: usize) -> &MatBatch<T> {
        &self.covariances[view]
    }

    /// The input of the query, `N × 1 × r`.
    pub fn encoded(&self) -> &MatBatch<T> {
        &self.encoded
    }

    /// The class of each sample.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The domain of each sample.
    pub fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// Puts one trial in the place of all: its whitened covariances, one view after the other, and
    /// its row of the query's input.
    pub(crate) fn load(&mut self, whitened: &[f64], encoded: &[f64], domain: usize) {
        let size = self.covariances[0].rows() * self.covariances[0].cols();
        let views = self
            .covariances
            .iter_mut()
            .zip(whitened.chunks_exact(size.max(1)));
        for (view, x) in views {
            write(view.data_mut(), x);
        }
        write(self.encoded.data_mut(), encoded);
        self.domains.fill(domain);
    }

    /// All samples.
    pub fn all(&self) -> Batch<'_, T> {
        self.batch((0..self.len()).collect::<Vec<_>>())
    }

    /// The samples at `indices`.
    pub fn batch<'a>(&'a self, indices: impl Into<Cow<'a, [usize]>>) -> Batch<'a, T> {
        Batch {
            data: self,
            indices: indices.into(),
            new: None,
        }
    }
}

fn write<T: Scalar>(to: &mut [T], from: &[f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = T::from_f64(from);
    }
}

impl<'a, T: Scalar> Batch<'a, T> {
    /// Says that all samples are of a domain without training trials.
    pub(crate) fn for_new(self, new: Option<&'a NewDomain<T>>) -> Self {
        Self { new, ..self }
    }

    /// How many samples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The class of each sample.
    pub fn labels(&self) -> Vec<usize> {
        self.indices.iter().map(|&i| self.data.labels[i]).collect()
    }

    /// The domain of each sample.
    pub(crate) fn domains(&self) -> PerSample<usize> {
        self.indices.iter().map(|&i| self.data.domains[i]).collect()
    }

    /// The weight of each sample in the cross-entropy, where they differ.
    pub fn weights(&self) -> Option<Vec<T>> {
        let weights = self.data.weights.as_ref()?;
        Some(
            (self.indices.iter())
                .map(|&i| T::from_f64(weights[i]))
                .collect(),
        )
    }

    /// About how many multiplications a step on it takes, by which threads are asked for.
    pub(crate) fn work(&self) -> usize {
        let cubes = self.data.covariances.iter().map(|x| x.rows().pow(3) / 2);
        self.indices.len() * cubes.sum::<usize>()
    }

    /// The input of the query on a tape, one row per sample.
    pub(crate) fn rows<'t>(&self, tape: &'t Tape<T>) -> Var<'t, T> {
        let all = &self.data.encoded;
        let cols = all.cols();
        tape.constant_with((1, self.len(), cols), |rows| {
            let each = rows.chunks_exact_mut(cols.max(1));
            for (row, &i) in each.zip(&*self.indices) {
                row.copy_from_slice(all.matrix(i));
            }
        })
    }

    /// The covariances of a view, not copied.
    pub(crate) fn covariances<'t>(&self, view: usize) -> Covariances<'t, '_, T> {
        Covariances::Read(self.data.view(view).view(), Some(&self.indices))
    }

    /// The covariances of the broad view on a tape.
    pub(crate) fn selected<'t>(&self, tape: &'t Tape<T>) -> Var<'t, T> {
        let all = self.data.covariances();
        let (_, n, m) = all.shape();
        tape.constant_with((self.len(), n, m), |to| {
            for (to, &i) in to.chunks_exact_mut((n * m).max(1)).zip(&*self.indices) {
                to.copy_from_slice(all.matrix(i));
            }
        })
    }
}

/// An error unless every class has a training trial.
pub(crate) fn check_classes(training: &Trials) -> Result<()> {
    let counts = training.classes().counts();
    match counts.iter().position(|&c| c == 0) {
        None => Ok(()),
        Some(missing) => Err(ModelError::Impossible {
            op: "training",
            why: format!(
                "class \"{}\" has no trial among the {} training trials",
                training.classes().name(missing),
                training.len()
            ),
            remedy: "leave the class out of the list of names, or give it training trials",
        }),
    }
}
