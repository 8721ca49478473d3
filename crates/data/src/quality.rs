//! Findings about the signals that trials were made of: one type at every door.
//!
//! A [`Finding`] names what is wrong, whose signal and which electrode. Rules and thresholds are
//! those of `stiefel_eeg::quality`; here are the plain values, which travel with a set of trials.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Places that are told of each kind.
const TOLD: usize = 4;

/// What is wrong with a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Voltages that are no EEG on all electrodes: a unit that is wrong by a power of ten.
    Amplitude,
    /// Electrodes over many orders of magnitude.
    Spread,
    /// An electrode without a signal.
    Flat,
    /// An electrode that is clipped at the end of the amplifier's range.
    Saturated,
    /// An electrode with a voltage that no brain makes.
    OutOfRange,
    /// An electrode that has nothing in common with any other.
    Disconnected,
    /// Two electrodes with nearly the same signal.
    Bridged,
    /// An electrode whose signal is mostly that of the mains.
    LineNoise,
    /// Covariances of less than full rank.
    Rank,
    /// Names of electrodes that do not fit their signals.
    Names,
}

impl FindingKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Amplitude,
        Self::Spread,
        Self::Flat,
        Self::Saturated,
        Self::OutOfRange,
        Self::Disconnected,
        Self::Bridged,
        Self::LineNoise,
        Self::Rank,
        Self::Names,
    ];

    /// Returns its name in files, lines and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amplitude => "amplitude",
            Self::Spread => "spread",
            Self::Flat => "flat",
            Self::Saturated => "saturated",
            Self::OutOfRange => "out-of-range",
            Self::Disconnected => "disconnected",
            Self::Bridged => "bridged",
            Self::LineNoise => "line-noise",
            Self::Rank => "rank",
            Self::Names => "names",
        }
    }

    /// Says what it means, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Amplitude => "amplitudes that are not those of EEG",
            Self::Spread => "amplitudes of the electrodes differ by orders of magnitude",
            Self::Flat => "no signal",
            Self::Saturated => "clipped at the end of the range",
            Self::OutOfRange => "voltages that no brain makes",
            Self::Disconnected => "nothing in common with any other electrode",
            Self::Bridged => "two electrodes with nearly the same signal",
            Self::LineNoise => "mostly mains hum",
            Self::Rank => "covariances without full rank",
            Self::Names => "the names of the electrodes do not fit their signals",
        }
    }

    /// Says what can be done.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Amplitude => "correct the unit of the recordings",
            Self::Spread | Self::Flat | Self::Saturated | Self::OutOfRange => {
                "choose channels without them, or leave the person out"
            }
            Self::Disconnected => "look at the electrode, or choose channels without it",
            Self::Bridged => "look for gel between them, or choose channels without one of them",
            Self::LineNoise => "look at the ground, or keep the band below the mains",
            Self::Rank => "choose an estimator that shrinks, or fewer channels",
            Self::Names => "compare the order of the names with the montage",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something that is wrong with the signal of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// Whose signal it is.
    pub domain: String,
    /// The runs it was found in, where they have names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// The electrode, or the two of them; none where it is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub electrodes: Vec<String>,
    /// The share of the domain's trials that it was found in.
    pub share: f64,
    /// The figure it was judged by, and the words for it.
    pub value: f64,
    /// What the figure is, with its unit.
    pub measure: String,
    /// Whether results would be worth nothing.
    pub worthless: bool,
}

impl Finding {
    /// Returns whose signal and which electrode.
    pub fn place(&self) -> String {
        match &self.electrodes[..] {
            [] => self.domain.clone(),
            all => format!("{} {}", self.domain, all.join("–")),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({}",
            self.place(),
            self.kind.meaning(),
            self.figure()
        )?;
        if self.share < 1.0 {
            write!(f, ", {:.0} % of the trials", (self.share * 100.0).max(1.0))?;
        }
        if !self.runs.is_empty() {
            write!(f, ", run {}", self.runs.join(", "))?;
        }
        f.write_str(")")
    }
}

impl Finding {
    fn figure(&self) -> String {
        format!("{} {}", self.measure, short(self.value))
    }
}

/// Writes a figure with three digits.
fn short(x: f64) -> String {
    let size = x.abs();
    if x == x.trunc() && size < 1e6 {
        return format!("{x}");
    }
    match size {
        1e-3..100.0 => {
            let digits = (2 - size.log10().floor() as i32).max(0) as usize;
            format!("{x:.digits$}")
        }
        100.0..1e6 => format!("{x:.0}"),
        _ => format!("{x:.1e}"),
    }
}

/// Amplitudes of the electrodes of a domain over its trials, one number per electrode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amplitudes {
    /// The domain.
    pub domain: String,
    /// Median over the trials.
    pub median: Vec<f64>,
    /// The smallest of any trial.
    pub low: Vec<f64>,
    /// The largest of any trial.
    pub high: Vec<f64>,
}

