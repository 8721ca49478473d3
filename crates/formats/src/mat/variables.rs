//! The file's level: header, compressed and plain elements.

use std::io::{BufReader, Read};

use flate2::read::ZlibDecoder;

use super::element::Parser;
use super::value::Value;
use crate::Result;
use crate::stream::{Budget, Stream};
use crate::units::excerpt;
use crate::{ReadOptions, Source, hdf5};

const HEADER: u64 = 128;
/// A superblock of HDF5 starts within so many bytes.
const HDF5_HEAD: usize = 1024;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// A variable and where it lies in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    /// The name.
    pub(crate) name: String,
    /// The offset of its element, in bytes.
    pub(crate) offset: u64,
    /// The value.
    pub(crate) value: Value,
}

/// Reads all variables of a MATLAB file, version 5 or 7.3.
pub(crate) fn read_variables(
    source: &mut Source<'_>,
    options: &ReadOptions,
) -> Result<Vec<Variable>> {
    let head = source.head(HDF5_HEAD)?;
    if let Some(start) = hdf5::start(&head) {
        return super::v73::read_variables(source, start, options);
    }
    source.seek_to(0, "the header")?;
    let header = source.read_vec(HEADER, "the header")?;
    let big_endian = match &header[124..] {
        b"\x00\x01IM" => false,
        b"\x01\x00MI" => true,
        other => {
            let found = excerpt(other);
            return Err(source.malformed(
                124,
                format!("expected version 0x0100 and IM or MI, found \"{found}\""),
            ));
        }
    };
    let mut variables = Vec::new();
    let mut budget = Budget::new(options.limits.max_expanded);
    while source.position() < source.len() {
        let offset = source.position();
        let tag = source.read_vec(8, "the tag of a variable")?;
        let word = |at: usize| {
            let bytes = [tag[at], tag[at + 1], tag[at + 2], tag[at + 3]];
            if big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let (kind, len) = (word(0), u64::from(word(4)));
        source.require(len, "a variable")?;
        let path = source.path().to_path_buf();
        let end = offset + 8 + len;
        let (name, value) = match kind {
            MATRIX => {
                let stream =
                    Stream::plain(source.take(len), &path, offset + 8, len).within(options.limits);
                Parser::new(stream, big_endian).variable(len)?
            }
            COMPRESSED => {
                let inflated = ZlibDecoder::new(BufReader::new(source.take(len)));
                let stream = Stream::compressed(inflated, &path, offset, budget)
                    .packed_into(len)
                    .within(options.limits);
                let mut parser = Parser::new(stream, big_endian);
                let variable = parser.compressed_variable()?;
                budget = budget.after(parser.finish()?, &path, "a variable")?;
                variable
            }
            other => {
                return Err(
                    source.malformed(offset, format!("a variable is of the unknown type {other}"))
                );
            }
        };
        variables.push(Variable {
            name,
            offset,
            value,
        });
        source.seek_to(end, "the next variable")?;
    }
    Ok(variables)
}
