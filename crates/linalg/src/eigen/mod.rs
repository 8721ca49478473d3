//! Symmetric eigen-decomposition `X = U diag(λ) Uᵀ` of a batch.

mod alone;
mod divide;
mod group;
mod householder;
mod ql;
mod secular;
mod single;

use crate::product::{Op, product};
use crate::reduce::symmetrise;
use crate::simd::dispatch;
use crate::tolerance::QL_SWEEPS_PER_EIGENVALUE;
use crate::{LinalgError, MatBatch, MatView, MatViewMut, Result, Scalar, parallel};
pub use group::EigenScratch;
use group::Output;
use rayon::prelude::*;
use single::DecomposeSingle;
pub use single::SingleScratch;

const OP: &str = "symmetric eigen-decomposition";

/// Eigenvalues and eigenvectors of a batch of symmetric `n × n` matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen<T> {
    /// `count × n` eigenvalues, ascending within each matrix.
    pub values: Vec<T>,
    /// Eigenvectors as columns: `X_i = U_i diag(λ_i) U_iᵀ`.
    pub vectors: MatBatch<T>,
}

impl<T: Scalar> Eigen<T> {
    /// The ascending eigenvalues of matrix `i`.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn values_of(&self, i: usize) -> &[T] {
        let n = self.vectors.rows();
        &self.values[i * n..(i + 1) * n]
    }

    /// `U f(λ) Uᵀ`, exactly symmetric: several functions of the same matrix share one decomposition.
    ///
    /// ```
    /// use stiefel_linalg::{MatBatch, eigh};
    ///
    /// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
    /// let squared = eigh(x.view())?.map(|l: f64| l * l)?;
    /// assert!((squared.data()[0] - 5.0).abs() < 1e-14 && (squared.data()[1] - 4.0).abs() < 1e-14);
    /// # Ok::<(), stiefel_linalg::LinalgError>(())
    /// ```
    pub fn map(&self, f: impl Fn(T) -> T) -> Result<MatBatch<T>> {
        let u = self.vectors.view();
        let (count, n, _) = u.shape();
        let mut scaled = u.to_owned();
        let mut mapped = vec![T::ZERO; n];
        for i in 0..count {
            for (out, &lambda) in mapped.iter_mut().zip(self.values_of(i)) {
                *out = f(lambda);
            }
            for row in scaled.matrix_mut(i).chunks_exact_mut(n) {
                row.iter_mut().zip(&mapped).for_each(|(x, &m)| *x *= m);
            }
        }
        let mut value = product(scaled.view(), Op::N, u, Op::T)?;
        symmetrise(&mut value.view_mut())?;
        Ok(value)
    }
}

/// Decomposes every matrix of a batch. Only the lower triangles are read.
///
/// ```
/// use stiefel_linalg::{MatBatch, eigh};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
/// let e = eigh(x.view())?;
/// assert!((e.values[0] - 1.0_f64).abs() < 1e-14 && (e.values[1] - 3.0).abs() < 1e-14);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn eigh<T: Scalar>(x: MatView<'_, T>) -> Result<Eigen<T>> {
    let n = x.check_square(OP)?;
    let mut values = vec![T::ZERO; x.count() * n];
    let mut vectors = MatBatch::zeros(x.count(), n, n);
    eigh_into(
        x,
        &mut values,
        vectors.view_mut(),
        &mut EigenScratch::default(),
    )?;
    Ok(Eigen { values, vectors })
}

/// [`eigh`] into given buffers: `values` holds `count × n`, `vectors` has the shape of `x`. Nothing is allocated once `scratch`
/// has seen the size.
pub fn eigh_into<T: Scalar>(
    x: MatView<'_, T>,
    values: &mut [T],
    mut vectors: MatViewMut<'_, T>,
    scratch: &mut EigenScratch<T>,
) -> Result<()> {
    if vectors.shape() != x.shape() {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("eigenvectors of {:?}", x.shape()),
            found: format!("{:?}", vectors.shape()),
        });
    }
    let vectors = Some(vectors.data());
    decompose(
        x,
        Output {
            values,
            vectors,
            f: None,
        },
        scratch,
    )
}

