//! From files to recordings: EEG channels only, in the table's order and spelling, events named by
//! class.
//!
//! Signals are neither filtered nor cut: a filter must see the whole recording (or the whole trial
//! of data that comes in trials) before [`Dataset::window`] is cut out.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::cache::{Cache, LocalFile};
use super::dataset::{Class, Dataset, DomainUnit, Task};
use super::files::DataFile;
use super::selection::{Chosen, Selection};
use crate::error::catalogue::{CatalogueError, Result};
use crate::io::{Content, fif, read_from};
use crate::ledger::Ledger;
use crate::{Channel, ChannelKind, Epochs, Event, Recording, TrialInfo};
use stiefel_formats::electrode;

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
    /// The run: its number in the file's name, or its place among the runs with trials, counted
    /// from 1.
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
    ledger: Ledger,
    chosen: Chosen,
    /// A file and, where there is one, the list of its events.
    files: std::vec::IntoIter<Vec<LocalFile>>,
    runs: VecDeque<DatasetRun>,
}

impl Dataset {
    /// The runs of a selection, read one file at a time from what is here; nothing is fetched.
    ///
    /// Every file is compared with its published or recorded checksum before it is read. Runs
    /// without trials of the chosen classes are passed over.
    ///
    /// ```no_run
    /// use stiefel_eeg::catalogue::{Cache, Selection, Signal, find};
    /// let dataset = find("bnci2014001")?;
    /// let selection = Selection::subjects([1]).with_classes(["right_hand", "feet"]);
    /// for run in dataset.recordings(&Cache::from_env()?, &selection)? {
    ///     let run = run?;
    ///     if let Signal::Recording(recording) = &run.signal {
    ///         println!("run {}: {} trials", run.run, recording.events().len());
    ///     }
    /// }
    /// # Ok::<(), stiefel_eeg::catalogue::CatalogueError>(())
    /// ```
    pub fn recordings(&'static self, cache: &Cache, selection: &Selection) -> Result<Recordings> {
        self.recordings_into(cache, selection, &Ledger::default())
    }

