//! The Fréchet (Karcher, geometric) mean: the minimiser of `f(M) = ½ Σ w_i d²(M, X_i)` in the
//! affine-invariant metric.
//!
//! Newton's method on the manifold. With `M = S Sᵀ` and `C_i = S⁻¹X_iS⁻ᵀ = U_i diag(λ) U_iᵀ`, in
//! the chart `Z ↦ S exp(Z) Sᵀ`
//! * the gradient is `−J`, `J = Σ w_i log C_i`;
//! * the Hessian acts as `Z ↦ Σ w_i U_i (K_i ∘ (U_iᵀ Z U_i)) U_iᵀ` with `K_rc = (u/2)coth(u/2)`, `u
//!   = ln λ_r − ln λ_c` (both in `spectra.rs`).
//!
//! Its eigenvalues start at 1, so that a few conjugate-gradient steps solve for `Z`; then `S ← S
//! exp(Z/2)`. Convergence is quadratic: 3 or 4 evaluations (one batched eigen-decomposition each)
//! for well-conditioned trials, about 10 where the whitened ones spread over ten decades. A step
//! that does not reduce `‖J‖` is halved. The start is the log-Euclidean mean, or a matrix given; of
//! many well-conditioned matrices in f64, the way to the neighbourhood of the mean is gone in f32
//! ([`coarse`]). Matrices too ill-conditioned after whitening go through one-sided Jacobi on
//! `S⁻¹L_i`, `X_i = L_iL_iᵀ`, which keeps the digits of small eigenvalues; where rounding stops the
//! iteration short of the tolerance, all of them do.
//!
//! Sources: Moakher 2005; Ferreira et al. 2013 (Hessian); Jeuris, Vandebril & Vandereycken 2012.

mod coarse;

use super::mean::normalised;
use super::spectra::Spectra;
use super::whiten::{at_trial, exp_scaled, factor, is_resolved, read_columns};
use super::{SpectralFn, apply, check_spectrum, check_symmetric, spectral_map};
use crate::error::shape_error;
use crate::singular::norm;
use crate::tolerance;
use crate::{GeometryError, Result};
use stiefel_linalg::minimise::{System, conjugate_gradients};
use stiefel_linalg::tolerance::NEWTON_FORCING;
use stiefel_linalg::{
    EigenWorkspace, Mat, MatBatch, MatView, Op, Scalar, Wanted, eigh, orthogonal_columns, product,
    symmetrise,
};

const OP: &str = "Fréchet mean";

/// How to look for a mean.
#[derive(Debug, Clone, Copy)]
pub struct FrechetOptions<'a, T> {
    /// Non-negative weights, one per matrix; `None` for equal ones.
    pub weights: Option<&'a [T]>,
    /// Stop where the residual is at most this; of the Fréchet mean it is `‖Σ w_i log C_i‖_F/√n`.
    pub tolerance: T,
    /// Steps before giving up; of the Fréchet mean, evaluations of the gradient.
    pub max_iterations: usize,
    /// The matrix to start from, a batch of one; `None` for the one that the mean takes by itself.
    pub start: Option<MatView<'a, T>>,
}

impl<T: Scalar> Default for FrechetOptions<'_, T> {
    fn default() -> Self {
        Self {
            weights: None,
            tolerance: tolerance::frechet::<T>(),
            max_iterations: tolerance::FRECHET_MAX_ITERATIONS,
            start: None,
        }
    }
}

impl<'a, T: Scalar> FrechetOptions<'a, T> {
    /// An error unless the tolerance is one.
    pub(super) fn check_tolerance(&self, op: &'static str) -> Result<()> {
        if self.tolerance > T::ZERO && Scalar::is_finite(self.tolerance) {
            return Ok(());
        }
        Err(GeometryError::Parameter {
            op,
            name: "the tolerance",
            value: self.tolerance.to_f64(),
            expected: "positive and finite",
        })
    }

    /// The matrix to start from, where one is given; an error unless it is one `rows × cols`.
    pub(super) fn given(
        &self,
        op: &'static str,
        (rows, cols): (usize, usize),
    ) -> Result<Option<MatView<'a, T>>> {
        match self.start {
            Some(start) if start.shape() != (1, rows, cols) => {
                let expected = format!("one matrix {rows} × {cols} to start from");
                Err(shape_error(op, expected, start.shape()))
            }
            start => Ok(start),
        }
    }
}

/// How the search for a mean went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrechetReport {
    /// Evaluations of the gradient, each one eigen-decomposition of the whole batch.
    pub iterations: usize,
    /// `‖Σ w_i log(M^{-1/2} X_i M^{-1/2})‖_F/√n` at the result.
    pub residual: f64,
    /// Whether the residual met the tolerance.
    pub converged: bool,
}

/// The mean of a batch, as a batch of one, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FrechetMean<T> {
    /// The mean.
    pub mean: MatBatch<T>,
    /// How the search went.
    pub report: FrechetReport,
}

