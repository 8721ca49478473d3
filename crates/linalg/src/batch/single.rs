//! One matrix, owned or borrowed: a batch of one that needs no check of its count.

use super::{MatBatch, MatView, MatViewMut};
use crate::Scalar;

/// One `rows × cols` matrix, row-major.
///
/// ```
/// use stiefel_linalg::{Mat, trace};
///
/// let x = Mat::new(2, 2, vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(trace(x.view())?, [5.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mat<T> {
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

/// One borrowed `rows × cols` matrix, row-major. Cheap to copy.
///
/// ```
/// use stiefel_linalg::{MatRef, trace};
///
/// let x = MatRef::new(2, 2, &[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(trace(x.view())?, [5.0]);
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a, T> {
    rows: usize,
    cols: usize,
    data: &'a [T],
}

fn check(rows: usize, cols: usize, found: usize) {
    assert_eq!(found, rows * cols, "values of a matrix {rows} × {cols}");
}

impl<T: Scalar> Mat<T> {
    /// Takes over a vector of rows.
    ///
    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn new(rows: usize, cols: usize, data: Vec<T>) -> Self {
        check(rows, cols, data.len());
        Self { rows, cols, data }
    }

    /// Borrows the matrix as a batch of one.
    pub fn view(&self) -> MatView<'_, T> {
        MatRef::new(self.rows, self.cols, &self.data).view()
    }
}

impl<'a, T: Scalar> MatRef<'a, T> {
    /// Borrows rows that lie one after the other.
    ///
    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn new(rows: usize, cols: usize, data: &'a [T]) -> Self {
        check(rows, cols, data.len());
        Self { rows, cols, data }
    }

    /// Returns the entries, row by row.
    pub fn data(self) -> &'a [T] {
        self.data
    }

    /// Borrows the matrix as a batch of one.
    pub fn view(self) -> MatView<'a, T> {
        MatView {
            count: 1,
            rows: self.rows,
            cols: self.cols,
            data: self.data,
        }
    }
}

impl<'a, T: Scalar> MatViewMut<'a, T> {
    /// Borrows the rows of one matrix, to be changed.
    ///
    /// # Panics
    /// If there are not `rows · cols` values.
    pub fn one(rows: usize, cols: usize, data: &'a mut [T]) -> Self {
        check(rows, cols, data.len());
        Self {
            count: 1,
            rows,
            cols,
            data,
        }
    }
}

impl<T: Scalar> MatBatch<T> {
    /// Borrows matrix `i`.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn matrix_ref(&self, i: usize) -> MatRef<'_, T> {
        self.view().matrix_ref(i)
    }
}

impl<'a, T: Scalar> MatView<'a, T> {
    /// Borrows matrix `i`.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn matrix_ref(&self, i: usize) -> MatRef<'a, T> {
        MatRef::new(self.rows, self.cols, self.matrix(i))
    }
}

impl<T: Scalar> From<Mat<T>> for MatBatch<T> {
    fn from(matrix: Mat<T>) -> Self {
        let Mat { rows, cols, data } = matrix;
        Self {
            count: 1,
            rows,
            cols,
            data,
        }
    }
}
