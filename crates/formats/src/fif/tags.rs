//! The list of tags of a file: what each is, where it lies, and in which block.

use crate::Result;
use crate::numbers::Number;
use crate::{ReadOptions, Source};

/// Kinds of blocks.
pub(super) mod block {
    pub(crate) const MEAS_INFO: i32 = 101;
    pub(crate) const RAW_DATA: i32 = 102;
    pub(crate) const EVOKED: i32 = 104;
    pub(crate) const CONTINUOUS_DATA: i32 = 112;
    pub(crate) const CH_INFO: i32 = 113;
    pub(crate) const REF: i32 = 118;
    pub(crate) const IAS_RAW_DATA: i32 = 119;
    /// Epochs before MNE 0.11.
    pub(crate) const OLD_EPOCHS: i32 = 122;
    pub(crate) const MNE_BAD_CHANNELS: i32 = 359;
    pub(crate) const MNE_EVENTS: i32 = 361;
    pub(crate) const MNE_EPOCHS: i32 = 373;
    pub(crate) const MNE_ANNOTATIONS: i32 = 3810;
}

/// Kinds of tags.
pub(super) mod tag {
    pub(crate) const BLOCK_START: i32 = 104;
    pub(crate) const BLOCK_END: i32 = 105;
    pub(crate) const REF_ROLE: i32 = 115;
    pub(crate) const REF_FILE_NUM: i32 = 117;
    pub(crate) const REF_FILE_NAME: i32 = 118;
    pub(crate) const NCHAN: i32 = 200;
    pub(crate) const SFREQ: i32 = 201;
    pub(crate) const CH_INFO: i32 = 203;
    pub(crate) const MEAS_DATE: i32 = 204;
    pub(crate) const COMMENT: i32 = 206;
    pub(crate) const FIRST_SAMPLE: i32 = 208;
    pub(crate) const LAST_SAMPLE: i32 = 209;
    pub(crate) const CH_DACQ_NAME: i32 = 258;
    pub(crate) const DATA_BUFFER: i32 = 300;
    pub(crate) const DATA_SKIP: i32 = 301;
    pub(crate) const EPOCH: i32 = 302;
    pub(crate) const DATA_SKIP_SAMP: i32 = 303;
    pub(crate) const MNE_CH_NAME_LIST: i32 = 3507;
    pub(crate) const MNE_EVENT_LIST: i32 = 3561;
    pub(crate) const MNE_BASELINE_MIN: i32 = 3568;
    pub(crate) const MNE_BASELINE_MAX: i32 = 3569;
}

/// Bits of a type that say that numbers are a matrix.
const MATRIX: u32 = 0xffff_0000;

/// One tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) kind: i32,
    pub(super) form: u32,
    pub(super) size: u64,
    /// Where its data start.
    pub(super) at: u64,
    /// The innermost block it is in, and the number of that block.
    pub(super) block: i32,
    pub(super) nth: u32,
}

/// All tags of a file in their order.
pub(super) struct Directory {
    pub(super) entries: Vec<Entry>,
    /// Whether the file ends inside its last tag.
    pub(super) cut: Option<String>,
}

impl Directory {
    /// Walks from tag to tag. A file that ends inside one is refused, or noted on request.
    pub(super) fn read(source: &mut Source<'_>, options: &ReadOptions) -> Result<Self> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open: Vec<(i32, u32)> = Vec::new();
        let (mut position, mut blocks, mut cut) = (0, 0, None);
        while position < source.len() {
            source.seek_to(position, "a tag")?;
            let left = source.len() - position;
            let head = if left < 16 {
                None
            } else {
                let mut head = [0; 16];
                source.read_all(&mut head, "a tag")?;
                Some(head)
            };
            let word = |at: usize| {
                let bytes = head.as_ref().and_then(|h| h[at..].first_chunk());
                i32::from_be_bytes(bytes.copied().unwrap_or_default())
            };
            let (kind, form, size, next) = (word(0), word(4) as u32, word(8), word(12));
            let whole = head.is_some() && size >= 0 && left - 16 >= size as u64;
            if !whole {
                let what = format!("the file ends inside a tag that starts at byte {position}");
                if !options.partial || entries.is_empty() {
                    return Err(source.malformed(
                        position,
                        format!(
                            "{what} (kind {kind}, {size} bytes); fetch it again, or keep what is \
                             there with the option `partial`"
                        ),
                    ));
                }
                cut = Some(what);
                break;
            }
            let (block, nth) = open.last().copied().unwrap_or((0, 0));
            let at = position + 16;
            match kind {
                tag::BLOCK_START if size == 4 => {
                    let mut bytes = [0; 4];
                    source.read_all(&mut bytes, "a block")?;
                    blocks += 1;
                    open.push((i32::from_be_bytes(bytes), blocks));
                    // A block without tags is a block all the same.
                    let (block, nth) = (i32::from_be_bytes(bytes), blocks);
                    entries.push(Entry {
                        kind,
                        form,
                        size: 0,
                        at,
                        block,
                        nth,
                    });
                }
                tag::BLOCK_END => drop(open.pop()),
                _ => entries.push(Entry {
                    kind,
                    form,
                    size: size as u64,
                    at,
                    block,
                    nth,
                }),
            }
            position = match next {
                0 => at + size as u64,
                -1 => break,
                // Nothing follows the last tag, wherever it points.
                _ if at + size as u64 == source.len() => break,
                // Backwards the walk would not end, and tags that overlap hold more than the file.
                next if next > 0 && next as u64 >= at + size as u64 => next as u64,
                other => {
                    let reason = format!(
                        "the tag after this one is said to start at byte {other}, this one ends \
                         at {}; read this FIF file with MNE and save it again",
                        at + size as u64
                    );
                    return Err(source.malformed(position + 12, reason));
                }
            };
        }
        Ok(Self { entries, cut })
    }

