//! Files of any format packed with gzip (`_raw.fif.gz`): unpacked into memory, then read like the
//! file inside.

use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::stream::{Budget, Stream};
use super::{ReadOptions, Source};
use crate::Result;

/// Memory grows by at most so many bytes ahead of the bytes that fill it.
const STEP: usize = 1 << 16;

/// How a file packed with gzip starts.
const MAGIC: &[u8] = b"\x1f\x8b\x08";

impl Source<'_> {
    /// Unpacks a file that is packed with gzip, and sets the limits to read it within.
    pub fn unpacked(mut self, options: &ReadOptions) -> Result<Self> {
        if self.head(MAGIC.len())? == MAGIC {
            self = unpack(self, options)?;
        }
        Ok(self.within(options.limits))
    }
}

/// Returns the file inside.
fn unpack<'a>(source: Source<'a>, options: &ReadOptions) -> Result<Source<'a>> {
    let path = source.path().to_path_buf();
    let (inner, beside) = source.into_parts();
    let decoder = MultiGzDecoder::new(std::io::BufReader::new(inner));
    let budget = Budget::new(options.limits.max_expanded);
    let mut stream = Stream::compressed(decoder, &path, 0, budget);
    let mut bytes = Vec::new();
    loop {
        let from = bytes.len();
        bytes.resize(from + STEP, 0);
        let count = stream.read_some(&mut bytes[from..], "the packed file")?;
        bytes.truncate(from + count);
        if count == 0 {
            break;
        }
    }
    Ok(Source::from_owned(inside(&path), bytes, beside))
}

/// The name without `.gz`: errors and rules by ending see the file inside.
fn inside(path: &Path) -> PathBuf {
    match path.extension() {
        Some(e) if e.eq_ignore_ascii_case("gz") => path.with_extension(""),
        _ => path.to_path_buf(),
    }
}
