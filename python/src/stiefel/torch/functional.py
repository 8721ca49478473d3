"""Functions on SPD matrices and on the Stiefel manifold for tensors, with exact first derivatives.

Matrices are the last two dimensions. There may be any leading dimensions, and they are broadcast if
a function takes two tensors. On the CPU the kernels of stiefel compute in ``float32`` or
``float64``, on as many threads as ``torch.get_num_threads()`` says. They read contiguous tensors
without a copy, and other Python threads can run at the same time. Tensors on another device stay
there, and PyTorch's own functions compute with the same derivatives. Tensors in half precision are
raised to ``float32``, also under autocast. There are no second derivatives: asking for them is an
error.

A gradient in a symmetric matrix is symmetric. Derivatives are exact for repeated and nearly
repeated eigenvalues.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import _plain
from ._inputs import THRESHOLD, exact, kernels, of_pair, pair, real, square, threshold_of
from ._mean import FrechetMean
from ._operators import call
from ._spectral import (
    expm,
    from_upper,
    invsqrtm,
    log_upper,
    logm,
    powm,
    reeig,
    reeig_log,
    sqrtm,
    upper,
)

__all__ = [
    "bimap",
    "distance",
    "expm",
    "filtered_log",
    "from_upper",
    "invsqrtm",
    "log_upper",
    "logm",
    "mean",
    "powm",
    "project_tangent",
    "reeig",
    "reeig_log",
    "retract_polar",
    "retract_qr",
    "sqrtm",
    "upper",
]


def bimap(X: Tensor, W: Tensor) -> Tensor:
    """BiMap, ``Wᵀ X W``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        Square matrices.
    W : Tensor, shape (..., n, k)
        Filters.

    Returns
    -------
    Y : Tensor, shape (..., k, k)
        Square matrices, symmetric if those of ``X`` are.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.bimap(torch.eye(4).expand(2, 3, 4, 4), torch.eye(4, 2)).shape
    torch.Size([2, 3, 2, 2])
    """
    x, w = square(X, "X"), real(W, "W")
    if not kernels(x, w):
        with exact(x):
            return _plain.bimap(x, w)
    return of_pair("bimap", w, x)


def project_tangent(W: Tensor, Z: Tensor) -> Tensor:
    """Projection of matrices to the tangent space of the Stiefel manifold, ``Z − W sym(WᵀZ)``.

    Parameters
    ----------
    W : Tensor, shape (..., n, k)
        Points: orthonormal columns.
    Z : Tensor, shape (..., n, k)
        Matrices.

    Returns
    -------
    D : Tensor, shape (..., n, k)
        Tangent vectors at ``W``.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.project_tangent(torch.eye(3, 2), torch.eye(3, 2)).abs().max().item()
    0.0
    """
    w, z = real(W, "W"), real(Z, "Z")
    if not kernels(w, z):
        with exact(w):
            return _plain.project_tangent(w, z)
    return of_pair("project_tangent", w, z)


def retract_qr(W: Tensor, D: Tensor) -> Tensor:
    """The point that a tangent vector leads to: the orthonormal factor of ``W + D``, with a
    positive diagonal of R.

    Parameters
    ----------
    W : Tensor, shape (..., n, k)
        Points: orthonormal columns.
    D : Tensor, shape (..., n, k)
        Tangent vectors.

    Returns
    -------
    V : Tensor, shape (..., n, k)
        Points.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> w = torch.eye(3, 2, dtype=torch.float64)
    >>> step = functional.project_tangent(w, torch.ones(3, 2, dtype=torch.float64))
    >>> v = functional.retract_qr(w, step)
    >>> torch.allclose(v.T @ v, torch.eye(2, dtype=torch.float64))
    True
    """
    w, d = real(W, "W"), real(D, "D")
    if not kernels(w, d):
        with exact(w):
            return _plain.retract_qr(w, d)
    return of_pair("retract_qr", w, d)


def retract_polar(W: Tensor, D: Tensor) -> Tensor:
    """The point that a tangent vector leads to: the polar factor of ``W + D``, which is the nearest
    point.

    Parameters
    ----------
    W : Tensor, shape (..., n, k)
        Points: orthonormal columns.
    D : Tensor, shape (..., n, k)
        Tangent vectors.

    Returns
    -------
    V : Tensor, shape (..., n, k)
        Points.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.retract_polar(torch.eye(3, 2), torch.zeros(3, 2)).diagonal().tolist()
    [1.0, 1.0]
    """
    w, d = real(W, "W"), real(D, "D")
    if not kernels(w, d):
        with exact(w):
            return _plain.retract_polar(w, d)
    return of_pair("retract_polar", w, d)


def filtered_log(
    X: Tensor, W: Tensor, threshold: float = THRESHOLD, retract: bool = True
) -> Tensor:
    """Retraction, BiMap, ReEig, LogEig and vector in one, ``upper(log max(Vᵀ X V, ε))``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.
    W : Tensor, shape (..., n, k)
        Filters: one for all, or one per matrix.
    threshold : float, default=1e-4
        ε.
    retract : bool, default=True
        Whether ``V`` is the orthonormal factor of ``W``; if not, ``V`` is ``W``. For the factor,
        ``W`` must have well conditioned columns, as a point plus a tangent vector has.

    Returns
    -------
    v : Tensor, shape (..., k(k+1)/2)
        Vectors.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.filtered_log(torch.eye(4).expand(5, 4, 4), torch.eye(4, 2)).shape
    torch.Size([5, 3])
    """
    x, w, epsilon = square(X, "X"), real(W, "W"), threshold_of(threshold)
    if not kernels(x, w):
        with exact(x):
            return _plain.filtered_log(x, w, epsilon, retract)
    filters, matrices, lead = pair(w, x)
    if matrices.shape[0] == 1 and filters.shape[0] != 1:
        matrices = matrices.expand(filters.shape[0], -1, -1)
    value = call(
        "filtered_log" if retract else "filtered_log_of_points", epsilon, filters, matrices
    )
    return value.reshape(*lead, value.shape[-1])


def distance(A: Tensor, B: Tensor, squared: bool = False) -> Tensor:
    """Affine-invariant distance of SPD matrices, ``‖log(A^{-1/2} B A^{-1/2})‖``.

    Parameters
    ----------
    A, B : Tensor, shape (..., n, n)
        SPD matrices.
    squared : bool, default=False
        Whether to give the square, which has a derivative everywhere. The distance itself has none
        at ``A = B``: there, and where the matrices differ by no more than the rounding of their
        largest entry, distance and derivative are zero.

    Returns
    -------
    d : Tensor, shape (...)
        Distances.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> x = torch.eye(3, dtype=torch.float64)
    >>> round(functional.distance(x, torch.e * x, squared=True).item(), 12)
    3.0
    """
    a, b = square(A, "A"), square(B, "B")
    if kernels(a, b):
        found = of_pair("squared_distance", a, b)[..., 0, 0]
    else:
        with exact(a):
            found = _plain.squared_distance(a, b)
    if squared:
        return found
    apart = (found > 0) & ~_equal(a, b)
    return torch.where(
        apart, torch.where(apart, found, torch.ones_like(found)).sqrt(), torch.zeros_like(found)
    )


def _equal(a: Tensor, b: Tensor) -> Tensor:
    """Which pairs are equal to rounding."""
    a, b = a.detach(), b.detach()
    dtype = torch.promote_types(a.dtype, b.dtype)
    size = torch.maximum(a.abs().amax((-2, -1)), b.abs().amax((-2, -1))).to(dtype)
    # Precision of the coarser one: it may be a rounded copy of the other.
    eps = max(torch.finfo(a.dtype).eps, torch.finfo(b.dtype).eps)
    return (a.to(dtype) - b.to(dtype)).abs().amax((-2, -1)) <= eps * size


def mean(X: Tensor, weights: Tensor | None = None) -> Tensor:
    """Affine-invariant (Fréchet) mean of SPD matrices, ``argmin_M Σ_i w_i d²(M, X_i)``.

    The derivative is that of the mean itself, by the implicit function theorem; the iterations are
    not differentiated.

    Parameters
    ----------
    X : Tensor, shape (N, n, n)
        SPD matrices.
    weights : None | Tensor, shape (N,), default=None
        Weights, not negative; they are normalised, and have no gradient. None gives all the same
        weight.

    Returns
    -------
    M : Tensor, shape (n, n)
        The mean.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> x = torch.stack([torch.eye(2), 4 * torch.eye(2)]).double()
    >>> functional.mean(x).diagonal().round(decimals=9).tolist()
    [2.0, 2.0]
    """
    x = square(X, "X")
    if x.dim() != 3 or x.shape[0] == 0:
        raise ValueError(
            f"X must be a stack (N, n, n) of at least one matrix, found {tuple(x.shape)}."
        )
    share = (
        torch.ones(x.shape[0], dtype=x.dtype, device=x.device)
        if weights is None
        else real(weights, "weights", 1).detach().to(x)
    )
    if share.shape != x.shape[:1] or not bool((share >= 0).all()) or not bool(share.sum() > 0):
        raise ValueError(f"weights must be {x.shape[0]} numbers, not negative and not all zero.")
    with exact(x):
        return FrechetMean.apply(x, share / share.sum())
