//! Choosing by index: whole matrices or rows (an embedding), one column per row (a class, a
//! winner). Pull-back: the gradient is added to where the value was read, in the order of the
//! indices.

use super::check_indices;
use crate::tape::Few;
use crate::{Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::Scalar;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Count,
    Rows,
    Columns,
}

#[derive(Debug)]
struct Select {
    from: From,
    indices: Few<usize>,
}

impl Select {
    /// Calls `f(place in the output, place in the input, length)` for every stretch that is copied.
    fn stretches(&self, (count, rows, cols): Shape, mut f: impl FnMut(usize, usize, usize)) {
        let indices = self.indices.iter().enumerate();
        match self.from {
            From::Count => indices.for_each(|(at, &i)| {
                f(at * rows * cols, i * rows * cols, rows * cols);
            }),
            From::Rows => {
                for b in 0..count {
                    for (at, &r) in indices.clone() {
                        let to = (b * self.indices.len() + at) * cols;
                        f(to, (b * rows + r) * cols, cols);
                    }
                }
            }
            From::Columns => indices.for_each(|(at, &c)| f(at, at * cols + c, 1)),
        }
    }
}

impl<T: Scalar> Operation<T> for Select {
    fn name(&self) -> &'static str {
        match self.from {
            From::Count => "gather",
            From::Rows => "gather_rows",
            From::Columns => "pick",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (count, rows, cols) = inputs[0];
        let chosen = self.indices.len();
        match self.from {
            From::Count => {
                check_indices("matrix", &self.indices, count)?;
                Ok((chosen, rows, cols))
            }
            From::Rows => {
                check_indices("row", &self.indices, rows)?;
                Ok((count, chosen, cols))
            }
            From::Columns => {
                if chosen != count * rows {
                    return Err(OpError::Length {
                        what: "columns, one per row",
                        expected: count * rows,
                        found: chosen,
                    });
                }
                check_indices("column", &self.indices, cols)?;
                Ok((count, rows, 1))
            }
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (x, y) = (pass.inputs[0].data(), pass.output.data());
        self.stretches(pass.inputs[0].shape(), |to, from, len| {
            y[to..to + len].copy_from_slice(&x[from..from + len]);
        });
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        if let Some(dx) = &mut pass.gradients[0] {
            let (dx, g) = (dx.accumulator(), g.data());
            self.stretches(pass.inputs[0].shape(), |to, from, len| {
                let pairs = dx[from..from + len].iter_mut().zip(&g[to..to + len]);
                pairs.for_each(|(d, &g)| *d += g);
            });
        }
        Ok(())
    }
}

impl<T: Scalar> Var<'_, T> {
    /// The matrices at `indices`, repetition allowed: `indices.len() × rows × cols`.
    #[track_caller]
    pub fn gather(self, indices: &[usize]) -> Result<Self> {
        self.select(From::Count, indices)
    }

    /// The rows at `indices` of every matrix, repetition allowed: `count × indices.len() × cols`.
    /// The lookup in an embedding `1 × D × m`.
    ///
    /// ```
    /// use stiefel_autodiff::{Axis, Tape};
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let embedding = tape.parameter(&MatBatch::from_vec(1, 3, 1, vec![10.0, 20.0, 30.0])?);
    /// let chosen = embedding.gather_rows(&[2, 0, 2])?;
    /// assert_eq!(chosen.value().data(), [30.0, 10.0, 30.0]);
    /// let gradients = tape.backward(chosen.sum(Axis::All)?)?;
    /// assert_eq!(gradients.get(embedding).unwrap().data(), [1.0, 0.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn gather_rows(self, indices: &[usize]) -> Result<Self> {
        self.select(From::Rows, indices)
    }

    /// One entry of every row, from the column given for it: `count × rows × 1`.
    #[track_caller]
    pub fn pick(self, columns: &[usize]) -> Result<Self> {
        self.select(From::Columns, columns)
    }

    #[track_caller]
    fn select(self, from: From, indices: &[usize]) -> Result<Self> {
        let indices = Few::from_slice(indices);
        self.tape.apply(Select { from, indices }, &[self])
    }

    /// The column of the largest entry of every row, the first among equals: the winners of a
    /// routing. No gradient.
    pub fn argmax(self) -> Vec<usize> {
        let value = self.value();
        let rows = value.data().chunks(value.cols().max(1));
        rows.map(stiefel_linalg::argmax).collect()
    }
}