    /// Notes the hashes of the files that are read.
    pub(crate) fn recordings_into(
        &'static self,
        cache: &Cache,
        selection: &Selection,
        ledger: &Ledger,
    ) -> Result<Recordings> {
        let files = cache.locate(self, selection)?;
        let each = 1 + usize::from(self.files.events.is_some());
        let files: Vec<_> = files.chunks(each).map(<[_]>::to_vec).collect();
        Ok(Recordings {
            chosen: self.choose(selection)?,
            files: files.into_iter(),
            cache: cache.clone(),
            ledger: ledger.clone(),
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
            let files = self.files.next()?;
            match self.read(&files) {
                Ok(runs) => self.runs = runs,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Recordings {
    fn read(&self, files: &[LocalFile]) -> Result<VecDeque<DatasetRun>> {
        let (local, list) = (&files[0], files.get(1));
        let (source, sha) = self.ledger.open(&local.path)?;
        local.verify_as(&self.cache, || Ok(sha))?;
        list.map_or(Ok(()), |list| list.verify(&self.cache))?;
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
        let runs = match read_from(source)? {
            Content::Recordings(recordings) => {
                let marked = recordings.into_iter().map(|r| with_trials(r, file, list));
                reader.recordings(&marked.collect::<Result<Vec<_>>>()?)?
            }
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

/// A recording with the events that it does not hold itself: those of the list beside it, or
/// consecutive trials.
fn with_trials(
    recording: Recording,
    file: &DataFile,
    list: Option<&LocalFile>,
) -> Result<Recording> {
    let rate = recording.sampling_rate();
    let event = |sample: usize, label: String| Event {
        sample,
        onset: sample as f64 / rate,
        duration: file.dataset.trial_seconds.unwrap_or(0.0),
        label,
    };
    let events: Vec<Event> = match (list, file.dataset.trial_seconds) {
        (Some(list), _) => {
            let events = fif::event_list(&list.path)?.into_iter();
            events.map(|(at, code)| event(at as usize, code)).collect()
        }
        (None, Some(seconds)) => {
            let length = (seconds * rate) as usize;
            let label = format!("run {}", file.run.unwrap_or(1));
            let trials = 0..recording.samples() / length.max(1);
            trials.map(|i| event(i * length, label.clone())).collect()
        }
        (None, None) => return Ok(recording),
    };
    Ok(recording.with_events(events))
}

/// The task of a public data set that a recording belongs to, where the data set has several: known
/// by the name of its file, its channels and its rate.
pub fn task_of(path: &Path, recording: &Recording) -> Option<&'static Task> {
    let name = path.file_name()?;
    let all = Selection::all().with_tasks(["all"]);
    let dataset = (super::datasets().iter()).find(|d| {
        d.tasks.len() > 1
            && d.sampling_rate == recording.sampling_rate()
            && electrode::find(recording.channels(), &d.channels()).is_ok()
    })?;
    let mut files = dataset.files(&all).ok()?.into_iter();
    let file = files.find(|f| Path::new(&f.name).file_name() == Some(name))?;
    Some(file.task)
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
        let found = electrode::find(channels, &self.dataset.channels());
        found.map_err(|error| self.wrong(&error.to_string()))
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
    use crate::catalogue::{Place, find};

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
        read_of("eegmmidb", physionet(), selection, task)
    }

    fn read_of(name: &str, recording: Recording, selection: &Selection, task: usize) -> Found {
        let dataset = find(name).unwrap();
        let task = &dataset.tasks[task];
        let reader = FileReader {
            dataset,
            classes: dataset.choose(selection).unwrap().classes_of(task),
            known: task.classes,
            path: Path::new("S001R06.edf"),
        };
        reader.recordings(&[recording]).unwrap().remove(0)
    }

    /// Noughts in the channels of a data set, named as `name` says, with an event that is no trial.
    fn silence(dataset: &Dataset, name: impl Fn(&str) -> String, samples: usize) -> Recording {
        let channel = |known: &&str| Channel {
            name: name(known),
            kind: ChannelKind::Eeg,
            unit: "µV".into(),
        };
        let channels: Vec<_> = dataset.channels().iter().map(channel).collect();
        let data = vec![0.0; samples * channels.len()];
        let total = Event {
            sample: 0,
            onset: 0.0,
            duration: 0.0,
            label: "[Total time]".into(),
        };
        Recording::new(channels, dataset.sampling_rate, data, vec![total]).unwrap()
    }

    fn events(found: &Found) -> Vec<(usize, &str)> {
        let Signal::Recording(recording) = &found.signal else {
            panic!()
        };
        let events = recording.events().iter();
        events.map(|e| (e.sample, e.label.as_str())).collect()
    }

    #[test]
    fn recordings_without_events_are_cut_into_consecutive_trials() {
        let dataset = find("eegmat").unwrap();
        let files = dataset.files(&Selection::subjects([1])).unwrap();
        for (file, class) in files.iter().zip(["rest", "arithmetic"]) {
            // Two trials of 2500 samples and a rest that is too short for a third.
            let recording = silence(dataset, |name| format!("EEG {name}"), 7499);
            let cut = with_trials(recording, file, None).unwrap();
            let found = read_of("eegmat", cut, &Selection::all(), 0);
            assert_eq!(events(&found), [(0, class), (2500, class)], "{}", file.name);
        }
    }

    /// A list of events as MNE writes it.
    fn list_of(events: &[[i32; 3]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, form, data) in [
            (100, 31, vec![0; 5]),
            (104, 3, vec![361]),
            (3561, 3, events.concat()),
            (105, 3, vec![361]),
        ] {
            let head = [kind, form, 4 * data.len() as i32, 0];
            let words = head.into_iter().chain(data);
            bytes.extend(words.flat_map(i32::to_be_bytes));
        }
        bytes
    }

    #[test]
    fn events_come_from_the_list_beside_the_recording() {
        let dataset = find("kalunga2016").unwrap();
        let files = dataset.files(&Selection::subjects([7])).unwrap();
        let path = std::env::temp_dir().join(format!("stiefel-{}-eve.fif", std::process::id()));
        std::fs::write(&path, list_of(&[[10, 0, 4], [60, 0, 1], [90, 0, 9]])).unwrap();
        let list = LocalFile {
            file: files[1].clone(),
            path: path.clone(),
            place: Place::Own,
        };
        let recording = silence(dataset, str::to_uppercase, 100);
        let marked = with_trials(recording, &files[0], Some(&list));
        std::fs::remove_file(path).unwrap();
        let found = read_of("kalunga2016", marked.unwrap(), &Selection::all(), 0);
        assert_eq!(events(&found), [(10, "17_hz"), (60, "rest")]);
        assert!(found.notes[0].contains("1 × \"9\""));
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
