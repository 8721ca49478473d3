"""The Thompson metric of the cone of SPD matrices, which looks at extreme eigenvalues only."""

from ._calls import distance_of, geodesic_of, searched, sets
from ._hermitian import hermitian


@hermitian("same")
def distance_thompson(A, B, squared=False):
    """Thompson distance ``max_i |log λ_i(A⁻¹B)|``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The distances.

    See Also
    --------
    distance_riemann : The root of the sum of the squares of all logarithms.

    References
    ----------
    .. [1] A.C. Thompson. On certain contraction mappings in a partially ordered vector space.
           Proceedings of the AMS, 1963.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_thompson
    >>> round(float(distance_thompson(np.eye(2), np.diag([np.e, 1.0]))), 12)
    1.0
    """
    return distance_of(A, B, "thompson", squared)


@hermitian("matrix")
def geodesic_thompson(A, B, alpha=0.5):
    """Thompson geodesic ``((uᵅ − lᵅ) B + (u lᵅ − l uᵅ) A)/(u − l)``, ``l`` and ``u`` the extreme
    eigenvalues of ``A⁻¹B``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    alpha : float or ndarray, shape (...,), default=0.5
        Position: A at 0, B at 1.

    Returns
    -------
    C : ndarray, shape (..., n, n)
        The points.

    See Also
    --------
    geodesic_riemann : The same for matrices of two rows.

    References
    ----------
    .. [1] C. Mostajeran, N. Da Costa, G. Van Goffrier, R. Sepulchre. Differential geometry with
           extreme eigenvalues in the positive
       semidefinite cone. SIAM J. Matrix Anal. Appl., 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_thompson
    >>> geodesic_thompson(np.array([[1.0]]), np.array([[16.0]]), 0.25).round(12).tolist()
    [[2.0]]
    """
    return geodesic_of(A, B, alpha, "thompson")


@hermitian("matrix")
def mean_thompson(X, *, tol=1e-6, maxiter=50, init=None, sample_weight=None):
    """Inductive mean of Thompson geodesics: step k goes from ``M`` to the point at ``1/(k + 2)``
    towards ``X_{k mod m}``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=1e-6
        Stop when a step changes the mean by at most this, in the Frobenius norm.
    maxiter : int, default=50
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the arithmetic mean.
    sample_weight : None
        This mean has no weights: anything but None is refused.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    Notes
    -----
    The mean depends on the order of the matrices. Steps shrink like 1/k: if the matrices differ, 50
    steps hardly ever meet the tolerance.

    See Also
    --------
    mean_riemann : A mean that does not depend on the order.

    References
    ----------
    .. [1] C. Mostajeran, N. Da Costa, G. Van Goffrier, R. Sepulchre. Differential geometry with
           extreme eigenvalues in the positive
       semidefinite cone. SIAM J. Matrix Anal. Appl., 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_thompson
    >>> mean_thompson(np.array([[[2.0]], [[2.0]]])).round(12).tolist()
    [[2.0]]
    """
    return searched(sets(X), "thompson", tol, maxiter, init, sample_weight)
