"""Hermitian matrices through symmetric ones of twice the size.

``A + iB`` becomes the matrix of the blocks ``[[a, −b], [b, a]]`` of its entries. The map keeps
sums, products, inverses and eigenvalues (each twice), and takes
factors of Cholesky to factors of Cholesky: every function of symmetric matrices here is then one of
Hermitian matrices, exactly.
"""

import functools
import inspect

import numpy as np


def embed(z):
    """``(..., n, n)`` complex as ``(..., 2n, 2n)`` real."""
    z = np.asarray(z)
    out = np.empty((*z.shape[:-2], 2 * z.shape[-2], 2 * z.shape[-1]), dtype=z.real.dtype)
    out[..., 0::2, 0::2] = out[..., 1::2, 1::2] = z.real
    out[..., 1::2, 0::2] = z.imag
    out[..., 0::2, 1::2] = -z.imag
    return out


def extract(x):
    """The inverse of :func:`embed`."""
    return x[..., 0::2, 0::2] + 1j * x[..., 1::2, 0::2]


def _is_matrix(value):
    return isinstance(value, np.ndarray) and value.ndim >= 2


def _any_complex(values):
    """Whether one is a complex matrix. A loop, and the letter of the type: this is asked before
    every call."""
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype.kind == "c" and value.ndim >= 2:
            return True
    return False


#: How many times the number of the Hermitian matrices is that of the embedding.
_COUNTED = {"same": 1.0, "doubled": 2.0, "divergence": 2.0, "length": 2.0**0.5}


def hermitian(gives):
    """Let a function of symmetric matrices take Hermitian ones.

    Parameters
    ----------
    gives : {"matrix", "length", "divergence", "doubled", "same"}
        What the function gives: a matrix; a distance whose square is a sum over eigenvalues or
        entries; a divergence, or another number, that is such a sum;
        or a number that stays.

    Returns
    -------
    decorate : callable
        The decorator.
    """

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def either(*args, **kwargs):
            if not (_any_complex(args) or (kwargs and _any_complex(kwargs.values()))):
                return function(*args, **kwargs)
            found = function(
                *(embed(x) if _is_matrix(x) else x for x in args),
                **{k: embed(x) if _is_matrix(x) else x for k, x in kwargs.items()},
            )
            if gives == "matrix":
                return extract(found)
            squared = signature.bind(*args, **kwargs).arguments.get("squared", False)
            return found / _COUNTED[gives] ** (1 if not squared else 2)

        return either

    return decorate
