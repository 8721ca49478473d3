//! Time stamps: to a common clock, and without jitter.

/// Resets of the clock: steps of the measuring times, and of the offsets, that are so many median
/// absolute deviations and seconds off.
const RESET_TIMES: (f64, f64) = (5.0, 5.0);
const RESET_VALUES: (f64, f64) = (10.0, 1.0);
/// Offsets that are further than this from their line count less, in seconds.
const WINSOR: f64 = 1e-4;
const ITERATIONS: usize = 1000;
/// More offsets than a day of recording has; a line through the first of them is as good.
const MOST_OFFSETS: usize = 1 << 15;
/// The last offset is odd where its step, or its deviation in standard deviations, is so many times
/// the usual one.
const ODD_END: f64 = 10.0;
/// Standard deviations per median absolute deviation of normal data.
const NORMAL_MAD: f64 = 1.4826;
/// A stream breaks where time stamps are so far apart: seconds, and samples.
const BREAK: (f64, f64) = (1.0, 500.0);

/// Measurements of a clock against the recorder's.
#[derive(Debug, Default)]
pub(super) struct Clock {
    times: Vec<f64>,
    values: Vec<f64>,
}

/// Samples without a break: `t_k = start + step·(k − from)`.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) from: usize,
    pub(super) len: usize,
    pub(super) start: f64,
    /// Seconds from sample to sample; `None` for a single one.
    pub(super) step: Option<f64>,
}

impl Clock {
    pub(super) fn push(&mut self, time: f64, value: f64) {
        if self.times.len() < MOST_OFFSETS {
            self.times.push(time);
            self.values.push(value);
        }
    }

    /// Drops the last offset where its time or its value is unlike those before; tells whether it
    /// did.
    pub(super) fn drop_odd_end(&mut self) -> bool {
        let n = self.times.len();
        if n < 3 {
            return false;
        }
        let steps: Vec<f64> = self.times.windows(2).map(|w| w[1] - w[0]).collect();
        let (usual, last) = (median(&steps[..n - 2]), steps[n - 2].abs());
        let odd_time = if usual > 0.0 {
            last / usual > ODD_END
        } else {
            last > 0.0
        };
        let before = &self.values[..n - 1];
        let middle = median(before);
        let deviations: Vec<f64> = before.iter().map(|v| (v - middle).abs()).collect();
        let spread = median(&deviations);
        let odd_value = spread > f64::EPSILON
            && (self.values[n - 1] - middle).abs() / (NORMAL_MAD * spread) > ODD_END;
        if odd_time || odd_value {
            self.times.pop();
            self.values.pop();
        }
        odd_time || odd_value
    }

    /// Moves time stamps to the recorder's clock.
    pub(super) fn synchronise(&self, stamps: &mut [f64]) {
        if self.times.is_empty() || stamps.is_empty() {
            return;
        }
        let ranges = self.ranges();
        let mut first = 0;
        for (i, &(from, to)) in ranges.iter().enumerate() {
            let (constant, slope) = self.line(from, to);
            let rest = &stamps[first..];
            // Up to the first stamp that is nearer to the next measurement than to the last one of
            // this range.
            let count = match (ranges.get(i + 1), self.times.get(to + 1)) {
                (Some(_), Some(next)) => {
                    let mine = |t: &f64| (t - self.times[to]).abs() < (t - next).abs();
                    rest.iter().position(|t| !mine(t)).unwrap_or(rest.len())
                }
                _ => rest.len(),
            };
            for stamp in &mut stamps[first..first + count] {
                *stamp += constant + slope * *stamp;
            }
            first += count;
        }
    }

    /// Inclusive ranges of measurements between resets.
    fn ranges(&self) -> Vec<(usize, usize)> {
        let n = self.times.len();
        let steps = |x: &[f64]| x.windows(2).map(|w| w[1] - w[0]).collect::<Vec<f64>>();
        let (times, values) = (steps(&self.times), steps(&self.values));
        let (odd_times, odd_values) = (odd(&times, RESET_TIMES), odd(&values, RESET_VALUES));
        let mut ranges = Vec::new();
        let mut from = 0;
        for i in 0..n.saturating_sub(1) {
            if times[i] < 0.0 || (odd_times[i] && odd_values[i]) {
                ranges.push((from, i));
                from = i + 1;
            }
        }
        ranges.push((from, n - 1));
        ranges
    }

    /// Constant and slope of the offsets of a range.
    fn line(&self, from: usize, to: usize) -> (f64, f64) {
        if from == to {
            return (self.values[from], 0.0);
        }
        let x: Vec<f64> = self.times[from..=to].iter().map(|t| t / WINSOR).collect();
        let y: Vec<f64> = self.values[from..=to].iter().map(|v| v / WINSOR).collect();
        match robust_line(&x, &y) {
            Some((constant, slope)) => (constant * WINSOR, slope),
            None => (0.0, 0.0),
        }
    }
}

