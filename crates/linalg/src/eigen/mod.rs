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
use crate::tolerance::QL_SWEEPS_PER_EIGENVALUE;
use crate::{LinalgError, MatBatch, MatRef, MatView, Result, Scalar, parallel};
pub use group::EigenWorkspace;
use group::Output;
use rayon::prelude::*;
use single::decompose_single;

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

    /// `U f(λ) Uᵀ`, exactly symmetric: several functions of the same matrix share one
    /// decomposition.
    ///
    /// ```
    /// use stiefel_linalg::{MatBatch, eigh};
    ///
    /// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
    /// let squared = eigh(x.view())?.map(|l: f64| l * l)?;
    /// assert!(
    ///     (squared.data()[0] - 5.0).abs() < 1e-14 && (squared.data()[1] - 4.0).abs() < 1e-14
    /// );
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
    let wanted = Wanted::Vectors(vectors.data_mut());
    EigenWorkspace::default().decompose(x, &mut values, wanted)?;
    Ok(Eigen { values, vectors })
}

/// The ascending eigenvalues alone, `count × n`: a third of the work of [`eigh`], and the same
/// bits.
pub fn eigenvalues<T: Scalar>(x: MatView<'_, T>) -> Result<Vec<T>> {
    let mut values = vec![T::ZERO; x.count() * x.rows()];
    EigenWorkspace::default().decompose(x, &mut values, Wanted::Values)?;
    Ok(values)
}

/// What a decomposition writes beside the eigenvalues, `count × n × n`.
pub enum Wanted<'a, T> {
    /// Nothing: a third of the work.
    Values,
    /// Eigenvectors as columns.
    Vectors(&'a mut [T]),
    /// `U f(λ) Uᵀ`, exactly symmetric: faster than eigenvectors and two products.
    Map(&'a (dyn Fn(T) -> T + Sync), &'a mut [T]),
}

impl<T> std::fmt::Debug for Wanted<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Values => "Values",
            Self::Vectors(_) => "Vectors",
            Self::Map(..) => "Map",
        })
    }
}

impl<T> Wanted<'_, T> {
    fn len(&self) -> Option<usize> {
        match self {
            Self::Values => None,
            Self::Vectors(out) | Self::Map(_, out) => Some(out.len()),
        }
    }
}

impl<T: Scalar> EigenWorkspace<T> {
    /// Decomposes every matrix of a batch, one per SIMD lane: ascending eigenvalues into `values`
    /// (`count × n`), and what else is wanted. Nothing is allocated once the workspace has seen the
    /// size.
    ///
    /// ```
    /// use stiefel_linalg::{EigenWorkspace, MatBatch, Wanted};
    ///
    /// let x = MatBatch::from_vec(1, 2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
    /// let (mut values, mut inverse) = ([0.0; 2], [0.0; 4]);
    /// let wanted = Wanted::Map(&|l: f64| 1.0 / l, &mut inverse);
    /// EigenWorkspace::default().decompose(x.view(), &mut values, wanted)?;
    /// assert!((inverse[0] - 2.0 / 3.0).abs() < 1e-15 && (inverse[1] + 1.0 / 3.0).abs() < 1e-15);
    /// # Ok::<(), stiefel_linalg::LinalgError>(())
    /// ```
    pub fn decompose(
        &mut self,
        x: MatView<'_, T>,
        values: &mut [T],
        wanted: Wanted<'_, T>,
    ) -> Result<()> {
        let n = checked(x, values, &wanted)?;
        if n == 0 || x.count() == 0 {
            return Ok(());
        }
        let output = Output::new(values, wanted);
        let done = if parallel::pays(x.count() * n * n * n) {
            decompose_in_parallel(n, x.data(), output)?
        } else {
            decompose_here(n, x.data(), output, self)?
        };
        let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
        done.map_err(|matrix| LinalgError::NoConvergence { matrix, sweeps })
    }

    /// Decomposes one matrix along its rows instead of one per lane: for decisions one by one.
    /// Agrees with [`decompose`](Self::decompose) to rounding, not to the bit.
    ///
    /// ```
    /// use stiefel_linalg::{EigenWorkspace, MatRef, Wanted};
    ///
    /// let mut values = [0.0; 2];
    /// let x = MatRef::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
    /// EigenWorkspace::default().decompose_one(x, &mut values, Wanted::Values)?;
    /// assert!((values[0] - 1.0_f64).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
    /// # Ok::<(), stiefel_linalg::LinalgError>(())
    /// ```
    pub fn decompose_one(
        &mut self,
        x: MatRef<'_, T>,
        values: &mut [T],
        wanted: Wanted<'_, T>,
    ) -> Result<()> {
        let n = checked(x.view(), values, &wanted)?;
        if n == 0 {
            return Ok(());
        }
        let Output { values, vectors, f } = Output::new(values, wanted);
        let vectors = vectors.unwrap_or_default();
        if decompose_single(n, x.data(), values, vectors, f, &mut self.single)? {
            return Ok(());
        }
        let sweeps = QL_SWEEPS_PER_EIGENVALUE * n;
        Err(LinalgError::NoConvergence { matrix: 0, sweeps })
    }
}

/// The size of finite square matrices with room for what is wanted of them.
fn checked<T: Scalar>(x: MatView<'_, T>, values: &[T], wanted: &Wanted<'_, T>) -> Result<usize> {
    let n = x.check_square(OP)?;
    x.check_finite(OP)?;
    let (found, count) = (wanted.len(), x.count());
    if values.len() == count * n && found.is_none_or(|len| len == count * n * n) {
        return Ok(n);
    }
    Err(LinalgError::Shape {
        op: OP,
        expected: format!(
            "room for {} eigenvalues and {count} × {n} × {n} values",
            count * n
        ),
        found: format!("{} and {found:?}", values.len()),
    })
}

/// The size from which matrices are decomposed one by one, along their rows. A register full of
/// smaller ones fits the second-level cache; from here on lanes lose what they gain, and where
/// there is only one matrix they are mostly empty. The size alone decides, so that a matrix gives
/// the same bits in a batch of any size.
const LARGE: usize = 64;

/// The same on this thread.
fn decompose_here<T: Scalar>(
    n: usize,
    input: &[T],
    output: Output<'_, T>,
    scratch: &mut EigenWorkspace<T>,
) -> Result<std::result::Result<(), usize>> {
    if n < LARGE {
        group::decompose(n, input, output, scratch)
    } else {
        let f = output.f;
        group::one_by_one(n, input, output, |input, values, vectors| {
            decompose_single(n, input, values, vectors, f, &mut scratch.single)
        })
    }
}

/// The same in chunks of whole groups over the threads of the current rayon pool. A matrix's result
/// does not depend on its neighbours, so neither does it on the number of threads.
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
        .map_init(EigenWorkspace::default, |scratch, (at, (input, output))| {
            let run = decompose_here(n, input, output, scratch)?;
            Ok(run.err().map(|matrix| at * CHUNK + matrix))
        })
        .try_reduce(|| None, |a, b| Ok(a.into_iter().chain(b).min()))?;
    Ok(failed.map_or(Ok(()), Err))
}
