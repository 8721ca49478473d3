//! A set of trials: `X` and the arrays beside it.

use std::path::{Path, PathBuf};

use super::array::{Array, Values};
use super::arrays::Arrays;
use crate::options::ReadOptions;
use crate::tolerance::symmetry;
use crate::units::{MICROVOLT, excerpt, guess_kind};
use crate::{Channel, Epochs, FormatError, Result, TrialInfo};

/// The names of arrays that are looked at.
const KEYS: [&str; 9] = [
    "X", "y", "domain", "groups", "subject", "session", "run", "ch_names", "sfreq",
];

/// The trials of a file by the keys of [`npz`](crate::npz), whatever `X` holds of each: a signal,
/// or one or several square matrices.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    /// The values of `X` in C order.
    pub values: Vec<f64>,
    /// Whether they were stored in single precision.
    pub single: bool,
    /// The number of matrices of each trial; 1 for signals.
    pub views: usize,
    /// The columns of each matrix, or the samples of each channel.
    pub columns: usize,
    /// One channel for each row of a trial.
    pub channels: Vec<Channel>,
    /// The classes, one for each trial; empty texts where the file has none.
    pub labels: Vec<String>,
    /// The domains, one for each trial; empty texts where the file has none.
    pub domains: Vec<String>,
    /// The sessions, one for each trial.
    pub sessions: Option<Vec<String>>,
    /// The runs, one for each trial.
    pub runs: Option<Vec<String>>,
    /// Samples per second, by the file or by the options.
    pub rate: Option<f64>,
}

impl Table {
    /// Reads `X` and what the keys beside it say of each trial. An array of another name is
    /// refused: under which name its values would count is not known.
    pub fn read(arrays: &mut Arrays<'_>, options: &ReadOptions) -> Result<Self> {
        Self::read_beside(arrays, options, None, &[])
    }

    /// Reads the keys beside `x`, which stands for `X`, in a file that may hold further arrays.
    pub fn read_beside(
        arrays: &mut Arrays<'_>,
        options: &ReadOptions,
        x: Option<Array>,
        further: &[&str],
    ) -> Result<Self> {
        let path = arrays.path().to_path_buf();
        let known = || KEYS.iter().chain(further);
        let name = |entry: &str| entry.strip_suffix(".npy").unwrap_or(entry).to_owned();
        let is_known = |entry: &&str| known().any(|key| name(entry) == *key);
        let x = match x {
            Some(x) => Some(x),
            None => arrays.array("X")?,
        };
        if let Some(unknown) = arrays
            .entries()
            .find(|e| !is_known(e))
            .filter(|_| x.is_some())
        {
            return Err(invalid(
                &path,
                format!(
                    "it holds an array {}, which has no meaning here",
                    excerpt(name(unknown))
                ),
                &format!(
                    "leave it out, or give it one of the names {}",
                    KEYS.join(", ")
                ),
            ));
        }
        let Some(x) = x else {
            let found: Vec<_> = arrays.entries().take(8).map(excerpt).collect();
            return Err(FormatError::Unsupported {
                path,
                kind: format!("zip without the array X (it has {})", found.join(", ")),
                remedy: "save trials with np.savez(path, X=X, y=y, subject=subject, \
                         ch_names=names, sfreq=rate)"
                    .into(),
            });
        };
        let domains = arrays.first(&["domain", "groups", "subject"])?;
        let labels = arrays.array("y")?;
        let (sessions, runs) = (arrays.array("session")?, arrays.array("run")?);
        let (names, rate) = (arrays.array("ch_names")?, arrays.array("sfreq")?);
        let ([trials, views, rows, columns], values) = numbers(&path, &x.shape, x.values)?;
        let given = |array: Option<Array>, key: &str| {
            array
                .map(|array| of_each(&path, trials, array, key))
                .transpose()
        };
        let blank = || vec![String::new(); trials];
        Ok(Self {
            values,
            single: x.single,
            views,
            columns,
            labels: given(labels, "y")?.unwrap_or_else(blank),
            domains: given(domains, "the domain")?.unwrap_or_else(blank),
            sessions: given(sessions, "session")?,
            runs: given(runs, "run")?,
            channels: channels(&path, rows, names)?,
            rate: match rate {
                Some(array) => Some(sampling_rate(&path, array)?),
                None => options.sampling_rate,
            },
            path,
        })
    }

    /// Returns an array as one text for each trial, or an error that says how many it has.
    pub fn column(&self, array: Array, key: &str) -> Result<Vec<String>> {
        of_each(&self.path, self.labels.len(), array, key)
    }

