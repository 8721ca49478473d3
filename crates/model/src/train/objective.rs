//! What a step minimises: the network's own losses, and the terms that remember earlier batches.

use crate::csp::CspState;
use crate::net::{Losses, Network, Outputs};
use crate::{Batch, Result};
use stiefel_linalg::Scalar;

/// The losses of a forward pass; CSP targets first take the batch in.
pub(super) fn objective<'t, T: Scalar>(
    network: &dyn Network<T>,
    outputs: &Outputs<'t, T>,
    batch: &Batch<'_, T>,
    csp: &mut Option<CspState>,
) -> Result<Losses<'t, T>> {
    let labels = batch.labels();
    let mut losses = network.losses(outputs, &labels)?;
    if let Some(weights) = batch.weights() {
        losses = losses.with_sample_weights(outputs, &labels, &weights)?;
    }
    let directions = outputs.routed.and_then(|r| r.directions);
    let (Some(term), Some(directions)) = (network.csp(), directions) else {
        return Ok(losses);
    };
    let state = csp.get_or_insert_with(|| CspState::new(term.sizes));
    state.observe(batch, term.config.momentum)?;
    losses.add("csp", term.weight, || {
        state.loss(directions, batch, term.config.filters)
    })
}
