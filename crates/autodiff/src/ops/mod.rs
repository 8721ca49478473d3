//! The operations, each beside its pull-back, as methods of [`Var`](crate::Var).

mod arrange;
mod binary;
mod broadcast;
mod cross_entropy;
mod linear;
mod log_det;
mod matmul;
mod norm;
mod reduce;
pub(crate) mod retract;
mod select;
mod softmax;
pub(crate) mod spectral;
pub(crate) mod tangent;
mod through;
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
    wrong_shape("square matrices", inputs)
}

/// The error of inputs that do not fit.
pub(crate) fn wrong_shape<X>(needs: &'static str, inputs: &[crate::Shape]) -> crate::OpResult<X> {
    let found = inputs.to_vec();
    Err(crate::OpError::Shape { needs, found })
}

/// The count of two batches, of which either may be a single matrix.
pub(crate) fn common_count(a: crate::Shape, b: crate::Shape) -> Option<usize> {
    (a.0 == b.0 || a.0 == 1 || b.0 == 1).then_some(if a.0 == 1 { b.0 } else { a.0 })
}

/// The shape of pairs of points of St(n, k) and vectors there.
pub(crate) fn tall_pairs(a: crate::Shape, b: crate::Shape) -> crate::OpResult<crate::Shape> {
    match common_count(a, b) {
        Some(count) if (a.1, a.2) == (b.1, b.2) && a.1 >= a.2 => Ok((count, a.1, a.2)),
        _ => wrong_shape(
            "equally sized matrices, not wider than tall, and equal counts or a count of one",
            &[a, b],
        ),
    }
}