/// Which values are far from the median, by median absolute deviations and by seconds.
fn odd(values: &[f64], (deviations, seconds): (f64, f64)) -> Vec<bool> {
    let middle = median(values);
    let shifted: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    let scale = median(&shifted) + f64::EPSILON;
    (shifted.iter())
        .map(|d| d / scale > deviations && *d > seconds)
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => 0.0,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// `argmin Σ huber(c + s·x − y)` by ADMM with ρ = 1: a least-squares step, then the proximal map of
/// Huber's loss.
fn robust_line(x: &[f64], y: &[f64]) -> Option<(f64, f64)> {
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let x: Vec<f64> = x.iter().map(|v| v - least).collect();
    let n = x.len() as f64;
    let (sx, sxx) = x.iter().fold((0.0, 0.0), |(a, b), v| (a + v, b + v * v));
    // Cholesky of [[n, sx], [sx, sxx]].
    let l11 = n.sqrt();
    let l21 = sx / l11;
    let l22 = (sxx - l21 * l21).sqrt();
    if !(l22 > 0.0 && l22.is_finite()) {
        return None;
    }
    let solve = |b0: f64, b1: f64| {
        let z0 = b0 / l11;
        let z1 = (b1 - l21 * z0) / l22;
        let slope = z1 / l22;
        ((z0 - l21 * slope) / l11, slope)
    };
    let mut z = vec![0.0; x.len()];
    let mut u = vec![0.0; x.len()];
    let (mut constant, mut slope) = (0.0, 0.0);
    for _ in 0..ITERATIONS {
        let (mut b0, mut b1) = (0.0, 0.0);
        for i in 0..x.len() {
            let target = y[i] + z[i] - u[i];
            b0 += target;
            b1 += target * x[i];
        }
        (constant, slope) = solve(b0, b1);
        for i in 0..x.len() {
            let d = constant + slope * x[i] - y[i] + u[i];
            let shrunk = if d == 0.0 {
                1.0
            } else {
                (1.0 - 2.0 / d.abs()).max(0.0)
            };
            z[i] = 0.5 * d + 0.5 * shrunk * d;
            u[i] = d - z[i];
        }
    }
    Some((constant - slope * least, slope))
}

impl Stretch {
    /// All samples, as they come.
    pub(super) fn whole(times: &[f64]) -> Self {
        let span = times.last().zip(times.first()).map(|(l, f)| l - f);
        let steps = times.len().saturating_sub(1) as f64;
        Self {
            from: 0,
            len: times.len(),
            start: times.first().copied().unwrap_or(0.0),
            step: span.map(|s| s / steps).filter(|s| *s > 0.0),
        }
    }
}

/// Stretches between breaks, each with the line through its time stamps.
pub(super) fn regular(times: &[f64], step: f64) -> Vec<Stretch> {
    let gap = BREAK.0.max(BREAK.1 * step);
    let mut stretches = Vec::new();
    let mut from = 0;
    for i in 1..=times.len() {
        if i == times.len() || (times[i] - times[i - 1]).abs() > gap {
            stretches.push(fitted(times, from, i - from));
            from = i;
        }
    }
    if stretches.is_empty() {
        stretches.push(Stretch::whole(times));
    }
    stretches
}

fn fitted(times: &[f64], from: usize, len: usize) -> Stretch {
    let part = &times[from..from + len];
    let n = len as f64;
    // Around the middle, where the sums keep their digits.
    let (centre, first) = ((n - 1.0) / 2.0, part[0]);
    let mean = part.iter().map(|t| t - first).sum::<f64>() / n;
    let (mut cross, mut square) = (0.0, 0.0);
    for (k, t) in part.iter().enumerate() {
        let d = k as f64 - centre;
        cross += d * (t - first - mean);
        square += d * d;
    }
    let step = (len > 1).then(|| cross / square).filter(|s| *s > 0.0);
    Stretch {
        from,
        len,
        start: first + mean - step.unwrap_or(0.0) * centre,
        step,
    }
}

/// Samples per second over all stretches.
pub(super) fn measured_rate(stretches: &[Stretch]) -> Option<f64> {
    let (mut steps, mut seconds) = (0.0, 0.0);
    for stretch in stretches {
        if let Some(step) = stretch.step {
            let count = stretch.len.saturating_sub(1) as f64;
            steps += count;
            seconds += count * step;
        }
    }
    (seconds > 0.0).then(|| steps / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_turn_the_line() {
        let x: Vec<f64> = (0..40).map(|i| 5.0 * f64::from(i)).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 3.0 + 0.01 * x).collect();
        y[17] += 500.0;
        let (constant, slope) = robust_line(&x, &y).unwrap();
        assert!(
            (constant - 3.0).abs() < 0.2 && (slope - 0.01).abs() < 1e-3,
            "{constant} {slope}"
        );
        assert!(robust_line(&[1.0, 1.0], &[2.0, 2.0]).is_none());
    }

    #[test]
    fn only_an_odd_last_offset_is_dropped() {
        let clock = |end: (f64, f64)| {
            let mut clock = Clock::default();
            (0..6).for_each(|k| clock.push(5.0 * f64::from(k), 0.1 + 1e-5 * f64::from(k % 3)));
            clock.push(end.0, end.1);
            clock
        };
        assert!(!clock((30.0, 0.1)).drop_odd_end());
        assert!(clock((300.0, 0.1)).drop_odd_end(), "a step of 275 s");
        let mut odd = clock((30.0, 7.0));
        assert!(odd.drop_odd_end() && odd.times.len() == 6, "a jump of 7 s");
        assert!(!Clock::default().drop_odd_end());
    }

    #[test]
    fn a_break_parts_a_stream() {
        let mut times: Vec<f64> = (0..200).map(|k| 0.01 * f64::from(k)).collect();
        times.iter_mut().skip(120).for_each(|t| *t += 10.0);
        let stretches = regular(&times, 0.01);
        assert_eq!((stretches[0].len, stretches[1].len), (120, 80));
        assert!((stretches[1].start - 11.2).abs() < 1e-9);
        assert!((measured_rate(&stretches).unwrap() - 100.0).abs() < 1e-6);
        assert_eq!(regular(&[], 0.01)[0].len, 0);
    }
}
