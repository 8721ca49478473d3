//! Which part of a data set is wanted.

use super::dataset::{Class, Dataset, Task};
use crate::error::catalogue::{CatalogueError, Result};

/// Which part of a data set is wanted; everything that is not named takes the data set's default.
///
/// ```
/// use stiefel_eeg::catalogue::{Selection, find};
/// let dataset = find("eegmmidb")?;
/// // Classes decide the runs: both hands against feet needs runs 6, 10 and 14.
/// let selection = Selection::subjects([1]).with_classes(["both_hands", "feet"]);
/// assert_eq!(dataset.files(&selection)?[0].name, "S001/S001R06.edf");
/// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    subjects: Option<Vec<u16>>,
    tasks: Option<Vec<String>>,
    classes: Option<Vec<String>>,
}

impl Selection {
    /// All subjects, the default task, its default classes.
    pub fn all() -> Self {
        Self::default()
    }

    /// These subjects.
    pub fn subjects(subjects: impl IntoIterator<Item = u16>) -> Self {
        Self {
            subjects: Some(subjects.into_iter().collect()),
            ..Self::default()
        }
    }

    /// The same with these tasks; `all` stands for every task.
    pub fn with_tasks<T: Into<String>>(mut self, tasks: impl IntoIterator<Item = T>) -> Self {
        self.tasks = Some(tasks.into_iter().map(Into::into).collect());
        self
    }

    /// The same with these classes. Without tasks, the tasks are those that have one of them.
    pub fn with_classes<T: Into<String>>(mut self, classes: impl IntoIterator<Item = T>) -> Self {
        self.classes = Some(classes.into_iter().map(Into::into).collect());
        self
    }
}

/// A selection that the data set can meet.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    /// In ascending order, each once.
    pub(super) subjects: Vec<u16>,
    pub(super) tasks: Vec<&'static Task>,
    /// `None`: the default classes of each task.
    classes: Option<Vec<&'static str>>,
}

impl Chosen {
    /// The chosen classes of one task.
    pub(super) fn classes_of(&self, task: &'static Task) -> Vec<&'static Class> {
        let chosen = |c: &&Class| match &self.classes {
            None => c.by_default,
            Some(names) => names.contains(&c.name),
        };
        task.classes.iter().filter(chosen).collect()
    }
}

impl Dataset {
    /// Checks a selection against the tables.
    pub(super) fn choose(&'static self, selection: &Selection) -> Result<Chosen> {
        let classes = selection.classes.as_ref();
        let classes = classes.map(|names| self.named_classes(names)).transpose()?;
        let mut tasks = self.named_tasks(selection.tasks.as_deref(), classes.as_deref())?;
        if let Some(classes) = &classes {
            let has = |t: &&Task, class: &str| t.classes.iter().any(|c| c.name == class);
            if let Some(lost) = classes.iter().find(|c| !tasks.iter().any(|t| has(t, c))) {
                return Err(CatalogueError::Selection {
                    what: format!(
                        "class {lost} does not occur in the chosen tasks of {}",
                        self.id
                    ),
                    remedy: "name a task that has it, or leave the task out".into(),
                });
            }
            tasks.retain(|t| classes.iter().any(|c| has(t, c)));
        }
        Ok(Chosen {
            subjects: self.named_subjects(selection.subjects.as_deref())?,
            tasks,
            classes,
        })
    }

    fn named_subjects(&self, subjects: Option<&[u16]>) -> Result<Vec<u16>> {
        let Some(subjects) = subjects else {
            return Ok(self.offered().collect());
        };
        for &subject in subjects {
            let left_out = self.left_out.iter().find(|l| l.subject == subject);
            if let Some(left_out) = left_out {
                return Err(CatalogueError::Selection {
                    what: format!(
                        "subject {subject} of {} is left out: {}",
                        self.id, left_out.reason
                    ),
                    remedy: "choose others".into(),
                });
            }
            if !(1..=self.subjects).contains(&subject) {
                return Err(CatalogueError::Selection {
                    what: format!("{} has no subject {subject}", self.id),
                    remedy: format!("its subjects are 1 to {}", self.subjects),
                });
            }
        }
        let mut subjects = subjects.to_vec();
        subjects.sort_unstable();
        subjects.dedup();
        if subjects.is_empty() {
            return Err(CatalogueError::Selection {
                what: "no subject was chosen".into(),
                remedy: format!("{} has subjects 1 to {}", self.id, self.subjects),
            });
        }
        Ok(subjects)
    }

