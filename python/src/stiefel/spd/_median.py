"""Medians of matrices: the minimisers of ``Σ w_i d(M, X_i)``."""

from .._arrays import as_real
from ._calls import check_sets, searched, sets
from ._hermitian import hermitian


@hermitian("matrix")
def median_euclid(X, *, tol=10e-6, maxiter=50, init=None, weights=None):
    """Euclidean geometric median, the minimiser of ``Σ w_i ‖M − X_i‖_F``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, k)
        Sets of m matrices of any shape.
    tol : float, default=10e-6
        Stop when a step changes the median by at most this, in the Frobenius norm.
    maxiter : int, default=50
        Maximum number of steps.
    init : None | ndarray, shape (n, k), default=None
        The matrix to start from; None for the arithmetic mean.
    weights : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, k)
        The medians. A warning tells if the tolerance was not met.

    See Also
    --------
    median_riemann : The median of the affine-invariant distance.

    References
    ----------
    .. [1] Y. Vardi, C.-H. Zhang. The multivariate L1-median and associated data depth. PNAS, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import median_euclid
    >>> median_euclid(np.array([[[1.0]], [[2.0]], [[90.0]]]), tol=1e-9, maxiter=500).round(6).tolist()
    [[2.0]]
    """
    x = as_real(X, "X")
    check_sets(x)
    return searched(x, "median_euclid", tol, maxiter, init, weights)


@hermitian("matrix")
def median_riemann(X, *, tol=10e-6, maxiter=50, init=None, weights=None, step_size=1):
    """Median of the affine-invariant distance, the minimiser of
    ``Σ w_i ‖log(M^{-1/2} X_i M^{-1/2})‖_F``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of m SPD matrices.
    tol : float, default=10e-6
        Stop when the norm of the weighted mean of the logarithms is at most this.
    maxiter : int, default=50
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the arithmetic mean.
    weights : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.
    step_size : float, default=1
        How much of each step is taken, in (0, 2].

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The medians. A warning tells if the tolerance was not met.

    See Also
    --------
    mean_riemann : The minimiser of the squared distances.

    References
    ----------
    .. [1] P.T. Fletcher, S. Venkatasubramanian, S. Joshi. The geometric median on Riemannian
           manifolds with application to robust atlas
       estimation. NeuroImage, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import median_riemann
    >>> X = np.stack([2 * np.eye(2), 3 * np.eye(2), 90 * np.eye(2)])
    >>> median_riemann(X, tol=1e-9, maxiter=2000).round(4).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    if not 0 < step_size <= 2:
        raise ValueError(f"Value step_size must be included in (0, 2] (Got {step_size})")
    return searched(sets(X), "median_riemann", tol, maxiter, init, weights, parameter=step_size)
