//! A fitted [`Whitener`] as plain vectors, for the model file.

use super::frame::Frame;
use super::whitener::Pooled;
use super::{OP, Preconditioning, Whitener};
use crate::file::{Archive, Found};
use crate::names::Names;
use crate::{ModelError, Result};
use serde::{Deserialize, Serialize};
use stiefel_data::check_distinct;

/// Everything a [`Whitener`] knows; matrices are row-major, one after the other, domains without training trials left out.
///
/// The whitening matrices are stored besides the means they come from, so that a model gives the same bits on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhitenerState {
    /// The configuration it was fitted with.
    pub(crate) config: Preconditioning,
    /// Channels.
    pub(crate) n: usize,
    /// Names of the channels, where known.
    pub(crate) channels: Option<Vec<String>>,
    /// Names of all domains.
    pub(crate) domains: Vec<String>,
    /// Training trials of each domain; 0 for an unseen one.
    pub(crate) trials: Vec<usize>,
    /// Means of the domains with trials.
    pub(crate) means: Vec<f64>,
    /// Whitening matrices of the domains with trials.
    pub(crate) whitening: Vec<f64>,
    /// Scales of the domains with trials.
    pub(crate) betas: Vec<f64>,
    /// The pooled mean.
    pub(crate) pooled_mean: Vec<f64>,
    /// The pooled whitening matrix.
    pub(crate) pooled_whitening: Vec<f64>,
    /// Mean of `tr Y` over the training trials whitened by the pooled mean.
    pub(crate) pooled_trace: f64,
    /// Mean of `‖Y‖²` over them.
    pub(crate) pooled_square: f64,
}

impl Whitener {
    /// The fitted state, to be written.
    pub fn state(&self) -> WhitenerState {
        let known = || self.known.iter().flatten();
        let concat = |f: fn(&Frame) -> &[f64]| known().flat_map(|k| f(&k.0)).copied().collect();
        WhitenerState {
            config: self.config,
            n: self.n,
            channels: self.channels.clone(),
            domains: self.domains.clone(),
            trials: (0..self.domains.len()).map(|d| self.trials_of(d)).collect(),
            means: concat(|f| &f.mean),
            whitening: concat(|f| &f.z),
            betas: known().map(|k| k.0.beta).collect(),
            pooled_mean: self.pooled.frame.mean.clone(),
            pooled_whitening: self.pooled.frame.z.clone(),
            pooled_trace: self.pooled.trace,
            pooled_square: self.pooled.square,
        }
    }

    /// A whitener from its state, as read; an error where the sizes or the values cannot be right.
    pub fn from_state(state: &WhitenerState) -> Result<Self> {
        state.check()?;
        let size = state.n * state.n;
        let mut frames = (state.means.chunks_exact(size))
            .zip(state.whitening.chunks_exact(size))
            .zip(&state.betas)
            .map(|((mean, z), &beta)| Frame {
                mean: mean.to_vec(),
                z: z.to_vec(),
                beta,
            });
        let known = (state.trials.iter())
            .map(|&t| {
                if t == 0 {
                    None
                } else {
                    frames.next().map(|f| (f, t))
                }
            })
            .collect();
        Ok(Self {
            config: state.config,
            n: state.n,
            channels: state.channels.clone(),
            domains: state.domains.clone(),
            known,
            pooled: Pooled {
                frame: Frame {
                    mean: state.pooled_mean.clone(),
                    z: state.pooled_whitening.clone(),
                    beta: state.pooled_trace / state.pooled_square,
                },
                trace: state.pooled_trace,
                square: state.pooled_square,
            },
        })
    }
}

impl WhitenerState {
    /// Returns a state whose numbers are still to be read.
    pub(crate) fn blank(config: &Preconditioning, names: &Names, trials: &[usize]) -> Result<Self> {
        config.check()?;
        Ok(Self {
            config: *config,
            n: names.channel_count,
            channels: names.channels.clone(),
            domains: names.domains.clone(),
            trials: trials.to_vec(),
            means: Vec::new(),
            whitening: Vec::new(),
            betas: Vec::new(),
            pooled_mean: Vec::new(),
            pooled_whitening: Vec::new(),
            pooled_trace: 0.0,
            pooled_square: 0.0,
        })
    }

    /// Writes or reads the numbers of a view's whitening.
    pub(crate) fn numbers(&mut self, view: usize, file: &mut Archive) -> Found<()> {
        let (n, known) = (self.n, self.trials.iter().filter(|t| **t > 0).count());
        let name = |of: &str| format!("whitener.{view}.{of}");
        file.tensor(&name("means"), &[known, n, n], &mut self.means)?;
        file.tensor(&name("matrices"), &[known, n, n], &mut self.whitening)?;
        file.tensor(&name("scales"), &[known], &mut self.betas)?;
        file.tensor(&name("pooled.mean"), &[n, n], &mut self.pooled_mean)?;
        file.tensor(&name("pooled.matrix"), &[n, n], &mut self.pooled_whitening)?;
        let mut moments = vec![self.pooled_trace, self.pooled_square];
        file.tensor(&name("pooled.moments"), &[2], &mut moments)?;
        (self.pooled_trace, self.pooled_square) = (moments[0], moments[1]);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.config.check()?;
        check_distinct("domains", &self.domains)?;
        let known = self.trials.iter().filter(|&&t| t > 0).count();
        // A file may claim any size: products that overflow fit no vector.
        let size = self.n.saturating_mul(self.n);
        let lengths = [
            ("channels, at least", self.n.max(1), self.n),
            ("domains", self.domains.len(), self.trials.len()),
            ("domains with trials, at least", known.max(1), known),
            (
                "values of means",
                known.saturating_mul(size),
                self.means.len(),
            ),
            (
                "values of whitening matrices",
                known.saturating_mul(size),
                self.whitening.len(),
            ),
            ("scales", known, self.betas.len()),
            ("values of the pooled mean", size, self.pooled_mean.len()),
            (
                "values of the pooled whitening matrix",
                size,
                self.pooled_whitening.len(),
            ),
            (
                "channel names",
                self.n,
                self.channels.as_ref().map_or(self.n, Vec::len),
            ),
        ];
        for (what, expected, found) in lengths {
            if expected != found {
                return Err(ModelError::Count {
                    op: "stored pre-conditioning",
                    what,
                    expected,
                    found,
                });
            }
        }
        let scales = [self.pooled_trace, self.pooled_square];
        let values = [
            &self.means,
            &self.whitening,
            &self.pooled_mean,
            &self.pooled_whitening,
        ];
        let bad_value = values.into_iter().flatten().find(|v| !v.is_finite());
        let bad_scale = (scales.iter().chain(&self.betas)).find(|v| !(v.is_finite() && **v > 0.0));
        match bad_value.or(bad_scale) {
            None => Ok(()),
            Some(&value) => Err(ModelError::Parameter {
                op: OP,
                name: "a stored value",
                value,
                expected: "a finite number, positive where it is a scale (is the model file damaged?)",
            }),
        }
    }
}
