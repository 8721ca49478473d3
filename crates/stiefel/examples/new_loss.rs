//! A new loss on the tape: `cargo run --release -p stiefel --example new_loss`.
//!
//! A *centre loss* pulls the tangent vectors of each class towards its own mean, `ℓ = mean_i ‖z_i −
//! c_{y_i}‖² − mean_{a<b} ‖c_a − c_b‖²`, beside the spectral tail `z = upper(log max(WᵀXW, ε))` of
//! a filter `W` on the Stiefel manifold. Only the forward expression is written; the gradient is
//! checked against differences, and `W` moves along the manifold.

use stiefel::autodiff::{Axis, Result, Tape, Var, gradient_error};
use stiefel::linalg::Scalar;
use stiefel::prelude::*;

/// `1 × B × d` tangent vectors and their classes; both classes occur equally often.
fn centre_loss<'t, T: Scalar>(z: Var<'t, T>, labels: &[usize]) -> Result<Var<'t, T>> {
    let of = |class: usize| (0..labels.len()).filter(move |&i| labels[i] == class);
    let centre = |class| {
        z.gather_rows(&of(class).collect::<Vec<_>>())?
            .mean(Axis::Rows)
    };
    let (first, second) = (centre(0)?, centre(1)?);
    let own = |class, c: Var<'t, T>| {
        let rows = z.gather_rows(&of(class).collect::<Vec<_>>())?;
        rows.sub(c)?.square()?.sum(Axis::Cols)?.mean(Axis::All)
    };
    let within = own(0, first)?.add(own(1, second)?)?.scale(0.5)?;
    within.sub(first.sub(second)?.square()?.sum(Axis::All)?)
}

/// The tail of the networks: what a filter makes of covariances, one row per trial.
fn tail<'t, T: Scalar>(w: Var<'t, T>, x: Var<'t, T>) -> Result<Var<'t, T>> {
    let z = w.congruence(x)?.reeig_log(1e-4)?.upper()?;
    let (count, _, width) = z.shape();
    z.reshape(1, count, width)
}

/// The example.
pub(crate) fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // Whitened trials of one simulated person: right hand against feet, 13 channels.
    let one = SyntheticConfig {
        sessions: vec![1],
        trials_per_class: 12,
        ..SyntheticConfig::bnci2015001()
    };
    let trials = simulate(&one)?;
    let trials = Preconditioning::default()
        .fit(&trials)?
        .transform(&trials)?;
    let (labels, x) = (trials.classes().indices(), trials.covariances());
    let (n, k) = (x.rows(), 3);
    let mut w = MatBatch::from_fn(1, n, k, |_, r, c| if r == c { 1.0 } else { 0.0 });

    // One line tests the gradient.
    let error = gradient_error(&[w.clone(), x.clone()], |v| {
        centre_loss(tail(v[0], v[1])?, labels)
    })?;
    println!("gradient against differences: {error:.1e}");
    assert!(error < 1e-6);

    // Descent along the manifold: project the gradient, step, retract.
    let mut tape = Tape::<f64>::new();
    let mut losses = Vec::new();
    for _ in 0..50 {
        let point = tape.parameter(&w);
        let loss = centre_loss(tail(point, tape.constant(x))?, labels)?;
        losses.push(loss.value().data()[0]);
        let gradients = tape.backward(loss)?;
        let gradient = gradients
            .get(point)
            .ok_or("the loss depends on the filter")?;
        let direction = MatBatch::from_fn(1, n, k, |i, r, c| {
            -0.02 * gradient.data()[(i * n + r) * k + c]
        });
        let tangent = stiefel::geometry::stiefel::project(w.view(), direction.view())?;
        w = stiefel::geometry::stiefel::retract_qr(w.view(), tangent.view())?.q;
        tape.reset();
    }
    println!(
        "loss from {:.4} to {:.4}",
        losses[0],
        losses[losses.len() - 1]
    );
    assert!(losses[losses.len() - 1] < losses[0]);
    Ok(())
}
