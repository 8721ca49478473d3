//! The checksums that were recorded at the first fetch: `checksums.json` in the folder of a data
//! set.
//!
//! ```json
//! {"version": 1, "files": {"A01T.mat": {"sha256": "…", "bytes": 42, "url": "https://…"}}}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Sha256;
use super::disk::write_whole;
use super::lock::Lock;
use crate::error::catalogue::{CatalogueError, Result};

/// What was recorded of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) sha256: Sha256,
    pub(super) bytes: u64,
    /// Where it came from; empty where it was found in the folder.
    pub(super) url: String,
}

/// All records of a data set's folder, by name.
pub(super) type Records = BTreeMap<String, Record>;

/// The file as a whole.
#[derive(Serialize, Deserialize)]
struct List {
    version: u32,
    files: Records,
}

fn path(folder: &Path) -> PathBuf {
    folder.join("checksums.json")
}

/// Reads the records; there are none where there is no file.
pub(super) fn load(folder: &Path) -> Result<Records> {
    let path = path(folder);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        // A folder that cannot exist (a file stands in its place) has no records; writing reports
        // it.
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Records::new());
        }
        Err(source) => return Err(CatalogueError::reading(&path, source)),
    };
    parse(&text).ok_or_else(|| CatalogueError::Content {
        path,
        reason: "it is not a list of checksums that this version can read; delete it, and the \
                 checksums are recorded anew"
            .into(),
    })
}

fn parse(text: &[u8]) -> Option<Records> {
    let list: List = serde_json::from_slice(text).ok()?;
    (list.version == 1).then_some(list.files)
}

/// Adds one record, leaving those of other processes in place.
pub(super) fn remember(folder: &Path, name: &str, record: Record) -> Result<()> {
    let _lock = Lock::acquire(folder, "checksums.json", || {})?;
    let mut files = load(folder)?;
    files.insert(name.to_string(), record);
    let list = serde_json::json!(List { version: 1, files });
    let text = format!("{list:#}\n");
    write_whole(&path(folder), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lists_are_refused() {
        let one = r#"{"version": 1, "files": {"a": {"sha256": "SHA", "bytes": 3, "url": ""}}}"#;
        let good = one.replace("SHA", &Sha256::of(b"abc").to_string());
        assert_eq!(parse(good.as_bytes()).unwrap()["a"].bytes, 3);
        for bad in [
            one,
            "",
            "{}",
            "[1]",
            r#"{"version": 2, "files": {}}"#,
            &good.replace("\"bytes\": 3", "\"bytes\": -3"),
            &good[..good.len() - 1],
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
