//! Values at electrodes, interpolated over the head by spherical splines:
//!
//! `f(x) = c₀ + Σ_i c_i g(x·x_i)`, `g(t) = 1/(4π) Σ_{n≥1} (2n+1)/(n(n+1))^m P_n(t)`, with `(G + λI)
//! c + c₀ 1 = v` and `1ᵀ c = 0`, m = 4 and λ = 1e-5 (places that coincide do no harm). Source:
//! Perrin, Pernier, Bertrand & Echallier, Electroencephalogr. Clin. Neurophysiol. 72 (1989).

const TERMS: usize = 50;
const LAMBDA: f64 = 1e-5;

/// Interpolation from electrodes to points, both on the unit sphere.
#[derive(Debug)]
pub(in crate::report) struct Spline {
    /// One row of electrode weights per point.
    weights: Vec<f64>,
    electrodes: usize,
}

impl Spline {
    /// Nothing where there is no electrode, or where places are not finite.
    pub(in crate::report) fn new(electrodes: &[[f64; 3]], points: &[[f64; 3]]) -> Option<Self> {
        let count = electrodes.len();
        if count == 0 {
            return None;
        }
        let side = count + 1;
        let mut system = vec![0.0; side * side];
        for i in 0..count {
            for j in 0..count {
                system[i * side + j] = g(dot(electrodes[i], electrodes[j]));
            }
            system[i * side + i] += LAMBDA;
            system[i * side + count] = 1.0;
            system[count * side + i] = 1.0;
        }
        let inverse = inverse(system, side)?;
        let mut weights = vec![0.0; points.len() * count];
        for (row, &point) in weights.chunks_mut(count).zip(points) {
            let mut basis: Vec<f64> = electrodes.iter().map(|&e| g(dot(point, e))).collect();
            basis.push(1.0);
            for (i, b) in basis.iter().enumerate() {
                for (w, a) in row.iter_mut().zip(&inverse[i * side..]) {
                    *w += b * a;
                }
            }
        }
        Some(Self {
            weights,
            electrodes: count,
        })
    }

    /// The values at the points.
    pub(in crate::report) fn apply<'a>(
        &'a self,
        values: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        self.weights
            .chunks(self.electrodes)
            .map(move |row| row.iter().zip(values).map(|(w, v)| w * v).sum())
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).clamp(-1.0, 1.0)
}

fn g(t: f64) -> f64 {
    let (mut before, mut legendre, mut sum) = (1.0, t, 0.0);
    for i in 1..=TERMS {
        let n = i as f64;
        sum += (2.0 * n + 1.0) / (n * (n + 1.0)).powi(4) * legendre;
        let next = ((2.0 * n + 1.0) * t * legendre - n * before) / (n + 1.0);
        before = legendre;
        legendre = next;
    }
    sum / (4.0 * std::f64::consts::PI)
}

/// Gauss–Jordan with row exchange.
fn inverse(mut a: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| {
            let (x, y) = (a[i * n + column].abs(), a[j * n + column].abs());
            x.total_cmp(&y)
        })?;
        let scale = a[pivot * n + column];
        if !(scale.is_finite() && scale.abs() > 1e-14) {
            return None;
        }
        for m in [&mut a, &mut inverse] {
            for j in 0..n {
                m.swap(pivot * n + j, column * n + j);
                m[column * n + j] /= scale;
            }
        }
        for row in (0..n).filter(|&row| row != column) {
            let factor = a[row * n + column];
            for m in [&mut a, &mut inverse] {
                for j in 0..n {
                    m[row * n + j] -= factor * m[column * n + j];
                }
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiefel_eeg::montage::Montage;
    use stiefel_eeg::montage::position;

    fn places() -> Vec<[f64; 3]> {
        let names = Montage::Weibo2014.channels();
        names.iter().filter_map(|name| position(name)).collect()
    }

    #[test]
    fn values_are_kept_at_the_electrodes() {
        let at = places();
        assert!(at.len() > 50);
        let values: Vec<f64> = at.iter().map(|p| 2.0 + p[0] - p[1] * p[2]).collect();
        let spline = Spline::new(&at, &at).unwrap();
        for (fit, v) in spline.apply(&values).zip(&values) {
            assert!((fit - v).abs() < 0.02, "{fit} {v}");
        }
    }

    #[test]
    fn a_constant_stays_and_a_smooth_field_is_met_between() {
        let at = places();
        let between = [0.28_f64, 0.31];
        let point = [
            between[0],
            between[1],
            (1.0 - 0.28_f64.powi(2) - 0.31_f64.powi(2)).sqrt(),
        ];
        let spline = Spline::new(&at, &[point]).unwrap();
        let constant = spline.apply(&vec![3.5; at.len()]).next().unwrap();
        assert!((constant - 3.5).abs() < 1e-9, "{constant}");
        let values: Vec<f64> = at.iter().map(|p| p[0] * p[1]).collect();
        let fit = spline.apply(&values).next().unwrap();
        assert!((fit - 0.28 * 0.31).abs() < 0.01, "{fit}");
    }

    #[test]
    fn odd_montages_are_answered() {
        assert!(Spline::new(&[], &[]).is_none());
        assert!(Spline::new(&[[f64::NAN, 0.0, 1.0]], &[]).is_none());
        let twice = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
        let spline = Spline::new(&twice, &[[1.0, 0.0, 0.0]]).unwrap();
        let mean = spline.apply(&[1.0, 3.0]).next().unwrap();
        assert!((mean - 2.0).abs() < 1e-6, "{mean}");
    }
}
