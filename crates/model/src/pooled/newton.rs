//! Newton's method for the hierarchical regression, each step solved by conjugate gradients behind an exact elimination of the domains.
//!
//! For one score with weights `s_i` let `F_d = S_d^{1/2}[Z_d 1]` and `F_z` its first `p` columns. Eliminating `δ_d` from the Newton
//! system leaves, with `E_d = I + τ² F_z F_zᵀ = L Lᵀ` and `U_d = L⁻¹ F_d` (`U_z` its first `p` columns),
//!
//! ```text
//! A = diag(1/σ², …, 1/σ², 0) + Σ_d U_dᵀ U_d                        (p+1) × (p+1)
//! t_d = U_z g_d,   a = A⁻¹(g_0 − τ² Σ_d U_dᵀ t_d),   d_d = τ²(g_d − U_zᵀ(τ² t_d + U_d a))
//! ```
//!
//! All of it depends on `F_d` through `F_dᵀF_d` only, so a domain with more than `p+1` trials enters by the triangular factor of `F_d`. The
//! cost of a step is `O(N p²)`, never `N³`. For two classes this is the Newton step itself (conjugate gradients confirm it in one
//! iteration); for more it leaves out what couples the scores, and conjugate gradients supply that.

use super::regression::{Regression, Value};
use crate::{ModelError, Result};
use stiefel_linalg::minimise::{System, conjugate_gradients, line_search};
use stiefel_linalg::sums::add_scaled;
use stiefel_linalg::tolerance::{
    HEAD_GRADIENT, HEAD_ITERATIONS, HEAD_RESIDUAL, HEAD_ROUNDING_FLOOR, NEWTON_STEPS, NO_GAIN,
    noise,
};
use stiefel_linalg::{MatBatch, MatView, Op, cholesky, product, product_into, qr, solve_lower};

const OP: &str = "routed head";

/// The minimum, from a first guess; an error as soon as `go_on` says no.
pub(super) fn minimise(
    problem: &Regression,
    mut x: Vec<f64>,
    go_on: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    let tolerance = HEAD_GRADIENT * scale(problem);
    let mut here = problem.value(&x)?;
    let mut last = f64::INFINITY;
    for _ in 0..NEWTON_STEPS {
        let size = largest(&here.gradient);
        // At the floor of rounding Newton's method stops gaining: what it reached there is the minimum.
        let at_floor = size <= HEAD_ROUNDING_FLOOR * tolerance && size >= NO_GAIN * last;
        if size <= tolerance || at_floor {
            return Ok(x);
        }
        last = size;
        let step = newton_step(problem, &here, go_on)?;
        (x, here) = step_along(problem, &x, &here, &step)?;
    }
    Err(ModelError::Impossible {
        op: OP,
        why: format!(
            "Newton's method has a gradient of {:e} after {NEWTON_STEPS} steps",
            largest(&here.gradient)
        ),
        remedy: "use a smaller C (a stronger penalty)",
    })
}

/// What a gradient entry is the sum of: at least one, else the largest weighted column sum of `|z|`.
fn scale(problem: &Regression) -> f64 {
    let p = problem.width();
    let mut sums = vec![0.0; p];
    for (row, weight) in problem.z.data().chunks_exact(p).zip(&problem.weights) {
        let sums = sums.iter_mut().zip(row);
        sums.for_each(|(s, v)| *s += weight * v.abs());
    }
    sums.into_iter().fold(1.0, f64::max)
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// The first step that lowers the function as its slope promises.
fn step_along(
    problem: &Regression,
    x: &[f64],
    here: &Value,
    step: &[f64],
) -> Result<(Vec<f64>, Value)> {
    let slope = here.gradient.iter().zip(step).map(|(g, s)| g * s).sum();
    let found = line_search(here.f, slope, |t| {
        let mut next = x.to_vec();
        add_scaled(&mut next, t, step);
        let value = problem.value(&next)?;
        Ok::<_, ModelError>((value.f, (next, value)))
    });
    found?.ok_or_else(|| ModelError::Impossible {
        op: OP,
        why: format!("no step lowers the loss of {}", here.f),
        remedy: "look at the features: values far beyond the range of f64 cause this",
    })
}

/// `−H⁻¹ g`.
fn newton_step(problem: &Regression, here: &Value, go_on: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    let mut r: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
    remove_common(problem, &mut r);
    let blocks = (0..problem.scores)
        .map(|s| asked(go_on).and_then(|()| Elimination::new(problem, &here.pi, s)))
        .collect::<Result<Vec<_>>>()?;
    let mut system = Hessian {
        problem,
        pi: &here.pi,
        blocks,
        goal: HEAD_RESIDUAL * norm(&r),
        go_on,
    };
    conjugate_gradients(&mut system, r, None, HEAD_ITERATIONS)
}

fn asked(go_on: &dyn Fn() -> bool) -> Result<()> {
    let stop = ModelError::Cancelled { op: OP };
    if go_on() { Ok(()) } else { Err(stop) }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The Newton system at a point, one elimination per score as its preconditioner.
struct Hessian<'a> {
    problem: &'a Regression,
    pi: &'a [f64],
    blocks: Vec<Elimination>,
    /// The norm of a residual that is small enough.
    goal: f64,
    go_on: &'a dyn Fn() -> bool,
}

impl System<f64> for Hessian<'_> {
    type Error = ModelError;

    fn times(&mut self, v: &[f64]) -> Result<Vec<f64>> {
        asked(self.go_on)?;
        self.problem.hessian_times(self.pi, v)
    }

    fn is_small(&self, residual: &[f64]) -> bool {
        norm(residual) <= self.goal
    }

    fn precondition(&mut self, r: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; r.len()];
        for (s, block) in self.blocks.iter().enumerate() {
            block.solve(self.problem, s, r, &mut out)?;
        }
        remove_common(self.problem, &mut out);
        Ok(out)
    }
}

