"""Tangent spaces of SPD(n): maps, vectors, inner products, transport."""

import numpy as np

from .. import _core
from .._arrays import as_real, as_square, at, common, stack, unstack
from ._distance import choose
from ._function import ddexpm, ddlogm, expm, invsqrtm, logm, sqrtm


def upper(X):
    """Upper triangles as vectors, row by row, off-diagonals times √2: an isometry of symmetric matrices.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.

    Returns
    -------
    T : ndarray, shape (..., n * (n + 1) / 2)
        The vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import upper
    >>> upper(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3).tolist()
    [1.0, 2.828, 3.0]
    """
    x = as_square(X, "X")
    t = _core.upper(stack(x))
    return t.reshape((*x.shape[:-2], t.shape[-1]))


def unupper(T):
    """The symmetric matrices of vectors; the inverse of :func:`upper`.

    Parameters
    ----------
    T : ndarray, shape (..., n * (n + 1) / 2)
        Vectors.

    Returns
    -------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import unupper, upper
    >>> unupper(upper(np.array([[1.0, 2.0], [2.0, 3.0]]))).round(12).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    t = as_real(T, "T", ndim=1)
    x = _core.unupper(np.ascontiguousarray(t).reshape((-1, 1, t.shape[-1])))
    return x.reshape((*t.shape[:-1], *x.shape[-2:]))


def log_map_riemann(X, Cref, *, C12=False):
    """Project SPD matrices to the tangent space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    C12 : bool, default=False
        False: ``log(Cref^{-1/2} X Cref^{-1/2})``; True: the same between two factors ``Cref^{1/2}``, the full logarithmic map.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_riemann
    >>> bool(np.allclose(log_map_riemann(np.diag([2 * np.e, 2.0]), 2 * np.eye(2)), np.diag([1, 0])))
    True
    """
    x, c, lead = at(X, Cref)
    if C12:
        return unstack(_core.log_map(c, x), lead)[()]
    return unstack(_core.whitened_log(c, x), lead)[()]


def exp_map_riemann(X, Cref, *, Cm12=False):
    """Bring symmetric matrices of the tangent space at Cref back to the manifold.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    Cm12 : bool, default=False
        False: ``Cref^{1/2} exp(X) Cref^{1/2}``; True: the full exponential map, with X between two factors ``Cref^{-1/2}``.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_riemann
    >>> exp_map_riemann(np.diag([np.log(3), 0.0]), 2 * np.eye(2)).round(12).tolist()
    [[6.0, 0.0], [0.0, 2.0]]
    """
    x, c, lead = at(X, Cref)
    if Cm12:
        return unstack(_core.exp_map(c, x), lead)[()]
    return unstack(_core.coloured_exp(c, x), lead)[()]


def log_map_euclid(X, Cref, **kwargs):
    """Euclidean logarithmic map ``X − Cref``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_euclid
    >>> log_map_euclid(3 * np.eye(2), np.eye(2)).round(12).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    return as_square(X, "X") - as_square(Cref, "Cref")


def exp_map_euclid(X, Cref, **kwargs):
    """Euclidean exponential map ``X + Cref``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_euclid
    >>> exp_map_euclid(3 * np.eye(2), np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    return as_square(X, "X") + as_square(Cref, "Cref")


def log_map_logeuclid(X, Cref, **kwargs):
    """Log-Euclidean logarithmic map ``D exp(log Cref)[log X − log Cref]``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    References
    ----------
    .. [1] V. Arsigny, P. Fillard, X. Pennec, N. Ayache. Geometric means in a novel vector space structure on symmetric
       positive-definite matrices. SIAM J. Matrix Anal. Appl., 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_logeuclid
    >>> bool(np.allclose(log_map_logeuclid(np.diag([2 * np.e, 2.0]), 2 * np.eye(2)), np.diag([2, 0])))
    True
    """
    x, c, lead = at(X, Cref)
    short = _core.log_map_logeuclid(c, x) if len(c) == 1 else None
    if short is not None:
        return unstack(short, lead)[()]
    foot = logm(Cref)
    return ddexpm(logm(X) - foot, foot)


def exp_map_logeuclid(X, Cref, **kwargs):
    """Log-Euclidean exponential map ``exp(log Cref + D log(Cref)[X])``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_logeuclid
    >>> exp_map_logeuclid(np.diag([2 * np.log(3), 0.0]), 2 * np.eye(2)).round(12).tolist()
    [[6.0, 0.0], [0.0, 2.0]]
    """
    x, c, lead = at(X, Cref)
    short = _core.exp_map_logeuclid(c, x) if len(c) == 1 else None
    if short is not None:
        return unstack(short, lead)[()]
    return expm(logm(Cref) + ddlogm(X, Cref))


_LOG_MAPS = {"euclid": log_map_euclid, "logeuclid": log_map_logeuclid, "riemann": log_map_riemann}
_EXP_MAPS = {"euclid": exp_map_euclid, "logeuclid": exp_map_logeuclid, "riemann": exp_map_riemann}


def log_map(X, Cref, *, metric="riemann", **kwargs):
    """Project matrices to the tangent space at Cref under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logeuclid", "riemann", or a function of ``(X, Cref)``.
    **kwargs : object
        Options of the map.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map
    >>> log_map(np.diag([np.e, 1.0]), np.eye(2)).round(12).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return choose(metric, _LOG_MAPS)(X, Cref, **kwargs)


