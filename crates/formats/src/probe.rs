//! The registry of readers, and the entry that finds the right one by a file's first bytes.

use std::path::{Path, PathBuf};

use crate::content::{Content, Format, Head, Reader};
use crate::error::{FormatError, Result};
use crate::markers::MarkerRule;
use crate::options::ReadOptions;
use crate::source::Source;
use crate::{
    bci2000, bids, brainvision, csv, edf, fif, gdf, markers, mat, npy, npz, unsupported, xdf,
};

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

/// Reads any file whose format is known, with default options.
///
/// ```no_run
/// use stiefel_formats::{Content, read};
/// match read("S001R04.edf")? {
///     Content::Recordings(runs) => println!("{} recordings", runs.len()),
///     Content::Epochs(epochs) => println!("{} trials", epochs.trials().len()),
/// }
/// # Ok::<(), stiefel_formats::FormatError>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Content> {
    read_from(Source::open(path)?)
}

/// Reads any source, with default options.
pub fn read_from(source: Source<'_>) -> Result<Content> {
    read_with(source, &ReadOptions::default())
}

/// Reads any source: a file packed with gzip like the file inside, events of marker channels beside
/// those that the format has. Options that are about another format are refused.
pub fn read_with(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    read_if(source, options, |format| check_options(options, format))
}

/// Refuses options that are about another format than this one.
pub fn check_options(options: &ReadOptions, format: Format) -> Result<()> {
    match about_one_format(options).find(|(_, of)| *of != format) {
        Some((option, of)) => Err(not_for(option, of, "this file has another")),
        None => Ok(()),
    }
}

/// Reads one of several files. Options that are about another format are for the others:
/// [`check_apply`] refuses them where there are none.
pub fn read_among(source: Source<'_>, options: &ReadOptions) -> Result<Content> {
    read_if(source, options, |_| Ok(()))
}

fn read_if(
    source: Source<'_>,
    options: &ReadOptions,
    check: impl FnOnce(Format) -> Result<()>,
) -> Result<Content> {
    let mut source = source.unpacked(options)?;
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
        epochs @ Content::Epochs(_) => Ok(epochs),
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

fn not_for(option: &str, format: Format, found: &str) -> FormatError {
    FormatError::setting(
        format!(
            "the option {option} is about files of the format {}, and {found}",
            format.name
        ),
        format!("leave {option} out"),
    )
}

/// Refuses options of one format where none of the files has it. A file whose first bytes do not
/// tell (packed with gzip, or not to be opened) may have it.
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
    Err(unsupported::refuse(source, &head, &formats()))
}
