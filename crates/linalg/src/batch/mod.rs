//! A batch of equally sized small matrices: contiguous, matrix after matrix, each row-major.
//!
//! Entry `(r, c)` of matrix `i` is at `(i·rows + r)·cols + c`, the layout of a C-ordered NumPy
//! array of shape `(count, rows, cols)`.

mod single;
pub mod sums;

pub use single::{Mat, MatRef};

use crate::{LinalgError, Result, Scalar};

/// A batch of `count` matrices of size `rows × cols`.
///
/// ```
/// use stiefel_linalg::MatBatch;
///
/// let batch = MatBatch::from_fn(2, 2, 3, |i, r, c| (100 * i + 10 * r + c) as f64);
/// assert_eq!(batch.shape(), (2, 2, 3));
/// assert_eq!(batch.matrix(1), [100.0, 101.0, 102.0, 110.0, 111.0, 112.0]);
/// assert!(MatBatch::from_vec(2, 2, 2, vec![0.0; 7]).is_err());
/// ```
#[derive(Clone, PartialEq)]
pub struct MatBatch<T> {
    count: usize,
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

impl<T> std::fmt::Debug for MatBatch<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MatBatch({} × {}×{})", self.count, self.rows, self.cols)
    }
}

/// A borrowed batch. Cheap to copy; see [`MatBatch`] for the layout.
#[derive(Debug, Clone, Copy)]
pub struct MatView<'a, T> {
    count: usize,
    rows: usize,
    cols: usize,
    data: &'a [T],
}

/// A mutably borrowed batch.
#[derive(Debug)]
pub struct MatViewMut<'a, T> {
    count: usize,
    rows: usize,
    cols: usize,
    data: &'a mut [T],
}

/// `count · rows · cols`, or an error where it overflows or differs from what is there.
fn checked_len(count: usize, rows: usize, cols: usize, found: usize) -> Result<()> {
    let need = rows.checked_mul(cols).and_then(|m| m.checked_mul(count));
    if need == Some(found) {
        return Ok(());
    }
    Err(LinalgError::Shape {
        op: "batch of matrices",
        expected: format!("{count} × {rows} × {cols} values"),
        found: format!("{found}"),
    })
}

impl<T: Scalar> Default for MatBatch<T> {
    /// Returns a batch without a matrix.
    fn default() -> Self {
        Self::zeros(0, 0, 0)
    }
}

/// The sizes of a batch.
macro_rules! sizes {
    () => {
        /// `(count, rows, cols)`.
        #[inline(always)]
        pub fn shape(&self) -> (usize, usize, usize) {
            (self.count, self.rows, self.cols)
        }

        /// How many matrices.
        #[inline(always)]
        pub fn count(&self) -> usize {
            self.count
        }

        /// Rows of each matrix.
        #[inline(always)]
        pub fn rows(&self) -> usize {
            self.rows
        }

        /// Columns of each matrix.
        #[inline(always)]
        pub fn cols(&self) -> usize {
            self.cols
        }
    };
}

impl<T: Scalar> MatBatch<T> {
    /// All entries zero.
    pub fn zeros(count: usize, rows: usize, cols: usize) -> Self {
        Self {
            count,
            rows,
            cols,
            data: vec![T::ZERO; count * rows * cols],
        }
    }

    /// `count` identity matrices.
    pub fn identity(count: usize, n: usize) -> Self {
        Self::from_fn(count, n, n, |_, r, c| if r == c { T::ONE } else { T::ZERO })
    }

    /// Takes over a vector in batch layout.
    pub fn from_vec(count: usize, rows: usize, cols: usize, data: Vec<T>) -> Result<Self> {
        checked_len(count, rows, cols, data.len())?;
        Ok(Self {
            count,
            rows,
            cols,
            data,
        })
    }

    /// Entry `(r, c)` of matrix `i` is `f(i, r, c)`.
    pub fn from_fn(
        count: usize,
        rows: usize,
        cols: usize,
        mut f: impl FnMut(usize, usize, usize) -> T,
    ) -> Self {
        let mut data = Vec::with_capacity(count * rows * cols);
        for i in 0..count {
            for r in 0..rows {
                for c in 0..cols {
                    data.push(f(i, r, c));
                }
            }
        }
        Self {
            count,
            rows,
            cols,
            data,
        }
    }

    sizes!();

    /// All entries.
    #[inline(always)]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All entries, to be changed.
    #[inline(always)]
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Gives the vector back.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// Matrix `i`, row-major.
    ///
    /// # Panics
    /// If `i >= count`.
    #[inline(always)]
    pub fn matrix(&self, i: usize) -> &[T] {
        let size = self.rows * self.cols;
        &self.data[i * size..(i + 1) * size]
    }

    /// Matrix `i`, row-major, to be changed.
    ///
    /// # Panics
    /// If `i >= count`.
    #[inline(always)]
    pub fn matrix_mut(&mut self, i: usize) -> &mut [T] {
        let size = self.rows * self.cols;
        &mut self.data[i * size..(i + 1) * size]
    }

    /// Entry `(r, c)` of matrix `i`.
    ///
    /// # Panics
    /// If an index is out of range.
    #[inline(always)]
    pub fn get(&self, i: usize, r: usize, c: usize) -> T {
        assert!(r < self.rows && c < self.cols, "({r}, {c}) in {self:?}");
        self.matrix(i)[r * self.cols + c]
    }

