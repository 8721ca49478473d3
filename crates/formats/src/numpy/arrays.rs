//! The arrays of a file, read one by one.

use std::path::{Path, PathBuf};

use super::array::Array;
use crate::options::ReadOptions;
use crate::stream::{Budget, Stream};
use crate::zip::{Entry, entries};
use crate::{Limits, Result, Source};

/// The name under which the only array of a `.npy` is found.
const ONLY: &str = "X";

/// The arrays of a `.npz` by name, or the one of a `.npy` as `X`. Each is read when it is asked
/// for.
#[derive(Debug)]
pub struct Arrays<'s> {
    source: Source<'s>,
    path: PathBuf,
    /// The directory of a `.npz`.
    entries: Option<Vec<Entry>>,
    /// What is left of what the arrays may expand to.
    budget: Budget,
    limits: Limits,
}

impl<'s> Arrays<'s> {
    /// Reads the directory of a `.npz`, or takes a `.npy` as it is.
    pub fn open(mut source: Source<'s>, options: &ReadOptions) -> Result<Self> {
        let entries = if source.head(2)? == b"PK" {
            Some(entries(&mut source)?)
        } else {
            None
        };
        Ok(Self {
            path: source.path().to_path_buf(),
            source,
            entries,
            budget: Budget::new(options.limits.max_expanded),
            limits: options.limits,
        })
    }

    /// The file's path, or the label given instead.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the entries, as they are in the file.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flatten().map(|entry| &entry.name[..])
    }

    /// Tells whether there is an array of this name.
    pub fn has(&self, key: &str) -> bool {
        match &self.entries {
            Some(entries) => entries.iter().any(|e| is_named(e, key)),
            None => key == ONLY,
        }
    }

    /// Reads the array of this name, where there is one.
    pub fn array(&mut self, key: &str) -> Result<Option<Array>> {
        if !self.has(key) {
            return Ok(None);
        }
        let Some(entries) = &self.entries else {
            return self.only().map(Some);
        };
        let Some(entry) = entries.iter().find(|e| is_named(e, key)) else {
            return Ok(None);
        };
        let mut stream = entry
            .open_within(&mut self.source, &self.path, self.budget)?
            .within(self.limits);
        let array = Array::read(&mut stream)?;
        let expanded = stream.finish(&format!("the entry {}", entry.name))?;
        // Stored entries may be longer than the budget: the file accounts for them.
        self.budget = self.budget.after_at_most(expanded);
        Ok(Some(array))
    }

    /// Reads the first array that is there.
    pub fn first(&mut self, keys: &[&str]) -> Result<Option<Array>> {
        match keys.iter().find(|key| self.has(key)) {
            Some(key) => self.array(key),
            None => Ok(None),
        }
    }

    fn only(&mut self) -> Result<Array> {
        self.source.seek_to(0, "the array")?;
        let len = self.source.len();
        let mut stream = Stream::plain(&mut self.source, &self.path, 0, len).within(self.limits);
        let array = Array::read(&mut stream)?;
        stream.finish("the array")?;
        Ok(array)
    }
}

fn is_named(entry: &Entry, key: &str) -> bool {
    entry.name.strip_suffix(".npy") == Some(key)
}
