//! A value on the tape, as the forward expression sees it.

use crate::error::{OpError, Result, TapeError};
use crate::operation::view;
use crate::tape::Node;
use crate::{Shape, Tape};
use std::panic::Location;
use stiefel_linalg::{MatView, Scalar};

/// A value on a tape: cheap to copy, used like a number.
///
/// Every method that computes returns a new value or an error that names the operation, the line
/// and the shapes. Methods never change a value.
///
/// ```
/// use stiefel_autodiff::Tape;
/// use stiefel_linalg::MatBatch;
///
/// let tape = Tape::<f64>::new();
/// let q = tape.parameter(&MatBatch::from_fn(1, 4, 3, |_, r, c| (r + c) as f64));
/// let keys = tape.parameter(&MatBatch::from_fn(1, 2, 3, |_, r, c| (r * c) as f64));
/// let alpha = q
///     .matmul_nt(keys.detach())?
///     .scale(1.0 / 3_f64.sqrt())?
///     .softmax()?;
/// assert_eq!(alpha.shape(), (1, 4, 2));
///
/// let error = q.matmul(keys).unwrap_err().to_string();
/// assert!(error.starts_with("matmul (") && error.contains("1 × 4 × 3 and 1 × 2 × 3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Var<'t, T: Scalar> {
    pub(crate) tape: &'t Tape<T>,
    pub(crate) node: usize,
    shape: Shape,
    detached: bool,
}

/// Where a value stands on its tape, for those who keep the tape and not a borrow of it; see
/// [`Tape::marked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub(crate) step: u64,
    pub(crate) node: usize,
    pub(crate) shape: Shape,
    pub(crate) detached: bool,
}

impl<T: Scalar> From<Var<'_, T>> for Mark {
    fn from(value: Var<'_, T>) -> Self {
        value.mark()
    }
}

impl<T: Scalar> std::fmt::Debug for Var<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let detached = if self.detached { ", detached" } else { "" };
        write!(f, "Var({}, {:?}{detached})", self.record().name, self.shape)
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    pub(crate) fn new(tape: &'t Tape<T>, node: usize, shape: Shape) -> Self {
        Self {
            tape,
            node,
            shape,
            detached: false,
        }
    }

    pub(super) fn at(tape: &'t Tape<T>, mark: Mark) -> Self {
        Self {
            tape,
            node: mark.node,
            shape: mark.shape,
            detached: mark.detached,
        }
    }

    /// Where it stands.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let mut tape = Tape::<f64>::new();
    /// let mark = tape
    ///     .parameter(&MatBatch::from_vec(1, 1, 1, vec![3.0])?)
    ///     .square()?
    ///     .mark();
    /// assert_eq!(tape.marked(mark).and_then(|y| y.item()), Some(9.0));
    /// tape.reset();
    /// assert!(tape.marked(mark).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mark(&self) -> Mark {
        Mark {
            step: self.tape.step,
            node: self.node,
            shape: self.shape,
            detached: self.detached,
        }
    }

    pub(crate) fn record(&self) -> &'t Node<T> {
        &self.tape.nodes[self.node]
    }

    /// The tape it lives on.
    pub fn tape(&self) -> &'t Tape<T> {
        self.tape
    }

    /// `(count, rows, cols)`.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The value.
    pub fn value(&self) -> MatView<'t, T> {
        view(self.shape, &self.record().value)
    }

    /// The value as a number where it is `1 × 1 × 1`.
    pub fn item(&self) -> Option<f64> {
        match self.value().data() {
            [x] => Some(x.to_f64()),
            _ => None,
        }
    }

    /// Whether a parameter is reached from here.
    pub fn wants_gradient(&self) -> bool {
        !self.detached && self.record().needs_gradient
    }

    /// The same value as a constant: no gradient flows through what is computed from the result.
    /// Costs nothing.
    #[must_use]
    pub fn detach(self) -> Self {
        Self {
            detached: true,
            ..self
        }
    }

    /// The same data in another shape with as many entries. Costs nothing.
    #[track_caller]
    pub fn reshape(self, count: usize, rows: usize, cols: usize) -> Result<Self> {
        let len = rows.checked_mul(cols).and_then(|m| m.checked_mul(count));
        if len != Some(self.len()) {
            let found = [self.shape, (count, rows, cols)];
            return Err(misfit("reshape", "as many entries before as after", &found));
        }
        let shape = (count, rows, cols);
        Ok(Self { shape, ..self })
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.shape.0 * self.shape.1 * self.shape.2
    }

    /// Gives the value a name, which errors about non-finite values and the tape's listing show.
    pub fn named(self, label: &'static str) -> Self {
        self.record().label.set(Some(label));
        self
    }

    /// Asks the backward pass to keep the gradient of an intermediate value, for diagnostics.
    pub fn keep_gradient(self) -> Self {
        self.record().keep_gradient.set(true);
        self
    }
}

/// The error of a method that only arranges other operations.
#[track_caller]
pub(crate) fn misfit(op: &'static str, needs: &'static str, found: &[Shape]) -> TapeError {
    let found = found.to_vec();
    TapeError::Operation {
        op,
        at: Location::caller(),
        source: OpError::Shape { needs, found },
    }
}
