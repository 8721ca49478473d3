//! Trials `(X_i^(v), y_i, d_i)`: covariances `X_i^(v)` (`n × n`, symmetric, f64; one per view), a
//! class, a domain, and where known subject, session, run and the names of the channels.
//!
//! Everything is checked once, here: sizes, ranges, finite values, symmetry, and that matrices can
//! be covariances. Raw covariances of re-referenced recordings lack full rank until they are
//! loaded, and are taken; a negative eigenvalue, a zero matrix and a rank below half the channels
//! are refused.

mod channels;
mod definite;
mod known;
mod together;
mod views;

pub use channels::channel_places;
pub use known::LabelOrder;

use crate::{DataError, Factor, Preparation, Quality, Reference, Result, check_distinct};
use known::Located;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use stiefel_linalg::{MatBatch, MatView, asymmetry, tolerance};

const OP: &str = "trials";

/// Where a set of trials comes from: what people want to know of it, and no computation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// What it is called.
    pub name: String,
    /// Trials left out for their amplitude, by domain.
    pub rejected: Vec<(String, usize)>,
    /// The licence of the recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// What readers left out or assumed, and signals that were resampled, one sentence each.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Who asks to be cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Amplitudes and findings of the signals, where somebody looked.
    #[serde(skip_serializing_if = "Quality::is_empty")]
    pub quality: Quality,
}

/// A set of trials of one montage.
///
/// ```
/// use stiefel_data::{Factor, Trials};
/// use stiefel_linalg::MatBatch;
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
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    // The broad one first. Shared: sets that differ only in what is known of their trials hold the
    // same matrices.
    views: Vec<Arc<MatBatch<f64>>>,
    classes: Factor,
    domains: Factor,
    subjects: Option<Factor>,
    sessions: Option<Factor>,
    runs: Option<Factor>,
    channels: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    // The broad view, where it was left out.
    broad: Option<Arc<MatBatch<f64>>>,
    located: Option<Located>,
    places: Places,
    preparation: Arc<Preparation>,
    origin: Arc<Origin>,
}

/// Places of trials in the set that they were selected from. They are no part of what a trial is:
/// sets that differ in them alone are equal.
#[derive(Debug, Clone, Default)]
struct Places(Option<Arc<Vec<usize>>>);

