//! What is asked for between a recording and its covariances; what was done is [`Steps`].

use serde::{Deserialize, Serialize};
use stiefel_data::{Estimator, Phase, Steps, View};

use super::DomainFrom;
use super::pattern::NamePattern;
use crate::io::{MarkerRule, ReadOptions};
use crate::select::{ChannelChoice, DataChoice};
use crate::signal::DEFAULT_DEVIATIONS;
use crate::{EegError, Result};

/// The window of trials in files that do not say.
pub const DEFAULT_WINDOW: [f64; 2] = [0.5, 3.5];

/// The pass band in hertz where neither the caller nor the dataset names one.
pub(super) const DEFAULT_BAND: [f64; 2] = [8.0, 32.0];

/// From recordings to covariances: band-pass (Butterworth), trials around events, rejection by amplitude within each domain, one covariance per
/// trial and view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareOptions {
    /// Pass band in hertz. Without it the dataset's own band; 8–32 Hz where it has none, and for files.
    pub band: Option<[f64; 2]>,
    /// Order of the filter.
    pub order: usize,
    /// Whether the filter runs both ways, or forwards only, as a live stream must.
    pub phase: Phase,
    /// Seconds from the event (from the first sample of data that comes in trials). Without it the dataset's own window; for files
    /// 0.5–3.5 s, or whole trials where they hold trials.
    pub window: Option<[f64; 2]>,
    /// Further views of each trial.
    pub others: Vec<View>,
    /// Whether the further views are those of CHOIR, placed around band and window ([`choir_views`](super::choir_views)).
    pub choir_views: bool,
    /// Event labels and the class each stands for. Without it the classes of the dataset, or all labels of trials; continuous
    /// files have no default.
    pub classes: Vec<(String, String)>,
    /// Channels; all EEG channels without it.
    pub channels: Option<ChannelChoice>,
    /// Subjects counted from 1, `1-9,12`: by number in a public dataset, by place in the order of names for files.
    pub subjects: Option<String>,
    /// Runs by name (`R06`) or number (`6`); all without it.
    pub runs: Option<Vec<String>>,
    /// The estimator.
    pub estimator: Estimator,
    /// Median absolute deviations above which a trial is left out; none keeps all.
    pub reject: Option<f64>,
    /// Samples per second to resample to before filtering.
    pub resample: Option<f64>,
    /// What names the domain of a file.
    pub domain: DomainFrom,
    /// Whether the complete part of a file that was cut short is taken.
    pub partial: bool,
    /// Samples per second where a file does not say.
    pub rate: Option<f64>,
    /// How events are read off marker channels, as [`MarkerRule`] takes it.
    pub markers: Option<String>,
    /// What is what in MATLAB files, as [`MatRule`](crate::io::MatRule) takes it.
    pub mat: Option<String>,
    /// The stream of XDF files that is the signal.
    pub stream: Option<String>,
    /// The task of BIDS recordings.
    pub task: Option<String>,
    /// The most bytes that the packed parts of a file may expand to; a default without it.
    pub max_expanded: Option<u64>,
    /// Whether files that cannot be read are left out, with a note on each.
    pub skip_unreadable: bool,
    /// The pattern of file names, where it tells subject, class and run, as [`NamePattern`] takes it.
    pub pattern: Option<String>,
}

impl Default for PrepareOptions {
    fn default() -> Self {
        Self {
            band: None,
            order: 4,
            phase: Phase::Zero,
            window: None,
            others: Vec::new(),
            choir_views: false,
            classes: Vec::new(),
            channels: None,
            subjects: None,
            runs: None,
            estimator: Estimator::Sample,
            reject: Some(DEFAULT_DEVIATIONS),
            resample: None,
            domain: DomainFrom::Auto,
            partial: false,
            rate: None,
            markers: None,
            mat: None,
            stream: None,
            task: None,
            max_expanded: None,
            skip_unreadable: false,
            pattern: None,
        }
    }
}

impl PrepareOptions {
    /// The default steps on the part of a dataset that is wanted.
    pub fn of_choice(choice: &DataChoice) -> Self {
        let classes = choice.classes.iter().flatten();
        Self {
            band: choice.band,
            window: choice.window,
            classes: classes.map(|c| (c.clone(), c.clone())).collect(),
            channels: choice.channels.clone(),
            subjects: choice.subjects.clone(),
            ..Self::default()
        }
    }

    /// What makes matrices that compare with those of the steps. No trial is left out: whoever decides decides all.
    pub fn as_in(steps: &Steps) -> Self {
        Self {
            band: Some(steps.broad().band),
            order: steps.order,
            phase: steps.phase,
            window: Some(steps.broad().window),
            others: steps.views.iter().skip(1).copied().collect(),
            classes: steps.classes.clone(),
            channels: Some(ChannelChoice::Names(steps.channels.clone())),
            estimator: steps.estimator,
            reject: None,
            resample: Some(steps.rate),
            ..Self::default()
        }
    }