/// The Fréchet mean of SPD matrices. Where it does not converge, the report says so; the matrix is
/// the best one found.
///
/// ```
/// use stiefel_geometry::spd::{FrechetOptions, frechet_mean};
/// use stiefel_linalg::MatBatch;
///
/// let x = MatBatch::from_vec(2, 1, 1, vec![1.0_f64, 4.0])?;
/// let found = frechet_mean(x.view(), &FrechetOptions::default())?;
/// assert!((found.mean.get(0, 0, 0) - 2.0).abs() < 1e-14); // the geometric mean
/// assert!(found.report.converged);
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn frechet_mean<T: Scalar>(
    x: MatView<'_, T>,
    options: &FrechetOptions<'_, T>,
) -> Result<FrechetMean<T>> {
    options.check_tolerance(OP)?;
    let weights = normalised(OP, x.count(), options.weights)?;
    let n = check_symmetric(OP, x)?;
    if x.count() == 1 && options.start.is_none() {
        return single_mean(x);
    }
    let given = options.given(OP, (n, n))?;
    let near = match given {
        None => coarse::near(x, &weights, options.max_iterations),
        Some(_) => None,
    };
    let mut problem = Problem {
        x,
        spectra: Spectra::new(n, weights)?,
        exact: false,
    };
    let (mut here, mut iterations) = match near {
        Some(near) => (problem.at(near.mean.view())?, near.evaluations + 1),
        None => (problem.start(given)?, 1),
    };
    'newton: while here.residual > options.tolerance && iterations < options.max_iterations {
        let mut z = problem.newton_step(&here, options.tolerance)?;
        loop {
            let there = problem.move_along(&here, &z)?;
            iterations += 1;
            if there.residual < here.residual {
                here = there;
                break;
            }
            if iterations >= options.max_iterations {
                break 'newton;
            }
            // So close to the mean only rounding can keep a Newton step from being one.
            if norm(z.data()) <= tolerance::shortest_newton_step::<T>() {
                if problem.exact {
                    break 'newton;
                }
                problem.exact = true;
                here = problem.evaluate(here.s, here.s_inv, here.factors)?;
                iterations += 1;
                break;
            }
            for z in z.data_mut() {
                *z *= T::from_f64(0.5);
            }
        }
    }
    let mut mean = product(here.s.view(), Op::N, here.s.view(), Op::T)?;
    symmetrise(&mut mean.view_mut())?;
    let report = FrechetReport {
        iterations,
        residual: here.residual.to_f64(),
        converged: here.residual <= options.tolerance,
    };
    Ok(FrechetMean { mean, report })
}

/// The mean of one matrix is that matrix.
fn single_mean<T: Scalar>(x: MatView<'_, T>) -> Result<FrechetMean<T>> {
    let mut values = vec![T::ZERO; x.rows()];
    EigenWorkspace::default().decompose_one(x.matrix_ref(0), &mut values, Wanted::Values)?;
    check_spectrum(OP, x.rows(), &values).map_err(|error| at_trial(error, 0))?;
    let mut mean = x.to_owned();
    symmetrise(&mut mean.view_mut())?;
    let report = FrechetReport {
        iterations: 0,
        residual: 0.0,
        converged: true,
    };
    Ok(FrechetMean { mean, report })
}

/// A candidate `M = S Sᵀ` and its gradient.
struct Point<T> {
    s: MatBatch<T>,
    s_inv: MatBatch<T>,
    /// For the ill-conditioned: `F_i` with `C_i = F_iF_iᵀ` and orthogonal columns, transposed.
    /// They are carried from point to point: each step is nearly the identity, which harms no
    /// digit of a matrix with orthogonal columns.
    factors: Vec<Option<MatBatch<T>>>,
    /// `J = Σ w_i log C_i`.
    gradient: MatBatch<T>,
    /// `‖J‖_F/√n`.
    residual: T,
}

/// The matrices, and the spectra of the `C_i` at the point evaluated last.
struct Problem<'a, T> {
    x: MatView<'a, T>,
    spectra: Spectra<T>,
    /// Whether every matrix goes through one-sided Jacobi: the last resort for the last digits.
    exact: bool,
}

