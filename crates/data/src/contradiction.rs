//! What a model and data, or two sets of data, say that cannot both hold.

use std::fmt;

/// Two preparations, or a preparation and an option, that say different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What they speak of.
    pub what: &'static str,
    /// What the first says.
    pub expected: String,
    /// What the second says.
    pub found: String,
}

impl fmt::Display for Contradiction {
    /// What a model says, and what the data say that contradict it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the model was trained with {}, but the trials have {}",
            self.what, self.expected, self.found
        )
    }
}
