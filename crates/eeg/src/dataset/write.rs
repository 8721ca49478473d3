//! Writing trials, with the keys that the reader and NumPy understand.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use stiefel_data::{Factor, Span, Trials};
use stiefel_formats::numpy::NpzWriter;

use super::record::Record;
use super::{IDENTITY, TRIANGLES};
use crate::{EegError, Result};

/// Writes a dataset file: everything that is known of the trials, and how they were made.
///
/// ```
/// use stiefel_data::{Factor, Trials};
/// use stiefel_eeg::io::{read, write_trials};
/// use stiefel_linalg::MatBatch;
///
/// let classes = Factor::from_labels(["hand", "feet"]);
/// let trials = Trials::new(
///     MatBatch::identity(2, 3),
///     classes,
///     Factor::from_labels(["S1", "S1"]),
/// )?
/// .with_channels(["C3", "Cz", "C4"].map(String::from).to_vec())?;
/// let path = std::env::temp_dir().join(format!("stiefel-doc-{}.npz", std::process::id()));
/// write_trials(&path, &trials)?;
/// assert_eq!(read(&path)?.into_trials()?, trials);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn write_trials(path: impl AsRef<Path>, trials: &Trials) -> Result<()> {
    let path = path.as_ref();
    let file = File::create(path).map_err(|source| EegError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    write_trials_to(BufWriter::new(file), path, trials)
}

/// Writes a dataset file to anything that can be written and sought; `label` is the path in errors.
pub fn write_trials_to(
    writer: impl Write + Seek,
    label: impl AsRef<Path>,
    trials: &Trials,
) -> Result<()> {
    write(writer, trials).map_err(|source| EegError::Io {
        path: label.as_ref().to_path_buf(),
        source,
    })
}

fn write(writer: impl Write + Seek, trials: &Trials) -> std::io::Result<()> {
    let (n, views) = (trials.channels_count(), trials.views());
    let mut file = NpzWriter::new(writer);
    let matrices =
        (0..trials.len()).flat_map(|i| (0..views).map(move |v| trials.view(v).matrix(i)));
    let rows = matrices.flat_map(|x| (0..n).map(move |row| &x[row * n + row..(row + 1) * n]));
    file.numbers(TRIANGLES, &[trials.len(), views, n * (n + 1) / 2], rows)?;
    let labels = |f: &Factor| -> Vec<String> {
        let names = f.indices().iter().map(|&i| f.name(i).to_owned());
        names.collect()
    };
    file.strings("y", &labels(trials.classes()))?;
    file.strings("domain", &labels(trials.domains()))?;
    file.strings("subject", &labels(&trials.subjects()))?;
    if let Some(sessions) = trials.sessions() {
        file.strings("session", &labels(&sessions))?;
    }
    if let Some(runs) = trials.runs() {
        file.strings("run", &labels(runs))?;
    }
    if let Some((_, spans)) = trials.recordings() {
        let rows: Vec<[f64; 4]> = spans.iter().map(numbers).collect();
        let rows = rows.iter().map(<[f64; 4]>::as_slice);
        file.numbers(IDENTITY, &[spans.len(), 4], rows)?;
    }
    if let Some(channels) = trials.channels() {
        file.strings("ch_names", channels)?;
    }
    if let Some(made) = trials.preparation().known() {
        file.numbers("sfreq", &[], [&[made.rate()][..]])?;
    }
    file.bytes("stiefel", &serde_json::to_vec(&Record::of(trials))?)?;
    file.finish()
}

/// The numbers of a span in a file, all far below 2⁵³.
fn numbers(span: &Span) -> [f64; 4] {
    let [from, to] = span.window;
    [
        span.recording as f64,
        span.onset as f64,
        from as f64,
        to as f64,
    ]
}
