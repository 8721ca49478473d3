//! Samples from a stream of bytes, in blocks: text lines, or binary values in little-endian order.

use std::io::{BufRead, ErrorKind};

use clap::ValueEnum;

use crate::failure::{Failure, Outcome};

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A line per sample
    Csv,
    /// Binary, four bytes per value
    F32,
    /// Binary, eight bytes per value
    F64,
}

/// A line longer than this holds no sample.
const LONGEST_LINE: u64 = 1 << 20;

/// A source of blocks.
pub(super) struct Samples<'a> {
    input: Box<dyn BufRead + 'a>,
    format: Format,
    block: usize,
    channels: usize,
    /// Lines or samples read.
    read: u64,
    /// A first line that was no heading.
    first: Option<String>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(input: impl BufRead + 'a, format: Format, block: usize) -> Self {
        Self {
            input: Box::new(input),
            format,
            block,
            channels: 0,
            read: 0,
            first: None,
        }
    }

    pub(super) fn channels(&self) -> usize {
        self.channels
    }

    pub(super) fn set_channels(&mut self, count: usize) -> Outcome {
        if count == 0 {
            return Err(Failure::Misuse("the input has no channels".into()));
        }
        self.channels = count;
        Ok(())
    }

    /// Where the last block ended, for messages.
    pub(super) fn place(&self) -> String {
        match self.format {
            Format::Csv => format!("up to line {}", self.read),
            Format::F32 | Format::F64 => format!("up to sample {}", self.read),
        }
    }

    /// The names in the first line of text, if it holds names.
    pub(super) fn heading(&mut self) -> Result<Option<Vec<String>>, Failure> {
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
        let names = fields.iter().map(|f| f.trim_matches('"').to_owned());
        Ok(Some(names.collect()))
    }

    /// Fills `out` with the next block, shorter at the end of the input; false where nothing is left.
    pub(super) fn next_block(&mut self, out: &mut Vec<f64>) -> Result<bool, Failure> {
        out.clear();
        match self.format {
            Format::Csv => self.next_lines(out)?,
            Format::F32 => self.next_values(out, |b: [u8; 4]| f32::from_le_bytes(b).into())?,
            Format::F64 => self.next_values(out, f64::from_le_bytes)?,
        }
        Ok(!out.is_empty())
    }

    fn next_lines(&mut self, out: &mut Vec<f64>) -> Outcome {
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
            self.sample(&line, out)?;
            taken += 1;
        }
        Ok(())
    }

    fn sample(&self, line: &str, out: &mut Vec<f64>) -> Outcome {
        let (at, fields) = (self.read, fields(line));
        if fields.len() != self.channels {
            return Err(Failure::Failed(format!(
                "line {at}: {} values, {} channels are expected; give all channels of a sample on a line, or name them with \
                 --channels",
                fields.len(),
                self.channels
            )));
        }
        for (channel, field) in fields.iter().enumerate() {
            let value = field.parse().ok().filter(|x: &f64| x.is_finite());
            out.push(value.ok_or_else(|| {
                Failure::Failed(format!(
                    "line {at}, value {}: {field:?} is no finite number; repeat the last good sample in its place",
                    channel + 1
                ))
            })?);
        }
        Ok(())
    }

    /// The next line without its end.
    fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut line = Vec::new();
        let mut limited = std::io::Read::take(&mut self.input, LONGEST_LINE);
        let count = limited
            .read_until(b'\n', &mut line)
            .map_err(|e| unread(&e))?;
        if count == 0 {
            return Ok(None);
        }
        self.read += 1;
        if count as u64 == LONGEST_LINE {
            return Err(Failure::Failed(format!(
                "line {}: longer than {LONGEST_LINE} bytes; is this binary? then say --format f32 or f64",
                self.read
            )));
        }
        match String::from_utf8(line) {
            Ok(line) => Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned())),
            Err(_) => Err(Failure::Failed(format!(
                "line {}: no text; is this binary? then say --format f32 or f64",
                self.read
            ))),
        }
    }

    fn next_values<const B: usize>(
        &mut self,
        out: &mut Vec<f64>,
        value: impl Fn([u8; B]) -> f64,
    ) -> Outcome {
        let size = self.channels * B;
        let mut bytes = vec![0; self.block.saturating_mul(size)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(unread(&e)),
            }
        }
        let (whole, part) = (filled / size, filled % size);
        if part > 0 {
            return Err(Failure::Failed(format!(
                "sample {}: the input ends after {part} of its {size} bytes ({} channels of {B} bytes); check --format and --channels",
                self.read + whole as u64,
                self.channels
            )));
        }
        for chunk in bytes[..filled].as_chunks::<B>().0 {
            out.push(value(*chunk));
        }
        self.read += whole as u64;
        Ok(())
    }
}

fn unread(error: &std::io::Error) -> Failure {
    Failure::Failed(format!("the standard input could not be read: {error}"))
}

/// The values of a line.
fn fields(line: &str) -> Vec<&str> {
    let by = |c: char| c == ',' || c == ';' || c.is_whitespace();
    line.split(by).filter(|f| !f.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(
        bytes: &[u8],
        format: Format,
        block: usize,
        channels: usize,
    ) -> Result<Vec<Vec<f64>>, String> {
        let mut samples = Samples::new(bytes, format, block);
        let text = |f: Failure| format!("{f:?}");
        samples.heading().map_err(text)?;
        samples.set_channels(channels).map_err(text)?;
        let (mut blocks, mut block) = (Vec::new(), Vec::new());
        while samples.next_block(&mut block).map_err(text)? {
            blocks.push(block.clone());
        }
        Ok(blocks)
    }

    #[test]
    fn text_in_blocks() {
        let text = b"C3,C4\n1,2\r\n\n3; 4\n5\t6";
        let blocks = all(text, Format::Csv, 2, 2).unwrap();
        assert_eq!(blocks, [vec![1., 2., 3., 4.], vec![5., 6.]]);
        assert_eq!(all(b"1 2\n", Format::Csv, 1, 2).unwrap(), [vec![1., 2.]]);
        assert!(all(b"", Format::Csv, 1, 2).unwrap().is_empty());
    }

    #[test]
    fn binary_in_blocks() {
        let bytes: Vec<u8> = [1.5_f32, -2.0, 3.0, 4.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let blocks = all(&bytes, Format::F32, 1, 2).unwrap();
        assert_eq!(blocks, [[1.5, -2.0], [3.0, 4.0]]);
        let bytes: Vec<u8> = [1.5_f64, -2.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        assert_eq!(all(&bytes, Format::F64, 8, 2).unwrap(), [[1.5, -2.0]]);
        let message = all(&bytes[..15], Format::F64, 8, 2).unwrap_err();
        assert!(message.contains("15 of its 16 bytes"), "{message}");
    }

    #[test]
    fn what_cannot_be_a_sample_is_named_with_its_line() {
        for (bytes, part) in [
            (&b"1,2\n3\n"[..], "line 2: 1 values, 2 channels"),
            (b"1,2\n3,x\n", "line 2, value 2: \\\"x\\\""),
            (b"1,2\nnan,1\n", "line 2, value 1"),
            (b"1,2\n\xff\xfe\n", "line 2: no text"),
        ] {
            let message = all(bytes, Format::Csv, 1, 2).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
        let long = vec![b'1'; 2 << 20];
        assert!(
            all(&long, Format::Csv, 1, 1)
                .unwrap_err()
                .contains("longer than")
        );
    }
}
