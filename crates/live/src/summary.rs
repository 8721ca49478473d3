//! What a session came to: how many windows of every status, how good the decisions were where cues
//! had labels, and how long they took.
//!
//! Bits per minute at accuracy `P` with `N` classes and `t` seconds per decision (Wolpaw et al.,
//! IEEE Trans. Rehab. Eng. 8, 2000), 0 where `P ≤ 1/N`:
//!
//! ```text
//! (log₂N + P log₂P + (1−P) log₂((1−P)/(N−1))) · 60/t
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use stiefel_data::Role;

use crate::offline::OfflineDecision;
use crate::quality::Reason;
use crate::window::{Event, Status, Window};

/// Right decisions among decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Right ones.
    pub right: u64,
    /// All.
    pub all: u64,
}

impl Tally {
    fn count(&mut self, right: bool) {
        self.right += u64::from(right);
        self.all += 1;
    }

    /// The share of right ones.
    pub fn accuracy(self) -> Option<f64> {
        (self.all > 0).then(|| self.right as f64 / self.all as f64)
    }
}

/// Windows and evidence at one time after the cue: of every trial the one window that ended within
/// the last hop before it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AtTime {
    /// Seconds from the cue, a multiple of the hop.
    pub seconds: f64,
    /// Decisions of single windows.
    pub windows: Tally,
    /// The evidence over time.
    pub evidence: Tally,
    /// Bits per minute of the evidence, were it to decide here.
    pub bits_per_minute: f64,
}

/// How long it takes from the arrival of a window's last sample until its line is written, in
/// milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Latency {
    /// Half of the windows are faster.
    pub median: f64,
    /// Nine of ten.
    pub p90: f64,
    /// Ninety-nine of a hundred.
    pub p99: f64,
    /// The slowest.
    pub worst: f64,
}

/// What a session came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Samples, missing ones included.
    pub samples: u64,
    /// Samples per second, as measured where samples are stamped.
    pub rate: f64,
    /// Windows that got a line.
    pub windows: u64,
    /// By status.
    pub statuses: BTreeMap<&'static str, u64>,
    /// Rejected ones by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Gaps, the samples missing in them, and windows that ended in them without a line.
    pub gaps: [u64; 3],
    /// Times the stream was lost.
    pub lost: u64,
    /// Windows of cues with a label.
    pub cued: u64,
    /// Those of them that are trials the model was made with: they are not scored.
    pub seen: u64,
    /// How many of the others that were decided were right.
    pub decided: Tally,
    /// What the model decides of the same trials offline, where they could be prepared.
    pub offline: Option<Offline>,
    /// Against time, where windows followed the cues.
    pub over_time: Vec<AtTime>,
    /// How long decisions took.
    pub latency: Option<Latency>,
    classes: usize,
    /// Seconds from one row to the next.
    #[serde(skip)]
    step: f64,
    #[serde(skip)]
    rows: Vec<(i64, AtTime)>,
    #[serde(skip)]
    histogram: Vec<u64>,
    #[serde(skip)]
    worst: Duration,
    #[serde(skip)]
    labels: Vec<(i64, Option<usize>)>,
}

/// The same trials, prepared from the recording and decided as for a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Offline {
    /// Right decisions.
    pub decisions: Tally,
    /// Trials that were decided the same way live.
    pub same: u64,
    /// Trials that were decided both ways.
    pub both: u64,
}

/// Steps of the histogram of latencies: five percent each, from a microsecond on.
const STEP: f64 = 1.05;
const BINS: usize = 400;
/// Rows of the table in words.
const ROWS: usize = 20;
/// Decisions on cued trials that are remembered, to be set beside the offline ones.
const REMEMBERED: usize = 100_000;

impl Summary {
    /// Of nothing yet.
    pub fn new(classes: usize, rate: f64) -> Self {
        Self {
            samples: 0,
            rate,
            windows: 0,
            statuses: BTreeMap::new(),
            reasons: BTreeMap::new(),
            gaps: [0; 3],
            lost: 0,
            cued: 0,
            seen: 0,
            decided: Tally::default(),
            offline: None,
            over_time: Vec::new(),
            latency: None,
            classes,
            step: 0.01,
            rows: Vec::new(),
            histogram: vec![0; BINS],
            worst: Duration::ZERO,
            labels: Vec::new(),
        }
    }

