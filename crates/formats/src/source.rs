//! Where a reader's bytes come from: a file, a slice, or any `Read + Seek`, with a name for errors.
//!
//! Every length that a file states is compared with what the source can still give **before**
//! memory is reserved for it, so a reader built on [`Source`] cannot be talked into a huge
//! allocation.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::open_regular;
use crate::{FormatError, Limits, Result, memory};

/// Bytes that are read ahead. Samples are read in large pieces past this buffer; a walk over
/// headers that lie far apart (FIF) reads so much at each.
const BUFFER: usize = 1 << 13;

/// What a reader needs of a stream.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// Opens a file: what a caller does who wants to see every byte that is read.
pub type Opener = Arc<dyn Fn(&Path) -> Result<Vec<u8>> + Send + Sync>;

/// Where the files live that a header names (BrainVision's `.eeg` and `.vmrk`).
pub(super) enum Siblings<'a> {
    /// In the folder of the file itself.
    Folder,
    /// There too, opened by somebody.
    Opened(Opener),
    /// In memory, by name.
    Memory(Vec<(String, &'a [u8])>),
}

/// A named, seekable stream of known length.
///
/// ```
/// use stiefel_formats::{Source, read_from};
/// let error = read_from(Source::from_bytes("empty.edf", b"")).unwrap_err();
/// assert!(error.to_string().starts_with("empty.edf"));
/// ```
pub struct Source<'a> {
    path: PathBuf,
    len: u64,
    position: u64,
    inner: Box<dyn ReadSeek + 'a>,
    siblings: Siblings<'a>,
    limits: Limits,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .field("len", &self.len)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Source<'static> {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let io = |source| FormatError::Io {
            path: path.to_path_buf(),
            source,
        };
        if path.is_dir() {
            return Err(FormatError::Invalid {
                what: format!("{} is a folder", path.display()),
                remedy: "name one recording inside it".into(),
            });
        }
        let file = open_regular(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        Ok(Self {
            path: path.to_path_buf(),
            len: meta.len(),
            position: 0,
            inner: Box::new(BufReader::with_capacity(BUFFER, file)),
            siblings: Siblings::Folder,
            limits: Limits::default(),
        })
    }
}

impl Source<'static> {
    /// Reads a file, and the files that its header names, as `opener` gives their bytes.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stiefel_formats::Source;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("stiefel-doc-opener-{}", std::process::id()));
    /// # std::fs::write(&path, b"0.5,1.5\n")?;
    /// let mut source = Source::open_by(&path, Arc::new(|path| {
    ///     println!("{} is read", path.display());
    ///     Ok(std::fs::read(path).unwrap_or_default())
    /// }))?;
    /// assert_eq!(source.head(3)?, b"0.5");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_by(path: impl AsRef<Path>, opener: Opener) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let bytes = opener(&path)?;
        Ok(Self::from_owned(path, bytes, Siblings::Opened(opener)))
    }
}

impl<'a> Source<'a> {
    /// Reads from memory; `label` stands for the path in errors.
    pub fn from_bytes(label: impl Into<PathBuf>, bytes: &'a [u8]) -> Self {
        Self {
            path: label.into(),
            len: bytes.len() as u64,
            position: 0,
            inner: Box::new(Cursor::new(bytes)),
            siblings: Siblings::Memory(Vec::new()),
            limits: Limits::default(),
        }
    }

    /// Reads from any seekable stream; `label` stands for the path in errors.
    pub fn from_reader(label: impl Into<PathBuf>, mut reader: impl ReadSeek + 'a) -> Result<Self> {
        let path = label.into();
        let ends = reader
            .seek(SeekFrom::End(0))
            .and_then(|len| reader.seek(SeekFrom::Start(0)).map(|_| len));
        match ends {
            Ok(len) => Ok(Self {
                path,
                len,
                position: 0,
                inner: Box::new(reader),
                siblings: Siblings::Memory(Vec::new()),
                limits: Limits::default(),
            }),
            Err(source) => Err(FormatError::Io { path, source }),
        }
    }

    /// Reads from bytes that were unpacked from the file `path`; files beside it are found where
    /// they were.
    pub(super) fn from_owned(path: PathBuf, bytes: Vec<u8>, siblings: Siblings<'a>) -> Self {
        Self {
            path,
            len: bytes.len() as u64,
            position: 0,
            inner: Box::new(Cursor::new(bytes)),
            siblings,
            limits: Limits::default(),
        }
    }

    /// The stream, and where the files beside it are.
    pub(super) fn into_parts(self) -> (Box<dyn ReadSeek + 'a>, Siblings<'a>) {
        (self.inner, self.siblings)
    }

    /// Provides a file that the header names, for a source in memory.
    pub fn with_sibling(mut self, name: impl Into<String>, bytes: &'a [u8]) -> Self {
        match &mut self.siblings {
            Siblings::Memory(files) => files.push((name.into(), bytes)),
            Siblings::Folder | Siblings::Opened(_) => {
                self.siblings = Siblings::Memory(vec![(name.into(), bytes)]);
            }
        }
        self
    }

