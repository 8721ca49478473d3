//! Fitting: means, frames and scales of the training trials.

use super::config::Scaling;
use super::frame::{Frame, WhitenScratch, scale_of, trace_and_square};
use super::reference::mean;
use super::whitener::{Pooled, Whitener};
use super::{OP, Preconditioning};
use crate::{ModelError, Result, Trials};
use stiefel_linalg::MatBatch;

impl Preconditioning {
    /// Fits on training trials, and on nothing else.
    ///
    /// Every domain with at least one trial gets its own frame; the other names of the list are
    /// unseen domains.
    pub fn fit(&self, training: &Trials) -> Result<Whitener> {
        self.check()?;
        if training.is_empty() {
            return Err(ModelError::Empty {
                op: OP,
                remedy: "fit on at least one training trial",
            });
        }
        let n = training.channels_count();
        let mut loaded = training.covariances().clone();
        for i in 0..loaded.count() {
            self.tikhonov.load(loaded.matrix_mut(i), n);
        }
        let names = training.domains().names();
        let members = members(training);
        let mut known = Vec::with_capacity(names.len());
        let mut means = Vec::new();
        for (d, trials) in members.iter().enumerate() {
            if trials.is_empty() {
                known.push(None);
                continue;
            }
            let frame =
                self.fit_domain(&format!("domain {d} (\"{}\")", names[d]), &loaded, trials)?;
            means.extend_from_slice(&frame.mean);
            known.push(Some((frame, trials.len())));
        }
        let means = MatBatch::from_vec(means.len() / (n * n), n, n, means)?;
        Ok(Whitener {
            config: *self,
            n,
            channels: training.channels().map(<[String]>::to_vec),
            domains: names.to_vec(),
            known,
            pooled: self.fit_pooled(&means, &loaded)?,
        })
    }

    /// Mean, whitening matrix and scale of one domain; `loaded` has the loading already.
    fn fit_domain(&self, of: &str, loaded: &MatBatch<f64>, trials: &[usize]) -> Result<Frame> {
        let own = loaded.select(trials);
        let mut frame = self.frame_of(of, &own)?;
        if self.scaling == Scaling::PerDomain {
            let (trace, square) = mean_trace_and_square(&frame, &own)?;
            frame.beta = scale_of(trials[0], trace, square)?;
        }
        Ok(frame)
    }

    /// The mean of the domains' means, and how training trials look through it.
    fn fit_pooled(&self, means: &MatBatch<f64>, loaded: &MatBatch<f64>) -> Result<Pooled> {
        let mut frame = self.frame_of("all training domains", means)?;
        let (trace, square) = mean_trace_and_square(&frame, loaded)?;
        frame.beta = scale_of(0, trace, square)?;
        Ok(Pooled {
            frame,
            trace,
            square,
        })
    }

    fn frame_of(&self, of: &str, x: &MatBatch<f64>) -> Result<Frame> {
        let named = |error| match error {
            ModelError::Geometry(source) => ModelError::Reference {
                of: of.to_owned(),
                source,
            },
            other => other,
        };
        let mean = mean(self.reference, x).map_err(named)?;
        Frame::from_mean(mean, x.rows(), self.whitening)
            .map_err(ModelError::Geometry)
            .map_err(named)
    }
}

/// The trials of each domain.
fn members(trials: &Trials) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); trials.domains().names().len()];
    for (i, &d) in trials.domains().indices().iter().enumerate() {
        members[d].push(i);
    }
    members
}

/// Means of `tr Y` and `‖Y‖²` over loaded matrices whitened by a frame.
fn mean_trace_and_square(frame: &Frame, loaded: &MatBatch<f64>) -> Result<(f64, f64)> {
    let (count, n, _) = loaded.shape();
    let mut y = vec![0.0; n * n];
    let mut scratch = WhitenScratch::default();
    let mut sums = (0.0, 0.0);
    for i in 0..count {
        let x = loaded.matrix(i);
        frame.whiten_into(super::Tikhonov::None, n, x, &mut y, &mut scratch)?;
        let (trace, square) = trace_and_square(&y, n);
        sums = (sums.0 + trace, sums.1 + square);
    }
    Ok((sums.0 / count as f64, sums.1 / count as f64))
}
