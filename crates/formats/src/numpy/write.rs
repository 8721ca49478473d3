//! Trials and epochs to `.npz`, with the keys that the reader and NumPy understand.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use stiefel_data::{Factor, Trials};

use super::dataset::Record;
use super::zip_writer::ZipWriter;
use crate::{Channel, EegError, Epochs, Result, TrialInfo};

/// Writes a dataset file: everything that is known of the trials, and how they were made.
///
/// ```
/// use stiefel_data::{Factor, Trials};
/// use stiefel_eeg::io::{read, write_trials};
/// use stiefel_linalg::MatBatch;
///
/// let classes = Factor::from_labels(["hand", "feet"]);
/// let trials = Trials::new(MatBatch::identity(2, 3), classes, Factor::from_labels(["S1", "S1"]))?
///     .with_channels(["C3", "Cz", "C4"].map(String::from).to_vec())?;
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

/// The same to anything that can be written and sought; `label` is the path in errors.
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
    let mut zip = ZipWriter::new(writer);
    let shape = match views {
        1 => format!("({}, {n}, {n})", trials.len()),
        _ => format!("({}, {views}, {n}, {n})", trials.len()),
    };
    let matrices =
        (0..trials.len()).flat_map(|i| (0..views).map(move |v| trials.view(v).matrix(i)));
    numbers(&mut zip, &shape, trials.len() * views * n * n, matrices)?;
    let labels = |f: &Factor| -> Vec<String> {
        let names = f.indices().iter().map(|&i| f.name(i).to_owned());
        names.collect()
    };
    strings(&mut zip, "y", &labels(trials.classes()))?;
    strings(&mut zip, "domain", &labels(trials.domains()))?;
    strings(&mut zip, "subject", &labels(&trials.subjects()))?;
    if let Some(sessions) = trials.sessions() {
        strings(&mut zip, "session", &labels(&sessions))?;
    }
    if let Some(runs) = trials.runs() {
        strings(&mut zip, "run", &labels(runs))?;
    }
    if let Some(channels) = trials.channels() {
        strings(&mut zip, "ch_names", channels)?;
    }
    if let Some(steps) = trials.preparation().steps() {
        rate(&mut zip, steps.rate)?;
    }
    let record = serde_json::to_vec(&Record::of(trials))?;
    let shape = format!("({},)", record.len());
    array(&mut zip, "stiefel", "|u1", &shape, record.len(), |out| {
        out.write_all(&record)
    })?;
    zip.finish()
}

/// Writes trials as [`write_trials`] does, `X` being (trials, channels, samples) in µV.
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
        let shape = (trials.len(), channels.len(), epochs.samples());
        let values = [epochs.data()].into_iter();
        numbers(&mut zip, &format!("{shape:?}"), epochs.data().len(), values)?;
        tables(&mut zip, trials, channels)?;
        rate(&mut zip, epochs.sampling_rate())?;
        zip.finish()
    };
    write().map_err(|source| EegError::Io {
        path: path.to_path_buf(),
        source,
    })
}

fn numbers<'v, W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    shape: &str,
    count: usize,
    parts: impl Iterator<Item = &'v [f64]>,
) -> std::io::Result<()> {
    array(zip, "X", "<f8", shape, count * 8, |out| {
        for values in parts.flat_map(|part| part.chunks(4096)) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

fn tables<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    trials: &[TrialInfo],
    channels: &[Channel],
) -> std::io::Result<()> {
    let all = |f: fn(&TrialInfo) -> &str| -> Vec<String> {
        trials.iter().map(|t| f(t).to_owned()).collect()
    };
    strings(zip, "y", &all(|t| &t.label))?;
    strings(zip, "subject", &all(|t| &t.domain))?;
    if trials.iter().any(|t| t.run.is_some()) {
        strings(zip, "run", &all(|t| t.run.as_deref().unwrap_or("")))?;
    }
    strings(zip, "ch_names", &crate::covariance::names(channels))
}

fn rate<W: Write + Seek>(zip: &mut ZipWriter<W>, rate: f64) -> std::io::Result<()> {
    array(zip, "sfreq", "<f8", "()", 8, |out| {
        out.write_all(&rate.to_le_bytes())
    })
}

fn strings<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    key: &str,
    texts: &[String],
) -> std::io::Result<()> {
    let longest = texts.iter().map(|t| t.chars().count()).max();
    let (count, width) = (texts.len(), longest.unwrap_or(0).max(1));
    let (descr, shape) = (format!("<U{width}"), format!("({count},)"));
    array(zip, key, &descr, &shape, 4 * width * count, |out| {
        for text in texts {
            let points = text.chars().map(u32::from).chain(std::iter::repeat(0));
            for point in points.take(width) {
                out.write_all(&point.to_le_bytes())?;
            }
        }
        Ok(())
    })
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
