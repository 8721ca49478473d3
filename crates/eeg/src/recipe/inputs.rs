//! Signals to prepare, one at a time: from files and folders, or from a public dataset.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use stiefel_data::{DomainFrom, Input, Recipe, Trials, View, subject_session};

use super::folders::{of_task, recordings_in};
use super::naming::{domain_of, home_of};
use super::parse_views;
use super::pattern::NamePattern;
use super::simulated::generator;
use crate::catalogue::{self, Cache, DatasetRun, DomainUnit, Selection, Signal, parse_subjects};
use crate::io::{
    Content, Limits, MarkerRule, ReadOptions, check_apply, detect, listed, mat, read_among,
    read_with,
};
use crate::ledger::Ledger;
use crate::synthetic::{Synthetic, SyntheticConfig, SyntheticRecording};
use crate::{EegError, Epochs, Recording, Result, TrialInfo};

/// A signal and whose it is.
pub(super) struct Item {
    pub(super) signal: Signal,
    pub(super) domain: String,
    /// The folder within which this name is one person, where the name alone does not say so.
    pub(super) home: Option<PathBuf>,
    pub(super) run: Option<String>,
    pub(super) path: PathBuf,
    pub(super) notes: Vec<String>,
}

type Items = Box<dyn Iterator<Item = Result<Item>>>;

/// Files that cannot be read, and why.
pub(super) type Unreadable = Rc<RefCell<Vec<(PathBuf, EegError)>>>;

