//! From files to recordings: EEG channels only, in the table's order and spelling, events named by class.
//!
//! Signals are neither filtered nor cut: a filter must see the whole recording (or the whole trial of data that comes in trials)
//! before [`Dataset::window`] is cut out.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::cache::{Cache, LocalFile};
use super::dataset::{Class, Dataset, DomainUnit, Task};
use super::selection::{Chosen, Selection};
use crate::error::catalogue::{CatalogueError, Result};
use crate::io::{Content, read};
use crate::{Channel, ChannelKind, Epochs, Event, Recording, TrialInfo};

/// What a file holds of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A continuous signal whose events are trials, labelled by class.
    Recording(Recording),
    /// Trials, uncut: sample 0 is what the window counts from.
    Epochs(Epochs),
}

/// One run of one session of one subject.
#[derive(Debug, Clone)]
pub struct DatasetRun {
    /// Whose data set it is.
    pub dataset: &'static Dataset,
    /// The subject, counted from 1.
    pub subject: u16,
    /// The session's label.
    pub session: &'static str,
    /// The run: its number in the file's name, or its place among the runs with trials, counted from 1.
    pub run: u16,
    /// The file.
    pub path: PathBuf,
    /// The EEG.
    pub signal: Signal,
    /// What was left out or assumed, one sentence each.
    pub notes: Vec<String>,
}

impl DatasetRun {
    /// The name of its domain.
    pub fn domain(&self, unit: DomainUnit) -> String {
        self.dataset.domain_name(self.subject, self.session, unit)
    }
}

/// Reads the files of a selection one at a time.
#[derive(Debug)]
pub struct Recordings {
    cache: Cache,
    chosen: Chosen,
    files: std::vec::IntoIter<LocalFile>,
    runs: VecDeque<DatasetRun>,
}

impl Dataset {
    /// The runs of a selection, read one file at a time from what is here; nothing is fetched.
    ///
    /// Every file is compared with its published or recorded checksum before it is read. Runs without trials of the chosen
    /// classes are passed over.
    ///
    /// ```no_run
    /// use stiefel_eeg::catalogue::{Cache, Selection, Signal, find};
    /// let dataset = find("bnci2014001")?;
    /// let selection = Selection::subjects([1]).with_classes(["right_hand", "feet"]);
    /// for run in dataset.recordings(&Cache::from_env()?, &selection)? {
    ///     let run = run?;
    ///     if let Signal::Recording(recording) = &run.signal {
    ///         println!("{} run {}: {} trials", run.domain(dataset.domain), run.run, recording.events().len());
    ///     }
    /// }
    /// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
    /// ```
    pub fn recordings(&'static self, cache: &Cache, selection: &Selection) -> Result<Recordings> {
        Ok(Recordings {
            chosen: self.choose(selection)?,
            files: cache.locate(self, selection)?.into_iter(),
            cache: cache.clone(),
            runs: VecDeque::new(),
        })
    }
}

impl Iterator for Recordings {
    type Item = Result<DatasetRun>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(run) = self.runs.pop_front() {
                return Some(Ok(run));
            }
            let file = self.files.next()?;
            match self.read(&file) {
                Ok(runs) => self.runs = runs,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Recordings {
    fn read(&self, local: &LocalFile) -> Result<VecDeque<DatasetRun>> {
        local.verify(&self.cache)?;
        let file = &local.file;
        let reader = FileReader {
            dataset: file.dataset,
            classes: self.chosen.classes_of(file.task),
            known: file.task.classes,
            path: &local.path,
        };
        let domain = file
            .dataset
            .domain_name(file.subject, file.session, file.dataset.domain);
        let runs = match read(&local.path)? {
            Content::Recordings(recordings) => reader.recordings(&recordings)?,
            Content::Epochs(epochs) => reader.epochs(&epochs, &domain)?,
            Content::Trials(_) => return Err(reader.wrong("it holds covariances")),
        };
        let run = |found: Found| DatasetRun {
            dataset: file.dataset,
            subject: file.subject,
            session: file.session,
            run: file.run.map_or(found.place, u16::from),
            path: local.path.clone(),
            signal: found.signal,
            notes: found.notes,
        };
        Ok(runs.into_iter().map(run).collect())
    }
}

/// The task of a public data set that a recording belongs to, where the data set has several: known by the name of its file, its channels and
/// its rate.
pub fn task_of(path: &Path, recording: &Recording) -> Option<&'static Task> {
    let name = path.file_name()?;
    let all = Selection::all().with_tasks(["all"]);
    let dataset = (super::datasets().iter()).find(|d| {
        let channels = recording.channels();
        let has = |wanted: &&str| channels.iter().any(|c| same_channel(&c.name, wanted));
        d.tasks.len() > 1
            && d.sampling_rate == recording.sampling_rate()
            && d.channels().iter().all(has)
    })?;
    let mut files = dataset.files(&all).ok()?.into_iter();
    let file = files.find(|f| Path::new(&f.name).file_name() == Some(name))?;
    Some(file.task)
}

fn same_channel(found: &str, wanted: &str) -> bool {
    found.trim_end_matches('.').eq_ignore_ascii_case(wanted)
}

/// A run in a file.
struct Found {
    /// Its place among the runs with trials, counted from 1.
    place: u16,
    signal: Signal,
    notes: Vec<String>,
}

/// One file of a data set.
struct FileReader<'f> {
    dataset: &'static Dataset,
    /// The classes to keep.
    classes: Vec<&'static Class>,
    /// All classes of the task.
    known: &'static [Class],
    path: &'f Path,
}

