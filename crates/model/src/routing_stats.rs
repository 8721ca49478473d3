//! stub
use crate::{Measure, Result};
use stiefel_linalg::MatBatch;
/// stub
pub fn routing_entropy(alpha: &MatBatch<f64>) -> Result<Measure> {
    let k = alpha.cols();
    let h: f64 = alpha
        .data()
        .iter()
        .map(|a| if *a > 0.0 { -a * a.ln() } else { 0.0 })
        .sum();
    Ok(Measure::Value(h / alpha.rows() as f64 / (k as f64).ln()))
}