/// Signals to come, each read once, when its turn comes.
pub struct Inputs {
    pub(super) sources: Vec<String>,
    pub(super) input: Input,
    pub(super) items: Peekable<Items>,
    pub(super) files: Vec<PathBuf>,
    /// Hashes of the bytes that were read.
    pub(super) ledger: Ledger,
    /// Files that came and could not be read: none of the items is of them.
    pub(super) unreadable: Unreadable,
    pub(super) licence: Option<String>,
    pub(super) citation: Option<String>,
    /// Labels and classes as these signals spell them.
    pub(super) classes: Vec<(String, String)>,
    /// Whether every label that is asked for must occur.
    pub(super) all_labels: bool,
    band: Option<[f64; 2]>,
    window: Option<[f64; 2]>,
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inputs")
            .field("sources", &self.sources)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl Inputs {
    /// Finds files and folders, one public data set, or simulated people (`synthetic:GEOMETRY`).
    ///
    /// Of the recipe, the classes are looked at: files of a public data set that hold none of them
    /// are not read.
    pub fn open(sources: &[String], input: &Input, recipe: &Recipe) -> Result<Self> {
        let mut found = match sources {
            [name] if name.starts_with("synthetic:") => of_synthetic(name, recipe)?,
            [name] if is_catalogue(name) => of_catalogue(name, input, recipe)?,
            _ => of_files(sources, input)?,
        };
        found.sources = sources.to_vec();
        found.input = input.clone();
        if found.classes.is_empty() {
            found.classes.clone_from(&recipe.classes);
        }
        found.all_labels = !recipe.classes.is_empty();
        Ok(found)
    }

    /// Lets labels be absent, as of trials that a model is to decide.
    pub fn with_any_labels(mut self) -> Self {
        self.all_labels = false;
        self
    }

    /// Returns the views that a list by name stands for (see [`parse_views`]), around a band and a
    /// window; without these around the data set's own, or 8–32 Hz and 0.5–3.5 s, or whole trials.
    pub fn views(
        &mut self,
        band: Option<[f64; 2]>,
        window: Option<[f64; 2]>,
        list: &str,
    ) -> Result<Vec<View>> {
        let usual = Recipe::default().broad();
        let whole = match self.items.peek() {
            Some(Ok(Item {
                signal: Signal::Epochs(epochs),
                ..
            })) => Some([0.0, epochs.samples() as f64 / epochs.sampling_rate()]),
            _ => None,
        };
        let broad = View {
            band: band.or(self.band).unwrap_or(usual.band),
            window: window.or(self.window).or(whole).unwrap_or(usual.window),
        };
        // Trials have nothing before their first sample.
        let earliest = whole.map_or(f64::NEG_INFINITY, |_| 0.0);
        parse_views(list, broad, earliest)
    }

    fn new(items: impl Iterator<Item = Result<Item>> + 'static, files: Vec<PathBuf>) -> Self {
        let items: Items = Box::new(items);
        Self {
            sources: Vec::new(),
            input: Input::default(),
            items: items.peekable(),
            files,
            ledger: Ledger::default(),
            unreadable: Unreadable::default(),
            licence: None,
            citation: None,
            classes: Vec::new(),
            all_labels: false,
            band: None,
            window: None,
        }
    }

    /// Simulates recordings, named as their people are.
    pub(crate) fn simulated(config: &SyntheticConfig, name: &str) -> Result<Self> {
        // People who came once are not told apart by session.
        let by_session =
            config.domain == DomainUnit::SubjectSession && config.sessions.iter().any(|&s| s > 1);
        let item = move |item: Result<SyntheticRecording>| -> Result<Item> {
            let item = item?;
            let subject = format!("S{:02}", item.subject + 1);
            Ok(Item {
                path: PathBuf::from(&subject),
                home: None,
                domain: if by_session {
                    format!("{subject}-{}", item.session + 1)
                } else {
                    subject
                },
                run: Some(format!("{}/{}", item.session + 1, item.run + 1)),
                notes: Vec::new(),
                signal: Signal::Recording(item.recording),
            })
        };
        let items = Synthetic::new(config.clone())?.recordings().map(item);
        let labels = config.classes.iter().map(|class| class.label().to_owned());
        let people = 1..=config.sessions.len();
        Ok(Self {
            sources: vec![name.to_owned()],
            classes: labels.map(|l| (l.clone(), l)).collect(),
            window: Some([0.5, config.imagery]),
            ..Self::new(
                items,
                people.map(|s| PathBuf::from(format!("S{s:02}"))).collect(),
            )
        })
    }
}

/// Tells whether a source names a public dataset: `weibo2014`, `weibo2014:paper`.
pub(crate) fn is_catalogue(source: &str) -> bool {
    let name = source.split(':').next().unwrap_or(source);
    catalogue::find(name).is_ok() && !Path::new(source).is_file()
}

fn of_synthetic(source: &str, recipe: &Recipe) -> Result<Inputs> {
    let what = source.strip_prefix("synthetic:").unwrap_or(source);
    let mut found = Inputs::simulated(&generator(what)?, source)?;
    if !recipe.classes.is_empty() {
        found.classes.clone_from(&recipe.classes);
    }
    Ok(found)
}

/// Finds the signals of a public dataset.
fn of_catalogue(source: &str, input: &Input, recipe: &Recipe) -> Result<Inputs> {
    let (name, preset) = match source.split_once(':') {
        Some((name, preset)) => (name, Some(preset)),
        None => (source, None),
    };
    let dataset = catalogue::find(name)?;
    for (option, given) in [
        ("mat", input.mat.is_some()),
        ("stream", input.stream.is_some()),
        ("markers", input.markers.is_some()),
        ("sampling rate", input.sampling_rate.is_some()),
        ("task", input.task.is_some()),
        ("pattern", input.pattern.is_some()),
    ] {
        if given {
            return Err(EegError::setting(
                format!(
                    "the option {option} says how to read files, but stiefel knows how to read \
                     the files of {name}"
                ),
                "leave it out, or give the files by name",
            ));
        }
    }
    let (mut classes, mut subjects) = (recipe.classes.clone(), input.subjects.clone());
    if let Some(preset) = preset {
        paper(dataset.id, preset, &mut classes, &mut subjects)?;
    }
    let mut selection = match &subjects {
        Some(list) => Selection::subjects(parse_subjects(list)?),
        None => Selection::all(),
    };
    if !classes.is_empty() {
        selection = selection.with_classes(classes.iter().map(|(label, _)| label.as_str()));
    }
    let cache = Cache::from_env()?;
    let files = cache.locate(dataset, &selection)?;
    // Recordings of the catalogue name events by class already: an alias stands for it here.
    for (label, class) in &mut classes {
        if let Some(known) = dataset.classes().iter().find(|c| c.is_called(label)) {
            if class == label {
                *class = known.name.into();
            }
            *label = known.name.into();
        }
    }
    if classes.is_empty() {
        let all = dataset.classes();
        let default = all.iter().filter(|c| c.by_default);
        classes = default.map(|c| (c.name.into(), c.name.into())).collect();
    }
    let item = move |run: catalogue::Result<DatasetRun>| -> Result<Item> {
        let run = run?;
        Ok(Item {
            domain: run.domain(dataset.domain),
            home: None,
            run: Some(format!("{}/{}", run.session, run.run)),
            path: run.path,
            notes: run.notes,
            signal: run.signal,
        })
    };
    let ledger = Ledger::default();
    let items = dataset
        .recordings_into(&cache, &selection, &ledger)?
        .map(item);
    let window = dataset.window;
    Ok(Inputs {
        licence: Some(dataset.licence.name.into()),
        citation: Some(dataset.citation.bibtex.into()),
        classes,
        ledger,
        band: dataset.band,
        window: Some([window.start, window.end]),
        ..Inputs::new(
            of_runs(items, input.runs.as_deref()),
            files.into_iter().map(|f| f.path).collect(),
        )
    })
}

/// Chooses the part of a dataset that the paper used: right hand against feet; nine of the ten
/// subjects of Weibo 2014 (it does not say which; the first nine).
fn paper(
    id: &str,
    preset: &str,
    classes: &mut Vec<(String, String)>,
    subjects: &mut Option<String>,
) -> Result<()> {
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
    if classes.is_empty() {
        *classes = ["right_hand", "feet"]
            .map(|c| (c.to_owned(), c.to_owned()))
            .to_vec();
    }
    if id == "weibo2014" && subjects.is_none() {
        *subjects = Some("1-9".into());
    }
    Ok(())
}

/// Finds the signals of files and folders.
fn of_files(sources: &[String], input: &Input) -> Result<Inputs> {
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
    if let Some(task) = &input.task {
        files = of_task(files, task)?;
    }
    let naming = Naming::of_input(input)?;
    if let Some(list) = &input.subjects {
        files = of_subjects(files, list, &naming)?;
    }
    let reading = read_options(input)?;
    check_apply(&reading, &files)?;
    let (unreadable, ledger) = (Unreadable::default(), Ledger::default());
    let (kept, read) = (Rc::clone(&unreadable), ledger.clone());
    let items = files.clone().into_iter().flat_map(move |path| {
        match items_of(&path, &naming, &reading, &read) {
            Ok(items) => items.into_iter().map(Ok).collect(),
            // What was asked for is wrong, whatever the file.
            Err(error @ EegError::Setting { .. }) => vec![Err(error)],
            Err(error) => {
                kept.borrow_mut().push((path, error));
                Vec::new()
            }
        }
    });
    Ok(Inputs {
        ledger,
        unreadable,
        ..Inputs::new(of_runs(items, input.runs.as_deref()), files)
    })
}

/// A single file: covariances, or signals to make some of.
pub(crate) enum Opened {
    Trials(Box<Trials>),
    Signals(Box<Inputs>),
}

/// Reads a single file, once, whatever it holds.
pub(crate) fn open_file(path: &Path, input: &Input, recipe: &Recipe) -> Result<Opened> {
    let reading = read_options(input)?;
    let ledger = Ledger::default();
    let (mut source, _) = ledger.open(path)?;
    let is_matlab = detect(&mut source).is_ok_and(|format| format == mat::FORMAT);
    let content = match read_with(source, &reading)? {
        Content::Trials(trials) => return Ok(Opened::Trials(Box::new(trials))),
        content => content,
    };
    let naming = Naming::of_input(input)?;
    let items = signals(path, &naming, content, is_matlab)?
        .into_iter()
        .map(Ok);
    Ok(Opened::Signals(Box::new(Inputs {
        sources: vec![path.to_string_lossy().into_owned()],
        input: input.clone(),
        classes: recipe.classes.clone(),
        ledger,
        ..Inputs::new(items, vec![path.to_path_buf()])
    })))
}

/// Returns how readers are to read files.
pub fn read_options(input: &Input) -> Result<ReadOptions> {
    let markers = match &input.markers {
        Some(text) => text.parse()?,
        None => MarkerRule::default(),
    };
    let usual = Limits::default();
    let limits = Limits {
        max_expanded: input.max_expanded.unwrap_or(usual.max_expanded),
        ..usual
    };
    Ok(ReadOptions {
        limits,
        partial: input.partial,
        sampling_rate: input.sampling_rate,
        mat: input.mat.as_deref().map(str::parse).transpose()?,
        stream: input.stream.clone(),
        // All channels: a recording is known by its samples, whichever are wanted.
        channels: None,
        markers,
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
    fn of_input(input: &Input) -> Result<Self> {
        Ok(Self {
            rule: input.domain,
            pattern: input.pattern.as_deref().map(str::parse).transpose()?,
        })
    }

    /// Returns the folder within which names tell people apart; a pattern says what names mean.
    fn home(&self, path: &Path) -> Option<PathBuf> {
        self.pattern.is_none().then(|| home_of(self.rule, path))?
    }

    fn of(&self, path: &Path) -> Result<Named> {
        let (domain, run) = domain_of(self.rule, path);
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
    items: impl Iterator<Item = Result<Item>> + 'static,
    wanted: Option<&[String]>,
) -> Items {
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
            let Ok(signal) = &item else { return Some(item) };
            let run = signal.run.as_deref().unwrap_or_default();
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
fn items_of(
    path: &Path,
    naming: &Naming,
    options: &ReadOptions,
    ledger: &Ledger,
) -> Result<Vec<Item>> {
    let (mut source, _) = ledger.open(path)?;
    // Packed files are told by what is inside.
    let is_matlab = detect(&mut source).is_ok_and(|format| format == mat::FORMAT);
    signals(path, naming, read_among(source, options)?, is_matlab)
}

/// Names the signals of a file. A MATLAB file may hold several sessions.
fn signals(
    path: &Path,
    naming: &Naming,
    content: Content,
    several_sessions: bool,
) -> Result<Vec<Item>> {
    let Named { domain, run, class } = naming.of(path)?;
    let home = naming.home(path);
    let item = |signal: Signal, run: Option<String>, notes: Vec<String>| Item {
        signal,
        domain: domain.clone(),
        home: home.clone(),
        run,
        path: path.to_path_buf(),
        notes,
    };
    match content {
        Content::Epochs(epochs) => {
            let notes = epochs.notes().to_vec();
            let epochs = named(&epochs, &domain, run.as_deref(), several_sessions)?;
            Ok(vec![item(Signal::Epochs(epochs), run, notes)])
        }
        Content::Recordings(recordings) if class.is_some() => {
            let one = |recording: Recording| {
                let notes = recording.notes().to_vec();
                let trial = one_trial(recording, class.as_deref(), &domain, run.as_deref())?;
                Ok(item(Signal::Epochs(trial), run.clone(), notes))
            };
            recordings.into_iter().map(one).collect()
        }
        Content::Recordings(recordings) => {
            let several = recordings.len() > 1;
            // A MATLAB file holds the runs of a session; other formats one run, in stretches where
            // it has gaps.
            let join = if several_sessions { "/" } else { "." };
            let number = |i: usize| match &run {
                Some(run) if several => Some(format!("{run}{join}{}", i + 1)),
                None if several => Some((i + 1).to_string()),
                run => run.clone(),
            };
            let items = recordings.into_iter().enumerate().map(|(i, recording)| {
                let notes = recording.notes().to_vec();
                item(Signal::Recording(recording), number(i), notes)
            });
            Ok(items.collect())
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