    /// The same of windows that end every so many seconds. Cues come at any time between two of
    /// them, so that times from the cue are counted in hops: every trial has one window in
    /// every row.
    #[must_use]
    pub fn every(mut self, hop: Option<f64>) -> Self {
        self.step = hop.unwrap_or(self.step).max(0.01);
        self
    }

    /// Takes an event whose line was written so long after its last sample arrived.
    pub fn take(&mut self, event: &Event<'_>, took: Duration) {
        match event {
            Event::Gap(gap) => {
                self.gaps[0] += 1;
                self.gaps[1] += gap.samples;
                self.gaps[2] += gap.windows;
            }
            Event::Window(window) => {
                self.windows += 1;
                *self.statuses.entry(window.status.name()).or_default() += 1;
                if let Some(fault) = &window.fault {
                    *self.reasons.entry(fault.reason.name()).or_default() += 1;
                }
                if window.status != Status::Rejected {
                    self.time(took);
                }
                self.judge(window);
            }
        }
    }

    fn time(&mut self, took: Duration) {
        let bin = ((took.as_secs_f64() * 1e6).max(1.0).ln() / STEP.ln()).ceil() as usize;
        self.histogram[bin.min(BINS - 1)] += 1;
        self.worst = self.worst.max(took);
    }

    fn judge(&mut self, w: &Window<'_>) {
        let Some(truth) = w.truth() else { return };
        if let Some(cue) = &w.cue {
            self.cued += 1;
            if cue.seen != Role::New {
                self.seen += 1;
            } else if let Some(class) = w.class {
                self.decided.count(class == truth);
            }
            if self.labels.len() < REMEMBERED {
                self.labels.push((cue.sample, w.class));
            }
            return;
        }
        let Some(within) = w.within.filter(|within| within.seen == Role::New) else {
            return;
        };
        // A window that ends at a multiple of the hop belongs to it, whatever rounding says.
        let key = (within.seconds / self.step - 1e-6).ceil() as i64;
        let place = self.rows.partition_point(|(k, _)| *k < key);
        if self.rows.get(place).is_none_or(|(k, _)| *k != key) {
            if self.rows.len() >= BINS {
                return;
            }
            let row = AtTime {
                seconds: key as f64 * self.step,
                ..AtTime::default()
            };
            self.rows.insert(place, (key, row));
        }
        let row = &mut self.rows[place].1;
        if let Some(class) = w.class {
            row.windows.count(class == truth);
        }
        if let Some(class) = w.stable().filter(|_| w.status != Status::Rejected) {
            row.evidence.count(class == truth);
        }
    }

    /// The stream was lost.
    pub fn lost(&mut self) {
        self.lost += 1;
    }

    /// Puts the figures together at the end. Trials are not all as long as the longest: times with
    /// fewer than a third of the windows of the fullest are left out.
    pub fn finish(&mut self, samples: u64, rate: f64) {
        (self.samples, self.rate) = (samples, rate);
        let fullest = self
            .rows
            .iter()
            .map(|(_, r)| r.windows.all)
            .max()
            .unwrap_or(0);
        let rows = self
            .rows
            .iter()
            .map(|(_, row)| *row)
            .filter(|row| 3 * row.windows.all >= fullest.max(1));
        self.over_time = rows
            .map(|mut row| {
                let p = row.evidence.accuracy().unwrap_or(0.0);
                row.bits_per_minute = bits(p, self.classes) * 60.0 / row.seconds.max(0.01);
                row
            })
            .collect();
        self.latency = self.percentiles();
    }

    /// Sets the decisions of the same trials, made offline, beside those made live. Trials that the
    /// model was made with are compared and not scored.
    pub fn with_offline(&mut self, offline: &[OfflineDecision]) {
        let mut found = Offline {
            decisions: Tally::default(),
            same: 0,
            both: 0,
        };
        for trial in offline {
            if trial.seen == Role::New {
                found.decisions.count(trial.class == trial.truth);
            }
            let live = self.labels.iter().find(|(s, _)| *s == trial.sample);
            if let Some(live) = live.and_then(|(_, class)| *class) {
                found.both += 1;
                found.same += u64::from(live == trial.class);
            }
        }
        self.offline = Some(found);
    }

