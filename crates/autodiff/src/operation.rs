//! The door for operations: a forward map and its pull-back.
//!
//! For `y = f(x_0, x_1, …)` and a loss `ℓ`, the pull-back turns `∂ℓ/∂y` into the terms that `f`
//! adds to each `∂ℓ/∂x_j`. Every operation of this crate is an [`Operation`]; a fused one with a
//! pull-back of its own is written in the same way and applied with
//! [`Tape::apply`](crate::Tape::apply).

use crate::{Arena, Buffer, OpResult, Shape};
use stiefel_linalg::{MatView, MatViewMut, Op, Scalar, product_into, sums};

/// A differentiable map from batches to one batch.
///
/// The life of an operation: [`shape`](Self::shape), then [`forward`](Self::forward) once; if a
/// gradient may be wanted it is kept, with whatever state `forward` put into `self`, and
/// [`pull_back`](Self::pull_back) may be called any number of times. State in [`Buffer`]s goes back
/// to the arena with the operation.
///
/// ```
/// use stiefel_autodiff::{Forward, OpResult, Operation, PullBack, Tape};
/// use stiefel_linalg::{MatBatch, Scalar};
///
/// /// y = x³.
/// struct Cube;
///
/// impl<T: Scalar> Operation<T> for Cube {
///     fn name(&self) -> &'static str {
///         "cube"
///     }
///
///     fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
///         for (y, &x) in pass.output.data().iter_mut().zip(pass.inputs[0].data()) {
///             *y = x * x * x;
///         }
///         Ok(())
///     }
///
///     fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
///         if let Some(dx) = &mut pass.gradients[0] {
///             let (x, g) = (pass.inputs[0].data(), pass.g.data());
///             dx.add_map2(g, x, |g, x| T::from_f64(3.0) * x * x * g);
///         }
///         Ok(())
///     }
/// }
///
/// let tape = Tape::<f64>::new();
/// let x = tape.parameter(&MatBatch::from_vec(1, 1, 1, vec![2.0])?);
/// let y = tape.apply(Cube, &[x])?;
/// assert_eq!(y.item(), Some(8.0));
/// assert_eq!(tape.backward(y)?.get(x).unwrap().data(), [12.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Operation<T: Scalar>: Send + 'static {
    /// What errors call it.
    fn name(&self) -> &'static str;

    /// The shape of the result, that of the first input unless said otherwise. Every check of
    /// shapes, indices and arguments belongs here.
    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        Ok(inputs[0])
    }

    /// Writes **every** entry of the output, whose contents are unspecified before.
    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult;

    /// Adds to the gradient of each input.
    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult;
}

/// The arguments of [`Operation::forward`].
#[derive(Debug)]
pub struct Forward<'a, T> {
    /// The values of the inputs.
    pub inputs: &'a [MatView<'a, T>],
    /// The place of the result.
    pub output: &'a mut MatViewMut<'a, T>,
    /// The services of the tape.
    pub context: &'a Context<'a, T>,
}

/// The arguments of [`Operation::pull_back`].
#[derive(Debug)]
pub struct PullBack<'a, 'g, T> {
    /// The values of the inputs.
    pub inputs: &'a [MatView<'a, T>],
    /// The value of the output.
    pub output: MatView<'a, T>,
    /// The gradient in the output.
    pub g: MatView<'a, T>,
    /// The gradients in the inputs; `None` where none is wanted.
    pub gradients: &'a mut [Option<Gradient<'g, T>>],
    /// The services of the tape.
    pub context: &'a Context<'a, T>,
}

/// The services of a tape: buffers, and whether a gradient is wanted.
#[derive(Debug)]
pub struct Context<'a, T> {
    pub(crate) arena: &'a Arena<T>,
    pub(crate) wants_gradient: bool,
    pub(crate) along_rows: bool,
}

impl<T: Scalar> Context<'_, T> {
    /// A scratch buffer of unspecified contents; keep it in the operation to save state for the
    /// pull-back.
    pub fn buffer(&self, len: usize) -> Buffer<T> {
        self.arena.take(len)
    }

    /// The arena behind [`buffer`](Self::buffer).
    pub fn arena(&self) -> &Arena<T> {
        self.arena
    }

    /// Whether a pull-back may follow: where not, `forward` need not save anything.
    pub fn wants_gradient(&self) -> bool {
        self.wants_gradient
    }

    /// Tells whether so many matrices are to be computed along their rows: a single one without
    /// gradient, where [`Tape::decide_along_rows`](crate::Tape::decide_along_rows) asks for it.
    pub(crate) fn alone(&self, count: usize) -> bool {
        self.along_rows && !self.wants_gradient && count == 1
    }
}

/// The gradient of one input, to be added to.
///
/// The first contribution is written instead of added, so that nothing has to be zeroed beforehand;
/// every method here knows which of the two it is.
#[derive(Debug)]
pub struct Gradient<'a, T> {
    shape: Shape,
    data: &'a mut [T],
    empty: bool,
}

impl<'a, T: Scalar> Gradient<'a, T> {
    pub(crate) fn new(shape: Shape, data: &'a mut [T], empty: bool) -> Self {
        Self { shape, data, empty }
    }

