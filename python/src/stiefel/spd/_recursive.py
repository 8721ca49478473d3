"""Means that are close to the Fréchet mean: by recursion, and in the basis of an approximate joint
diagonaliser."""

import numpy as np

from ._calls import searched, sets
from ._hermitian import hermitian


def mean_ale(X, *, tol=10e-7, maxiter=50, init=None, sample_weight=None):
    """Log-Euclidean mean in the basis of an approximate joint diagonaliser B:
    ``B⁻¹ exp(Σ w_i log(B X_i Bᵀ)) B⁻ᵀ``.

    The rows of B are scaled until the exponential has ones on its diagonal.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-7
        Stop when ``(Σ_r log² δ_r)^{1/2}`` is at most this, δ the diagonal of the exponential.
    maxiter : int, default=50
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The basis B to start from, SPD; None for the joint diagonaliser.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    Notes
    -----
    Complex matrices are refused. Hermitian matrices are computed here as symmetric ones of twice
    the size, and the joint diagonaliser of those does not
    stand for a complex one.

    See Also
    --------
    mean_riemann : The mean it is close to.

    References
    ----------
    .. [1] M. Congedo, B. Afsari, A. Barachant, M. Moakher. Approximate joint diagonalization and
           geometric mean of symmetric positive definite
       matrices. PLOS ONE, 2015.
    .. [2] D.-T. Pham. Joint approximate diagonalization of positive definite Hermitian matrices.
           SIAM J. Matrix Anal. Appl., 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_ale
    >>> mean_ale(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    if np.iscomplexobj(X):
        raise ValueError(
            "Complex data not supported: mean_ale has no joint diagonaliser of Hermitian matrices; take mean_riemann."
        )
    return searched(sets(X), "ale", tol, maxiter, init, sample_weight)


@hermitian("matrix")
def mean_alm(X, *, tol=10e-15, maxiter=100, sample_weight=None, **kwargs):
    """Geometric mean of Ando, Li and Mathias: every matrix is replaced by the mean of the others
    until all are equal.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-15
        Stop when a step changes the first matrix by at most this share, in the Frobenius norm.
    maxiter : int, default=100
        Maximum number of steps.
    sample_weight : None
        This mean has no weights: anything but None is refused.
    **kwargs : object
        Not read: options of other means, for callers that choose one by name.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    Notes
    -----
    The time grows like the factorial of the number of matrices, with about fifty steps for each.
    Five matrices take seconds, seven take hours.

    See Also
    --------
    mean_bmp : A similar mean in far fewer steps.

    References
    ----------
    .. [1] T. Ando, C.-K. Li, R. Mathias. Geometric means. Linear Algebra and its Applications,
           2004.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_alm
    >>> mean_alm(np.array([[[1.0]], [[2.0]], [[4.0]]])).round(9).tolist()
    [[2.0]]
    """
    return searched(sets(X), "alm", tol, maxiter, None, sample_weight)


@hermitian("matrix")
def mean_bmp(X, *, tol=10e-8, maxiter=50, sample_weight=None):
    """Geometric mean of Bini, Meini and Poloni: every matrix goes ``(m − 1)/m`` of the way to the
    mean of the others until all are equal.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-8
        Stop when a step changes the first matrix by at most this share, in the Frobenius norm.
    maxiter : int, default=50
        Maximum number of steps.
    sample_weight : None
        This mean has no weights: anything but None is refused.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    Notes
    -----
    The time grows like the factorial of the number of matrices, with two or three steps for each.

    See Also
    --------
    mean_cheap : A similar mean without recursion.

    References
    ----------
    .. [1] D.A. Bini, B. Meini, F. Poloni. An effective matrix geometric mean satisfying the
           Ando–Li–Mathias properties. Mathematics of
       Computation, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_bmp
    >>> mean_bmp(np.array([[[1.0]], [[2.0]], [[4.0]]])).round(9).tolist()
    [[2.0]]
    """
    return searched(sets(X), "bmp", tol, maxiter, None, sample_weight)


@hermitian("matrix")
def mean_cheap(X, *, tol=10e-8, maxiter=50, sample_weight=None):
    """Cheap geometric mean: every matrix is replaced by ``exp_{X_h}(Σ_j log_{X_h}(X_j)/m)`` until
    all are equal.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-8
        Stop when a step changes the first matrix by at most this share, in the Frobenius norm.
    maxiter : int, default=50
        Maximum number of steps.
    sample_weight : None
        This mean has no weights: anything but None is refused.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    See Also
    --------
    mean_riemann : The mean it is close to.

    References
    ----------
    .. [1] D.A. Bini, B. Iannazzo. A note on computing matrix geometric means. Advances in
           Computational Mathematics, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_cheap
    >>> mean_cheap(np.array([[[1.0]], [[2.0]], [[4.0]]])).round(9).tolist()
    [[2.0]]
    """
    return searched(sets(X), "cheap", tol, maxiter, None, sample_weight)
