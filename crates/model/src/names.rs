//! Names of classes, domains and channels, and the sizes of a trial.

use crate::error::check_count;
use crate::{ModelError, Result, Trials};
use serde::{Deserialize, Serialize};
use stiefel_data::{Factor, check_distinct};

/// Names of classes, domains and channels, and the sizes of a trial, as every model knows them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// Classes, in the order of the probabilities.
    pub classes: Vec<String>,
    /// Domains that were named at training, or calibrated the model.
    pub domains: Vec<String>,
    /// Channels in the order of the rows, where known.
    pub channels: Option<Vec<String>>,
    /// Channels of a trial.
    pub channel_count: usize,
    /// Covariances of a trial.
    pub view_count: usize,
}

impl Names {
    /// Returns those of a set of trials.
    pub fn from_trials(trials: &Trials) -> Self {
        Self {
            classes: trials.classes().names().to_vec(),
            domains: trials.domains().names().to_vec(),
            channels: trials.channels().map(<[String]>::to_vec),
            channel_count: trials.channels_count(),
            view_count: trials.views(),
        }
    }

    /// Finds a domain by name.
    pub fn domain(&self, name: &str) -> Option<usize> {
        self.domains.iter().position(|d| d == name)
    }

    /// Returns the class of each trial as these names number them.
    pub fn class_of_each(&self, trials: &Trials) -> Result<Vec<usize>> {
        let names = trials.classes();
        let place = |&c: &usize| {
            let at = self.classes.iter().position(|known| known == names.name(c));
            at.ok_or_else(|| ModelError::UnknownName {
                what: "class",
                found: names.name(c).to_owned(),
                known: self.classes.join(", "),
            })
        };
        names.indices().iter().map(place).collect()
    }

    /// Renumbers classes and domains of trials as here; all their names are among these.
    pub fn renumber(&self, trials: &Trials) -> Result<Trials> {
        let names = trials.domains();
        let place = |&d: &usize| {
            let name = names.name(d);
            self.domain(name).ok_or_else(|| ModelError::NewDomain {
                name: name.to_owned(),
                known: self.domains.join(", "),
            })
        };
        let domains: Result<Vec<usize>> = names.indices().iter().map(place).collect();
        let classes = Factor::new("class", self.classes.clone(), self.class_of_each(trials)?)?;
        let domains = Factor::new("domain", self.domains.clone(), domains?)?;
        Ok(trials
            .clone()
            .with_classes(classes)?
            .with_domains(domains)?)
    }

    /// Checks that names are distinct and as many as the sizes say.
    pub(crate) fn check(&self) -> Result<()> {
        check_distinct("classes", &self.classes)?;
        check_distinct("domains", &self.domains)?;
        check_distinct("channels", self.channels.as_deref().unwrap_or(&[]))?;
        let named = self.channels.as_ref().map_or(self.channel_count, Vec::len);
        let counts = [
            (
                "classes, at least",
                self.classes.len().max(2),
                self.classes.len(),
            ),
            (
                "channels, at least",
                self.channel_count.max(1),
                self.channel_count,
            ),
            ("views, at least", self.view_count.max(1), self.view_count),
            ("channel names", self.channel_count, named),
        ];
        let mut counts = counts.into_iter();
        counts.try_for_each(|(what, expected, found)| {
            check_count("model file", what, expected, found)
        })
    }
}
