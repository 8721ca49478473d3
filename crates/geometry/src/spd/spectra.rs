//! Sums over the spectra of a batch, for searches that visit the same matrices again and again.
//!
//! With `C_i = U_i diag(e^l) U_iᵀ` (`n × n`) and weights `w_i`
//! * the mean logarithm `Σ w_i U_i diag(l) U_iᵀ`;
//! * the Hessian of `½ Σ w_i d²(·, C_i)` at the identity (Ferreira et al. 2013): `Z ↦ Σ w_i U_i
//!   (K_i ∘ (U_iᵀ Z U_i)) U_iᵀ` with `K_rc = (u/2)coth(u/2)`, `u = l_r − l_c`.
//!
//! Matrices stay in lanes from the data to the sum ([`stiefel_linalg::lanes`]): eigenvectors are
//! neither sorted nor written out, and the lanes are added up once, at the end. Lanes that are not
//! used have the weight zero. The memory for the whole batch is asked for once: fresh pages for
//! every intermediate batch cost as much as the eigen-decompositions.

use crate::Result;
use stiefel_linalg::lanes::{self, BAND, Laid, Product, Sums, Terms};
use stiefel_linalg::{Aligned, Mat, MatBatch, MatView, Scalar, sums};

/// Groups that are decomposed together.
const TOGETHER: usize = 2;

/// Logarithms and eigenvectors (`n × n`, as columns) of a matrix whose digits the eigen kernel
/// loses, refined by one-sided Jacobi.
pub(super) type Refined<T> = Option<(Vec<T>, Vec<T>)>;

/// The spectra of the matrices decomposed last, with their weights.
pub(super) struct Spectra<T> {
    n: usize,
    count: usize,
    width: usize,
    /// One per lane, zeros at the end.
    weights: Vec<T>,
    /// `l`, `n` registers per group.
    logs: Aligned<T>,
    /// `U_i`, a square per group.
    vectors: Aligned<T>,
    /// The lower triangles of `w_i K_i`, a square per group.
    curvatures: Aligned<T>,
    /// What one group needs in between.
    scratch: Aligned<T>,
}

impl<T: Scalar> Spectra<T> {
    /// Room for as many matrices as there are weights.
    pub(super) fn new(n: usize, mut weights: Vec<T>) -> Result<Self> {
        let (count, width) = (weights.len(), lanes::width::<T>()?);
        weights.resize(count.next_multiple_of(width), T::ZERO);
        let room = |len: usize| {
            let mut buffer = Aligned::default();
            buffer.room(weights.len() * len);
            buffer
        };
        Ok(Self {
            n,
            count,
            width,
            logs: room(n),
            vectors: room(n * n),
            curvatures: room(n * n),
            weights,
            scratch: Aligned::default(),
        })
    }

    /// Numbers of a square in lanes.
    fn square(&self) -> usize {
        self.n * self.n * self.width
    }

    fn groups(&self) -> usize {
        self.weights.len() / self.width
    }

