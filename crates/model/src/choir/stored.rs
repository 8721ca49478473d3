//! CHOIR's part of a model file.

use super::config::ChoirConfig;
use super::features::Frame;
use super::link::Link;
use super::model::{Choir, Person};
use super::ridge::{Rows, scores};
use crate::error::check_count;
use crate::file::{Archive, FileProblem, Found, inconsistent};
use crate::kind::Names;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_geometry::spd::upper_len;
use stiefel_linalg::MatBatch;

/// What is not a number of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    settings: ChoirConfig,
    link: Link,
    trial_count: usize,
    people: Vec<PersonHeader>,
}

/// The labelled trials of one domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonHeader {
    /// Their classes; none where the domain has no labelled trial.
    labels: Vec<usize>,
    /// Whether they calibrated the model, and its mean is made of them.
    calibrated: bool,
}

impl Choir {
    pub(super) fn write(&self, file: &mut Archive) -> Found<()> {
        let one = |person: &Option<Person>| match person {
            None => PersonHeader::default(),
            Some(person) => PersonHeader {
                labels: person.rows.labels.clone(),
                calibrated: person.is_calibrated(),
            },
        };
        let mut header = Header {
            settings: self.config.clone(),
            link: self.link.clone(),
            trial_count: self.trial_count,
            people: self.people.iter().map(one).collect(),
        };
        file.text("model", &mut header)?;
        self.clone().numbers(file)
    }

    pub(super) fn read(names: Names, file: &mut Archive) -> Found<Self> {
        let mut header = Header::default();
        file.text("model", &mut header)?;
        header.check(&names).map_err(|e| inconsistent(&e))?;
        let views = names.view_count;
        let person = |of: PersonHeader| {
            let blank = || vec![MatBatch::default(); views];
            let person = Person {
                frame: Frame { filters: blank() },
                mean: Vec::new(),
                centre: Vec::new(),
                own: Vec::new(),
                trials: of.calibrated.then(blank),
                rows: Rows {
                    z: MatBatch::default(),
                    weights: Vec::new(),
                    labels: of.labels,
                },
            };
            (!person.rows.labels.is_empty()).then_some(person)
        };
        // A file may promise any number of views: the first tensor shows that it is honest.
        let mut model = Self {
            names,
            config: header.settings,
            anchor: MatBatch::default(),
            typical: MatBatch::default(),
            scale: Vec::new(),
            shared: MatBatch::default(),
            link: header.link,
            people: Vec::new(),
            trial_count: header.trial_count,
        };
        model.typical(file)?;
        model.people = header.people.into_iter().map(person).collect();
        model.rest(file)?;
        Ok(model)
    }

    fn numbers(&mut self, file: &mut Archive) -> Found<()> {
        self.typical(file)?;
        self.rest(file)
    }

    fn typical(&mut self, file: &mut Archive) -> Found<()> {
        let (views, n) = (self.view_count(), self.channel_count());
        file.batch("typical", (views, n, n), &mut self.typical)?;
        file.check_spd("typical", &self.typical)
    }

    fn rest(&mut self, file: &mut Archive) -> Found<()> {
        let (n, filters) = (self.channel_count(), self.filters());
        let k = filters.iter().copied().max().unwrap_or(0);
        let p: usize = filters.iter().map(|&k| upper_len(k)).sum();
        let l = scores(self.names.classes.len());
        file.matrix("anchor", (n, k), &mut self.anchor)?;
        file.check_orthonormal("anchor", &self.anchor)?;
        file.tensor("scale", &[p], &mut self.scale)?;
        file.matrix("shared", (l, p), &mut self.shared)?;
        for (d, person) in self.people.iter_mut().enumerate() {
            if let Some(person) = person {
                person.numbers(d, (n, &filters, l, p), file)?;
            }
        }
        Ok(())
    }
}

impl Person {
    fn numbers(
        &mut self,
        d: usize,
        (n, filters, l, p): (usize, &[usize], usize, usize),
        file: &mut Archive,
    ) -> Found<()> {
        let m = self.rows.labels.len();
        let name = |what: &str| format!("person.{d}.{what}");
        for ((v, u), &k) in self.frame.filters.iter_mut().enumerate().zip(filters) {
            file.matrix(&name(&format!("frame.{v}")), (n, k), u)?;
        }
        file.tensor(&name("mean"), &[n, n], &mut self.mean)?;
        if file.is_reading() {
            let mean = MatBatch::from_vec(1, n, n, self.mean.clone());
            file.check_spd(&name("mean"), &mean.map_err(|e| inconsistent(&e))?)?;
        }
        file.tensor(&name("centre"), &[p], &mut self.centre)?;
        file.tensor(&name("own"), &[l, p], &mut self.own)?;
        file.matrix(&name("rows"), (m, p), &mut self.rows.z)?;
        file.tensor(&name("weights"), &[m], &mut self.rows.weights)?;
        if let Some(weight) = self.rows.weights.iter().find(|w| **w <= 0.0) {
            return Err(FileProblem::Inconsistent(format!(
                "a labelled trial of domain {d} weighs {weight}"
            )));
        }
        for (v, x) in self.trials.iter_mut().flatten().enumerate() {
            let name = name(&format!("trials.{v}"));
            file.batch(&name, (m, n, n), x)?;
            file.check_spd(&name, x)?;
        }
        Ok(())
    }
}

impl Header {
    /// Checks what the header says before a tensor is read.
    fn check(&self, names: &Names) -> Result<()> {
        let op = "model file";
        self.settings.check()?;
        let (domains, classes) = (names.domains.len(), names.classes.len());
        check_count(op, "lists of labelled trials", domains, self.people.len())?;
        for (domain, person) in self.people.iter().enumerate() {
            if let Some(&index) = person.labels.iter().find(|&&c| c >= classes) {
                return Err(ModelError::IndexOutOfRange {
                    op,
                    what: "class",
                    trial: domain,
                    index,
                    count: classes,
                });
            }
        }
        let slopes = &self.link.slopes;
        let ascending = slopes.windows(2).all(|w| w[0].0 < w[1].0);
        match slopes.iter().find(|(_, a)| !(a.is_finite() && *a > 0.0)) {
            Some((_, slope)) => Err(ModelError::Parameter {
                op,
                name: "a slope of the link",
                value: *slope,
                expected: "a finite number above 0",
            }),
            None if slopes.is_empty() || !ascending => Err(ModelError::Parameter {
                op,
                name: "the number of slopes, by ascending numbers of trials,",
                value: slopes.len() as f64,
                expected: "at least 1",
            }),
            None => Ok(()),
        }
    }
}
