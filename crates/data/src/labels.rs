//! The classes that labels of events stood for, run by run, and what the events were.
//!
//! `T1` of EEGMMIDB is the left fist in some runs and both fists in others. A recipe says which
//! class a label stands for; [`Labels`] is what came of it on recordings: the runs, and the events'
//! meaning where a catalogue of public data knows it. It travels with the trials and with the
//! model, so that data whose labels say something else are refused.

use crate::contradiction::Contradiction;
use serde::{Deserialize, Serialize};

/// A label of events, the class it stood for, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelUse {
    /// The label, as the recordings have it.
    pub label: String,
    /// The class it stood for.
    pub class: String,
    /// Whether it stands for the class in these runs only, rather than wherever it occurs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_run: bool,
    /// The meaning of the events, where a catalogue knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// The runs it occurred in, each once; none where runs have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// How many events there were.
    pub events: usize,
}

impl LabelUse {
    /// Says in words what it stands for: `T1 = fists (hands) in runs R06, R10`.
    fn words(&self) -> String {
        let meaning = self.meaning.as_ref().filter(|m| **m != self.class);
        let meaning = meaning.map_or(String::new(), |m| format!(" ({m})"));
        format!("{} = {}{meaning}{}", self.label, self.class, self.place())
    }

    fn place(&self) -> String {
        match &self.runs[..] {
            [] => String::new(),
            [one] => format!(" in run {one}"),
            several => format!(" in runs {}", several.join(", ")),
        }
    }

    fn shares_a_run(&self, other: &Self) -> bool {
        self.runs.iter().any(|run| other.runs.contains(run))
    }
}

/// The labels of a set of recordings.
///
/// ```
/// use stiefel_data::{LabelUse, Labels};
///
/// let heard = |label: &str, class: &str, run: &str| {
///     let mut labels = Labels::default();
///     labels.add(LabelUse {
///         label: label.into(),
///         class: class.into(),
///         by_run: false,
///         meaning: None,
///         runs: vec![run.into()],
///         events: 1,
///     });
///     labels
/// };
/// let model = heard("T1", "hands", "R06");
/// assert!(model.contradiction(&heard("T1", "hands", "R10")).is_none());
/// let found = model.contradiction(&heard("T1", "feet", "R10")).unwrap();
/// assert_eq!(found.expected, "T1 = hands in run R06");
/// assert_eq!(found.found, "T1 = feet in run R10");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(Vec<LabelUse>);

impl Labels {
    /// Tells whether no label is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lists what each label stood for, in the order of the labels.
    pub fn uses(&self) -> &[LabelUse] {
        &self.0
    }

    /// Adds what a label stood for, to what is known of it.
    pub fn add(&mut self, heard: LabelUse) {
        let same = |known: &&mut LabelUse| {
            known.label == heard.label
                && known.class == heard.class
                && known.by_run == heard.by_run
                && known.meaning == heard.meaning
        };
        let Some(known) = self.0.iter_mut().find(same) else {
            let place = self.0.partition_point(|known| known.label <= heard.label);
            self.0.insert(place, heard);
            return;
        };
        known.events += heard.events;
        for run in heard.runs {
            if !known.runs.contains(&run) {
                known.runs.push(run);
            }
        }
    }

    /// Finds a label that has two meanings though one rule covers them all.
    pub fn ambiguous(&self) -> Option<[&LabelUse; 2]> {
        let plain = || self.0.iter().filter(|u| !u.by_run && u.meaning.is_some());
        plain().find_map(|first| {
            let other = |u: &&LabelUse| u.label == first.label && u.meaning != first.meaning;
            plain().find(other).map(|second| [first, second])
        })
    }

    /// Finds the first label of `other` that says something else than the labels here: events of a
    /// class that mean what no event of that class meant here, or a label that stands for another
    /// class in the same run, or wherever it occurs.
    pub fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        other.0.iter().find_map(|heard| {
            let known = self.other_meaning(heard);
            known
                .or_else(|| self.other_class(heard))
                .map(|known| Contradiction {
                    what: "labels of events",
                    expected: known.words(),
                    found: heard.words(),
                })
        })
    }

    /// Finds a use of the class whose events mean something else, where none means the same.
    fn other_meaning(&self, heard: &LabelUse) -> Option<&LabelUse> {
        heard.meaning.as_ref()?;
        let mut of_class = self.0.iter().filter(|known| known.class == heard.class);
        let agrees = |known: &LabelUse| known.meaning.is_none() || known.meaning == heard.meaning;
        if of_class.clone().any(agrees) {
            return None;
        }
        of_class.next()
    }

    /// Finds a use of the label for another class.
    fn other_class(&self, heard: &LabelUse) -> Option<&LabelUse> {
        let known = || self.0.iter().filter(|known| known.label == heard.label);
        let differs = |known: &&LabelUse| known.class != heard.class;
        let here = known().find(|k| differs(k) && k.shares_a_run(heard));
        if here.is_some() || known().any(|k| !differs(&k)) {
            return here;
        }
        // Events that are known to be others may have another class.
        let apart = |k: &LabelUse| {
            (k.by_run && heard.by_run)
                || matches!((&k.meaning, &heard.meaning), (Some(a), Some(b)) if a != b)
        };
        known().find(|k| differs(k) && !apart(k))
    }
}
