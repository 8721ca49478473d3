//! The backward pass: `∂ℓ/∂x` for every parameter, from the last value to the first.
//!
//! The order of the pull-backs, and of the sums within each, is that of the tape: gradients are the
//! same to the bit on every run.

use crate::error::{Result, TapeError};
use crate::finite::first_bad;
use crate::operation::{Gradient, PullBack, view};
use crate::tape::{Few, Node, misfit};
use crate::{Buffer, Context, Mark, Shape, Tape, Var};
use stiefel_linalg::{MatView, Scalar};

/// The gradients of one loss.
///
/// Kept for parameters and for values marked with [`Var::keep_gradient`]; all others are freed
/// during the pass. They outlive the tape's [`reset`](Tape::reset), but a [`Var`] finds its
/// gradient only in the pass of its own step.
#[derive(Debug)]
pub struct Gradients<T> {
    step: u64,
    /// Sorted by node.
    kept: Vec<(usize, Shape, Buffer<T>)>,
}

impl<T: Scalar> Gradients<T> {
    /// Returns `∂ℓ/∂x` of a value or of its mark, in its shape; `None` where the loss does not
    /// depend on it (its gradient is zero), where it is detached or a constant, or where it is
    /// an intermediate value not marked to be kept.
    pub fn get(&self, of: impl Into<Mark>) -> Option<MatView<'_, T>> {
        let of = of.into();
        if of.step != self.step || of.detached {
            return None;
        }
        let at = self.kept.binary_search_by_key(&of.node, |k| k.0).ok()?;
        Some(view(of.shape, &self.kept[at].2))
    }
}

impl<T: Scalar> Tape<T> {
    /// The gradients of `loss`, a `1 × 1 × 1` value, in all parameters it depends on.
    ///
    /// May be called for several losses of one forward computation.
    ///
    /// # Errors
    /// A loss that is not one number or depends on no parameter; a non-finite loss, with the
    /// operation in which it arose; a non-finite gradient, with the pull-back in which the
    /// first one arose; an error of a kernel.
    pub fn backward(&self, loss: Var<'_, T>) -> Result<Gradients<T>> {
        if loss.shape() != (1, 1, 1) {
            let shape = loss.shape();
            return Err(TapeError::LossNotScalar { shape });
        }
        if !std::ptr::eq(loss.tape, self) {
            let at = loss.record().at;
            return Err(TapeError::OtherTape {
                op: "backward",
                at,
                input: 0,
            });
        }
        if !loss.wants_gradient() {
            return Err(TapeError::NoParameter);
        }
        if first_bad(loss.value()).is_some() {
            self.trace(loss.node)?;
        }
        let sweep = |checked| self.sweep(loss.node, self.slots(&[(loss, &[T::ONE])]), checked);
        let gradients = sweep(false)?;
        let finite =
            |(_, shape, data): &(usize, Shape, Buffer<T>)| first_bad(view(*shape, data)).is_none();
        if !gradients.kept.iter().all(finite) {
            // Again, looking at every gradient as it arises.
            sweep(true)?;
        }
        Ok(gradients)
    }

