//! Reading: covariances where a file of arrays holds them, otherwise what the readers find.

use std::path::Path;

use stiefel_data::{DataError, Factor, Span, Trials};
use stiefel_formats::numpy::{Array, Arrays, Table, Values};
use stiefel_formats::{Format, ReadOptions, Source, check_options, detect, memory, npy, npz};
use stiefel_linalg::{MatBatch, MatView, MatViewMut, asymmetry, symmetrise, tolerance};

use super::content::Content;
use super::record::Record;
use super::{IDENTITY, TRIANGLES, invalid};
use crate::covariance::{names, trials_of};
use crate::{Result, TrialInfo};

/// Reads any file, with default options.
///
/// ```no_run
/// use stiefel_eeg::{Content, read};
/// match read("S001R04.edf")? {
///     Content::Recordings(runs) => println!("{} recordings", runs.len()),
///     Content::Epochs(epochs) => println!("{} trials", epochs.trials().len()),
///     Content::Trials(trials) => println!("{} covariances", trials.len()),
/// }
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Content> {
    read_from(Source::open(path)?)
}

/// Reads any source, with default options.
pub fn read_from(source: Source<'_>) -> Result<Content> {
    read_with(source, &ReadOptions::default())
}

/// Reads any source, as [`stiefel_formats::read_with`] does.
pub fn read_with(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    let mut source = source.unpacked(options)?;
    match of_arrays(&mut source)? {
        Some(format) => {
            check_options(options, format)?;
            of_file(source, options)
        }
        None => Ok(stiefel_formats::read_with(source, options)?.into()),
    }
}

/// Reads one of several files, as [`stiefel_formats::read_among`] does.
pub fn read_among(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    let mut source = source.unpacked(options)?;
    match of_arrays(&mut source)? {
        Some(_) => of_file(source, options),
        None => Ok(stiefel_formats::read_among(source, options)?.into()),
    }
}

/// Tells whether a file holds NumPy's arrays, and in which format.
fn of_arrays(source: &mut Source<'_>) -> Result<Option<Format>> {
    let format = detect(source)?;
    Ok(Some(format).filter(|format| [npy::FORMAT, npz::FORMAT].contains(format)))
}

fn of_file(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    let mut arrays = Arrays::open(source, options)?;
    let path = arrays.path().to_path_buf();
    let triangles = match arrays.array(TRIANGLES)? {
        Some(array) => Some(squares(&path, array)?),
        None => None,
    };
    let whole = triangles.is_none();
    let mut table = Table::read_beside(
        &mut arrays,
        options,
        triangles,
        &[TRIANGLES, IDENTITY, "stiefel"],
    )?;
    let (count, n) = (table.labels.len() * table.views, table.columns);
    if table.channels.len() != n {
        return Ok(Content::Epochs(table.into_epochs()?));
    }
    if !whole {
        return trials(&path, &mut arrays, table).map(Content::Trials);
    }
    let allowed = tolerance::symmetry_of(table.single);
    let x = MatView::new(count, n, n, &table.values).map_err(DataError::from)?;
    if let Some((i, row, col)) = asymmetry(x, allowed) {
        if table.views == 1 && table.rate.is_some() {
            return Ok(Content::Epochs(table.into_epochs()?));
        }
        let what = format!(
            "the square matrices of X are not covariances: in matrix {i}, at ({row}, {col}), \
             entries differ from their mirror images by more than {allowed:.1e} of the largest \
             entry, which is the most that rounding of {} explains",
            if table.single { "float32" } else { "float64" }
        );
        return Err(invalid(
            &path,
            what,
            "symmetrise with (X + Xᵀ)/2 where the difference is rounding; for epochs add `sfreq`",
        ));
    }
    // Rounding of the type it was stored in goes.
    let mut x = MatViewMut::new(count, n, n, &mut table.values).map_err(DataError::from)?;
    symmetrise(&mut x).map_err(DataError::from)?;
    trials(&path, &mut arrays, table).map(Content::Trials)
}

