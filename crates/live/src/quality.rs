//! Whether the raw signal of a window can be decided at all, electrode by electrode.
//!
//! The rules are those of [`WindowRule`], for data sets and streams alike; here frames are taken in
//! as they arrive. One bad electrode is enough: a covariance mixes all of them.

use stiefel_data::FindingKind;
use stiefel_eeg::quality::WindowRule;

/// Why a window gets no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Samples are missing within the window.
    Gap,
    /// The filters have not forgotten the last gap, or the start, yet.
    Settling,
    /// A value that is no finite number.
    NonFinite,
    /// A sample with too few values.
    Short,
    /// An electrode without a signal.
    Flat,
    /// An electrode at the end of the amplifier's range.
    Saturated,
    /// An electrode with a voltage that no brain makes.
    OutOfRange,
    /// The stream has another rate than the model was trained on.
    Rate,
    /// The window is in the past and not in memory any more, or reaches before the start.
    Late,
    /// The model could not decide the covariances.
    Model,
    /// Electrodes whose amplitudes are not those of EEG.
    Amplitude,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Gap,
        Self::Settling,
        Self::NonFinite,
        Self::Short,
        Self::Flat,
        Self::Saturated,
        Self::OutOfRange,
        Self::Rate,
        Self::Late,
        Self::Model,
        Self::Amplitude,
    ];

    /// Its name in lines and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Settling => "settling",
            Self::NonFinite => "non-finite",
            Self::Short => "short",
            Self::Flat => "flat",
            Self::Saturated => "saturated",
            Self::OutOfRange => "out-of-range",
            Self::Rate => "rate",
            Self::Late => "late",
            Self::Model => "model",
            Self::Amplitude => "amplitude",
        }
    }
}

impl From<FindingKind> for Reason {
    fn from(kind: FindingKind) -> Self {
        match kind {
            FindingKind::Flat => Self::Flat,
            FindingKind::Saturated => Self::Saturated,
            FindingKind::OutOfRange => Self::OutOfRange,
            _ => Self::Amplitude,
        }
    }
}

/// What is wrong with one electrode, or nothing, and its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Electrode {
    /// What is wrong.
    pub fault: Option<FindingKind>,
    /// Largest minus smallest value.
    pub range: f64,
}

/// Channels that are scanned side by side: one register of the widest instruction set.
const LANES: usize = 8;

/// Looks windows over; nothing is allocated after it was made.
#[derive(Debug, Clone)]
pub struct Quality {
    rule: WindowRule,
    /// Where the window began that is looked at, and how many of its frames have been.
    window: (i64, u64),
    scanned: Vec<Scanned>,
    ranges: Vec<f64>,
    electrodes: Vec<Electrode>,
}

/// What one pass over a window tells of some channels. Numbers of samples are whole and far below
/// the 2⁵³ that a double holds exactly.
#[derive(Debug, Clone, Copy)]
struct Scanned {
    low: [f64; LANES],
    high: [f64; LANES],
    /// The longest run of equal values, the present one, and its value.
    longest: [f64; LANES],
    run: [f64; LANES],
    last: [f64; LANES],
}

/// Of no sample.
const UNSEEN: Scanned = Scanned {
    low: [f64::INFINITY; LANES],
    high: [f64::NEG_INFINITY; LANES],
    longest: [0.0; LANES],
    run: [0.0; LANES],
    last: [f64::NAN; LANES],
};

impl Quality {
    /// For so many channels at a rate; `microvolts` are in a unit of the samples, none where it is
    /// no voltage.
    pub fn new(channels: usize, rate: f64, microvolts: Option<f64>) -> Self {
        let unknown = Electrode {
            fault: None,
            range: 0.0,
        };
        Self {
            rule: WindowRule::new(rate, microvolts),
            window: (0, 0),
            scanned: vec![UNSEEN; channels.div_ceil(LANES)],
            ranges: vec![0.0; channels],
            electrodes: vec![unknown; channels],
        }
    }

    /// The electrodes of the last window that was looked at.
    pub fn electrodes(&self) -> &[Electrode] {
        &self.electrodes
    }

    /// How many frames of the window that begins at a sample have been looked at; none of one that
    /// is new.
    pub(crate) fn looked(&mut self, start: i64) -> u64 {
        if self.window.0 != start || self.window.1 == 0 {
            self.window = (start, 0);
            self.scanned.fill(UNSEEN);
        }
        self.window.1
    }