def exp_map(X, Cref, *, metric="riemann", **kwargs):
    """Bring matrices of the tangent space at Cref back to the manifold under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logeuclid", "riemann", or a function of ``(X, Cref)``.
    **kwargs : object
        Options of the map.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map
    >>> exp_map(np.zeros((2, 2)), 3 * np.eye(2)).round(12).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    return choose(metric, _EXP_MAPS)(X, Cref, **kwargs)


def tangent_space(X, Cref, *, metric="riemann"):
    """Tangent vectors of SPD matrices at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logeuclid", "riemann" or a function of ``(X, Cref)``.

    Returns
    -------
    T : ndarray, shape (..., n * (n + 1) / 2)
        ``upper(log(Cref^{-1/2} X Cref^{-1/2}))`` for "riemann".

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import tangent_space
    >>> tangent_space(np.diag([np.e, 1.0]), np.eye(2)).round(12).tolist()
    [1.0, 0.0, 0.0]
    """
    if metric != "riemann":
        return upper(log_map(X, Cref, metric=metric))
    x, c, lead = at(X, Cref)
    t = _core.tangent_space(c, x)
    return t.reshape((*lead, t.shape[-1]))


def untangent_space(T, Cref, *, metric="riemann"):
    """SPD matrices of tangent vectors at Cref; the inverse of :func:`tangent_space`.

    Parameters
    ----------
    T : ndarray, shape (..., n * (n + 1) / 2)
        Tangent vectors.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logeuclid", "riemann" or a function of ``(X, Cref)``.

    Returns
    -------
    X : ndarray, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import untangent_space
    >>> untangent_space(np.zeros(3), 3 * np.eye(2)).round(12).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    if metric != "riemann":
        return exp_map(unupper(T), Cref, metric=metric)
    t, c = common(as_real(T, "T", ndim=1), as_square(Cref, "Cref"))
    n = c.shape[-1]
    if c.ndim != 2 or t.size == 0 or t.shape[-1] != n * (n + 1) // 2:
        return exp_map_riemann(unupper(t), c)
    x = _core.untangent_space(stack(c), np.ascontiguousarray(t).reshape((-1, 1, t.shape[-1])))
    return x.reshape((*t.shape[:-1], *c.shape))


def whiten(X, Cref):
    """``Cref^{-1/2} X Cref^{-1/2}``: moves Cref to the identity.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        SPD reference; one for all, or one for each.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        The whitened matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import whiten
    >>> whiten(np.diag([4.0, 9.0]), np.diag([4.0, 9.0])).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    x, c, lead = at(X, Cref)
    return unstack(_core.recentre(c, x), lead)[()]


def innerproduct_riemann(X, Y, Cref):
    """Affine-invariant inner product ``tr(Cref⁻¹ X Cref⁻¹ Y)`` of symmetric matrices in the tangent space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        First matrices.
    Y : ndarray, shape (..., n, n) | None
        Second matrices; None is X, which gives squared norms.
    Cref : ndarray, shape (n, n)
        The foot point.

    Returns
    -------
    G : float or ndarray, shape (...,)
        The inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct_riemann
    >>> round(innerproduct_riemann(np.eye(2), np.eye(2), 2 * np.eye(2)), 12)
    0.5
    """
    first = whiten(X, Cref)
    second = first if Y is None else whiten(Y, Cref)
    products = np.einsum("...ij,...ij->...", first, second)
    return float(products) if products.ndim == 0 else products


def norm(X, Cref, metric="riemann"):
    """Norm of matrices in the tangent space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : {"riemann", "euclid"}, default="riemann"
        The metric.

    Returns
    -------
    norms : float or ndarray, shape (...,)
        The norms.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import norm
    >>> round(float(norm(4 * np.eye(4), 2 * np.eye(4))), 12)
    4.0
    """
    if metric == "euclid":
        x = as_square(X, "X")
        return np.sqrt(np.einsum("...ij,...ij->...", x, x))
    if metric != "riemann":
        raise ValueError(f"Unknown metric {metric!r}. Must be one of euclid, riemann.")
    return np.sqrt(innerproduct_riemann(X, None, Cref))


def transport_riemann(X, A, B):
    """Parallel transport ``E X Eᵀ``, ``E = (B A⁻¹)^{1/2}``, of tangent matrices from A to B along the geodesic.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at A.
    A, B : ndarray, shape (n, n)
        SPD matrices.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at B.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport_riemann
    >>> transport_riemann(np.eye(2), np.eye(2), 4 * np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    root, inverse_root = sqrtm(A), invsqrtm(A)
    e = root @ sqrtm(whiten(B, A)) @ inverse_root
    x, e = common(as_square(X, "X"), e)
    if e.ndim == 2 and e.shape == x.shape[-2:]:
        moved = _core.sandwich(stack(e), stack(x))
        if moved is not None:
            return moved.reshape(x.shape)
    return e @ x @ np.swapaxes(e, -1, -2)


