//! The two searches inside every Newton iteration of the project.
//!
//! * [`conjugate_gradients`]: `x` with `H x ≈ b` for a symmetric positive definite `H` known by its
//!   products, behind a preconditioner `M⁻¹ ≈ H⁻¹` (Hestenes & Stiefel 1952; Nocedal & Wright 2006,
//!   algorithm 5.3).
//! * [`line_search`]: the first of the steps 1, ½, ¼, … with `f(x + t d) ≤ f(x) + c t ∇f·d`, `c =`
//!   [`ARMIJO`](tolerance::ARMIJO) (Armijo 1966), rounding allowed for.

use crate::sums::add_scaled;
use crate::{Scalar, tolerance};

/// A linear system `H x = b`: its products, and how its sums are taken. The defaults are those of a
/// system without preconditioner whose sums run from the first entry to the last.
pub trait System<T: Scalar> {
    /// What a product can fail with.
    type Error;

    /// `H v`.
    fn times(&mut self, v: &[T]) -> Result<Vec<T>, Self::Error>;

    /// Whether a residual is small enough.
    fn is_small(&self, residual: &[T]) -> bool;

    /// `M⁻¹ r`.
    fn precondition(&mut self, r: &[T]) -> Result<Vec<T>, Self::Error> {
        Ok(r.to_vec())
    }

    /// `a·b`.
    fn dot(&self, a: &[T], b: &[T]) -> T {
        a.iter().zip(b).map(|(&a, &b)| a * b).sum()
    }

    /// `r·z`, `z = M⁻¹ r`.
    fn square(&self, r: &[T], z: &[T]) -> T {
        self.dot(r, z)
    }
}

/// `x` with `H x ≈ b`, from zero: what `most` iterations found, or fewer where the residual is
/// small enough or a direction has no curvature. `square` is `b·M⁻¹b` where it is known.
///
/// ```
/// use stiefel_linalg::minimise::{System, conjugate_gradients};
///
/// struct Diagonal;
/// impl System<f64> for Diagonal {
///     type Error = std::convert::Infallible;
///     fn times(&mut self, v: &[f64]) -> Result<Vec<f64>, Self::Error> {
///         Ok(vec![2.0 * v[0], 5.0 * v[1]])
///     }
///     fn is_small(&self, residual: &[f64]) -> bool {
///         self.dot(residual, residual) < 1e-24
///     }
/// }
/// let Ok(x) = conjugate_gradients(&mut Diagonal, vec![2.0, 10.0], None, 10);
/// assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
/// ```
pub fn conjugate_gradients<T: Scalar, S: System<T>>(
    system: &mut S,
    b: Vec<T>,
    square: Option<T>,
    most: usize,
) -> Result<Vec<T>, S::Error> {
    let mut x = vec![T::ZERO; b.len()];
    let mut residual = b;
    let mut direction = system.precondition(&residual)?;
    let mut square = square.unwrap_or_else(|| system.square(&residual, &direction));
    for _ in 0..most {
        let image = system.times(&direction)?;
        let curvature = system.dot(&direction, &image);
        // A NaN is no curvature either.
        if curvature.partial_cmp(&T::ZERO) != Some(std::cmp::Ordering::Greater) {
            break;
        }
        let t = square / curvature;
        add_scaled(&mut x, t, &direction);
        add_scaled(&mut residual, -t, &image);
        if system.is_small(&residual) {
            break;
        }
        let z = system.precondition(&residual)?;
        let next = system.square(&residual, &z);
        let ratio = next / square;
        square = next;
        for (d, &z) in direction.iter_mut().zip(&z) {
            *d = z + ratio * *d;
        }
    }
    Ok(x)
}

/// The first of the steps 1, ½, ¼, … that lowers the objective `here` as its `slope` promises;
/// `at(t)` gives the objective after a step, and whatever was computed with it. `None` where
/// [`HALVINGS`](tolerance::HALVINGS) did not.
///
/// ```
/// use stiefel_linalg::minimise::line_search;
///
/// // x² from 1, along −8: steps of 1 and ½ go too far.
/// let objective = |t: f64| (1.0 - 8.0 * t) * (1.0 - 8.0 * t);
/// let found = line_search(1.0, -16.0, |t| Ok::<_, ()>((objective(t), t)));
/// assert_eq!(found, Ok(Some(0.125)));
/// ```
pub fn line_search<P, E>(
    here: f64,
    slope: f64,
    mut at: impl FnMut(f64) -> Result<(f64, P), E>,
) -> Result<Option<P>, E> {
    let rounding = tolerance::OBJECTIVE_ROUNDING * here.abs();
    let mut t = 1.0;
    for _ in 0..tolerance::HALVINGS {
        let (there, point) = at(t)?;
        if there <= here + tolerance::ARMIJO * t * slope + rounding {
            return Ok(Some(point));
        }
        t *= 0.5;
    }
    Ok(None)
}
