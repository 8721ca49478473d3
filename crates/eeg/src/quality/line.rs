//! The share of a signal that is a sine of the mains.

use crate::tolerance::MAINS;

/// Sine and cosine of the mains at one rate, over whole cycles.
#[derive(Debug, Clone)]
pub(super) struct Mains {
    waves: Vec<[Vec<f64>; 2]>,
}

impl Mains {
    /// Prepares windows of so many samples.
    pub(super) fn new(rate: f64, samples: usize) -> Self {
        let below = MAINS.iter().filter(|f| **f < 0.5 * rate);
        let wave = |f: &f64| {
            let cycles = (samples as f64 * f / rate).floor();
            let length = ((cycles * rate / f).round() as usize).min(samples);
            let angle = |t: usize| std::f64::consts::TAU * f / rate * t as f64;
            let cosine = (0..length).map(|t| angle(t).cos()).collect();
            [cosine, (0..length).map(|t| angle(t).sin()).collect()]
        };
        Self {
            waves: below.map(wave).collect(),
        }
    }

    /// Returns the largest share of the variance that one of the frequencies has.
    pub(super) fn share(&self, x: &[f64]) -> f64 {
        let count = x.len() as f64;
        // Large offsets would leave rounding for a variance.
        let offset = x.first().copied().unwrap_or(0.0);
        let [sum, square] = sums(x, x, offset, offset);
        let variance = square / count - (sum / count).powi(2);
        let shares = self.waves.iter().map(|[cosine, sine]| {
            let length = cosine.len() as f64;
            let part = |wave: &[f64]| 2.0 / length * sums(&x[..wave.len()], wave, offset, 0.0)[1];
            0.5 * (part(cosine).powi(2) + part(sine).powi(2)) / variance
        });
        shares
            .filter(|s| s.is_finite())
            .fold(0.0, f64::max)
            .min(1.0)
    }
}

/// Returns `Σ (x − a)` and `Σ (x − a)(y − b)`, eight running sums each.
fn sums(x: &[f64], y: &[f64], a: f64, b: f64) -> [f64; 2] {
    let (mut sum, mut product) = ([0.0; 8], [0.0; 8]);
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in xs.iter().zip(ys) {
        for l in 0..8 {
            sum[l] += x[l] - a;
            product[l] += (x[l] - a) * (y[l] - b);
        }
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        sum[0] += x - a;
        product[0] += (x - a) * (y - b);
    }
    [sum.iter().sum(), product.iter().sum()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hum_has_its_share_and_drift_has_none() {
        let (rate, samples) = (160.0, 480);
        let mains = Mains::new(rate, samples);
        let signal = |hum: f64, slow: f64| -> Vec<f64> {
            let t = (0..samples).map(|t| t as f64 / rate);
            let sine = |f: f64, t: f64| (std::f64::consts::TAU * f * t + 0.3).sin();
            t.map(|t| 1e5 + hum * sine(60.0, t) + slow * (sine(10.0, t) + 5.0 * t))
                .collect()
        };
        assert!((mains.share(&signal(20.0, 0.0)) - 1.0).abs() < 1e-6);
        assert!(mains.share(&signal(0.0, 20.0)) < 1e-3);
        let even = mains.share(
            &signal(1.0, 0.0)
                .iter()
                .zip(signal(0.0, 1.0))
                .map(|(a, b)| a + b)
                .collect::<Vec<_>>(),
        );
        assert!((0.02..0.5).contains(&even), "{even}");
        assert_eq!(mains.share(&[7.0; 480]), 0.0);
        assert_eq!(Mains::new(80.0, 240).share(&signal(1.0, 1.0)[..240]), 0.0);
    }
}
