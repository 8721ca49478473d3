//! Cutting trials out of a recording.
//!
//! The trial of an event starts at sample `round(onset·fs) + round(tmin·fs)` and has `round((tmax −
//! tmin)·fs)` samples, halves rounded to even. Events whose window leaves the recording are
//! reported, not dropped in silence.

use std::collections::BTreeMap;

use crate::{EegError, Epochs, Recording, Result, TrialInfo};

/// Which events become trials, and the window around them.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Start of the window in seconds from the event.
    pub tmin: f64,
    /// End of the window in seconds from the event; the sample there is not included.
    pub tmax: f64,
    /// Event labels and the class each stands for: `("T2", "feet")`.
    pub classes: Vec<(String, String)>,
}

impl Window {
    /// A window around events whose labels are already the class names.
    pub fn new(tmin: f64, tmax: f64, classes: &[&str]) -> Self {
        Self::named(
            tmin,
            tmax,
            &classes.iter().map(|&c| (c, c)).collect::<Vec<_>>(),
        )
    }

    /// A window around events whose labels stand for classes: `("769", "left_hand")`.
    pub fn named(tmin: f64, tmax: f64, classes: &[(&str, &str)]) -> Self {
        Self {
            tmin,
            tmax,
            classes: classes
                .iter()
                .map(|&(label, class)| (label.into(), class.into()))
                .collect(),
        }
    }
}

/// An event that could not become a trial because its window leaves the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside {
    /// Its place among the events of the recording.
    pub event: usize,
    /// Its label.
    pub label: String,
    /// Its onset in seconds.
    pub onset: f64,
}

/// The trials of a recording, and the events that did not become one.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The trials, in order of the events.
    pub epochs: Epochs,
    /// Selected events whose window leaves the recording.
    pub outside: Vec<Outside>,
    /// How often each label was seen that was not asked for.
    pub not_selected: BTreeMap<String, usize>,
}

/// Where the trials of a recording lie.
pub(crate) struct Plan {
    /// Samples of a trial, for each window.
    pub(crate) lengths: Vec<usize>,
    /// The first sample of each trial, for each window.
    pub(crate) starts: Vec<Vec<usize>>,
    pub(crate) trials: Vec<TrialInfo>,
    /// The onset of each trial in seconds.
    pub(crate) onsets: Vec<f64>,
    pub(crate) outside: Vec<Outside>,
    pub(crate) not_selected: BTreeMap<String, usize>,
    pub(crate) selected: BTreeMap<String, usize>,
}

/// Cuts one trial per selected event, all labelled with one domain and run.
///
/// Refuses a window that is empty or not finite, and a recording without any selected event.
///
/// ```
/// # use stiefel_eeg::{Channel, ChannelKind, Event, Recording};
/// use stiefel_eeg::signal::{Window, epochs};
/// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// # let event = |onset: f64| Event { sample: (onset * 100.0) as usize, onset, duration: 0.0, label: "T2".into() };
/// # let recording = Recording::new(vec![cz], 100.0, vec![0.0; 1000], vec![event(2.0), event(9.0)])?;
/// let cut = epochs(&recording, &Window::named(0.5, 3.5, &[("T2", "feet")]), "S001", Some("6"))?;
/// assert_eq!((cut.epochs.trials().len(), cut.epochs.samples(), cut.outside.len()), (1, 300, 1));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn epochs(
    recording: &Recording,
    window: &Window,
    domain: &str,
    run: Option<&str>,
) -> Result<Cut> {
    let span = [window.tmin, window.tmax];
    let plan = plan(recording, &window.classes, &[span], domain, run)?;
    let (n, length) = (recording.channels().len(), plan.lengths[0]);
    let mut data = Vec::with_capacity(plan.trials.len() * n * length);
    for &start in &plan.starts[0] {
        for row in rows(recording, start, length) {
            data.extend_from_slice(row);
        }
    }
    let channels = recording.channels().to_vec();
    Ok(Cut {
        epochs: Epochs::new(
            channels,
            recording.sampling_rate(),
            length,
            data,
            plan.trials,
        )?,
        outside: plan.outside,
        not_selected: plan.not_selected,
    })
}

/// Samples `start..start + length` of each channel.
pub(crate) fn rows(
    recording: &Recording,
    start: usize,
    length: usize,
) -> impl Iterator<Item = &[f64]> {
    (0..recording.channels().len()).map(move |c| &recording.channel(c)[start..start + length])
}

/// Finds the trials whose windows all lie in the recording.
pub(crate) fn plan(
    recording: &Recording,
    classes: &[(String, String)],
    windows: &[[f64; 2]],
    domain: &str,
    run: Option<&str>,
) -> Result<Plan> {
    let fs = recording.sampling_rate();
    let lengths: Result<Vec<usize>> = windows
        .iter()
        .map(|w| window_length(recording, *w))
        .collect();
    let mut plan = Plan {
        lengths: lengths?,
        starts: vec![Vec::new(); windows.len()],
        trials: Vec::new(),
        onsets: Vec::new(),
        outside: Vec::new(),
        not_selected: BTreeMap::new(),
        selected: BTreeMap::new(),
    };
    for (index, event) in recording.events().iter().enumerate() {
        let Some((_, class)) = classes.iter().find(|(label, _)| *label == event.label) else {
            *plan.not_selected.entry(event.label.clone()).or_default() += 1;
            continue;
        };
        *plan.selected.entry(event.label.clone()).or_default() += 1;
        let onset = (event.onset * fs).round_ties_even();
        let start = |w: &[f64; 2]| onset + (w[0] * fs).round_ties_even();
        let fits = windows.iter().zip(&plan.lengths).all(|(w, &length)| {
            start(w) >= 0.0 && start(w) + length as f64 <= recording.samples() as f64
        });
        if fits {
            for (starts, w) in plan.starts.iter_mut().zip(windows) {
                starts.push(start(w) as usize);
            }
            plan.onsets.push(event.onset);
            plan.trials.push(TrialInfo {
                label: class.clone(),
                domain: domain.into(),
                run: run.map(Into::into),
            });
        } else {
            plan.outside.push(Outside {
                event: index,
                label: event.label.clone(),
                onset: event.onset,
            });
        }
    }
    if plan.trials.is_empty() && plan.outside.is_empty() {
        let asked: Vec<_> = classes.iter().map(|(label, _)| label).collect();
        return Err(EegError::Invalid {
            what: format!(
                "none of the labels {asked:?} occurs; the recording has {:?}",
                plan.not_selected
            ),
            remedy: "select among the labels that occur".into(),
        });
    }
    Ok(plan)
}

/// Samples of a trial; refuses a window that no trial can have.
fn window_length(recording: &Recording, [from, to]: [f64; 2]) -> Result<usize> {
    let fs = recording.sampling_rate();
    let length = ((to - from) * fs).round_ties_even();
    let fits = length >= 1.0 && length <= recording.samples() as f64;
    if (from * fs).is_finite() && fits {
        return Ok(length as usize);
    }
    Err(EegError::invalid(
        format!(
            "the window {from}–{to} s does not fit a recording of {} samples at {fs} Hz",
            recording.samples()
        ),
        "give two times in seconds from the event, the smaller first, that a recording has room \
         for",
    ))
}
