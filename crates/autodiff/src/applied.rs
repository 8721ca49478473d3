//! One operation by itself, without a tape: `y = f(x_0, x_1, …)` now, the pull-back of `∂ℓ/∂y`
//! later.
//!
//! For engines that keep a graph of their own, as PyTorch does: the operations are those of the
//! tape, so that both have the same values and the same derivatives. Batches are `count × rows ×
//! cols`; in pairs a single matrix is broadcast, and its gradient is the sum.
//!
//! | kernel | inputs | value |
//! |---|---|---|
//! | [`Spectral`](Kernel::Spectral) | `X` | `U f(λ) Uᵀ` |
//! | [`Upper`](Kernel::Upper), [`FromUpper`](Kernel::FromUpper) | `X`, `v` | the upper triangle times √2 off the diagonal, and back |
//! | [`Congruence`](Kernel::Congruence) | `W, X` | `Wᵀ X W` |
//! | [`Project`](Kernel::Project) | `W, Z` | `Z − W sym(WᵀZ)` |
//! | [`RetractQr`](Kernel::RetractQr), [`RetractPolar`](Kernel::RetractPolar) | `W, Δ` | orthonormal or polar factor of `W + Δ` |
//! | [`SquaredDistance`](Kernel::SquaredDistance) | `A, B` | `‖log(A^{-1/2} B A^{-1/2})‖²_F`, `count × 1 × 1` |
//! | [`LogVectors`](Kernel::LogVectors) | `X` | `upper(log X)` |
//! | [`FilteredLog`](Kernel::FilteredLog) | `A, X` | `upper(log max(Wᵀ X W, ε))`, `W = qf(A)` or `A` |

mod pairs;

use crate::fused::{FilterTail, logarithm::LogVectors};
use crate::ops::{
    retract::{Retract, Retraction},
    spectral::Spectral,
    tangent::Project,
    vector::Vectorise,
};
use crate::{Arena, Context, Forward, Gradient, OpError, OpResult, Operation, PullBack, Shape};
use stiefel_geometry::spd::{SpectralFn, check_symmetric};
use stiefel_linalg::{MatBatch, MatView, Scalar};

/// An operation by its name; see the table of the module.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kernel<T> {
    /// A function of the eigenvalues of symmetric matrices.
    Spectral(SpectralFn<T>),
    /// Symmetric matrices as vectors.
    Upper,
    /// Vectors as symmetric matrices.
    FromUpper,
    /// `Wᵀ X W` of any square `X`: BiMap.
    Congruence,
    /// The projection to the tangent space of St(n, k).
    Project,
    /// The retraction by the orthonormal factor.
    RetractQr,
    /// The retraction by the polar factor.
    RetractPolar,
    /// The squared affine-invariant distance.
    SquaredDistance,
    /// LogEig and vector in one.
    LogVectors,
    /// Retraction, BiMap, ReEig, LogEig and vector in one.
    FilteredLog {
        /// Whether the orthonormal factors of the filters are taken.
        retract: bool,
        /// The threshold of ReEig.
        epsilon: T,
    },
}

/// An operation that has been applied, with what its pull-back needs.
pub struct Applied<T: Scalar> {
    operation: Box<dyn Operation<T>>,
    shapes: Vec<Shape>,
    arena: Arena<T>,
}

impl<T: Scalar> std::fmt::Debug for Applied<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Applied({})", self.operation.name())
    }
}

impl<T: Scalar> Kernel<T> {
    /// How many inputs it takes.
    pub fn inputs(self) -> usize {
        match self {
            Self::Spectral(_) | Self::Upper | Self::FromUpper | Self::LogVectors => 1,
            _ => 2,
        }
    }

    fn operation(self) -> Box<dyn Operation<T>> {
        match self {
            Self::Spectral(f) => Box::new(Spectral { f, eigen: None }),
            Self::Upper => Box::new(Vectorise::Upper),
            Self::FromUpper => Box::new(Vectorise::FromUpper),
            Self::Congruence => Box::new(pairs::Congruence::default()),
            Self::Project => Box::new(Project { symmetric: None }),
            Self::RetractQr => Box::new(Retract::new(Retraction::Qr)),
            Self::RetractPolar => Box::new(Retract::new(Retraction::Polar)),
            Self::SquaredDistance => Box::new(pairs::Distance { saved: None }),
            Self::LogVectors => Box::new(LogVectors { saved: None }),
            Self::FilteredLog { retract, epsilon } => {
                Box::new(FilterTail::for_filters(retract, epsilon))
            }
        }
    }

