"""Functions of one symmetric matrix; see :mod:`stiefel.torch.functional`."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from . import _plain
from ._inputs import THRESHOLD, exact, kernels, real, square, stack, threshold_of
from ._operators import call


def _spectral(name: str, x: Any, parameter: float = 0.0) -> Tensor:
    x = square(x, "X")
    if not kernels(x):
        with exact(x):
            return _plain.spectral(name, x, parameter)
    value = call(name, parameter, stack(x))
    return value if x.dim() == 3 else value.reshape(x.shape)


def logm(X: Tensor) -> Tensor:
    """Logarithm of SPD matrices, ``U log(λ) Uᵀ``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.logm(torch.eye(2)).abs().max().item()
    0.0
    """
    return _spectral("logm", X)


def expm(X: Tensor) -> Tensor:
    """Exponential of symmetric matrices, ``U exp(λ) Uᵀ``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        Symmetric matrices.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> x = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    >>> torch.allclose(functional.expm(functional.logm(x)), x)
    True
    """
    return _spectral("expm", X)


def sqrtm(X: Tensor) -> Tensor:
    """Square root of SPD matrices.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        SPD matrices with ``Y Y = X``.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.sqrtm(4 * torch.eye(2)).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    return _spectral("sqrtm", X)


def invsqrtm(X: Tensor) -> Tensor:
    """Inverse square root of SPD matrices.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        SPD matrices with ``Y X Y = I``.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.invsqrtm(4 * torch.eye(2)).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    return _spectral("invsqrtm", X)


def powm(X: Tensor, power: float) -> Tensor:
    """Power of SPD matrices, ``U λᵖ Uᵀ``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.
    power : float
        The exponent.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.powm(4 * torch.eye(1), 1.5).round(decimals=4).item()
    8.0
    """
    if not -math.inf < power < math.inf:
        raise ValueError(f"the exponent must be a finite number, got {power!r}.")
    return _spectral("powm", X, power)


def reeig(X: Tensor, threshold: float = THRESHOLD) -> Tensor:
    """Symmetric matrices with eigenvalues raised to a threshold, ``U max(λ, ε) Uᵀ``.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        Symmetric matrices.
    threshold : float, default=1e-4
        ε. The derivative is zero at and below it.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.reeig(torch.diag(torch.tensor([2.0, -1.0])), 0.5).tolist()
    [[2.0, 0.0], [0.0, 0.5]]
    """
    return _spectral("reeig", X, threshold_of(threshold))


def reeig_log(X: Tensor, threshold: float = THRESHOLD) -> Tensor:
    """Logarithm of :func:`reeig`, ``U log max(λ, ε) Uᵀ``, with one decomposition.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        Symmetric matrices.
    threshold : float, default=1e-4
        ε.

    Returns
    -------
    Y : Tensor, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.reeig_log(torch.diag(torch.tensor([1.0, -1.0])), 1.0).abs().max().item()
    0.0
    """
    return _spectral("reeig_log", X, threshold_of(threshold))


def upper(X: Tensor) -> Tensor:
    """Symmetric matrices as vectors: the upper triangle, row by row, off-diagonal entries times √2,
    so that norms agree.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        Symmetric matrices.

    Returns
    -------
    v : Tensor, shape (..., n(n+1)/2)
        Vectors.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.upper(torch.eye(3)).tolist()
    [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    """
    x = square(X, "X")
    if not kernels(x):
        return _plain.upper(x)
    value = call("upper", 0.0, stack(x))
    return value.reshape(*x.shape[:-2], value.shape[-1])


def log_upper(X: Tensor) -> Tensor:
    """Logarithms of SPD matrices as vectors, ``upper(logm(X))``, in one operation: LogEig.

    Parameters
    ----------
    X : Tensor, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    v : Tensor, shape (..., n(n+1)/2)
        Vectors.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.log_upper(torch.e * torch.eye(2)).round(decimals=5).tolist()
    [1.0, 0.0, 1.0]
    """
    x = square(X, "X")
    if not kernels(x):
        with exact(x):
            return _plain.upper(_plain.spectral("logm", x, 0.0))
    value = call("log_upper", 0.0, stack(x))
    return value.reshape(*x.shape[:-2], value.shape[-1])


def from_upper(v: Tensor) -> Tensor:
    """Vectors as symmetric matrices, the inverse of :func:`upper`.

    Parameters
    ----------
    v : Tensor, shape (..., n(n+1)/2)
        Vectors.

    Returns
    -------
    X : Tensor, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import functional
    >>> functional.from_upper(functional.upper(torch.eye(3))).diagonal().tolist()
    [1.0, 1.0, 1.0]
    """
    v = real(v, "v", 1)
    length = int(v.shape[-1])
    n = (math.isqrt(8 * length + 1) - 1) // 2
    if n * (n + 1) // 2 != length or n == 0:
        raise ValueError(
            f"v has {length} values; a symmetric matrix of n rows has n(n+1)/2: 1, 3, 6, 10, …"
        )
    if not kernels(v):
        return _plain.from_upper(v, n)
    return call("from_upper", float(n), v.reshape(-1, 1, length)).reshape(*v.shape[:-1], n, n)
