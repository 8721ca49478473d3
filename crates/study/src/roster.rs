//! Which methods the studies run unless they are told others: names of kinds and their variants.

/// What every other method is compared with.
pub(crate) const BASELINE: &str = "baseline";

/// Methods of the main table that are no peers.
pub(crate) const MAIN: [&str; 5] = [BASELINE, "naive", "dasp", "spdnet+bn", "choir"];

/// Networks on all views of a trial, where there are several.
pub(crate) const VIEW_NETWORKS: [&str; 2] = ["spdnet-views", "dasp-views"];

/// What stands beside the conditions of the leave-one-subject-out study.
pub(crate) const LOSO: [&str; 5] = ["spdnet+bn", "choir", "ts+lr", "mdm", "recentred-ts+lr"];

/// What joins them where there are several views.
pub(crate) const LOSO_VIEWS: [&str; 2] = ["spdnet-views", "fb-recentred-ts+lr"];

/// Rows of the leave-one-subject-out study that the study of decisions in order keeps.
pub(crate) const ONLINE: [&str; 5] = [BASELINE, "input-only", "zero", "choir", "ts+lr"];

/// Methods that a few labelled trials of a new person calibrate: ours, and what it is set against.
pub(crate) const CALIBRATION: [&str; 2] = ["choir", "recentred-ts+lr"];

/// What joins them where there are several views.
pub(crate) const CALIBRATION_VIEWS: [&str; 1] = ["fb-recentred-ts+lr"];

/// Returns the name that a method has in tables: the network with a single filter is their
/// baseline.
pub(crate) fn in_tables(name: &str) -> &str {
    if name == "spdnet" { BASELINE } else { name }
}
