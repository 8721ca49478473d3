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
//! Everything between the samples' matrices and their vectors happens in lanes, one sample per lane ([`stiefel_linalg::lanes`]): no product is packed or
//! masked, symmetric and triangular factors cost half, and the logarithms of a group are taken together. Groups of lanes are spread over the threads of the
//! current pool where that pays; sums over samples have the order of the samples, so that the bits do not depend on it.

mod forward;
mod groups;
pub(crate) mod logarithm;
mod pull_back;

use crate::{Buffer, Context, Gradient, OpError, OpResult, Operation, Result, Shape, Tape, Var};
use groups::Groups;
use std::sync::Arc;
use stiefel_linalg::{MatBatch, MatView, MatViewMut, Scalar};

/// Where the covariances of a batch of samples come from.
#[derive(Debug, Clone)]
pub enum Covariances<'t, T: Scalar> {
    /// A value of the tape, `count × n × n`; its gradient is computed where wanted. Must be symmetric.
    Value(Var<'t, T>),
    /// Matrices of a shared data set at the given positions: nothing is copied.
    Shared(Arc<MatBatch<T>>, Vec<usize>),
    /// Matrices that the forward pass alone reads: nothing is copied, and there is no gradient. Must be symmetric.
    Read(MatView<'t, T>),
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

/// Inputs: the filters, or weights, directions and base; then the covariances, where they are a value of the tape.
struct FilterTail<T: Scalar> {
    mixed: bool,
    retract: bool,
    epsilon: T,
    shared: Option<(Arc<MatBatch<T>>, Vec<usize>)>,
    saved: Option<Saved<T>>,
}

/// What the pull-back needs of the forward pass, in lanes, group after group.
struct Saved<T: Scalar> {
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
    /// How many inputs make the filters.
    fn filter_inputs(&self) -> usize {
        if self.mixed { 3 } else { 1 }
    }

    /// Covariance `i` of the batch.
    fn covariance<'a>(&'a self, inputs: &[MatView<'a, T>], i: usize) -> &'a [T] {
        match &self.shared {
            Some((data, indices)) => data.matrix(indices[i]),
            None => inputs[self.filter_inputs()].matrix(i),
        }
    }

    fn samples(&self, inputs: &[Shape]) -> usize {
        self.shared.as_ref().map_or_else(
            || inputs[self.filter_inputs()].0,
            |(_, indices)| indices.len(),
        )
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
                return Err(OpError::Shape {
                    needs: "weights 1 × samples × K, directions K × n × k, and a base 1 × n × k",
                    found: inputs.to_vec(),
                });
            }
            (weights.1, n, k)
        } else {
            inputs[0]
        };
        let side = if let Some((data, indices)) = &self.shared {
            super::ops::check_indices("covariance", indices, data.count())?;
            (data.rows(), data.cols())
        } else {
            let x = inputs[self.filter_inputs()];
            (x.1, x.2)
        };
        let one_for_all = count == 1 && !self.mixed;
        if side != (n, n) || k > n || k == 0 || (count != samples && !one_for_all) {
            return Err(OpError::Shape {
                needs: "filters n × k with 1 ≤ k ≤ n, one or as many as covariances n × n",
                found: vec![(count, n, k), (samples, side.0, side.1)],
            });
        }
        Ok((samples, 1, k * (k + 1) / 2))
    }

    fn forward(
        &mut self,
        inputs: &[MatView<'_, T>],
        output: &mut MatViewMut<'_, T>,
        context: &Context<'_, T>,
    ) -> OpResult {
        self.saved = Some(forward::run(self, inputs, output, context)?);
        Ok(())
    }

    fn pull_back(
        &self,
        inputs: &[MatView<'_, T>],
        _: MatView<'_, T>,
        g: MatView<'_, T>,
        gradients: &mut [Option<Gradient<'_, T>>],
        context: &Context<'_, T>,
    ) -> OpResult {
        match &self.saved {
            Some(saved) => pull_back::run(self, saved, inputs, g, gradients, context),
            None => Ok(()),
        }
    }
}

/// The operation by itself, inputs `(A, X)`.
pub(crate) fn operation<T: Scalar>(retract: bool, epsilon: T) -> Box<dyn Operation<T>> {
    Box::new(FilterTail {
        mixed: false,
        retract,
        epsilon,
        shared: None,
        saved: None,
    })
}

impl<T: Scalar> Tape<T> {
    /// `upper(log max(W_iᵀ X_i W_i, ε))` with `W_i = qf(A_i)` (where `retract`) or `W_i = A_i`: the whole tail of a routed
    /// SPDNet in one operation, `samples × 1 × k(k+1)/2`.
    ///
    /// The filters are `samples × n × k`, one for all samples, or a mixture. With `retract`, they must be well conditioned, as points on
    /// the Stiefel manifold plus tangent vectors are: the factorisation is CholeskyQR.
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
        covariances: Covariances<'t, T>,
        retract: bool,
        epsilon: f64,
    ) -> Result<Var<'t, T>> {
        let (mixed, mut inputs) = match filters.into() {
            Filters::Each(filters) => (false, vec![filters]),
            Filters::Mixed {
                weights,
                directions,
                base,
            } => (true, vec![weights, directions, base]),
        };
        let (mut shared, mut read) = (None, None);
        match covariances {
            Covariances::Value(x) => inputs.push(x),
            Covariances::Shared(data, indices) => shared = Some((data, indices)),
            Covariances::Read(x) => read = Some(x),
        }
        self.apply_reading(
            FilterTail {
                mixed,
                retract,
                epsilon: T::from_f64(epsilon),
                shared,
                saved: None,
            },
            &inputs,
            read.as_slice(),
        )
    }
}
