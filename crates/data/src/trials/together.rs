//! One set of trials from several sources.

use super::known::Located;
use super::{OP, Trials, check_count};
use crate::{DataError, Factor, Labels, Preparation, Result};
use std::sync::Arc;
use stiefel_linalg::MatBatch;

impl Trials {
    /// Puts sets together, in their order: people, classes and runs of one name are the same. The
    /// sets have the same channels and views; a trial that is in two of them is refused with both
    /// places.
    ///
    /// ```
    /// use stiefel_data::{Factor, Trials};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let set = |person: &str, scale: f64| {
    ///     let x = MatBatch::from_fn(1, 2, 2, |_, r, c| if r == c { scale } else { 0.0 });
    ///     Trials::new(
    ///         x,
    ///         Factor::from_labels(["hands"]),
    ///         Factor::from_labels([person]),
    ///     )
    /// };
    /// let both = Trials::together(&[set("anna", 1.0)?, set("bert", 2.0)?])?;
    /// assert_eq!(both.domains().names(), ["anna", "bert"]);
    /// assert!(Trials::together(&[set("anna", 1.0)?, set("bert", 1.0)?]).is_err());
    /// # Ok::<(), stiefel_data::DataError>(())
    /// ```
    pub fn together(sets: &[Self]) -> Result<Self> {
        let Some((first, others)) = sets.split_first() else {
            return Err(DataError::Impossible {
                op: OP,
                why: "there is no set of trials to begin with".into(),
                remedy: "give at least one",
            });
        };
        if others.is_empty() {
            return Ok(first.clone());
        }
        for other in others {
            check_count("channels", first.channels_count(), other.channels_count())?;
            check_count("views", first.views(), other.views())?;
            if first.channels != other.channels {
                return Err(DataError::Impossible {
                    op: OP,
                    why: "two sets with different channels cannot be put together".into(),
                    remedy: "put the channels of both in one order",
                });
            }
        }
        let (n, count) = (first.channels_count(), sets.iter().map(Self::len).sum());
        let view = |v: usize| {
            let x = sets.iter().flat_map(|set| set.view(v).data());
            let x = MatBatch::from_vec(count, n, n, x.copied().collect());
            Ok(Arc::new(x?))
        };
        let factor = |of: fn(&Self) -> Option<&Factor>| {
            let each: Option<Vec<&Factor>> = sets.iter().map(of).collect();
            each.map(|each| {
                Factor::from_labels(each.iter().flat_map(|f| (0..f.len()).map(|i| f.label(i))))
            })
        };
        let all = |of: fn(&Self) -> &Factor| {
            let labels = sets
                .iter()
                .flat_map(|set| (0..set.len()).map(move |i| of(set).label(i)));
            Factor::from_labels(labels)
        };
        let weights = |set: &Self| match set.weights() {
            Some(weights) => weights.to_vec(),
            None => vec![1.0; set.len()],
        };
        let any = |has: fn(&Self) -> bool| sets.iter().any(has);
        let together = Self {
            views: (0..first.views()).map(view).collect::<Result<_>>()?,
            classes: all(Self::classes),
            domains: all(Self::domains),
            subjects: factor(|set| set.subjects.as_ref()),
            sessions: factor(|set| set.sessions.as_ref()),
            runs: factor(|set| set.runs.as_ref()),
            weights: any(|set| set.weights.is_some())
                .then(|| sets.iter().flat_map(weights).collect()),
            broad: None,
            located: located(sets),
            places: (0..count).collect(),
            preparation: Arc::new(preparation(sets)),
            ..first.clone()
        };
        check_distinct_trials(sets, &together)?;
        Ok(together)
    }
}

/// The recordings of all sets, where each knows its own.
fn located(sets: &[Trials]) -> Option<Located> {
    let mut each = sets.iter().map(|set| set.located.as_ref());
    let first = each.next()??.clone();
    each.try_fold(first, |all, next| Some(all.joined(next?)))
}

/// The preparation of the first set that knows it, with the labels of all.
fn preparation(sets: &[Trials]) -> Preparation {
    let mut known = sets.iter().filter_map(|set| set.preparation().known());
    let Some(mut made) = known.next().cloned() else {
        return Preparation::Unknown;
    };
    let mut labels: Labels = made.labels.clone();
    for other in known {
        other
            .labels
            .uses()
            .iter()
            .for_each(|u| labels.add(u.clone()));
    }
    made.labels = labels;
    Preparation::from(made)
}

fn check_distinct_trials(sets: &[Trials], together: &Trials) -> Result<()> {
    // Where the trials of each set begin.
    let starts: Vec<usize> = (sets.iter())
        .scan(0, |next, set| {
            let start = *next;
            *next += set.len();
            Some(start)
        })
        .collect();
    let place = |trial: usize| {
        let set = starts.partition_point(|&start| start <= trial).max(1) - 1;
        (set, trial - starts[set])
    };
    let places = together.repeated().into_iter();
    let mut places = places.map(|(trial, first)| (place(trial), place(first)));
    let Some(((set, trial), (other, first))) = places.find(|(one, two)| one.0 != two.0) else {
        return Ok(());
    };
    let name = |set: usize| match sets[set].origin().name.as_str() {
        "" => format!("set {}", set + 1),
        name => name.to_owned(),
    };
    let (one, two) = (name(set), name(other));
    Err(DataError::Setting {
        what: format!("trial {trial} of {one} is the same as trial {first} of {two}"),
        remedy: "give every trial once",
    })
}
