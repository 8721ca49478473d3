//! Samples from a stream of bytes: lines of text, or binary values.
//!
//! A line that holds too few or too many values, or something that is no number, is a sample that
//! could not be read: its windows are rejected and the stream goes on. A column of the text may
//! hold markers: a label where something happens, empty or 0 elsewhere; a label that stays counts
//! once.

use std::io::{BufRead, Cursor, ErrorKind, Read};

use stiefel_eeg::{Channel, ChannelKind};

use super::recognise::is_text;
use super::{Flow, Format, Source};
use crate::{At, Block, Description, LiveError, Marker, Result};

/// A line longer than this holds no sample.
const LONGEST_LINE: u64 = 1 << 20;

/// So many first bytes tell the format of binary input; text is told by its first line.
const HEAD: usize = 4096;

/// How the input is to be understood.
#[derive(Debug, Clone, Default)]
pub struct SamplesOptions {
    /// The format, where somebody says it.
    pub format: Option<Format>,
    /// Names of the channels in the order of the input; without them the first line of text, or
    /// `own`.
    pub names: Option<Vec<String>>,
    /// The channels of the model.
    pub own: Vec<String>,
    /// Samples taken in at a time.
    pub block: usize,
    /// The column of text that holds markers, by its name in the first line.
    pub markers: Option<String>,
    /// Samples per second, and the unit, where somebody says them.
    pub rate: Option<f64>,
    /// See above.
    pub unit: String,
}

/// A source of blocks.
pub struct Samples<'a> {
    input: Box<dyn BufRead + 'a>,
    format: Format,
    block: usize,
    description: Description,
    /// The place of the marker column among the fields of a line.
    marker: Option<usize>,
    held: String,
    /// Samples read.
    read: i64,
    /// A first line that was no heading.
    first: Option<String>,
    bytes: Vec<u8>,
}

impl<'a> Samples<'a> {
    /// Looks at the first bytes of an input; waits for them.
    pub fn new(mut input: impl BufRead + 'a, options: &SamplesOptions) -> Result<Self> {
        let head = head(&mut input)?;
        // Nothing at all is the end, not a mistake of format.
        let format = match head.len() {
            0 => options.format.unwrap_or(Format::Csv),
            _ => Format::of(&head, options.format)?,
        };
        let mut samples = Self {
            input: Box::new(Cursor::new(head).chain(input)),
            format,
            block: options.block.max(1),
            description: Description {
                name: "the input".into(),
                rate: options.rate,
                channels: Vec::new(),
            },
            marker: None,
            held: String::new(),
            read: 0,
            first: None,
            bytes: Vec::new(),
        };
        let heading = samples.heading()?;
        if let Some(column) = &options.markers {
            let at = heading
                .as_ref()
                .and_then(|names| names.iter().position(|n| n == column));
            samples.marker = Some(at.ok_or_else(|| {
                LiveError::setting(
                    format!("the first line of the input does not name a column \"{column}\""),
                    "name the columns in the first line of text, with the column of the markers",
                )
            })?);
        }
        let marker = samples.marker;
        let heading = heading.map(|names| {
            let others = names
                .into_iter()
                .enumerate()
                .filter(|(i, _)| Some(*i) != marker);
            others.map(|(_, name)| name).collect::<Vec<_>>()
        });
        let told = options.names.clone().or(heading);
        if let (None, Some(first)) = (&told, &samples.first) {
            // Every sample of such a stream would be of the wrong width, and every window rejected.
            let (found, own) = (fields(first).len(), options.own.len());
            if found != own && own > 0 {
                return Err(LiveError::mismatch(
                    format!(
                        "the first line of the input has {found} values, and the model takes \
                         {own} channels"
                    ),
                    "name the channels of the input, in the first line of text or beside it; \
                     those the model does not need are left out",
                ));
            }
        }
        let names = told.unwrap_or_else(|| options.own.clone());
        if names.is_empty() {
            return Err(LiveError::setting("the input has no channels", "name them"));
        }
        samples.description.channels = names
            .into_iter()
            .map(|name| eeg(name, &options.unit))
            .collect();
        Ok(samples)
    }

    /// The names in the first line of text, if it holds names.
    fn heading(&mut self) -> Result<Option<Vec<String>>> {
        if self.format != Format::Csv {
            return Ok(None);
        }
        let Some(line) = self.line()? else {
            return Ok(None);
        };
        let fields = fields(&line);
        if fields.iter().any(|f| f.parse::<f64>().is_ok()) || fields.is_empty() {
            self.first = Some(line);
            return Ok(None);
        }
        Ok(Some(
            fields
                .iter()
                .map(|f| f.trim_matches('"').to_owned())
                .collect(),
        ))
    }

