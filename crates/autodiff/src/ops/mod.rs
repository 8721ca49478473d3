//! The operations, each beside its pull-back, as methods of [`Var`](crate::Var).

mod arrange;
mod binary;
mod broadcast;
mod cholesky;
mod cross_entropy;
mod linear;
mod matmul;
mod norm;
mod reduce;
pub(crate) mod retract;
mod select;
mod softmax;
pub(crate) mod spectral;
pub(crate) mod tangent;
mod through;
mod triangular;
mod unary;
pub(crate) mod vector;

pub use reduce::Axis;

/// An error that names the first index not below `bound`.
pub(crate) fn check_indices(
    what: &'static str,
    indices: &[usize],
    bound: usize,
) -> crate::OpResult {
    let bad = |(_, index): &(usize, &usize)| **index >= bound;
    match indices.iter().enumerate().find(bad) {
        None => Ok(()),
        Some((position, &index)) => Err(crate::OpError::Index {
            what,
            position,
            index,
            bound,
        }),
    }
}

/// The side of square matrices, or an error.
pub(crate) fn square(inputs: &[crate::Shape]) -> crate::OpResult<usize> {
    let (_, rows, cols) = inputs[0];
    if rows == cols {
        return Ok(rows);
    }
    Err(crate::OpError::Shape {
        needs: "square matrices",
        found: inputs.to_vec(),
    })
}