    fn percentiles(&self) -> Option<Latency> {
        let total: u64 = self.histogram.iter().sum();
        let at = |share: f64| {
            let mut left = (share * total as f64).ceil() as i64;
            let bin = self.histogram.iter().position(|&count| {
                left -= count as i64;
                left <= 0
            });
            // The upper end of the step: never better than it was.
            STEP.powi(bin.unwrap_or(BINS) as i32) * 1e-3
        };
        let worst = self.worst.as_secs_f64() * 1e3;
        (total > 0).then(|| Latency {
            median: at(0.5).min(worst),
            p90: at(0.9).min(worst),
            p99: at(0.99).min(worst),
            worst,
        })
    }
}

/// Bits of one decision.
fn bits(p: f64, classes: usize) -> f64 {
    let n = classes as f64;
    if classes < 2 || p <= 1.0 / n {
        return 0.0;
    }
    let part = |x: f64, log: f64| if x > 0.0 { x * log } else { 0.0 };
    n.log2() + part(p, p.log2()) + part(1.0 - p, ((1.0 - p) / (n - 1.0)).log2())
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.samples as f64 / self.rate;
        writeln!(
            f,
            "{} samples, {seconds:.1} s at {:.3} Hz; {} windows",
            self.samples, self.rate, self.windows
        )?;
        for status in Status::ALL {
            if let Some(count) = self.statuses.get(status.name()) {
                write!(f, "  {:<11} {count}", status.name())?;
                if status == Status::Rejected {
                    let each = Reason::ALL
                        .iter()
                        .filter_map(|r| Some((r.name(), self.reasons.get(r.name())?)));
                    let each: Vec<String> = each
                        .map(|(name, count)| format!("{name} {count}"))
                        .collect();
                    write!(f, " ({})", each.join(", "))?;
                }
                writeln!(f)?;
            }
        }
        let [gaps, missing, unseen] = self.gaps;
        if gaps > 0 {
            writeln!(
                f,
                "{gaps} gaps, {missing} samples missing, {unseen} windows ended in them"
            )?;
        }
        if self.lost > 0 {
            writeln!(f, "the stream was lost {} times", self.lost)?;
        }
        self.accuracy(f)?;
        if let Some(l) = &self.latency {
            writeln!(
                f,
                "from the last sample to the line: median {:.3} ms, 90 % {:.3} ms, 99 % {:.3} ms, \
                 slowest {:.3} ms",
                l.median, l.p90, l.p99, l.worst
            )?;
        }
        Ok(())
    }
}

impl Summary {
    fn accuracy(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |t: Tally| match t.accuracy() {
            Some(a) => format!("{a:.3} ({} of {})", t.right, t.all),
            None => "none".into(),
        };
        let all_seen = self.seen == self.cued;
        if self.cued > 0 {
            write!(f, "{} labelled cues", self.cued)?;
            match self.seen {
                0 => {}
                seen if all_seen => write!(
                    f,
                    ": the model was made with all {seen}, and there is no score"
                )?,
                seen => write!(f, ", {seen} of trials that the model was made with")?,
            }
            if !all_seen {
                write!(f, "; accuracy live {}", share(self.decided))?;
            }
            writeln!(f)?;
        }
        if let Some(offline) = &self.offline {
            let score = format!("accuracy offline {}; ", share(offline.decisions));
            let score = if all_seen { "" } else { &score };
            writeln!(
                f,
                "{score}{} of {} trials decided offline as live",
                offline.same, offline.both
            )?;
        }
        if !self.over_time.is_empty() {
            writeln!(
                f,
                "seconds from the cue   windows   right   evidence   bits/min"
            )?;
            // The lines have all rows; a table is read.
            let step = self.over_time.len().div_ceil(ROWS);
            for row in self.over_time.iter().rev().step_by(step).rev() {
                let figure = |t: Tally| t.accuracy().map_or("–".into(), |a| format!("{a:.3}"));
                writeln!(
                    f,
                    "{:>20.2} {:>9} {:>7} {:>10} {:>10.1}",
                    row.seconds,
                    row.windows.all,
                    figure(row.windows),
                    figure(row.evidence),
                    row.bits_per_minute
                )?;
            }
        }
        Ok(())
    }
}