    fn lines(&mut self, out: &mut Block) -> Result<()> {
        let mut taken = 0;
        while taken < self.block {
            let line = match self.first.take() {
                Some(line) => line,
                None => match self.line()? {
                    Some(line) => line,
                    None => return Ok(()),
                },
            };
            if line.trim().is_empty() {
                continue;
            }
            self.sample(&line, out);
            self.read += 1;
            taken += 1;
        }
        Ok(())
    }

    fn sample(&mut self, line: &str, out: &mut Block) {
        let width = self.description.channels.len();
        let mut fields = fields(line);
        if let Some(at) = self.marker {
            let label = if at < fields.len() {
                fields.remove(at).trim_matches('"')
            } else {
                ""
            };
            if label != self.held {
                label.clone_into(&mut self.held);
                if !label.is_empty() && label != "0" {
                    out.markers.push(Marker::new(At::Sample(self.read), label));
                }
            }
        }
        if fields.len() != width {
            out.short.push(out.samples.len() / width);
        }
        for c in 0..width {
            let value = fields.get(c).and_then(|f| f.parse().ok());
            out.samples.push(value.unwrap_or(f64::NAN));
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> Result<Option<String>> {
        self.bytes.clear();
        let mut limited = Read::take(&mut self.input, LONGEST_LINE);
        let count = limited
            .read_until(b'\n', &mut self.bytes)
            .map_err(|e| unread(&e))?;
        if count == 0 {
            return Ok(None);
        }
        if count as u64 == LONGEST_LINE {
            return Err(LiveError::failed(
                format!(
                    "sample {}: a line longer than {LONGEST_LINE} bytes",
                    self.read
                ),
                "give a line per sample, or say that the input is binary (f32 or f64)",
            ));
        }
        // What is no text is no number either.
        Ok(Some(
            String::from_utf8_lossy(&self.bytes)
                .trim_end_matches(['\n', '\r'])
                .to_owned(),
        ))
    }

    fn values<const B: usize>(
        &mut self,
        out: &mut Block,
        value: impl Fn([u8; B]) -> f64,
    ) -> Result<()> {
        let width = self.description.channels.len();
        let size = width * B;
        self.bytes.resize(self.block.saturating_mul(size), 0);
        let mut filled = 0;
        while filled < self.bytes.len() {
            match self.input.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(unread(&e)),
            }
        }
        for chunk in self.bytes[..filled].as_chunks::<B>().0 {
            out.samples.push(value(*chunk));
        }
        if !filled.is_multiple_of(size) {
            let whole = filled / size;
            out.samples.truncate(whole * width);
            out.samples.extend(std::iter::repeat_n(f64::NAN, width));
            out.short.push(whole);
        }
        self.read += (out.samples.len() / width) as i64;
        Ok(())
    }
}

impl Source for Samples<'_> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn next(&mut self, block: &mut Block) -> Result<Flow> {
        match self.format {
            Format::Csv => self.lines(block)?,
            Format::F32 => self.values(block, |b: [u8; 4]| f32::from_le_bytes(b).into())?,
            Format::F64 => self.values(block, f64::from_le_bytes)?,
        }
        Ok(if block.samples.is_empty() {
            Flow::End
        } else {
            Flow::Block
        })
    }
}

impl std::fmt::Debug for Samples<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Samples")
            .field("format", &self.format)
            .field("description", &self.description)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

/// The first bytes: a line of text, or enough numbers to tell their width.
fn head(input: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < HEAD && !(head.contains(&b'\n') && is_text(&head)) {
        let more = match input.fill_buf() {
            Ok(more) => more,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(unread(&e)),
        };
        if more.is_empty() {
            break;
        }
        let count = more.len().min(HEAD - head.len());
        head.extend_from_slice(&more[..count]);
        input.consume(count);
    }
    Ok(head)
}

fn unread(error: &std::io::Error) -> LiveError {
    LiveError::failed(
        format!("the input could not be read: {error}"),
        "check what writes it",
    )
}

fn eeg(name: String, unit: &str) -> Channel {
    Channel {
        name,
        kind: ChannelKind::Eeg,
        unit: unit.to_owned(),
    }
}

/// The values of a line: between commas, semicolons or tabs, or between blanks where there is none
/// of these.
fn fields(line: &str) -> Vec<&str> {
    match line.chars().find(|c| [',', ';', '\t'].contains(c)) {
        Some(by) => {
            let mut fields: Vec<&str> = line.split(by).map(str::trim).collect();
            // A separator at the end of the line separates nothing.
            if fields.last().is_some_and(|f| f.is_empty()) {
                fields.pop();
            }
            fields
        }
        None => line.split_whitespace().collect(),
    }
}
