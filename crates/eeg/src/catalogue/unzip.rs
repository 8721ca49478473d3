//! Unpacking chosen files of a zip.
//!
//! Files are found by how their names start and written under names of our own: nothing in the
//! archive decides where bytes go. An archive that tries (`..`, absolute paths) is refused whole,
//! and no file may expand beyond a bound.

use std::path::{Path, PathBuf};

use super::disk::{Disk, beside, publish, remove};
use super::files::Kind;
use crate::error::catalogue::{CatalogueError, Result};
use crate::io::zip::{Entry, entries};
use crate::io::{Source, excerpt};

/// The most bytes that one file may expand to.
const LARGEST: u64 = 4 << 30;

/// A file that is wanted of an archive.
#[derive(Debug)]
pub(super) struct Member {
    /// How its name in the archive starts.
    pub(super) prefix: &'static str,
    /// Where it goes.
    pub(super) path: PathBuf,
    /// Its name in the data set's folder.
    pub(super) name: String,
}

/// Unpacks the members, each whole or not at all.
pub(super) fn unzip(path: &Path, members: &[Member], disk: &dyn Disk) -> Result<()> {
    unzip_within(path, members, disk, LARGEST)
}

fn unzip_within(path: &Path, members: &[Member], disk: &dyn Disk, largest: u64) -> Result<()> {
    let wrong = |reason: String| CatalogueError::Archive {
        path: path.to_path_buf(),
        reason: format!("{reason}; the archive was deleted, fetch it again"),
    };
    let mut source = Source::open(path)?;
    let entries = entries(&mut source)?;
    if let Some(entry) = entries.iter().find(|e| leaves_folder(&e.name)) {
        return Err(wrong(format!(
            "the entry \"{}\" points outside the archive's folder",
            excerpt(&entry.name)
        )));
    }
    for member in members {
        let of_member: Vec<&Entry> = entries
            .iter()
            .filter(|e| is_named(&e.name, member.prefix))
            .collect();
        let [entry] = of_member[..] else {
            let names: Vec<String> = entries.iter().take(8).map(|e| excerpt(&e.name)).collect();
            return Err(wrong(format!(
                "expected one file {}*.mat, found {}; it holds {}",
                member.prefix,
                of_member.len(),
                names.join(", ")
            )));
        };
        let part = beside(&member.path, ".part");
        let unpacked = unpack(&mut source, entry, path, &part, disk, largest);
        let checked = unpacked.and_then(|()| match Kind::Matlab.check(&part)? {
            Ok(()) => publish(&part, &member.path),
            Err(reason) => Err(wrong(format!("{}: {reason}", excerpt(&entry.name)))),
        });
        if checked.is_err() {
            remove(&part);
        }
        checked?;
    }
    Ok(())
}

fn leaves_folder(name: &str) -> bool {
    let mut parts = name.split(['/', '\\']);
    name.starts_with(['/', '\\'])
        || name.as_bytes().get(1) == Some(&b':')
        || parts.any(|part| part == "..")
}

/// Whether an entry is the MATLAB file that starts with `prefix`, in whatever folder.
fn is_named(name: &str, prefix: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = Path::new(file).extension();
    !name.starts_with("__MACOSX")
        && file.starts_with(prefix)
        && extension.is_some_and(|e| e.eq_ignore_ascii_case("mat"))
}

fn unpack(
    source: &mut Source<'_>,
    entry: &Entry,
    archive: &Path,
    part: &Path,
    disk: &dyn Disk,
    largest: u64,
) -> Result<()> {
    let mut stream = entry.open(source, archive, largest)?;
    let failed = |source| CatalogueError::writing(part, source);
    let mut file = disk.open(part, false).map_err(failed)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read_some(&mut buffer, "a file of the archive")? {
            0 => return file.sync().map_err(failed),
            count => file.write_all(&buffer[..count]).map_err(failed)?,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/it/support/zip.rs"]
mod zip;

#[cfg(test)]
mod tests {
    use super::zip::zip;
    use super::*;
    use crate::catalogue::OsDisk;

    #[test]
    fn a_file_that_expands_too_far_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("stiefel-unzip-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let archive = folder.join("data0.zip");
        let mut content = vec![0; 1 << 20];
        content[124..128].copy_from_slice(b"\x00\x01IM");
        std::fs::write(&archive, zip(&[("cl.mat", &content)])).unwrap();
        let member = Member {
            prefix: "cl",
            path: folder.join("subject_1.mat"),
            name: "subject_1.mat".into(),
        };
        let members = [member];
        let error = unzip_within(&archive, &members, &OsDisk, 1 << 19).unwrap_err();
        let left = std::fs::read_dir(&folder).unwrap().count();
        let whole = unzip_within(&archive, &members, &OsDisk, 1 << 20);
        let bytes = std::fs::read(&members[0].path);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(error.to_string().contains("512 KiB"), "{error}");
        assert_eq!(left, 1);
        whole.unwrap();
        assert_eq!(bytes.unwrap(), content);
    }

    #[test]
    fn names_that_leave_the_folder() {
        for name in [
            "../a.mat",
            "a/../../b",
            "/etc/passwd",
            "\\a",
            "C:\\a",
            "a\\..\\b",
        ] {
            assert!(leaves_folder(name), "{name}");
        }
        for name in ["a.mat", "a/b.mat", "..a/b", "a..mat"] {
            assert!(!leaves_folder(name), "{name}");
        }
    }

    #[test]
    fn members_are_found_by_their_start() {
        assert!(is_named("data/cl_all.mat", "cl") && is_named("cl.MAT", "cl"));
        for name in [
            "data/cl.txt",
            "__MACOSX/cl.mat",
            "xcl.mat",
            "cl/",
            "._cl.mat",
        ] {
            assert!(!is_named(name, "cl"), "{name}");
        }
    }
}