    /// The file's path, or the label given instead.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the file, where files beside it are looked for; none for bytes in memory.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match self.siblings {
            Siblings::Folder | Siblings::Opened(_) => {
                let path = std::path::absolute(&self.path).ok()?;
                path.parent().map(Path::to_path_buf)
            }
            Siblings::Memory(_) => None,
        }
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes from the start to the next one read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// An error about the bytes at `offset`.
    pub(crate) fn malformed(&self, offset: u64, reason: impl Into<String>) -> FormatError {
        FormatError::Malformed {
            path: self.path.clone(),
            offset,
            reason: reason.into(),
        }
    }

    /// Moves to `offset`, which may not lie beyond the end.
    pub(crate) fn seek_to(&mut self, offset: u64, what: &str) -> Result<()> {
        if offset > self.len {
            return Err(self.malformed(
                self.len,
                format!("the file ends here, {what} should start at byte {offset}"),
            ));
        }
        // A relative move keeps the bytes that are buffered already.
        let moved = match i64::try_from(i128::from(offset) - i128::from(self.position)) {
            Ok(distance) => self.inner.seek_relative(distance),
            Err(_) => self.inner.seek(SeekFrom::Start(offset)).map(|_| ()),
        };
        moved.map_err(|source| self.io(source))?;
        self.position = offset;
        Ok(())
    }

    /// Fills `buffer`, or says that the file ended inside `what`.
    pub(crate) fn read_all(&mut self, buffer: &mut [u8], what: &str) -> Result<()> {
        let wanted = buffer.len() as u64;
        self.require(wanted, what)?;
        self.read_exact(buffer).map_err(|source| self.io(source))
    }

    /// The next `len` bytes; refuses before reserving memory when the file is shorter.
    pub(crate) fn read_vec(&mut self, len: u64, what: &str) -> Result<Vec<u8>> {
        self.require(len, what)?;
        let mut bytes = vec![0; len as usize];
        self.read_all(&mut bytes, what)?;
        Ok(bytes)
    }

    /// The first `len` bytes or as many as there are; the position returns to the start.
    pub fn head(&mut self, len: usize) -> Result<Vec<u8>> {
        self.seek_to(0, "the file")?;
        let head = self.read_vec(self.len.min(len as u64), "the file")?;
        self.seek_to(0, "the file")?;
        Ok(head)
    }

    /// Returns `count · each` zeros for samples, where the limits and the machine allow them.
    pub(crate) fn zeros(&self, count: usize, each: usize) -> Result<Vec<f64>> {
        let values = (count as u128).saturating_mul(each as u128);
        self.allow(values.saturating_mul(size_of::<f64>() as u128))?;
        memory::zeros(count, each, &self.path)
    }

    /// Refuses more bytes of memory than the limits allow.
    pub(crate) fn allow(&self, bytes: u128) -> Result<()> {
        self.limits.allow(bytes, &self.path)
    }

    /// Refuses more bytes of memory than the limits and the machine allow.
    pub(crate) fn can_hold(&self, bytes: u128) -> Result<()> {
        self.limits.check(bytes, &self.path)
    }

    /// Reads within these limits; so do the files beside this one.
    pub(crate) fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens the file `name` beside this one. Only the last component of `name` counts: a header
    /// may not point outside its own folder.
    pub(crate) fn sibling(&self, name: &str) -> Result<Source<'a>> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        match &self.siblings {
            Siblings::Folder => {
                Ok(Source::open(self.path.with_file_name(file))?.within(self.limits))
            }
            Siblings::Opened(opener) => {
                let path = self.path.with_file_name(file);
                Ok(Source::open_by(path, Arc::clone(opener))?.within(self.limits))
            }
            Siblings::Memory(files) => match files.iter().find(|(known, _)| known == file) {
                Some((known, bytes)) => {
                    Ok(Source::from_bytes(known.as_str(), bytes).within(self.limits))
                }
                None => Err(FormatError::Io {
                    path: self.path.with_file_name(file),
                    source: std::io::ErrorKind::NotFound.into(),
                }),
            },
        }
    }

    /// Refuses when fewer than `wanted` bytes are left.
    pub(crate) fn require(&self, wanted: u64, what: &str) -> Result<()> {
        let left = self.len.saturating_sub(self.position);
        if wanted > left {
            return Err(self.malformed(
                self.len,
                format!(
                    "the file ends inside {what}, which starts at byte {} and needs {wanted} \
                     bytes; {left} are left",
                    self.position
                ),
            ));
        }
        Ok(())
    }

    fn io(&self, source: std::io::Error) -> FormatError {
        FormatError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Source<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.position = self.inner.seek(to)?;
        Ok(self.position)
    }
}
