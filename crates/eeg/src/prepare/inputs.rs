//! Signals to prepare, one at a time: from files and folders, or from a public dataset.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use stiefel_data::subject_session;

use super::folders::{of_task, recordings_in};
use super::pattern::NamePattern;
use super::{DomainFrom, PrepareOptions};
use crate::catalogue::{self, Cache, DatasetRun, Selection, Signal, parse_subjects};
use crate::io::{Content, ReadOptions, Source, check_apply, detect, listed, mat, read_among};
use crate::{EegError, Epochs, Recording, Result, TrialInfo};

/// A signal and whose it is.
pub(super) struct Input {
    pub(super) signal: Signal,
    pub(super) domain: String,
    pub(super) run: Option<String>,
    pub(super) path: PathBuf,
    pub(super) notes: Vec<String>,
}

/// Files that cannot be read, and why.
pub(super) type Unreadable = Rc<RefCell<Vec<(PathBuf, EegError)>>>;

/// Signals to come.
pub(super) struct Inputs {
    pub(super) items: Box<dyn Iterator<Item = Result<Input>>>,
    pub(super) files: Vec<PathBuf>,
    /// Files that came and could not be read: none of the items is of them.
    pub(super) unreadable: Unreadable,
    pub(super) licence: Option<String>,
    pub(super) citation: Option<String>,
}

/// Whether a source names a public dataset: `weibo2014`, `weibo2014:paper`.
pub(crate) fn is_catalogue(source: &str) -> bool {
    let name = source.split(':').next().unwrap_or(source);
    catalogue::find(name).is_ok() && !Path::new(source).is_file()
}

/// The signals of a public dataset; fills in the steps' defaults.
pub(super) fn of_catalogue(source: &str, options: &mut PrepareOptions) -> Result<Inputs> {
    let (name, preset) = match source.split_once(':') {
        Some((name, preset)) => (name, Some(preset)),
        None => (source, None),
    };
    let dataset = catalogue::find(name)?;
    for (option, given) in [
        ("mat", options.mat.is_some()),
        ("stream", options.stream.is_some()),
        ("markers", options.markers.is_some()),
        ("rate", options.rate.is_some()),
        ("task", options.task.is_some()),
        ("pattern", options.pattern.is_some()),
    ] {
        if given {
            return Err(EegError::setting(
                format!(
                    "--{option} says how to read files, but stiefel knows how to read the files of {name}"
                ),
                "leave it out, or give the files by name",
            ));
        }
    }
    if let Some(preset) = preset {
        paper(dataset.id, preset, options)?;
    }
    let mut selection = match &options.subjects {
        Some(list) => Selection::subjects(parse_subjects(list)?),
        None => Selection::all(),
    };
    if !options.classes.is_empty() {
        selection = selection.with_classes(options.classes.iter().map(|(label, _)| label.as_str()));
    }
    let cache = Cache::from_env()?;
    let files = cache.locate(dataset, &selection)?;
    let window = dataset.window;
    options.window.get_or_insert([window.start, window.end]);
    options.band = options.band.or(dataset.band);
    // Recordings of the catalogue name events by class already: an alias stands for it here.
    for (label, class) in &mut options.classes {
        if let Some(known) = dataset.classes().iter().find(|c| c.is_called(label)) {
            if class == label {
                *class = known.name.into();
            }
            *label = known.name.into();
        }
    }
    if options.classes.is_empty() {
        let all = dataset.classes();
        let default = all.iter().filter(|c| c.by_default);
        options.classes = default.map(|c| (c.name.into(), c.name.into())).collect();
    }
    let input = move |run: catalogue::Result<DatasetRun>| -> Result<Input> {
        let run = run?;
        Ok(Input {
            domain: run.domain(dataset.domain),
            run: Some(format!("{}/{}", run.session, run.run)),
            path: run.path,
            notes: run.notes,
            signal: run.signal,
        })
    };
    let items = dataset.recordings(&cache, &selection)?.map(input);
    Ok(Inputs {
        items: of_runs(items, options.runs.as_deref()),
        files: files.into_iter().map(|f| f.path).collect(),
        unreadable: Unreadable::default(),
        licence: Some(dataset.licence.name.into()),
        citation: Some(dataset.citation.bibtex.into()),
    })
}

/// The part of a dataset that the paper used: right hand against feet; nine of the ten subjects of Weibo 2014 (it does not say
/// which; the first nine).
fn paper(id: &str, preset: &str, options: &mut PrepareOptions) -> Result<()> {
    let known = ["weibo2014", "bnci2014001", "bnci2015001"];
    if preset != "paper" || !known.contains(&id) {
        return Err(EegError::setting(
            format!("{id} has no preset \"{preset}\""),
            format!(
                "the presets are {}",
                known.map(|k| format!("{k}:paper")).join(", ")
            ),
        ));
    }
    if options.classes.is_empty() {
        options.classes = ["right_hand", "feet"]
            .map(|c| (c.to_owned(), c.to_owned()))
            .to_vec();
    }
    if id == "weibo2014" && options.subjects.is_none() {
        options.subjects = Some("1-9".into());
    }
    Ok(())
}

