//! Hierarchical multinomial logistic regression as a function to be minimised.
//!
//! ```text
//! f = Σ_i ω_i loss(y_i, η_i) + ‖w_0‖²/(2σ²) + Σ_d ‖δ_d‖²/(2τ²),   η_i = (w_0 + δ_d)·z_i + b      (one row per score)
//! ∇w_0 = Σ_i r_i z_iᵀ + w_0/σ²,  ∇δ_d = Σ_{i∈d} r_i z_iᵀ + δ_d/τ²,  ∇b = Σ_i r_i,   r = ω(π − y)
//! H·v: the same with r_i = ω_i S_i η_i(v),   S = π(1−π) for one score, diag(π) − ππᵀ for several
//! ```
//!
//! `ω_i` are the weights of the trials, 1 where none are given. A point is one vector: for each score `w_0` and `b`, then for each domain and score `δ_d`. Without domain weights (`τ² = 0`) the second
//! part is empty. Rows are sorted by domain, so that a domain is a slice.

use super::Features;
use crate::Result;
use std::ops::Range;
use stiefel_linalg::{MatBatch, MatView, Op, product, softmax};

/// The data and the penalties.
#[derive(Debug)]
pub(super) struct Regression {
    /// Centred features, rows sorted by domain.
    pub(super) z: MatBatch<f64>,
    labels: Vec<usize>,
    /// ω, one per row.
    pub(super) weights: Vec<f64>,
    /// Domains with trials, ascending, and their rows.
    pub(super) groups: Vec<(usize, Range<usize>)>,
    /// Scores per trial: 1 for two classes.
    pub(super) scores: usize,
    /// Prior variance of `w_0`.
    pub(super) shared: f64,
    /// Prior variance of the `δ_d`.
    pub(super) own: f64,
}

/// The function at a point.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) f: f64,
    pub(super) gradient: Vec<f64>,
    /// Probabilities `N × L`; of class 1 where there is one score.
    pub(super) pi: Vec<f64>,
}