impl FromIterator<usize> for Places {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        Self(Some(Arc::new(places.into_iter().collect())))
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Trials {
    /// From covariances, classes and domains, one of each per trial.
    pub fn new(covariances: MatBatch<f64>, classes: Factor, domains: Factor) -> Result<Self> {
        check_covariances(&covariances)?;
        definite::check(&covariances, OP)?;
        let count = covariances.count();
        check_count("classes", count, classes.len())?;
        check_count("domains", count, domains.len())?;
        check_labels(&classes)?;
        Ok(Self {
            views: vec![Arc::new(covariances)],
            classes,
            domains,
            subjects: None,
            sessions: None,
            runs: None,
            channels: None,
            weights: None,
            broad: None,
            located: None,
            places: Places::default(),
            preparation: Arc::default(),
            origin: Arc::default(),
        })
    }

    /// Adds the subject of each trial. Without, it is read off the domain ([`subject_session`]).
    pub fn with_subjects(mut self, subjects: Factor) -> Result<Self> {
        check_count("subjects", self.len(), subjects.len())?;
        self.subjects = Some(subjects);
        Ok(self)
    }

    /// Adds the session of each trial. Without, it is read off the domain, or off the run.
    pub fn with_sessions(mut self, sessions: Factor) -> Result<Self> {
        check_count("sessions", self.len(), sessions.len())?;
        self.sessions = Some(sessions);
        Ok(self)
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
        check_labels(&classes)?;
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
        let wrong = |value, expected| DataError::Parameter {
            op: OP,
            name: "the weight of a trial",
            value,
            expected,
        };
        if let Some(&weight) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(wrong(weight, "a finite number, zero or more"));
        }
        if !weights.is_empty() && weights.iter().all(|w| *w == 0.0) {
            return Err(wrong(0.0, "not zero for every trial"));
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Says how the covariances were made.
    pub fn with_preparation(mut self, preparation: Preparation) -> Self {
        self.preparation = Arc::new(preparation);
        self
    }

    /// Says where the trials come from.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Arc::new(origin);
        self
    }

    /// How many trials.
    pub fn len(&self) -> usize {
        self.covariances().count()
    }

    /// Whether there is no trial.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many channels.
    pub fn channels_count(&self) -> usize {
        self.covariances().rows()
    }

    /// The covariances of the broad view, `count × n × n`.
    pub fn covariances(&self) -> &MatBatch<f64> {
        &self.views[0]
    }

    /// Returns the numerical rank of the broad covariance of each trial.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let average_referenced = vec![2., -1., -1., -1., 2., -1., -1., -1., 2.];
    /// let x = MatBatch::from_vec(1, 3, 3, average_referenced)?;
    /// let one = || Factor::from_labels(["a"]);
    /// assert_eq!(Trials::new(x, one(), one())?.ranks()?, [2]);
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn ranks(&self) -> Result<Vec<usize>> {
        definite::ranks(self.covariances())
    }

    /// The class of each trial.
    pub fn classes(&self) -> &Factor {
        &self.classes
    }

    /// The domain of each trial.
    pub fn domains(&self) -> &Factor {
        &self.domains
    }

    /// The subject of each trial: as given, or as the domain's name says.
    pub fn subjects(&self) -> Factor {
        let of_domain = || Factor::from_labels(self.domain_names().map(|d| subject_session(d).0));
        self.subjects.clone().unwrap_or_else(of_domain)
    }

    /// The session of each trial: as given, or as the names of all domains (`S03-2`) or runs
    /// (`2/5`) say; none where they do not.
    pub fn sessions(&self) -> Option<Factor> {
        if self.sessions.is_some() || self.is_empty() {
            return self.sessions.clone();
        }
        let of_run = |i: usize| -> Option<&str> {
            let runs = self.runs.as_ref()?;
            Some(runs.name(runs.indices()[i]).split_once('/')?.0)
        };
        let each: Option<Vec<&str>> = (self.domain_names().enumerate())
            .map(|(i, d)| subject_session(d).1.or_else(|| of_run(i)))
            .collect();
        each.map(Factor::from_labels)
    }

    fn domain_names(&self) -> impl Iterator<Item = &str> {
        let domains = &self.domains;
        domains.indices().iter().map(|&d| domains.name(d))
    }

    /// The subject of each domain, as an index into the names of [`subjects`](Self::subjects).
    pub fn subject_of_domain(&self) -> Vec<usize> {
        let subjects = self.subjects();
        let mut of = vec![0; self.domains.names().len()];
        for (&d, &s) in self.domains.indices().iter().zip(subjects.indices()) {
            of[d] = s;
        }
        of
    }

    /// The run of each trial, where known.
    pub fn runs(&self) -> Option<&Factor> {
        self.runs.as_ref()
    }

    /// The names of the channels, where known.
    pub fn channels(&self) -> Option<&[String]> {
        self.channels.as_deref()
    }

    /// The names of the channels, or their numbers counted from 1.
    pub fn channel_names(&self) -> Vec<String> {
        match &self.channels {
            Some(names) => names.clone(),
            None => (1..=self.channels_count()).map(|c| c.to_string()).collect(),
        }
    }

    /// The weights of the trials, where they differ.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How the covariances were made.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Where the trials come from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the place of a trial in the set that this one was selected from.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let one = || Factor::from_labels(["a", "a", "a"]);
    /// let trials = Trials::new(MatBatch::identity(3, 2), one(), one())?;
    /// assert_eq!(trials.select(&[2, 1])?.select(&[0])?.place(0), 2);
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn place(&self, trial: usize) -> usize {
        let places = self.places.0.as_ref();
        places.and_then(|p| p.get(trial).copied()).unwrap_or(trial)
    }

    /// Places of the trials of a domain.
    pub fn of_domain(&self, domain: usize) -> Vec<usize> {
        let domains = self.domains.indices();
        (0..self.len()).filter(|&i| domains[i] == domain).collect()
    }

    /// The trials at these places, in this order; lists of names stay whole.
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        let count = self.len();
        if let Some(&trial) = indices.iter().find(|&&i| i >= count) {
            return Err(DataError::NoSuchTrial {
                op: "selection of trials",
                trial,
                count,
            });
        }
        let of = |factor: &Option<Factor>| factor.as_ref().map(|f| f.select(indices));
        Ok(Self {
            views: (self.views.iter())
                .map(|view| Arc::new(view.select(indices)))
                .collect(),
            classes: self.classes.select(indices),
            domains: self.domains.select(indices),
            subjects: of(&self.subjects),
            sessions: of(&self.sessions),
            runs: of(&self.runs),
            channels: self.channels.clone(),
            weights: (self.weights.as_ref()).map(|w| indices.iter().map(|&i| w[i]).collect()),
            broad: (self.broad.as_ref()).map(|view| Arc::new(view.select(indices))),
            located: (self.located.as_ref()).map(|located| located.select(indices)),
            places: indices.iter().map(|&i| self.place(i)).collect(),
            preparation: Arc::clone(&self.preparation),
            origin: Arc::clone(&self.origin),
        })
    }

