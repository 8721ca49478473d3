//! Studies: the paper's tables from one call, with peers, honest statistics, and nothing lost when
//! the power fails.
//!
//! ```text
//! dataset ─▶ plan (methods × folds × seeds) ─▶ units ─▶ records on disk ─▶ summary (table, tests) ─▶ report
//! ```
//!
//! A **unit** is one method on one fold with one seed. Its identity is derived from its content
//! (data, configuration, code version); its result, a [`UnitRecord`], is written atomically when it
//! is finished. A study that was stopped goes on from there and ends in the same table, bit for
//! bit.
//!
//! ```
//! use stiefel_eeg::load;
//! use stiefel_study::{
//!     Cancel, Plan, Store, Study, StudyConfig, Unwatched, run, summarise, table,
//! };
//!
//! let mut config =
//!     StudyConfig::new(Study::Main, "synthetic:bnci2015001,subjects=2,trials=10");
//! config.methods = vec!["baseline".into(), "mdm".into()];
//! config.training.epochs = 2;
//! let data = load(&config.data, &config.choice)?;
//! let plan = Plan::new(config, &data)?;
//! let folder = std::env::temp_dir().join(format!("stiefel-doc-{}", std::process::id()));
//! let store = Store::open(&folder)?;
//! let records = run(&plan, &store, 2, &Cancel::default(), &Unwatched)?;
//! println!("{}", table::text(&summarise(&plan, records)?));
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), stiefel_study::StudyError>(())
//! ```

mod about;
mod comparisons;
mod config;
mod error;
pub mod family;
mod made;
pub mod method;
mod nuisance;
mod paper;
mod plan;
mod record;
pub mod report;
mod roster;
mod run;
mod settings;
pub mod stats;
mod store;
mod subject_score;
mod summarise;
mod summary;
pub mod table;
pub mod tolerance;
mod unit;
mod verdict;

pub use about::about;
pub use config::{SplitUnit, Study, StudyConfig};
pub use error::{Result, StudyError};
pub use family::Family;
pub use made::Made;
pub use method::{Method, Named};
pub use plan::Plan;
pub use record::{DatasetSummary, NewDomains, Outcome, Patterns, RoutingRecord, UnitRecord};
pub use run::{StudyObserver, Unwatched, missing, run};
pub use stats::MeanStd;
pub use store::{Store, write_atomically};
pub use subject_score::{SubjectScore, subject_scores};
pub use summarise::{conclude, summarise};
pub use summary::{Comparison, Headline, PaperRow, PersonDifference, Row, StudySummary, UnitScore};
pub use unit::{CODE, Cancel, Identity, Unit, execute};