/// The signals of files and folders.
pub(super) fn of_files(sources: &[String], options: &PrepareOptions) -> Result<Inputs> {
    let mut files = Vec::new();
    for source in sources {
        let path = Path::new(source);
        if path.is_dir() {
            files.extend(recordings_in(path)?);
        } else if path.exists() {
            files.push(path.to_path_buf());
        } else {
            let known: Vec<&str> = catalogue::datasets().iter().map(|d| d.id).collect();
            return Err(EegError::setting(
                format!("\"{source}\" is neither a file, nor a folder, nor a dataset"),
                format!("give recordings, or one of {}", known.join(", ")),
            ));
        }
    }
    if let Some(task) = &options.task {
        files = of_task(files, task)?;
    }
    let naming = Naming {
        rule: options.domain,
        pattern: options.pattern()?,
    };
    if let Some(list) = &options.subjects {
        files = of_subjects(files, list, &naming)?;
    }
    let reading = options.read_options()?;
    check_apply(&reading, &files)?;
    let unreadable = Unreadable::default();
    let kept = Rc::clone(&unreadable);
    let items =
        files
            .clone()
            .into_iter()
            .flat_map(move |path| match inputs_of(&path, &naming, &reading) {
                Ok(inputs) => inputs.into_iter().map(Ok).collect(),
                // What was asked for is wrong, whatever the file.
                Err(error @ EegError::Setting { .. }) => vec![Err(error)],
                Err(error) => {
                    kept.borrow_mut().push((path, error));
                    Vec::new()
                }
            });
    Ok(Inputs {
        items: of_runs(items, options.runs.as_deref()),
        files,
        unreadable,
        licence: None,
        citation: None,
    })
}

/// What tells whose a file is: a rule, or a pattern.
struct Naming {
    rule: DomainFrom,
    pattern: Option<NamePattern>,
}

/// What is known of a file by its name.
struct Named {
    domain: String,
    run: Option<String>,
    /// The class, where every file is a trial.
    class: Option<String>,
}

impl Naming {
    fn of(&self, path: &Path) -> Result<Named> {
        let (domain, run) = self.rule.of(path);
        let Some(pattern) = &self.pattern else {
            return Ok(Named {
                domain,
                run,
                class: None,
            });
        };
        let found = pattern.of(path)?;
        Ok(Named {
            domain: found.domain.unwrap_or(domain),
            run: found.run,
            class: found.class,
        })
    }
}

/// The signals of the runs that are wanted; a run that never comes is an error at the end.
fn of_runs(
    items: impl Iterator<Item = Result<Input>> + 'static,
    wanted: Option<&[String]>,
) -> Box<dyn Iterator<Item = Result<Input>>> {
    let Some(wanted) = wanted.map(<[String]>::to_vec) else {
        return Box::new(items);
    };
    let mut found = vec![false; wanted.len()];
    let mut others: Vec<String> = Vec::new();
    let mut items = items;
    Box::new(std::iter::from_fn(move || {
        loop {
            let Some(item) = items.next() else {
                let missing = found.iter().position(|f| !f)?;
                found.fill(true);
                others.sort_by_cached_key(|run| place(run));
                others.dedup();
                return Some(Err(EegError::setting(
                    format!("there is no run {}", wanted[missing]),
                    format!("the other runs are {}", listed(&others)),
                )));
            };
            let Ok(input) = &item else { return Some(item) };
            let run = input.run.as_deref().unwrap_or_default();
            match wanted.iter().position(|w| is_run(run, w)) {
                Some(place) => {
                    found[place] = true;
                    return Some(item);
                }
                None => others.push(run.to_owned()),
            }
        }
    }))
}

/// The place of a run among others: numbers within names count as numbers.
fn place(run: &str) -> Vec<(String, u64, String)> {
    let digit = |c: char| c.is_ascii_digit();
    let (mut parts, mut rest) = (Vec::new(), run);
    while !rest.is_empty() {
        let (text, number) = rest.split_at(rest.find(digit).unwrap_or(rest.len()));
        let end = number.find(|c| !digit(c)).unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        let value = digits.parse().unwrap_or(u64::MAX);
        parts.push((text.to_owned(), value, digits.to_owned()));
        rest = after;
    }
    parts
}

