//! What a trained network says of a set of samples.

use crate::net::{Network, Routing};
use crate::prepared::CHUNK;
use crate::{Parameters, Prepared, Result};
use stiefel_autodiff::Tape;
use stiefel_linalg::{MatBatch, Scalar, argmax};

/// Probabilities and routing weights of every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// `1 × N × C`.
    pub probabilities: MatBatch<f64>,
    /// `1 × N × K`, where the network routes; `1 × N × V·K` where every view has weights of its
    /// own.
    pub alpha: Option<MatBatch<f64>>,
    /// Queries, `1 × N × m`, where the network routes.
    pub queries: Option<MatBatch<f64>>,
    /// Mean cross-entropy.
    pub cross_entropy: f64,
}

impl Evaluation {
    /// The most probable class of each sample; the first of equals.
    pub fn predictions(&self) -> Vec<usize> {
        // Nothing has no classes either.
        let classes = self.probabilities.cols().max(1);
        self.probabilities
            .data()
            .chunks_exact(classes)
            .map(argmax)
            .collect()
    }
}

/// Runs a network over a whole split; nothing is recorded for a backward pass.
pub fn evaluate<T: Scalar>(
    network: &dyn Network<T>,
    parameters: &Parameters<T>,
    data: &Prepared<T>,
    routing: Routing<'_, T>,
) -> Result<Evaluation> {
    let mut tape = Tape::new();
    let (mut probabilities, mut alpha, mut queries) = (Vec::new(), Vec::new(), Vec::new());
    let mut cross_entropy = 0.0;
    let mut classes = 0;
    let bound = network.bind_frozen(&tape, parameters)?;
    tape.keep();
    let all: Vec<usize> = (0..data.len()).collect();
    for indices in all.chunks(CHUNK) {
        tape.rewind();
        let batch = data.batch(indices);
        let part;
        let routing = match routing {
            Routing::Given(weights) => {
                let width = weights.cols();
                let rows = &weights.data()[indices[0] * width..][..indices.len() * width];
                part = MatBatch::from_vec(1, indices.len(), width, rows.to_vec())?;
                Routing::Given(&part)
            }
            other => other,
        };
        let outputs = network.forward(&tape, &bound, &batch, routing)?;
        classes = outputs.logits.shape().2;
        let log_p = outputs.logits.log_softmax()?;
        let rows = log_p.value().data().chunks_exact(classes);
        for (row, &label) in rows.zip(&batch.labels()) {
            cross_entropy -= row[label].to_f64();
            probabilities.extend(row.iter().map(|x| x.to_f64().exp()));
        }
        if let (Some(routed), Some(weights)) = (outputs.routed, outputs.weights) {
            alpha.extend(weights.value().data().iter().map(|x| x.to_f64()));
            queries.extend(routed.query.value().data().iter().map(|x| x.to_f64()));
        }
    }
    let n = data.len();
    let table = |values: Vec<f64>| -> Result<Option<MatBatch<f64>>> {
        if values.is_empty() {
            return Ok(None);
        }
        Ok(Some(MatBatch::from_vec(1, n, values.len() / n, values)?))
    };
    Ok(Evaluation {
        probabilities: MatBatch::from_vec(1, n, classes, probabilities)?,
        alpha: table(alpha)?,
        queries: table(queries)?,
        cross_entropy: cross_entropy / n.max(1) as f64,
    })
}
