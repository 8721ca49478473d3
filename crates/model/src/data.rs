//! Trials `(X_i, y_i, d_i)`: a covariance `X_i` (`n × n`, symmetric, f64), a class, a domain, and where known the run and the
//! names of the channels.
//!
//! Everything is checked once, here: sizes, ranges, finite values, symmetry. Positive definiteness is a question of its own
//! ([`Trials::check_spd`]): raw covariances of re-referenced recordings lack it until they are loaded.

use crate::factor::check_distinct;
use crate::{Factor, ModelError, Result};
use stiefel_geometry::GeometryError;
use stiefel_linalg::{MatBatch, tolerance};

const OP: &str = "trials";

/// A set of trials of one montage.
///
/// ```
/// use stiefel_linalg::MatBatch;
/// use stiefel_model::{Factor, Trials};
///
/// let trials = Trials::new(
///     MatBatch::identity(3, 2),
///     Factor::from_labels(["hand", "feet", "hand"]),
///     Factor::from_labels(["s1", "s1", "s2"]),
/// )?
/// .with_channels(vec!["C3".into(), "C4".into()])?;
/// let first = trials.select(&[2])?;
/// assert_eq!((first.len(), first.channels_count()), (1, 2));
/// // The lists of names stay whole: domain 1 is "s2" in every part.
/// assert_eq!(first.domains().indices(), [1]);
/// # Ok::<(), stiefel_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    covariances: MatBatch<f64>,
    classes: Factor,
    domains: Factor,
    runs: Option<Factor>,
    channels: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
}

impl Trials {
    /// From covariances, classes and domains, one of each per trial.
    pub fn new(covariances: MatBatch<f64>, classes: Factor, domains: Factor) -> Result<Self> {
        check_covariances(&covariances)?;
        let count = covariances.count();
        check_count("classes", count, classes.len())?;
        check_count("domains", count, domains.len())?;
        Ok(Self {
            covariances,
            classes,
            domains,
            runs: None,
            channels: None,
            weights: None,
        })
    }

    /// Adds the run of each trial.
    pub fn with_runs(mut self, runs: Factor) -> Result<Self> {
        check_count("runs", self.len(), runs.len())?;
        self.runs = Some(runs);
        Ok(self)
    }

    /// The same trials with other classes.
    pub fn with_classes(mut self, classes: Factor) -> Result<Self> {
        check_count("classes", self.len(), classes.len())?;
        self.classes = classes;
        Ok(self)
    }

    /// The same trials with other domains.
    pub fn with_domains(mut self, domains: Factor) -> Result<Self> {
        check_count("domains", self.len(), domains.len())?;
        self.domains = domains;
        Ok(self)
    }

    /// Adds the names of the channels, in the order of the rows of the covariances.
    pub fn with_channels(mut self, names: Vec<String>) -> Result<Self> {
        check_count("channel names", self.channels_count(), names.len())?;
        check_distinct("channels", &names)?;
        self.channels = Some(names);
        Ok(self)
    }

    /// Adds the weight of each trial in the cross-entropy: finite, not negative, not all zero.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        check_count("weights", self.len(), weights.len())?;
        if let Some(trial) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(ModelError::NotFinite {
                op: OP,
                what: "the weight (a finite number, zero or more, is needed)",
                trial,
                value: weights[trial],
            });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// How many trials.
    pub fn len(&self) -> usize {
        self.covariances.count()
    }

    /// Whether there is no trial.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of channels, `n`.
    pub fn channels_count(&self) -> usize {
        self.covariances.rows()
    }

    /// The covariances, `count × n × n`.
    pub fn covariances(&self) -> &MatBatch<f64> {
        &self.covariances
    }

    /// The class of each trial.
    pub fn classes(&self) -> &Factor {
        &self.classes
    }

    /// The domain of each trial.
    pub fn domains(&self) -> &Factor {
        &self.domains
    }

    /// The run of each trial, where known.
    pub fn runs(&self) -> Option<&Factor> {
        self.runs.as_ref()
    }

    /// The names of the channels, where known.
    pub fn channels(&self) -> Option<&[String]> {
        self.channels.as_deref()
    }