impl Regression {
    /// `z` is centred already; `variances` are those of `w_0` and `δ_d`.
    pub(super) fn new(
        data: &Features,
        centred: &MatBatch<f64>,
        classes: usize,
        variances: (f64, f64),
    ) -> Self {
        let mut order: Vec<usize> = (0..data.labels.len()).collect();
        order.sort_by_key(|&i| data.domains[i]);
        let mut groups: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, &i) in order.iter().enumerate() {
            match groups.last_mut() {
                Some((d, range)) if *d == data.domains[i] => range.end = at + 1,
                _ => groups.push((data.domains[i], at..at + 1)),
            }
        }
        let z = MatBatch::from_fn(1, order.len(), centred.cols(), |_, r, c| {
            centred.get(0, order[r], c)
        });
        Self {
            z,
            labels: order.iter().map(|&i| data.labels[i]).collect(),
            weights: match &data.weights {
                Some(weights) => order.iter().map(|&i| weights[i]).collect(),
                None => vec![1.0; order.len()],
            },
            groups,
            scores: if classes == 2 { 1 } else { classes },
            shared: variances.0,
            own: variances.1,
        }
    }

    /// Features per trial.
    pub(super) fn width(&self) -> usize {
        self.z.cols()
    }

    /// Numbers of the shared part of a point.
    pub(super) fn shared_len(&self) -> usize {
        self.scores * (self.width() + 1)
    }

    /// Numbers of a point.
    pub(super) fn len(&self) -> usize {
        let own = if self.own > 0.0 { self.groups.len() } else { 0 };
        self.shared_len() + own * self.scores * self.width()
    }

    /// Where `δ` of group `g` lies in a point; `None` without domain weights.
    pub(super) fn own_range(&self, g: usize) -> Option<Range<usize>> {
        let size = self.scores * self.width();
        let from = self.shared_len() + g * size;
        (self.own > 0.0).then_some(from..from + size)
    }

    /// The rows of a group.
    pub(super) fn rows(&self, range: &Range<usize>) -> Result<MatView<'_, f64>> {
        let p = self.width();
        let data = &self.z.data()[range.start * p..range.end * p];
        Ok(MatView::new(1, range.len(), p, data)?)
    }

    /// `η`, `N × L`.
    pub(super) fn eta(&self, x: &[f64]) -> Result<Vec<f64>> {
        let (p, l) = (self.width(), self.scores);
        let mut eta = Vec::with_capacity(self.labels.len() * l);
        for (g, (_, range)) in self.groups.iter().enumerate() {
            let own = self.own_range(g).map(|r| &x[r]);
            let weights = MatBatch::from_fn(1, l, p, |_, s, j| {
                x[s * (p + 1) + j] + own.map_or(0.0, |own| own[s * p + j])
            });
            let part = product(self.rows(range)?, Op::N, weights.view(), Op::T)?;
            let with_intercept = |(e, v): (usize, &f64)| v + x[(e % l) * (p + 1) + p];
            eta.extend(part.data().iter().enumerate().map(with_intercept));
        }
        Ok(eta)
    }

    /// `Σ_i r_i ⊗ (z_i, 1)` and its parts by domain, plus the penalties' gradient at `x`.
    fn adjoint(&self, r: &[f64], x: &[f64]) -> Result<Vec<f64>> {
        let (p, l) = (self.width(), self.scores);
        let mut out = vec![0.0; x.len()];
        for s in 0..l {
            out[s * (p + 1) + p] = r.iter().skip(s).step_by(l).sum();
            for j in 0..p {
                out[s * (p + 1) + j] = x[s * (p + 1) + j] / self.shared;
            }
        }
        for (g, (_, range)) in self.groups.iter().enumerate() {
            let rows = &r[range.start * l..range.end * l];
            let rows = MatView::new(1, range.len(), l, rows)?;
            let part = product(rows, Op::T, self.rows(range)?, Op::N)?;
            for (e, v) in part.data().iter().enumerate() {
                out[(e / p) * (p + 1) + e % p] += v;
            }
            if let Some(own) = self.own_range(g) {
                for ((o, v), x) in out[own.clone()].iter_mut().zip(part.data()).zip(&x[own]) {
                    *o = v + x / self.own;
                }
            }
        }
        Ok(out)
    }

    /// The function, its gradient and the probabilities at a point.
    pub(super) fn value(&self, x: &[f64]) -> Result<Value> {
        let (p, l) = (self.width(), self.scores);
        let mut pi = self.eta(x)?;
        let mut f = self.penalty(x, p);
        for (i, row) in pi.chunks_exact_mut(l).enumerate() {
            f += self.weights[i] * loss(row, self.labels[i]);
        }
        let mut r = pi.clone();
        for (i, row) in r.chunks_exact_mut(l).enumerate() {
            match l {
                1 => row[0] -= self.labels[i] as f64,
                _ => row[self.labels[i]] -= 1.0,
            }
            for v in row {
                *v *= self.weights[i];
            }
        }
        let gradient = self.adjoint(&r, x)?;
        Ok(Value { f, gradient, pi })
    }

    fn penalty(&self, x: &[f64], p: usize) -> f64 {
        let (shared, own) = x.split_at(self.shared_len());
        let weights = shared.chunks_exact(p + 1).flat_map(|c| &c[..p]);
        let mut penalty = weights.map(|v| v * v).sum::<f64>() / (2.0 * self.shared);
        if self.own > 0.0 {
            penalty += own.iter().map(|v| v * v).sum::<f64>() / (2.0 * self.own);
        }
        penalty
    }

    /// The Hessian at probabilities `pi`, times `v`.
    pub(super) fn hessian_times(&self, pi: &[f64], v: &[f64]) -> Result<Vec<f64>> {
        let l = self.scores;
        let mut r = self.eta(v)?;
        let rows = r.chunks_exact_mut(l).zip(pi.chunks_exact(l));
        for ((r, pi), weight) in rows.zip(&self.weights) {
            if l == 1 {
                r[0] *= weight * (pi[0] * (1.0 - pi[0]));
                continue;
            }
            let mean: f64 = r.iter().zip(pi).map(|(r, pi)| r * pi).sum();
            r.iter_mut()
                .zip(pi)
                .for_each(|(r, pi)| *r = weight * (pi * (*r - mean)));
        }
        self.adjoint(&r, v)
    }
}

/// Turns scores into probabilities in place and gives the negative log-likelihood of the label.
pub(super) fn loss(row: &mut [f64], label: usize) -> f64 {
    if let [eta] = row {
        // log(1 + e^η) − yη, from the side that does not overflow.
        let soft = eta.max(0.0) + (-eta.abs()).exp().ln_1p();
        let loss = soft - label as f64 * *eta;
        let e = (-eta.abs()).exp();
        *eta = if *eta >= 0.0 {
            1.0 / (1.0 + e)
        } else {
            e / (1.0 + e)
        };
        return loss;
    }
    let own = row[label];
    let (top, sum) = softmax(row);
    sum.ln() - (own - top)
}
