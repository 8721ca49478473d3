//! Covariances and epochs to `.npz`, with the keys that the reader and NumPy understand.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use super::zip_writer::ZipWriter;
use crate::io::CovarianceSet;
use crate::{Channel, EegError, Epochs, Result, TrialInfo};

/// Writes `X` (float64), `y`, `subject` and `ch_names` (strings), `run` where a trial has one and
/// `sfreq` where known. The same set gives the same bytes.
///
/// ```
/// use stiefel_eeg::io::{CovarianceSet, read, write_covariances};
/// use stiefel_eeg::{Channel, ChannelKind, TrialInfo};
/// let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// let trial = TrialInfo { label: "feet".into(), domain: "7".into(), run: Some("2".into()) };
/// let set = CovarianceSet::new(vec![cz], Some(250.0), vec![4.0], vec![trial])?;
/// let path = std::env::temp_dir().join(format!("stiefel-doc-{}.npz", std::process::id()));
/// write_covariances(&path, &set)?;
/// assert_eq!(read(&path)?.into_covariances()?, set);
/// # let _ = std::fs::remove_file(path);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn write_covariances(path: impl AsRef<Path>, set: &CovarianceSet) -> Result<()> {
    let path = path.as_ref();
    let file = File::create(path).map_err(|source| EegError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    write_covariances_to(BufWriter::new(file), path, set)
}

/// Writes to any seekable stream; `label` stands for the path in errors.
pub fn write_covariances_to(
    writer: impl Write + Seek,
    label: impl AsRef<Path>,
    set: &CovarianceSet,
) -> Result<()> {
    write(writer, set).map_err(|source| EegError::Io {
        path: label.as_ref().to_path_buf(),
        source,
    })
}

fn write(writer: impl Write + Seek, set: &CovarianceSet) -> std::io::Result<()> {
    let n = set.dimension();
    let mut zip = ZipWriter::new(writer);
    numbers(&mut zip, [set.trials().len(), n, n], set.data())?;
    tables(&mut zip, set.trials(), set.channels(), set.sampling_rate())?;
    zip.finish()
}

/// Writes trials as [`write_covariances`] does, `X` being (trials, channels, samples) in µV.
///
/// ```
/// use stiefel_eeg::io::{read, write_epochs};
/// use stiefel_eeg::{Channel, ChannelKind, Epochs, TrialInfo};
/// let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// let trial = TrialInfo { label: "feet".into(), domain: "7".into(), run: None };
/// let epochs = Epochs::new(vec![cz], 250.0, 2, vec![4.0, 5.0], vec![trial])?;
/// let path = std::env::temp_dir().join(format!("stiefel-doc-epochs-{}.npz", std::process::id()));
/// write_epochs(&path, &epochs)?;
/// assert_eq!(read(&path)?.into_epochs()?, epochs);
/// # let _ = std::fs::remove_file(path);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn write_epochs(path: impl AsRef<Path>, epochs: &Epochs) -> Result<()> {
    let path = path.as_ref();
    let write = || -> std::io::Result<()> {
        let mut zip = ZipWriter::new(BufWriter::new(File::create(path)?));
        let (trials, channels) = (epochs.trials(), epochs.channels());
        let shape = [trials.len(), channels.len(), epochs.samples()];
        numbers(&mut zip, shape, epochs.data())?;
        tables(&mut zip, trials, channels, Some(epochs.sampling_rate()))?;
        zip.finish()
    };
    write().map_err(|source| EegError::Io {
        path: path.to_path_buf(),
        source,
    })
}

/// `X`.
fn numbers<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    shape: [usize; 3],
    data: &[f64],
) -> std::io::Result<()> {
    let [trials, rows, columns] = shape;
    let shape = format!("({trials}, {rows}, {columns})");
    array(zip, "X", "<f8", &shape, data.len() * 8, |out| {
        for values in data.chunks(4096) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

/// Everything beside `X`.
fn tables<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    trials: &[TrialInfo],
    channels: &[Channel],
    rate: Option<f64>,
) -> std::io::Result<()> {
    let infos = || trials.iter();
    strings(zip, "y", infos().map(|t| t.label.as_str()))?;
    strings(zip, "subject", infos().map(|t| t.domain.as_str()))?;
    if infos().any(|t| t.run.is_some()) {
        let runs = infos().map(|t| t.run.as_deref().unwrap_or(""));
        strings(zip, "run", runs)?;
    }
    strings(zip, "ch_names", channels.iter().map(|c| c.name.as_str()))?;
    if let Some(rate) = rate {
        array(zip, "sfreq", "<f8", "()", 8, |out| {
            out.write_all(&rate.to_le_bytes())
        })?;
    }
    Ok(())
}

/// Strings as UTF-32 of equal width.
fn strings<'t, W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    key: &str,
    texts: impl Iterator<Item = &'t str> + Clone,
) -> std::io::Result<()> {
    let count = texts.clone().count();
    let width = texts
        .clone()
        .map(|t| t.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    array(
        zip,
        key,
        &format!("<U{width}"),
        &format!("({count},)"),
        4 * width * count,
        |out| {
            for text in texts {
                let padded = text
                    .chars()
                    .map(u32::from)
                    .chain(std::iter::repeat(0))
                    .take(width);
                for point in padded {
                    out.write_all(&point.to_le_bytes())?;
                }
            }
            Ok(())
        },
    )
}

/// One entry: the header padded to a multiple of 64 bytes, then the values.
fn array<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    key: &str,
    descr: &str,
    shape: &str,
    bytes: usize,
    values: impl FnOnce(&mut ZipWriter<W>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let total = (10 + length + bytes) as u64;
    zip.entry(&format!("{key}.npy"), total, |out| {
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(length as u16).to_le_bytes())?;
        out.write_all(format!("{dictionary:<width$}\n", width = length - 1).as_bytes())?;
        values(out)
    })
}
