//! Readers: one per format, one entry that recognises the format by the file's first bytes.
//!
//! ```text
//! EDF, EDF+, BDF, BDF+, GDF 1 and 2, BrainVision, FIF, XDF, BCI2000, CSV,
//! MATLAB (EEGLAB, FieldTrip, BNCI, any layout by a rule)             ──▶ recordings
//! FIF, MATLAB (EEGLAB, FieldTrip, Weibo 2014, any by a rule), .npy, .npz ──▶ epochs
//! .npy, .npz                                                        ──▶ covariances
//! ```
//!
//! Every reader works on a [`Source`]: a file, bytes in memory or any `Read + Seek`. A damaged file is
//! read or refused with its name, the offset and the reason; it cannot make a reader panic, hang or
//! reserve more memory than its size accounts for.

pub mod bci2000;
pub(crate) mod bids;
pub mod brainvision;
mod content;
pub mod csv;
pub mod edf;
mod events;
pub mod fif;
mod files;
mod frames;
pub mod gdf;
mod gzip;
mod hdf5;
mod markers;
pub mod mat;
pub mod npy;
pub mod npz;
mod numbers;
mod options;
mod records;
mod source;
mod stream;
mod time;
mod units;
mod unsupported;
pub mod xdf;

use std::path::{Path, PathBuf};

use crate::{EegError, Result};

pub use content::{Content, Format, Head, Reader};
pub use files::{files_below, name_text, open_regular, path_text, read_at_most};
pub use markers::{MarkerRule, Polarity};
pub use mat::{Axis, MatRule};
pub(crate) use npz::{Entry, zip_entries};
pub use npz::{write_epochs, write_trials, write_trials_to};
pub use options::ReadOptions;
pub use records::Block;
pub use source::{ReadSeek, Source};
pub(crate) use units::{excerpt, listed};

/// So many first bytes decide the format.
const HEAD: usize = 1024;

/// The readers, asked in this order.
static READERS: [&dyn Reader; 10] = [
    &edf::Edf,
    &fif::Fif,
    &gdf::Gdf,
    &brainvision::BrainVision,
    &xdf::Xdf,
    &npy::Npy,
    &npz::Npz,
    &mat::Mat,
    &bci2000::Bci2000,
    &csv::Csv,
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

/// Reads any source: a file packed with gzip like the file inside, events of marker channels beside those that the format has. Options that are about another
/// format are refused.
pub fn read_with(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    read_if(source, options, |format| {
        match about_one_format(options).find(|(_, of)| *of != format) {
            Some((option, of)) => Err(not_for(option, of, "this file has another")),
            None => Ok(()),
        }
    })
}

/// Reads one of several files. Options that are about another format are for the others: [`check_apply`] refuses them where there are none.
pub fn read_among(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    read_if(source, options, |_| Ok(()))
}

fn read_if(
    mut source: Source<'_>,
    options: &ReadOptions,
    check: impl FnOnce(Format) -> Result<()>,
) -> Result<Content> {
    if gzip::is_gzip(&source.head(HEAD)?) {
        source = gzip::unpack(source, options)?;
    }
    let reader = reader_for(&mut source)?;
    check(reader.format())?;
    let sidecars = bids::Sidecars::beside(&source)?;
    let content = reader.read(source, options)?;
    let Some(sidecars) = sidecars else {
        return with_markers(content, &options.markers);
    };
    with_markers(
        sidecars.apply(content, options)?,
        &sidecars.markers(&options.markers),
    )
}

fn with_markers(content: Content, rule: &MarkerRule) -> Result<Content> {
    match content {
        Content::Recordings(all) => {
            let all = all.into_iter();
            let all = all.map(|r| markers::add_events(r, rule));
            Ok(Content::Recordings(all.collect::<Result<_>>()?))
        }
        other => Ok(other),
    }
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

/// The options that were given and are about one format only.
fn about_one_format(options: &ReadOptions) -> impl Iterator<Item = (&'static str, Format)> {
    let all = [
        (options.stream.is_some(), "stream", xdf::FORMAT),
        (options.mat.is_some(), "mat", mat::FORMAT),
    ];
    let given = all.into_iter().filter(|(given, ..)| *given);
    given.map(|(_, option, format)| (option, format))
}

fn not_for(option: &str, format: Format, found: &str) -> EegError {
    EegError::setting(
        format!(
            "the option {option} is about files of the format {}, and {found}",
            format.name
        ),
        format!("leave {option} out"),
    )
}

/// Refuses options of one format where none of the files has it. A file whose first bytes do not tell (packed with gzip, or not to be opened) may have it.
pub fn check_apply(options: &ReadOptions, files: &[PathBuf]) -> Result<()> {
    let nobody = |format: Format| {
        let is_other = |path: &PathBuf| {
            let found = Source::open(path).and_then(|mut source| detect(&mut source));
            found.is_ok_and(|found| found != format)
        };
        !files.is_empty() && files.iter().all(is_other)
    };
    match about_one_format(options).find(|(_, format)| nobody(*format)) {
        Some((option, format)) => Err(not_for(option, format, "there are none")),
        None => Ok(()),
    }
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
