//! The Bures–Wasserstein geometry of SPD(n): optimal transport between centred Gaussians.
//!
//! `T = A^{-1/2}(A^{1/2} B A^{1/2})^{1/2} A^{-1/2}` is the one SPD matrix with `T A T = B`, the map
//! that carries the first Gaussian to the second at the least cost. With a Cholesky factor `A = L
//! Lᵀ` it is `L⁻ᵀ (LᵀBL)^{1/2} L⁻¹`. All matrices are `n × n`.
//!
//! | verb | formula |
//! |---|---|
//! | geodesic | `G A G`, `G = (1 − t)I + tT` |
//! | logarithm at A | `(T − I)A + A(T − I)` |
//! | exponential at A | `(I + H)A(I + H)`, `HA + AH = V` |
//!
//! The Lyapunov equation is solved in the basis of `A = U diag(λ) Uᵀ`:
//! `(UᵀHU)_rc = (UᵀVU)_rc/(λ_r + λ_c)`. Sources: Malagò, Montrucchio & Pistone 2018; Bhatia, Jain & Lim 2019. A single operand
//! is broadcast everywhere.

use super::fast::{self, in_parts, of_range};
use super::whiten::{Factor, at_trial, factor, is_resolved, sandwich};
use super::{check_spectrum, check_symmetric};
use crate::Result;
use crate::batch::{broadcast, common_count, position};
use stiefel_linalg::{
    Eigen, EigenWorkspace, MatBatch, MatView, Op, Outer, Scalar, Wanted, eigh, product_into, sums,
    symmetrise,
};

/// `(LᵀB_iL)^{1/2}`, exactly symmetric, and matrices of the same shape that are no longer needed.
fn root_between<T: Scalar>(
    op: &'static str,
    a: &Factor<T>,
    b: MatView<'_, T>,
) -> Result<[MatBatch<T>; 2]> {
    let n = check_symmetric(op, b)?;
    let c = sandwich(a.l.transposed().view(), Outer::Full, b)?;
    let mut values = vec![T::ZERO; c.count() * n];
    let mut root = MatBatch::zeros(c.count(), n, n);
    let square_root = |l: T| Scalar::sqrt(Scalar::max(l, T::ZERO));
    let wanted = Wanted::Map(&square_root, root.data_mut());
    EigenWorkspace::default().decompose(c.view(), &mut values, wanted)?;
    for (i, lambda) in values.chunks_exact(n).enumerate() {
        // So wide a spectrum may be that of a good B seen from a bad A, or that of a bad B.
        if !is_resolved(lambda) {
            let at = if b.count() == 1 { 0 } else { i };
            check_spectrum(op, n, &eigh(b.single(at))?.values).map_err(|e| at_trial(e, at))?;
        }
    }
    Ok([root, c])
}

/// The point at `t` of the Bures–Wasserstein geodesic from `A_i` to `B_i`; `t` is one number for
/// all pairs, or one for each.
///
/// ```
/// use stiefel_geometry::spd::geodesic_wasserstein;
/// use stiefel_linalg::MatBatch;
///
/// let a = MatBatch::from_vec(1, 1, 1, vec![1.0_f64])?;
/// let b = MatBatch::from_vec(1, 1, 1, vec![9.0])?;
/// // Of commuting matrices the roots go in a straight line.
/// assert!(
///     (geodesic_wasserstein(a.view(), b.view(), &[0.5])?.get(0, 0, 0) - 4.0).abs() < 1e-14
/// );
/// # Ok::<(), stiefel_geometry::GeometryError>(())
/// ```
pub fn geodesic_wasserstein<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    in_parts([a, b], |range, [a, b]| {
        geodesic_of_part(a, b, of_range(t, &range))
    })
}

fn geodesic_of_part<T: Scalar>(
    a: MatView<'_, T>,
    b: MatView<'_, T>,
    t: &[T],
) -> Result<MatBatch<T>> {
    let count = common_count("geodesic", a, b)?;
    let from = factor("geodesic, first argument", a)?;
    let [root, _] = root_between("geodesic, second argument", &from, b)?;
    let mut g = sandwich(from.l_inv.transposed().view(), Outer::Full, root.view())?;
    let n = a.rows();
    for i in 0..count {
        let t = position("geodesic", t, count, i)?;
        for (r, row) in g.matrix_mut(i).chunks_exact_mut(n).enumerate() {
            for x in row.iter_mut() {
                *x *= t;
            }
            row[r] += T::ONE - t;
        }
    }
    sandwich(g.view(), Outer::Full, a)
}