impl<T: Scalar> Problem<'_, T> {
    /// The log-Euclidean mean, or the matrix given.
    fn start(&mut self, given: Option<MatView<'_, T>>) -> Result<Point<T>> {
        let n = self.x.rows();
        self.spectra.decompose(None, self.x, |i, lambda| {
            check_spectrum(OP, n, lambda).map_err(|error| at_trial(error, i))?;
            Ok(None)
        })?;
        if let Some(given) = given {
            return self.at(given);
        }
        let start = eigh(self.spectra.mean_log()?.view())?;
        let half = T::from_f64(0.5);
        let none = vec![None; self.x.count()];
        self.evaluate(exp_scaled(&start, half)?, exp_scaled(&start, -half)?, none)
    }

    /// A matrix.
    fn at(&mut self, mean: MatView<'_, T>) -> Result<Point<T>> {
        let root = spectral_map(SpectralFn::Sqrt, mean)?;
        let inverse = apply(SpectralFn::InvSqrt, &root.eigen)?;
        self.evaluate(root.value, inverse, vec![None; self.x.count()])
    }

    /// `S ← S exp(Z/2)`.
    fn move_along(&mut self, here: &Point<T>, z: &MatBatch<T>) -> Result<Point<T>> {
        let (half, z) = (T::from_f64(0.5), eigh(z.view())?);
        let (ahead, back) = (exp_scaled(&z, half)?, exp_scaled(&z, -half)?);
        let s = product(here.s.view(), Op::N, ahead.view(), Op::N)?;
        let s_inv = product(back.view(), Op::N, here.s_inv.view(), Op::N)?;
        let moved = |factor: &Option<MatBatch<T>>| -> Result<Option<MatBatch<T>>> {
            let Some(factor) = factor else {
                return Ok(None);
            };
            let f = product(back.view(), Op::N, factor.view(), Op::T)?;
            Ok(Some(orthogonal_columns(f.view())?))
        };
        let factors = here.factors.iter().map(moved).collect::<Result<_>>()?;
        self.evaluate(s, s_inv, factors)
    }

    fn evaluate(
        &mut self,
        s: MatBatch<T>,
        s_inv: MatBatch<T>,
        mut factors: Vec<Option<MatBatch<T>>>,
    ) -> Result<Point<T>> {
        let (x, exact, n) = (self.x, self.exact, self.x.rows());
        self.spectra.decompose(Some(&s_inv), x, |i, lambda| {
            if factors[i].is_none() && is_resolved(lambda) && !exact {
                return Ok(None);
            }
            let columns = match factors[i].take() {
                Some(columns) => columns,
                None => orthogonal_factor(&s_inv, x, i)?,
            };
            let (mut logs, mut vectors) = (vec![T::ZERO; n], vec![T::ZERO; n * n]);
            read_columns(columns.data(), n, &mut logs, &mut vectors);
            factors[i] = Some(columns);
            Ok(Some((logs, vectors)))
        })?;
        let gradient = self.spectra.mean_log()?;
        let residual = norm(gradient.data()) / Scalar::sqrt(T::from_f64(n as f64));
        Ok(Point {
            s,
            s_inv,
            factors,
            gradient,
            residual,
        })
    }

    /// `Z` with `Hessian·Z ≈ J` at the point evaluated last; `tolerance` is where the search ends.
    fn newton_step(&mut self, at: &Point<T>, tolerance: T) -> Result<MatBatch<T>> {
        let n = self.x.rows();
        self.spectra.prepare_hessian()?;
        let gradient = at.gradient.data().to_vec();
        let forcing = forcing(at.residual, tolerance);
        let mut system = Hessian {
            spectra: &mut self.spectra,
            goal: square(&gradient) * forcing * forcing,
        };
        let z = conjugate_gradients(&mut system, gradient, None, n * (n + 1) / 2)?;
        Ok(Mat::new(n, n, z).into())
    }
}

/// The fraction of the gradient at which conjugate gradients stop: that of the residual, so that
/// convergence is quadratic; or, where that is about as much work, what is enough for this
/// step to be the last one. An evaluation costs as much as ten of their steps.
fn forcing<T: Scalar>(residual: T, tolerance: T) -> T {
    let most = T::from_f64(NEWTON_FORCING);
    let quadratic = Scalar::min(most, residual);
    let enough = T::from_f64(tolerance::ENOUGH_OF_TOLERANCE) * tolerance / residual;
    if enough >= T::from_f64(tolerance::ENOUGH_IS_NEAR) * quadratic {
        Scalar::min(most, enough)
    } else {
        quadratic
    }
}

/// The Hessian at the point evaluated last.
struct Hessian<'a, T> {
    spectra: &'a mut Spectra<T>,
    /// The squared residual that is small enough.
    goal: T,
}

impl<T: Scalar> System<T> for Hessian<'_, T> {
    type Error = GeometryError;

    fn times(&mut self, v: &[T]) -> Result<Vec<T>> {
        Ok(self.spectra.hessian(v)?.into_vec())
    }

    fn is_small(&self, residual: &[T]) -> bool {
        square(residual) <= self.goal
    }
}

/// `S⁻¹L_i`, `X_i = L_iL_iᵀ`, with its columns made orthogonal.
fn orthogonal_factor<T: Scalar>(
    s_inv: &MatBatch<T>,
    x: MatView<'_, T>,
    i: usize,
) -> Result<MatBatch<T>> {
    let l = factor(OP, x.single(i))
        .map_err(|error| at_trial(error, i))?
        .l;
    let f = product(s_inv.view(), Op::N, l.view(), Op::N)?;
    Ok(orthogonal_columns(f.view())?)
}

fn square<T: Scalar>(x: &[T]) -> T {
    x.iter().map(|&v| v * v).sum()
}
