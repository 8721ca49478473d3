//! Newton's method with conjugate gradients for `φ(V, b) = ½‖V‖² + C Σ_i loss_i(V z_i + b)`.
//!
//! With `h_i` the gradient of a loss in its decision values and `H_i` its Hessian, the gradient is
//! `(V + C Σ h_i z_iᵀ, C Σ h_i)`, and the Hessian takes `(U, u)` to `(U + C Σ g_i z_iᵀ, C Σ g_i)`
//! with `g_i = H_i(U z_i + u)`: one pass over the features each.
//!
//! The penalty keeps the Hessian's eigenvalues above one, and few are large. The intercepts are
//! scaled by their curvature. Steps are halved until the objective falls; the conjugate gradients
//! stop at the share of the gradient that keeps convergence quadratic.

use super::features::Features;
use super::loss::Loss;
use crate::tolerance::{
    LOGISTIC_ENOUGH, LOGISTIC_GRADIENT, LOGISTIC_ITERATIONS, NEWTON_STEPS, NO_GAIN,
};
use crate::{ModelError, Result};
use stiefel_linalg::LinalgError;
use stiefel_linalg::minimise::{System, conjugate_gradients, line_search};
use stiefel_linalg::sums::{add_scaled, dot};
use stiefel_linalg::tolerance::NEWTON_FORCING;

/// A point with everything a step needs.
pub(super) struct Point {
    /// `V` (`m` rows of `r`), then `b` (`m`).
    pub(super) theta: Vec<f64>,
    /// `h_i`, `N` rows of `m`.
    pub(super) h: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
    /// The curvature of an intercept, one for all of them so that their sum stays zero.
    b_curvature: f64,
    /// Of the gradient, in the metric in which the intercepts are scaled.
    norm: f64,
}

/// The minimum, and how it was found.
pub(super) struct Minimum {
    pub(super) at: Point,
    pub(super) steps: usize,
    /// As a share of the gradient at zero.
    pub(super) gradient: f64,
}

struct Problem<'a> {
    features: &'a Features,
    loss: &'a Loss,
    c: f64,
}

/// Looks for the minimum from `start`, or from zero where that is better.
pub(super) fn minimise(
    features: &Features,
    loss: &Loss,
    c: f64,
    start: Option<Vec<f64>>,
) -> Result<Minimum> {
    let problem = Problem { features, loss, c };
    let mut here = problem.evaluate(vec![0.0; loss.columns() * (features.cols() + 1)])?;
    let scale = here.norm;
    if let Some(theta) = start {
        let there = problem.evaluate(theta)?;
        if there.objective < here.objective {
            here = there;
        }
    }
    let mut steps = 0;
    while here.norm > LOGISTIC_GRADIENT * scale && steps < NEWTON_STEPS {
        let direction = problem.newton_direction(&here, scale)?;
        let Some(there) = problem.step_along(&here, &direction)? else {
            break;
        };
        steps += 1;
        // So close to the minimum rounding may leave nothing to gain.
        let stuck = there.norm > NO_GAIN * here.norm && here.norm <= LOGISTIC_ENOUGH * scale;
        if there.norm < here.norm || !stuck {
            here = there;
        }
        if stuck {
            break;
        }
    }
    let gradient = if scale > 0.0 { here.norm / scale } else { 0.0 };
    if gradient.is_nan() || gradient > LOGISTIC_ENOUGH {
        return Err(ModelError::Impossible {
            op: super::OP,
            why: format!(
                "with C = {c} the gradient is {gradient:e} of the one at zero after {steps} \
                 steps, expected at most 1e-10; features of very different sizes cause this, or a \
                 C that is far too large"
            ),
            remedy: "use the default pre-conditioning and grid",
        });
    }
    Ok(Minimum {
        at: here,
        steps,
        gradient,
    })
}

