//! A categorical variable: one zero-based index per trial into a list of distinct names.

use crate::{DataError, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Class, domain or run of each trial.
///
/// ```
/// use stiefel_data::Factor;
///
/// let classes = Factor::new("class", vec!["hand".into(), "feet".into()], vec![0, 1, 1])?;
/// assert_eq!(classes.name(1), "feet");
/// assert_eq!(classes.counts(), [1, 2]);
/// // From labels: names in order of first appearance.
/// let domains = Factor::from_labels(["s2", "s1", "s2"]);
/// assert_eq!(
///     (domains.indices(), domains.names()),
///     (&[0, 1, 0][..], &["s2".to_string(), "s1".to_string()][..])
/// );
/// assert!(Factor::new("class", vec!["hand".into()], vec![1]).is_err());
/// # Ok::<(), stiefel_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    // Shared: every split of a dataset has the same names.
    names: Arc<[String]>,
    indices: Vec<usize>,
}

impl Factor {
    /// From names and one index per trial; `what` (class, domain, run) is used in errors.
    pub fn new(what: &'static str, names: Vec<String>, indices: Vec<usize>) -> Result<Self> {
        check_distinct(what, &names)?;
        let count = names.len();
        if let Some(trial) = indices.iter().position(|&i| i >= count) {
            return Err(DataError::IndexOutOfRange {
                op: "trials",
                what,
                trial,
                index: indices[trial],
                count,
            });
        }
        Ok(Self {
            names: names.into(),
            indices,
        })
    }

    /// From one label per trial; the names are the labels in order of first appearance.
    pub fn from_labels<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut indices = Vec::new();
        for label in labels {
            let label = label.as_ref();
            let index = known.get(label).copied().unwrap_or_else(|| {
                known.insert(label.to_owned(), names.len());
                names.push(label.to_owned());
                names.len() - 1
            });
            indices.push(index);
        }
        Self {
            names: names.into(),
            indices,
        }
    }

    /// All names, including those no trial has.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of an index.
    ///
    /// # Panics
    /// If `index >= self.names().len()`.
    pub fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// One index per trial.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// How many trials.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is no trial.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The name of a trial's.
    ///
    /// # Panics
    /// Where there is no such trial.
    pub fn label(&self, trial: usize) -> &str {
        &self.names[self.indices[trial]]
    }

    /// How many trials each name has.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &i in &self.indices {
            counts[i] += 1;
        }
        counts
    }

    /// The indices that at least one trial has, ascending.
    pub fn present(&self) -> Vec<usize> {
        let counts = self.counts();
        (0..counts.len()).filter(|&i| counts[i] > 0).collect()
    }

    /// The trials at `at`, which the caller has checked; names stay.
    pub(crate) fn select(&self, at: &[usize]) -> Self {
        Self {
            names: Arc::clone(&self.names),
            indices: at.iter().map(|&i| self.indices[i]).collect(),
        }
    }
}

/// An error unless all names differ.
pub fn check_distinct(what: &'static str, names: &[String]) -> Result<()> {
    let mut seen = HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, second) {
            return Err(DataError::DuplicateName {
                op: "trials",
                what,
                name: name.clone(),
                first,
                second,
            });
        }
    }
    Ok(())
}
