//! Holm's step-down correction for the comparisons of one table (Holm 1979).

use super::StatsError;

/// Corrected p-values, in the order given: with `p_(0) ≤ … ≤ p_(m−1)`, `max_{j≤i} min(1, (m − j) p_(j))`.
///
/// A comparison without a p-value was not made: it stays without one and does not count in `m`.
///
/// ```
/// use stiefel_study::stats::holm;
///
/// let corrected = holm(&[Some(0.02), None, Some(0.5)])?;
/// assert_eq!(corrected, [Some(0.04), None, Some(0.5)]);
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn holm(p: &[Option<f64>]) -> Result<Vec<Option<f64>>, StatsError> {
    let mut made = Vec::with_capacity(p.len());
    for (index, value) in p.iter().enumerate() {
        match *value {
            Some(value) if !(0.0..=1.0).contains(&value) => {
                return Err(StatsError::NotAProbability { index, value });
            }
            Some(value) => made.push((value, index)),
            None => {}
        }
    }
    made.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut corrected = vec![None; p.len()];
    let mut so_far = 0.0_f64;
    for (j, &(value, index)) in made.iter().enumerate() {
        so_far = so_far.max(((made.len() - j) as f64 * value).min(1.0));
        corrected[index] = Some(so_far);
    }
    Ok(corrected)
}
