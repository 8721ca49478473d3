//! The preset `recommended` in the same container; see the [module](super) for its tensors.

use super::read::{Found, Source, inconsistent};
use super::write::Tensors;
use crate::views::{Frame, Link, Person, Rows, ViewsConfig, ViewsModel};
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_data::check_distinct;
use stiefel_geometry::{spd, stiefel};
use stiefel_linalg::MatBatch;

/// A fitted preset without its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewsDescription {
    /// What was decided before fitting.
    pub config: ViewsConfig,
    /// What the data fixed.
    pub sizes: ViewsSizes,
    /// Names of the channels, where known.
    pub channels: Option<Vec<String>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the domains.
    pub domains: Vec<String>,
    /// The labelled trials of each domain.
    pub people: Vec<PersonDescription>,
    /// From scores to probabilities.
    pub link: Link,
    /// How many trials it was fitted on.
    pub trials: usize,
}

/// The labelled trials of one domain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonDescription {
    /// Their classes; none where the domain has no labelled trial.
    pub labels: Vec<usize>,
    /// Whether they calibrated the model, and its mean is made of them.
    pub calibrated: bool,
}

/// The sizes of a fitted preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewsSizes {
    /// Channels, `n`.
    pub channels: usize,
    /// Views, `V`.
    pub views: usize,
}

impl ViewsModel {
    pub(super) fn description(&self) -> ViewsDescription {
        let one = |person: &Option<Person>| {
            person
                .as_ref()
                .map_or_else(PersonDescription::default, |p| PersonDescription {
                    labels: p.rows.labels.clone(),
                    calibrated: p.is_calibrated(),
                })
        };
        ViewsDescription {
            config: self.config.clone(),
            sizes: ViewsSizes {
                channels: self.channels_count(),
                views: self.views(),
            },
            channels: self.channels.clone(),
            classes: self.classes.clone(),
            domains: self.domains.clone(),
            people: self.people.iter().map(one).collect(),
            link: self.link.clone(),
            trials: self.trials,
        }
    }

    pub(super) fn tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        let (_, n, k) = self.anchor.shape();
        let (_, l, p) = self.shared.shape();
        let views = self.views();
        tensors.push("anchor", &[n, k], self.anchor.data());
        tensors.push("typical", &[views, n, n], self.typical.data());
        tensors.push("scale", &[p], &self.scale);
        tensors.push("shared", &[l, p], self.shared.data());
        for (d, person) in self.people.iter().enumerate() {
            let Some(person) = person else { continue };
            let mut push = |name: &str, shape: &[usize], values: &[f64]| {
                tensors.push(&format!("person.{d}.{name}"), shape, values);
            };
            for (v, u) in person.frame.filters.iter().enumerate() {
                push(&format!("frame.{v}"), &[n, u.cols()], u.data());
            }
            push("mean", &[n, n], &person.mean);
            push("centre", &[p], &person.centre);
            push("own", &[l, p], &person.own);
            let m = person.rows.len();
            push("rows", &[m, p], person.rows.z.data());
            push("weights", &[m], &person.rows.weights);
            for (v, x) in person.trials.iter().flatten().enumerate() {
                push(&format!("trials.{v}"), &[m, n, n], x.data());
            }
        }
        tensors
    }
}

