//! From scores to probabilities: `P = softmax(a·g)`, `g = (−s/2, s/2)` for two classes, else the
//! scores themselves.
//!
//! The slope `a` minimises the cross-entropy of scores that did not know their labels, with Platt's
//! targets (`(N_y + 1)/(N_y + C)` for the true class, the rest divided among the others), so that
//! it is finite whatever the scores. It depends on how many labelled trials stand behind a person's
//! own weights: few make them uncertain.

use super::ridge::{Rows, Shared, balanced, held_out};
use crate::Result;
use crate::tolerance::{LINK_SLOPES, LINK_STEP};
use serde::{Deserialize, Serialize};
use stiefel_linalg::{Mat, MatBatch, softmax};

/// Labelled trials of a person for which a slope is found.
const LABELS: [usize; 5] = [0, 2, 4, 8, 16];

/// Slopes by the number of labelled trials of a person.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Link {
    /// Numbers of labelled trials, ascending from 0, each with its slope.
    pub slopes: Vec<(usize, f64)>,
}

impl Link {
    /// The slope of a person with so many labelled trials: that of the largest number known up to
    /// it.
    ///
    /// ```
    /// use stiefel_model::choir::Link;
    ///
    /// let link = Link {
    ///     slopes: vec![(0, 2.0), (4, 1.5), (31, 2.5)],
    /// };
    /// assert_eq!(
    ///     (link.slope(0), link.slope(3), link.slope(8), link.slope(40)),
    ///     (2.0, 2.0, 1.5, 2.5)
    /// );
    /// ```
    pub fn slope(&self, labels: usize) -> f64 {
        let below = self.slopes.iter().rev().find(|(n, _)| *n <= labels);
        below.or(self.slopes.first()).map_or(1.0, |(_, a)| *a)
    }

    /// The slopes of people held out in turn.
    pub(super) fn fit(
        shared: &Shared,
        people: &[&Rows],
        variance: f64,
        classes: usize,
    ) -> Result<Self> {
        let typical = {
            let mut counts: Vec<usize> = people.iter().map(|rows| rows.len()).collect();
            counts.sort_unstable();
            counts[counts.len() / 2]
        };
        // What the weights of the others leave of each person, for all slopes.
        let left: Result<Vec<Left<'_>>> = (people.iter())
            .map(|&rows| Ok((rows, shared.without(rows)?)))
            .collect();
        let left = left?;
        let mut slopes = Vec::new();
        if people.len() > 1 {
            for count in LABELS.into_iter().filter(|n| *n < typical) {
                let known = if variance > 0.0 { count } else { 0 };
                if let Some(slope) = slope_of(&left, variance, Some(known), classes)? {
                    slopes.push((count, slope));
                }
            }
        }
        let labels = (variance == 0.0 && people.len() > 1).then_some(0);
        if let Some(slope) = slope_of(&left, variance, labels, classes)? {
            let labels = if slopes.is_empty() { 0 } else { typical };
            slopes.push((labels, slope));
        }
        Ok(Self { slopes })
    }

    /// Probabilities of one trial's scores.
    pub(super) fn probabilities(scores: &[f64], slope: f64) -> Vec<f64> {
        let mut p = class_scores(scores);
        Self::probabilities_into(scores, slope, &mut p);
        p
    }

    /// The same into a place for every class.
    pub(super) fn probabilities_into(scores: &[f64], slope: f64, p: &mut [f64]) {
        match scores {
            [s] => p.copy_from_slice(&[-s / 2.0, s / 2.0]),
            several => p.copy_from_slice(several),
        }
        for g in p.iter_mut() {
            *g *= slope;
        }
        softmax(p);
    }
}

/// One number per class.
fn class_scores(scores: &[f64]) -> Vec<f64> {
    match scores {
        [s] => vec![-s / 2.0, s / 2.0],
        several => several.to_vec(),
    }
}

/// A person's rows, and their residuals under the weights of the others.
type Left<'a> = (&'a Rows, MatBatch<f64>);

fn slope_of(
    people: &[Left<'_>],
    variance: f64,
    labels: Option<usize>,
    classes: usize,
) -> Result<Option<f64>> {
    let (mut g, mut truth, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (rows, e) in people {
        let Some((at, scores)) = held_out(e, rows, variance, labels, classes)? else {
            continue;
        };
        let own: Vec<usize> = at.iter().map(|&i| rows.labels[i]).collect();
        let given: Vec<f64> = at.iter().map(|&i| rows.weights[i]).collect();
        weights.extend(balanced(&own, &given, classes));
        truth.extend(own);
        let rows = scores.data().chunks_exact(scores.cols());
        g.extend(rows.flat_map(class_scores));
    }
    if truth.is_empty() {
        return Ok(None);
    }
    let g = MatBatch::from(Mat::new(truth.len(), classes, g));
    Ok(Some(slope(&g, &truth, &weights)))
}

/// The slope with the least cross-entropy: the root of its derivative, which ascends, by Newton's
/// steps kept inside a bracket.
fn slope(g: &MatBatch<f64>, truth: &[usize], weights: &[f64]) -> f64 {
    let classes = g.cols();
    let mut counts = vec![0.0; classes];
    for &y in truth {
        counts[y] += 1.0;
    }
    let hit: Vec<f64> = counts
        .iter()
        .map(|n| (n + 1.0) / (n + classes as f64))
        .collect();
    // First and second derivative at a slope.
    let at = |a: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for ((row, &y), w) in g.data().chunks_exact(classes).zip(truth).zip(weights) {
            let mut p: Vec<f64> = row.iter().map(|g| a * g).collect();
            softmax(&mut p);
            let miss = (1.0 - hit[y]) / (classes as f64 - 1.0);
            let expected: f64 = p.iter().zip(row).map(|(p, g)| p * g).sum();
            let square: f64 = p.iter().zip(row).map(|(p, g)| p * g * g).sum();
            let wanted: f64 = (row.iter().enumerate())
                .map(|(c, g)| if c == y { hit[y] * g } else { miss * g })
                .sum();
            first += w * (expected - wanted);
            second += w * (square - expected * expected);
        }
        (first, second)
    };
    let (mut low, mut high) = LINK_SLOPES;
    if at(low).0 >= 0.0 {
        return low;
    }
    if at(high).0 <= 0.0 {
        return high;
    }
    let mut a = 1.0_f64;
    while high - low > LINK_STEP * high {
        let (first, second) = at(a);
        if first > 0.0 {
            high = a;
        } else {
            low = a;
        }
        let next = a - first / second;
        let newton = next > low && next < high;
        let step = if newton {
            next
        } else {
            f64::midpoint(low, high)
        };
        if (step - a).abs() <= LINK_STEP * a {
            return step;
        }
        a = step;
    }
    a
}
