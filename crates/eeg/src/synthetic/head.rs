//! The potential of a current dipole on the outside of a head of concentric shells.
//!
//! A dipole `q` at radius `r₀` in the innermost shell (conductivity `σ₁`) makes, at an electrode in
//! direction `e` on the unit sphere,
//!
//! ```text
//! V(e) = 1/(4πσ₁) Σ_n h_n · r₀ⁿ⁻¹ · [ n·(q·r̂₀)·P_n(cos γ) + P_n′(cos γ)·q·(e − cos γ·r̂₀) ],   cos γ = e·r̂₀
//! ```
//!
//! where `h_n` is how much of the `n`-th term of the unbounded medium reaches the surface: within a
//! shell the potential is `A·rⁿ + B·r⁻ⁿ⁻¹`, it and the radial current `σ·∂V/∂r` are continuous from
//! shell to shell, and no current leaves the head. One shell gives `h_n = (2n+1)/n`. Source: de
//! Munck, J. Appl. Phys. 64 (1988).

use super::geometry::{Vec3, dot, scale, sub};

/// Concentric shells, innermost first: outer radius (the last is 1) and conductivity in S/m.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    shells: Vec<(f64, f64)>,
    transfer: Vec<f64>,
}

/// Terms of the series: at the depth of the cortex, `0.83ⁿ`, the rest is below 1e-9.
const TERMS: usize = 110;

impl Head {
    /// Brain, skull and scalp; radii of Rush & Driscoll (1968), skull 25 times less conducting.
    pub(crate) fn three_shells() -> Self {
        Self::new(vec![(0.87, 0.33), (0.92, 0.0132), (1.0, 0.33)])
    }

    pub(crate) fn new(shells: Vec<(f64, f64)>) -> Self {
        let transfer = (1..=TERMS).map(|n| transfer(&shells, n as f64)).collect();
        Self { shells, transfer }
    }

    /// The potential in direction `e` (unit length) of a dipole of moment `q` at `r0`.
    pub(crate) fn potential(&self, e: Vec3, r0: Vec3, q: Vec3) -> f64 {
        let radius = dot(r0, r0).sqrt();
        let axis = scale(r0, 1.0 / radius);
        let x = dot(e, axis);
        let radial = dot(q, axis);
        let tangential = dot(q, sub(e, scale(axis, x)));
        // P and P′ by their recurrences: P′_{n+1} = (n+1)·P_n + x·P′_n.
        let (mut previous, mut p, mut slope) = (1.0, x, 1.0);
        let (mut sum, mut power) = (0.0, 1.0);
        for (index, h) in self.transfer.iter().enumerate() {
            let n = (index + 1) as f64;
            sum += h * power * (n * radial * p + slope * tangential);
            power *= radius;
            let next = ((2.0 * n + 1.0) * x * p - n * previous) / (n + 1.0);
            slope = (n + 1.0) * p + x * slope;
            (previous, p) = (p, next);
        }
        sum / (4.0 * std::f64::consts::PI * self.shells[0].1)
    }
}

/// The surface potential per unit of the source term `B` in the innermost shell.
fn transfer(shells: &[(f64, f64)], n: f64) -> f64 {
    // From the outside in: A = 1 in the outermost shell, and no current through the surface.
    let (mut a, mut b) = (1.0, n / (n + 1.0));
    let surface = a + b;
    for pair in shells.windows(2).rev() {
        let ((r, inner), (_, outer)) = (pair[0], pair[1]);
        let (grow, decay) = (a * r.powf(n), b * r.powf(-n - 1.0));
        let value = grow + decay;
        let flow = outer / inner * (n * grow - (n + 1.0) * decay);
        a = ((n + 1.0) * value + flow) / (2.0 * n + 1.0) * r.powf(-n);
        b = (n * value - flow) / (2.0 * n + 1.0) * r.powf(n + 1.0);
    }
    surface / b
}

#[cfg(test)]
mod tests {
    use super::*;

    const E: Vec3 = [0.36, 0.48, 0.8];