    /// Returns what is known of each trial: its run is `session/run` where both are there, and the
    /// session where there is no run.
    pub fn infos(&self) -> Vec<TrialInfo> {
        // A run that names its session already stays as it is.
        let joined = |(session, run): (&String, &String)| match run.split_once('/') {
            Some((own, _)) if own == session => run.clone(),
            _ => format!("{session}/{run}"),
        };
        let runs: Option<Vec<String>> = match (&self.sessions, &self.runs) {
            (Some(sessions), Some(runs)) => Some(sessions.iter().zip(runs).map(joined).collect()),
            (sessions, runs) => runs.as_ref().or(sessions.as_ref()).cloned(),
        };
        let run = |trial: usize| runs.as_ref().map(|runs| runs[trial].clone());
        let pairs = self.labels.iter().zip(&self.domains).enumerate();
        pairs
            .map(|(trial, (label, domain))| TrialInfo {
                label: label.clone(),
                domain: domain.clone(),
                run: run(trial).filter(|run| !run.is_empty()),
            })
            .collect()
    }

    /// Returns the signal of each trial. Refuses matrices: several of each trial, or square ones
    /// that are all symmetric to the rounding of the type they were stored in.
    pub fn into_epochs(self) -> Result<Epochs> {
        if self.views > 1 || self.is_symmetric() {
            return Err(invalid(
                &self.path,
                format!(
                    "X holds square matrices ({0} × {0}), not a signal",
                    self.columns
                ),
                "store X as (trials, channels, samples), or read it as covariances",
            ));
        }
        let Some(rate) = self.rate else {
            return Err(invalid(
                &self.path,
                "epochs need a sampling rate",
                "add `sfreq` to the .npz, or give the option `sampling_rate`",
            ));
        };
        if !(rate.is_finite() && rate > 0.0) {
            return Err(invalid(
                &self.path,
                format!("the sampling rate is {rate} Hz"),
                "give a positive, finite rate",
            ));
        }
        let infos = self.infos();
        Epochs::new(self.channels, rate, self.columns, self.values, infos)
    }

    /// Tells whether every trial is a symmetric matrix.
    fn is_symmetric(&self) -> bool {
        let n = self.columns;
        let share = symmetry(self.single);
        let is_skew = |m: &[f64]| {
            let largest = m.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
            let apart = |r: usize, c: usize| (m[r * n + c] - m[c * n + r]).abs() > share * largest;
            (1..n).any(|r| (0..r).any(|c| apart(r, c)))
        };
        self.channels.len() == n && !self.values.chunks_exact(n * n).any(is_skew)
    }
}

/// Checks the shape of `X`: trials, views, rows and columns.
fn numbers(path: &Path, shape: &[usize], values: Values) -> Result<([usize; 4], Vec<f64>)> {
    const REMEDY: &str = "store X as (trials, channels, samples), (trials, channels, channels) or \
                          (trials, views, channels, channels) of numbers";
    let sizes = match *shape {
        [trials, rows, columns] => [trials, 1, rows, columns],
        [trials, views, rows, columns] if rows == columns => [trials, views, rows, columns],
        _ => {
            let what = format!("X has the shape {shape:?}");
            return Err(invalid(path, what, REMEDY));
        }
    };
    let Values::Numbers(values) = values else {
        return Err(invalid(path, "X holds strings", REMEDY));
    };
    if values.is_empty() {
        let what = format!("X is empty, its shape is {shape:?}");
        return Err(invalid(path, what, REMEDY));
    }
    Ok((sizes, values))
}

fn invalid(path: &Path, what: impl std::fmt::Display, remedy: &str) -> FormatError {
    FormatError::invalid(format!("{}: {what}", path.display()), remedy)
}

fn of_each(path: &Path, trials: usize, array: Array, key: &str) -> Result<Vec<String>> {
    let values = array.labels();
    if values.len() == trials {
        return Ok(values);
    }
    let what = format!("{key} has {} values for {trials} trials", values.len());
    Err(invalid(path, what, "give one value per trial"))
}

fn channels(path: &Path, count: usize, names: Option<Array>) -> Result<Vec<Channel>> {
    let names = match names {
        Some(names) => names.labels(),
        None => (1..=count).map(|i| format!("EEG{i}")).collect(),
    };
    if names.len() != count {
        let what = format!("ch_names has {} names for {count} channels", names.len());
        return Err(invalid(path, what, "give one name per channel"));
    }
    let channel = |name: String| Channel {
        kind: guess_kind(&name, MICROVOLT),
        unit: MICROVOLT.into(),
        name,
    };
    Ok(names.into_iter().map(channel).collect())
}

fn sampling_rate(path: &Path, array: Array) -> Result<f64> {
    match array.values {
        Values::Numbers(values)
            if values.len() == 1 && values[0].is_finite() && values[0] > 0.0 =>
        {
            Ok(values[0])
        }
        other => {
            let first = match &other {
                Values::Numbers(values) => {
                    format!("{} numbers, {:?} first", values.len(), values.first())
                }
                Values::Text(values) => format!("{} strings", values.len()),
            };
            Err(invalid(
                path,
                format!("sfreq is {first}"),
                "store one positive number",
            ))
        }
    }
}