    /// `(count, rows, cols)` of the input.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether nothing has been added yet; the contents are then unspecified.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The gradient so far (zeros at first), to be added to in any way.
    pub fn accumulator(&mut self) -> &mut [T] {
        if self.empty {
            self.data.fill(T::ZERO);
            self.empty = false;
        }
        self.data
    }

    /// The place of the gradient, and whether to add to what is there: where not, every entry is to
    /// be written.
    pub(crate) fn place(&mut self) -> (&mut [T], bool) {
        let add = !self.empty;
        self.empty = false;
        (self.data, add)
    }

    /// [`place`](Self::place) as a batch.
    pub(crate) fn place_view(&mut self) -> (MatViewMut<'_, T>, bool) {
        let shape = self.shape;
        let (data, add) = self.place();
        (view_mut(shape, data), add)
    }

    /// [`accumulator`](Self::accumulator) as a batch.
    pub fn accumulator_view(&mut self) -> MatViewMut<'_, T> {
        let shape = self.shape;
        view_mut(shape, self.accumulator())
    }

    /// Adds `term(e)` to entry `e` of the data, for all entries.
    #[inline]
    pub fn add_each(&mut self, mut term: impl FnMut(usize) -> T) {
        if self.empty {
            self.empty = false;
            for (e, d) in self.data.iter_mut().enumerate() {
                *d = term(e);
            }
        } else {
            for (e, d) in self.data.iter_mut().enumerate() {
                *d += term(e);
            }
        }
    }

    /// Adds `values`, entry by entry.
    ///
    /// # Panics
    /// If the number of values is not that of the input.
    pub fn add(&mut self, values: &[T]) {
        let (data, add) = self.place();
        if add {
            assert_eq!(values.len(), data.len(), "a gradient of another size");
            sums::add_scaled(data, T::ONE, values);
        } else {
            data.copy_from_slice(values);
        }
    }

    /// Adds `f(a)`, entry by entry.
    ///
    /// # Panics
    /// If the number of values is not that of the input.
    #[inline]
    pub fn add_map(&mut self, a: &[T], f: impl Fn(T) -> T) {
        assert_eq!(a.len(), self.data.len(), "a gradient of another size");
        let pairs = self.data.iter_mut().zip(a);
        if self.empty {
            self.empty = false;
            pairs.for_each(|(d, &a)| *d = f(a));
        } else {
            pairs.for_each(|(d, &a)| *d += f(a));
        }
    }

    /// Adds `f(a, b, c)`, entry by entry.
    ///
    /// # Panics
    /// If the number of values is not that of the input.
    #[inline]
    pub(crate) fn add_map3(&mut self, a: &[T], b: &[T], c: &[T], f: impl Fn(T, T, T) -> T) {
        assert!(
            [a.len(), b.len(), c.len()] == [self.data.len(); 3],
            "a gradient of another size"
        );
        let all = self.data.iter_mut().zip(a).zip(b).zip(c);
        if self.empty {
            self.empty = false;
            all.for_each(|(((d, &a), &b), &c)| *d = f(a, b, c));
        } else {
            all.for_each(|(((d, &a), &b), &c)| *d += f(a, b, c));
        }
    }

    /// Adds `f(a, b)`, entry by entry.
    ///
    /// # Panics
    /// If the number of values is not that of the input.
    #[inline]
    pub fn add_map2(&mut self, a: &[T], b: &[T], f: impl Fn(T, T) -> T) {
        assert_eq!(a.len(), self.data.len(), "a gradient of another size");
        assert_eq!(b.len(), self.data.len(), "a gradient of another size");
        let triples = self.data.iter_mut().zip(a).zip(b);
        if self.empty {
            self.empty = false;
            triples.for_each(|((d, &a), &b)| *d = f(a, b));
        } else {
            triples.for_each(|((d, &a), &b)| *d += f(a, b));
        }
    }

    /// Adds `α·op(A_i)·op(B_i)` to matrix `i`; where the input is a single matrix, the sum over
    /// `i`, in ascending order.
    pub fn add_product(
        &mut self,
        alpha: T,
        a: MatView<'_, T>,
        op_a: Op,
        b: MatView<'_, T>,
        op_b: Op,
    ) -> OpResult {
        let count = if a.count() == 1 { b.count() } else { a.count() };
        if self.shape.0 == 1 && count != 1 {
            for i in 0..count {
                self.add_product(alpha, nth(a, i), op_a, nth(b, i), op_b)?;
            }
            return Ok(());
        }
        let out = view_mut(self.shape, self.data);
        product_into(out, !self.empty, alpha, a, op_a, b, op_b)?;
        self.empty = false;
        Ok(())
    }
}

/// Matrix `i` of a batch, or its only one, as a batch of one.
fn nth<T: Scalar>(x: MatView<'_, T>, i: usize) -> MatView<'_, T> {
    let i = if x.count() == 1 { 0 } else { i };
    view((1, x.rows(), x.cols()), x.matrix(i))
}

/// A slice as a batch; lengths agree by construction everywhere in this crate.
pub(crate) fn view<T: Scalar>((count, rows, cols): Shape, data: &[T]) -> MatView<'_, T> {
    MatView::new(count, rows, cols, data).expect("as many values as the shape says")
}

/// The mutable form of [`view`].
pub(crate) fn view_mut<T: Scalar>((count, rows, cols): Shape, data: &mut [T]) -> MatViewMut<'_, T> {
    MatViewMut::new(count, rows, cols, data).expect("as many values as the shape says")
}