    /// The trials at these places with the names that occur among them alone, in order of first
    /// appearance: a set of its own. Of the trials that were left out it counts those of its
    /// domains.
    pub fn keep(&self, indices: &[usize]) -> Result<Self> {
        let mut part = self.select(indices)?;
        let again = |f: &Factor| Factor::from_labels(f.indices().iter().map(|&i| f.name(i)));
        part.classes = again(&part.classes);
        part.domains = again(&part.domains);
        for factor in [&mut part.subjects, &mut part.sessions, &mut part.runs] {
            *factor = factor.as_ref().map(again);
        }
        let domains = part.domains.names();
        let origin = Arc::make_mut(&mut part.origin);
        origin
            .rejected
            .retain(|(domain, _)| domains.contains(domain));
        origin.quality = origin.quality.of(domains, &origin.quality.electrodes);
        Ok(part)
    }

    /// The rows and columns of these channels, in this order, in every view.
    pub fn pick(&self, at: &[usize]) -> Result<Self> {
        let n = self.channels_count();
        if let Some(&channel) = at.iter().find(|&&c| c >= n) {
            return Err(DataError::Impossible {
                op: "selection of channels",
                why: format!("there is no channel {channel}, there are {n}"),
                remedy: "channels are counted from 0",
            });
        }
        let part = |x: &Arc<MatBatch<f64>>| {
            let pick = |i: usize, r: usize, c: usize| x.get(i, at[r], at[c]);
            Arc::new(MatBatch::from_fn(x.count(), at.len(), at.len(), pick))
        };
        let names: Vec<String> = {
            let all = self.channel_names();
            at.iter().map(|&c| all[c].clone()).collect()
        };
        check_distinct("channels", &names)?;
        let preparation = match &*self.preparation {
            Preparation::Known(made) => {
                let mut made = made.clone();
                // The average stays that of the channels it was taken over.
                if made.recipe.reference == Reference::Average && names.len() < n {
                    made.recipe.reference = Reference::Channels(self.channel_names());
                }
                made.recipe.channels = Some(names.clone());
                Arc::new(Preparation::Known(made))
            }
            Preparation::Elsewhere(made) => {
                let mut made = made.clone();
                if made.reference == Reference::Average.to_string() && names.len() < n {
                    made.reference = Reference::Channels(self.channel_names()).to_string();
                }
                Arc::new(Preparation::Elsewhere(made))
            }
            Preparation::Unknown => Arc::clone(&self.preparation),
        };
        let mut origin = Arc::clone(&self.origin);
        if !origin.quality.is_empty() {
            let quality = origin.quality.of(self.domains.names(), &names);
            Arc::make_mut(&mut origin).quality = quality;
        }
        Ok(Self {
            views: self.views.iter().map(part).collect(),
            broad: self.broad.as_ref().map(part),
            channels: Some(names),
            preparation,
            origin,
            ..self.clone()
        })
    }

