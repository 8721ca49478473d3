//! One operation for the hot path: mixture → retract → BiMap → ReEig → LogEig → upper vector.
//!
//! For every sample `i`, with `A_i` of size `n × k` and a covariance `X_i` of size `n × n`:
//!
//! ```text
//! A_i = B + Σ_j α_ij Δ_j              or given
//! W_i = qf(A_i)                       CholeskyQR: L Lᵀ = A_iᵀA_i, R⁻¹ = L⁻ᵀ, W_i = A_i R⁻¹
//! Y_i = W_iᵀ X_i W_i = U diag(λ) Uᵀ
//! z_i = upper(U log max(λ, ε) Uᵀ)     k(k+1)/2 values, off-diagonals × √2
//! ```
//!
//! Pull-back, from `G` (the symmetric matrix of `∂ℓ/∂z`):
//!
//! ```text
//! G_Y = U (Λ ∘ UᵀG U) Uᵀ              Λ: divided differences
//! G_W = 2 X W G_Y                     G_X = W G_Y Wᵀ, where wanted
//! G_A = [G_W + W·low(M)] R⁻ᵀ          M = WᵀG_W = 2 Y G_Y; low(M)_rc = −M_cr below the diagonal, −M_rc elsewhere
//! G_α = ⟨Δ_j, G_A,i⟩                  G_Δ,j = Σ_i α_ij G_A,i,  G_B = Σ_i G_A,i
//! ```
//!
//! Everything between the samples' matrices and their vectors happens in lanes, one sample per lane
//! ([`stiefel_linalg::lanes`]): no product is packed or masked, symmetric and triangular factors
//! cost half, and the logarithms of a group are taken together. Groups of lanes are spread over the
//! threads of the current pool where that pays; sums over samples have the order of the samples, so
//! that the bits do not depend on it.

mod forward;
mod groups;
pub(crate) mod logarithm;
mod pull_back;

use crate::ops::wrong_shape;
use crate::tape::Few;
use crate::{Buffer, Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Tape, Var};
use groups::Groups;
use stiefel_linalg::{MatView, Scalar};

/// Where the covariances of a batch of samples come from.
#[derive(Debug, Clone, Copy)]
pub enum Covariances<'t, 'a, T: Scalar> {
    /// A value of the tape, `count × n × n`; its gradient is computed where wanted. Must be
    /// symmetric.
    Value(Var<'t, T>),
    /// Matrices of a data set at the given positions, or all of it in order. The forward pass alone
    /// reads them: nothing is copied, and there is no gradient. Must be symmetric.
    Read(MatView<'a, T>, Option<&'a [usize]>),
}

/// The filters of a batch of samples.
#[derive(Debug, Clone, Copy)]
pub enum Filters<'t, T: Scalar> {
    /// One per sample, `count × n × k`, or one for all.
    Each(Var<'t, T>),
    /// `A_i = B + Σ_j α_ij Δ_j`, a mixture per sample that is never written out.
    Mixed {
        /// `α`, `1 × count × K`.
        weights: Var<'t, T>,
        /// `Δ_j`, `K × n × k`.
        directions: Var<'t, T>,
        /// `B`, `1 × n × k`.
        base: Var<'t, T>,
    },
}

impl<'t, T: Scalar> From<Var<'t, T>> for Filters<'t, T> {
    fn from(filters: Var<'t, T>) -> Self {
        Self::Each(filters)
    }
}

/// Inputs: the filters, or weights, directions and base; then the covariances, where they are a
/// value of the tape.
pub(crate) struct FilterTail<T: Scalar> {
    mixed: bool,
    retract: bool,
    epsilon: T,
    /// The positions of the samples' covariances, where they are not all in order.
    at: Option<Few<usize>>,
    saved: Option<Saved<T>>,
}

/// State of the forward pass for the pull-back, in lanes, group after group.
pub(crate) struct Saved<T: Scalar> {
    groups: Groups,
    /// Whether all samples share one filter: `w` and `l_inv` are then of one group.
    shared: bool,
    w: Buffer<T>,
    /// `L⁻¹ = R⁻ᵀ`, where `W = qf(A)`.
    l_inv: Option<Buffer<T>>,
    xw: Buffer<T>,
    y: Buffer<T>,
    u: Buffer<T>,
    values: Buffer<T>,
    /// Two rows per group: the parts of `log max(λ, ε)`.
    logarithms: Buffer<T>,
}

