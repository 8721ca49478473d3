//! The preset `recommended` in the same container; see the [module](super) for its tensors.

use super::read::{Found, Source, Whitened, inconsistent, whitener};
use super::write::Tensors;
use crate::pooled::{PooledConfig, PooledModel, RoutedHead};
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_data::check_distinct;
use stiefel_geometry::stiefel;
use stiefel_linalg::MatBatch;

/// A fitted preset without its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledDescription {
    /// What was decided before fitting.
    pub config: PooledConfig,
    /// What the data fixed.
    pub sizes: PooledSizes,
    /// Names of the channels, where known.
    pub channels: Option<Vec<String>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Trials of each domain that whitening was fitted on.
    pub domain_trials: Vec<usize>,
    /// The inverse penalty that was chosen.
    pub c: f64,
    /// Training and validation trials.
    pub trials: (usize, usize),
}

/// The sizes of a fitted preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledSizes {
    /// Channels, `n`.
    pub channels: usize,
    /// Directions kept, `k`.
    pub filters: usize,
}

impl PooledModel {
    pub(super) fn description(&self) -> PooledDescription {
        let domains = 0..self.domains.len();
        PooledDescription {
            config: self.config.clone(),
            sizes: PooledSizes {
                channels: self.anchor.rows(),
                filters: self.anchor.cols(),
            },
            channels: self.channels.clone(),
            classes: self.classes.clone(),
            domains: self.domains.clone(),
            domain_trials: domains.map(|d| self.whitener.trials_of(d)).collect(),
            c: self.head.c,
            trials: self.trials,
        }
    }

    pub(super) fn tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        tensors.push_whitener(0, &self.whitener);
        let (_, n, k) = self.anchor.shape();
        tensors.push("anchor", &[n, k], self.anchor.data());
        let head = &self.head;
        let (_, l, p) = head.shared.shape();
        tensors.push("head.centre", &[p], &head.centre);
        tensors.push("head.shared", &[l, p], head.shared.data());
        tensors.push("head.intercept", &[l], &head.intercept);
        if self.config.head.ratio > 0.0 {
            tensors.push("head.own", &[head.own.count(), l, p], head.own.data());
        }
        tensors
    }
}

/// The model of a description and its tensors.
pub(super) fn assemble(about: PooledDescription, source: &mut Source) -> Found<PooledModel> {
    check(&about).map_err(|e| inconsistent(&e))?;
    let (n, k) = (about.sizes.channels, about.sizes.filters);
    let whitened = Whitened {
        config: about.config.preconditioning,
        n,
        channels: about.channels.as_deref(),
        domains: &about.domains,
        trials: &about.domain_trials,
    };
    let whitener = whitener(&whitened, 0, source)?;
    let anchor = MatBatch::from_vec(1, n, k, source.take("anchor", &[n, k])?)
        .map_err(|e| inconsistent(&e))?;
    stiefel::check_orthonormal("model file", anchor.view()).map_err(|e| inconsistent(&e))?;
    let head = head(&about, source)?;
    source.finish()?;
    Ok(PooledModel {
        config: about.config,
        whitener,
        anchor,
        head,
        classes: about.classes,
        domains: about.domains,
        channels: about.channels,
        trials: about.trials,
    })
}

/// In range: `n × k` numbers have been read, and k is at most n.
fn head(about: &PooledDescription, source: &mut Source) -> Found<RoutedHead> {
    let (k, classes) = (about.sizes.filters, about.classes.len());
    let (p, l) = (k * (k + 1) / 2, if classes == 2 { 1 } else { classes });
    let batch = |count, values: Vec<f64>| {
        MatBatch::from_vec(count, l, p, values).map_err(|e| inconsistent(&e))
    };
    let centre = source.take("head.centre", &[p])?;
    let shared = batch(1, source.take("head.shared", &[l, p])?)?;
    let intercept = source.take("head.intercept", &[l])?;
    let trials = &about.domain_trials;
    let (mut rows, mut own) = (vec![None; trials.len()], Vec::new());
    let mut count = 0;
    if about.config.head.ratio > 0.0 {
        for (row, _) in rows.iter_mut().zip(trials).filter(|r| *r.1 > 0) {
            *row = Some(count);
            count += 1;
        }
        own = source.take("head.own", &[count, l, p])?;
    }
    Ok(RoutedHead {
        classes,
        c: about.c,
        centre,
        shared,
        own: batch(count, own)?,
        rows,
        intercept,
    })
}

/// What the description must say of itself before a tensor is read.
fn check(about: &PooledDescription) -> Result<()> {
    let op = "model file";
    about.config.check()?;
    check_distinct("classes", &about.classes)?;
    check_distinct("channels", about.channels.as_deref().unwrap_or(&[]))?;
    let PooledSizes { channels, filters } = about.sizes;
    for (what, expected, found) in [
        (
            "classes, at least",
            about.classes.len().max(2),
            about.classes.len(),
        ),
        ("filters", about.config.filters.min(channels), filters),
        (
            "numbers of trials",
            about.domains.len(),
            about.domain_trials.len(),
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
    if about.c.is_finite() && about.c > 0.0 {
        return Ok(());
    }
    Err(ModelError::Parameter {
        op,
        name: "C",
        value: about.c,
        expected: "a finite number above 0",
    })
}
