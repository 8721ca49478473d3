//! Gradients of whole networks against finite differences, each parameter along a direction of its
//! manifold.

use stiefel_autodiff::Tape;
use stiefel_geometry::stiefel;
use stiefel_linalg::MatBatch;
use stiefel_model::net::{Network, Routing};
use stiefel_model::{Manifold, Parameters, Prepared};
use stiefel_testkit::random_batch;

fn total(net: &dyn Network<f64>, parameters: &Parameters<f64>, data: &Prepared<f64>) -> f64 {
    let tape = Tape::new();
    let bound = net.bind(&tape, parameters).expect("bound");
    let outputs = net.forward(&tape, &bound, &data.all(), Routing::Learnt);
    let outputs = outputs.expect("a forward pass");
    let losses = net.losses(&outputs, data.labels()).expect("losses");
    losses.total.item().expect("one number")
}

/// The worst relative difference over all parameters, with the name of the parameter.
pub(crate) fn worst_gradient(
    net: &dyn Network<f64>,
    parameters: &Parameters<f64>,
    data: &Prepared<f64>,
) -> (f64, &'static str) {
    let tape = Tape::new();
    let bound = net.bind(&tape, parameters).expect("bound");
    let outputs = net.forward(&tape, &bound, &data.all(), Routing::Learnt);
    let outputs = outputs.expect("a forward pass");
    let losses = net.losses(&outputs, data.labels()).expect("losses");
    let gradients = tape.backward(losses.total).expect("finite");
    let mut worst = (0.0, "none");
    for (i, parameter) in parameters.iter().enumerate() {
        if parameter.manifold == Manifold::State {
            assert!(
                gradients.get(bound.leaves[i]).is_none(),
                "state has no gradient"
            );
            continue;
        }
        let (count, rows, cols) = parameter.value.shape();
        let mut direction = random_batch::<f64>(77 + i as u64, count, rows, cols);
        let curved = parameter.manifold == Manifold::Stiefel;
        if curved {
            let w = parameter.value.view();
            direction = stiefel::project(w, direction.view()).expect("tangent");
        }
        let gradient = gradients.get(bound.leaves[i]);
        let exact = gradient.map_or(0.0, |g| {
            g.data()
                .iter()
                .zip(direction.data())
                .map(|(a, b)| a * b)
                .sum()
        });
        let along = |t: f64| {
            let mut step = direction.clone();
            step.data_mut().iter_mut().for_each(|v| *v *= t);
            let value = if curved {
                let w = parameter.value.view();
                stiefel::retract_qr(w, step.view()).expect("a point").q
            } else {
                let pairs = step.data().iter().zip(parameter.value.data());
                let moved = pairs.map(|(a, b)| a + b).collect();
                MatBatch::from_vec(count, rows, cols, moved).expect("same shape")
            };
            let mut moved = parameters.clone();
            moved.set(parameter.name, value).expect("same shape");
            total(net, &moved, data)
        };
        let slope = |h: f64| (along(h) - along(-h)) / (2.0 * h);
        let h = 1e-3;
        let numeric = (4.0 * slope(h / 2.0) - slope(h)) / 3.0;
        let error = (exact - numeric).abs() / exact.abs().max(1.0);
        if error.is_nan() || error > worst.0 {
            worst = (error, parameter.name);
        }
    }
    worst
}
