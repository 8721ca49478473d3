//! The tape: the list of values in the order in which they were computed, each with the operation
//! that made it.

mod var;

pub(crate) use var::misfit;
pub use var::{Mark, Var};

use crate::error::{Result, TapeError};
use crate::operation::{Forward, view, view_mut};
use crate::store::Store;
use crate::{Arena, Buffer, Context, Operation, Shape};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use stiefel_linalg::{MatView, Scalar};

/// Lists of inputs; few operations have more than four, and those may allocate.
pub(crate) type Few<N> = SmallVec<[N; 4]>;

static STEPS: AtomicU64 = AtomicU64::new(0);

/// A number no other tape has, and this one only until it is reset.
fn next_step() -> u64 {
    STEPS.fetch_add(1, Ordering::Relaxed)
}

/// A recording of one forward computation.
///
/// Every value is a batch `(count, rows, cols)`. Leaves are [`parameter`](Self::parameter)s and
/// [`constant`](Self::constant)s; everything else is made by the methods of [`Var`] or by
/// [`apply`](Self::apply). See the crate's page for a tour.
///
/// ```
/// use stiefel_autodiff::{Axis, Tape};
/// use stiefel_linalg::MatBatch;
///
/// let mut tape = Tape::<f64>::new();
/// for step in 0..3 {
///     let w = tape.parameter(&MatBatch::from_vec(1, 2, 1, vec![1.0, 2.0])?);
///     let x = tape.constant(&MatBatch::from_vec(1, 1, 2, vec![3.0, 4.0])?);
///     let loss = x.matmul(w)?.square()?.sum(Axis::All)?;
///     let gradients = tape.backward(loss)?;
///     assert_eq!(gradients.get(w).unwrap().data(), [66.0, 88.0]);
///     tape.reset(); // the buffers are used again by the next step
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tape<T: Scalar> {
    pub(crate) nodes: Store<Node<T>>,
    pub(crate) arena: Arena<T>,
    pub(crate) step: u64,
    prefix: Option<Prefix>,
    /// Whether single matrices are computed along their rows.
    along_rows: bool,
    /// Buffers of the values that were forgotten last, the first of them at the end: the same
    /// computation, done again, finds each without asking the arena.
    spares: RefCell<Vec<Buffer<T>>>,
}

/// The values that [`Tape::keep`] keeps, and the step they were made in.
#[derive(Clone, Copy)]
struct Prefix {
    len: usize,
    step: u64,
}

pub(crate) struct Node<T: Scalar> {
    pub(crate) value: Buffer<T>,
    pub(crate) shape: Shape,
    /// Whether a parameter is among its ancestors.
    pub(crate) needs_gradient: bool,
    /// Whether its gradient outlives the backward pass.
    pub(crate) keep_gradient: Cell<bool>,
    pub(crate) operation: Option<Box<dyn Operation<T>>>,
    pub(crate) inputs: Few<Input>,
    pub(crate) name: &'static str,
    pub(crate) label: Cell<Option<&'static str>>,
    pub(crate) at: &'static Location<'static>,
}

/// How a node reads one of its inputs: shape and attachment belong to the reader, since `reshape`
/// and `detach` copy nothing.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    pub(crate) node: usize,
    pub(crate) shape: Shape,
    pub(crate) wanted: bool,
}

impl<T: Scalar> Tape<T> {
    /// An empty tape with an arena of its own.
    pub fn new() -> Self {
        Self::with_arena(Arena::new())
    }

    /// An empty tape that takes its buffers from `arena`.
    pub fn with_arena(arena: Arena<T>) -> Self {
        Self {
            nodes: Store::new(),
            arena,
            step: next_step(),
            prefix: None,
            along_rows: false,
            spares: RefCell::new(Vec::new()),
        }
    }