/// Takes out what all scores of a softmax have in common: the loss does not see it, and at the minimum it is zero.
fn remove_common(problem: &Regression, v: &mut [f64]) {
    let l = problem.scores;
    if l == 1 {
        return;
    }
    let (shared, own) = v.split_at_mut(problem.shared_len());
    let blocks = std::iter::once(shared).chain(own.chunks_exact_mut(l * problem.width()));
    for block in blocks {
        let width = block.len() / l;
        for j in 0..width {
            let mean = (0..l).map(|s| block[s * width + j]).sum::<f64>() / l as f64;
            (0..l).for_each(|s| block[s * width + j] -= mean);
        }
    }
}

/// One score's Newton matrix with the domains eliminated.
struct Elimination {
    /// `U_d`, one per group.
    u: Vec<MatBatch<f64>>,
    /// The Cholesky factor of `A`.
    a: MatBatch<f64>,
}

impl Elimination {
    fn new(problem: &Regression, pi: &[f64], score: usize) -> Result<Self> {
        let (p, l) = (problem.width(), problem.scores);
        let mut a = MatBatch::from_fn(1, p + 1, p + 1, |_, r, c| {
            if r == c && r < p {
                1.0 / problem.shared
            } else {
                0.0
            }
        });
        let mut u = Vec::with_capacity(problem.groups.len());
        for (_, range) in &problem.groups {
            let root = |i: usize| {
                let pi = pi[(range.start + i) * l + score];
                (problem.weights[range.start + i] * (pi * (1.0 - pi))).sqrt()
            };
            let z = problem.rows(range)?;
            let f = MatBatch::from_fn(1, range.len(), p + 1, |_, i, j| {
                let value = if j < p { z.data()[i * p + j] } else { 1.0 };
                root(i) * value
            });
            let block = eliminate(f, problem.own)?;
            product_into(
                a.view_mut(),
                true,
                1.0,
                block.view(),
                Op::T,
                block.view(),
                Op::N,
            )?;
            u.push(block);
        }
        // The intercept has no penalty: where every probability has saturated, rounding's worth of one keeps A definite.
        let last = (p + 1) * (p + 1) - 1;
        a.data_mut()[last] += noise::<f64>(problem.z.rows());
        let a = cholesky(a.view())?;
        Ok(Self { u, a })
    }

    /// The block's part of `M⁻¹ g` into `out`.
    fn solve(&self, problem: &Regression, score: usize, g: &[f64], out: &mut [f64]) -> Result<()> {
        let (p, tau) = (problem.width(), problem.own);
        let at = score * (p + 1);
        let mut rhs = g[at..=at + p].to_vec();
        let own = |group: usize| {
            let range = problem.own_range(group);
            range.map(|r| r.start + score * p..r.start + (score + 1) * p)
        };
        let mut through = Vec::with_capacity(self.u.len());
        for (group, u) in self.u.iter().enumerate() {
            let Some(range) = own(group) else { break };
            let mut padded = g[range].to_vec();
            padded.push(0.0);
            let t = times(u, Op::N, &padded)?;
            add_scaled(&mut rhs, -tau, &times(u, Op::T, &t)?);
            through.push(t);
        }
        let rhs = MatView::new(1, p + 1, 1, &rhs)?;
        let half = solve_lower(self.a.view(), Op::N, rhs)?;
        let shared = solve_lower(self.a.view(), Op::T, half.view())?.into_vec();
        for (group, (u, mut t)) in self.u.iter().zip(through).enumerate() {
            let Some(range) = own(group) else { break };
            for t in &mut t {
                *t *= tau;
            }
            add_scaled(&mut t, 1.0, &times(u, Op::N, &shared)?);
            let back = times(u, Op::T, &t)?;
            for ((o, g), b) in out[range.clone()].iter_mut().zip(&g[range]).zip(&back) {
                *o = tau * (g - b);
            }
        }
        out[at..=at + p].copy_from_slice(&shared);
        Ok(())
    }
}

/// `U = L⁻¹ F` with `L Lᵀ = I + τ² F_z F_zᵀ`.
fn eliminate(mut f: MatBatch<f64>, tau: f64) -> Result<MatBatch<f64>> {
    if f.rows() > f.cols() {
        f = qr(f.view())?.r;
    }
    if tau == 0.0 {
        return Ok(f);
    }
    let (rows, p) = (f.rows(), f.cols() - 1);
    let own = MatBatch::from_fn(1, rows, p, |_, i, j| f.get(0, i, j));
    let mut e = MatBatch::identity(1, rows);
    product_into(
        e.view_mut(),
        true,
        tau,
        own.view(),
        Op::N,
        own.view(),
        Op::T,
    )?;
    Ok(solve_lower(cholesky(e.view())?.view(), Op::N, f.view())?)
}

/// `op(U)·v`.
fn times(u: &MatBatch<f64>, op: Op, v: &[f64]) -> Result<Vec<f64>> {
    let v = MatView::new(1, v.len(), 1, v)?;
    Ok(product(u.view(), op, v, Op::N)?.into_vec())
}
