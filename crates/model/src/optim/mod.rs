//! Adam on a product of manifolds (Kingma & Ba 2015; Bécigneul & Ganea 2019 for the Riemannian
//! form).
//!
//! Per parameter, with gradient `g` (on St(n,k) projected to the tangent space first):
//!
//! ```text
//! m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²,   s = m̂/(√v̂ + ε)   with m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ)
//! Euclidean   x ← x − ηs
//! Stiefel     W ← qf(W − η P_W(s)),  m ← P_W(m)       P_W(Z) = Z − W sym(WᵀZ)
//! ```
//!
//! On the Stiefel manifold the second moment is kept entry by entry, as in the Euclidean case, and
//! the scaled direction is projected back to the tangent space; the first moment is carried to the
//! new point by projection. No weight decay.

use crate::{Manifold, ModelError, Parameter, Parameters, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiefel_autodiff::{AdamRates, adam_flat, adam_tall};
use stiefel_data::settings;
use stiefel_linalg::{MatBatch, MatView, MatViewMut, Scalar, on_threads, threads_for};

/// Adam's constants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdamConfig {
    /// Step size η.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub learning_rate: f64,
    /// β₁, the share that is kept of the first moment.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub beta1: f64,
    /// β₂, the share that is kept of the second moment.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub beta2: f64,
    /// ε, added to the root of the second moment.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub epsilon: f64,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            learning_rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }
}

impl AdamConfig {
    /// Checks every constant against its range.
    pub fn check(&self) -> Result<()> {
        Ok(settings::check("Adam", self)?)
    }

    /// One step of points on the Stiefel manifold, `count × n × k`, with their moments, all where
    /// they lie; `steps` were taken before. For optimisers that keep their state elsewhere:
    /// [`Adam`] moves its points by the same function.
    ///
    /// ```
    /// use stiefel_linalg::MatBatch;
    /// use stiefel_model::AdamConfig;
    ///
    /// let mut w = MatBatch::from_vec(1, 2, 1, vec![1.0_f64, 0.0])?;
    /// let g = MatBatch::from_vec(1, 2, 1, vec![5.0, -1.0])?;
    /// let (mut first, mut second) = (MatBatch::zeros(1, 2, 1), MatBatch::zeros(1, 2, 1));
    /// AdamConfig::default().move_points(
    ///     &mut w.view_mut(),
    ///     g.view(),
    ///     &mut first.view_mut(),
    ///     &mut second.view_mut(),
    ///     0,
    /// )?;
    /// assert!(w.data()[1] > 0.0 && (w.data()[0].hypot(w.data()[1]) - 1.0_f64).abs() < 1e-15);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// Shapes that differ; a gradient that is not finite. Nothing has moved then.
    pub fn move_points<T: Scalar>(
        &self,
        point: &mut MatViewMut<'_, T>,
        g: MatView<'_, T>,
        first: &mut MatViewMut<'_, T>,
        second: &mut MatViewMut<'_, T>,
        steps: u64,
    ) -> Result<()> {
        let shape = point.shape();
        if [g.shape(), first.shape(), second.shape()] != [shape; 3] {
            return Err(ModelError::Impossible {
                op: "Adam",
                why: "a point, its gradient and its moments have different shapes".into(),
                remedy: "give moments and a gradient of the shape of the point",
            });
        }
        g.check_finite("Adam")?;
        let rates = self.rates(steps + 1);
        let (count, n, k) = shape;
        // Eight products; every point moves by itself.
        let threads = threads_for(8 * count * n * k * k).min(count);
        if threads < 2 {
            return Ok(adam_tall(&rates, point, g, (first, second))?);
        }
        let part = count.div_ceil(threads);
        let size = part * n * k;
        let moments = (first.data().chunks_mut(size)).zip(second.data().chunks_mut(size));
        let parts = (point.data().chunks_mut(size)).zip(g.data().chunks(size));
        let parts: Vec<_> = parts.zip(moments).collect();
        let done = on_threads(parts, |((point, g), (first, second))| {
            let count = g.len() / (n * k);
            let view = |x| MatViewMut::new(count, n, k, x);
            let (mut first, mut second) = (view(first)?, view(second)?);
            let g = MatView::new(count, n, k, g)?;
            let moments = (&mut first, &mut second);
            Ok(adam_tall(&rates, &mut view(point)?, g, moments)?)
        });
        // The first error in the order of the points.
        done.into_iter().collect()
    }

