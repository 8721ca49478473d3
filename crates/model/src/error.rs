//! What can go wrong between trials and a fitted model: the operation, the numbers and the remedy.

use stiefel_autodiff::TapeError;
use stiefel_data::settings::SettingError;
use stiefel_data::{Contradiction, DataError, Trials};
use stiefel_geometry::spd::check_spd;
use stiefel_geometry::{GeometryError, SpdDefect};
use stiefel_linalg::{LinalgError, MatRef, MatView};

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, ModelError>;

/// An error of this crate. Trials, classes and domains are zero-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Things that come one per trial (or per channel) and do not.
    #[error("{op}: {found} {what}, expected {expected}")]
    Count {
        /// The operation.
        op: &'static str,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An index beyond its list of names.
    #[error(
        "{op}: trial {trial} has {what} {index}, but there are {count}; indices are zero-based, so {index} needs a list of \
         at least {} names", index + 1
    )]
    IndexOutOfRange {
        /// The operation.
        op: &'static str,
        /// What is indexed: class, domain, run.
        what: &'static str,
        /// Which trial.
        trial: usize,
        /// Its index.
        index: usize,
        /// How many names there are.
        count: usize,
    },
    /// No trial where at least one is needed.
    #[error("{op}: no trials; {remedy}")]
    Empty {
        /// The operation.
        op: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Matrices of another size than those seen at fit.
    #[error(
        "{op}: matrices of {found} channels, but the training trials had {expected}; select the \
         same channels in the same order"
    )]
    Channels {
        /// The operation.
        op: &'static str,
        /// Channels at fit.
        expected: usize,
        /// Channels now.
        found: usize,
    },
    /// A channel under another name than at fit: the same electrodes in another order give wrong
    /// results silently.
    #[error(
        "{op}: channel {channel} is \"{found}\", but the training trials had \"{expected}\" \
         there; put the channels in the order of the training trials"
    )]
    ChannelName {
        /// The operation.
        op: &'static str,
        /// Which channel, zero-based.
        channel: usize,
        /// Its name at fit.
        expected: String,
        /// Its name now.
        found: String,
    },
    /// A domain without training trials where its own statistics are needed.
    #[error(
        "{op}: domain {domain} (\"{name}\") had no training trials. Transform its trials with \
         `transform_new` under a named policy: pooled (nothing of the domain is used), own-mean \
         or causal (its unlabelled trials are used)"
    )]
    UntrainedDomain {
        /// The operation.
        op: &'static str,
        /// Its index.
        domain: usize,
        /// Its name.
        name: String,
    },
    /// A policy for new domains was asked for and not configured.
    #[error(
        "no policy for domains without training trials is configured; set `unseen` to pooled, \
         own-mean or causal"
    )]
    NoAdaptation,
    /// A domain that had training trials, treated as if it had none.
    #[error(
        "{op}: domain \"{name}\" had {trials} training trials: use `transform`, which whitens \
         with their mean"
    )]
    KnownDomain {
        /// The operation.
        op: &'static str,
        /// Its name.
        name: String,
        /// How many training trials it had.
        trials: usize,
    },
    /// Domain numbers that do not mean what they meant at fit.
    #[error(
        "{op}: domain {domain} is \"{found}\", but at fit domain {domain} was \"{expected}\"; \
         keep one list of domain names for training and test (select trials from one set), the \
         numbers are also rows of the domain embedding"
    )]
    DomainName {
        /// The operation.
        op: &'static str,
        /// The index.
        domain: usize,
        /// Its name at fit.
        expected: String,
        /// Its name now.
        found: String,
    },
    /// A domain known at fit under another number.
    #[error(
        "{op}: domain \"{name}\" has number {found}, at fit it had {at_fit}; keep one list of \
         domain names for training and test (select trials from one set), the numbers are also \
         rows of the domain embedding"
    )]
    DomainIndex {
        /// The operation.
        op: &'static str,
        /// Its name.
        name: String,
        /// Its index at fit.
        at_fit: usize,
        /// Its index now.
        found: usize,
    },
    /// A domain index beyond those known at fit.
    #[error("{op}: there is no domain {domain}, the model knows {count}")]
    NoSuchDomain {
        /// The operation.
        op: &'static str,
        /// The index asked for.
        domain: usize,
        /// How many domains the model knows.
        count: usize,
    },
    /// Several domains where one is needed.
    #[error(
        "{op}: trial {trial} is of domain \"{found}\", the first one of \"{expected}\"; pass one \
         domain at a time"
    )]
    MixedDomains {
        /// The operation.
        op: &'static str,
        /// The first trial of another domain.
        trial: usize,
        /// The domain of the first trial.
        expected: String,
        /// The domain of this one.
        found: String,
    },
    /// Too few trials of a domain for its own mean without a prior.
    #[error(
        "{op}: κ = 0 needs at least {needed} trials, {found} are there: with few trials and no \
         prior the whitened trials are close to the identity and the signal is erased; use κ > 0 \
         (10 is the default)"
    )]
    TooFewForOwnMean {
        /// The operation.
        op: &'static str,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// The mean of a domain is not positive definite.
    #[error(
        "the reference mean of {of} cannot be inverted ({source}); use diagonal loading (relative \
         1e-8 is the default)"
    )]
    Reference {
        /// Whose mean.
        of: String,
        /// What the geometry says.
        source: GeometryError,
    },
    /// A matrix without a scale.
    #[error(
        "{op}: trial {trial} has trace {trace:e} and squared norm {square:e}: no scale brings it \
         close to the identity. A flat or detached recording causes this; reject the trial"
    )]
    NoScale {
        /// The operation.
        op: &'static str,
        /// Which trial.
        trial: usize,
        /// tr X after whitening.
        trace: f64,
        /// ‖X‖² after whitening.
        square: f64,
    },
    /// A value that is not a number or infinite.
    #[error("{op}: {what} of trial {trial} is {value}")]
    NotFinite {
        /// The operation.
        op: &'static str,
        /// Which value.
        what: &'static str,
        /// Which trial.
        trial: usize,
        /// The value.
        value: f64,
    },
    /// A number out of its range.
    #[error("{op}: {name} is {value}, expected {expected}")]
    Parameter {
        /// The operation.
        op: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A name that is not one of a list.
    #[error("{what} \"{found}\" is not known; one of: {known}")]
    UnknownName {
        /// What is named.
        what: &'static str,
        /// The name found.
        found: String,
        /// Those that exist.
        known: String,
    },
    /// Data from which nothing can be learnt of the kind asked for.
    #[error("{op}: {why}; {remedy}")]
    Impossible {
        /// The operation.
        op: &'static str,
        /// Why it cannot be done, with the numbers.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A name that no setting has, or a value outside of its type or range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Someone asked to stop.
    #[error("{op}: cancelled")]
    Cancelled {
        /// The operation.
        op: &'static str,
    },
    /// A model file that cannot be written or read.
    #[error("model file {}: {problem}", path.display())]
    File {
        /// Where it is.
        path: std::path::PathBuf,
        /// What is wrong.
        problem: crate::problem::FileProblem,
    },
    /// A set of trials that cannot be, or cannot be divided so.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Matrices that were made another way than those the model was trained on.
    #[error("{0}; prepare the trials as the model says (`stiefel inspect MODEL`)")]
    Contradiction(Contradiction),
    /// A domain without training trials, and nobody said what is done for one.
    #[error(
        "domain \"{name}\" had no training trials (the model knows {known}); say how its trials \
         are whitened (pooled, own-mean or causal) and, where the model has a domain embedding, \
         what stands in for it"
    )]
    NewDomain {
        /// Its name.
        name: String,
        /// The domains that had some.
        known: String,
    },
    /// The tape refused an operation, or met a value that is not finite.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// A map or a kernel on manifolds refused.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

