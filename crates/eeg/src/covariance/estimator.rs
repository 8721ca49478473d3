//! Covariance estimators for one trial `X` of `n × T`, `x_t` its columns, `x̄` their mean.
//!
//! With `C = Σ(x_t − x̄)(x_t − x̄)ᵀ / T` and `μ = tr C / n`:
//!
//! * **sample**: `T/(T−1) · C`;
//! * **Ledoit–Wolf**: `(1−ρ)·C + ρ·μ·I`, `ρ = min(β, δ)/δ`, `δ = ‖C − μI‖²_F / n`, `β = (Σ‖x_t −
//!   x̄‖⁴/T − ‖C‖²_F) / (n·T)`. J. Multivar. Anal. 88 (2004); scikit-learn's numbers;
//! * **OAS**: the same form, `ρ = min(1, (α + μ²)/((T+1)(α − μ²/n)))`, `α` the mean square of the
//!   entries of `C`. Chen, Wiesel, Eldar, Hero, IEEE TSP 58 (2010); scikit-learn's numbers;
//! * **Schäfer–Strimmer**: off-diagonal entries of the sample covariance times `1−γ`, `γ = Σ_{i≠j}
//!   Var(r_ij) / Σ_{i≠j} r_ij²` kept in 0…1. Stat. Appl. Genet. Mol. Biol. 4 (2005); pyRiemann's
//!   numbers.

use stiefel_data::Estimator;
use stiefel_linalg::{Layout, Result, gram_lower};

/// Buffers for one trial, reused from trial to trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    centred: Vec<f64>,
    fourth: Vec<f64>,
    energy: Vec<f64>,
}

/// Writes the covariance of `rows` (`n` of `t ≥ 2` finite values, wherever they lie) to `out` (`n ×
/// n`).
pub(crate) fn estimate<'a>(
    estimator: Estimator,
    rows: impl Iterator<Item = &'a [f64]>,
    t: usize,
    scratch: &mut Scratch,
    out: &mut [f64],
) -> Result<()> {
    let n = centre(rows, t, &mut scratch.centred);
    let centred = &mut scratch.centred;
    gram_lower(out, false, 1.0 / t as f64, centred, (n, t), Layout::Rows)?;
    mirror(out, n);
    match estimator {
        Estimator::Sample => unbiased(out, t),
        Estimator::Oas => oas(out, n, t),
        Estimator::LedoitWolf => ledoit_wolf(centred, &mut scratch.energy, out, n, t),
        Estimator::SchaeferStrimmer => {
            for x in centred.iter_mut() {
                *x *= *x;
            }
            scratch.fourth.resize(n * n, 0.0);
            let fourth = &mut scratch.fourth;
            gram_lower(fourth, false, 1.0, centred, (n, t), Layout::Rows)?;
            schaefer_strimmer(&scratch.fourth, out, n, t);
        }
    }
    Ok(())
}

/// Copies the lower triangle to the upper.
pub(crate) fn mirror(out: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            out[j * n + i] = out[i * n + j];
        }
    }
}

/// `C ← T/(T−1)·C`.
pub(crate) fn unbiased(c: &mut [f64], t: usize) {
    let scale = t as f64 / (t as f64 - 1.0);
    for c in c {
        *c *= scale;
    }
}

/// Shrinks `C` (divided by `T`) by the oracle approximating rule.
pub(crate) fn oas(c: &mut [f64], n: usize, t: usize) {
    let p = n as f64;
    let mu = trace(c, n) / p;
    let alpha = c.iter().map(|c| c * c).sum::<f64>() / (p * p);
    let denominator = (t as f64 + 1.0) * (alpha - mu * mu / p);
    let rho = if denominator == 0.0 {
        1.0
    } else {
        ((alpha + mu * mu) / denominator).min(1.0)
    };
    to_identity(c, n, rho, mu);
}

fn ledoit_wolf(centred: &[f64], energy: &mut Vec<f64>, c: &mut [f64], n: usize, t: usize) {
    let p = n as f64;
    let mu = trace(c, n) / p;
    let square = c.iter().map(|c| c * c).sum::<f64>();
    energy.clear();
    energy.resize(t, 0.0);
    for row in centred.chunks_exact(t) {
        for (e, x) in energy.iter_mut().zip(row) {
            *e += x * x;
        }
    }
    let fourth = energy.iter().map(|e| e * e).sum::<f64>() / t as f64;
    let delta = (square - 2.0 * mu * (mu * p) + p * mu * mu) / p;
    let beta = ((fourth - square) / (p * t as f64)).min(delta);
    let rho = if beta == 0.0 { 0.0 } else { beta / delta };
    to_identity(c, n, rho, mu);
}

/// `fourth` holds `Σ_t x_it² x_jt²` in its lower triangle.
fn schaefer_strimmer(fourth: &[f64], c: &mut [f64], n: usize, t: usize) {
    let t = t as f64;
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for i in 0..n {
        for j in 0..i {
            let variances = c[i * n + i] * c[j * n + j];
            // A flat channel correlates with nothing; 0/0 would poison the whole matrix.
            if variances == 0.0 {
                continue;
            }
            let cij = c[i * n + j];
            let r = t / (t - 1.0) * cij;
            denominator += r * r / variances;
            numerator += (fourth[i * n + j] - t * cij * cij) * t / ((t - 1.0).powi(3) * variances);
        }
    }
    let gamma = if denominator == 0.0 {
        0.0
    } else {
        (numerator / denominator).clamp(0.0, 1.0)
    };
    let scale = t / (t - 1.0);
    for (index, c) in c.iter_mut().enumerate() {
        let diagonal = index / n == index % n;
        *c *= if diagonal {
            scale
        } else {
            (1.0 - gamma) * scale
        };
    }
}

fn to_identity(c: &mut [f64], n: usize, rho: f64, mu: f64) {
    for c in c.iter_mut() {
        *c *= 1.0 - rho;
    }
    for i in 0..n {
        c[i * n + i] += rho * mu;
    }
}

fn trace(c: &[f64], n: usize) -> f64 {
    (0..n).map(|i| c[i * n + i]).sum()
}

/// Takes each row's mean away; returns the number of rows.
fn centre<'a>(rows: impl Iterator<Item = &'a [f64]>, t: usize, centred: &mut Vec<f64>) -> usize {
    centred.clear();
    for row in rows {
        let mean = sum(row) / t as f64;
        centred.extend(row.iter().map(|x| x - mean));
    }
    centred.len() / t
}

/// Eight running sums, so that no addition waits for the one before.
fn sum(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        for (s, x) in sums.iter_mut().zip(chunk) {
            *s += x;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}
