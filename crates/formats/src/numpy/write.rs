//! Arrays and epochs to `.npz`, with the keys that the reader and NumPy understand.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use crate::zip::ZipWriter;
use crate::{Epochs, FormatError, Result, TrialInfo};

/// Writes epochs to a `.npz`: `X` as (trials, channels, samples) in µV, and what is known of them.
///
/// ```
/// use stiefel_formats::{Channel, ChannelKind, Epochs, TrialInfo};
/// use stiefel_formats::{read, write_epochs};
/// let cz = Channel {
///     name: "Cz".into(),
///     kind: ChannelKind::Eeg,
///     unit: "µV".into(),
/// };
/// let trial = TrialInfo {
///     label: "feet".into(),
///     domain: "7".into(),
///     run: None,
/// };
/// let epochs = Epochs::new(vec![cz], 250.0, 2, vec![4.0, 5.0], vec![trial])?;
/// let path =
///     std::env::temp_dir().join(format!("stiefel-doc-epochs-{}.npz", std::process::id()));
/// write_epochs(&path, &epochs)?;
/// assert_eq!(read(&path)?.into_epochs()?, epochs);
/// # let _ = std::fs::remove_file(path);
/// # Ok::<(), stiefel_formats::FormatError>(())
/// ```
pub fn write_epochs(path: impl AsRef<Path>, epochs: &Epochs) -> Result<()> {
    let path = path.as_ref();
    let write = || -> std::io::Result<()> {
        let mut file = NpzWriter::new(BufWriter::new(File::create(path)?));
        let (trials, channels) = (epochs.trials(), epochs.channels());
        let shape = [trials.len(), channels.len(), epochs.samples()];
        file.numbers("X", &shape, [epochs.data()])?;
        let of_each = |f: fn(&TrialInfo) -> &str| -> Vec<&str> { trials.iter().map(f).collect() };
        file.strings("y", &of_each(|t| &t.label))?;
        file.strings("subject", &of_each(|t| &t.domain))?;
        if trials.iter().any(|t| t.run.is_some()) {
            file.strings("run", &of_each(|t| t.run.as_deref().unwrap_or("")))?;
        }
        let names: Vec<&str> = channels.iter().map(|c| &c.name[..]).collect();
        file.strings("ch_names", &names)?;
        file.numbers("sfreq", &[], [&[epochs.sampling_rate()][..]])?;
        file.finish()
    };
    write().map_err(|source| FormatError::Io {
        path: path.to_path_buf(),
        source,
    })
}

/// Writes a `.npz` of stored arrays, one after the other.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
}

impl<W: Write + Seek> std::fmt::Debug for NpzWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NpzWriter").finish_non_exhaustive()
    }
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Starts a file.
    pub fn new(out: W) -> Self {
        Self {
            zip: ZipWriter::new(out),
        }
    }

    /// Writes an array of numbers in C order, its values in parts that follow each other.
    ///
    /// # Panics
    /// With debug assertions, if the parts do not have as many values as the shape says.
    pub fn numbers<'v>(
        &mut self,
        key: &str,
        shape: &[usize],
        parts: impl IntoIterator<Item = &'v [f64]>,
    ) -> std::io::Result<()> {
        let count: usize = shape.iter().product();
        self.array(key, "<f8", shape, count * 8, |out| {
            for values in parts.into_iter().flat_map(|part| part.chunks(4096)) {
                let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
            Ok(())
        })
    }

    /// Writes a list of texts.
    pub fn strings(&mut self, key: &str, texts: &[impl AsRef<str>]) -> std::io::Result<()> {
        let texts = || texts.iter().map(AsRef::as_ref);
        let longest = texts().map(|t: &str| t.chars().count()).max();
        let (count, width) = (texts().len(), longest.unwrap_or(0).max(1));
        let bytes = 4 * width * count;
        self.array(key, &format!("<U{width}"), &[count], bytes, |out| {
            for text in texts() {
                let points = text.chars().map(u32::from).chain(std::iter::repeat(0));
                for point in points.take(width) {
                    out.write_all(&point.to_le_bytes())?;
                }
            }
            Ok(())
        })
    }

    /// Writes a list of bytes.
    pub fn bytes(&mut self, key: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.array(key, "|u1", &[bytes.len()], bytes.len(), |out| {
            out.write_all(bytes)
        })
    }

    /// Writes the directory of the file and flushes.
    pub fn finish(self) -> std::io::Result<()> {
        self.zip.finish()
    }

    /// Writes one entry: the header padded to a multiple of 64 bytes, then the values.
    fn array(
        &mut self,
        key: &str,
        descr: &str,
        shape: &[usize],
        bytes: usize,
        values: impl FnOnce(&mut ZipWriter<W>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let shape = tuple(shape);
        let dictionary =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
        let total = (10 + length + bytes) as u64;
        self.zip.entry(&format!("{key}.npy"), total, |out| {
            out.write_all(b"\x93NUMPY\x01\x00")?;
            out.write_all(&(length as u16).to_le_bytes())?;
            out.write_all(format!("{dictionary:<width$}\n", width = length - 1).as_bytes())?;
            values(out)
        })
    }
}

/// Writes a shape as Python writes a tuple: `()`, `(7,)`, `(3, 4)`.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        several => {
            let sizes: Vec<String> = several.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}
