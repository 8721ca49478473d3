//! Model files: the names and the origin of a model, then the parts that its kind lists.
//!
//! A file is written whole: in memory, then to disk under another name, then renamed, so that a
//! reader never sees half a model.

use super::About;
use crate::file::{Archive, FileProblem, Found, Header, inconsistent, open, open_in, pack, parse};
use crate::kind::{Kind, Names};
use crate::{FittedModel, Result, registry};
use std::path::Path;
use stiefel_data::{writable, write_whole};

impl FittedModel {
    /// Reads a model file, whatever its kind.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::load_with_header(path)?.0)
    }

    /// Reads a model file and what its header says of the file itself.
    pub fn load_with_header(path: impl AsRef<Path>) -> Result<(Self, Header)> {
        let path = path.as_ref();
        let found = open(path).and_then(|file| {
            let (kind, header) = file.about()?;
            Ok((Self::read(known(&kind, &header)?, file.archive()?)?, header))
        });
        found.map_err(|problem| problem.at(path))
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Found<Self> {
        let file = open_in(Box::new(bytes), bytes.len() as u64)?;
        let (kind, header) = file.about()?;
        Self::read(known(&kind, &header)?, file.archive()?)
    }

    fn read(kind: &'static dyn Kind, mut archive: Archive) -> Found<Self> {
        let mut names = Names::default();
        archive.text("names", &mut names)?;
        names.check().map_err(|e| inconsistent(&e))?;
        let about: About = parse("about", archive.raw("about")?)?;
        let model = kind.read(names, &mut archive)?;
        archive.finish()?;
        Ok(Self { model, about })
    }

    /// Writes the model file, whole or not at all. Symbolic links are followed; what is there and
    /// is no regular file is refused, and so is a file that is there already, unless it may be
    /// overwritten.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), stiefel_model::ModelError> {
    /// let model = stiefel_model::FittedModel::load("model.stiefel")?;
    /// model.save("copy.stiefel", false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn save(&self, path: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        let path = path.as_ref();
        let io = |error: &std::io::Error| FileProblem::io("write it", error).at(path);
        let target = writable(path).map_err(|e| io(&e))?;
        if !overwrite && target.exists() {
            return Err(FileProblem::Exists.at(path));
        }
        let bytes = self.to_bytes().map_err(|problem| problem.at(path))?;
        write_whole(&target, &bytes).map_err(|e| io(&e))
    }

    /// Returns the model file as bytes.
    pub fn to_bytes(&self) -> Found<Vec<u8>> {
        let mut archive = Archive::writing();
        archive.text("names", &mut self.model.names().clone())?;
        archive.text("about", &mut self.about.clone())?;
        self.model.write(&mut archive)?;
        pack(archive, self.model.kind().name())
    }
}

/// Finds the kind of a file by name, before its numbers are read.
fn known(kind: &str, header: &Header) -> Found<&'static dyn Kind> {
    registry::kind(kind).ok_or_else(|| FileProblem::Kind {
        found: kind.to_owned(),
        known: registry::listed(),
        library: header.library_version.clone(),
    })
}
