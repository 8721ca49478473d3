"""Means of SPD matrices."""

import numbers

import numpy as np

from .. import _core
from .._arrays import as_real, as_weights, stack
from ._calls import check_sets, choose, per_set, searched, sets
from ._cholesky import mean_chol, mean_logchol
from ._function import powm
from ._geodesic import geodesic_riemann
from ._hermitian import hermitian
from ._recursive import mean_ale, mean_alm, mean_bmp, mean_cheap
from ._thompson import mean_thompson
from ._wasserstein import mean_wasserstein


@hermitian("matrix")
def mean_euclid(X, sample_weight=None, **kwargs):
    """Arithmetic mean.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, k)
        Sets of m matrices of any shape.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, k)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_euclid
    >>> mean_euclid(np.array([[[1.0]], [[4.0]]]), sample_weight=[3, 1]).tolist()
    [[1.75]]
    """
    x = as_real(X, "X")
    check_sets(x)
    weights = as_weights(sample_weight, x.shape[-3])
    if weights is None and x.size:
        mean = per_set(x, lambda part: _core.plain_mean(part, False)[0])
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
    x = sets(X)
    weights = as_weights(sample_weight, x.shape[-3])
    return per_set(x, lambda part: _core.mean(part, "logeuclid", weights)[0])


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
    x = sets(X)
    if sample_weight is None and x.ndim == 3 and x.size:
        mean = _core.plain_mean(stack(x), True)
        if mean is not None:
            return np.linalg.inv(mean[0])
    return np.linalg.inv(mean_euclid(np.linalg.inv(x), sample_weight=sample_weight))


def _check_exponent(p):
    if not isinstance(p, numbers.Real):
        raise ValueError(f"Exponent p must be a scalar (Got {type(p)})")


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
    _check_exponent(p)
    named = {1: mean_euclid, 0: mean_logeuclid, -1: mean_harmonic}
    if p in named:
        return named[p](X, sample_weight=sample_weight)
    return powm(mean_euclid(powm(sets(X), p), sample_weight=sample_weight), 1 / p)


@hermitian("matrix")
def mean_riemann(X, *, tol=10e-9, maxiter=50, init=None, sample_weight=None):
    """Fréchet mean of the affine-invariant metric.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-9
        Stop when the norm of the gradient ``‖Σ w_i log(M^{-1/2} X_i M^{-1/2})‖_F`` is at most this.
        In float32, stop when it
        is at most what that precision can tell from zero.
    maxiter : int, default=50
        Maximum number of evaluations of the gradient.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the log-Euclidean mean.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    References
    ----------
    .. [1] M. Moakher. A differential geometric approach to the geometric mean of symmetric
           positive-definite matrices.
       SIAM J. Matrix Anal. Appl., 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_riemann
    >>> mean_riemann(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    x = sets(X)
    # The core measures the gradient per √n.
    return searched(x, "riemann", tol, maxiter, init, sample_weight, scale=x.shape[-1] ** -0.5)


@hermitian("matrix")
def mean_power(X, p, *, sample_weight=None, zeta=10e-10, maxiter=100, init=None):
    """Power mean: the solution of ``M = Σ w_i M #_p X_i``, with ``#_p`` the affine-invariant
    geodesic at p.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    p : float
        Exponent in [−1, 1]; 1 is the arithmetic, 0 the Fréchet, −1 the harmonic mean.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    zeta : float, default=10e-10
        Stop when ``‖Σ w_i (M^{-1/2} X_i M^{-1/2})^p − I‖_F/√n`` is at most this.
    maxiter : int, default=100
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the power-Euclidean mean.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    See Also
    --------
    mean_poweuclid : The mean of powers of the matrices.

    References
    ----------
    .. [1] Y. Lim, M. Pálfia. Matrix power means and the Karcher mean. Journal of Functional
           Analysis, 2012.
    .. [2] M. Congedo, A. Barachant, E. Kharati Koopaei. Fixed point algorithms for estimating power
           means of positive definite matrices.
       IEEE Trans. Signal Process., 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_power
    >>> mean_power(np.array([[[1.0]], [[9.0]]]), 0.5).round(6).tolist()
    [[4.0]]
    """
    _check_exponent(p)
    if not -1 <= p <= 1:
        raise ValueError(f"Exponent p must be in [-1,+1], got {p}")
    if p == 0:
        return mean_riemann(X, tol=zeta, maxiter=maxiter, init=init, sample_weight=sample_weight)
    named = {1: mean_euclid, -1: mean_harmonic}
    if p in named:
        return named[p](X, sample_weight=sample_weight)
    return searched(sets(X), "power", zeta, maxiter, init, sample_weight, parameter=p)


@hermitian("matrix")
def mean_logdet(X, *, tol=10e-5, maxiter=50, init=None, sample_weight=None):
    """Mean of the log-det divergence: the solution of ``M⁻¹ = Σ w_i ((X_i + M)/2)⁻¹``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-5
        Stop when a step changes the mean by at most this, in the Frobenius norm.
    maxiter : int, default=50
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the arithmetic mean.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    See Also
    --------
    distance_logdet : The distance whose squares it minimises.

    References
    ----------
    .. [1] Z. Chebbi, M. Moakher. Means of Hermitian positive-definite matrices based on the
           log-determinant α-divergence function.
       Linear Algebra and its Applications, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_logdet
    >>> mean_logdet(np.array([[[1.0]], [[4.0]]]), tol=1e-12).round(6).tolist()
    [[2.0]]
    """
    return searched(sets(X), "logdet", tol, maxiter, init, sample_weight)


def mean_kullback_sym(X, sample_weight=None, **kwargs):
    """Mean of the symmetrised Kullback–Leibler divergence: the middle of the geodesic from the
    arithmetic to the harmonic mean.

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

    See Also
    --------
    distance_kullback_sym : The divergence whose sum it minimises.

    References
    ----------
    .. [1] M. Moakher, P.G. Batchelor. Symmetric positive-definite matrices: from geometry to
           applications and visualization.
       In: Visualization and Processing of Tensor Fields, Springer, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_kullback_sym
    >>> mean_kullback_sym(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    arithmetic = mean_euclid(X, sample_weight=sample_weight)
    return geodesic_riemann(arithmetic, mean_harmonic(X, sample_weight=sample_weight), 0.5)


_MEANS = {
    "ale": mean_ale,
    "alm": mean_alm,
    "bmp": mean_bmp,
    "cheap": mean_cheap,
    "chol": mean_chol,
    "euclid": mean_euclid,
    "harmonic": mean_harmonic,
    "kullback_sym": mean_kullback_sym,
    "logchol": mean_logchol,
    "logdet": mean_logdet,
    "logeuclid": mean_logeuclid,
    "power": mean_power,
    "poweuclid": mean_poweuclid,
    "riemann": mean_riemann,
    "thompson": mean_thompson,
    "wasserstein": mean_wasserstein,
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
        "ale", "alm", "bmp", "cheap", "chol", "euclid", "harmonic", "kullback_sym", "logchol",
        "logdet", "logeuclid", "power" and
        "poweuclid" (with their exponent, ``p=...``), "riemann", "thompson", "wasserstein", or a
        function of ``(X, sample_weight=...)``.
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
