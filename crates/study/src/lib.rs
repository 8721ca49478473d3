//! Studies: the paper's tables from one call, with peers, honest statistics, and nothing lost when the power fails.
//!
//! ```text
//! dataset ─▶ plan (methods × folds × seeds) ─▶ units ─▶ records on disk ─▶ summary (table, tests) ─▶ report
//! ```
//!
//! A **unit** is one method on one fold with one seed. Its identity is derived from its content (data, configuration, code version);
//! its result, a [`UnitRecord`], is written atomically when it is finished.

pub mod dataset;
mod error;
pub mod prepare;
mod record;
mod summary;

pub use dataset::{
    ChannelChoice, DataChoice, Dataset, Provenance, load, load_watched, synthetic_trials, trials_of,
};
pub use error::{Result, StudyError};
pub use record::{DatasetSummary, Outcome, RoutingRecord, UnitRecord};
pub use summary::{Comparison, MeanStd, PaperRow, Row, StudySummary, UnitScore};
