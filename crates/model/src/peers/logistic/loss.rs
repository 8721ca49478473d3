//! The losses of one trial: value, gradient and Hessian in its decision values `z` (`m` of them).
//!
//! | classes | loss | gradient `h` | Hessian times `v` |
//! |---|---|---|---|
//! | 2 | `log(1 + e^z) − y z` | `σ(z) − y` | `σ(1 − σ) v` |
//! | more | `log Σ e^{z_c} − z_y` | `π − e_y`, `π = softmax(z)` | `π∘v − π(πᵀv)` |
//!
//! The gradient holds everything the Hessian needs, without cancellation where a probability is
//! close to one.

/// Which loss, on which classes.
#[derive(Debug)]
pub(super) struct Loss {
    labels: Vec<usize>,
    columns: usize,
}

/// `1/(1 + e^{−z})` without overflow.
pub(super) fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        let e = z.exp();
        e / (1.0 + e)
    }
}

impl Loss {
    pub(super) fn new(labels: &[usize], classes: usize) -> Self {
        Self {
            labels: labels.to_vec(),
            columns: if classes == 2 { 1 } else { classes },
        }
    }

    /// `m`.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// The loss of a trial; its decision values become the gradient.
    pub(super) fn gradient(&self, trial: usize, z: &mut [f64]) -> f64 {
        let y = self.labels[trial];
        if let [z] = z {
            // log(1 + e^z) − y z = log(1 + e^{−s}), and the gradient ∓σ(−s), with s = ±z.
            let s = if y == 1 { *z } else { -*z };
            *z = if y == 1 { -sigmoid(-s) } else { sigmoid(-s) };
            return (-s.abs()).exp().ln_1p() + (-s).max(0.0);
        }
        let own = z[y];
        let (largest, sum) = stiefel_linalg::softmax(z);
        let others = z.iter().enumerate().filter(|&(c, _)| c != y);
        let others: f64 = others.fold(0.0, |sum, (_, z)| sum + z);
        z[y] = -others;
        sum.ln() - (own - largest)
    }

    /// `v` becomes the Hessian of a trial's loss times `v`, given its gradient.
    pub(super) fn curve(&self, trial: usize, gradient: &[f64], v: &mut [f64]) {
        if let ([g], [v]) = (gradient, &mut *v) {
            *v *= g.abs() * (1.0 - g.abs());
            return;
        }
        let y = self.labels[trial];
        let probability = |c: usize| gradient[c] + f64::from(u8::from(c == y));
        let mean: f64 = (0..v.len()).map(|c| probability(c) * v[c]).sum();
        for (c, v) in v.iter_mut().enumerate() {
            *v = probability(c) * (*v - mean);
        }
    }

    /// The diagonal of the Hessian: mean over columns, sum over trials.
    pub(super) fn diagonal(&self, gradient: &[f64]) -> f64 {
        // π(1 − π) is the same of the distance to one as of the probability.
        let all = gradient.iter().map(|g| g.abs() * (1.0 - g.abs()));
        all.sum::<f64>() / self.columns as f64
    }
}