/// `U_i diag(f(λ)) U_iᵀ` of every matrix into `out`, exactly symmetric, and the ascending eigenvalues into `values`: faster than
/// [`eigh_into`] and two products. Nothing is allocated once `scratch` has seen the size.
///
/// ```
/// use stiefel_linalg::{EigenScratch, MatBatch, eigh_map_into};
///
/// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
/// let (mut values, mut inverse) = ([0.0; 2], MatBatch::zeros(1, 2, 2));
/// let scratch = &mut EigenScratch::default();
/// eigh_map_into(x.view(), &|l: f64| 1.0 / l, &mut values, inverse.view_mut(), scratch)?;
/// assert!((inverse.get(0, 0, 0) - 2.0 / 3.0).abs() < 1e-15 && (inverse.get(0, 0, 1) + 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn eigh_map_into<T: Scalar>(
    x: MatView<'_, T>,
    f: &(dyn Fn(T) -> T + Sync),
    values: &mut [T],
    mut out: MatViewMut<'_, T>,
    scratch: &mut EigenScratch<T>,
) -> Result<()> {
    if out.shape() != x.shape() {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("an output of {:?}", x.shape()),
            found: format!("{:?}", out.shape()),
        });
    }
    let vectors = Some(out.data());
    decompose(
        x,
        Output {
            values,
            vectors,
            f: Some(f),
        },
        scratch,
    )
}

/// [`eigh_into`] of a single matrix alone, along its rows instead of one matrix per lane: for decisions one by one. The same to rounding, not to the
/// bit. Nothing is allocated once `scratch` has seen the size.
pub fn eigh_single_into<T: Scalar>(
    x: MatView<'_, T>,
    values: &mut [T],
    mut vectors: MatViewMut<'_, T>,
    scratch: &mut SingleScratch<T>,
) -> Result<()> {
    let n = x.check_square(OP)?;
    if x.count() != 1 || vectors.shape() != x.shape() || values.len() != n {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("one matrix, its eigenvectors and {n} eigenvalues"),
            found: format!("{:?}, {:?}, {}", x.shape(), vectors.shape(), values.len()),
        });
    }
    single(x, values, vectors.data(), None, scratch)
}

/// [`eigh_map_into`] of a single matrix alone, along its rows, as [`eigh_single_into`] decomposes it.
///
/// ```
/// use stiefel_linalg::{MatBatch, MatView, SingleScratch, eigh_map_single_into};
///
/// let x = MatView::new(1, 2, 2, &[2.0, 1.0, 1.0, 2.0])?;
/// let (mut values, mut inverse) = ([0.0; 2], MatBatch::zeros(1, 2, 2));
/// eigh_map_single_into(x, &|l: f64| 1.0 / l, &mut values, inverse.view_mut(), &mut SingleScratch::default())?;
/// assert!((inverse.get(0, 0, 0) - 2.0 / 3.0).abs() < 1e-15 && (inverse.get(0, 0, 1) + 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn eigh_map_single_into<T: Scalar>(
    x: MatView<'_, T>,
    f: &(dyn Fn(T) -> T + Sync),
    values: &mut [T],
    mut out: MatViewMut<'_, T>,
    scratch: &mut SingleScratch<T>,
) -> Result<()> {
    let n = x.check_square(OP)?;
    if x.count() != 1 || out.shape() != x.shape() || values.len() != n {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("one matrix, an output of its shape and {n} eigenvalues"),
            found: format!("{:?}, {:?}, {}", x.shape(), out.shape(), values.len()),
        });
    }
    single(x, values, out.data(), Some(f), scratch)
}

/// The ascending eigenvalues of a single matrix alone, as [`eigh_single_into`] finds them: a third of its work. Nothing is allocated once `scratch` has
/// seen the size.
///
/// ```
/// use stiefel_linalg::{MatView, SingleScratch, eigenvalues_single_into};
///
/// let mut values = [0.0; 2];
/// let x = MatView::new(1, 2, 2, &[2.0, 1.0, 1.0, 2.0])?;
/// eigenvalues_single_into(x, &mut values, &mut SingleScratch::default())?;
/// assert!((values[0] - 1.0_f64).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
pub fn eigenvalues_single_into<T: Scalar>(
    x: MatView<'_, T>,
    values: &mut [T],
    scratch: &mut SingleScratch<T>,
) -> Result<()> {
    let n = x.check_square(OP)?;
    if x.count() != 1 || values.len() != n {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("one matrix and {n} eigenvalues"),
            found: format!("{:?}, {}", x.shape(), values.len()),
        });
    }
    single(x, values, &mut [], None, scratch)
}

