//! Windows of signals, counted by electrode and person.

use std::collections::{BTreeMap, BTreeSet};

use stiefel_data::{Amplitudes, Finding, FindingKind, Quality};

use super::line::Mains;
use super::rule::WindowRule;
use super::window::scan;
use super::{median, microvolts};
use crate::Channel;
use crate::tolerance::{LINE_SHARE, OTHER_UNIT, SPREAD, TOLD_SHARE, USUAL_RANGE};

/// Windows of signals that are taken in, recording by recording.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignalLook {
    unit: String,
    electrode_count: usize,
    domains: BTreeMap<String, DomainLook>,
}

/// Whose signal windows are, and how it was sampled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowOrigin<'a> {
    pub(crate) domain: &'a str,
    pub(crate) run: Option<&'a str>,
    pub(crate) rate: f64,
    /// Samples of a window.
    pub(crate) samples: usize,
}

#[derive(Debug, Clone, Default)]
struct DomainLook {
    /// Windows by run.
    windows: usize,
    electrodes: Vec<Electrode>,
    /// Windows of which no electrode has a voltage of EEG.
    strange: Tally,
}

/// An electrode over the windows of a domain.
#[derive(Debug, Clone, Default)]
struct Electrode {
    ranges: Vec<f64>,
    faults: BTreeMap<FindingKind, Tally>,
}

/// Windows with a fault: how many, in which runs, and the largest figure.
#[derive(Debug, Clone, Default)]
struct Tally {
    windows: usize,
    runs: BTreeSet<String>,
    worst: f64,
}

impl Tally {
    fn add(&mut self, run: Option<&str>, value: f64) {
        self.windows += 1;
        self.worst = self.worst.max(value);
        self.runs.extend(run.map(str::to_owned));
    }
}

impl SignalLook {
    /// Takes in windows: `rows` gives each electrode in turn of each window in turn.
    pub(crate) fn add<'a>(
        &mut self,
        signal: WindowOrigin<'_>,
        channels: &[Channel],
        windows: impl Iterator<Item = Vec<&'a [f64]>>,
    ) {
        if self.domains.is_empty() {
            self.unit = channels.first().map_or(String::new(), |c| c.unit.clone());
            self.electrode_count = channels.len();
        }
        if channels.len() != self.electrode_count {
            // Refused by whoever makes trials of it.
            return;
        }
        let rule = WindowRule::new(signal.rate, microvolts(&self.unit));
        let mains = Mains::new(signal.rate, signal.samples);
        let own = self.domains.entry(signal.domain.to_owned()).or_default();
        own.electrodes
            .resize(self.electrode_count, Electrode::default());
        for window in windows {
            own.window(&window, &rule, &mains, signal.run);
        }
    }

    /// Tells what was found; electrodes are called as they are in the trials.
    pub(crate) fn finish(&self, electrodes: &[String]) -> Quality {
        let unit = match self.unit.as_str() {
            "" => "no known unit",
            unit => unit,
        };
        let domains = self.domains.iter().filter(|(_, own)| own.windows > 0);
        let mut quality = Quality {
            measure: format!("range in {unit}"),
            electrodes: electrodes.to_vec(),
            amplitudes: (domains.clone())
                .map(|(name, own)| own.amplitudes(name))
                .collect(),
            findings: Vec::new(),
        };
        for (name, own) in domains {
            quality.findings.extend(own.faults(name, &quality));
        }
        let usual = microvolts(&self.unit).map(|m| (USUAL_RANGE.0 / m, USUAL_RANGE.1 / m));
        let strange = |domain: &str| {
            let own = &self.domains[domain];
            own.strange.windows as f64 / own.windows as f64
        };
        quality.findings.extend(sizes(&quality, usual, strange));
        quality
    }
}

impl DomainLook {
    fn window(&mut self, rows: &[&[f64]], rule: &WindowRule, mains: &Mains, run: Option<&str>) {
        let extremes: Vec<_> = rows.iter().map(|x| scan(x, rule.shortest_run())).collect();
        let mut ranges: Vec<f64> = extremes.iter().map(|e| e.high - e.low).collect();
        if ranges.iter().any(|r| !r.is_finite()) {
            // Values that are not finite are refused by name when covariances are made.
            return;
        }
        self.windows += 1;
        for (electrode, range) in self.electrodes.iter_mut().zip(&ranges) {
            electrode.ranges.push(*range);
        }
        let middle = median(&mut ranges);
        let strange = rule.all(middle).is_some();
        if strange {
            self.strange.add(run, middle);
        }
        for ((electrode, e), x) in self.electrodes.iter_mut().zip(&extremes).zip(rows) {
            let range = e.high - e.low;
            let fault = rule.electrode(range, middle, e.longest, || e.at_extreme);
            // One finding about all electrodes says it better than one about each.
            let fault = fault.filter(|kind| !(strange && *kind == FindingKind::OutOfRange));
            if let Some(kind) = fault {
                electrode.faults.entry(kind).or_default().add(run, range);
                continue;
            }
            let share = mains.share(x);
            if share > LINE_SHARE {
                let faults = &mut electrode.faults;
                faults
                    .entry(FindingKind::LineNoise)
                    .or_default()
                    .add(run, share);
            }
        }
    }

