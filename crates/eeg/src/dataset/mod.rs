//! From arrays to epochs or trials.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stiefel_data::{Factor, Origin, Preparation, Trials};
use stiefel_linalg::{MatBatch, MatView, MatViewMut, asymmetry, symmetrise, tolerance};

use crate::covariance::{names, trials_of};
use crate::io::npy::{Array, Values};
use crate::io::units::{MICROVOLT, guess_kind};
use crate::io::{Content, ReadOptions};
use crate::{Channel, EegError, Epochs, Result, TrialInfo};

/// The version of the record in a dataset file.
const VERSION: u32 = 1;

/// What the arrays beside `X` hold.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) labels: Option<Array>,
    pub(crate) domain: Option<Array>,
    pub(crate) subject: Option<Array>,
    pub(crate) session: Option<Array>,
    pub(crate) run: Option<Array>,
    pub(crate) channel_names: Option<Array>,
    pub(crate) sampling_rate: Option<Array>,
    pub(crate) record: Option<Array>,
}

/// What a dataset file says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    preparation: Preparation,
    origin: Origin,
}

impl Record {
    pub(super) fn of(trials: &Trials) -> Self {
        Self {
            version: VERSION,
            preparation: trials.preparation().clone(),
            origin: trials.origin().clone(),
        }
    }

    fn read(path: &Path, array: &Array) -> Result<Self> {
        const REMEDY: &str = "prepare the dataset again, or remove the array";
        let Values::Numbers(numbers) = &array.values else {
            return Err(invalid(path, "the array stiefel holds strings", REMEDY));
        };
        let bytes: Vec<u8> = numbers.iter().map(|&b| b as u8).collect();
        let wrong = |e: &dyn std::fmt::Display| {
            invalid(
                path,
                format!("the array stiefel cannot be read: {e}"),
                REMEDY,
            )
        };
        let version = serde_json::from_slice::<serde_json::Value>(&bytes).map_err(|e| wrong(&e))?;
        if let Some(newer) = version["version"].as_u64().filter(|v| *v > VERSION.into()) {
            return Err(invalid(
                path,
                format!(
                    "its record is of version {newer}, this version of stiefel reads up to {VERSION}"
                ),
                "use a newer stiefel",
            ));
        }
        serde_json::from_slice(&bytes).map_err(|e| wrong(&e))
    }
}

fn invalid(path: &Path, what: impl std::fmt::Display, remedy: &str) -> EegError {
    EegError::Invalid {
        what: format!("{}: {what}", path.display()),
        remedy: remedy.into(),
    }
}

