//! Cutting trials out of a recording.
//!
//! The trial of an event starts at sample `round(onset·fs) + round(tmin·fs)` and has `round((tmax − tmin)·fs)`
//! samples, halves rounded to even. Events whose window leaves the recording are reported, not dropped in silence.

use std::collections::BTreeMap;

use crate::{EegError, Epochs, Event, Recording, Result, TrialInfo};

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

impl Recording {
    /// Cuts one trial per selected event, all labelled with one domain and run.
    ///
    /// Refuses a window that is empty or not finite, and a recording without any selected event.
    ///
    /// ```
    /// # use stiefel_eeg::{Channel, ChannelKind, Event, Recording};
    /// use stiefel_eeg::signal::Window;
    /// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
    /// # let event = |onset: f64| Event { sample: (onset * 100.0) as usize, onset, duration: 0.0, label: "T2".into() };
    /// # let recording = Recording::new(vec![cz], 100.0, vec![0.0; 1000], vec![event(2.0), event(9.0)])?;
    /// let cut = recording.epochs(&Window::named(0.5, 3.5, &[("T2", "feet")]), "S001", Some("6"))?;
    /// assert_eq!((cut.epochs.trials().len(), cut.epochs.samples(), cut.outside.len()), (1, 300, 1));
    /// # Ok::<(), stiefel_eeg::EegError>(())
    /// ```
    pub fn epochs(&self, window: &Window, domain: &str, run: Option<&str>) -> Result<Cut> {
        let fs = self.sampling_rate();
        let offset = (window.tmin * fs).round_ties_even();
        let length = ((window.tmax - window.tmin) * fs).round_ties_even();
        if !(offset.is_finite() && length >= 1.0 && length <= self.samples() as f64) {
            return Err(EegError::Invalid {
                what: format!(
                    "the window {}–{} s does not fit a recording of {} samples at {fs} Hz",
                    window.tmin,
                    window.tmax,
                    self.samples()
                ),
                remedy: "give tmin < tmax in seconds from the event".into(),
            });
        }
        let length = length as usize;
        let mut cut = Pieces::default();
        // At most this much: growing step by step would copy every trial several times.
        let selected = |e: &&Event| window.classes.iter().any(|(label, _)| *label == e.label);
        let most = self.events().iter().filter(selected).count();
        cut.data
            .reserve_exact(most * self.channels().len() * length);
        for (index, event) in self.events().iter().enumerate() {
            let Some((_, class)) = window
                .classes
                .iter()
                .find(|(label, _)| *label == event.label)
            else {
                *cut.not_selected.entry(event.label.clone()).or_default() += 1;
                continue;
            };
            let start = (event.onset * fs).round_ties_even() + offset;
            if start >= 0.0 && start + length as f64 <= self.samples() as f64 {
                let start = start as usize;
                for channel in 0..self.channels().len() {
                    cut.data
                        .extend_from_slice(&self.channel(channel)[start..start + length]);
                }
                cut.trials.push(TrialInfo {
                    label: class.clone(),
                    domain: domain.into(),
                    run: run.map(Into::into),
                });
            } else {
                cut.outside.push(Outside {
                    event: index,
                    label: event.label.clone(),
                    onset: event.onset,
                });
            }
        }
        if cut.trials.is_empty() && cut.outside.is_empty() {
            return Err(EegError::Invalid {
                what: format!(
                    "none of the labels {:?} occurs; the recording has {:?}",
                    window
                        .classes
                        .iter()
                        .map(|(label, _)| label)
                        .collect::<Vec<_>>(),
                    cut.not_selected
                ),
                remedy: "select among the labels that occur".into(),
            });
        }
        Ok(Cut {
            epochs: Epochs::new(self.channels().to_vec(), fs, length, cut.data, cut.trials)?,
            outside: cut.outside,
            not_selected: cut.not_selected,
        })
    }
}

#[derive(Default)]
struct Pieces {
    data: Vec<f64>,
    trials: Vec<TrialInfo>,
    outside: Vec<Outside>,
    not_selected: BTreeMap<String, usize>,
}

impl Epochs {
    /// Joins the trials of several recordings, which must agree in channels, rate and length.
    pub fn concat(parts: &[Epochs]) -> Result<Epochs> {
        let Some(first) = parts.first() else {
            return Err(EegError::Invalid {
                what: "there are no trials to join".into(),
                remedy: "pass the trials of at least one recording".into(),
            });
        };
        let names = |e: &Epochs| {
            e.channels()
                .iter()
                .map(|c| c.name.clone())
                .collect::<Vec<_>>()
        };
        for (index, part) in parts.iter().enumerate() {
            if names(part) != names(first)
                || part.sampling_rate() != first.sampling_rate()
                || part.samples() != first.samples()
            {
                return Err(EegError::Invalid {
                    what: format!(
                        "part {index} has {} channels × {} samples at {} Hz, part 0 has {} × {} at {}, or their channels differ in name or order",
                        part.channels().len(),
                        part.samples(),
                        part.sampling_rate(),
                        first.channels().len(),
                        first.samples(),
                        first.sampling_rate()
                    ),
                    remedy: "pick the same channels in the same order and resample to one rate before cutting".into(),
                });
            }
        }
        Epochs::new(
            first.channels().to_vec(),
            first.sampling_rate(),
            first.samples(),
            parts
                .iter()
                .flat_map(|p| p.data().iter().copied())
                .collect(),
            parts
                .iter()
                .flat_map(|p| p.trials().iter().cloned())
                .collect(),
        )
    }

    /// The trials at the given places, in that order.
    pub fn select(&self, trials: &[usize]) -> Result<Epochs> {
        if let Some(&trial) = trials.iter().find(|&&t| t >= self.trials().len()) {
            return Err(EegError::Invalid {
                what: format!(
                    "trial {trial} was asked for, there are {}",
                    self.trials().len()
                ),
                remedy: "count trials from 0".into(),
            });
        }
        Epochs::new(
            self.channels().to_vec(),
            self.sampling_rate(),
            self.samples(),
            trials
                .iter()
                .flat_map(|&t| self.trial(t).iter().copied())
                .collect(),
            trials.iter().map(|&t| self.trials()[t].clone()).collect(),
        )
    }
}