impl<T: Scalar> FilterTail<T> {
    /// The operation with the inputs `(A, X)`.
    pub(crate) fn for_filters(retract: bool, epsilon: T) -> Self {
        Self {
            mixed: false,
            retract,
            epsilon,
            at: None,
            saved: None,
        }
    }

    /// How many inputs make the filters.
    fn filter_inputs(&self) -> usize {
        if self.mixed { 3 } else { 1 }
    }

    /// Covariance `i` of the batch.
    fn covariance<'a>(&'a self, inputs: &[MatView<'a, T>], i: usize) -> &'a [T] {
        let i = self.at.as_ref().map_or(i, |at| at[i]);
        inputs[self.filter_inputs()].matrix(i)
    }

    fn samples(&self, inputs: &[Shape]) -> usize {
        let all = inputs[self.filter_inputs()].0;
        self.at.as_ref().map_or(all, smallvec::SmallVec::len)
    }
}

impl<T: Scalar> Operation<T> for FilterTail<T> {
    fn name(&self) -> &'static str {
        "filtered_log_vectors"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let samples = self.samples(inputs);
        let (count, n, k) = if self.mixed {
            let (weights, directions, base) = (inputs[0], inputs[1], inputs[2]);
            let (experts, n, k) = directions;
            if base != (1, n, k) || (weights.0, weights.2) != (1, experts) {
                return wrong_shape(
                    "weights 1 × samples × K, directions K × n × k, and a base 1 × n × k",
                    inputs,
                );
            }
            (weights.1, n, k)
        } else {
            inputs[0]
        };
        let (available, rows, cols) = inputs[self.filter_inputs()];
        if let Some(at) = &self.at {
            super::ops::check_indices("covariance", at, available)?;
        }
        let side = (rows, cols);
        let one_for_all = count == 1 && !self.mixed;
        if side != (n, n) || k > n || k == 0 || (count != samples && !one_for_all) {
            return Err(OpError::Shape {
                needs: "filters n × k with 1 ≤ k ≤ n, one or as many as covariances n × n",
                found: vec![(count, n, k), (samples, side.0, side.1)],
            });
        }
        Ok((samples, 1, k * (k + 1) / 2))
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        if pass.context.alone(pass.output.shape().0) {
            return forward::alone(self, pass);
        }
        self.saved = Some(forward::run(self, pass)?);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        match &self.saved {
            Some(saved) => pull_back::run(self, saved, pass),
            None => Ok(()),
        }
    }
}

impl<T: Scalar> Tape<T> {
    /// `upper(log max(W_iᵀ X_i W_i, ε))` with `W_i = qf(A_i)` (where `retract`) or `W_i = A_i`: the
    /// whole tail of a routed SPDNet in one operation, `samples × 1 × k(k+1)/2`.
    ///
    /// The filters are `samples × n × k`, one for all samples, or a mixture. With `retract`, they
    /// must be well conditioned, as points on the Stiefel manifold plus tangent vectors are:
    /// the factorisation is CholeskyQR.
    ///
    /// ```
    /// use stiefel_autodiff::{Covariances, Tape};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let w = tape.parameter(&MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?);
    /// let x = tape.constant(&MatBatch::from_vec(1, 2, 2, vec![4.0, 0.0, 0.0, 9.0])?);
    /// let z = tape.filtered_log_vectors(w, Covariances::Value(x), true, 1e-4)?;
    /// assert!((z.item().unwrap() - 4_f64.ln()).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn filtered_log_vectors<'t>(
        &'t self,
        filters: impl Into<Filters<'t, T>>,
        covariances: Covariances<'t, '_, T>,
        retract: bool,
        epsilon: f64,
    ) -> Result<Var<'t, T>> {
        let (mixed, mut inputs) = match filters.into() {
            Filters::Each(filters) => (false, Few::from_slice(&[filters])),
            Filters::Mixed {
                weights,
                directions,
                base,
            } => (true, Few::from_slice(&[weights, directions, base])),
        };
        let (mut at, mut read) = (None, None);
        match covariances {
            Covariances::Value(x) => inputs.push(x),
            Covariances::Read(x, positions) => {
                at = positions.map(Few::from_slice);
                read = Some(x);
            }
        }
        self.apply_reading(
            FilterTail {
                mixed,
                retract,
                epsilon: T::from_f64(epsilon),
                at,
                saved: None,
            },
            &inputs,
            read.as_slice(),
        )
    }
}
