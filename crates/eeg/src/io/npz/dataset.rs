//! From arrays to epochs or covariances.

use std::path::Path;

use crate::io::npy::{Array, Values};
use crate::io::units::{MICROVOLT, guess_kind};
use crate::io::{Content, CovarianceSet, ReadOptions};
use crate::{Channel, EegError, Epochs, Result, TrialInfo};

/// A matrix counts as symmetric when mirrored entries differ by less than this part of its largest:
/// single precision and a different order of summation stay well below.
const ASYMMETRY: f64 = 1e-4;

/// The arrays beside `X`.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) labels: Option<Array>,
    pub(crate) domain: Option<Array>,
    pub(crate) session: Option<Array>,
    pub(crate) run: Option<Array>,
    pub(crate) channel_names: Option<Array>,
    pub(crate) sampling_rate: Option<Array>,
}

fn invalid(path: &Path, what: impl std::fmt::Display, remedy: &str) -> EegError {
    EegError::Invalid {
        what: format!("{}: {what}", path.display()),
        remedy: remedy.into(),
    }
}

/// Joins the arrays of a file.
pub(crate) fn assemble(
    path: &Path,
    x: Array,
    tables: Tables,
    options: &ReadOptions,
) -> Result<Content> {
    const REMEDY: &str =
        "store X as (trials, channels, samples) or (trials, channels, channels) of numbers";
    let &[trials, rows, columns] = x.shape.as_slice() else {
        return Err(invalid(
            path,
            format!("X has the shape {:?}", x.shape),
            REMEDY,
        ));
    };
    let Values::Numbers(data) = x.values else {
        return Err(invalid(path, "X holds strings", REMEDY));
    };
    if data.is_empty() {
        return Err(invalid(
            path,
            format!("X is empty, its shape is {:?}", x.shape),
            REMEDY,
        ));
    }
    let trial_infos = trial_infos(
        path,
        trials,
        tables.labels,
        tables.domain,
        tables.session,
        tables.run,
    )?;
    let channels = channels(path, rows, tables.channel_names)?;
    let stored_rate = tables
        .sampling_rate
        .map(|a| sampling_rate(path, a))
        .transpose()?;
    let rate = stored_rate.or(options.sampling_rate);
    if rows == columns
        && data
            .chunks_exact(rows * columns)
            .all(|m| is_symmetric(m, rows))
    {
        return Ok(Content::Covariances(CovarianceSet::new(
            channels,
            rate,
            data,
            trial_infos,
        )?));
    }
    let rate = rate.ok_or_else(|| {
        invalid(
            path,
            "epochs need a sampling rate",
            "add `sfreq` to the .npz, or give the option `sampling_rate`",
        )
    })?;
    if !(rate.is_finite() && rate > 0.0) {
        return Err(invalid(
            path,
            format!("the sampling rate is {rate} Hz"),
            "give a positive, finite rate",
        ));
    }
    Ok(Content::Epochs(Epochs::new(
        channels,
        rate,
        columns,
        data,
        trial_infos,
    )?))
}

fn is_symmetric(matrix: &[f64], n: usize) -> bool {
    let largest = matrix.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    (0..n).all(|i| {
        (0..i).all(|j| (matrix[i * n + j] - matrix[j * n + i]).abs() <= ASYMMETRY * largest)
    })
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
        let Some(array) = array else { return Ok(None) };
        let values = array.labels();
        if values.len() == trials {
            return Ok(Some(values));
        }
        let what = format!("{key} has {} values for {trials} trials", values.len());
        Err(invalid(path, what, "give one value per trial"))
    };
    let blank = || vec![String::new(); trials];
    let labels = column(labels, "y")?.unwrap_or_else(blank);
    let domains = column(domain, "the domain")?.unwrap_or_else(blank);
    let runs = match (column(session, "session")?, column(run, "run")?) {
        (Some(sessions), Some(runs)) => Some(
            sessions
                .iter()
                .zip(runs)
                .map(|(s, r)| format!("{s}/{r}"))
                .collect(),
        ),
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
