"""Means of SPD matrices."""

import warnings

import numpy as np

from .. import _core
from .._arrays import as_square, as_weights, stack
from ._distance import choose
from ._function import powm
from ._hermitian import hermitian


def _sets(X):
    """``(..., m, n, n)`` with at least one matrix."""
    x = as_square(X, "X")
    if x.ndim < 3:
        raise ValueError(f"X must be a stack of matrices (..., m, n, n), found shape {x.shape}.")
    if x.shape[-3] == 0:
        raise ValueError("X holds no matrix; the mean of nothing is not defined.")
    return x


@hermitian("matrix")
def mean_euclid(X, sample_weight=None, **kwargs):
    """Arithmetic mean.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of matrices.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_euclid
    >>> mean_euclid(np.array([[[1.0]], [[4.0]]]), sample_weight=[3, 1]).tolist()
    [[1.75]]
    """
    x = _sets(X)
    weights = as_weights(sample_weight, x.shape[-3])
    if weights is None and x.size:
        mean = _per_set(x, lambda part: _core.plain_mean(part, False)[0])
    else:
        weights = np.ones(x.shape[-3]) if weights is None else np.array(weights)
        mean = np.tensordot((weights / weights.sum()).astype(x.dtype), x, axes=([0], [-3]))
    if not np.isfinite(mean).all():
        bad = np.argwhere(~np.isfinite(x))
        where = bad[0].tolist() if len(bad) else "none, the sum overflows"
        raise ValueError(f"X contains NaN or infinity, first at index {where}.")
    return mean


@hermitian("matrix")
def mean_logeuclid(X, sample_weight=None, **kwargs):
    """Log-Euclidean mean ``exp(Σ w_i log X_i)``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_logeuclid
    >>> mean_logeuclid(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    x = _sets(X)
    weights = as_weights(sample_weight, x.shape[-3])
    return _per_set(x, lambda part: _core.mean(part, "logeuclid", weights)[0])


@hermitian("matrix")
def mean_harmonic(X, sample_weight=None, **kwargs):
    """Harmonic mean ``(Σ w_i X_i⁻¹)⁻¹``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of invertible matrices.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_harmonic
    >>> mean_harmonic(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[1.6]]
    """
    x = _sets(X)
    if sample_weight is None and x.ndim == 3 and x.size:
        mean = _core.plain_mean(stack(x), True)
        if mean is not None:
            return np.linalg.inv(mean[0])
    return np.linalg.inv(mean_euclid(np.linalg.inv(x), sample_weight=sample_weight))


@hermitian("matrix")
def mean_poweuclid(X, p, *, sample_weight=None, **kwargs):
    """Power-Euclidean mean ``(Σ w_i X_i^p)^{1/p}``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    p : float
        Exponent; 1 is the arithmetic, 0 the log-Euclidean, −1 the harmonic mean.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_poweuclid
    >>> mean_poweuclid(np.array([[[1.0]], [[4.0]]]), 0.5).round(12).tolist()
    [[2.25]]
    """
    if not isinstance(p, (int, float)):
        raise ValueError(f"Exponent p must be a scalar (Got {type(p)})")
    named = {1: mean_euclid, 0: mean_logeuclid, -1: mean_harmonic}
    if p in named:
        return named[p](X, sample_weight=sample_weight)
    return powm(mean_euclid(powm(_sets(X), p), sample_weight=sample_weight), 1 / p)


@hermitian("matrix")
def mean_riemann(X, *, tol=10e-9, maxiter=50, init=None, sample_weight=None):
    """Fréchet mean of the affine-invariant metric.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-9
        Stop where the norm of the gradient ``‖Σ w_i log(M^{-1/2} X_i M^{-1/2})‖_F`` is at most this; in float32, at most what
        that precision can tell from zero.
    maxiter : int, default=50
        Evaluations of the gradient at most.
    init : None | ndarray, shape (n, n), default=None
        Checked and not used: the mean is unique, and the Newton iteration here starts from the log-Euclidean mean.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells where the tolerance was not met.

    References
    ----------
    .. [1] M. Moakher. A differential geometric approach to the geometric mean of symmetric positive-definite matrices.
       SIAM J. Matrix Anal. Appl., 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_riemann
    >>> mean_riemann(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    x = _sets(X)
    n = x.shape[-1]
    if init is not None and np.shape(init) != (n, n):
        raise ValueError(f"Init matrix does not have the good shape. Should be ({n},{n}) but got {np.shape(init)}.")
    weights = as_weights(sample_weight, x.shape[-3])
    # The core measures the gradient per √n.
    tolerance = float(tol) / n**0.5

    def mean(part):
        found, _, residual, converged = _core.frechet_mean(part, weights, tolerance, int(maxiter))
        if not converged:
            warnings.warn(
                f"Convergence not reached: gradient norm {residual * n**0.5:.1e}, tolerance {tol:.1e}", stacklevel=4
            )
        return found[0]

    return _per_set(x, mean)


def _per_set(x, mean):
    """One mean for each leading position."""
    lead, (m, n, _) = x.shape[:-3], x.shape[-3:]
    if not lead:
        return mean(stack(x))
    parts = [mean(part) for part in np.ascontiguousarray(x).reshape((-1, m, n, n))]
    return np.stack(parts).reshape((*lead, n, n))


_MEANS = {
    "euclid": mean_euclid,
    "harmonic": mean_harmonic,
    "logeuclid": mean_logeuclid,
    "poweuclid": mean_poweuclid,
    "riemann": mean_riemann,
}


def gmean(X, *args, metric="riemann", sample_weight=None, **kwargs):
    """Mean of SPD matrices under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    *args, **kwargs : object
        Options of the mean.
    metric : str | callable, default="riemann"
        "euclid", "harmonic", "logeuclid", "poweuclid" (with its exponent, ``p=...``), "riemann", or a function of
        ``(X, sample_weight=...)``.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import gmean
    >>> gmean(np.array([[[1.0]], [[4.0]]]), metric="euclid").tolist()
    [[2.5]]
    """
    return choose(metric, _MEANS)(X, *args, sample_weight=sample_weight, **kwargs)
