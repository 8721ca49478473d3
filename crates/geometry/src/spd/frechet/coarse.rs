//! The neighbourhood of a mean in half the digits: twice as many matrices in a register.
//!
//! Newton's method forgets where it came from, so that the first evaluations need not be exact: in
//! f32 they lead to a residual `r` whose square f32 hardly resolves, and the step from there is the
//! start in f64. Matrices that f32 does not resolve stop this at once, and the search starts in
//! f64.

use super::super::spectra::Spectra;
use super::super::whiten::exp_scaled;
use super::Hessian;
use crate::singular::norm;
use crate::tolerance::{COARSE_FEWEST, COARSE_RESIDUAL, COARSE_SPREAD};
use crate::{GeometryError, Result};
use stiefel_linalg::minimise::conjugate_gradients;
use stiefel_linalg::{Mat, MatBatch, MatRef, MatView, Op, Scalar, eigh, product};

/// A matrix near the mean.
pub(super) struct Near<T> {
    pub(super) mean: MatBatch<T>,
    /// Evaluations of the gradient on the way.
    pub(super) evaluations: usize,
}

/// A matrix near the mean of `x`, after fewer than `most` evaluations; nothing where f64 is the
/// better or the only way: few matrices, a spectrum that f32 does not resolve, or steps that do not
/// lead down.
pub(super) fn near<T: Scalar>(x: MatView<'_, T>, weights: &[T], most: usize) -> Option<Near<T>> {
    if T::NAME != "f64" || x.count() < COARSE_FEWEST {
        return None;
    }
    let single = |x: &[T]| x.iter().map(|v| v.to_f64() as f32).collect::<Vec<f32>>();
    let (count, n, _) = x.shape();
    let rounded = MatBatch::from_vec(count, n, n, single(x.data())).ok()?;
    let spectra = Spectra::new(n, single(weights)).ok()?;
    let x = rounded.view();
    // Whatever goes wrong here is found again, and named, in f64.
    let (mean, evaluations) = Search { x, spectra }.run(most).ok()??;
    let mean = mean.data().iter().map(|&v| T::from_f64(f64::from(v)));
    Some(Near {
        mean: Mat::new(n, n, mean.collect()).into(),
        evaluations,
    })
}

struct Search<'a> {
    x: MatView<'a, f32>,
    spectra: Spectra<f32>,
}

impl Search<'_> {
    /// The mean after the last step, and how many evaluations there were.
    fn run(mut self, most: usize) -> Result<Option<(MatBatch<f32>, usize)>> {
        let n = self.x.rows();
        self.decompose(None)?;
        let start = eigh(self.spectra.mean_log()?.view())?;
        let (mut s, mut s_inv) = (exp_scaled(&start, 0.5)?, exp_scaled(&start, -0.5)?);
        let mut last = f32::INFINITY;
        for evaluations in 1..most {
            self.decompose(Some(&s_inv))?;
            let gradient = self.spectra.mean_log()?;
            let residual = norm(gradient.data()) / (n as f32).sqrt();
            if residual >= last || residual.is_nan() {
                return Ok(None);
            }
            last = residual;
            let forcing = super::forcing(residual, 0.0);
            self.spectra.prepare_hessian()?;
            let gradient = gradient.into_vec();
            let mut system = Hessian {
                goal: super::square(&gradient) * forcing * forcing,
                spectra: &mut self.spectra,
            };
            let z = conjugate_gradients(&mut system, gradient, None, n * (n + 1) / 2)?;
            let z = eigh(MatRef::new(n, n, &z).view())?;
            let (ahead, back) = (exp_scaled(&z, 0.5)?, exp_scaled(&z, -0.5)?);
            s = product(s.view(), Op::N, ahead.view(), Op::N)?;
            s_inv = product(back.view(), Op::N, s_inv.view(), Op::N)?;
            if residual <= COARSE_RESIDUAL {
                return Ok(Some((
                    product(s.view(), Op::N, s.view(), Op::T)?,
                    evaluations,
                )));
            }
        }
        Ok(None)
    }

    /// Decomposes all matrices; an error where one of them is too ill-conditioned for its smallest
    /// eigenvalue to mean something.
    fn decompose(&mut self, a: Option<&MatBatch<f32>>) -> Result<()> {
        self.spectra.decompose(a, self.x, |_, lambda| {
            let (smallest, largest) = (lambda[0], lambda[lambda.len() - 1]);
            if smallest > COARSE_SPREAD * largest {
                return Ok(None);
            }
            Err(GeometryError::Parameter {
                op: super::OP,
                name: "the smallest eigenvalue",
                value: f64::from(smallest),
                expected: "large enough for f32",
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spd::{FrechetOptions, frechet_mean};
    use stiefel_testkit::random_spd;

    fn equal(count: usize) -> Vec<f64> {
        vec![1.0 / count as f64; count]
    }

    /// The search ends where it ends without the short cut, which a given start leaves out.
    #[test]
    fn the_short_cut_leads_to_the_same_mean() {
        let x = random_spd::<f64>(3, 100, 9);
        let near = near(x.view(), &equal(100), 50).expect("f32 resolves these");
        assert!(near.evaluations >= 1);
        let start = MatBatch::<f64>::identity(1, 9);
        let given = FrechetOptions {
            start: Some(start.view()),
            ..FrechetOptions::default()
        };
        let all = frechet_mean(x.view(), &given).unwrap();
        let short = frechet_mean(x.view(), &FrechetOptions::default()).unwrap();
        assert!(short.report.converged && all.report.converged);
        for (a, b) in short.mean.data().iter().zip(all.mean.data()) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
        let gap = |m: &MatBatch<f64>| {
            let pairs = m.data().iter().zip(all.mean.data());
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(gap(&near.mean) < 1e-2, "{}", gap(&near.mean));
    }

    #[test]
    fn what_f32_does_not_resolve_is_left_to_f64() {
        let x = random_spd::<f64>(4, 64, 5);
        assert!(near(x.view(), &equal(64), 50).is_some());
        assert!(
            near(x.view(), &equal(64), 1).is_none(),
            "no evaluation left"
        );
        let few = random_spd::<f64>(4, 8, 5);
        assert!(near(few.view(), &equal(8), 50).is_none(), "few");
        let mut spread = x.clone();
        for c in 0..5 {
            spread.matrix_mut(40)[c] = 0.0;
            spread.matrix_mut(40)[5 * c] = 0.0;
        }
        for (corner, positive) in [(1e-9, true), (-1.0, false), (1e300, false)] {
            spread.matrix_mut(40)[0] = corner;
            assert!(near(spread.view(), &equal(64), 50).is_none(), "{corner}");
            let found = frechet_mean(spread.view(), &FrechetOptions::default());
            match found {
                Ok(found) => assert!(found.report.converged && positive, "{corner}"),
                Err(error) => {
                    assert!(!positive, "{corner}: {error}");
                    assert!(error.to_string().contains("40"), "{error}");
                }
            }
        }
    }
}
