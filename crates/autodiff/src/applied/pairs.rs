//! Operations on pairs that the tape expresses by others, here in one step.
//!
//! ```text
//! congruence         Y_i = W_iᵀ X_i W_i               G_W = X W Gᵀ + Xᵀ W G,  G_X = W G Wᵀ
//! squared distance   d²_i = ‖log(A_i^{-1/2} B_i A_i^{-1/2})‖²_F
//! ```
//!
//! A congruence takes any square matrices. Where all are symmetric its value is exactly so, and
//! `G_W = X W (G + Gᵀ)` needs no further product with `X`.

use crate::ops::{common_count, wrong_shape};
use crate::{Buffer, Forward, OpResult, Operation, PullBack, Shape};
use stiefel_geometry::GeometryError;
use stiefel_geometry::spd::{SquaredDistance, check_symmetric, squared_distance as distance};
use stiefel_linalg::{
    MatBatch, MatView, MatViewMut, Op, Scalar, product, product_into, symmetrise,
};

#[derive(Default)]
pub(super) struct Congruence<T> {
    /// `X_i W_i`.
    xw: Option<Buffer<T>>,
    /// Whether every `X_i` is.
    symmetric: bool,
}

impl<T: Scalar> Operation<T> for Congruence<T> {
    fn name(&self) -> &'static str {
        "bimap"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (w, x) = (inputs[0], inputs[1]);
        match common_count(w, x) {
            Some(count) if x.1 == x.2 && w.1 == x.1 && w.2 > 0 => Ok((count, w.2, w.2)),
            _ => wrong_shape(
                "filters n × k and square matrices n × n, equal counts or a count of one",
                inputs,
            ),
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let (w, x) = (pass.inputs[0], pass.inputs[1]);
        self.symmetric = match check_symmetric("bimap", x) {
            Ok(_) => true,
            Err(GeometryError::Asymmetric { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        w.check_finite("bimap")?;
        let (count, n, k) = (pass.output.shape().0, w.rows(), w.cols());
        let mut xw = pass.context.buffer(count * n * k);
        let half = MatViewMut::new(count, n, k, &mut xw)?;
        product_into(half, false, T::ONE, x, Op::N, w, Op::N)?;
        let half = MatView::new(count, n, k, &xw)?;
        let out = MatViewMut::new(count, k, k, pass.output.data())?;
        product_into(out, false, T::ONE, w, Op::T, half, Op::N)?;
        if self.symmetric {
            symmetrise(pass.output)?;
        }
        self.xw = pass.context.wants_gradient().then_some(xw);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let Some(xw) = &self.xw else {
            return Ok(());
        };
        let (w, x) = (pass.inputs[0], pass.inputs[1]);
        if let Some(d_w) = &mut pass.gradients[0] {
            let xw = MatView::new(g.count(), w.rows(), w.cols(), xw)?;
            if self.symmetric {
                let mut sym = g.to_owned();
                symmetrise(&mut sym.view_mut())?;
                d_w.add_product(T::from_f64(2.0), xw, Op::N, sym.view(), Op::N)?;
            } else {
                let xtw = product(x, Op::T, w, Op::N)?;
                d_w.add_product(T::ONE, xw, Op::N, g, Op::T)?;
                d_w.add_product(T::ONE, xtw.view(), Op::N, g, Op::N)?;
            }
        }
        if let Some(d_x) = &mut pass.gradients[1] {
            let wg = product(w, Op::N, g, Op::N)?;
            d_x.add_product(T::ONE, wg.view(), Op::N, w, Op::T)?;
        }
        Ok(())
    }
}

pub(super) struct Distance<T> {
    pub(super) saved: Option<SquaredDistance<T>>,
}

impl<T: Scalar> Operation<T> for Distance<T> {
    fn name(&self) -> &'static str {
        "squared_distance"
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        let (a, b) = (inputs[0], inputs[1]);
        match common_count(a, b) {
            Some(count) if (a.1, a.2) == (b.1, b.2) && a.1 == a.2 => Ok((count, 1, 1)),
            _ => wrong_shape(
                "square matrices of one size, equal counts or a count of one",
                inputs,
            ),
        }
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        for x in pass.inputs {
            check_symmetric("squared_distance", *x)?;
        }
        let found = distance(pass.inputs[0], pass.inputs[1])?;
        pass.output.data().copy_from_slice(&found.value);
        self.saved = pass.context.wants_gradient().then_some(found);
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        let (in_a, in_b): (MatBatch<T>, MatBatch<T>) = saved.pull_back(g.data())?;
        for (dx, g) in pass.gradients.iter_mut().zip([in_a, in_b]) {
            if let Some(dx) = dx {
                dx.add(g.data());
            }
        }
        Ok(())
    }
}
