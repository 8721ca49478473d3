//! The text files of BrainVision: sections in brackets, `key=value`, comments after `;`.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::Source;
use crate::units::text;
use crate::{FormatError, Result};

/// A value and where its line starts.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) value: String,
    pub(super) offset: u64,
}

/// The entries of a text file by section and key, both in lower case.
#[derive(Debug)]
pub(super) struct Ini {
    path: PathBuf,
    entries: HashMap<(String, String), Entry>,
}

impl Ini {
    /// Reads a whole file; free text after `[Comment]` is passed over.
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self> {
        let bytes = source.read_vec(source.len(), "the text")?;
        let mut entries = HashMap::new();
        let mut section = String::new();
        let mut offset = 0;
        for line in bytes.split_inclusive(|&b| b == b'\n') {
            let at = offset;
            offset += line.len() as u64;
            let line = text(line);
            if line.starts_with(';') || section == "comment" {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = name.trim().to_lowercase();
            } else if let Some((key, value)) = line.split_once('=') {
                let key = (section.clone(), key.trim().to_lowercase());
                // The first of two equal keys counts.
                entries.entry(key).or_insert(Entry {
                    value: value.trim().to_string(),
                    offset: at,
                });
            }
        }
        Ok(Self {
            path: source.path().to_path_buf(),
            entries,
        })
    }

    /// An entry that may be missing; an empty value counts as missing.
    pub(super) fn get(&self, section: &str, key: &str) -> Option<&Entry> {
        self.entries
            .get(&(section.to_string(), key.to_string()))
            .filter(|e| !e.value.is_empty())
    }

    /// An entry that must be there.
    pub(super) fn require(&self, section: &str, key: &str) -> Result<&Entry> {
        self.get(section, key)
            .ok_or_else(|| self.malformed(0, format!("there is no {key} in [{section}]")))
    }

    pub(super) fn malformed(&self, offset: u64, reason: impl Into<String>) -> FormatError {
        FormatError::Malformed {
            path: self.path.clone(),
            offset,
            reason: reason.into(),
        }
    }
}

/// Comma-separated fields, in which `\1` stands for a comma.
pub(super) fn fields(value: &str) -> Vec<String> {
    value
        .split(',')
        .map(|field| field.trim().replace("\\1", ","))
        .collect()
}