/// Expands upper triangles, `trials × views × n(n+1)/2` row by row, to square matrices.
fn squares(path: &Path, array: Array) -> Result<Array> {
    const REMEDY: &str = "store (trials, views, n(n+1)/2) numbers, or square matrices as X";
    let Values::Numbers(values) = array.values else {
        return Err(invalid(path, "the triangles are no numbers", REMEDY));
    };
    let sizes = |&[trials, views, entries]: &[usize; 3]| {
        let n = (((8 * entries + 1) as f64).sqrt() as usize).saturating_sub(1) / 2;
        (entries > 0 && n * (n + 1) / 2 == entries).then_some((trials, views, entries, n))
    };
    let shape = array
        .shape
        .first_chunk::<3>()
        .filter(|_| array.shape.len() == 3);
    let Some((trials, views, entries, n)) = shape.and_then(sizes) else {
        let what = format!(
            "triangles of shape {:?} are not those of square matrices",
            array.shape
        );
        return Err(invalid(path, what, REMEDY));
    };
    let mut full = memory::zeros(trials * views, n * n, path)?;
    for (square, triangle) in full
        .chunks_exact_mut(n * n)
        .zip(values.chunks_exact(entries))
    {
        let mut rest = triangle.iter();
        for row in 0..n {
            for (col, value) in (row..n).zip(&mut rest) {
                (square[row * n + col], square[col * n + row]) = (*value, *value);
            }
        }
    }
    Ok(Array {
        shape: match views {
            1 => vec![trials, n, n],
            _ => vec![trials, views, n, n],
        },
        values: Values::Numbers(full),
        ..array
    })
}

/// Gathers the trials of a file of covariances.
fn trials(path: &Path, arrays: &mut Arrays<'_>, mut table: Table) -> Result<Trials> {
    let record = match arrays.array("stiefel")? {
        Some(array) => Some(Record::read(path, &array)?),
        None => None,
    };
    let subjects = if arrays.has("domain") || arrays.has("groups") {
        arrays.array("subject")?
    } else {
        None
    };
    let subjects = subjects.map(|array| table.column(array, "subject"));
    let spans = match arrays.array(IDENTITY)? {
        Some(array) => Some(spans(path, &array)?),
        None => None,
    };
    let sessions = table.sessions.clone();
    // In a file of ours a session is a session; elsewhere it is the run, where there is no other.
    if record.is_some() && table.runs.is_none() {
        table.sessions = None;
    }
    let infos = table.infos();
    let mut found = of_views(table.values, table.views, &names(&table.channels), &infos)?;
    // What the names of domains and runs say already is not said twice.
    if let Some(subjects) = subjects {
        let subjects = Factor::from_labels(subjects?);
        if subjects != found.subjects() {
            found = found.with_subjects(subjects)?;
        }
    }
    if let Some(sessions) = sessions {
        let sessions = Factor::from_labels(sessions);
        if Some(&sessions) != found.sessions().as_ref() {
            found = found.with_sessions(sessions)?;
        }
    }
    let recordings = record.as_ref().map(|record| record.recordings.clone());
    if let Some((spans, recordings)) = spans.zip(recordings) {
        found = found.with_recordings(recordings, spans)?;
    }
    if let Some(record) = record {
        found = found
            .with_preparation(record.preparation)
            .with_origin(record.origin);
    }
    Ok(found)
}

/// Reads where trials lie.
fn spans(path: &Path, array: &Array) -> Result<Vec<Span>> {
    let wrong = || {
        let what = format!("the array {IDENTITY} does not say where trials lie");
        invalid(path, what, "prepare the dataset again, or remove the array")
    };
    let Values::Numbers(values) = &array.values else {
        return Err(wrong());
    };
    let (rows, []) = values.as_chunks::<4>() else {
        return Err(wrong());
    };
    let is_count = |x: f64| x.fract() == 0.0 && x.abs() < 2_f64.powi(53);
    let span = |row: &[f64; 4]| {
        let [recording, onset, from, to] = *row;
        let fits = row.iter().all(|&x| is_count(x)) && recording >= 0.0 && onset >= 0.0;
        (fits && array.shape.len() == 2).then_some(Span {
            recording: recording as usize,
            onset: onset as u64,
            window: [from as i64, to as i64],
        })
    };
    rows.iter()
        .map(span)
        .collect::<Option<_>>()
        .ok_or_else(wrong)
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
        trials = trials.with_view(x.map_err(DataError::from)?)?;
    }
    Ok(trials)
}
