//! Applying second-order sections to rows of samples.
//!
//! * [`filter`]: causal, `y_t` from `x_0…x_t`, the state handed back (SciPy's `sosfilt`);
//! * [`filter_zero_phase`]: forward, then backward over the signal extended at both ends by odd
//!   reflection, `2x₀ − x_k`, each pass from its steady state (SciPy's `sosfiltfilt`).
//!
//! `rows` is `n × samples`, row-major; rows are independent, so they may be channels or the
//! channels of several trials.

use super::Sos;
use super::kernel::{CHUNK, Direction, LANES, Lane, State, ZERO, cascade};
use crate::{Channel, ChannelKind, EegError, Epochs, Recording, Result};

/// The memory of a causal filter: two values per section and row.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterState {
    rows: usize,
    sections: usize,
    groups: Vec<State>,
}

impl FilterState {
    /// A filter at rest.
    pub fn new(sos: &Sos, rows: usize) -> Self {
        let sections = sos.sections().len();
        Self {
            rows,
            sections,
            groups: vec![[ZERO; 2]; sections * rows.div_ceil(LANES)],
        }
    }

    /// A filter that has seen `first[row]` for ever, so that no step response appears at the start.
    pub fn settled(sos: &Sos, first: &[f64]) -> Self {
        let mut state = Self::new(sos, first.len());
        let steady = sos.steady_state();
        for (row, &value) in first.iter().enumerate() {
            for (section, z) in steady.iter().enumerate() {
                let group = &mut state.groups[row / LANES * steady.len() + section];
                group[0][row % LANES] = z[0] * value;
                group[1][row % LANES] = z[1] * value;
            }
        }
        state
    }

    /// The rows it was made for.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// `(z₀, z₁)` of one section and row.
    ///
    /// # Panics
    /// If `row >= self.rows()` or the filter has no such section.
    pub fn get(&self, section: usize, row: usize) -> [f64; 2] {
        assert!(row < self.rows && section < self.sections);
        let group = &self.groups[row / LANES * self.sections + section];
        [group[0][row % LANES], group[1][row % LANES]]
    }

    pub(crate) fn group_mut(&mut self, group: usize) -> &mut [State] {
        &mut self.groups[group * self.sections..(group + 1) * self.sections]
    }
}

/// Filters rows in place, causally, carrying `state` on. Nothing is changed where an error is
/// returned.
///
/// ```
/// use stiefel_eeg::signal::{Band, FilterState, Sos, filter};
/// let sos = Sos::butterworth(2, Band::LowPass(10.0), 100.0)?;
/// let mut state = FilterState::new(&sos, 1);
/// let mut block = vec![1.0; 50];
/// filter(&sos, &mut block, 50, &mut state)?;
/// assert!(block[0] < 0.1 && (block[49] - 1.0).abs() < 1e-3);
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn filter(sos: &Sos, rows: &mut [f64], samples: usize, state: &mut FilterState) -> Result<()> {
    let n = row_count(rows, samples)?;
    check_rows(rows, samples)?;
    if state.rows != n || state.sections != sos.sections().len() {
        return Err(EegError::Invalid {
            what: format!(
                "the filter state is for {} rows and {} sections, the data has {n} rows and the \
                 filter {} sections",
                state.rows,
                state.sections,
                sos.sections().len()
            ),
            remedy: "make the state with the same filter and number of rows".into(),
        });
    }
    let mut chunk = [ZERO; CHUNK];
    for (group, block) in rows.chunks_mut(LANES * samples).enumerate() {
        for start in (0..samples).step_by(CHUNK) {
            let lanes = &mut chunk[..CHUNK.min(samples - start)];
            gather(block, samples, start, lanes);
            cascade(
                sos.sections(),
                state.group_mut(group),
                lanes,
                Direction::Forward,
            );
            scatter(lanes, block, samples, start);
        }
    }
    Ok(())
}

/// Filters rows in place without shifting their phase. Nothing is changed where an error is
/// returned.
///
/// Refuses rows of [`Sos::padding`] samples or fewer, and values that are not finite.
pub fn filter_zero_phase(sos: &Sos, rows: &mut [f64], samples: usize) -> Result<()> {
    row_count(rows, samples)?;
    check_rows(rows, samples)?;
    zero_phase(sos, rows, samples, row_not_finite)
}

