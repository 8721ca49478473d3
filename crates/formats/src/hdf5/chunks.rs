//! Chunks: a B-tree of equally large boxes, each through the filters.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::{Cursor, File, Object};
use crate::Result;
use crate::stream::DEFLATE;

/// A stored chunk.
struct Chunk {
    address: u64,
    size: u64,
    /// Filters that were left out.
    mask: u64,
    origin: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    Deflate,
    Shuffle,
    Checksum,
}

impl File<'_, '_> {
    /// The values of a chunked dataset of `total` bytes.
    pub(super) fn chunked(
        &mut self,
        object: &Object,
        tree: u64,
        dims: &[u64],
        chunk: &[u64],
        size: usize,
        total: u64,
    ) -> Result<Vec<u8>> {
        let at = object.address;
        let filters = match object.message(0x0b) {
            None => Vec::new(),
            Some(message) => filters(message).ok_or_else(|| {
                self.malformed(
                    at,
                    "a dataset has a filter that cannot be read; deflate and shuffle can be read",
                )
            })?,
        };
        let volume = chunk.iter().try_fold(size as u64, |n, &d| n.checked_mul(d));
        let volume = volume.filter(|&v| v > 0 && chunk.len() == dims.len());
        let Some(volume) = volume else {
            return Err(self.malformed(at, format!("chunks of the size {chunk:?} for {dims:?}")));
        };
        let mut found = Vec::new();
        if !self.undefined(tree) {
            self.chunk_tree(tree, dims.len(), &mut found, 64)?;
        }
        let stored: u64 = found.iter().map(|c| c.size).fold(0, u64::saturating_add);
        let ratio = if filters.contains(&Filter::Deflate) {
            DEFLATE
        } else {
            1
        };
        // Chunks reach over the edge of the array; what they hold is what the array can be worth.
        if total
            > stored
                .saturating_mul(ratio)
                .saturating_add(super::FREE_BYTES)
        {
            return Err(self.malformed(
                at,
                format!("a dataset of {total} bytes has chunks of {stored} bytes"),
            ));
        }
        // As many chunks as cover the array, each expanded once.
        let boxes = dims.iter().zip(chunk).map(|(&d, &c)| d.div_ceil(c.max(1)));
        let boxes = boxes.fold(1, u64::saturating_mul);
        if found.len() as u64 > boxes {
            let reason = format!("{boxes} chunks cover {dims:?}, there are {}", found.len());
            return Err(self.malformed(at, reason));
        }
        let padded = volume.saturating_mul(found.len() as u64).max(total);
        let what = format!("a dataset of {total} bytes");
        self.expanded = (self.expanded).after(padded, self.source.path(), &what)?;
        self.source.can_hold(u128::from(total))?;
        let mut out = vec![0; total as usize];
        for piece in &found {
            let packed = self.bytes(piece.address, piece.size, "a chunk")?;
            let bytes = self.unfilter(packed, piece, &filters, size, volume)?;
            place(&bytes, &mut out, dims, chunk, &piece.origin, size);
        }
        Ok(out)
    }

    fn chunk_tree(
        &mut self,
        address: u64,
        rank: usize,
        found: &mut Vec<Chunk>,
        deepest: usize,
    ) -> Result<()> {
        let damaged = "the tree of chunks is damaged";
        let head = self.bytes(address, 8, damaged)?;
        let (level, used) = match head[4..] {
            [1, level, low, high] if head.starts_with(b"TREE") && deepest > 0 => {
                (level, usize::from(low) + 256 * usize::from(high))
            }
            _ => return Err(self.malformed(address, damaged)),
        };
        let key = 8 + 8 * (rank + 1);
        let from = address.saturating_add(8 + 2 * self.offset_size as u64);
        let len = used * (key + self.offset_size);
        let bytes = self.bytes(from, len as u64, damaged)?;
        let mut cursor = Cursor::new(&bytes);
        for _ in 0..used {
            self.step(address)?;
            let mut next = || {
                let (size, mask) = (cursor.uint(4)?, cursor.uint(4)?);
                let origin = (0..rank).map(|_| cursor.uint(8)).collect::<Option<_>>()?;
                cursor.take(8)?;
                let address = cursor.uint(self.offset_size)?;
                Some(Chunk {
                    address,
                    size,
                    mask,
                    origin,
                })
            };
            let Some(chunk) = next() else {
                return Err(self.malformed(address, damaged));
            };
            if level == 0 {
                found.push(chunk);
            } else {
                self.chunk_tree(chunk.address, rank, found, deepest - 1)?;
            }
        }
        Ok(())
    }

