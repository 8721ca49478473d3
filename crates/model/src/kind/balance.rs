//! Labelled trials that calibrated a model, class by class.

use std::fmt;

/// Labelled trials of one calibrated domain, by class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// The domain.
    pub domain: String,
    /// Labelled trials of each class that the model has of it, in the order of the classes.
    pub counts: Vec<(String, usize)>,
}

impl Balance {
    /// Tells whether the largest class has more than half as many trials again as the smallest, and
    /// at least two more.
    pub fn is_uneven(&self) -> bool {
        let counts = || self.counts.iter().map(|(_, n)| *n);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        2 * most > 3 * least && most >= least + 2
    }
}

impl Balance {
    /// Lists the classes without a trial.
    pub fn missing(&self) -> Vec<&str> {
        let none = self.counts.iter().filter(|(_, n)| *n == 0);
        none.map(|(class, _)| class.as_str()).collect()
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = (self.counts.iter())
            .map(|(class, n)| format!("{n} {class}"))
            .collect();
        write!(f, "{}: {}", self.domain, each.join(", "))?;
        let missing = self.missing();
        if !missing.is_empty() {
            write!(
                f,
                " (no trial of {}: these classes are decided worse than before; calibrate with \
                 trials of every class)",
                missing.join(", ")
            )?;
        } else if self.is_uneven() {
            f.write_str(
                " (uneven: the classes are weighted alike, but equally many trials of each would \
                 calibrate better)",
            )?;
        }
        Ok(())
    }
}
