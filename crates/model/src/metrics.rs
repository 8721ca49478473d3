//! stub
use crate::Result;
/// stub
pub fn balanced_accuracy(labels: &[usize], predictions: &[usize], classes: usize) -> Result<f64> {
    let mut s = 0.0;
    let mut k = 0;
    for c in 0..classes {
        let n = labels.iter().filter(|&&l| l == c).count();
        if n == 0 {
            continue;
        }
        k += 1;
        s += labels
            .iter()
            .zip(predictions)
            .filter(|(l, p)| **l == c && l == p)
            .count() as f64
            / n as f64;
    }
    Ok(s / k as f64)
}