    fn unfilter(
        &self,
        mut bytes: Vec<u8>,
        chunk: &Chunk,
        filters: &[Filter],
        size: usize,
        volume: u64,
    ) -> Result<Vec<u8>> {
        // Undone in the other order than they were applied.
        for (i, filter) in filters.iter().enumerate().rev() {
            if chunk.mask >> i & 1 == 1 {
                continue;
            }
            bytes = match filter {
                Filter::Checksum => {
                    bytes.truncate(bytes.len().saturating_sub(4));
                    bytes
                }
                Filter::Shuffle => unshuffle(&bytes, size),
                Filter::Deflate => {
                    let mut out = Vec::new();
                    // The checksum of a shuffled chunk may be four bytes more.
                    let limit = volume + 4;
                    let mut decoder = ZlibDecoder::new(bytes.as_slice()).take(limit);
                    decoder.read_to_end(&mut out).map_err(|e| {
                        self.malformed(chunk.address, format!("a chunk is damaged: {e}"))
                    })?;
                    out
                }
            };
        }
        if (bytes.len() as u64) < volume {
            return Err(self.malformed(
                chunk.address,
                format!("a chunk of {volume} bytes has {}", bytes.len()),
            ));
        }
        Ok(bytes)
    }
}

fn filters(bytes: &[u8]) -> Option<Vec<Filter>> {
    let mut cursor = Cursor::new(bytes);
    let version = cursor.uint(1)?;
    let count = cursor.uint(1)?;
    cursor.take(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = cursor.uint(2)?;
        let name = if version == 1 || id >= 256 {
            cursor.uint(2)? as usize
        } else {
            0
        };
        cursor.take(2)?;
        let values = cursor.uint(2)? as usize;
        cursor.take(if version == 1 {
            name.next_multiple_of(8)
        } else {
            name
        })?;
        cursor.take(4 * values)?;
        cursor.take(if version == 1 && values % 2 == 1 {
            4
        } else {
            0
        })?;
        filters.push(match id {
            1 => Filter::Deflate,
            2 => Filter::Shuffle,
            3 => Filter::Checksum,
            _ => return None,
        });
    }
    Some(filters)
}

/// The first bytes of all elements, then all second bytes, …, back to elements.
fn unshuffle(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size.max(1);
    let mut out = bytes.to_vec();
    for (i, element) in out.chunks_exact_mut(size.max(1)).enumerate() {
        for (b, byte) in element.iter_mut().enumerate() {
            *byte = bytes[b * count + i];
        }
    }
    out
}

/// Copies a chunk into its place, row by row; what lies outside the array is dropped.
fn place(bytes: &[u8], out: &mut [u8], dims: &[u64], chunk: &[u64], origin: &[u64], size: usize) {
    let rank = dims.len();
    if rank == 0 || (0..rank).any(|d| origin[d] >= dims[d]) {
        return;
    }
    let inside: Vec<u64> = (0..rank)
        .map(|d| chunk[d].min(dims[d] - origin[d]))
        .collect();
    let run = inside[rank - 1] as usize * size;
    let mut index = vec![0u64; rank];
    loop {
        let (mut from, mut to) = (0u64, 0u64);
        for d in 0..rank {
            from = from * chunk[d] + index[d];
            to = to * dims[d] + origin[d] + index[d];
        }
        let (from, to) = (from as usize * size, to as usize * size);
        if let (Some(source), Some(target)) =
            (bytes.get(from..from + run), out.get_mut(to..to + run))
        {
            target.copy_from_slice(source);
        }
        // The next row: the last index but one runs fastest.
        let Some(d) = (0..rank - 1).rev().find(|&d| index[d] + 1 < inside[d]) else {
            return;
        };
        index[d] += 1;
        index[d + 1..].fill(0);
    }
}