/// Everything that was found of the signals of a set of trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Quality {
    /// What an amplitude is, with its unit.
    pub measure: String,
    /// The electrodes of [`Amplitudes`], in order.
    pub electrodes: Vec<String>,
    /// The amplitudes of every domain.
    pub amplitudes: Vec<Amplitudes>,
    /// What is wrong, by kind, domain and electrode.
    pub findings: Vec<Finding>,
}

impl Quality {
    /// Tells whether nobody has looked.
    pub fn is_empty(&self) -> bool {
        self.amplitudes.is_empty() && self.findings.is_empty()
    }

    /// Returns what concerns these domains and electrodes.
    ///
    /// ```
    /// use stiefel_data::{Finding, FindingKind, Quality};
    ///
    /// let flat = Finding {
    ///     kind: FindingKind::Flat,
    ///     domain: "S01".into(),
    ///     runs: vec![],
    ///     electrodes: vec!["Cz".into()],
    ///     share: 1.0,
    ///     value: 0.0,
    ///     measure: "range in µV".into(),
    ///     worthless: false,
    /// };
    /// let quality = Quality {
    ///     findings: vec![flat],
    ///     ..Quality::default()
    /// };
    /// let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    /// assert_eq!(quality.of(&names(&["S01"]), &names(&["Cz"])), quality);
    /// assert!(quality.of(&names(&["S01"]), &names(&["C3"])).is_empty());
    /// ```
    #[must_use]
    pub fn of(&self, domains: &[String], electrodes: &[String]) -> Self {
        let key = |name: &str| name.to_ascii_lowercase();
        let wanted: Vec<String> = electrodes.iter().map(|e| key(e)).collect();
        let kept: Vec<usize> = (0..self.electrodes.len())
            .filter(|&i| wanted.contains(&key(&self.electrodes[i])))
            .collect();
        let pick = |values: &[f64]| kept.iter().map(|&i| values[i]).collect();
        let amplitudes = self.amplitudes.iter();
        Self {
            measure: self.measure.clone(),
            electrodes: kept.iter().map(|&i| self.electrodes[i].clone()).collect(),
            amplitudes: (amplitudes.filter(|a| domains.contains(&a.domain)))
                .map(|a| Amplitudes {
                    domain: a.domain.clone(),
                    median: pick(&a.median),
                    low: pick(&a.low),
                    high: pick(&a.high),
                })
                .collect(),
            findings: (self.findings.iter())
                .filter(|f| domains.contains(&f.domain))
                .filter(|f| f.electrodes.iter().all(|e| wanted.contains(&key(e))))
                .cloned()
                .collect(),
        }
    }

    /// Returns the findings that make results worthless.
    pub fn worthless(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.worthless)
    }

    /// Returns one sentence per kind of finding, with the first places of each.
    pub fn sentences(&self) -> Vec<String> {
        let kinds = FindingKind::ALL.into_iter();
        kinds
            .filter_map(|kind| self.sentence(kind, false))
            .collect()
    }

    /// Returns the sentence of one kind; of worthless findings alone, or of all.
    pub fn sentence(&self, kind: FindingKind, worthless: bool) -> Option<String> {
        let all = self.findings.iter().filter(|f| f.kind == kind);
        let all: Vec<&Finding> = all.filter(|f| !worthless || f.worthless).collect();
        if let [one] = &all[..] {
            return Some(one.to_string());
        }
        let mut places: Vec<String> = (all.iter().take(TOLD))
            .map(|f| format!("{} ({})", f.place(), short(f.value)))
            .collect();
        if let Some(more) = all.len().checked_sub(TOLD).filter(|&n| n > 0) {
            places.push(format!("and {more} more"));
        }
        let measure = &all.first()?.measure;
        Some(format!(
            "{}, {measure}: {}",
            kind.meaning(),
            places.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(domain: &str, electrode: &str, value: f64) -> Finding {
        Finding {
            kind: FindingKind::Flat,
            domain: domain.into(),
            runs: vec!["R1".into()],
            electrodes: vec![electrode.into()],
            share: 0.25,
            value,
            measure: "range in µV".into(),
            worthless: false,
        }
    }

    #[test]
    fn a_finding_names_person_electrode_run_and_figure() {
        assert_eq!(
            finding("S01", "Cz", 0.5).to_string(),
            "S01 Cz: no signal (range in µV 0.500, 25 % of the trials, run R1)"
        );
        let many = ["C1", "C2", "C3", "C4", "C5", "C6"];
        let quality = Quality {
            findings: many.map(|e| finding("S01", e, 1234.5)).to_vec(),
            ..Quality::default()
        };
        assert_eq!(
            quality.sentences(),
            [
                "no signal, range in µV: S01 C1 (1234), S01 C2 (1234), S01 C3 (1234), S01 C4 \
                 (1234), and 2 more"
            ]
        );
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let mut names: Vec<_> = FindingKind::ALL.iter().map(|k| k.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FindingKind::ALL.len());
        for kind in FindingKind::ALL {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{kind}\""));
        }
    }
}
