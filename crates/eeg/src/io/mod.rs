//! Readers: one per format, one entry that recognises the format by the file's first bytes.
//!
//! ```text
//! EDF, EDF+, BDF, BDF+, GDF 1 and 2, BrainVision, MATLAB 5 (BNCI)  ──▶ recordings
//! MATLAB 5 (Weibo 2014), .npy, .npz                                 ──▶ epochs
//! .npy, .npz                                                        ──▶ covariances
//! ```
//!
//! Every reader works on a [`Source`]: a file, bytes in memory or any `Read + Seek`. A damaged file is
//! read or refused with its name, the offset and the reason; it cannot make a reader panic, hang or
//! reserve more memory than its size accounts for.

pub mod brainvision;
mod content;
pub mod edf;
mod events;
pub mod gdf;
pub mod mat;
pub mod npy;
pub mod npz;
mod numbers;
mod options;
mod records;
mod source;
mod stream;
mod units;
mod unsupported;

use std::path::Path;

use crate::Result;

pub use content::{Content, Format, Head, Reader};
pub(crate) use npz::{Entry, zip_entries};
pub use npz::{write_epochs, write_trials, write_trials_to};
pub use options::ReadOptions;
pub use records::Block;
pub use source::{ReadSeek, Source};
pub(crate) use units::excerpt;

/// So many first bytes decide the format.
const HEAD: usize = 1024;

/// The readers, asked in this order.
static READERS: [&dyn Reader; 6] = [
    &edf::Edf,
    &gdf::Gdf,
    &brainvision::BrainVision,
    &npy::Npy,
    &npz::Npz,
    &mat::Mat,
];

/// Reads any file that stiefel knows, with default options.
///
/// ```no_run
/// use stiefel_eeg::io::{Content, read};
/// match read("S001R04.edf")? {
///     Content::Recordings(runs) => println!("{} recordings", runs.len()),
///     Content::Epochs(epochs) => println!("{} trials", epochs.trials().len()),
///     Content::Trials(trials) => println!("{} trials", trials.len()),
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

/// Reads any source.
pub fn read_with(mut source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    reader_for(&mut source)?.read(source, options)
}

/// The formats that are read, in the order in which they are asked.
pub fn readers() -> &'static [&'static dyn Reader] {
    &READERS
}

/// The names of the formats that are read, in a sentence.
pub fn formats() -> String {
    let names: Vec<&str> = READERS.iter().map(|r| r.format().name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Recognises the format of a source by its first bytes.
pub fn detect(source: &mut Source<'_>) -> Result<Format> {
    reader_for(source).map(Reader::format)
}

fn reader_for(source: &mut Source<'_>) -> Result<&'static dyn Reader> {
    let bytes = source.head(HEAD)?;
    let head = Head {
        bytes: &bytes,
        path: source.path(),
    };
    if let Some(reader) = READERS.iter().find(|reader| reader.recognises(&head)) {
        return Ok(*reader);
    }
    Err(unsupported::refuse(source, &head))
}