    /// The value on `inputs`, and what gives its pull-back where `wants_gradient`. Buffers come
    /// from the arena.
    ///
    /// ```
    /// use stiefel_autodiff::{Arena, Kernel};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let w = MatBatch::from_vec(1, 2, 1, vec![1.0, 0.0])?;
    /// let x = MatBatch::from_vec(1, 2, 2, vec![4.0, 1.0, 1.0, 9.0])?;
    /// let inputs = [w.view(), x.view()];
    /// let (y, applied) = Kernel::Congruence.apply(&inputs, &Arena::<f64>::new(), true)?;
    /// assert_eq!(y.data(), [4.0]);
    /// let g = MatBatch::identity(1, 1);
    /// let gradients = applied.pull_back(&inputs, y.view(), g.view(), &[true, false])?;
    /// assert_eq!(gradients[0].as_ref().unwrap().data(), [8.0, 2.0]);
    /// assert!(gradients[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(
        self,
        inputs: &[MatView<'_, T>],
        arena: &Arena<T>,
        wants_gradient: bool,
    ) -> OpResult<(MatBatch<T>, Applied<T>)> {
        if inputs.len() != self.inputs() {
            return Err(OpError::Length {
                what: "inputs",
                expected: self.inputs(),
                found: inputs.len(),
            });
        }
        let mut operation = self.operation();
        let shapes: Vec<Shape> = inputs.iter().map(MatView::shape).collect();
        let (count, rows, cols) = operation.shape(&shapes)?;
        if let Self::FilteredLog { epsilon, .. } = self {
            check_symmetric("filtered_log", inputs[1])?;
            inputs[0].check_finite("filtered_log")?;
            if !(Scalar::is_finite(epsilon) && epsilon > T::ZERO) {
                return Err(OpError::Argument {
                    what: "the threshold of ReEig",
                    value: epsilon.to_f64(),
                    needs: "a finite number above 0",
                });
            }
        }
        let mut value = MatBatch::zeros(count, rows, cols);
        let context = Context {
            arena,
            wants_gradient,
            along_rows: false,
        };
        operation.forward(&mut Forward {
            inputs,
            output: &mut value.view_mut(),
            context: &context,
        })?;
        let applied = Applied {
            operation,
            shapes,
            arena: arena.clone(),
        };
        Ok((value, applied))
    }
}

impl<T: Scalar> Applied<T> {
    /// The gradients in the inputs that are `wanted`, of a number whose gradient in the value is
    /// `g`. Inputs and value are those of [`Kernel::apply`], which must have been told that a
    /// gradient is wanted.
    pub fn pull_back(
        &self,
        inputs: &[MatView<'_, T>],
        value: MatView<'_, T>,
        g: MatView<'_, T>,
        wanted: &[bool],
    ) -> OpResult<Vec<Option<MatBatch<T>>>> {
        let shapes: Vec<Shape> = inputs.iter().map(MatView::shape).collect();
        let expected = self.operation.shape(&self.shapes)?;
        if shapes != self.shapes || g.shape() != expected || value.shape() != expected {
            return Err(OpError::Shape {
                needs: "inputs, value and gradient of the shapes of the forward pass",
                found: [shapes, vec![value.shape(), g.shape()]].concat(),
            });
        }
        if wanted.len() != shapes.len() {
            return Err(OpError::Length {
                what: "marks of wanted gradients",
                expected: shapes.len(),
                found: wanted.len(),
            });
        }
        let zeros = |(&(count, rows, cols), &wanted): (&Shape, &bool)| {
            wanted.then(|| MatBatch::zeros(count, rows, cols))
        };
        let mut found: Vec<Option<MatBatch<T>>> = shapes.iter().zip(wanted).map(zeros).collect();
        let mut gradients: Vec<Option<Gradient<'_, T>>> = (found.iter_mut().zip(&shapes))
            .map(|(x, &shape)| x.as_mut().map(|x| Gradient::new(shape, x.data_mut(), true)))
            .collect();
        let context = Context {
            arena: &self.arena,
            wants_gradient: true,
            along_rows: false,
        };
        self.operation.pull_back(&mut PullBack {
            inputs,
            output: value,
            g,
            gradients: &mut gradients,
            context: &context,
        })?;
        drop(gradients);
        Ok(found)
    }
}
