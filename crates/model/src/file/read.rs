//! Reading: the container first, then the parts that the kind lists, each checked.

use super::archive::{Archive, Found, inconsistent, parse};
use super::container::{CHECKSUM, PREFIX, Table, checksum};
use super::{FORMAT, FORMAT_VERSION, FileProblem, Header};
use crate::fitted::About;
use crate::kind::{self, Names};
use crate::{FittedModel, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

impl FittedModel {
    /// Reads a model file, whatever its kind.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::load_with_header(path)?.0)
    }

    /// Reads a model file and what its header says of the file itself.
    pub fn load_with_header(path: impl AsRef<Path>) -> Result<(Self, Header)> {
        let path = path.as_ref();
        let found = open(path).and_then(fitted);
        found.map_err(|problem| problem.at(path))
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Found<Self> {
        Ok(fitted(open_in(Box::new(bytes), bytes.len() as u64)?)?.0)
    }
}

/// Tells the kind of a model file by the beginning of the file; none where it is no model file.
pub fn kind_of(path: impl AsRef<Path>) -> Option<String> {
    let table = open(path.as_ref()).ok()?.table;
    let format = table.metadata.get("format")?;
    (format == FORMAT).then(|| table.metadata.get("kind").cloned())?
}

/// A file whose table of tensors has been read and checked.
struct Opened<'r> {
    reader: Box<dyn Read + 'r>,
    /// Length and header as they stand in the file.
    head: Vec<u8>,
    table: Table,
    length: u64,
}

fn fitted(opened: Opened<'_>) -> Found<(FittedModel, Header)> {
    let text = |key: &str| {
        let found = opened.table.metadata.get(key).map(String::as_str);
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
    let name = text("kind")?.to_owned();
    let kind = kind::kind(&name).ok_or_else(|| FileProblem::Kind {
        found: name,
        known: kind::listed(),
        library: library_version.clone(),
    })?;
    let header = Header {
        library_version,
        tensors: opened.table.tensors.clone(),
    };
    let mut archive = opened.archive()?;
    let mut names = Names::default();
    archive.text("names", &mut names)?;
    names.check().map_err(|e| inconsistent(&e))?;
    let about: About = parse("about", archive.raw("about")?)?;
    let model = kind.read(names, &mut archive)?;
    archive.finish()?;
    Ok((FittedModel { model, about }, header))
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
    /// Reads the tensors, and checks every byte of the file against its checksum.
    fn archive(mut self) -> Found<Archive> {
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

fn open(path: &Path) -> Found<Opened<'static>> {
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

fn open_in<'r>(mut reader: Box<dyn Read + 'r>, length: u64) -> Found<Opened<'r>> {
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
    let table: Table = serde_json::from_slice(text).map_err(|error| FileProblem::Damaged {
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
