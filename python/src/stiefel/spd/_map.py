"""Logarithmic and exponential maps: SPD(n) and its tangent spaces."""

from .. import _core
from .._arrays import as_real, at, unstack
from ._calls import choose
from ._cholesky import exp_map_logchol, log_map_logchol
from ._hermitian import hermitian
from ._wasserstein import exp_map_wasserstein, log_map_wasserstein


@hermitian("matrix")
def log_map_riemann(X, Cref, *, C12=False):
    """Project SPD matrices to the tangent space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    C12 : bool, default=False
        False: ``log(Cref^{-1/2} X Cref^{-1/2})``; True: the same between two factors
        ``Cref^{1/2}``, the full logarithmic map.

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


@hermitian("matrix")
def exp_map_riemann(X, Cref, *, Cm12=False):
    """Bring symmetric matrices of the tangent space at Cref back to the manifold.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    Cm12 : bool, default=False
        False: ``Cref^{1/2} exp(X) Cref^{1/2}``; True: the full exponential map, with X between two
        factors ``Cref^{-1/2}``.

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


@hermitian("matrix")
def log_map_euclid(X, Cref, **kwargs):
    """Euclidean logarithmic map ``X − Cref``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices of any shape.
    Cref : ndarray, shape (..., n, m)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, m)
        Matrices of any shape.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_euclid
    >>> log_map_euclid(3 * np.eye(2), np.eye(2)).round(12).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    return as_real(X, "X") - as_real(Cref, "Cref")


@hermitian("matrix")
def exp_map_euclid(X, Cref, **kwargs):
    """Euclidean exponential map ``X + Cref``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices of any shape.
    Cref : ndarray, shape (..., n, m)
        The foot point.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, m)
        Matrices of any shape.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_euclid
    >>> exp_map_euclid(3 * np.eye(2), np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    return as_real(X, "X") + as_real(Cref, "Cref")


@hermitian("matrix")
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
    .. [1] V. Arsigny, P. Fillard, X. Pennec, N. Ayache. Geometric means in a novel vector space
           structure on symmetric
       positive-definite matrices. SIAM J. Matrix Anal. Appl., 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_logeuclid
    >>> bool(np.allclose(log_map_logeuclid(np.diag([2 * np.e, 2.0]), 2 * np.eye(2)), np.diag([2, 0])))
    True
    """
    x, c, lead = at(X, Cref)
    return unstack(_core.log_map_logeuclid(c, x), lead)[()]


@hermitian("matrix")
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
    return unstack(_core.exp_map_logeuclid(c, x), lead)[()]


_LOG_MAPS = {
    "euclid": log_map_euclid,
    "logchol": log_map_logchol,
    "logeuclid": log_map_logeuclid,
    "riemann": log_map_riemann,
    "wasserstein": log_map_wasserstein,
}
_EXP_MAPS = {
    "euclid": exp_map_euclid,
    "logchol": exp_map_logchol,
    "logeuclid": exp_map_logeuclid,
    "riemann": exp_map_riemann,
    "wasserstein": exp_map_wasserstein,
}


def log_map(X, Cref, *, metric="riemann", **kwargs):
    """Project matrices to the tangent space at Cref under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logchol", "logeuclid", "riemann", "wasserstein", or a function of ``(X, Cref)``.
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
        "euclid", "logchol", "logeuclid", "riemann", "wasserstein", or a function of ``(X, Cref)``.
    **kwargs : object
        Options of the map.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        SPD matrices; with "euclid", symmetric ones.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map
    >>> exp_map(np.zeros((2, 2)), 3 * np.eye(2)).round(12).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    return choose(metric, _EXP_MAPS)(X, Cref, **kwargs)