    /// Decomposes `A X_i Aᵀ`, or `X_i` where there is no `A`. `judge(i, λ)` sees the eigenvalues,
    /// the smallest first and the largest last, and may give something better.
    pub(super) fn decompose(
        &mut self,
        a: Option<&MatBatch<T>>,
        x: MatView<'_, T>,
        mut judge: impl FnMut(usize, &[T]) -> Result<Refined<T>>,
    ) -> Result<()> {
        let (n, width, square, groups) = (self.n, self.width, self.square(), self.groups());
        let room = lanes::eigen_room::<T>(n, TOGETHER)?;
        let scratch = self.scratch.room((2 + TOGETHER) * square + room);
        let (outer, rest) = scratch.split_at_mut(square);
        let (half, rest) = rest.split_at_mut(square);
        let (c, room) = rest.split_at_mut(TOGETHER * square);
        if let Some(a) = a {
            lanes::gather(1, |_| a.matrix(0), outer)?;
        }
        let logs = self.logs.get_mut(groups * n * width);
        let vectors = self.vectors.get_mut(groups * square);
        for first in (0..groups).step_by(TOGETHER) {
            let together = TOGETHER.min(groups - first);
            for (g, c) in c.chunks_exact_mut(square).take(together).enumerate() {
                let begin = (first + g) * width;
                let count = width.min(self.count - begin);
                lanes::gather_lower((n, BAND), count, |i| x.matrix(begin + i), c)?;
                if a.is_some() {
                    congruence(n, outer, half, c)?;
                }
            }
            let values = &mut logs[first * n * width..][..together * n * width];
            let u = &mut vectors[first * square..][..together * square];
            lanes::eigen(n, together, c, values, u, room)
                .map_err(|error| error.offset(first * width))?;
        }
        let mut lambda = vec![T::ZERO; n];
        for i in 0..self.count {
            let (group, lane) = (i / width, i % width);
            let values = &mut logs[group * n * width..][..n * width];
            for (to, register) in lambda.iter_mut().zip(values.chunks_exact(width)) {
                *to = register[lane];
            }
            extremes_outside(&mut lambda);
            let better = judge(i, &lambda)?;
            let Some((better, columns)) = better else {
                for register in values.chunks_exact_mut(width) {
                    register[lane] = Scalar::ln(register[lane]);
                }
                continue;
            };
            for (register, &l) in values.chunks_exact_mut(width).zip(&better) {
                register[lane] = l;
            }
            let u = &mut vectors[group * square..][..square];
            for (register, &x) in u.chunks_exact_mut(width).zip(&columns) {
                register[lane] = x;
            }
        }
        self.clear_unused();
        Ok(())
    }

    /// Lanes without a matrix repeat the last one; their weight is zero, and so are their
    /// logarithms, lest zero times infinity be added.
    fn clear_unused(&mut self) {
        let (n, width, used) = (self.n, self.width, self.count % self.width);
        if used > 0 {
            let at = (self.groups() - 1) * n * width;
            let logs = self.logs.get_mut(at + n * width);
            for register in logs[at..].chunks_exact_mut(width) {
                register[used..].fill(T::ZERO);
            }
        }
    }

    /// `Σ w_i U_i diag(l) U_iᵀ`, exactly symmetric.
    pub(super) fn mean_log(&mut self) -> Result<MatBatch<T>> {
        let (n, width, square, groups) = (self.n, self.width, self.square(), self.groups());
        let scratch = self.scratch.room(3 * square + n * width);
        let (sum, rest) = scratch.split_at_mut(square);
        let (out, rest) = rest.split_at_mut(square);
        let (half, f) = rest.split_at_mut(square);
        sum.fill(T::ZERO);
        let logs = self.logs.get(groups * n * width).chunks_exact(n * width);
        let vectors = self.vectors.get(groups * square).chunks_exact(square);
        let weights = self.weights.chunks_exact(width);
        for ((l, u), w) in logs.zip(vectors).zip(weights) {
            for (f, l) in f.chunks_exact_mut(width).zip(l.chunks_exact(width)) {
                for ((f, &l), &w) in f.iter_mut().zip(l).zip(w) {
                    *f = w * l;
                }
            }
            lanes::recompose(n, u, f, half, out)?;
            sums::add_scaled(sum, T::ONE, out);
        }
        Ok(total(n, width, sum))
    }

    /// Makes `w_i K_i`, which [`hessian`](Self::hessian) needs once per decomposition.
    pub(super) fn prepare_hessian(&mut self) -> Result<()> {
        let (n, width, square, groups) = (self.n, self.width, self.square(), self.groups());
        let mut powers = vec![T::ZERO; n * width];
        let curvatures = self.curvatures.get_mut(groups * square);
        let logs = self.logs.get(groups * n * width).chunks_exact(n * width);
        let pairs = logs.zip(curvatures.chunks_exact_mut(square));
        for ((l, k), w) in pairs.zip(self.weights.chunks_exact(width)) {
            // coth(u/2) = (λ_r + λ_c)/(λ_r − λ_c): an exponential per eigenvalue, not per pair.
            // Scaled, none overflows.
            for lane in 0..width {
                let of = |r: usize| l[r * width + lane];
                let largest = (0..n).map(of).fold(of(0), Scalar::max);
                for r in 0..n {
                    powers[r * width + lane] = Scalar::exp(of(r) - largest);
                }
            }
            lanes::curvatures(n, l, &powers, w, k)?;
        }
        Ok(())
    }