/// [`filter_zero_phase`] in one sweep. Finds values that are not finite on its way, when rows
/// before them are filtered already; `refuse(row, sample, value)` makes the error.
fn zero_phase(
    sos: &Sos,
    rows: &mut [f64],
    samples: usize,
    refuse: impl Fn(usize, usize, f64) -> EegError,
) -> Result<()> {
    let edge = sos.padding();
    if samples <= edge {
        return Err(EegError::Invalid {
            what: format!(
                "{samples} samples are too few for this zero-phase filter, which needs more than \
                 {edge}"
            ),
            remedy: "filter the continuous recording before cutting trials, or lower the order"
                .into(),
        });
    }
    let steady = sos.steady_state();
    let mut middle = vec![ZERO; samples];
    let mut head = vec![ZERO; edge];
    let mut tail = vec![ZERO; edge];
    let mut states = vec![[ZERO; 2]; steady.len()];
    for (group, block) in rows.chunks_mut(LANES * samples).enumerate() {
        reflect(block, samples, &mut head, &mut tail);
        settle(&steady, head[0], &mut states);
        cascade(sos.sections(), &mut states, &mut head, Direction::Forward);
        for (index, lanes) in middle.chunks_mut(CHUNK).enumerate() {
            gather(block, samples, index * CHUNK, lanes);
            cascade(sos.sections(), &mut states, lanes, Direction::Forward);
        }
        cascade(sos.sections(), &mut states, &mut tail, Direction::Forward);
        // A recursion never gets rid of such a value: the last state tells, and the rows are not
        // looked over.
        if !tail[edge - 1].iter().all(|y| y.is_finite())
            && let Some(at) = first_not_finite(block)
        {
            return Err(refuse(
                group * LANES + at / samples,
                at % samples,
                block[at],
            ));
        }
        settle(&steady, tail[edge - 1], &mut states);
        cascade(sos.sections(), &mut states, &mut tail, Direction::Backward);
        // What the backward pass would make of the head is cut off anyway.
        for (index, lanes) in middle.chunks_mut(CHUNK).enumerate().rev() {
            cascade(sos.sections(), &mut states, lanes, Direction::Backward);
            scatter(lanes, block, samples, index * CHUNK);
        }
    }
    Ok(())
}

/// Filters every channel but trigger lines without shifting its phase, over the whole recording.
///
/// ```
/// # use stiefel_eeg::{Channel, ChannelKind, Recording};
/// use stiefel_eeg::signal::{Band, Sos, zero_phase_recording};
/// # let cz = Channel { name: "Cz".into(), kind: ChannelKind::Eeg, unit: "µV".into() };
/// # let mut recording = Recording::new(vec![cz], 250.0, vec![5.0; 1000], vec![])?;
/// let sos = Sos::butterworth(4, Band::BandPass(8.0, 32.0), recording.sampling_rate())?;
/// zero_phase_recording(&mut recording, &sos)?;
/// assert!(recording.channel(0).iter().all(|x| x.abs() < 1e-9));
/// # Ok::<(), stiefel_eeg::EegError>(())
/// ```
pub fn zero_phase_recording(recording: &mut Recording, sos: &Sos) -> Result<()> {
    check_finite(recording)?;
    each_zero_phase(recording, sos)
}

/// Filters as [`zero_phase_recording`] does, without the sweep beforehand that leaves a refused
/// recording as it was.
pub(crate) fn into_zero_phase(mut recording: Recording, sos: &Sos) -> Result<Recording> {
    each_zero_phase(&mut recording, sos)?;
    Ok(recording)
}

/// Filters every channel but trigger lines forwards, from the steady state of its first sample, as
/// a live stream is filtered.
pub(crate) fn into_causal(mut recording: Recording, sos: &Sos) -> Result<Recording> {
    each_run(&mut recording, |_, rows, samples| {
        causal(sos, rows, samples)
    })?;
    Ok(recording)
}

fn each_zero_phase(recording: &mut Recording, sos: &Sos) -> Result<()> {
    each_run(recording, |run, rows, samples| {
        zero_phase(sos, rows, samples, |row, sample, value| {
            channel_not_finite(&run[row], sample, value)
        })
    })
}

/// Runs of neighbouring channels between trigger lines, which are filtered together.
fn each_run(
    recording: &mut Recording,
    mut filter: impl FnMut(&[Channel], &mut [f64], usize) -> Result<()>,
) -> Result<()> {
    let (channels, samples, data) = recording.parts_mut();
    let is_trigger = |c: &Channel| c.kind == ChannelKind::Stim;
    let mut first = 0;
    for run in channels.chunk_by(|a, b| is_trigger(a) == is_trigger(b)) {
        let rows = &mut data[first * samples..(first + run.len()) * samples];
        if !is_trigger(&run[0]) {
            filter(run, rows, samples)?;
        }
        first += run.len();
    }
    Ok(())
}