/// The ascending eigenvalues alone, `count × n`: a third of the work of [`eigh`], and the same bits.
pub fn eigenvalues<T: Scalar>(x: MatView<'_, T>) -> Result<Vec<T>> {
    let mut values = vec![T::ZERO; x.count() * x.rows()];
    eigenvalues_into(x, &mut values, &mut EigenScratch::default())?;
    Ok(values)
}

/// [`eigenvalues`] into a given buffer. Nothing is allocated once `scratch` has seen the size.
pub fn eigenvalues_into<T: Scalar>(
    x: MatView<'_, T>,
    values: &mut [T],
    scratch: &mut EigenScratch<T>,
) -> Result<()> {
    let output = Output {
        values,
        vectors: None,
        f: None,
    };
    decompose(x, output, scratch)
}

/// One matrix along its rows; no vectors ask for values alone.
fn single<T: Scalar>(
    x: MatView<'_, T>,
    values: &mut [T],
    vectors: &mut [T],
    f: Option<&(dyn Fn(T) -> T + Sync)>,
    scratch: &mut SingleScratch<T>,
) -> Result<()> {
    let n = x.rows();
    x.check_finite(OP)?;
    if n == 0 {
        return Ok(());
    }
    let converged = dispatch(DecomposeSingle {
        n,
        input: x.data(),
        values,
        vectors,
        f,
        scratch,
    })?;
    if converged {
        return Ok(());
    }
    let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
    Err(LinalgError::NoConvergence { matrix: 0, sweeps })
}

fn decompose<T: Scalar>(
    x: MatView<'_, T>,
    output: Output<'_, T>,
    scratch: &mut EigenScratch<T>,
) -> Result<()> {
    let n = x.check_square(OP)?;
    x.check_finite(OP)?;
    if output.values.len() != x.count() * n {
        return Err(LinalgError::Shape {
            op: OP,
            expected: format!("{} eigenvalues", x.count() * n),
            found: format!("{}", output.values.len()),
        });
    }
    if n == 0 || x.count() == 0 {
        return Ok(());
    }
    let done = if parallel::pays(x.count() * n * n * n) {
        decompose_in_parallel(n, x.data(), output)?
    } else {
        decompose_here(n, x.data(), output, scratch)?
    };
    let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
    done.map_err(|matrix| LinalgError::NoConvergence { matrix, sweeps })
}

/// The size from which matrices are decomposed one by one, along their rows. A register full of smaller ones fits the second-level cache; from here on lanes lose what they gain, and where there
/// is only one matrix they are mostly empty. The size alone decides, so that a matrix gives the same bits in a batch of any size.
const LARGE: usize = 64;

/// The same on this thread.
fn decompose_here<T: Scalar>(
    n: usize,
    input: &[T],
    output: Output<'_, T>,
    scratch: &mut EigenScratch<T>,
) -> Result<std::result::Result<(), usize>> {
    if n < LARGE {
        group::decompose(n, input, output, scratch)
    } else {
        let f = output.f;
        group::one_by_one(n, input, output, |input, values, vectors| {
            dispatch(DecomposeSingle {
                n,
                input,
                values,
                vectors,
                f,
                scratch: &mut scratch.single,
            })
        })
    }
}

/// The same in chunks of whole groups over the threads of the current rayon pool. A matrix's result does not depend on
/// its neighbours, so neither does it on the number of threads.
fn decompose_in_parallel<T: Scalar>(
    n: usize,
    input: &[T],
    output: Output<'_, T>,
) -> Result<std::result::Result<(), usize>> {
    const CHUNK: usize = 64;
    let mut chunks: Vec<_> = input
        .chunks(CHUNK * n * n)
        .zip(output.values.chunks_mut(CHUNK * n))
        .map(|(input, values)| {
            (
                input,
                Output {
                    values,
                    vectors: None,
                    f: output.f,
                },
            )
        })
        .collect();
    if let Some(vectors) = output.vectors {
        for ((_, part), vectors) in chunks.iter_mut().zip(vectors.chunks_mut(CHUNK * n * n)) {
            part.vectors = Some(vectors);
        }
    }
    let failed = chunks
        .into_par_iter()
        .enumerate()
        .map_init(EigenScratch::default, |scratch, (at, (input, output))| {
            let run = decompose_here(n, input, output, scratch)?;
            Ok(run.err().map(|matrix| at * CHUNK + matrix))
        })
        .try_reduce(|| None, |a, b| Ok(a.into_iter().chain(b).min()))?;
    Ok(failed.map_or(Ok(()), Err))
}