    fn amplitudes(&self, domain: &str) -> Amplitudes {
        let each = |figure: fn(&mut Vec<f64>) -> f64| {
            let of = |e: &Electrode| figure(&mut e.ranges.clone());
            self.electrodes.iter().map(of).map(rounded).collect()
        };
        Amplitudes {
            domain: domain.to_owned(),
            median: each(|r| median(r)),
            low: each(|r| r.iter().copied().fold(f64::INFINITY, f64::min)),
            high: each(|r| r.iter().copied().fold(0.0, f64::max)),
        }
    }

    /// Lists the electrodes that have a fault in enough windows.
    fn faults(&self, domain: &str, quality: &Quality) -> Vec<Finding> {
        let all = self.electrodes.iter().zip(&quality.electrodes);
        let each = all.flat_map(|(e, name)| e.faults.iter().map(move |(k, t)| (name, *k, t)));
        let told = each.filter(|(.., tally)| {
            let least = TOLD_SHARE * self.windows as f64;
            tally.windows as f64 >= least.max(1.0)
        });
        told.map(|(name, kind, tally)| Finding {
            kind,
            domain: domain.to_owned(),
            runs: tally.runs.iter().cloned().collect(),
            electrodes: vec![name.clone()],
            share: tally.windows as f64 / self.windows as f64,
            value: rounded(tally.worst),
            measure: match kind {
                FindingKind::LineNoise => "share of the variance".into(),
                _ => quality.measure.clone(),
            },
            worthless: false,
        })
        .collect()
    }
}

/// Finds people whose amplitudes are not those of EEG, not those of the others, or different from
/// electrode to electrode by orders of magnitude.
pub(super) fn sizes(
    quality: &Quality,
    usual: Option<(f64, f64)>,
    strange: impl Fn(&str) -> f64,
) -> Vec<Finding> {
    let middles: Vec<f64> = (quality.amplitudes.iter())
        .map(|a| median(&mut a.median.clone()))
        .collect();
    let common = median(&mut middles.clone());
    let mut found = Vec::new();
    for (own, middle) in quality.amplitudes.iter().zip(middles) {
        let finding = |kind, electrodes: Vec<String>, value, measure: String, worthless| Finding {
            kind,
            domain: own.domain.clone(),
            runs: Vec::new(),
            electrodes,
            share: 1.0,
            value,
            measure,
            worthless,
        };
        let no_eeg = strange(&own.domain) > 0.5;
        let unusual = usual.is_some_and(|(low, high)| !(low..=high).contains(&middle));
        let other = middle > OTHER_UNIT * common || middle * OTHER_UNIT < common;
        if no_eeg || unusual || other {
            let measure = format!("median {}", quality.measure);
            let value = rounded(middle);
            found.push(finding(
                FindingKind::Amplitude,
                Vec::new(),
                value,
                measure,
                no_eeg,
            ));
        }
        let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        let each = || own.median.iter().copied().enumerate().filter(|e| e.1 > 0.0);
        if let (Some(least), Some(most)) = (each().min_by(order), each().max_by(order))
            && most.1 > SPREAD * least.1
        {
            let names = [most.0, least.0].map(|i| quality.electrodes[i].clone());
            let measure = "largest over smallest amplitude".into();
            let ratio = rounded(most.1 / least.1);
            found.push(finding(
                FindingKind::Spread,
                names.to_vec(),
                ratio,
                measure,
                true,
            ));
        }
    }
    found
}

/// Keeps four digits: more say nothing, and files hold one number per electrode and person.
pub(super) fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let digits = 3 - x.abs().log10().floor() as i32;
    let scale = 10.0_f64.powi(digits.abs());
    if digits >= 0 {
        (x * scale).round() / scale
    } else {
        (x / scale).round() * scale
    }
}