    /// Both sets, one after the other. They must be parts of one set: the same channels and the
    /// same lists of names.
    pub fn joined(&self, other: &Self) -> Result<Self> {
        let names = |f: &Option<Factor>| f.as_ref().map(|f| f.names().to_vec());
        let same = self.channels_count() == other.channels_count()
            && self.views() == other.views()
            && self.channels == other.channels
            && self.classes.names() == other.classes.names()
            && self.domains.names() == other.domains.names()
            && names(&self.runs) == names(&other.runs)
            && self.preparation == other.preparation;
        if !same {
            return Err(DataError::Impossible {
                op: OP,
                why: "two sets with different channels, classes, domains, runs or preparations \
                      cannot be joined"
                    .into(),
                remedy: "select both parts from one set of trials",
            });
        }
        let n = self.channels_count();
        let one = |(a, b): (&Arc<MatBatch<f64>>, &Arc<MatBatch<f64>>)| -> Result<Arc<_>> {
            let x = [a.data(), b.data()].concat();
            let count = self.len() + other.len();
            Ok(Arc::new(MatBatch::from_vec(count, n, n, x)?))
        };
        let views: Result<Vec<_>> = self.views.iter().zip(&other.views).map(one).collect();
        let broad = self.broad.as_ref().zip(other.broad.as_ref());
        let broad: Result<Option<_>> = broad.map(one).transpose();
        let join = |a: &Factor, b: &Factor| {
            Factor::new(
                "names",
                a.names().to_vec(),
                [a.indices(), b.indices()].concat(),
            )
        };
        let both = |a: &Option<Factor>, b: &Option<Factor>| match (a, b) {
            (Some(a), Some(b)) if a.names() == b.names() => join(a, b).map(Some),
            _ => Ok(None),
        };
        // A part without weights counts each trial once.
        let weighted = self.weights.is_some() || other.weights.is_some();
        let each = |part: &Self| match &part.weights {
            Some(weights) => weights.clone(),
            None => vec![1.0; part.len()],
        };
        Ok(Self {
            views: views?,
            weights: weighted.then(|| [each(self), each(other)].concat()),
            broad: broad?,
            located: (self.located.as_ref().zip(other.located.as_ref()))
                .map(|(one, other)| one.joined(other)),
            places: (0..self.len())
                .map(|i| self.place(i))
                .chain((0..other.len()).map(|i| other.place(i)))
                .collect(),
            classes: join(&self.classes, &other.classes)?,
            domains: join(&self.domains, &other.domains)?,
            subjects: both(&self.subjects, &other.subjects)?,
            sessions: both(&self.sessions, &other.sessions)?,
            runs: both(&self.runs, &other.runs)?,
            channels: self.channels.clone(),
            preparation: Arc::clone(&self.preparation),
            origin: Arc::clone(&self.origin),
        })
    }

    /// What is known of these trials, with other matrices in the place of all views: whitened ones,
    /// filtered ones. The names of the channels stay where the size does; how the new matrices
    /// were made is not known.
    pub fn with_covariances(&self, covariances: MatBatch<f64>) -> Result<Self> {
        check_covariances(&covariances)?;
        check_count("covariances", self.len(), covariances.count())?;
        let same_size = covariances.rows() == self.channels_count();
        Ok(Self {
            views: vec![Arc::new(covariances)],
            broad: None,
            channels: self.channels.clone().filter(|_| same_size),
            preparation: Arc::default(),
            ..self.clone()
        })
    }
}

/// Returns subject and session in the name of a domain: `S03-2` is session 2 of subject `S03`, and
/// `sub-ann-2` of `sub-ann`; another name without a digit before its last dash is a subject.
pub fn subject_session(domain: &str) -> (&str, Option<&str>) {
    match domain.rsplit_once('-') {
        Some((subject, session))
            if (subject.starts_with("sub-") || subject.bytes().any(|b| b.is_ascii_digit()))
                && !session.is_empty() =>
        {
            (subject, Some(session))
        }
        _ => (domain, None),
    }
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(DataError::Count {
        op: OP,
        what,
        expected,
        found,
    })
}

/// An error where a label is empty beside others: it says nothing of a trial. Trials without labels
/// have empty ones alone.
fn check_labels(classes: &Factor) -> Result<()> {
    let is_empty = |i: &usize| classes.label(*i).trim().is_empty();
    let count = classes.len();
    let (Some(trial), Some(_)) = ((0..count).find(is_empty), (0..count).find(|i| !is_empty(i)))
    else {
        return Ok(());
    };
    Err(DataError::Impossible {
        op: OP,
        why: format!("the label of trial {trial} is empty"),
        remedy: "name its class, or leave the trial out",
    })
}

fn check_covariances(x: &MatBatch<f64>) -> Result<()> {
    let n = x.view().check_square(OP)?;
    if n == 0 {
        return Err(DataError::Count {
            op: OP,
            what: "channels",
            expected: 1,
            found: 0,
        });
    }
    x.view().check_finite(OP)?;
    check_symmetric(x.view(), 0)
}

/// An error unless matrices are symmetric to the rounding of double precision; the first is trial
/// `first`.
pub fn check_symmetric(x: MatView<'_, f64>, first: usize) -> Result<()> {
    let Some((i, row, col)) = asymmetry(x, tolerance::symmetry::<f64>()) else {
        return Ok(());
    };
    let (m, n) = (x.matrix(i), x.rows());
    Err(DataError::Asymmetric {
        op: OP,
        trial: first + i,
        row,
        col,
        lower: m[row * n + col],
        upper: m[col * n + row],
    })
}
