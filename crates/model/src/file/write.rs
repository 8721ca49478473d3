//! Writing: the whole file in memory, then to disk under another name, then renamed, so that a
//! reader never sees half a model.

use super::archive::{Archive, Found, inconsistent};
use super::container::{BLANK, CHECKSUM, METADATA, seal};
use super::{FORMAT, FORMAT_VERSION, FileProblem};
use crate::{FittedModel, Result};
use serde_json::json;
use std::path::Path;
use stiefel_data::{writable, write_whole};

impl FittedModel {
    /// Writes the model file, whole or not at all. Symbolic links are followed; what is there and is
    /// no regular file is refused, and so is a file that is there already, unless it may be
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
        archive.set_raw("format", FORMAT);
        archive.set_raw("format_version", FORMAT_VERSION.to_string());
        archive.set_raw("library_version", env!("CARGO_PKG_VERSION"));
        archive.set_raw("kind", self.model.kind().name());
        archive.set_raw(CHECKSUM, BLANK);
        let (texts, mut header, data) = archive.into_parts();
        header.insert(METADATA.to_owned(), json!(texts));
        let mut header = serde_json::to_vec(&header).map_err(|e| inconsistent(&e))?;
        // Values begin at a multiple of eight bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(data);
        seal(&mut bytes);
        Ok(bytes)
    }
}
