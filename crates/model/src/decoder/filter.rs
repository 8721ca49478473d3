//! The spatial filter of a trial: one for everybody, or mixed from the experts.
//!
//! ```text
//! W_i = R(W_base + Σ_j α_ij Δ_j),   Δ_j = P_{W_base}(W_j),   P_W(Z) = Z − W sym(WᵀZ)
//! ```
//!
//! `R` is the orthonormal factor (CholeskyQR) or the polar factor. What does not depend on the trial is computed once: with an anchor
//! shared by all trials, `W_base` and every `Δ_j` (`n × k`). Both factorisations are safe without a fallback: `W + Δ` with `Δ` tangent
//! at `W` has `AᵀA = I + ΔᵀΔ`, and mixtures of projected points have `‖Δ‖₂ ≤ 1`.

use super::kernel::{Spectrum, multiply};
use crate::net::{Anchor, DaspConfig, Retraction};
use crate::{ModelError, Parameters, Result};
use stiefel_geometry::spd::SpectralFn;
use stiefel_geometry::stiefel::{project, retract_polar, retract_qr};
use stiefel_linalg::{MatBatch, Op, Scalar, orthonormalise};

/// Mixes experts into a filter.
#[derive(Debug)]
pub(super) struct Mixer<T> {
    n: usize,
    k: usize,
    /// `W_base` where all trials share it, else the first expert, from which each trial's anchor is found.
    anchor: MatBatch<T>,
    /// `P_anchor(W_j)`, `K × n × k`.
    tangents: MatBatch<T>,
    /// `W_j`, where each trial has an anchor of its own.
    experts: Option<MatBatch<T>>,
    /// Whether most weights are zero, whose experts cost nothing then.
    sparse: bool,
    retraction: Retractor<T>,
    /// `W_base + Σ α Δ` before the retraction.
    sum: Vec<T>,
    /// A trial's own anchor, and `Σ α W_j`.
    own: Vec<T>,
    mixed: Vec<T>,
    square: Vec<T>,
}

impl<T: Scalar> Mixer<T> {
    pub(super) fn new(parameters: &Parameters<T>, config: &DaspConfig) -> Result<Self> {
        let (anchor, retraction) = (config.anchor, config.retraction);
        let experts = point(parameters, "experts")?;
        let (count, n, k) = experts.shape();
        let first = experts.single(0);
        let base = match anchor {
            Anchor::Dedicated => point(parameters, "anchor")?,
            Anchor::First | Anchor::RoutedBarycenter => first,
            Anchor::Barycenter => {
                let tangents = project(first.view(), experts.view())?;
                let mean = mean(&tangents)?;
                match retraction {
                    Retraction::Qr => retract_qr(first.view(), mean.view())?.q,
                    Retraction::Polar => retract_polar(first.view(), mean.view())?.q,
                }
            }
        };
        let routed = anchor == Anchor::RoutedBarycenter;
        let own = if routed { n * k } else { 0 };
        Ok(Self {
            n,
            k,
            tangents: project(base.view(), experts.view())?,
            anchor: base,
            experts: routed.then_some(experts),
            sparse: config.routing.kept(count).is_some(),
            retraction: Retractor::new(retraction, n, k),
            sum: vec![T::ZERO; n * k],
            own: vec![T::ZERO; own],
            mixed: vec![T::ZERO; own],
            square: vec![T::ZERO; k * k],
        })
    }

    /// The filter of routing weights `alpha`, `n × k`.
    pub(super) fn filter_into(&mut self, alpha: &[T], w: &mut [T]) -> Result<()> {
        self.sum.copy_from_slice(self.anchor.data());
        add_mixture(self.sparse, &mut self.sum, alpha, &self.tangents)?;
        let Some(experts) = &self.experts else {
            return self.retraction.retract_into(&self.sum, w);
        };
        // The trial's own anchor B; then Σ α P_B(W_j) = P_B(Σ α W_j), the projection being linear.
        self.retraction.retract_into(&self.sum, &mut self.own)?;
        self.mixed.fill(T::ZERO);
        add_mixture(self.sparse, &mut self.mixed, alpha, experts)?;
        let (tall, square) = ((self.n, self.k), (self.k, self.k));
        let own: (&[T], _, _) = (&self.own, tall, Op::T);
        multiply(
            (&mut self.square, square),
            false,
            own,
            (&self.mixed, tall, Op::N),
        )?;
        minus_symmetric(&mut self.square, self.k);
        self.sum.copy_from_slice(&self.own);
        for (sum, &mixed) in self.sum.iter_mut().zip(&self.mixed) {
            *sum += mixed;
        }
        let own: (&[T], _, _) = (&self.own, tall, Op::N);
        multiply(
            (&mut self.sum, tall),
            true,
            own,
            (&self.square, square, Op::N),
        )?;
        self.retraction.retract_into(&self.sum, w)
    }
}

/// The point called `name`, `count × n × k`.
pub(super) fn point<T: Scalar>(parameters: &Parameters<T>, name: &str) -> Result<MatBatch<T>> {
    let known = || parameters.iter().map(|p| p.name).collect::<Vec<_>>();
    let parameter = parameters
        .get(name)
        .ok_or_else(|| ModelError::UnknownName {
            what: "parameter",
            found: name.into(),
            known: known().join(", "),
        })?;
    parameter.point()
}

