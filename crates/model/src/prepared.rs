//! A split ready for the network: everything that depends only on the data, computed once.

use crate::{DspEncoder, ModelError, Result, Trials, tangent_vectors};
use std::sync::Arc;
use stiefel_linalg::{MatBatch, Scalar};

/// Pre-conditioned covariances with the input of the query, classes and domains, in the precision of the network. The query sees the broad view.
#[derive(Debug, Clone)]
pub struct Prepared<T> {
    /// One batch per view, the broad one first.
    covariances: Vec<Arc<MatBatch<T>>>,
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
    pub indices: Vec<usize>,
}

impl<T: Scalar> Prepared<T> {
    /// From pre-conditioned trials: tangent vectors `upper(log X)`, projected by the encoder where there is one.
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
            Arc::new(trials.covariances().cast()),
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

    /// From parts: covariances `N × n × n`, query input `N × 1 × r`, a class and a domain for each.
    pub fn from_parts(
        covariances: Arc<MatBatch<T>>,
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
            if found != count {
                let op = "prepared split";
                return Err(ModelError::Count {
                    op,
                    what,
                    expected: count,
                    found,
                });
            }
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
        self.covariances.push(Arc::new(covariances));
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
    pub fn covariances(&self) -> &Arc<MatBatch<T>> {
        &self.covariances[0]
    }

    /// The covariances of a view, `N × n × n`.
    ///
    /// # Panics
    /// If there are not so many views.
    pub fn view(&self, view: usize) -> &Arc<MatBatch<T>> {
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

    /// All samples.
    pub fn all(&self) -> Batch<'_, T> {
        self.batch((0..self.len()).collect())
    }

    /// The samples at `indices`.
    pub fn batch(&self, indices: Vec<usize>) -> Batch<'_, T> {
        Batch {
            data: self,
            indices,
        }
    }
}

impl<T: Scalar> Batch<'_, T> {
    /// The class of each sample.
    pub fn labels(&self) -> Vec<usize> {
        self.indices.iter().map(|&i| self.data.labels[i]).collect()
    }

    /// The domain of each sample.
    pub fn domains(&self) -> Vec<usize> {
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

    /// The input of the query, one row per sample.
    pub fn encoded(&self) -> MatBatch<T> {
        let all = &self.data.encoded;
        let mut rows = MatBatch::zeros(1, self.indices.len(), all.cols());
        let each = rows.data_mut().chunks_exact_mut(all.cols().max(1));
        for (row, &i) in each.zip(&self.indices) {
            row.copy_from_slice(all.matrix(i));
        }
        rows
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
