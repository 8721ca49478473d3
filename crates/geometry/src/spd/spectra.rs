//! Sums over the spectra of a batch, for searches that visit the same matrices again and again.
//!
//! With `C_i = V_iᵀ diag(e^l) V_i` (`n × n`; the rows of `V_i` are eigenvectors) and weights `w_i`
//! * the mean logarithm `Σ w_i V_iᵀ diag(l) V_i`;
//! * the Hessian of `½ Σ w_i d²(·, C_i)` at the identity (Ferreira et al. 2013): `Z ↦ Σ w_i V_iᵀ (K_i ∘ (V_i Z V_iᵀ)) V_i` with
//!   `K_rc = (u/2)coth(u/2)`, `u = l_r − l_c`.
//!
//! Eigenvectors are rows because the matrices of a group then make one tall matrix, and a sum over the group is one product.
//! A group fits into the cache together with what is computed from it, and the memory for the whole batch is asked for
//! once: fresh pages for every intermediate batch cost as much as the eigen-decompositions.

use crate::Result;
use stiefel_linalg::{
    EigenScratch, MatBatch, MatView, MatViewMut, Op, Scalar, eigh_into, product_into, symmetrise,
    tolerance,
};

/// Numbers in a group: 64 kB of f64.
const GROUP: usize = 8192;

/// The spectra of the matrices decomposed last, with their weights.
pub(super) struct Spectra<T> {
    n: usize,
    weights: Vec<T>,
    /// `l`, ascending within each matrix.
    logs: Vec<T>,
    /// `V_i`.
    vectors: MatBatch<T>,
    /// The matrices to decompose, and afterwards `w_i K_i`.
    store: MatBatch<T>,
    /// Two intermediate results of a group.
    left: Vec<T>,
    right: Vec<T>,
    eigen: EigenScratch<T>,
}

impl<T: Scalar> Spectra<T> {
    /// Room for as many matrices as there are weights.
    pub(super) fn new(n: usize, weights: Vec<T>) -> Self {
        let count = weights.len();
        let group = (GROUP / (n * n).max(1)).clamp(1, count.max(1)) * n * n;
        Self {
            n,
            weights,
            logs: vec![T::ZERO; count * n],
            vectors: MatBatch::zeros(count, n, n),
            store: MatBatch::zeros(count, n, n),
            left: vec![T::ZERO; group],
            right: vec![T::ZERO; group],
            eigen: EigenScratch::default(),
        }
    }