    fn named_tasks(
        &'static self,
        names: Option<&[String]>,
        classes: Option<&[&str]>,
    ) -> Result<Vec<&'static Task>> {
        let Some(names) = names else {
            // Classes may come from any task; without them the first task is the default.
            let count = if classes.is_some() {
                self.tasks.len()
            } else {
                1
            };
            return Ok(self.tasks.iter().take(count).collect());
        };
        for name in names {
            let known = self.tasks.iter().any(|t| t.name.eq_ignore_ascii_case(name));
            if !known && !name.eq_ignore_ascii_case("all") {
                return Err(unknown(
                    self.id,
                    "task",
                    name,
                    self.tasks.iter().map(|t| t.name),
                ));
            }
        }
        let wanted = |t: &&Task| {
            let mut names = names.iter();
            names.any(|n| n.eq_ignore_ascii_case("all") || n.eq_ignore_ascii_case(t.name))
        };
        let tasks: Vec<_> = self.tasks.iter().filter(wanted).collect();
        if tasks.is_empty() {
            return Err(unknown(
                self.id,
                "task",
                "",
                self.tasks.iter().map(|t| t.name),
            ));
        }
        Ok(tasks)
    }

    fn named_classes(&self, names: &[String]) -> Result<Vec<&'static str>> {
        let all = self.classes();
        let named = names.iter().map(|name| {
            // `hands` is a word that other tools use; codes (`T1`, `2`) may differ between tasks
            // and do not count.
            let alias = |c: &Class| {
                let mut words = c
                    .labels
                    .iter()
                    .filter(|l| l.chars().all(char::is_alphabetic));
                words.any(|l| l.eq_ignore_ascii_case(name))
            };
            let found = all
                .iter()
                .find(|c| c.name.eq_ignore_ascii_case(name) || alias(c));
            found
                .map(|c| c.name)
                .ok_or_else(|| unknown(self.id, "class", name, all.iter().map(|c| c.name)))
        });
        let named = named.collect::<Result<Vec<_>>>()?;
        if named.is_empty() {
            return Err(unknown(self.id, "class", "", all.iter().map(|c| c.name)));
        }
        Ok(named)
    }
}

fn unknown<'n>(
    dataset: &str,
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> CatalogueError {
    CatalogueError::Selection {
        what: format!("{dataset} has no {kind} {name:?}"),
        remedy: format!("choose among {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Reads a list of subjects: `3`, `1-5`, `1-3,7,10-12`.
///
/// ```
/// use stiefel_eeg::catalogue::parse_subjects;
/// assert_eq!(parse_subjects("1-3, 7")?, [1, 2, 3, 7]);
/// assert!(parse_subjects("3-1").is_err());
/// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
/// ```
pub fn parse_subjects(text: &str) -> Result<Vec<u16>> {
    let number = |part: &str| part.trim().parse::<u16>().ok().filter(|n| *n > 0);
    let mut subjects = Vec::new();
    for part in text.split(',') {
        let range = match part.split_once('-') {
            None => number(part).map(|n| (n, n)),
            Some((first, last)) => number(first).zip(number(last)),
        };
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
            return Err(CatalogueError::Selection {
                what: format!("{:?} is not a list of subjects", part.trim()),
                remedy: "write numbers and ranges, counted from 1: 1-3,7".into(),
            });
        };
        subjects.extend(first..=last);
    }
    subjects.sort_unstable();
    subjects.dedup();
    Ok(subjects)
}