    /// One shell in closed form, from the generating function of the Legendre polynomials.
    fn homogeneous(e: Vec3, r0: Vec3, q: Vec3, sigma: f64) -> f64 {
        let t = dot(r0, r0).sqrt();
        let axis = scale(r0, 1.0 / t);
        let x = dot(e, axis);
        let d = (1.0 - 2.0 * t * x + t * t).sqrt();
        let radial = 2.0 * (x - t) / d.powi(3) + (1.0 / d - 1.0) / t;
        // Σ tⁿ⁻¹P_n′/n = −∂/∂x ln((1 − tx + d)/2) / t
        let tangential = 2.0 / d.powi(3) + (1.0 + 1.0 / d) / (1.0 - t * x + d);
        let along = dot(q, sub(e, scale(axis, x)));
        (radial * dot(q, axis) + tangential * along) / (4.0 * std::f64::consts::PI * sigma)
    }

    #[test]
    fn one_shell_is_the_closed_form() {
        let head = Head::new(vec![(1.0, 0.33)]);
        for (r0, q) in [
            ([0.0, 0.1, 0.6], [0.0, 0.0, 1.0]),
            ([0.3, 0.2, 0.4], [1.0, -0.5, 0.3]),
            ([-0.5, 0.2, 0.5], [0.2, 0.7, -1.0]),
        ] {
            let (got, want) = (head.potential(E, r0, q), homogeneous(E, r0, q, 0.33));
            assert!((got - want).abs() < 1e-9 * want.abs(), "{got} {want}");
        }
    }

    #[test]
    fn equal_shells_are_one_shell_and_a_skull_attenuates_and_smears() {
        let one = Head::new(vec![(1.0, 0.33)]);
        let equal = Head::new(vec![(0.87, 0.33), (0.92, 0.33), (1.0, 0.33)]);
        let head = Head::three_shells();
        let (r0, q) = ([0.0, 0.0, 0.8], [0.0, 0.0, 1.0]);
        assert!((one.potential(E, r0, q) / equal.potential(E, r0, q) - 1.0).abs() < 1e-10);
        let top = [0.0, 0.0, 1.0];
        let away = [0.0, 0.6, 0.8];
        assert!(head.potential(top, r0, q) < 0.5 * one.potential(top, r0, q));
        let spread = |h: &Head| h.potential(away, r0, q) / h.potential(top, r0, q);
        assert!(spread(&head) > 2.0 * spread(&one));
    }

    #[test]
    fn currents_balance_at_every_boundary() {
        // Independent of the recursion: solve for (A, B) of each shell by hand for one n.
        let shells = [(0.87, 0.33), (0.92, 0.0132), (1.0, 0.33)];
        let n = 5.0_f64;
        // Unknowns A1, A2, B2, A3, B3 with B1 = 1.
        let (r1, r2) = (0.87_f64, 0.92_f64);
        let (s1, s2, s3) = (shells[0].1, shells[1].1, shells[2].1);
        let g = |r: f64| r.powf(n);
        let d = |r: f64| r.powf(-n - 1.0);
        let gg = |r: f64| n * r.powf(n - 1.0);
        let dd = |r: f64| -(n + 1.0) * r.powf(-n - 2.0);
        let mut m = [
            [g(r1), -g(r1), -d(r1), 0.0, 0.0, -d(r1)],
            [
                s1 * gg(r1),
                -s2 * gg(r1),
                -s2 * dd(r1),
                0.0,
                0.0,
                -s1 * dd(r1),
            ],
            [0.0, g(r2), d(r2), -g(r2), -d(r2), 0.0],
            [
                0.0,
                s2 * gg(r2),
                s2 * dd(r2),
                -s3 * gg(r2),
                -s3 * dd(r2),
                0.0,
            ],
            [0.0, 0.0, 0.0, gg(1.0), dd(1.0), 0.0],
        ];
        for i in 0..5 {
            let pivot = (i..5)
                .max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs()))
                .unwrap();
            m.swap(i, pivot);
            for k in i + 1..5 {
                let factor = m[k][i] / m[i][i];
                for j in i..6 {
                    m[k][j] -= factor * m[i][j];
                }
            }
        }
        let mut v = [0.0; 5];
        for i in (0..5).rev() {
            v[i] = (m[i][5] - (i + 1..5).map(|j| m[i][j] * v[j]).sum::<f64>()) / m[i][i];
        }
        assert!((transfer(&shells, n) / (v[3] + v[4]) - 1.0).abs() < 1e-10);
    }
}
