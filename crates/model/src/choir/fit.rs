//! From labelled trials to CHOIR.

use super::OP;
use super::config::ChoirConfig;
use super::features::{Frame, centre, check, mean, place, scaled, shrunk_at};
use super::link::Link;
use super::model::{Choir, Person};
use super::ridge::{Rows, Shared, balanced, own};
use crate::anchor::{Differences, first_columns};
use crate::kind::Names;
use crate::{ModelError, Result, Trials};
use stiefel_geometry::spd::{SpectralFn, spectral_map};
use stiefel_linalg::{MatBatch, MatRef};

/// One person's training trials on the way: where they are, and what is made of them. The shrunk
/// matrices are made again where they are needed, person by person and view by view: to keep them
/// all would cost more than to make them.
struct Gathered {
    domain: usize,
    at: Vec<usize>,
    means: Vec<Vec<f64>>,
    labels: Vec<usize>,
    weights: Vec<f64>,
}

impl Choir {
    /// Fits on labelled trials of one or several people. Exact and without a seed; trials of weight
    /// 0 are left out.
    pub fn fit(training: &Trials, config: &ChoirConfig) -> Result<Self> {
        Self::fit_while(training, config, &|| true)
    }

    /// Fits as [`fit`](Self::fit) does, and asks `go_on` between its steps: `false` ends it with
    /// [`ModelError::Cancelled`].
    pub fn fit_while(
        training: &Trials,
        config: &ChoirConfig,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Self> {
        config.check()?;
        let training = &weighty(training)?;
        let classes = training.classes().names().len();
        if classes < 2 {
            return Err(ModelError::Parameter {
                op: OP,
                name: "the number of classes",
                value: classes as f64,
                expected: "at least 2",
            });
        }
        crate::prepared::check_classes(training)?;
        let asked = || {
            if go_on() {
                Ok(())
            } else {
                Err(ModelError::Cancelled { op: OP })
            }
        };
        let n = training.channels_count();
        let mut gathered = Vec::new();
        for domain in training.domains().present() {
            asked()?;
            gathered.push(gather(training, domain, config.shrinkage)?);
        }
        let k = config.filters(training.views(), n);
        let anchor = anchor(
            training,
            &gathered,
            k.iter().copied().max().unwrap_or(1),
            config.shrinkage,
            &asked,
        )?;
        let typical = typical(&gathered, n);
        let mut framed = Vec::with_capacity(gathered.len());
        for person in &gathered {
            asked()?;
            let frame = Frame::new(&person.means, &anchor, &k)?;
            let mut z = frame.rows_of(person.at.len(), |v| {
                shrunk_at(training.view(v), &person.at, config.shrinkage)
            })?;
            let weights = balanced(&person.labels, &person.weights, classes);
            let centre = centre(&z, &weights);
            let unscaled = vec![1.0; z.cols()];
            place(&mut z, &centre, &unscaled);
            framed.push((frame, centre, z));
        }
        let scale = scales(&framed, config);
        let people: Vec<(Frame, Vec<f64>, Rows)> = (framed.into_iter().zip(&gathered))
            .map(|((frame, centre, mut z), person)| {
                place(&mut z, &vec![0.0; scale.len()], &scale);
                let rows = Rows {
                    z,
                    labels: person.labels.clone(),
                    weights: person.weights.clone(),
                };
                (frame, centre, rows)
            })
            .collect();
        asked()?;
        let rows: Vec<&Rows> = people.iter().map(|(_, _, rows)| rows).collect();
        let fitted = Shared::fit(&rows, config.shared, classes)?;
        asked()?;
        let link = Link::fit(&fitted, &rows, config.own, classes)?;
        let shared = fitted.weights;
        let mut all = vec![None; training.domains().names().len()];
        for ((frame, centre, rows), person) in people.into_iter().zip(&gathered) {
            let own = own(&rows, &shared, config.own, classes)?;
            all[person.domain] = Some(Person {
                frame,
                mean: person.means[0].clone(),
                centre,
                own,
                rows,
                trials: None,
            });
        }
        Ok(Self {
            config: config.clone(),
            anchor,
            typical,
            scale,
            shared,
            link,
            people: all,
            names: Names::from_trials(training),
            trial_count: training.len(),
        })
    }
}

/// Trials that count for something.
pub(super) fn weighty(trials: &Trials) -> Result<Trials> {
    let Some(weights) = trials.weights() else {
        return Ok(trials.clone());
    };
    let at: Vec<usize> = (0..trials.len()).filter(|&i| weights[i] > 0.0).collect();
    Ok(trials.select(&at)?)
}

fn gather(training: &Trials, domain: usize, shrinkage: f64) -> Result<Gathered> {
    let at = training.of_domain(domain);
    let n = training.channels_count();
    let mut means = Vec::with_capacity(training.views());
    for v in 0..training.views() {
        let x = training.view(v);
        for &i in &at {
            check(x.matrix(i), n, i)?;
        }
        means.push(mean(&shrunk_at(x, &at, shrinkage)));
    }
    let (classes, weights) = (training.classes().indices(), training.weights());
    Ok(Gathered {
        domain,
        means,
        labels: at.iter().map(|&i| classes[i]).collect(),
        weights: weights.map_or(vec![1.0; at.len()], |w| at.iter().map(|&i| w[i]).collect()),
        at,
    })
}

/// The directions in which the classes differ within people, in the broad view, each person
/// whitened by their mean.
fn anchor(
    training: &Trials,
    people: &[Gathered],
    k: usize,
    shrinkage: f64,
    asked: &dyn Fn() -> Result<()>,
) -> Result<MatBatch<f64>> {
    let n = training.channels_count();
    let labels = people.iter().flat_map(|person| &person.labels);
    let classes = labels.max().map_or(0, |class| class + 1);
    let mut differences = Differences::new(n, classes);
    for person in people {
        asked()?;
        let mean = MatRef::new(n, n, &person.means[0]).view();
        let root =
            spectral_map(SpectralFn::InvSqrt, mean).map_err(|source| ModelError::Reference {
                of: format!("domain \"{}\"", training.domains().name(person.domain)),
                source,
            })?;
        let x = shrunk_at(training.covariances(), &person.at, shrinkage);
        let x = scaled(root.value.view(), x.view())?;
        let trials = person.labels.iter().enumerate();
        differences.add_domain(trials.map(|(i, &class)| (x.matrix(i), class)))?;
    }
    Ok(first_columns(&differences.basis()?, k))
}

/// `M̄_v`: the mean of `M_v/tr M_v`, every person once.
fn typical(people: &[Gathered], n: usize) -> MatBatch<f64> {
    let views = people.first().map_or(0, |p| p.means.len());
    let mut all = MatBatch::zeros(views, n, n);
    for person in people {
        for (v, mean) in person.means.iter().enumerate() {
            let trace: f64 = mean.iter().step_by(n + 1).sum();
            let out = all.matrix_mut(v).iter_mut();
            out.zip(mean)
                .for_each(|(o, m)| *o += m / (trace * people.len() as f64));
        }
    }
    all
}

/// `√(ω_v/(Σω·mean‖z_v‖²))`, once per feature; a view whose features are all zero says nothing and
/// gets 0.
fn scales(people: &[(Frame, Vec<f64>, MatBatch<f64>)], config: &ChoirConfig) -> Vec<f64> {
    let lengths = people
        .first()
        .map_or(Vec::new(), |(frame, ..)| frame.lengths());
    let weights: f64 = (0..lengths.len()).map(|v| config.weight_of(v)).sum();
    let count: usize = people.iter().map(|(_, _, z)| z.rows()).sum();
    let (mut scale, mut from) = (Vec::new(), 0);
    for (v, length) in lengths.into_iter().enumerate() {
        let rows = (people.iter()).flat_map(|(_, _, z)| z.data().chunks_exact(z.cols()));
        let squares = rows.flat_map(|row| &row[from..from + length]);
        let level = squares.map(|x| x * x).sum::<f64>() / count as f64;
        let one = if level > 0.0 {
            (config.weight_of(v) / (weights * level)).sqrt()
        } else {
            0.0
        };
        scale.extend(vec![one; length]);
        from += length;
    }
    scale
}