impl FileReader<'_> {
    fn wrong(&self, reason: &str) -> CatalogueError {
        CatalogueError::Content {
            path: self.path.to_path_buf(),
            reason: format!("this is not a file of {}: {reason}", self.dataset.id),
        }
    }

    /// The class that a file's label stands for; counts labels that stand for none.
    fn class(&self, label: &str, strange: &mut BTreeMap<String, usize>) -> Option<&'static str> {
        let Some(class) = self.known.iter().find(|c| c.is_called(label)) else {
            *strange.entry(label.to_string()).or_default() += 1;
            return None;
        };
        let kept = self.classes.iter().any(|c| c.name == class.name);
        kept.then_some(class.name)
    }

    fn check_rate(&self, rate: f64) -> Result<()> {
        if rate == self.dataset.sampling_rate {
            return Ok(());
        }
        Err(self.wrong(&format!(
            "it has {rate} samples per second instead of {}",
            self.dataset.sampling_rate
        )))
    }

    /// Where the table's channels are in the file.
    fn places(&self, channels: &[Channel]) -> Result<Vec<usize>> {
        let place = |name: &&str| {
            let same = |c: &Channel| same_channel(&c.name, name);
            channels.iter().position(same).ok_or_else(|| {
                let found: Vec<_> = channels.iter().map(|c| c.name.as_str()).collect();
                self.wrong(&format!(
                    "it has no channel {name}; its channels are {}",
                    crate::io::listed(&found)
                ))
            })
        };
        self.dataset.channels().iter().map(place).collect()
    }

    fn channels(&self) -> Vec<Channel> {
        let channel = |name: &str| Channel {
            name: name.to_string(),
            kind: ChannelKind::Eeg,
            unit: "µV".to_string(),
        };
        self.dataset.channels().into_iter().map(channel).collect()
    }

    /// The recordings with chosen trials.
    fn recordings(&self, recordings: &[Recording]) -> Result<Vec<Found>> {
        let mut runs = Vec::new();
        // Runs of eye movements have no trials and are not counted.
        let with_trials = recordings.iter().filter(|r| !r.events().is_empty());
        let mut place = 0;
        for recording in with_trials {
            place += 1;
            self.check_rate(recording.sampling_rate())?;
            let places = self.places(recording.channels())?;
            let mut strange = BTreeMap::new();
            let mut events = Vec::new();
            for event in recording.events() {
                if let Some(class) = self.class(&event.label, &mut strange) {
                    events.push(Event {
                        label: class.to_string(),
                        ..event.clone()
                    });
                }
            }
            if events.is_empty() {
                continue;
            }
            let mut notes = recording.notes().to_vec();
            notes.extend(note(&strange));
            let data = places
                .iter()
                .flat_map(|&p| recording.channel(p))
                .copied()
                .collect();
            let picked = Recording::new(self.channels(), recording.sampling_rate(), data, events)?;
            runs.push(Found {
                place,
                signal: Signal::Recording(picked.with_notes(notes.clone())),
                notes,
            });
        }
        if place == 0 {
            return Err(self.wrong("it has no trials"));
        }
        Ok(runs)
    }

    /// The chosen trials.
    fn epochs(&self, epochs: &Epochs, domain: &str) -> Result<Vec<Found>> {
        self.check_rate(epochs.sampling_rate())?;
        let places = self.places(epochs.channels())?;
        let samples = epochs.samples();
        let mut strange = BTreeMap::new();
        let (mut data, mut trials) = (Vec::new(), Vec::new());
        for (index, info) in epochs.trials().iter().enumerate() {
            let Some(class) = self.class(&info.label, &mut strange) else {
                continue;
            };
            let trial = epochs.trial(index);
            for &place in &places {
                data.extend_from_slice(&trial[place * samples..(place + 1) * samples]);
            }
            trials.push(TrialInfo {
                label: class.to_string(),
                domain: domain.to_string(),
                run: info.run.clone(),
            });
        }
        if trials.is_empty() {
            return Ok(Vec::new());
        }
        let rate = epochs.sampling_rate();
        let picked = Epochs::new(self.channels(), rate, samples, data, trials)?;
        Ok(vec![Found {
            place: 1,
            signal: Signal::Epochs(picked),
            notes: note(&strange).into_iter().collect(),
        }])
    }
}