    /// The gradients of a number that is computed elsewhere from values of this tape, given its
    /// gradient in each: for engines that keep the rest of the graph. Values that depend on no
    /// parameter are passed over, and nothing is said about gradients that are not finite.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.parameter(&MatBatch::from_vec(1, 1, 2, vec![3.0, 4.0])?);
    /// let (y, z) = (x.square()?, x.scale(5.0)?);
    /// let g = MatBatch::from_vec(1, 1, 2, vec![1.0, 10.0])?;
    /// let gradients = tape.backward_from(&[(y, g.view()), (z, g.view())])?;
    /// assert_eq!(gradients.get(x).unwrap().data(), [6.0 + 5.0, 80.0 + 50.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A gradient of another shape than its value; a value of another tape; an error of a kernel.
    #[track_caller]
    pub fn backward_from(
        &self,
        gradients: &[(Var<'_, T>, MatView<'_, T>)],
    ) -> Result<Gradients<T>> {
        for (input, (value, g)) in gradients.iter().enumerate() {
            if !std::ptr::eq(value.tape, self) {
                let (op, at) = ("backward", value.record().at);
                return Err(TapeError::OtherTape { op, at, input });
            }
            if value.shape() != g.shape() {
                let needs = "a gradient of the shape of its value";
                return Err(misfit("backward", needs, &[value.shape(), g.shape()]));
            }
        }
        let wanted = gradients.iter().filter(|(value, _)| value.wants_gradient());
        let wanted: Few<(Var<'_, T>, &[T])> = wanted.map(|(v, g)| (*v, g.data())).collect();
        match wanted.iter().map(|(value, _)| value.node).max() {
            Some(last) => self.sweep(last, self.slots(&wanted), false),
            None => Ok(Gradients {
                step: self.step,
                kept: Vec::new(),
            }),
        }
    }

    /// One slot per value up to the last of those that have a gradient already.
    fn slots(&self, gradients: &[(Var<'_, T>, &[T])]) -> Vec<Option<Buffer<T>>> {
        let mut slots: Vec<Option<Buffer<T>>> = Vec::new();
        for (value, g) in gradients {
            if slots.len() <= value.node {
                slots.resize_with(value.node + 1, || None);
            }
            match &mut slots[value.node] {
                Some(sum) => sum.iter_mut().zip(*g).for_each(|(s, &g)| *s += g),
                empty => *empty = Some(self.arena.copy_of(g)),
            }
        }
        slots
    }

    /// One pass from values that have a gradient; `checked` looks at every gradient as it arises.
    fn sweep(
        &self,
        last: usize,
        mut slots: Vec<Option<Buffer<T>>>,
        checked: bool,
    ) -> Result<Gradients<T>> {
        let mut kept = Vec::new();
        for id in (0..=last).rev() {
            let Some(gradient) = slots[id].take() else {
                continue;
            };
            let node = &self.nodes[id];
            self.pull_back(node, &gradient, &mut slots, checked)?;
            if node.keep_gradient.get() {
                kept.push((id, node.shape, gradient));
            }
        }
        kept.reverse();
        let step = self.step;
        Ok(Gradients { step, kept })
    }

    /// Adds what one node contributes to the gradients of its inputs.
    fn pull_back(
        &self,
        node: &Node<T>,
        gradient: &[T],
        slots: &mut [Option<Buffer<T>>],
        checked: bool,
    ) -> Result<()> {
        let Some(operation) = &node.operation else {
            return Ok(());
        };
        // An input that appears twice finds its slot taken and gets a second buffer, added below.
        let mut buffers: Few<Option<(Buffer<T>, bool)>> = node
            .inputs
            .iter()
            .map(|input| {
                let len = || self.nodes[input.node].value.len();
                input.wanted.then(|| match slots[input.node].take() {
                    Some(sum) => (sum, false),
                    None => (self.arena.take(len()), true),
                })
            })
            .collect();
        let views: Few<MatView<'_, T>> = node.inputs.iter().map(|i| self.input_value(i)).collect();
        let mut gradients: Few<Option<Gradient<'_, T>>> = buffers
            .iter_mut()
            .zip(&node.inputs)
            .map(|(buffer, input)| {
                let (data, empty) = buffer.as_mut()?;
                Some(Gradient::new(input.shape, data, *empty))
            })
            .collect();
        let context = Context {
            arena: &self.arena,
            wants_gradient: false,
            along_rows: false,
        };
        operation
            .pull_back(&mut PullBack {
                inputs: &views,
                output: view(node.shape, &node.value),
                g: view(node.shape, gradient),
                gradients: &mut gradients,
                context: &context,
            })
            .map_err(|source| TapeError::Operation {
                op: node.name,
                at: node.at,
                source,
            })?;
        // An operation that added nothing leaves zeros.
        for gradient in gradients.iter_mut().flatten() {
            gradient.accumulator();
        }
        drop(gradients);
        for (j, (buffer, input)) in buffers.into_iter().zip(&node.inputs).enumerate() {
            let Some((buffer, _)) = buffer else { continue };
            if checked {
                self.check_gradient(node, j, view(input.shape, &buffer))?;
            }
            match &mut slots[input.node] {
                Some(sum) => sum.iter_mut().zip(&*buffer).for_each(|(s, &b)| *s += b),
                empty => *empty = Some(buffer),
            }
        }
        Ok(())
    }
}
