"""The Bures–Wasserstein metric: optimal transport between centred Gaussians.

``T = A^{-1/2} (A^{1/2} B A^{1/2})^{1/2} A^{-1/2}`` carries the first Gaussian to the second at the
least cost: ``T A T = B``.
"""

from ._calls import geodesic_of, map_of, searched, sets
from ._hermitian import hermitian


@hermitian("matrix")
def geodesic_wasserstein(A, B, alpha=0.5):
    """Bures–Wasserstein geodesic ``G A G``, ``G = (1−α) I + α T``, ``T A T = B``.

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
    distance_wasserstein : The distance along it.

    References
    ----------
    .. [1] L. Malagò, L. Montrucchio, G. Pistone. Wasserstein Riemannian geometry of Gaussian
           densities. Information Geometry, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_wasserstein
    >>> geodesic_wasserstein(np.array([[1.0]]), np.array([[9.0]]), 0.5).round(12).tolist()
    [[4.0]]
    """
    return geodesic_of(A, B, alpha, "wasserstein")


@hermitian("matrix")
def log_map_wasserstein(X, Cref, **kwargs):
    """Bures–Wasserstein logarithmic map ``(T − I) Cref + Cref (T − I)``, ``T Cref T = X``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point, SPD.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices.

    See Also
    --------
    exp_map_wasserstein : Its inverse.

    References
    ----------
    .. [1] L. Malagò, L. Montrucchio, G. Pistone. Wasserstein Riemannian geometry of Gaussian
           densities. Information Geometry, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_wasserstein
    >>> log_map_wasserstein(np.diag([9.0, 1.0]), np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return map_of(X, Cref, "log_wasserstein")


@hermitian("matrix")
def exp_map_wasserstein(X, Cref, **kwargs):
    """Bures–Wasserstein exponential map ``(I + H) Cref (I + H)``, ``H Cref + Cref H = X``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The foot point, SPD.
    **kwargs : object
        Not read: options of other maps, for callers that choose one by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        SPD matrices, if ``I + H`` is positive definite; otherwise the geodesic has met the border
        of the SPD matrices.

    See Also
    --------
    log_map_wasserstein : Its inverse.

    References
    ----------
    .. [1] L. Malagò, L. Montrucchio, G. Pistone. Wasserstein Riemannian geometry of Gaussian
           densities. Information Geometry, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_wasserstein
    >>> exp_map_wasserstein(np.diag([4.0, 0.0]), np.eye(2)).round(12).tolist()
    [[9.0, 0.0], [0.0, 1.0]]
    """
    return map_of(X, Cref, "exp_wasserstein")


@hermitian("matrix")
def mean_wasserstein(X, tol=10e-9, maxiter=50, init=None, sample_weight=None):
    """Bures–Wasserstein mean: the minimiser of ``Σ w_i d²(M, X_i)``, the barycentre of centred
    Gaussians.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices.
    tol : float, default=10e-9
        Stop when the norm of the gradient ``‖Σ w_i log_M(X_i)‖_F`` is at most this.
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
    distance_wasserstein : The distance whose squares it minimises.

    References
    ----------
    .. [1] P.C. Álvarez-Esteban, E. del Barrio, J.A. Cuesta-Albertos, C. Matrán. A fixed-point
           approach to barycenters in Wasserstein space.
       Journal of Mathematical Analysis and Applications, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_wasserstein
    >>> mean_wasserstein(np.array([[[1.0]], [[9.0]]])).round(9).tolist()
    [[4.0]]
    """
    return searched(sets(X), "wasserstein", tol, maxiter, init, sample_weight)
