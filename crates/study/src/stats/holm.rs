//! Holm's step-down correction for the comparisons of one table (Holm 1979).

use super::{StatsError, sign_flip_above};

/// Corrected p-values, in the order given: with `p_(0) ≤ … ≤ p_(m−1)`, `max_{j≤i} min(1, (m − j)
/// p_(j))`.
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

/// Is a method above chance? For each method the one-sided sign-flip p-value of its scores minus
/// chance, one score per subject, after Holm's correction over the methods; nothing for fewer than
/// two subjects.
///
/// ```
/// use stiefel_study::stats::above_chance;
///
/// let p = above_chance(&[vec![0.6, 0.7, 0.8], vec![0.4, 0.5, 0.6]], 0.5, 0)?;
/// assert_eq!(p, [Some(2.0 / 8.0), Some(6.0 / 8.0)]);
/// # Ok::<(), stiefel_study::stats::StatsError>(())
/// ```
pub fn above_chance(
    methods: &[Vec<f64>],
    chance: f64,
    seed: u64,
) -> Result<Vec<Option<f64>>, StatsError> {
    let test = |scores: &Vec<f64>| {
        let above: Vec<f64> = scores.iter().map(|s| s - chance).collect();
        Ok(sign_flip_above(&above, seed)?.value())
    };
    let p: Result<Vec<Option<f64>>, StatsError> = methods.iter().map(test).collect();
    holm(&p?)
}