/// Whether a run is the one that is wanted: by name, or by the number its name ends in.
fn is_run(run: &str, wanted: &str) -> bool {
    let last = run.rsplit('/').next().unwrap_or(run);
    let digits = last.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number = |text: &str| text.parse::<u32>().ok();
    run.eq_ignore_ascii_case(wanted)
        || last.eq_ignore_ascii_case(wanted)
        || (number(wanted).is_some() && number(digits) == number(wanted))
}

/// The files of the subjects at these places, counted from 1 in the order of their names.
fn of_subjects(files: Vec<PathBuf>, list: &str, naming: &Naming) -> Result<Vec<PathBuf>> {
    let mut by_subject: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files {
        let domain = naming.of(&path)?.domain;
        let (subject, _) = subject_session(&domain);
        by_subject.entry(subject.to_owned()).or_default().push(path);
    }
    let wanted = parse_subjects(list)?;
    let count = by_subject.len();
    if let Some(bad) = wanted.iter().find(|&&s| usize::from(s) > count) {
        let names: Vec<&str> = by_subject.keys().map(String::as_str).collect();
        return Err(EegError::setting(
            format!("there is no subject {bad}: there are {count} subjects"),
            format!("they are, in this order, {}", listed(&names)),
        ));
    }
    let places = (1_u16..).zip(by_subject.into_values());
    let chosen = places.filter(|(place, _)| wanted.contains(place));
    Ok(chosen.flat_map(|(_, files)| files).collect())
}

/// What a file holds.
fn inputs_of(path: &Path, naming: &Naming, options: &ReadOptions) -> Result<Vec<Input>> {
    let Named { domain, run, class } = naming.of(path)?;
    let mut source = Source::open(path)?;
    // Packed files are told by what is inside.
    let several_sessions = detect(&mut source).is_ok_and(|format| format == mat::FORMAT);
    let input = |signal: Signal, run: Option<String>, notes: Vec<String>| Input {
        signal,
        domain: domain.clone(),
        run,
        path: path.to_path_buf(),
        notes,
    };
    match read_among(source, options)? {
        Content::Epochs(epochs) => {
            let notes = epochs.notes().to_vec();
            let epochs = named(&epochs, &domain, run.as_deref(), several_sessions)?;
            Ok(vec![input(Signal::Epochs(epochs), run, notes)])
        }
        Content::Recordings(recordings) if class.is_some() => {
            let one = |recording: Recording| {
                let notes = recording.notes().to_vec();
                let trial = one_trial(recording, class.as_deref(), &domain, run.as_deref())?;
                Ok(input(Signal::Epochs(trial), run.clone(), notes))
            };
            recordings.into_iter().map(one).collect()
        }
        Content::Recordings(recordings) => {
            let several = recordings.len() > 1;
            // A MATLAB file holds the runs of a session; other formats one run, in stretches where it has gaps.
            let join = if several_sessions { "/" } else { "." };
            let number = |i: usize| match &run {
                Some(run) if several => Some(format!("{run}{join}{}", i + 1)),
                None if several => Some((i + 1).to_string()),
                run => run.clone(),
            };
            let inputs = recordings.into_iter().enumerate().map(|(i, recording)| {
                let notes = recording.notes().to_vec();
                input(Signal::Recording(recording), number(i), notes)
            });
            Ok(inputs.collect())
        }
        Content::Trials(_) => Err(EegError::setting(
            format!("{} holds covariances already", path.display()),
            "train on it as it is, or give recordings or epochs",
        )),
    }
}

/// A file that is one trial.
fn one_trial(
    recording: Recording,
    class: Option<&str>,
    domain: &str,
    run: Option<&str>,
) -> Result<Epochs> {
    let info = TrialInfo {
        label: class.unwrap_or_default().to_owned(),
        domain: domain.to_owned(),
        run: run.map(str::to_owned),
    };
    let (channels, rate, samples) = (
        recording.channels().to_vec(),
        recording.sampling_rate(),
        recording.samples(),
    );
    let data = recording.into_data();
    Ok(Epochs::new(channels, rate, samples, data, vec![info])?)
}

/// Trials with the file's domain and run where they have none of their own.
fn named(epochs: &Epochs, domain: &str, run: Option<&str>, always: bool) -> Result<Epochs> {
    let trials: Vec<TrialInfo> = (epochs.trials().iter())
        .map(|t| TrialInfo {
            label: t.label.clone(),
            domain: if always || t.domain.is_empty() {
                domain.to_owned()
            } else {
                t.domain.clone()
            },
            run: t.run.clone().or_else(|| run.map(str::to_owned)),
        })
        .collect();
    Ok(Epochs::new(
        epochs.channels().to_vec(),
        epochs.sampling_rate(),
        epochs.samples(),
        epochs.data().to_vec(),
        trials,
    )?)
}
