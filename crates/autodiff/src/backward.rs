//! The backward pass: `∂ℓ/∂x` for every parameter, from the last value to the first.
//!
//! The order of the pull-backs, and of the sums within each, is that of the tape: gradients are the same to the bit on every run.

use crate::error::{Result, TapeError};
use crate::finite::first_bad;
use crate::operation::{Gradient, view};
use crate::tape::{Few, Node};
use crate::{Buffer, Context, Shape, Tape, Var};
use stiefel_linalg::{MatView, Scalar};

/// The gradients of one loss.
///
/// Kept for parameters and for values marked with [`Var::keep_gradient`]; all others are freed during the pass. They outlive
/// the tape's [`reset`](Tape::reset), but a [`Var`] finds its gradient only in the pass of its own step.
#[derive(Debug)]
pub struct Gradients<T> {
    step: u64,
    /// Sorted by node.
    kept: Vec<(usize, Shape, Buffer<T>)>,
}

impl<T: Scalar> Gradients<T> {
    /// `∂ℓ/∂var` in the shape of `var`, or `None` where the loss does not depend on `var` (its gradient is zero), where it is
    /// detached or a constant, or where it is an intermediate value not marked to be kept.
    pub fn get(&self, var: Var<'_, T>) -> Option<MatView<'_, T>> {
        if var.tape.step != self.step || !var.wants_gradient() {
            return None;
        }
        let at = self.kept.binary_search_by_key(&var.node, |k| k.0).ok()?;
        Some(view(var.shape(), &self.kept[at].2))
    }
}

impl<T: Scalar> Tape<T> {
    /// The gradients of `loss`, a `1 × 1 × 1` value, in all parameters it depends on.
    ///
    /// May be called for several losses of one forward computation.
    ///
    /// # Errors
    /// A loss that is not one number or depends on no parameter; a non-finite loss, with the operation in which it
    /// arose; a non-finite gradient, with the pull-back in which the first one arose; an error of a kernel.
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
        let gradients = self.sweep(loss.node, false)?;
        let finite =
            |(_, shape, data): &(usize, Shape, Buffer<T>)| first_bad(view(*shape, data)).is_none();
        if !gradients.kept.iter().all(finite) {
            // Again, looking at every gradient as it arises.
            self.sweep(loss.node, true)?;
        }
        Ok(gradients)
    }

    /// One pass; `checked` looks at every gradient as it arises.
    fn sweep(&self, last: usize, checked: bool) -> Result<Gradients<T>> {
        let mut slots: Vec<Option<Buffer<T>>> = Vec::new();
        slots.resize_with(last + 1, || None);
        slots[last] = Some(self.arena.copy_of(&[T::ONE]));
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
                let len = || self.nodes[input.node].value.data().len();
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
        };
        operation
            .pull_back(
                &views,
                view(node.shape, node.value.data()),
                view(node.shape, gradient),
                &mut gradients,
                &context,
            )
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