    /// `Σ w_i U_i (K_i ∘ (U_iᵀ Z U_i)) U_iᵀ`, exactly symmetric.
    pub(super) fn hessian(&mut self, z: &[T]) -> Result<MatBatch<T>> {
        let (n, width, square, groups) = (self.n, self.width, self.square(), self.groups());
        let scratch = self.scratch.room(5 * square);
        let (sum, rest) = scratch.split_at_mut(square);
        let (out, rest) = rest.split_at_mut(square);
        let (g, inner) = rest.split_at_mut(square);
        sum.fill(T::ZERO);
        lanes::gather(1, |_| z, g)?;
        let vectors = self.vectors.get(groups * square).chunks_exact(square);
        let curvatures = self.curvatures.get(groups * square).chunks_exact(square);
        for (u, k) in vectors.zip(curvatures) {
            lanes::spectral_derivative(n, u, k, g, inner, out)?;
            sums::add_scaled(sum, T::ONE, out);
        }
        Ok(total(n, width, sum))
    }
}

/// The smallest number first and the largest last; nobody asks for the order between them.
fn extremes_outside<T: Scalar>(x: &mut [T]) {
    let Some(last) = x.len().checked_sub(1) else {
        return;
    };
    for i in 1..=last {
        if x[i] < x[0] {
            x.swap(0, i);
        }
    }
    for i in 0..last {
        if x[i] > x[last] {
            x.swap(i, last);
        }
    }
}

/// `A C Aᵀ` in the place of `C`, of which the lower triangle and [`BAND`] entries right of the
/// diagonal are read.
fn congruence<T: Scalar>(n: usize, a: &[T], half: &mut [T], c: &mut [T]) -> Result<()> {
    let (shape, a) = ((n, n, n), Laid::new(a, n));
    lanes::product(Product {
        terms: Terms::SymmetricLeft,
        ..Product::new(shape, Laid::new(c, n), a.transposed(), half)
    })?;
    lanes::product(Product {
        sums: Sums::Symmetric,
        ..Product::new(shape, a, Laid::new(half, n), c)
    })?;
    Ok(())
}

/// The sum over lanes, in their order.
fn total<T: Scalar>(n: usize, width: usize, sum: &[T]) -> MatBatch<T> {
    let entries = sum.chunks_exact(width).map(|x| x.iter().copied().sum());
    Mat::new(n, n, entries.collect()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut spectra = Spectra::new(x.rows(), weights()).unwrap();
        spectra.decompose(a, x, |_, _| Ok(None)).unwrap();
        spectra
    }

    #[test]
    fn the_smallest_is_first_and_the_largest_last() {
        for given in [
            &[][..],
            &[1.0],
            &[2.0, 1.0],
            &[3.0, 1.0, 2.0],
            &[1.0, 4.0, 1.0, 4.0, 2.0],
        ] {
            let mut x = given.to_vec();
            super::extremes_outside(&mut x);
            let mut sorted = given.to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!((x.first(), x.last()), (sorted.first(), sorted.last()));
            x.sort_by(f64::total_cmp);
            assert_eq!(x, sorted, "nothing is lost");
        }
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
        spectra.prepare_hessian().unwrap();
        let image = spectra.hessian(z.data()).unwrap();
        assert_close("Hessian", image.data(), slope.data(), 1e-7);
    }

    /// `(u/2)coth(u/2)` for `u = ln p − ln q`.
    fn curvature(u: f64, p: f64, q: f64) -> f64 {
        let width = lanes::width::<f64>().unwrap();
        let pair = |a: f64, b: f64| [vec![a; width], vec![b; width]].concat();
        let mut out = vec![0.0; 4 * width];
        let ones = vec![1.0; width];
        lanes::curvatures(2, &pair(0.0, u), &pair(q, p), &ones, &mut out).unwrap();
        out[2 * width]
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