/// Filters every trial by itself without shifting its phase, never across the joins between trials.
pub fn zero_phase_epochs(epochs: &mut Epochs, sos: &Sos) -> Result<()> {
    let samples = epochs.samples();
    if let Some(at) = first_not_finite(epochs.data()) {
        let row = at / samples;
        let n = epochs.channels().len();
        let place = format!(
            "trial {} of domain {:?}, channel {}",
            row / n,
            epochs.trials()[row / n].domain,
            epochs.channels()[row % n].name
        );
        return Err(not_finite(&place, at % samples, epochs.data()[at]));
    }
    zero_phase(sos, epochs.data_mut(), samples, row_not_finite)
}

/// Filters every trial by itself forwards, from the steady state of its first sample.
pub fn causal_epochs(epochs: &mut Epochs, sos: &Sos) -> Result<()> {
    let samples = epochs.samples();
    causal(sos, epochs.data_mut(), samples)
}

fn causal(sos: &Sos, rows: &mut [f64], samples: usize) -> Result<()> {
    // From rest, the offset of an electrode would ring through the first seconds.
    let first: Vec<f64> = rows.chunks(samples.max(1)).map(|row| row[0]).collect();
    filter(sos, rows, samples, &mut FilterState::settled(sos, &first))
}

fn check_finite(recording: &Recording) -> Result<()> {
    for (index, channel) in recording.channels().iter().enumerate() {
        if channel.kind == ChannelKind::Stim {
            continue;
        }
        let row = recording.channel(index);
        if let Some(at) = first_not_finite(row) {
            return Err(channel_not_finite(channel, at, row[at]));
        }
    }
    Ok(())
}

/// The first value that is not finite; one fast sweep where there is none.
fn first_not_finite(row: &[f64]) -> Option<usize> {
    let all = row.iter().fold(true, |all, x| all & x.is_finite());
    if all {
        None
    } else {
        row.iter().position(|x| !x.is_finite())
    }
}

fn check_rows(rows: &[f64], samples: usize) -> Result<()> {
    match first_not_finite(rows) {
        None => Ok(()),
        Some(at) => Err(row_not_finite(at / samples, at % samples, rows[at])),
    }
}

fn row_not_finite(row: usize, sample: usize, value: f64) -> EegError {
    not_finite(&format!("row {row}"), sample, value)
}

fn channel_not_finite(channel: &Channel, sample: usize, value: f64) -> EegError {
    not_finite(&format!("channel {}", channel.name), sample, value)
}

fn not_finite(place: &str, sample: usize, value: f64) -> EegError {
    EegError::Invalid {
        what: format!("{place}, sample {sample}: the value is {value}"),
        remedy: "drop the channel or the trial, or repair the gap before filtering: a recursive \
                 filter would spread it over all samples after it"
            .into(),
    }
}

fn row_count(rows: &[f64], samples: usize) -> Result<usize> {
    if rows.len() != rows.len().checked_div(samples).unwrap_or(0) * samples {
        return Err(EegError::Invalid {
            what: format!(
                "{} values are not whole rows of {samples} samples",
                rows.len()
            ),
            remedy: "pass the samples row by row".into(),
        });
    }
    Ok(rows.len().checked_div(samples).unwrap_or(0))
}

fn settle(steady: &[[f64; 2]], first: Lane, states: &mut [State]) {
    for (state, z) in states.iter_mut().zip(steady) {
        *state = z.map(|z| first.map(|x| z * x));
    }
}

/// Interleaves samples `start..start + lanes.len()` of up to `LANES` rows; lanes without a row are
/// 0.
fn gather(block: &[f64], samples: usize, start: usize, lanes: &mut [Lane]) {
    if block.len() < LANES * samples {
        lanes.fill(ZERO);
    }
    for (l, row) in block.chunks(samples).enumerate() {
        for (lane, &x) in lanes.iter_mut().zip(&row[start..]) {
            lane[l] = x;
        }
    }
}

/// The inverse of [`gather`].
fn scatter(lanes: &[Lane], block: &mut [f64], samples: usize, start: usize) {
    for (l, row) in block.chunks_mut(samples).enumerate() {
        for (x, lane) in row[start..].iter_mut().zip(lanes) {
            *x = lane[l];
        }
    }
}

/// The odd reflection of up to `LANES` rows before their first and after their last sample.
fn reflect(block: &[f64], samples: usize, head: &mut [Lane], tail: &mut [Lane]) {
    let edge = head.len();
    head.fill(ZERO);
    tail.fill(ZERO);
    for (l, row) in block.chunks(samples).enumerate() {
        let last = samples - 1;
        for k in 0..edge {
            head[k][l] = 2.0 * row[0] - row[edge - k];
            tail[k][l] = 2.0 * row[last] - row[last - 1 - k];
        }
    }
}
