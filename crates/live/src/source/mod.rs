//! Where samples come from: standard input or a TCP connection, a recording that is played again,
//! an LSL stream.

mod lsl;
mod recognise;
mod replay;
mod tcp;
mod text;

pub use lsl::{LslOptions, LslSource};
pub use recognise::Format;
pub(crate) use replay::stride;
pub use replay::{Replay, Speed};
pub use tcp::connect;
pub use text::{Samples, SamplesOptions};

use crate::{Block, Description, Result};

/// What came of asking a source for more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Samples, markers, or both.
    Block,
    /// Nothing for a while; ask again.
    Idle,
    /// The stream was lost, and why; it may come back.
    Lost(String),
    /// A lost stream is back.
    Found(String),
    /// There is no more.
    End,
}

/// A source of samples.
pub trait Source {
    /// What it says of its samples.
    fn description(&self) -> &Description;

    /// Fills an empty block with what comes next; comes back within a fraction of a second even
    /// where nothing comes.
    fn next(&mut self, block: &mut Block) -> Result<Flow>;
}