    /// Decomposes `A X_i Aᵀ`, or `X_i` where there is no `A`. `to_logs(i, λ, U)` turns the eigenvalues into logarithms, and may
    /// put better ones in their place, and better eigenvectors into the columns of `U`.
    pub(super) fn decompose(
        &mut self,
        a: Option<&MatBatch<T>>,
        x: MatView<'_, T>,
        mut to_logs: impl FnMut(usize, &mut [T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let n = self.n;
        let c = if let Some(a) = a {
            self.congruence(a, x)?;
            self.store.view()
        } else {
            x
        };
        let vectors = self.vectors.view_mut();
        eigh_into(c, &mut self.logs, vectors, &mut self.eigen)?;
        for (i, lambda) in self.logs.chunks_exact_mut(n).enumerate() {
            let u = self.vectors.matrix_mut(i);
            to_logs(i, lambda, u)?;
            for r in 1..n {
                for c in 0..r {
                    u.swap(r * n + c, c * n + r);
                }
            }
        }
        Ok(())
    }

    /// `A X_i Aᵀ` into the store. Its two triangles differ by rounding; the decomposition reads the lower one.
    fn congruence(&mut self, a: &MatBatch<T>, x: MatView<'_, T>) -> Result<()> {
        let n = self.n;
        let size = self.left.len();
        let groups = x.data().chunks(size);
        for (x, c) in groups.zip(self.store.data_mut().chunks_mut(size)) {
            let half = &mut self.left[..x.len()];
            into(tall_mut(half, n)?, tall(x, n)?, Op::N, a.view(), Op::T)?;
            into(each_mut(c, n)?, a.view(), Op::N, each(half, n)?, Op::N)?;
        }
        Ok(())
    }

    /// `Σ w_i V_iᵀ diag(l) V_i`, exactly symmetric.
    pub(super) fn mean_log(&mut self) -> Result<MatBatch<T>> {
        let n = self.n;
        let size = self.left.len();
        let mut sum = MatBatch::zeros(1, n, n);
        let mut rows = self
            .weights
            .iter()
            .zip(self.logs.chunks_exact(n))
            .flat_map(|(&w, l)| l.iter().map(move |&l| w * l));
        for v in self.vectors.data().chunks(size) {
            let scaled = &mut self.left[..v.len()];
            let pairs = scaled.chunks_exact_mut(n).zip(v.chunks_exact(n));
            for ((out, row), factor) in pairs.zip(&mut rows) {
                for (out, &x) in out.iter_mut().zip(row) {
                    *out = factor * x;
                }
            }
            add_gram(&mut sum, tall(v, n)?, tall(scaled, n)?)?;
        }
        symmetrise(&mut sum.view_mut())?;
        Ok(sum)
    }

    /// Makes `w_i K_i`, which [`hessian`](Self::hessian) needs once per decomposition.
    pub(super) fn prepare_hessian(&mut self) {
        let n = self.n;
        let mut powers = vec![T::ZERO; n];
        for (i, l) in self.logs.chunks_exact(n).enumerate() {
            // coth(u/2) = (λ_r + λ_c)/(λ_r − λ_c): an exponential per eigenvalue, not per pair. Scaled, none overflows.
            for (p, &l_r) in powers.iter_mut().zip(l) {
                *p = Scalar::exp(l_r - l[n - 1]);
            }
            let w = self.weights[i];
            for (r, row) in self.store.matrix_mut(i).chunks_exact_mut(n).enumerate() {
                for ((k, &l_c), &p) in row.iter_mut().zip(l).zip(&powers) {
                    *k = w * curvature(l[r] - l_c, powers[r], p);
                }
            }
        }
    }

    /// `Σ w_i V_iᵀ (K_i ∘ (V_i Z V_iᵀ)) V_i`, exactly symmetric.
    pub(super) fn hessian(&mut self, z: &MatBatch<T>) -> Result<MatBatch<T>> {
        let n = self.n;
        let size = self.left.len();
        let mut sum = MatBatch::zeros(1, n, n);
        let groups = self.vectors.data().chunks(size);
        for (v, k) in groups.zip(self.store.data().chunks(size)) {
            let (left, right) = (&mut self.left[..v.len()], &mut self.right[..v.len()]);
            into(tall_mut(left, n)?, tall(v, n)?, Op::N, z.view(), Op::N)?;
            into(
                each_mut(right, n)?,
                each(left, n)?,
                Op::N,
                each(v, n)?,
                Op::T,
            )?;
            for (x, &k) in right.iter_mut().zip(k) {
                *x *= k;
            }
            into(
                each_mut(left, n)?,
                each(right, n)?,
                Op::N,
                each(v, n)?,
                Op::N,
            )?;
            add_gram(&mut sum, tall(v, n)?, tall(left, n)?)?;
        }
        symmetrise(&mut sum.view_mut())?;
        Ok(sum)
    }
}

/// `(u/2)coth(u/2)` for `u = ln p − ln q`.
#[inline]
fn curvature<T: Scalar>(u: T, p: T, q: T) -> T {
    let exact = T::from_f64(0.5) * u * (p + q) / (p - q);
    let close = T::ONE + u * u * T::from_f64(1.0 / 12.0);
    if Scalar::abs(u) < T::from_f64(tolerance::CLOSE_LOGARITHMS) {
        close
    } else {
        exact
    }
}

/// `op(A_i)·op(B_i)` into a given place.
fn into<T: Scalar>(
    out: MatViewMut<'_, T>,
    a: MatView<'_, T>,
    op_a: Op,
    b: MatView<'_, T>,
    op_b: Op,
) -> Result<()> {
    Ok(product_into(out, false, T::ONE, a, op_a, b, op_b)?)
}

/// `sum + AᵀB`.
fn add_gram<T: Scalar>(sum: &mut MatBatch<T>, a: MatView<'_, T>, b: MatView<'_, T>) -> Result<()> {
    Ok(product_into(
        sum.view_mut(),
        true,
        T::ONE,
        a,
        Op::T,
        b,
        Op::N,
    )?)
}

/// The matrices of a group below one another.
fn tall<T: Scalar>(group: &[T], n: usize) -> Result<MatView<'_, T>> {
    Ok(MatView::new(1, group.len() / n, n, group)?)
}

/// The same, to be written.
fn tall_mut<T: Scalar>(group: &mut [T], n: usize) -> Result<MatViewMut<'_, T>> {
    Ok(MatViewMut::new(1, group.len() / n, n, group)?)
}

