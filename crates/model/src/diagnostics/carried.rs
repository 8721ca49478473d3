//! Which views and which electrodes carry the decisions of a model.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the views of a trial contribute: to the weights everybody shares, and person by person.
///
/// It displays the shares of the views in everybody's weights, in a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// The views in words, in order.
    pub views: Vec<String>,
    /// Of the weights everybody shares.
    pub shared: CarriedBy,
    /// Of each person's own, where they were asked for.
    pub people: Vec<CarriedBy>,
}

/// What the views contribute to one set of weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CarriedBy {
    /// Whose weights: a domain, or `everybody`.
    pub name: String,
    /// The share of each view in the variance of the score.
    pub shares: Vec<f64>,
    /// For every view the leading activation patterns on the sensors, one value per channel. Where
    /// the largest value of a pattern is positive, power of that source speaks for the second
    /// class (with more classes than two, for the first), where it is negative, against it.
    pub patterns: Vec<Vec<Vec<f64>>>,
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = (self.views.iter().zip(&self.shared.shares))
            .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
            .collect();
        write!(
            f,
            "share of the views in what everybody's weights decide: {}",
            each.join("; ")
        )
    }
}