/// The model of a description and its tensors.
pub(super) fn assemble(about: ViewsDescription, source: &mut Source) -> Found<ViewsModel> {
    check(&about).map_err(|e| inconsistent(&e))?;
    let (n, views) = (about.sizes.channels, about.sizes.views);
    // Read first: what follows is bounded by numbers that are in the file.
    let typical = source.take_batch("typical", (views, n, n))?;
    spd::check_spd(typical.view()).map_err(|e| inconsistent(&e))?;
    let filters = about.config.filters(views, n);
    let k = filters.iter().copied().max().unwrap_or(0);
    let anchor = source.take_rows("anchor", (n, k))?;
    stiefel::check_orthonormal("model file", anchor.view()).map_err(|e| inconsistent(&e))?;
    let p: usize = filters.iter().map(|&k| spd::upper_len(k)).sum();
    let l = if about.classes.len() == 2 {
        1
    } else {
        about.classes.len()
    };
    let scale: Vec<f64> = source.take("scale", &[p])?;
    let shared = source.take_rows("shared", (l, p))?;
    let mut people = Vec::with_capacity(about.people.len());
    for (d, known) in about.people.iter().enumerate() {
        let sizes = (n, &filters[..], l, p);
        people.push(person(d, known, sizes, source)?);
    }
    source.finish()?;
    Ok(ViewsModel {
        config: about.config,
        anchor,
        typical,
        scale,
        shared,
        link: about.link,
        people,
        classes: about.classes,
        domains: about.domains,
        channels: about.channels,
        trials: about.trials,
    })
}

fn person(
    d: usize,
    known: &PersonDescription,
    (n, filters, l, p): (usize, &[usize], usize, usize),
    source: &mut Source,
) -> Found<Option<Person>> {
    let m = known.labels.len();
    if m == 0 {
        return Ok(None);
    }
    let name = |what: &str| format!("person.{d}.{what}");
    let mut frame = Vec::with_capacity(filters.len());
    for (v, &k) in filters.iter().enumerate() {
        frame.push(source.take_rows(&name(&format!("frame.{v}")), (n, k))?);
    }
    let mean = source.take_rows(&name("mean"), (n, n))?;
    spd::check_spd(mean.view()).map_err(|e| inconsistent(&e))?;
    let centre = source.take(&name("centre"), &[p])?;
    let own = source.take(&name("own"), &[l, p])?;
    let rows = Rows {
        z: source.take_rows(&name("rows"), (m, p))?,
        labels: known.labels.clone(),
        weights: source.take(&name("weights"), &[m])?,
    };
    if let Some(weight) = rows.weights.iter().find(|w| **w <= 0.0) {
        return Err(inconsistent(&format!(
            "a labelled trial of domain {d} weighs {weight}"
        )));
    }
    let mut trials = None;
    if known.calibrated {
        let mut all = Vec::with_capacity(filters.len());
        for v in 0..filters.len() {
            let x = source.take_batch(&name(&format!("trials.{v}")), (m, n, n))?;
            spd::check_spd(x.view()).map_err(|e| inconsistent(&e))?;
            all.push(x);
        }
        trials = Some(all);
    }
    Ok(Some(Person {
        frame: Frame { filters: frame },
        mean: mean.into_vec(),
        centre,
        own,
        rows,
        trials,
    }))
}

impl Source {
    /// A tensor of two dimensions as a batch of one matrix.
    fn take_rows(&mut self, name: &str, (rows, cols): (usize, usize)) -> Found<MatBatch<f64>> {
        let values = self.take(name, &[rows, cols])?;
        MatBatch::from_vec(1, rows, cols, values).map_err(|e| inconsistent(&e))
    }
}

/// What the description must say of itself before a tensor is read.
fn check(about: &ViewsDescription) -> Result<()> {
    let op = "model file";
    about.config.check()?;
    check_distinct("classes", &about.classes)?;
    check_distinct("domains", &about.domains)?;
    check_distinct("channels", about.channels.as_deref().unwrap_or(&[]))?;
    let classes = about.classes.len();
    let named = about
        .channels
        .as_ref()
        .map_or(about.sizes.channels, Vec::len);
    for (what, expected, found) in [
        ("classes, at least", classes.max(2), classes),
        (
            "views, at least",
            about.sizes.views.max(1),
            about.sizes.views,
        ),
        ("channel names", about.sizes.channels, named),
        (
            "lists of labelled trials",
            about.domains.len(),
            about.people.len(),
        ),
    ] {
        if expected != found {
            return Err(ModelError::Count {
                op,
                what,
                expected,
                found,
            });
        }
    }
    for (domain, person) in about.people.iter().enumerate() {
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
    let slopes = &about.link.slopes;
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
