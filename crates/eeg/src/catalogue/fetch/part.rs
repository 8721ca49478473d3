//! What has arrived of a file: `NAME.part`, and in `NAME.part.json` by what the server tells one
//! version of the file from another.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::disk::{beside, remove, write_whole};
use crate::error::catalogue::Result;

/// What tells one version of a file from another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) total: Option<u64>,
}

impl Version {
    /// Whether `other` may be the same version: nothing that both know differs.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.zip(b).is_some_and(|(a, b)| a != b)
        }
        !(differ(self.etag.as_ref(), other.etag.as_ref())
            || differ(self.last_modified.as_ref(), other.last_modified.as_ref())
            || differ(self.total.as_ref(), other.total.as_ref()))
    }

    /// The value of `If-Range`: a strong entity tag, or else the date.
    pub(super) fn condition(&self) -> Option<&str> {
        let strong = self.etag.as_deref().filter(|tag| !tag.starts_with("W/"));
        strong.or(self.last_modified.as_deref())
    }
}

/// The two files.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    version: PathBuf,
}

impl Part {
    pub(super) fn of(target: &Path) -> Self {
        Self {
            path: beside(target, ".part"),
            version: beside(target, ".part.json"),
        }
    }

    /// How many bytes are there.
    pub(super) fn len(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |m| m.len())
    }

    /// What is there of this address, if anything can be built on.
    pub(super) fn held(&self, url: &str) -> Option<(u64, Version)> {
        let version: Version = serde_json::from_slice(&fs::read(&self.version).ok()?).ok()?;
        let len = self.len();
        (len > 0 && version.url == url).then_some((len, version))
    }

    /// Notes which version the bytes to come belong to.
    pub(super) fn note(&self, version: &Version) -> Result<()> {
        let text = serde_json::json!(version);
        write_whole(&self.version, text.to_string().as_bytes())
    }

    /// Leaves nothing behind.
    pub(super) fn discard(&self) {
        remove(&self.path);
        remove(&self.version);
    }

    /// Forgets the version once the bytes have their final name.
    pub(super) fn forget_version(&self) {
        remove(&self.version);
    }
}