    /// A leaf whose gradient is wanted. The values are copied.
    #[track_caller]
    pub fn parameter<'a>(&self, batch: impl Into<MatView<'a, T>>) -> Var<'_, T> {
        let batch = batch.into();
        let value = self.arena.copy_of(batch.data());
        self.leaf("parameter", batch.shape(), value, true)
    }

    /// A leaf without gradient. The values are copied; nothing else is computed or stored for it in
    /// the backward pass, nor for whatever depends on constants only.
    #[track_caller]
    pub fn constant<'a>(&self, batch: impl Into<MatView<'a, T>>) -> Var<'_, T> {
        let batch = batch.into();
        self.constant_with(batch.shape(), |values| values.copy_from_slice(batch.data()))
    }

    /// A leaf without gradient, whose values `write` writes, every one.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.constant_with((1, 1, 2), |values| values.copy_from_slice(&[1.0, 2.0]));
    /// assert_eq!(x.value().data(), [1.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn constant_with(&self, shape: Shape, write: impl FnOnce(&mut [T])) -> Var<'_, T> {
        let mut buffer = self.buffer(shape);
        write(&mut buffer);
        self.leaf("constant", shape, buffer, false)
    }

    /// One number as a constant `1 × 1 × 1`.
    #[track_caller]
    pub fn scalar(&self, value: f64) -> Var<'_, T> {
        self.constant_with((1, 1, 1), |values| values[0] = T::from_f64(value))
    }

    #[track_caller]
    fn leaf(
        &self,
        name: &'static str,
        shape: Shape,
        value: Buffer<T>,
        parameter: bool,
    ) -> Var<'_, T> {
        let node = Node {
            value,
            shape,
            needs_gradient: parameter,
            keep_gradient: Cell::new(parameter),
            operation: None,
            inputs: Few::new(),
            name,
            label: Cell::new(None),
            at: Location::caller(),
        };
        Var::new(self, self.nodes.push(node), shape)
    }

    /// Applies an operation: computes its value now and remembers it for the backward pass.
    #[track_caller]
    pub fn apply<'t>(
        &'t self,
        operation: impl Operation<T>,
        inputs: &[Var<'t, T>],
    ) -> Result<Var<'t, T>> {
        self.apply_reading(operation, inputs, &[])
    }

    /// The same for an operation whose forward pass reads more, behind its inputs: nothing of it is
    /// copied, and its pull-back sees the inputs alone.
    #[track_caller]
    pub(crate) fn apply_reading<'t>(
        &'t self,
        mut operation: impl Operation<T>,
        inputs: &[Var<'t, T>],
        read: &[MatView<'_, T>],
    ) -> Result<Var<'t, T>> {
        let mut node = self.computed(&mut operation, inputs, read, Location::caller())?;
        if node.needs_gradient {
            node.operation = Some(Box::new(operation));
        }
        let shape = node.shape;
        Ok(Var::new(self, self.nodes.push(node), shape))
    }

    /// The node of an operation's value, without the operation: all that is the same for every type
    /// of operation.
    fn computed(
        &self,
        operation: &mut dyn Operation<T>,
        inputs: &[Var<'_, T>],
        read: &[MatView<'_, T>],
        at: &'static Location<'static>,
    ) -> Result<Node<T>> {
        let op = operation.name();
        if let Some(input) = inputs.iter().position(|v| !std::ptr::eq(v.tape, self)) {
            return Err(TapeError::OtherTape { op, at, input });
        }
        let refuse = |source| TapeError::Operation { op, at, source };
        let values = inputs.iter().map(Var::value);
        let views: Few<MatView<'_, T>> = values.chain(read.iter().copied()).collect();
        let shapes: Few<Shape> = views.iter().map(MatView::shape).collect();
        let shape = operation.shape(&shapes).map_err(refuse)?;
        let needs_gradient = inputs.iter().any(Var::wants_gradient);
        let mut value = self.buffer(shape);
        let context = Context {
            arena: &self.arena,
            wants_gradient: needs_gradient,
            along_rows: self.along_rows,
        };
        let done = operation.forward(&mut Forward {
            inputs: &views,
            output: &mut view_mut(shape, &mut value),
            context: &context,
        });
        if let Err(source) = done {
            // A kernel that met a NaN knows only where it saw it; the tape knows where it came
            // from.
            inputs.iter().try_for_each(|v| self.trace(v.node))?;
            return Err(refuse(source));
        }
        let recorded = inputs.iter().map(|v| Input {
            node: v.node,
            shape: v.shape(),
            wanted: v.wants_gradient(),
        });
        Ok(Node {
            value,
            shape,
            needs_gradient,
            keep_gradient: Cell::new(false),
            operation: None,
            inputs: recorded.collect(),
            name: op,
            label: Cell::new(None),
            at,
        })
    }

    /// Forgets all values and returns their buffers to the arena. No [`Var`] of the step can be
    /// alive; gradients may be.
    pub fn reset(&mut self) {
        self.prefix = None;
        self.nodes.truncate(0);
        self.step = next_step();
    }

    /// Keeps all values recorded so far over every [`rewind`](Self::rewind): what a decision needs
    /// of a network's parameters is computed once.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let mut tape = Tape::<f64>::new();
    /// let w = tape
    ///     .constant(&MatBatch::from_vec(1, 1, 1, vec![3.0])?)
    ///     .square()?
    ///     .mark();
    /// tape.keep();
    /// for x in [1.0, 2.0] {
    ///     tape.rewind();
    ///     let w = tape.marked(w).expect("it is kept");
    ///     assert_eq!(tape.scalar(x).mul(w)?.item(), Some(9.0 * x));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep(&mut self) {
        let (len, step) = (self.len(), self.step);
        self.prefix = Some(Prefix { len, step });
        self.step = next_step();
    }

    /// Computes single matrices that need no gradient along their rows from here on. That is faster
    /// than a register full of matrices of which one is there, and equal to rounding.
    pub fn decide_along_rows(&mut self) {
        self.along_rows = true;
    }

    /// Forgets the values recorded since [`keep`](Self::keep), all where nothing is kept.
    pub fn rewind(&mut self) {
        let kept = self.prefix.map_or(0, |p| p.len);
        let spares = self.spares.get_mut();
        spares.clear();
        while self.nodes.len() > kept {
            if let Some(buffer) = self.nodes.pop().map(|node| node.value) {
                spares.push(buffer);
            }
        }
        self.step = next_step();
    }

    /// Returns a buffer for a value, of unspecified contents.
    fn buffer(&self, shape: Shape) -> Buffer<T> {
        let len = shape.0 * shape.1 * shape.2;
        let spare = self.spares.borrow_mut().pop_if(|spare| spare.len() == len);
        spare.unwrap_or_else(|| self.arena.take(len))
    }

    /// The pool of buffers, for statistics and for sharing with another tape.
    pub fn arena(&self) -> &Arena<T> {
        &self.arena
    }

    /// How many values are recorded.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value that [`Var::mark`] marked; `None` once it is forgotten, or on another tape.
    pub fn marked(&self, mark: Mark) -> Option<Var<'_, T>> {
        let kept = self.prefix.is_some_and(|p| p.step == mark.step);
        (kept || mark.step == self.step).then(|| Var::at(self, mark))
    }

    /// The value of one input of a node, in the shape in which the node reads it.
    pub(crate) fn input_value(&self, input: &Input) -> MatView<'_, T> {
        view(input.shape, &self.nodes[input.node].value)
    }
}

impl<T: Scalar> Default for Tape<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Scalar> std::fmt::Debug for Tape<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "Tape({} values)", self.len())?;
        for id in 0..self.len() {
            let node = &self.nodes[id];
            let inputs: Vec<usize> = node.inputs.iter().map(|i| i.node).collect();
            let label = node.label.get().unwrap_or("");
            writeln!(
                f,
                "{id:4} {:<20} {:?} from {inputs:?} {label}",
                node.name, node.shape
            )?;
        }
        Ok(())
    }
}
