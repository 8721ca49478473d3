//! One raw trial after the other, in buffers that are used again: nothing is allocated after the
//! first.
//!
//! ```text
//! X_v ─▶ shrunk ─▶ z ─▶ s = (w_0 + δ)·z ─▶ P = softmax(a·s)
//!                  └──▶ c_v = a·(w_0 + δ)_v·z_v, of the class that is decided against the others
//! ```
//!
//! The contributions `c_v` of two classes add up to the log-odds of the one that is decided; of
//! more, to its score above the mean of the others', times the slope.

use super::OP;
use super::features::{Frame, RowScratch, shrink};
use super::link::Link;
use super::model::Choir;
use crate::Result;
use crate::error::check_count;
use crate::precondition::{check_single, scale_of};
use std::ops::Range;
use stiefel_linalg::argmax;
use stiefel_linalg::sums::dot;

/// Buffers, and what was decided last.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The views of the trial, shrunk, `V × n × n`.
    pub(super) shrunk: Vec<f64>,
    pub(super) z: Vec<f64>,
    scores: Vec<f64>,
    pub(crate) probabilities: Vec<f64>,
    pub(crate) contributions: Vec<f64>,
    ranges: Vec<Range<usize>>,
    rows: RowScratch,
}

impl Workspace {
    pub(crate) fn new(model: &Choir) -> Self {
        let (views, n) = (model.view_count(), model.channel_count());
        Self {
            shrunk: vec![0.0; views * n * n],
            z: vec![0.0; model.scale.len()],
            scores: vec![0.0; model.shared.rows()],
            probabilities: vec![0.0; model.names.classes.len()],
            contributions: vec![0.0; views],
            ranges: model.ranges(),
            rows: RowScratch::default(),
        }
    }

    /// Checks the covariances of a raw trial and shrinks them.
    pub(super) fn take(&mut self, model: &Choir, trial: &[f64]) -> Result<()> {
        let n = model.channel_count();
        check_count(
            OP,
            "values of the covariances of a trial",
            self.shrunk.len(),
            trial.len(),
        )?;
        let views = trial.chunks_exact(n * n);
        for (x, out) in views.zip(self.shrunk.chunks_exact_mut(n * n)) {
            check_single(n, x, 0)?;
            let trace = x.iter().step_by(n + 1).sum();
            scale_of(0, trace, dot(x, x))?;
            out.copy_from_slice(x);
            shrink(out, n, model.config.shrinkage);
        }
        Ok(())
    }

    /// The features of the trial that was taken.
    pub(super) fn read(&mut self, model: &Choir, frame: &Frame, centre: &[f64]) -> Result<()> {
        let size = model.channel_count().pow(2);
        let shrunk = &self.shrunk;
        let matrix = |v: usize, _: usize| &shrunk[v * size..][..size];
        frame.rows_into(1, matrix, &mut self.z, &mut self.rows)?;
        for ((z, c), s) in self.z.iter_mut().zip(centre).zip(&model.scale) {
            *z = (*z - c) * s;
        }
        Ok(())
    }

    /// Decides the trial that was taken.
    pub(super) fn decide(
        &mut self,
        model: &Choir,
        frame: &Frame,
        centre: &[f64],
        (own, labels): (Option<&[f64]>, usize),
    ) -> Result<()> {
        self.read(model, frame, centre)?;
        model.scores_into(&self.z, own, &mut self.scores);
        let slope = model.link.slope(if own.is_some() { labels } else { 0 });
        Link::probabilities_into(&self.scores, slope, &mut self.probabilities);
        self.contribute(model, own, slope);
        Ok(())
    }

    fn contribute(&mut self, model: &Choir, own: Option<&[f64]>, slope: f64) {
        let (class, p) = (argmax(&self.probabilities), self.z.len());
        let (shared, lines) = (model.shared.data(), self.scores.len());
        for (out, range) in self.contributions.iter_mut().zip(&self.ranges) {
            let score = |line: usize| -> f64 {
                let at = line * p + range.start..line * p + range.end;
                let part = |w: &[f64]| -> f64 {
                    let each = w[at.clone()].iter().zip(&self.z[range.clone()]);
                    each.map(|(w, z)| w * z).sum()
                };
                part(shared) + own.map_or(0.0, part)
            };
            *out = slope
                * match (lines, class) {
                    (1, 0) => -score(0),
                    (1, _) => score(0),
                    (_, class) => {
                        let others = (0..lines).filter(|l| *l != class).map(score);
                        score(class) - others.sum::<f64>() / (lines - 1) as f64
                    }
                };
        }
    }
}
