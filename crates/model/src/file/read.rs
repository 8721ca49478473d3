//! Reading: the container, whose parts are then read one by one.

use super::archive::{Archive, Found};
use super::container::{CHECKSUM, PREFIX, TensorTable, checksum};
use super::{FORMAT, FORMAT_VERSION, FileProblem, Header};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Tells the kind of a model file by the beginning of the file; none where it is no model file.
pub fn kind_of(path: impl AsRef<Path>) -> Option<String> {
    let table = open(path.as_ref()).ok()?.table;
    let format = table.metadata.get("format")?;
    (format == FORMAT).then(|| table.metadata.get("kind").cloned())?
}

/// A file whose table of tensors has been read and checked.
pub(crate) struct Opened<'r> {
    reader: Box<dyn Read + 'r>,
    /// Length and header as they stand in the file.
    head: Vec<u8>,
    table: TensorTable,
    length: u64,
}

/// The one format version that this library reads.
fn version(text: &str, library: &str) -> Found<()> {
    match text.parse() {
        Ok(FORMAT_VERSION) => Ok(()),
        Ok(found) => Err(FileProblem::Version {
            found,
            supported: FORMAT_VERSION,
            library: library.to_owned(),
        }),
        Err(_) => Err(FileProblem::Damaged {
            offset: PREFIX,
            why: format!("the format version is \"{text}\""),
        }),
    }
}

impl Opened<'_> {
    /// Reads what the file says of itself: the name of its kind, and a header.
    pub(crate) fn about(&self) -> Found<(String, Header)> {
        let text = |key: &str| {
            let found = self.table.metadata.get(key).map(String::as_str);
            found.ok_or_else(|| FileProblem::NotAModel(format!("its header has no \"{key}\"")))
        };
        let format = text("format")?;
        if format != FORMAT {
            return Err(FileProblem::NotAModel(format!(
                "its format is \"{format}\""
            )));
        }
        let library_version = text("library_version")?.to_owned();
        version(text("format_version")?, &library_version)?;
        let header = Header {
            library_version,
            tensors: self.table.tensors.clone(),
        };
        Ok((text("kind")?.to_owned(), header))
    }

    /// Reads the tensors, and checks every byte of the file against its checksum.
    pub(crate) fn archive(mut self) -> Found<Archive> {
        let start = self.head.len() as u64;
        let mut data = vec![0; (self.length - start) as usize];
        (self.reader.read_exact(&mut data)).map_err(|error| FileProblem::io("read it", &error))?;
        let Some(expected) = self.table.metadata.get(CHECKSUM) else {
            return Err(FileProblem::Damaged {
                offset: PREFIX,
                why: "the checksum is missing".into(),
            });
        };
        let found = checksum(&mut self.head, &data);
        if found != *expected {
            return Err(FileProblem::Checksum {
                expected: expected.clone(),
                found,
            });
        }
        Ok(Archive::reading(
            self.table.metadata,
            self.table.tensors,
            data,
            start,
        ))
    }
}

pub(crate) fn open(path: &Path) -> Found<Opened<'static>> {
    let io = |doing| move |error: std::io::Error| FileProblem::io(doing, &error);
    // Opening a pipe would wait for a writer.
    let about = std::fs::metadata(path).map_err(io("open it"))?;
    if !about.is_file() {
        return Err(FileProblem::NotAModel("it is not a regular file".into()));
    }
    let file = File::open(path).map_err(io("open it"))?;
    let about = file.metadata().map_err(io("ask for its size"))?;
    open_in(Box::new(file), about.len())
}

pub(crate) fn open_in<'r>(mut reader: Box<dyn Read + 'r>, length: u64) -> Found<Opened<'r>> {
    let io = |error: std::io::Error| FileProblem::io("read it", &error);
    let mut head = vec![0; PREFIX as usize];
    if length < PREFIX {
        return Err(FileProblem::NotAModel(format!("it has {length} bytes")));
    }
    reader.read_exact(&mut head).map_err(io)?;
    let mut prefix = [0; PREFIX as usize];
    prefix.copy_from_slice(&head);
    let size = u64::from_le_bytes(prefix);
    let start = size.saturating_add(PREFIX);
    if start > length {
        // What begins like another kind of file was not cut off.
        let mut brace = [0];
        return Err(match reader.read_exact(&mut brace) {
            Ok(()) if brace != *b"{" => {
                FileProblem::NotAModel("it does not begin with a header".into())
            }
            _ => FileProblem::Length {
                expected: start,
                found: length,
            },
        });
    }
    // Bounded by the size of the file.
    head.resize(start as usize, 0);
    let text = &mut head[PREFIX as usize..];
    reader.read_exact(text).map_err(io)?;
    let table: TensorTable =
        serde_json::from_slice(text).map_err(|error| FileProblem::Damaged {
            offset: PREFIX,
            why: format!("the header: {error}"),
        })?;
    table.check(start, length)?;
    Ok(Opened {
        reader,
        head,
        table,
        length,
    })
}
