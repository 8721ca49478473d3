//! Products `C_i = op(A_i)·op(B_i)`; an operand with one matrix goes with every matrix of the
//! other.
//!
//! With `G = ∂ℓ/∂C`: `∂ℓ/∂A = G·op(B)ᵀ` (its transpose where `A` enters transposed), `∂ℓ/∂B =
//! op(A)ᵀ·G` (likewise), summed in ascending order over the batch for an operand that was
//! broadcast. `(B,r,c)·(1,c,p)` is computed as the one product `(B·r)×c · c×p`, forward and
//! backward.

use crate::tape::misfit;
use crate::{Forward, OpError, OpResult, Operation, PullBack, Result, Shape, Var};
use stiefel_linalg::{Op, Scalar, product_into, product_shape};

#[derive(Debug, Clone, Copy)]
struct Product {
    a: Op,
    b: Op,
}

fn transposed(op: Op) -> Op {
    match op {
        Op::N => Op::T,
        Op::T => Op::N,
    }
}

impl<T: Scalar> Operation<T> for Product {
    fn name(&self) -> &'static str {
        match (self.a, self.b) {
            (Op::N, Op::N) => "matmul",
            (Op::N, Op::T) => "matmul_nt",
            (Op::T, Op::N) => "matmul_tn",
            (Op::T, Op::T) => "matmul_tt",
        }
    }

    fn shape(&self, inputs: &[Shape]) -> OpResult<Shape> {
        product_shape(inputs[0], self.a, inputs[1], self.b).map_err(|_| OpError::Shape {
            needs: "equal inner sizes, and equal counts or a count of one",
            found: inputs.to_vec(),
        })
    }

    fn forward(&mut self, pass: &mut Forward<'_, T>) -> OpResult {
        let out = crate::operation::view_mut(pass.output.shape(), pass.output.data());
        product_into(
            out,
            false,
            T::ONE,
            pass.inputs[0],
            self.a,
            pass.inputs[1],
            self.b,
        )?;
        Ok(())
    }

    fn pull_back(&self, pass: &mut PullBack<'_, '_, T>) -> OpResult {
        let g = pass.g;
        let (a, b) = (pass.inputs[0], pass.inputs[1]);
        if let Some(da) = &mut pass.gradients[0] {
            match self.a {
                Op::N => da.add_product(T::ONE, g, Op::N, b, transposed(self.b))?,
                Op::T => da.add_product(T::ONE, b, self.b, g, Op::T)?,
            }
        }
        if let Some(db) = &mut pass.gradients[1] {
            match self.b {
                Op::N => db.add_product(T::ONE, a, transposed(self.a), g, Op::N)?,
                Op::T => db.add_product(T::ONE, g, Op::T, a, self.a)?,
            }
        }
        Ok(())
    }
}

impl<'t, T: Scalar> Var<'t, T> {
    #[track_caller]
    fn product(self, a: Op, other: Var<'t, T>, b: Op) -> Result<Self> {
        let product = Product { a, b };
        let (count, rows, inner) = self.shape();
        if a == Op::T || count == 1 || other.shape().0 != 1 {
            return self.tape.apply(product, &[self, other]);
        }
        let Ok((_, _, cols)) = product_shape(self.shape(), a, other.shape(), b) else {
            return self.tape.apply(product, &[self, other]); // the error with the shapes as written
        };
        let stacked = self.reshape(1, count * rows, inner)?;
        let result = self.tape.apply(product, &[stacked, other])?;
        result.reshape(count, rows, cols)
    }

    /// `A_i·B_i`.
    ///
    /// ```
    /// use stiefel_autodiff::Tape;
    /// use stiefel_linalg::MatBatch;
    ///
    /// let tape = Tape::<f64>::new();
    /// let x = tape.constant(&MatBatch::from_fn(8, 5, 3, |i, r, c| (i + r + c) as f64));
    /// let w = tape.parameter(&MatBatch::from_fn(1, 3, 2, |_, r, c| (r * c) as f64));
    /// assert_eq!(x.matmul(w)?.shape(), (8, 5, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn matmul(self, other: Var<'t, T>) -> Result<Self> {
        self.product(Op::N, other, Op::N)
    }

    /// `A_i·B_iᵀ`.
    #[track_caller]
    pub fn matmul_nt(self, other: Var<'t, T>) -> Result<Self> {
        self.product(Op::N, other, Op::T)
    }

    /// `A_iᵀ·B_i`.
    #[track_caller]
    pub fn matmul_tn(self, other: Var<'t, T>) -> Result<Self> {
        self.product(Op::T, other, Op::N)
    }

    /// The congruence `W_iᵀ X_i W_i` of symmetric `X_i`, exactly symmetric; `self` is `W` (BiMap).
    #[track_caller]
    pub fn congruence(self, x: Var<'t, T>) -> Result<Self> {
        self.matmul_tn(x.matmul(self)?)?.symmetrise()
    }

    /// The weighted sums `Σ_j α_ij Δ_j` as one product: weights `B × 1 × K` (or `1 × B × K`), terms
    /// `K × n × k`, result `B × n × k`.
    #[track_caller]
    pub fn mix(self, terms: Var<'t, T>) -> Result<Self> {
        let (count, rows, weights) = self.shape();
        let (k, n, p) = terms.shape();
        if weights != k {
            let needs = "as many columns of weights as terms";
            return Err(misfit("mix", needs, &[self.shape(), terms.shape()]));
        }
        let weights = self.reshape(1, count * rows, weights)?;
        let mixed = weights.matmul(terms.reshape(1, k, n * p)?)?;
        mixed.reshape(count * rows, n, p)
    }
}