    /// How files are read.
    pub(super) fn read_options(&self) -> Result<ReadOptions> {
        let markers = match &self.markers {
            Some(text) => text.parse()?,
            None => MarkerRule::default(),
        };
        // A marker channel that is asked for by name is read too.
        let channels = self.channels.as_ref().map(|choice| {
            let names = choice.names().into_iter();
            names.chain(markers.channels.iter().cloned()).collect()
        });
        let usual = ReadOptions::default();
        Ok(ReadOptions {
            max_expanded: self.max_expanded.unwrap_or(usual.max_expanded),
            partial: self.partial,
            sampling_rate: self.rate,
            markers,
            mat: self.mat.as_deref().map(str::parse).transpose()?,
            stream: self.stream.clone(),
            channels,
        })
    }

    pub(super) fn pattern(&self) -> Result<Option<NamePattern>> {
        self.pattern.as_deref().map(str::parse).transpose()
    }

    /// The same with views by name: `broad` (band and window alone), `choir`, or a list of bands and windows, the broad one first.
    ///
    /// ```
    /// use stiefel_eeg::prepare::PrepareOptions;
    ///
    /// let options = PrepareOptions::default().with_views("8-30@0.5-3.5,10-14@0.5-2.5")?;
    /// assert_eq!((options.band, options.others.len()), (Some([8.0, 30.0]), 1));
    /// assert!(PrepareOptions::default().with_views("choir")?.choir_views);
    /// assert!(PrepareOptions::default().with_views("broadd").is_err());
    /// # Ok::<(), stiefel_eeg::EegError>(())
    /// ```
    pub fn with_views(mut self, text: &str) -> Result<Self> {
        self.others.clear();
        self.choir_views = text.trim() == "choir";
        if self.choir_views || text.trim() == "broad" {
            return Ok(self);
        }
        let views: std::result::Result<Vec<View>, _> = text.split(',').map(str::parse).collect();
        let views = views
            .map_err(|error| EegError::setting(error.to_string(), "or choose broad or choir"))?;
        for (place, view) in views.iter().enumerate() {
            if views[..place].contains(view) {
                return Err(EegError::setting(
                    format!("the view {view} is given twice"),
                    "give every view once",
                ));
            }
        }
        if let [broad, others @ ..] = &views[..] {
            (self.band, self.window) = (Some(broad.band), Some(broad.window));
            self.others = others.to_vec();
        }
        Ok(self)
    }

    /// `T1=hands,T2=feet`: labels and the classes they stand for; a label alone stands for itself. `R0[48]:T1=left` is about the runs whose
    /// name fits: `*` is anything, `?` one letter, `[48]` one of these.
    pub fn parse_classes(parts: &[impl AsRef<str>]) -> Result<Vec<(String, String)>> {
        let mut classes: Vec<(String, String)> = Vec::new();
        for part in parts.iter().map(|p| p.as_ref().trim()) {
            let (label, class) = part.split_once('=').unwrap_or((part, part));
            let (label, class) = (label.trim(), class.trim());
            let twice = classes.iter().any(|(known, _)| known == label);
            if label.is_empty() || class.is_empty() || twice {
                return Err(EegError::setting(
                    format!("\"{part}\" does not give a class, or its label was given before"),
                    "give labels and classes, each label once, for example T1=hands,T2=feet",
                ));
            }
            classes.push((label.into(), class.into()));
        }
        Ok(classes)
    }

    /// The pass band of the broad view.
    pub(super) fn broad_band(&self) -> [f64; 2] {
        self.band.unwrap_or(DEFAULT_BAND)
    }

    pub(super) fn class_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (_, class) in &self.classes {
            if !names.contains(&class.as_str()) {
                names.push(class);
            }
        }
        names
    }

    pub(super) fn check(&self) -> Result<()> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(rate) = self.resample.filter(|r| !positive(*r)) {
            return Err(EegError::setting(
                format!("the rate to resample to is {rate} Hz"),
                "give a positive number of samples per second",
            ));
        }
        if let Some(c) = self.reject.filter(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(EegError::setting(
                format!("the rejection threshold is {c} median absolute deviations"),
                "give a number that is not negative (5 is usual), or off",
            ));
        }
        let bands = std::iter::once(self.broad_band()).chain(self.others.iter().map(|v| v.band));
        for [low, high] in bands {
            if !(positive(low) && positive(high) && low < high) {
                return Err(EegError::setting(
                    format!("the band is {low}–{high} Hz"),
                    "give a low and a higher frequency, for example 8,32",
                ));
            }
        }
        Ok(())
    }
}
