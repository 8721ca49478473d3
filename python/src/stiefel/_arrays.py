"""Arguments as the core takes them: C-contiguous stacks ``(count, rows, cols)`` of one precision,
copied only where they must be."""

from __future__ import annotations

import numpy as np


#: The types of the core, in the order of bytes of this machine.
_READY = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


def _converted(array, name):
    """Numbers of another type as float64."""
    if array.dtype == object:
        raise ValueError(
            f"{name} is an array of objects; its entries differ in length or are not numbers. Pass an array of numbers."
        )
    if np.iscomplexobj(array):
        raise ValueError(
            f"Complex data not supported: {name} is of dtype {array.dtype}; pass real matrices."
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} is of dtype {array.dtype}; pass an array of numbers.")
    return array.astype(np.float64)


def as_real(x, name="X", ndim=2):
    """The array as float32 or float64, at least ``ndim`` dimensions; never a view that would be
    written to."""
    array = np.asarray(x)
    # One matrix takes microseconds: what is as it should be is asked first.
    if array.dtype not in _READY:
        array = _converted(array, name)
    if array.ndim < ndim:
        raise ValueError(
            f"{name} has {array.ndim} dimension(s), at least {ndim} are needed: (..., n, n)."
        )
    return array


def as_square(x, name="X"):
    """A stack of square matrices ``(..., n, n)``."""
    array = as_real(x, name)
    if array.shape[-1] != array.shape[-2]:
        raise ValueError(
            f"{name} must contain square matrices, found {array.shape[-2]} × {array.shape[-1]}."
        )
    return array


def stack(array):
    """``(..., r, c)`` as ``(count, r, c)``, C-contiguous; no copy where it is already."""
    if array.ndim == 3 and array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array).reshape((-1, *array.shape[-2:]))


def common(a, b):
    """Two arrays in the wider of their precisions."""
    if a.dtype == b.dtype:
        return a, b
    dtype = np.promote_types(a.dtype, b.dtype)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def pair(a, b, names=("A", "B")):
    """Two stacks for a function of pairs, and the leading shape of the result.

    A single matrix on either side stays single: the core broadcasts it without a copy.
    """
    a, b = common(a, b)
    if a.shape[-2:] != b.shape[-2:]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have equal matrix dimensions, found {a.shape[-2:]} and {b.shape[-2:]}."
        )
    lead = leading(a, b, names)
    return single_or_full(a, lead), single_or_full(b, lead), lead


def at(X, Cref):
    """Matrices and foot points for the core, and the leading shape of the result."""
    x, c = common(as_square(X, "X"), as_square(Cref, "Cref"))
    if x.shape[-2:] != c.shape[-2:]:
        raise ValueError(
            f"Inputs must have equal matrix dimensions, found {x.shape[-2:]} and {c.shape[-2:]}."
        )
    lead = leading(x, c, ("X", "Cref"))
    return single_or_full(x, lead), single_or_full(c, lead), lead


def leading(a, b, names=("A", "B")):
    """The broadcast leading shape of two stacks."""
    if b.ndim == 2 or a.shape[:-2] == b.shape[:-2]:
        return a.shape[:-2]
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"{names[0]} and {names[1]} have incompatible dimensions: {a.shape} and {b.shape}."
        ) from None


def single_or_full(array, lead):
    """One matrix as a stack of one, anything else spread to the leading shape."""
    if array.size == array.shape[-1] * array.shape[-2]:
        return stack(array)
    if array.shape[:-2] != lead:
        array = np.broadcast_to(array, (*lead, *array.shape[-2:]))
    return stack(array)


def unstack(flat, lead):
    """The result of the core with its leading shape; a scalar where there is none."""
    return flat.reshape((*lead, *flat.shape[1:])) if flat.ndim > 1 or lead else flat[0]


def as_weights(weights, count):
    """Weights as a list for the core, which normalises them."""
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(
            f"Weights do not have the good shape. Should be ({count},) but got {weights.shape}."
        )
    return weights.tolist()
