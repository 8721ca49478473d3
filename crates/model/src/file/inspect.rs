//! What a file says of itself, without making a model of it.

use super::header::{FORMAT, FileHeader, POOLED_FORMAT, VIEWS_FORMAT};
use super::pooled::PooledDescription;
use super::read::open;
use super::views::ViewsDescription;
use crate::Result;
use std::path::Path;

/// The description of a model file of either kind; made by [`inspect_any`].
#[derive(Debug, Clone, PartialEq)]
pub enum AnyHeader {
    /// A trained network ([`Model`](crate::Model)).
    Network(Box<FileHeader>),
    /// A fitted preset `recommended-1` ([`PooledModel`](crate::PooledModel)).
    Pooled(Box<FileHeader<PooledDescription>>),
    /// A fitted preset `recommended` ([`ViewsModel`](crate::ViewsModel)).
    Views(Box<FileHeader<ViewsDescription>>),
}

/// The description of a model file, every byte of which is checked against its checksum.
pub fn inspect_any(path: impl AsRef<Path>) -> Result<AnyHeader> {
    let path = path.as_ref();
    let header = open(path).and_then(|opened| {
        let table = opened.table.clone();
        let format = table.metadata.get("format").map(String::as_str);
        Ok(match format {
            Some(POOLED_FORMAT) => {
                let header = FileHeader::from_table(table, POOLED_FORMAT)?;
                opened.source(header.format_version)?;
                AnyHeader::Pooled(Box::new(header))
            }
            Some(VIEWS_FORMAT) => {
                let header = FileHeader::from_table(table, VIEWS_FORMAT)?;
                opened.source(header.format_version)?;
                AnyHeader::Views(Box::new(header))
            }
            // Any other kind is refused there, by name.
            _ => {
                let header = FileHeader::from_table(table, FORMAT)?;
                opened.source(header.format_version)?;
                AnyHeader::Network(Box::new(header))
            }
        })
    });
    header.map_err(|problem| problem.at(path))
}