/// The mean over a batch.
fn mean<T: Scalar>(x: &MatBatch<T>) -> Result<MatBatch<T>> {
    let (count, n, k) = x.shape();
    let share = vec![T::ONE / T::from_f64(count as f64); count];
    let mut mean = MatBatch::zeros(1, n, k);
    add_weighted(mean.data_mut(), &share, x)?;
    Ok(mean)
}

/// `out + Σ_j α_j X_j`: by one product, or where most weights are zero over the others alone, whose experts are the only ones read.
pub(super) fn add_mixture<T: Scalar>(
    sparse: bool,
    out: &mut [T],
    alpha: &[T],
    x: &MatBatch<T>,
) -> Result<()> {
    if !sparse {
        return add_weighted(out, alpha, x);
    }
    for (j, &a) in alpha.iter().enumerate().filter(|(_, a)| **a != T::ZERO) {
        for (out, &x) in out.iter_mut().zip(x.matrix(j)) {
            *out += a * x;
        }
    }
    Ok(())
}

/// `out + Σ_j α_j X_j`.
fn add_weighted<T: Scalar>(out: &mut [T], alpha: &[T], x: &MatBatch<T>) -> Result<()> {
    let size = out.len();
    let terms = (x.data(), (alpha.len(), size), Op::N);
    multiply(
        (out, (1, size)),
        true,
        (alpha, (1, alpha.len()), Op::N),
        terms,
    )
}

/// `−sym(S)`, in place.
fn minus_symmetric<T: Scalar>(s: &mut [T], k: usize) {
    let half = T::from_f64(-0.5);
    for r in 0..k {
        for c in 0..=r {
            let value = half * (s[r * k + c] + s[c * k + r]);
            (s[r * k + c], s[c * k + r]) = (value, value);
        }
    }
}

/// The orthonormal or the polar factor of one `n × k` matrix.
#[derive(Debug)]
struct Retractor<T> {
    n: usize,
    k: usize,
    /// What the polar factor needs: room for `AᵀA`, and its spectrum.
    polar: Option<(Vec<T>, Spectrum<T>)>,
}

impl<T: Scalar> Retractor<T> {
    fn new(retraction: Retraction, n: usize, k: usize) -> Self {
        let polar = match retraction {
            Retraction::Qr => None,
            Retraction::Polar => Some((vec![T::ZERO; k * k], Spectrum::new(k))),
        };
        Self { n, k, polar }
    }

    /// `W = A R⁻¹` with `RᵀR = AᵀA`, or `W = A (AᵀA)^{-1/2}`.
    fn retract_into(&mut self, a: &[T], w: &mut [T]) -> Result<()> {
        let (tall, square) = ((self.n, self.k), (self.k, self.k));
        let Some((gram, spectrum)) = &mut self.polar else {
            return Ok(orthonormalise(a, tall, w)?);
        };
        let (left, right) = ((a, tall, Op::T), (a, tall, Op::N));
        multiply((&mut gram[..], square), false, left, right)?;
        let factor = spectrum.map(SpectralFn::InvSqrt, gram)?;
        let right = (factor, square, Op::N);
        multiply((w, tall), false, (a, tall, Op::N), right)
    }
}

#[cfg(test)]
mod tests {
    use super::Mixer;
    use crate::net::{DaspConfig, DaspNet, Network, RoutingRule, Sizes};
    use stiefel_linalg::MatBatch;

    /// An expert without weight is never read: spoilt with NaN it changes nothing.
    #[test]
    fn one_expert_costs_one_expert() {
        let sizes = Sizes {
            channels: 5,
            classes: 2,
            domains: 2,
            encoded: 15,
            views: 1,
        };
        let config = DaspConfig {
            filters: 3,
            experts: 4,
            embedding: 4,
            routing: RoutingRule::TopP { p: 1 },
            ..DaspConfig::default()
        };
        let net = DaspNet::new(sizes, config).unwrap();
        let parameters = Network::<f64>::initial(&net, 1);
        let mut mixer = Mixer::new(&parameters, &config).unwrap();
        let alpha = [0.0, 0.0, 1.0, 0.0];
        let (mut clean, mut spoilt) = (vec![0.0; 15], vec![0.0; 15]);
        mixer.filter_into(&alpha, &mut clean).unwrap();
        mixer.tangents = MatBatch::from_fn(4, 5, 3, |j, r, c| {
            if j == 2 {
                mixer.tangents.get(j, r, c)
            } else {
                f64::NAN
            }
        });
        mixer.filter_into(&alpha, &mut spoilt).unwrap();
        assert_eq!(clean, spoilt);
        // And it is the retraction of that expert's tangent alone, to the bit.
        let mut sum = mixer.anchor.data().to_vec();
        for (sum, x) in sum.iter_mut().zip(mixer.tangents.matrix(2)) {
            *sum += x;
        }
        let mut alone = vec![0.0; 15];
        mixer.retraction.retract_into(&sum, &mut alone).unwrap();
        assert_eq!(clean, alone);
    }
}