/// Trials from `X` and the arrays beside it.
pub(crate) fn assemble(
    path: &Path,
    x: Array,
    tables: Tables,
    options: &ReadOptions,
) -> Result<Content> {
    const REMEDY: &str = "store X as (trials, channels, samples), (trials, channels, channels) or (trials, views, channels, channels) of numbers";
    let (trials, views, rows, columns) = match *x.shape.as_slice() {
        [trials, rows, columns] => (trials, 1, rows, columns),
        [trials, views, rows, columns] if rows == columns => (trials, views, rows, columns),
        _ => {
            let what = format!("X has the shape {:?}", x.shape);
            return Err(invalid(path, what, REMEDY));
        }
    };
    let Values::Numbers(mut data) = x.values else {
        return Err(invalid(path, "X holds strings", REMEDY));
    };
    if data.is_empty() {
        let what = format!("X is empty, its shape is {:?}", x.shape);
        return Err(invalid(path, what, REMEDY));
    }
    let sessions = tables.session.clone();
    // In a file of ours a session is a session; elsewhere it is the run, where there is no other.
    let ours = tables.record.is_some() && tables.run.is_none();
    let session = tables.session.filter(|_| !ours);
    let info = trial_infos(
        path,
        trials,
        tables.labels,
        tables.domain,
        session,
        tables.run,
    )?;
    let channels = channels(path, rows, tables.channel_names)?;
    let rate = match tables.sampling_rate {
        Some(array) => Some(sampling_rate(path, array)?),
        None => options.sampling_rate,
    };
    let allowed = tolerance::symmetry_of(x.single);
    let square = MatView::new(trials * views, rows, columns, &data).ok();
    let square = square.filter(|_| rows == columns);
    let skew = square.map(|x| asymmetry(x, allowed));
    if skew == Some(None) {
        let x = MatViewMut::new(trials * views, rows, columns, &mut data);
        // Rounding of the type it was stored in goes.
        x.and_then(|mut x| symmetrise(&mut x))
            .map_err(stiefel_data::DataError::from)?;
        let record = match &tables.record {
            Some(array) => Some(Record::read(path, array)?),
            None => None,
        };
        let mut found = of_views(data, views, &names(&channels), &info)?;
        // What the names of domains and runs say already is not said twice.
        if let Some(subject) = tables.subject {
            let subjects = Factor::from_labels(column(path, subject, trials, "subject")?);
            if subjects != found.subjects() {
                found = found.with_subjects(subjects)?;
            }
        }
        if let Some(session) = sessions {
            let sessions = Factor::from_labels(column(path, session, trials, "session")?);
            if Some(&sessions) != found.sessions().as_ref() {
                found = found.with_sessions(sessions)?;
            }
        }
        if let Some(record) = record {
            found = found
                .with_preparation(record.preparation)
                .with_origin(record.origin);
        }
        return Ok(Content::Trials(found));
    }
    let Some(rate) = rate.filter(|_| views == 1) else {
        return Err(match skew {
            Some(skew) => invalid(
                path,
                format!(
                    "the square matrices of X are not covariances: {}entries differ from their mirror images by more than {allowed:.1e} of the largest entry, which is the most that rounding of {} explains",
                    skew.map_or(String::new(), |(i, row, col)| format!(
                        "in matrix {i}, at ({row}, {col}), "
                    )),
                    if x.single { "float32" } else { "float64" }
                ),
                "symmetrise with (X + Xᵀ)/2 where the difference is rounding; for epochs add `sfreq`",
            ),
            None => invalid(
                path,
                "epochs need a sampling rate",
                "add `sfreq` to the .npz, or give the option `sampling_rate`",
            ),
        });
    };
    if !(rate.is_finite() && rate > 0.0) {
        return Err(invalid(
            path,
            format!("the sampling rate is {rate} Hz"),
            "give a positive, finite rate",
        ));
    }
    Ok(Content::Epochs(Epochs::new(
        channels, rate, columns, data, info,
    )?))
}

/// `trials × views × n × n` values as trials.
fn of_views(
    data: Vec<f64>,
    views: usize,
    channels: &[String],
    info: &[TrialInfo],
) -> Result<Trials> {
    if views == 1 {
        return trials_of(data, channels, info);
    }
    let n = channels.len();
    let of = |view: usize| -> Vec<f64> {
        let matrices = data.chunks_exact(n * n).skip(view).step_by(views);
        matrices.flatten().copied().collect()
    };
    let mut trials = trials_of(of(0), channels, info)?;
    for view in 1..views {
        let x = MatBatch::from_vec(info.len(), n, n, of(view));
        trials = trials.with_view(x.map_err(stiefel_data::DataError::from)?)?;
    }
    Ok(trials)
}

fn column(path: &Path, array: Array, trials: usize, key: &str) -> Result<Vec<String>> {
    let values = array.labels();
    if values.len() == trials {
        return Ok(values);
    }
    let what = format!("{key} has {} values for {trials} trials", values.len());
    Err(invalid(path, what, "give one value per trial"))
}

fn trial_infos(
    path: &Path,
    trials: usize,
    labels: Option<Array>,
    domain: Option<Array>,
    session: Option<Array>,
    run: Option<Array>,
) -> Result<Vec<TrialInfo>> {
    let column = |array: Option<Array>, key: &str| -> Result<Option<Vec<String>>> {
        array
            .map(|array| column(path, array, trials, key))
            .transpose()
    };
    // A run that names its session already stays as it is.
    let joined = |(session, run): (&String, String)| match run.split_once('/') {
        Some((own, _)) if own == session => run,
        _ => format!("{session}/{run}"),
    };
    let blank = || vec![String::new(); trials];
    let labels = column(labels, "y")?.unwrap_or_else(blank);
    let domains = column(domain, "the domain")?.unwrap_or_else(blank);
    let runs = match (column(session, "session")?, column(run, "run")?) {
        (Some(sessions), Some(runs)) => Some(sessions.iter().zip(runs).map(joined).collect()),
        (sessions, runs) => runs.or(sessions),
    };
    let runs: Vec<String> = runs.unwrap_or_else(blank);
    let joined = labels.into_iter().zip(domains).zip(runs);
    Ok(joined
        .map(|((label, domain), run)| TrialInfo {
            label,
            domain,
            run: (!run.is_empty()).then_some(run),
        })
        .collect())
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