    /// The weight of each trial, where they differ.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The trials at `indices`, in that order; the lists of names stay whole.
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        let count = self.len();
        if let Some(&trial) = indices.iter().find(|&&i| i >= count) {
            return Err(ModelError::NoSuchTrial {
                op: "selection of trials",
                trial,
                count,
            });
        }
        Ok(Self {
            covariances: self.covariances.select(indices),
            classes: self.classes.select(indices),
            domains: self.domains.select(indices),
            runs: self.runs.as_ref().map(|r| r.select(indices)),
            channels: self.channels.clone(),
            weights: (self.weights.as_ref()).map(|w| indices.iter().map(|&i| w[i]).collect()),
        })
    }

    /// These trials followed by others of the same set: the same channels, classes and domains, in the same order.
    pub fn joined(&self, other: &Self) -> Result<Self> {
        let same = self.channels_count() == other.channels_count()
            && self.channels == other.channels
            && self.classes.names() == other.classes.names()
            && self.domains.names() == other.domains.names()
            && self.runs.as_ref().map(Factor::names) == other.runs.as_ref().map(Factor::names);
        if !same {
            return Err(ModelError::Impossible {
                op: OP,
                why: "two sets with different channels, classes, domains or runs cannot be joined"
                    .into(),
                remedy: "select both parts from one set of trials",
            });
        }
        let n = self.channels_count();
        let x = [self.covariances.data(), other.covariances.data()].concat();
        let join = |a: &Factor, b: &Factor| {
            Factor::new(
                "names",
                a.names().to_vec(),
                [a.indices(), b.indices()].concat(),
            )
        };
        let runs = match (&self.runs, &other.runs) {
            (Some(a), Some(b)) => Some(join(a, b)?),
            _ => None,
        };
        // A part without weights counts each trial once.
        let weighted = self.weights.is_some() || other.weights.is_some();
        let each = |part: &Self| match &part.weights {
            Some(weights) => weights.clone(),
            None => vec![1.0; part.len()],
        };
        Ok(Self {
            weights: weighted.then(|| [each(self), each(other)].concat()),
            covariances: MatBatch::from_vec(self.len() + other.len(), n, n, x)?,
            classes: join(&self.classes, &other.classes)?,
            domains: join(&self.domains, &other.domains)?,
            runs,
            channels: self.channels.clone(),
        })
    }

    /// The same trials with other matrices: what a transformation gives.
    pub fn with_covariances(&self, covariances: MatBatch<f64>) -> Result<Self> {
        check_covariances(&covariances)?;
        check_count("covariances", self.len(), covariances.count())?;
        let channels = self.channels.clone();
        let same_size = covariances.rows() == self.channels_count();
        Ok(Self {
            covariances,
            classes: self.classes.clone(),
            domains: self.domains.clone(),
            runs: self.runs.clone(),
            channels: channels.filter(|_| same_size),
            weights: self.weights.clone(),
        })
    }

    /// An error that names the first covariance that is not positive definite beyond rounding.
    pub fn check_spd(&self) -> Result<()> {
        Ok(stiefel_geometry::spd::check_spd(self.covariances.view())?)
    }
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(ModelError::Count {
        op: OP,
        what,
        expected,
        found,
    })
}

/// Square, with at least one channel, finite, and symmetric to rounding.
fn check_covariances(x: &MatBatch<f64>) -> Result<()> {
    let n = x.view().check_square(OP)?;
    if n == 0 {
        return Err(ModelError::Count {
            op: OP,
            what: "channels",
            expected: 1,
            found: 0,
        });
    }
    x.view().check_finite(OP)?;
    for trial in 0..x.count() {
        check_symmetric(x.matrix(trial), n, trial)?;
    }
    Ok(())
}

/// Symmetric to [`tolerance::symmetry`] of the largest entry.
pub(crate) fn check_symmetric(m: &[f64], n: usize, trial: usize) -> Result<()> {
    let largest = m.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let allowed = tolerance::symmetry::<f64>() * largest;
    for r in 1..n {
        for c in 0..r {
            let (lower, upper) = (m[r * n + c], m[c * n + r]);
            if (lower - upper).abs() > allowed {
                return Err(ModelError::Geometry(GeometryError::Asymmetric {
                    op: OP,
                    trial,
                    row: r,
                    col: c,
                    lower,
                    upper,
                }));
            }
        }
    }
    Ok(())
}