/// The matrices of a group, each by itself.
fn each<T: Scalar>(group: &[T], n: usize) -> Result<MatView<'_, T>> {
    Ok(MatView::new(group.len() / (n * n), n, n, group)?)
}

/// The same, to be written.
fn each_mut<T: Scalar>(group: &mut [T], n: usize) -> Result<MatViewMut<'_, T>> {
    Ok(MatViewMut::new(group.len() / (n * n), n, n, group)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spd::whiten::to_logarithms;
    use crate::spd::{exp, log, mean_log_euclidean};
    use stiefel_linalg::congruence;
    use stiefel_testkit::{assert_close, random_spd, random_symmetric};

    /// More than one group, the last one not full.
    const COUNT: usize = 700;
    const N: usize = 5;

    fn weights() -> Vec<f64> {
        let total = (COUNT * (COUNT + 1) / 2) as f64;
        (1..=COUNT).map(|i| i as f64 / total).collect()
    }

    fn decomposed(a: Option<&MatBatch<f64>>, x: MatView<'_, f64>) -> Spectra<f64> {
        let mut spectra = Spectra::new(x.rows(), weights());
        let to_logs = |_, lambda: &mut [f64], _: &mut [f64]| {
            to_logarithms(lambda);
            Ok(())
        };
        spectra.decompose(a, x, to_logs).unwrap();
        spectra
    }

    #[test]
    fn mean_logarithm() {
        let x = random_spd::<f64>(1, COUNT, N);
        let found = decomposed(None, x.view()).mean_log().unwrap();
        let expected = log(mean_log_euclidean(x.view(), Some(&weights()))
            .unwrap()
            .view());
        assert_close("plain", found.data(), expected.unwrap().data(), 1e-12);

        let a = random_symmetric::<f64>(2, 1, N);
        let moved = congruence(a.view(), x.view()).unwrap();
        let found = decomposed(Some(&a), x.view()).mean_log().unwrap();
        let expected = decomposed(None, moved.view()).mean_log().unwrap();
        assert_close("moved", found.data(), expected.data(), 1e-10);
    }

    /// `−d/dt Σ w_i log(e^{−tZ/2} C_i e^{−tZ/2})` at `t = 0`, by central differences.
    #[test]
    fn hessian_is_the_derivative_of_the_gradient() {
        let x = random_spd::<f64>(3, COUNT, N);
        let z = random_symmetric::<f64>(4, 1, N);
        let gradient = |t: f64| {
            let scaled = MatBatch::from_fn(1, N, N, |_, r, c| -0.5 * t * z.get(0, r, c));
            let a = exp(scaled.view()).unwrap();
            decomposed(Some(&a), x.view()).mean_log().unwrap()
        };
        let h = 1e-4;
        let (ahead, behind) = (gradient(h), gradient(-h));
        let slope = MatBatch::from_fn(1, N, N, |_, r, c| {
            (behind.get(0, r, c) - ahead.get(0, r, c)) / (2.0 * h)
        });
        let mut spectra = decomposed(None, x.view());
        spectra.prepare_hessian();
        let image = spectra.hessian(&z).unwrap();
        assert_close("Hessian", image.data(), slope.data(), 1e-7);
    }

    #[test]
    fn curvature_is_smooth_where_its_forms_meet() {
        for u in [0.0_f64, 1e-9, 0.0099, 0.0101, 0.5, 3.0, 80.0] {
            let expected = if u == 0.0 {
                1.0
            } else {
                0.5 * u / (0.5 * u).tanh()
            };
            for u in [u, -u] {
                let (p, q) = if u > 0.0 {
                    (1.0, (-u).exp())
                } else {
                    (u.exp(), 1.0)
                };
                let found = curvature(u, p, q);
                assert!(
                    (found / expected - 1.0).abs() < 1e-10,
                    "{u}: {found} {expected}"
                );
            }
        }
        // Far apart, the smaller eigenvalue underflows beside the larger one.
        assert_eq!(curvature(2000.0_f64, 1.0, 0.0), 1000.0);
    }
}
