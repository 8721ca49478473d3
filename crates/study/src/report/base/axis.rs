//! Scales from values to places, with ticks at round numbers.

use super::text;

/// A linear scale: values `[low, high]` to places `[from, to]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// `low < high` and both finite; anything else is replaced by `[0, 1]`.
    pub(in crate::report) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let usable = low.is_finite() && high.is_finite() && high > low;
        let (low, high) = if usable { (low, high) } else { (0.0, 1.0) };
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// The place of a value; values beyond the ends lie on them.
    pub(in crate::report) fn at(&self, value: f64) -> f64 {
        let t = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let t = if t.is_finite() { t } else { 0.0 };
        self.from + t * (self.to - self.from)
    }

    /// Round values on the scale, about `wanted` of them, with their labels.
    pub(in crate::report) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / wanted.max(1) as f64);
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).clamp(-1.0, 200.0);
        let count = (count + 1.0) as usize;
        (0..count)
            .map(|i| (first + i as f64) * step)
            .map(|v| (v, text::figure(v, digits)))
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `x`.
fn round_step(x: f64) -> f64 {
    if !(x.is_finite() && x > 1e-300) {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|m| m * power);
    let fits = steps.into_iter().find(|&s| s >= x * (1.0 - 1e-9));
    fits.unwrap_or(10.0 * power)
}

/// The range of the values that exist, widened by a twentieth on either side and never empty.
pub(in crate::report) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    // Beyond this there is nothing to see, and differences must stay finite.
    const LARGEST: f64 = 1e12;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.into_iter().filter(|v| v.abs() <= LARGEST) {
        low = low.min(v);
        high = high.max(v);
    }
    if low > high {
        return (0.0, 1.0);
    }
    let least = 1e-9 * low.abs().max(high.abs()) + 1e-6;
    let margin = if high - low > least {
        0.05 * (high - low)
    } else {
        0.1 * low.abs().max(0.1)
    };
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::f64::ANY;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        let labels = |low, high| -> Vec<String> {
            let scale = Scale::new((low, high), (0.0, 100.0));
            scale.ticks(5).into_iter().map(|t| t.1).collect()
        };
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.48, 0.93), ["0.5", "0.6", "0.7", "0.8", "0.9"]);
        assert_eq!(
            labels(-0.02, 0.03),
            ["−0.02", "−0.01", "0.00", "0.01", "0.02", "0.03"]
        );
        assert_eq!(labels(0.0, 40.0), ["0", "10", "20", "30", "40"]);
    }

    proptest! {
        #[test]
        fn places_and_ticks_stay_inside(a in ANY, b in ANY, v in ANY) {
            let scale = Scale::new(extent([a, b]), (10.0, 90.0));
            prop_assert!((10.0..=90.0).contains(&scale.at(v)));
            let ticks = scale.ticks(6);
            prop_assert!(ticks.len() <= 14, "{}", ticks.len());
            for (t, label) in ticks {
                prop_assert!(t.is_finite() && (10.0..=90.0).contains(&scale.at(t)));
                prop_assert!(!label.contains("NaN") && !label.contains("inf"));
            }
        }
    }
}