/// A sentence about labels that stand for no class.
fn note(strange: &BTreeMap<String, usize>) -> Option<String> {
    if strange.is_empty() {
        return None;
    }
    let counts: Vec<String> = strange
        .iter()
        .map(|(label, count)| format!("{count} × {label:?}"))
        .collect();
    Some(format!(
        "labels that do not stand for a class were ignored: {}",
        counts.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;

    /// A recording as the EDF reader gives it: other spelling, one channel more, two samples each.
    fn physionet() -> Recording {
        let dataset = find("eegmmidb").unwrap();
        let mut names: Vec<String> = vec!["Extra".into()];
        names.extend(dataset.channels().iter().rev().map(|n| n.to_lowercase()));
        let channel = |name: &String| Channel {
            name: name.clone(),
            kind: ChannelKind::Eeg,
            unit: "µV".into(),
        };
        let data = (0..names.len())
            .flat_map(|c| [c as f64, c as f64 + 0.5])
            .collect();
        let event = |(i, label): (usize, &str)| Event {
            sample: i % 2,
            onset: i as f64,
            duration: 4.1,
            label: label.into(),
        };
        let events = ["T0", "T1", "T0", "T2", "x"]
            .into_iter()
            .enumerate()
            .map(event);
        Recording::new(
            names.iter().map(channel).collect(),
            160.0,
            data,
            events.collect(),
        )
        .unwrap()
    }

    fn read(selection: &Selection, task: usize) -> Found {
        let dataset = find("eegmmidb").unwrap();
        let task = &dataset.tasks[task];
        let reader = FileReader {
            dataset,
            classes: dataset.choose(selection).unwrap().classes_of(task),
            known: task.classes,
            path: Path::new("S001R06.edf"),
        };
        reader.recordings(&[physionet()]).unwrap().remove(0)
    }

    fn labels(found: &Found) -> Vec<String> {
        let Signal::Recording(recording) = &found.signal else {
            panic!()
        };
        recording.events().iter().map(|e| e.label.clone()).collect()
    }

    #[test]
    fn codes_mean_what_the_task_says() {
        let all = Selection::all().with_tasks(["all"]);
        assert_eq!(labels(&read(&all, 0)), ["both_hands", "feet"]);
        assert_eq!(labels(&read(&all, 1)), ["left_hand", "right_hand"]);
        let rest = Selection::all().with_classes(["rest", "feet"]);
        assert_eq!(labels(&read(&rest, 0)), ["rest", "rest", "feet"]);
        assert!(read(&all, 0).notes[0].contains("1 × \"x\""));
    }

    #[test]
    fn channels_come_in_the_order_and_spelling_of_the_table() {
        let found = read(&Selection::all(), 0);
        let Signal::Recording(recording) = &found.signal else {
            panic!()
        };
        assert_eq!(recording.channels()[0].name, "FC5");
        assert_eq!(
            (recording.channel(0), recording.channel(63)),
            (&[64.0, 64.5][..], &[1.0, 1.5][..])
        );
    }

    #[test]
    fn another_rate_or_a_missing_channel_is_refused() {
        let dataset = find("eegmmidb").unwrap();
        let reader = FileReader {
            dataset,
            classes: Vec::new(),
            known: dataset.tasks[0].classes,
            path: Path::new("S088R06.edf"),
        };
        let good = physionet();
        let again = |channels: Vec<Channel>, rate| {
            let data = vec![0.0; channels.len()];
            Recording::new(channels, rate, data, good.events().to_vec()).unwrap()
        };
        let slow = again(good.channels().to_vec(), 128.0);
        let error = reader.recordings(&[slow]).err().unwrap().to_string();
        assert!(
            error.contains("S088R06.edf") && error.contains("128"),
            "{error}"
        );
        let fewer = again(good.channels()[..40].to_vec(), 160.0);
        let error = reader.recordings(&[fewer]).err().unwrap().to_string();
        assert!(error.contains("no channel"), "{error}");
    }
}
