//! A fitted [`Whitener`] in a model file, and its check.

use super::frame::Frame;
use super::whitener::Pooled;
use super::{OP, Preconditioning, Whitener};
use crate::error::check_count;
use crate::file::{Archive, Found, inconsistent};
use crate::names::Names;
use crate::{ModelError, Result};
use stiefel_data::check_distinct;

impl Whitener {
    /// Reads a whitener that was written as JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        let read: Self = serde_json::from_str(text).map_err(|error| ModelError::Impossible {
            op: "stored pre-conditioning",
            why: error.to_string(),
            remedy: "fit again",
        })?;
        read.check()?;
        Ok(read)
    }

    /// Reads the whitening of a view from a file: domains without training trials are left out.
    pub(crate) fn read(
        config: &Preconditioning,
        names: &Names,
        trials: &[usize],
        view: usize,
        file: &mut Archive,
    ) -> Found<Self> {
        config.check().map_err(|e| inconsistent(&e))?;
        let known = |&t: &usize| (t > 0).then(|| (Frame::default(), t));
        let mut blank = Self {
            config: *config,
            n: names.channel_count,
            channels: names.channels.clone(),
            domains: names.domains.clone(),
            known: trials.iter().map(known).collect(),
            pooled: Pooled::default(),
        };
        blank.numbers(view, file)?;
        blank.check().map_err(|e| inconsistent(&e))?;
        Ok(blank)
    }

    /// Writes or reads the numbers of a view's whitening. The matrices are stored besides the means
    /// they come from, so that a model gives the same bits on every machine.
    pub(crate) fn numbers(&mut self, view: usize, file: &mut Archive) -> Found<()> {
        let n = self.n;
        let mut frames: Vec<&mut Frame> = (self.known.iter_mut().flatten())
            .map(|k| &mut k.0)
            .collect();
        let count = frames.len();
        let mut means: Vec<f64> = frames.iter().flat_map(|f| &f.mean).copied().collect();
        let mut matrices: Vec<f64> = frames.iter().flat_map(|f| &f.z).copied().collect();
        let mut scales: Vec<f64> = frames.iter().map(|f| f.beta).collect();
        let name = |of: &str| format!("whitener.{view}.{of}");
        file.tensor(&name("means"), &[count, n, n], &mut means)?;
        file.tensor(&name("matrices"), &[count, n, n], &mut matrices)?;
        file.tensor(&name("scales"), &[count], &mut scales)?;
        let size = n.saturating_mul(n).max(1);
        let each = means
            .chunks_exact(size)
            .zip(matrices.chunks_exact(size))
            .zip(scales);
        for (frame, ((mean, z), beta)) in frames.iter_mut().zip(each) {
            (frame.mean, frame.z, frame.beta) = (mean.to_vec(), z.to_vec(), beta);
        }
        let Pooled {
            frame,
            trace,
            square,
        } = &mut self.pooled;
        file.tensor(&name("pooled.mean"), &[n, n], &mut frame.mean)?;
        file.tensor(&name("pooled.matrix"), &[n, n], &mut frame.z)?;
        let mut moments = vec![*trace, *square];
        file.tensor(&name("pooled.moments"), &[2], &mut moments)?;
        (*trace, *square) = (moments[0], moments[1]);
        frame.beta = *trace / *square;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.config.check()?;
        check_distinct("domains", &self.domains)?;
        let n = self.n;
        // A file may claim any size: products that overflow fit no vector.
        let size = n.saturating_mul(n);
        let known = || self.known.iter().flatten();
        let frames = || known().map(|k| &k.0).chain([&self.pooled.frame]);
        let lengths = frames().flat_map(|f| [f.mean.len(), f.z.len()]);
        let channels = self.channels.as_ref().map_or(n, Vec::len);
        for (what, expected, found) in [
            ("channels, at least", n.max(1), n),
            ("domains", self.domains.len(), self.known.len()),
            ("domains with trials, at least", 1, known().count().min(1)),
            ("channel names", n, channels),
        ]
        .into_iter()
        .chain(lengths.map(|len| ("values of a mean or a whitening matrix", size, len)))
        {
            check_count("stored pre-conditioning", what, expected, found)?;
        }
        let mut values = frames().flat_map(|f| f.mean.iter().chain(&f.z));
        let bad_value = values.find(|v| !v.is_finite());
        let scales = [&self.pooled.trace, &self.pooled.square];
        let mut scales = scales.into_iter().chain(known().map(|k| &k.0.beta));
        let bad_scale = scales.find(|v| !(v.is_finite() && **v > 0.0));
        match bad_value.or(bad_scale) {
            None => Ok(()),
            Some(&value) => Err(ModelError::Parameter {
                op: OP,
                name: "a stored value",
                value,
                expected: "a finite number, positive where it is a scale (is the model file \
                           damaged?)",
            }),
        }
    }
}