    /// Matrix `i` as a batch of one.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn single(&self, i: usize) -> Self {
        Self {
            count: 1,
            rows: self.rows,
            cols: self.cols,
            data: self.matrix(i).to_vec(),
        }
    }

    /// The matrices at `indices`, in that order.
    ///
    /// # Panics
    /// If an index is `>= count`.
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut data = Vec::with_capacity(indices.len() * self.rows * self.cols);
        for &i in indices {
            data.extend_from_slice(self.matrix(i));
        }
        Self {
            count: indices.len(),
            rows: self.rows,
            cols: self.cols,
            data,
        }
    }

    /// The same values in another precision.
    pub fn cast<U: Scalar>(&self) -> MatBatch<U> {
        MatBatch {
            count: self.count,
            rows: self.rows,
            cols: self.cols,
            data: self.data.iter().map(|x| U::from_f64(x.to_f64())).collect(),
        }
    }

    /// Each matrix transposed.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.count, self.cols, self.rows, |i, r, c| {
            self.get(i, c, r)
        })
    }

    /// A borrowed view.
    #[inline(always)]
    pub fn view(&self) -> MatView<'_, T> {
        MatView {
            count: self.count,
            rows: self.rows,
            cols: self.cols,
            data: &self.data,
        }
    }

    /// A mutably borrowed view.
    #[inline(always)]
    pub fn view_mut(&mut self) -> MatViewMut<'_, T> {
        MatViewMut {
            count: self.count,
            rows: self.rows,
            cols: self.cols,
            data: &mut self.data,
        }
    }
}

impl<'a, T: Scalar> MatView<'a, T> {
    /// A view of a slice in batch layout.
    pub fn new(count: usize, rows: usize, cols: usize, data: &'a [T]) -> Result<Self> {
        checked_len(count, rows, cols, data.len())?;
        Ok(Self {
            count,
            rows,
            cols,
            data,
        })
    }

    sizes!();

    /// All entries.
    #[inline(always)]
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Matrix `i`, row-major.
    ///
    /// # Panics
    /// If `i >= count`.
    #[inline(always)]
    pub fn matrix(&self, i: usize) -> &'a [T] {
        let size = self.rows * self.cols;
        &self.data[i * size..(i + 1) * size]
    }

    /// Matrix `i` as a batch of one.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn single(&self, i: usize) -> Self {
        Self {
            count: 1,
            data: self.matrix(i),
            ..*self
        }
    }

    /// Some matrices, one after the other.
    ///
    /// # Panics
    /// If the range does not lie within `0..count`.
    pub fn range(&self, range: std::ops::Range<usize>) -> Self {
        let size = self.rows * self.cols;
        Self {
            count: range.len(),
            data: &self.data[range.start * size..range.end * size],
            ..*self
        }
    }

    /// A batch of its own with the same values.
    pub fn to_owned(&self) -> MatBatch<T> {
        MatBatch {
            count: self.count,
            rows: self.rows,
            cols: self.cols,
            data: self.data.to_vec(),
        }
    }

    /// The first NaN or infinity, as an error that names it; every kernel that iterates asks first.
    pub fn check_finite(&self, op: &'static str) -> Result<()> {
        if sums::all_finite(self.data) {
            return Ok(());
        }
        for (at, &x) in self.data.iter().enumerate() {
            if !Scalar::is_finite(x) {
                let (matrix, rest) = (at / (self.rows * self.cols), at % (self.rows * self.cols));
                let (row, col) = (rest / self.cols, rest % self.cols);
                return Err(LinalgError::NotFinite {
                    op,
                    matrix,
                    row,
                    col,
                    value: x.to_f64(),
                });
            }
        }
        Ok(())
    }

    /// An error unless every matrix is square.
    pub fn check_square(&self, op: &'static str) -> Result<usize> {
        if self.rows == self.cols {
            return Ok(self.rows);
        }
        Err(LinalgError::Shape {
            op,
            expected: "square matrices".into(),
            found: format!("{} × {}", self.rows, self.cols),
        })
    }
}

impl<'a, T: Scalar> MatViewMut<'a, T> {
    /// A mutable view of a slice in batch layout.
    pub fn new(count: usize, rows: usize, cols: usize, data: &'a mut [T]) -> Result<Self> {
        checked_len(count, rows, cols, data.len())?;
        Ok(Self {
            count,
            rows,
            cols,
            data,
        })
    }

    sizes!();

    /// All entries.
    #[inline(always)]
    pub fn data(&mut self) -> &mut [T] {
        self.data
    }

    /// Matrix `i`, row-major.
    ///
    /// # Panics
    /// If `i >= count`.
    #[inline(always)]
    pub fn matrix(&mut self, i: usize) -> &mut [T] {
        let size = self.rows * self.cols;
        &mut self.data[i * size..(i + 1) * size]
    }

    /// Matrix `i` as a batch of one.
    ///
    /// # Panics
    /// If `i >= count`.
    pub fn single(&mut self, i: usize) -> MatViewMut<'_, T> {
        MatViewMut {
            count: 1,
            rows: self.rows,
            cols: self.cols,
            data: self.matrix(i),
        }
    }

    /// The same values, not to be changed.
    pub fn as_view(&self) -> MatView<'_, T> {
        MatView {
            count: self.count,
            rows: self.rows,
            cols: self.cols,
            data: self.data,
        }
    }
}

impl<'a, T: Scalar> From<&'a MatBatch<T>> for MatView<'a, T> {
    fn from(batch: &'a MatBatch<T>) -> Self {
        batch.view()
    }
}