    /// The first of these kinds of block that is there.
    pub(super) fn block_of(&self, kinds: &[i32]) -> Option<i32> {
        let there = |kind: &&i32| self.entries.iter().any(|e| e.block == **kind);
        kinds.iter().find(there).copied()
    }

    /// The tags of the first block of a kind.
    pub(super) fn first_block(&self, block: i32) -> &[Entry] {
        let Some(from) = self.entries.iter().position(|e| e.block == block) else {
            return &[];
        };
        let nth = self.entries[from].nth;
        let to = self.entries.iter().rposition(|e| e.nth == nth);
        &self.entries[from..=to.unwrap_or(from)]
    }

    /// The first tag of a kind in blocks of a kind.
    pub(super) fn find(&self, block: i32, kind: i32) -> Option<Entry> {
        let mut entries = self.entries.iter();
        entries
            .find(|e| e.block == block && e.kind == kind)
            .copied()
    }
}

impl Entry {
    /// The bytes of the data; no more than `limit` make sense.
    pub(super) fn bytes(&self, source: &mut Source<'_>, limit: u64, what: &str) -> Result<Vec<u8>> {
        if self.size > limit {
            return Err(source.malformed(
                self.at,
                format!("{what} has {} bytes, at most {limit} make sense", self.size),
            ));
        }
        source.seek_to(self.at, what)?;
        source.read_vec(self.size, what)
    }

    /// How the numbers of the data are stored.
    pub(super) fn number(&self) -> Option<Number> {
        Some(match self.form & !MATRIX {
            2 | 16 => Number::I16,
            3 => Number::I32,
            4 => Number::F32,
            5 => Number::F64,
            7 => Number::U16,
            8 => Number::U32,
            _ => return None,
        })
    }

    /// The numbers of the data.
    pub(super) fn numbers(
        &self,
        source: &mut Source<'_>,
        limit: u64,
        what: &str,
    ) -> Result<Vec<f64>> {
        let Some(number) = self.number() else {
            return Err(source.malformed(
                self.at - 12,
                format!(
                    "{what} is of the type {}, which holds no numbers",
                    self.form
                ),
            ));
        };
        let bytes = self.bytes(source, limit, what)?;
        let size = number.size();
        let mut values = vec![0.0; bytes.len() / size];
        number.strided(true, &bytes, (0, size), (1.0, 0.0), &mut values);
        Ok(values)
    }

    /// A single number.
    pub(super) fn value(&self, source: &mut Source<'_>, what: &str) -> Result<f64> {
        let values = self.numbers(source, 64, what)?;
        let first = values.first().copied();
        first.ok_or_else(|| source.malformed(self.at, format!("{what} is empty")))
    }

    /// Text in Latin-1.
    pub(super) fn text(&self, source: &mut Source<'_>, what: &str) -> Result<String> {
        let bytes = self.bytes(source, u64::MAX, what)?;
        let text: String = bytes.iter().map(|&b| b as char).collect();
        Ok(text.trim_end_matches('\0').to_string())
    }

    /// Names with colons between; a colon in a name is `{COLON}`.
    pub(super) fn names(&self, source: &mut Source<'_>, what: &str) -> Result<Vec<String>> {
        let text = self.text(source, what)?;
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let names = text.split(':').map(|n| n.replace("{COLON}", ":"));
        Ok(names.collect())
    }
}