/// The tangent vector at `M_i` that points to `X_i`.
pub fn log_map_wasserstein<T: Scalar>(m: MatView<'_, T>, x: MatView<'_, T>) -> Result<MatBatch<T>> {
    if m.count() > 1 {
        return in_parts([m, x], |_, [m, x]| LogarithmAt::new(m, x)?.apply(x));
    }
    let at = LogarithmAt::new(m, x)?;
    in_parts([x], |_, [x]| at.apply(x))
}

/// What the logarithms at foot points `M_i` have in common.
struct LogarithmAt<'a, T: Scalar> {
    m: MatView<'a, T>,
    factor: Factor<T>,
    /// `2 Lᵀ`.
    right: MatBatch<T>,
}

impl<'a, T: Scalar> LogarithmAt<'a, T> {
    const OP: &'static str = "Bures–Wasserstein logarithm map";

    /// At foot points that fit matrices `x`.
    fn new(m: MatView<'a, T>, x: MatView<'_, T>) -> Result<Self> {
        common_count(Self::OP, m, x)?;
        let factor = factor("Bures–Wasserstein logarithm map, foot point", m)?;
        let mut right = factor.l.transposed();
        sums::scale(right.data_mut(), T::from_f64(2.0));
        Ok(Self { m, factor, right })
    }

    /// `V = 2 sym(T M) − 2 M` with `2 T M = L⁻ᵀ (LᵀXL)^{1/2} (2 Lᵀ)`.
    fn apply(&self, x: MatView<'_, T>) -> Result<MatBatch<T>> {
        let [root, mut half] = root_between(Self::OP, &self.factor, x)?;
        multiply(&mut half, (&root, Op::N), (&self.right, Op::N))?;
        let mut v = root;
        multiply(&mut v, (&self.factor.l_inv, Op::T), (&half, Op::N))?;
        symmetrise(&mut v.view_mut())?;
        for i in 0..v.count() {
            sums::add_scaled(v.matrix_mut(i), T::from_f64(-2.0), broadcast(self.m, i));
        }
        Ok(v)
    }
}

/// `C ← op(A)·op(B)`.
fn multiply<T: Scalar>(
    c: &mut MatBatch<T>,
    (a, op_a): (&MatBatch<T>, Op),
    (b, op_b): (&MatBatch<T>, Op),
) -> Result<()> {
    let (a, b) = (a.view(), b.view());
    Ok(product_into(c.view_mut(), false, T::ONE, a, op_a, b, op_b)?)
}

/// The end of the geodesic that leaves `M_i` with velocity `V_i` (symmetric), at time 1.
pub fn exp_map_wasserstein<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let careful = || in_parts([m, v], |_, [m, v]| exponential_of_part(m, v));
    fast::exp_map_wasserstein(m, v).map_or_else(careful, Ok)
}

fn exponential_of_part<T: Scalar>(m: MatView<'_, T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    const OP: &str = "Bures–Wasserstein exponential map";
    common_count(OP, m, v)?;
    check_symmetric("Bures–Wasserstein exponential map, velocity", v)?;
    let n = check_symmetric("Bures–Wasserstein exponential map, foot point", m)?;
    let eigen = eigh(m)?;
    check_spectrum(OP, n, &eigen.values)?;
    let mut h = lyapunov(&eigen, v)?;
    for matrix in h.data_mut().chunks_exact_mut(n * n) {
        for x in matrix.iter_mut().step_by(n + 1) {
            *x += T::ONE;
        }
    }
    sandwich(h.view(), Outer::Full, m)
}

/// `H_i` with `H A + A H = V_i`, from the decomposition of `A`.
fn lyapunov<T: Scalar>(a: &Eigen<T>, v: MatView<'_, T>) -> Result<MatBatch<T>> {
    let n = v.rows();
    let u = a.vectors.view();
    let mut turned = sandwich(a.vectors.transposed().view(), Outer::Full, v)?;
    for i in 0..turned.count() {
        let lambda = a.values_of(if u.count() == 1 { 0 } else { i });
        for (row, &r) in turned.matrix_mut(i).chunks_exact_mut(n).zip(lambda) {
            for (x, &c) in row.iter_mut().zip(lambda) {
                *x /= r + c;
            }
        }
    }
    sandwich(u, Outer::Full, turned.view())
}