    /// One step of numbers of a Euclidean space, with their moments, all where they lie; `steps`
    /// were taken before. A gradient that is not finite makes the numbers so, as in other
    /// optimisers.
    ///
    /// ```
    /// use stiefel_model::AdamConfig;
    ///
    /// let (mut x, mut first, mut second) = ([1.0_f64], [0.0], [0.0]);
    /// AdamConfig::default().move_flat(&mut x, &[5.0], &mut first, &mut second, 0)?;
    /// assert!((x[0] - 0.99).abs() < 1e-10);
    /// # Ok::<(), stiefel_model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// Lengths that differ.
    pub fn move_flat<T: Scalar>(
        &self,
        x: &mut [T],
        g: &[T],
        first: &mut [T],
        second: &mut [T],
        steps: u64,
    ) -> Result<()> {
        if [g.len(), first.len(), second.len()] != [x.len(); 3] {
            return Err(ModelError::Impossible {
                op: "Adam",
                why: "numbers, their gradient and their moments have different lengths".into(),
                remedy: "give moments and a gradient of the shape of the parameter",
            });
        }
        Ok(adam_flat(&self.rates(steps + 1), x, g, (first, second))?)
    }

    /// The constants of the step that makes it `steps`.
    fn rates<T: Scalar>(&self, steps: u64) -> AdamRates<T> {
        let steps = i32::try_from(steps).unwrap_or(i32::MAX);
        let Self { beta1, beta2, .. } = *self;
        AdamRates {
            keep: [beta1, beta2].map(T::from_f64),
            take: [1.0 - beta1, 1.0 - beta2].map(T::from_f64),
            rate: T::from_f64(-self.learning_rate / (1.0 - beta1.powi(steps))),
            unbias: T::from_f64(1.0 / (1.0 - beta2.powi(steps)).sqrt()),
            epsilon: T::from_f64(self.epsilon),
        }
    }
}

/// The moments of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments<T> {
    /// Steps taken with a gradient.
    pub steps: u64,
    /// Mean of the gradients.
    pub first: MatBatch<T>,
    /// Mean of their squares.
    pub second: MatBatch<T>,
}

/// Adam with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam<T> {
    config: AdamConfig,
    moments: Vec<Moments<T>>,
}

impl<T: Scalar> Adam<T> {
    /// At rest, for these parameters.
    pub fn new(config: AdamConfig, parameters: &Parameters<T>) -> Result<Self> {
        config.check()?;
        let zeros = |p: &Parameter<T>| {
            let (count, rows, cols) = match p.manifold {
                Manifold::State => (0, 0, 0),
                _ => p.value.shape(),
            };
            MatBatch::zeros(count, rows, cols)
        };
        let moments = parameters
            .iter()
            .map(|p| Moments {
                steps: 0,
                first: zeros(p),
                second: zeros(p),
            })
            .collect();
        Ok(Self { config, moments })
    }

    /// With moments from a checkpoint, one per parameter and of its shape.
    pub fn resume(
        config: AdamConfig,
        parameters: &Parameters<T>,
        moments: Vec<Moments<T>>,
    ) -> Result<Self> {
        let fresh = Self::new(config, parameters)?;
        let fits = |(a, b): (&Moments<T>, &Moments<T>)| {
            a.first.shape() == b.first.shape() && a.second.shape() == b.second.shape()
        };
        if moments.len() != fresh.moments.len() || !moments.iter().zip(&fresh.moments).all(fits) {
            return Err(ModelError::Impossible {
                op: "resume",
                why: "the moments of the checkpoint do not have the shapes of the parameters"
                    .into(),
                remedy: "resume with the network the checkpoint was made with",
            });
        }
        Ok(Self { config, moments })
    }

    /// The moments, in the order of the parameters.
    pub fn moments(&self) -> &[Moments<T>] {
        &self.moments
    }

    /// Moves every parameter that has a gradient.
    pub fn step<'a>(
        &mut self,
        parameters: &mut Parameters<T>,
        gradient: impl Fn(usize) -> Option<MatView<'a, T>>,
    ) -> Result<()> {
        for (i, (parameter, moments)) in parameters.iter_mut().zip(&mut self.moments).enumerate() {
            let Some(g) = gradient(i) else { continue };
            let Moments {
                steps,
                first,
                second,
            } = moments;
            let (first, second) = (&mut first.view_mut(), &mut second.view_mut());
            match parameter.manifold {
                Manifold::Stiefel => {
                    let point = &mut parameter.value.view_mut();
                    self.config.move_points(point, g, first, second, *steps)?;
                    *steps += 1;
                }
                Manifold::State => {}
                Manifold::Euclidean | Manifold::Cayley { .. } => {
                    let (x, g) = (parameter.value.data_mut(), g.data());
                    let (first, second) = (first.data(), second.data());
                    self.config.move_flat(x, g, first, second, *steps)?;
                    *steps += 1;
                }
            }
        }
        Ok(())
    }
}
