//! A few labelled trials of a person: `δ` as the exact MAP given `w_0`, everything else untouched.
//!
//! A person of the training set keeps frame and centre, and the new rows join theirs. A new person
//! gets the mean and the centre of a newcomer from the labelled trials alone; their covariances are
//! kept, so that more trials give the same as all of them at once.

use super::OP;
use super::features::{Frame, place, shrunk};
use super::fit::weighty;
use super::model::{Choir, Person};
use super::new_person::ViewMeans;
use super::ridge::{Rows, balanced, own};
use crate::kind::Balance;
use crate::{ModelError, Result, Trials};
use stiefel_linalg::{Mat, MatBatch, MatView};

impl Choir {
    /// The same model after labelled trials of one or several domains, whose classes are among its
    /// own. A domain needs two trials of two classes in all.
    pub fn calibrate(&self, trials: &Trials) -> Result<Self> {
        let trials = &weighty(trials)?;
        if trials.is_empty() {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "calibration needs at least two labelled trials of a domain, of two \
                         classes",
            });
        }
        let mut model = self.clone();
        for domain in trials.domains().present() {
            let at = trials.of_domain(domain);
            model.calibrate_one(trials.domains().name(domain), &trials.select(&at)?, &at)?;
        }
        Ok(model)
    }

    fn calibrate_one(&mut self, name: &str, trials: &Trials, at: &[usize]) -> Result<()> {
        let n = self.channel_count();
        let share = self.config.shrinkage;
        let views: Result<Vec<_>> = (trials.matrices().into_iter())
            .map(|x| shrunk(x, n, share, at))
            .collect();
        let views = views?;
        let labels = self.names.class_of_each(trials)?;
        let weights = (trials.weights()).map_or(vec![1.0; at.len()], <[f64]>::to_vec);
        let place_of = self.names.domains.iter().position(|d| d == name);
        let before = place_of.and_then(|d| self.people[d].clone());
        let person = match before {
            Some(person) if person.trials.is_none() => {
                self.with_more(person, &views, labels, weights)?
            }
            Some(Person {
                trials: Some(old),
                rows,
                ..
            }) => {
                let joined: Result<Vec<_>> =
                    (old.iter().zip(&views)).map(|(a, b)| join(a, b)).collect();
                let labels = [rows.labels, labels].concat();
                self.met(name, joined?, labels, [rows.weights, weights].concat())?
            }
            _ => self.met(name, views, labels, weights)?,
        };
        if let Some(d) = place_of {
            self.people[d] = Some(person);
        } else {
            self.names.domains.push(name.to_owned());
            self.people.push(Some(person));
        }
        Ok(())
    }

    /// Counts the labelled trials of each class that the model has of a domain, by number.
    pub fn balance(&self, domain: usize) -> Option<Balance> {
        let labels = &self.person(domain)?.rows.labels;
        let count = |c: usize| labels.iter().filter(|&&l| l == c).count();
        Some(Balance {
            domain: self.names.domains.get(domain)?.clone(),
            counts: (self.names.classes.iter().enumerate())
                .map(|(c, class)| (class.clone(), count(c)))
                .collect(),
        })
    }

    /// A person of the training set with further rows.
    fn with_more(
        &self,
        mut person: Person,
        views: &[MatBatch<f64>],
        labels: Vec<usize>,
        weights: Vec<f64>,
    ) -> Result<Person> {
        let views: Vec<MatView<'_, f64>> = views.iter().map(MatBatch::view).collect();
        let mut z = person.frame.rows(&views)?;
        place(&mut z, &person.centre, &self.scale);
        let rows = &mut person.rows;
        let count = rows.len() + labels.len();
        let data = [rows.z.data(), z.data()].concat();
        rows.z = Mat::new(count, z.cols(), data).into();
        rows.labels.extend(labels);
        rows.weights.extend(weights);
        person.own = own(
            &person.rows,
            &self.shared,
            self.config.own,
            self.names.classes.len(),
        )?;
        Ok(person)
    }

    /// A person of whom these shrunk trials are all there is.
    fn met(
        &self,
        name: &str,
        trials: Vec<MatBatch<f64>>,
        labels: Vec<usize>,
        weights: Vec<f64>,
    ) -> Result<Person> {
        let classes = self.names.classes.len();
        let present = (0..classes).filter(|c| labels.contains(c)).count();
        if present < 2 {
            return Err(ModelError::Impossible {
                op: OP,
                why: format!(
                    "domain \"{name}\" has {} labelled trials, all of {}",
                    labels.len(),
                    labels
                        .first()
                        .map_or("no class", |&l| &self.names.classes[l])
                ),
                remedy: "calibrate with trials of at least two classes, equally many of each if \
                         you can",
            });
        }
        let mut means = ViewMeans::new(&self.typical, self.config.kappa)?;
        means.push_all(&trials)?;
        let mut means = means.means()?;
        let frame = Frame::new(&means, &self.anchor, &self.filters())?;
        let views: Vec<MatView<'_, f64>> = trials.iter().map(MatBatch::view).collect();
        let mut rows = Rows {
            z: frame.rows(&views)?,
            labels,
            weights,
        };
        let none = vec![0.0; rows.z.cols()];
        let centre = labelled_centre(&rows.z, &rows, classes, (&none, 0.0));
        place(&mut rows.z, &centre, &self.scale);
        let own = own(&rows, &self.shared, self.config.own, classes)?;
        Ok(Person {
            frame,
            mean: means.swap_remove(0),
            centre,
            own,
            rows,
            trials: Some(trials),
        })
    }
}

/// `Σ z/(1 + t)` over labelled trials, the classes alike, and unlabelled ones of which the sum is
/// known.
pub(super) fn labelled_centre(
    z: &MatBatch<f64>,
    rows: &Rows,
    classes: usize,
    (sum, count): (&[f64], f64),
) -> Vec<f64> {
    let mut total = sum.to_vec();
    // What a trial weighs in the loss is no matter of how many there are.
    let weights = balanced(&rows.labels, &vec![1.0; rows.len()], classes);
    for (row, w) in z.data().chunks_exact(z.cols()).zip(weights) {
        total.iter_mut().zip(row).for_each(|(t, v)| *t += w * v);
    }
    let trials = 1.0 + count + rows.len() as f64;
    for t in &mut total {
        *t /= trials;
    }
    total
}

fn join(a: &MatBatch<f64>, b: &MatBatch<f64>) -> Result<MatBatch<f64>> {
    let (count, n) = (a.count() + b.count(), a.rows());
    let data = [a.data(), b.data()].concat();
    Ok(MatBatch::from_vec(count, n, n, data)?)
}
