//! One file per subject.

mod report;