impl ModelError {
    /// Names the matrix that cannot be, where there is one, by its place in the file that the
    /// trials were selected from; whoever met it may count within a part, or within a person.
    pub(crate) fn in_trials(self, parts: [&Trials; 2]) -> Self {
        let counts = matches!(
            self,
            Self::NoScale { .. }
                | Self::NotFinite { .. }
                | Self::Reference { .. }
                | Self::Geometry(GeometryError::NotSpd { .. } | GeometryError::Linalg(_))
        );
        if !counts {
            return self;
        }
        let all = parts
            .iter()
            .flat_map(|part| (0..part.len()).map(move |i| (*part, i)));
        match all.clone().find(|&(part, i)| is_impossible(part, i)) {
            Some((part, i)) => self.innermost().at_trial(part.place(i)),
            None => self,
        }
    }

    /// Takes the error of a matrix out of what it was met in.
    fn innermost(self) -> Self {
        match self {
            Self::Reference { source, .. } => Self::Geometry(source),
            other => other,
        }
    }

    /// The error of a single trial, told about trial `at` of a set.
    pub fn at_trial(mut self, at: usize) -> Self {
        match &mut self {
            Self::NoScale { trial, .. }
            | Self::NotFinite { trial, .. }
            | Self::Geometry(
                GeometryError::NotSpd { trial, .. } | GeometryError::Asymmetric { trial, .. },
            )
            | Self::Data(DataError::Asymmetric { trial, .. }) => *trial = at,
            Self::Geometry(GeometryError::Linalg(error)) => {
                *error = error.clone().offset(at);
            }
            _ => {}
        }
        self
    }
}

/// Returns an error unless as many things were found as expected.
pub(crate) fn check_count(
    op: &'static str,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(ModelError::Count {
        op,
        what,
        expected,
        found,
    })
}

/// Tells whether a matrix of a trial has a negative eigenvalue or no positive variance.
fn is_impossible(trials: &Trials, trial: usize) -> bool {
    let of_view = |view: MatView<'_, f64>| {
        let (n, x) = (view.rows(), view.matrix(trial));
        let found = check_spd(MatRef::new(n, n, x).view());
        let indefinite = matches!(
            found,
            Err(GeometryError::NotSpd {
                defect: SpdDefect::Indefinite,
                ..
            })
        );
        indefinite || (0..n).all(|c| x[c * n + c] <= 0.0)
    };
    trials.matrices().into_iter().any(of_view)
}

impl From<LinalgError> for ModelError {
    fn from(error: LinalgError) -> Self {
        Self::Geometry(error.into())
    }
}

impl crate::problem::FileProblem {
    /// The error about the file at `path`.
    pub(crate) fn at(self, path: &std::path::Path) -> ModelError {
        ModelError::File {
            path: path.to_path_buf(),
            problem: self,
        }
    }
}
