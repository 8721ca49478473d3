//! Files of a disk that may hold anything: pipes, devices, links in circles, names that are not
//! UTF-8.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{FormatError, Result, memory};

thread_local! {
    static OPENED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the regular files that this thread has opened, for tests of how often a file is read.
#[doc(hidden)]
pub fn files_opened() -> usize {
    OPENED.with(Cell::get)
}

/// Opens a regular file. Pipes, sockets and devices are refused before they are opened: a pipe
/// would wait for a writer, a device may never end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(std::fs::metadata(path)?.file_type())?;
    OPENED.with(|count| count.set(count.get() + 1));
    let file = File::open(path)?;
    check_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole regular file, where there is memory for it.
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| FormatError::Io {
        path: path.to_path_buf(),
        source,
    };
    let mut file = open_regular(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    memory::check(length.into(), path)?;
    let mut bytes = Vec::with_capacity(length as usize);
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes.
///
/// ```
/// use stiefel_formats::read_at_most;
/// let error = read_at_most("Cargo.toml".as_ref(), 16).unwrap_err();
/// assert!(error.to_string().contains("more than the 16"));
/// ```
pub fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path)?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than the {limit} bytes that such a file may have"),
        ));
    }
    Ok(bytes)
}

fn check_regular(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() {
        "a folder"
    } else {
        special(kind)
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}, not a regular file"),
    ))
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "a device"
}

/// Lists what is below a folder and is no folder, in the order of paths. Every folder is walked
/// once, however many links lead to it, by its own name rather than by a link; a link to a folder
/// above leads nowhere new. Folders for which `enters` is false are passed over.
pub fn files_below(folder: &Path, enters: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let whole = folder.canonicalize().map_err(|source| FormatError::Io {
        path: folder.to_path_buf(),
        source,
    })?;
    let above = whole.ancestors().skip(1).map(Path::to_path_buf);
    let (mut seen, mut files) = (above.collect::<BTreeSet<_>>(), Vec::new());
    let mut level = vec![folder.to_path_buf()];
    // Links wait until all that is reached without them was walked.
    while !level.is_empty() {
        let mut links = Vec::new();
        for start in level {
            walk(start, &enters, &mut seen, &mut links, &mut files)?;
        }
        links.sort();
        level = links;
    }
    files.sort();
    Ok(files)
}

fn walk(
    start: PathBuf,
    enters: &impl Fn(&Path) -> bool,
    seen: &mut BTreeSet<PathBuf>,
    links: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut waiting = vec![start];
    while let Some(folder) = waiting.pop() {
        let failed = |source| FormatError::Io {
            path: folder.clone(),
            source,
        };
        if !seen.insert(folder.canonicalize().map_err(failed)?) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let is_link = entry.file_type().map_err(failed)?.is_symlink();
            if !path.is_dir() {
                files.push(path);
            } else if enters(&path) {
                let list = if is_link { &mut *links } else { &mut waiting };
                list.push(path);
            }
        }
    }
    Ok(())
}

/// Writes a name as text: bytes that are no UTF-8 become `\xff`, and a backslash before an `x`
/// becomes `\x5c`, so that different names stay different.
///
/// ```
/// use stiefel_formats::name_text;
/// assert_eq!(name_text("sub-01.edf".as_ref()), "sub-01.edf");
/// assert_eq!(name_text(r"S\xff".as_ref()), r"S\x5cxff");
/// ```
pub fn name_text(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace("\\x", "\\x5cx"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Writes a path as text, as [`name_text`] does with each of its names.
pub fn path_text(path: &Path) -> String {
    match path.to_str() {
        // There a backslash separates names.
        Some(text) if cfg!(windows) => text.to_owned(),
        _ => name_text(path.as_os_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_stay_apart() {
        use std::os::unix::ffi::OsStrExt;
        let names: [&[u8]; 6] = [
            b"S\xff",
            b"S\xfe",
            b"S\\xff",
            b"S\\x5cxff",
            b"S\\\xff",
            b"S\xef\xbf\xbd",
        ];
        let texts: BTreeSet<String> = names
            .iter()
            .map(|n| name_text(OsStr::from_bytes(n)))
            .collect();
        assert_eq!(texts.len(), names.len(), "{texts:?}");
        assert!(texts.contains(r"S\xff"));
    }
}