impl Problem<'_> {
    /// Where the intercepts start.
    fn split(&self) -> usize {
        self.loss.columns() * self.features.cols()
    }

    /// `u·v` with the intercepts divided by their curvature.
    fn scaled_inner(&self, u: &[f64], v: &[f64], b_curvature: f64) -> f64 {
        let at = self.split();
        dot(&u[..at], &v[..at]) + dot(&u[at..], &v[at..]) / b_curvature
    }

    /// `(V + C·sums_V, C·sums_b)`.
    fn with_penalty(&self, theta: &[f64], mut sums: Vec<f64>) -> Vec<f64> {
        for s in &mut sums {
            *s *= self.c;
        }
        let at = self.split();
        add_scaled(&mut sums[..at], 1.0, &theta[..at]);
        sums
    }

    fn evaluate(&self, theta: Vec<f64>) -> std::result::Result<Point, LinalgError> {
        let pass = self
            .features
            .pass(&theta, |i, z| self.loss.gradient(i, z))?;
        let weights = &theta[..self.split()];
        let objective = 0.5 * dot(weights, weights) + self.c * pass.value;
        let gradient = self.with_penalty(&theta, pass.sums);
        let b_curvature = self.c * self.loss.diagonal(&pass.h).max(f64::MIN_POSITIVE.sqrt());
        let norm = self.scaled_inner(&gradient, &gradient, b_curvature).sqrt();
        Ok(Point {
            theta,
            h: pass.h,
            objective,
            gradient,
            b_curvature,
            norm,
        })
    }

    /// The Hessian times `v`.
    fn hessian(&self, here: &Point, v: &[f64]) -> std::result::Result<Vec<f64>, LinalgError> {
        let m = self.loss.columns();
        let pass = self.features.pass(v, |i, z| {
            self.loss.curve(i, &here.h[i * m..(i + 1) * m], z);
            0.0
        })?;
        Ok(self.with_penalty(v, pass.sums))
    }

    /// `−H⁻¹g`, to the accuracy the step is worth.
    fn newton_direction(
        &self,
        here: &Point,
        scale: f64,
    ) -> std::result::Result<Vec<f64>, LinalgError> {
        let share = here.norm / scale;
        // Quadratic convergence, but no digit below the aim.
        let forcing = (share.min(NEWTON_FORCING)).max(NEWTON_FORCING * LOGISTIC_GRADIENT / share);
        let goal = forcing * here.norm;
        let mut system = Newton {
            problem: self,
            here,
            goal,
        };
        let b = here.gradient.iter().map(|g| -g).collect();
        // The square of the norm the goal is a share of, to the bit.
        let square = Some(here.norm * here.norm);
        conjugate_gradients(&mut system, b, square, LOGISTIC_ITERATIONS)
    }

    /// The first step that lowers the objective as the gradient promises.
    fn step_along(
        &self,
        here: &Point,
        direction: &[f64],
    ) -> std::result::Result<Option<Point>, LinalgError> {
        let slope = dot(&here.gradient, direction);
        line_search(here.objective, slope, |t| {
            let mut theta = here.theta.clone();
            add_scaled(&mut theta, t, direction);
            let there = self.evaluate(theta)?;
            Ok((there.objective, there))
        })
    }
}

/// The Newton system at a point, the intercepts scaled by their curvature.
struct Newton<'a> {
    problem: &'a Problem<'a>,
    here: &'a Point,
    /// The norm of a residual that is small enough.
    goal: f64,
}

impl System<f64> for Newton<'_> {
    type Error = LinalgError;

    fn times(&mut self, v: &[f64]) -> std::result::Result<Vec<f64>, LinalgError> {
        self.problem.hessian(self.here, v)
    }

    fn is_small(&self, residual: &[f64]) -> bool {
        let square = self.square(residual, residual);
        square.is_nan() || square <= self.goal * self.goal
    }

    fn precondition(&mut self, r: &[f64]) -> std::result::Result<Vec<f64>, LinalgError> {
        let mut z = r.to_vec();
        for b in &mut z[self.problem.split()..] {
            *b /= self.here.b_curvature;
        }
        Ok(z)
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        dot(a, b)
    }

    fn square(&self, r: &[f64], _: &[f64]) -> f64 {
        self.problem.scaled_inner(r, r, self.here.b_curvature)
    }
}