    /// Looks at the next frames of the window, in order: whole frames in two parts, one after the
    /// other.
    pub(crate) fn look(&mut self, parts: [&[f64]; 2]) {
        let n = self.electrodes.len();
        for (group, scanned) in self.scanned.iter_mut().enumerate() {
            let (first, before) = (group * LANES, *scanned);
            *scanned = pulp::Arch::new().dispatch(Scan {
                parts,
                n,
                first,
                before,
            });
        }
        self.window.1 += (parts[0].len() + parts[1].len()) as u64 / n.max(1) as u64;
    }

    /// Looks at all frames of a window. Returns the first fault and its channel, where it is of
    /// one.
    pub fn judge(&mut self, parts: [&[f64]; 2]) -> Option<(Reason, Option<usize>)> {
        self.window = (0, 0);
        self.looked(0);
        self.look(parts);
        self.verdict(parts)
    }

    /// Returns the first fault of the window whose frames have all been looked at, and its channel.
    /// The next window is a new one.
    pub(crate) fn verdict(&mut self, parts: [&[f64]; 2]) -> Option<(Reason, Option<usize>)> {
        let n = self.electrodes.len();
        self.window = (0, 0);
        for c in 0..n {
            let (low, high, _) = self.of(c);
            self.electrodes[c].range = high - low;
            self.ranges[c] = high - low;
        }
        self.ranges.sort_unstable_by(f64::total_cmp);
        let median = self.ranges[n / 2];
        let mut found = None;
        for c in 0..n {
            let (low, high, longest) = self.of(c);
            let at_extreme = || longest_at(parts, n, c, [low, high]);
            let fault = (self.rule).electrode(high - low, median, longest as usize, at_extreme);
            self.electrodes[c].fault = fault;
            found = found.or(fault.map(|kind| (kind.into(), Some(c))));
        }
        found.or(self.rule.all(median).map(|kind| (kind.into(), None)))
    }

    /// The smallest and the largest value of a channel, and its longest run of equal ones.
    fn of(&self, channel: usize) -> (f64, f64, f64) {
        let (group, lane) = (&self.scanned[channel / LANES], channel % LANES);
        (group.low[lane], group.high[lane], group.longest[lane])
    }
}

/// One pass over the channels `first … first + 8`: a struct, because its method is certain to be
/// compiled for the processor's vector width.
struct Scan<'a> {
    parts: [&'a [f64]; 2],
    n: usize,
    first: usize,
    before: Scanned,
}

impl pulp::WithSimd for Scan<'_> {
    type Output = Scanned;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Scanned {
        let width = LANES.min(self.n - self.first);
        let Scanned {
            mut low,
            mut high,
            mut longest,
            mut run,
            mut last,
        } = self.before;
        for part in self.parts {
            for frame in part.chunks_exact(self.n) {
                let mut x = [0.0; LANES];
                match frame[self.first..].first_chunk::<LANES>() {
                    Some(all) => x = *all,
                    None => x[..width].copy_from_slice(&frame[self.first..][..width]),
                }
                for i in 0..LANES {
                    low[i] = if x[i] < low[i] { x[i] } else { low[i] };
                    high[i] = if x[i] > high[i] { x[i] } else { high[i] };
                    run[i] = if x[i] == last[i] { run[i] + 1.0 } else { 1.0 };
                    longest[i] = if run[i] > longest[i] {
                        run[i]
                    } else {
                        longest[i]
                    };
                }
                last = x;
            }
        }
        Scanned {
            low,
            high,
            longest,
            run,
            last,
        }
    }
}

/// The longest run of one of two values of a channel. Few channels have a run that is long enough
/// to ask.
fn longest_at(parts: [&[f64]; 2], n: usize, channel: usize, values: [f64; 2]) -> usize {
    let (mut run, mut longest, mut last) = (0, 0, f64::NAN);
    for frame in parts.iter().flat_map(|part| part.chunks_exact(n)) {
        let x = frame[channel];
        run = if x == last { run + 1 } else { 1 };
        last = x;
        if values.contains(&x) {
            longest = longest.max(run);
        }
    }
    longest
}
