"""The Cholesky and the log-Cholesky metric.

With ``X = L Lᵀ``, ``L`` lower triangular with a positive diagonal, the Cholesky metric is the
Euclidean one of ``φ(X) = L``; the log-Cholesky metric is that of
``φ(X) = ⌊L⌋ + log D(L)``, the part below the diagonal and the logarithm of the diagonal.
"""

import numpy as np

from .. import _core
from .._arrays import as_weights, at, unstack
from ._calls import distance_of, geodesic_of, map_of, per_set, sets
from ._hermitian import hermitian


@hermitian("length")
def distance_chol(A, B, squared=False):
    """Cholesky distance ``‖L_A − L_B‖_F``, ``A = L_A L_Aᵀ`` and ``B = L_B L_Bᵀ``.

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
    distance_logchol : The same with logarithms of the diagonals.

    References
    ----------
    .. [1] I.L. Dryden, A. Koloydenko, D. Zhou. Non-Euclidean statistics for covariance matrices,
           with applications to diffusion tensor imaging.
       The Annals of Applied Statistics, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_chol
    >>> float(distance_chol(np.eye(1), np.array([[9.0]])))
    2.0
    """
    return distance_of(A, B, "chol", squared)


@hermitian("length")
def distance_logchol(A, B, squared=False):
    """Log-Cholesky distance ``(‖⌊L_A⌋ − ⌊L_B⌋‖²_F + ‖log D(L_A) − log D(L_B)‖²_F)^{1/2}``.

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
    distance_chol : The same without logarithms.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_logchol
    >>> round(float(distance_logchol(np.eye(2), np.diag([np.exp(2.0), 1.0]))), 12)
    1.0
    """
    return distance_of(A, B, "logchol", squared)


@hermitian("matrix")
def mean_chol(X, sample_weight=None, **kwargs):
    """Cholesky mean ``L Lᵀ``, ``L = Σ w_i L_i``, ``X_i = L_i L_iᵀ``.

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
    distance_chol : The distance whose squares it minimises.
    mean_logchol : The mean with logarithms of the diagonals.

    References
    ----------
    .. [1] I.L. Dryden, A. Koloydenko, D. Zhou. Non-Euclidean statistics for covariance matrices,
           with applications to diffusion tensor imaging.
       The Annals of Applied Statistics, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_chol
    >>> mean_chol(np.array([[[1.0]], [[9.0]]])).tolist()
    [[4.0]]
    """
    x = sets(X)
    weights = as_weights(sample_weight, x.shape[-3])
    return per_set(x, lambda part: _core.mean(part, "chol", weights)[0])


@hermitian("matrix")
def mean_logchol(X, sample_weight=None, **kwargs):
    """Log-Cholesky mean ``φ⁻¹(Σ w_i φ(X_i))``, ``φ(X) = ⌊L⌋ + log D(L)``, ``X = L Lᵀ``.

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
    distance_logchol : The distance whose squares it minimises.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import mean_logchol
    >>> mean_logchol(np.array([[[1.0]], [[4.0]]])).round(12).tolist()
    [[2.0]]
    """
    x = sets(X)
    weights = as_weights(sample_weight, x.shape[-3])
    return per_set(x, lambda part: _core.mean(part, "logchol", weights)[0])


@hermitian("matrix")
def geodesic_chol(A, B, alpha=0.5):
    """Cholesky geodesic ``L Lᵀ``, ``L = (1−α) L_A + α L_B``.

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
    distance_chol : The distance along it.

    References
    ----------
    .. [1] I.L. Dryden, A. Koloydenko, D. Zhou. Non-Euclidean statistics for covariance matrices,
           with applications to diffusion tensor imaging.
       The Annals of Applied Statistics, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_chol
    >>> geodesic_chol(np.array([[1.0]]), np.array([[9.0]]), 0.5).tolist()
    [[4.0]]
    """
    return geodesic_of(A, B, alpha, "chol")


@hermitian("matrix")
def geodesic_logchol(A, B, alpha=0.5):
    """Log-Cholesky geodesic ``φ⁻¹((1−α) φ(A) + α φ(B))``, ``φ(X) = ⌊L⌋ + log D(L)``, ``X = L Lᵀ``.

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
    distance_logchol : The distance along it.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_logchol
    >>> geodesic_logchol(np.array([[1.0]]), np.array([[16.0]]), 0.25).round(12).tolist()
    [[2.0]]
    """
    return geodesic_of(A, B, alpha, "logchol")


@hermitian("matrix")
def log_map_logchol(X, Cref, **kwargs):
    """Log-Cholesky logarithmic map ``L Tᵀ + T Lᵀ``, ``T = ⌊K − L⌋ + D(L) log(D(K)/D(L))``,
    ``X = K Kᵀ``, ``Cref = L Lᵀ``.

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
    exp_map_logchol : Its inverse.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import log_map_logchol
    >>> log_map_logchol(np.diag([np.exp(2.0), 1.0]), np.eye(2)).round(12).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    return map_of(X, Cref, "log_logchol")


@hermitian("matrix")
def exp_map_logchol(X, Cref, **kwargs):
    """Log-Cholesky exponential map ``K Kᵀ``, ``K = ⌊L + T⌋ + D(L) exp(D(T)/D(L))``,
    ``T = L (L⁻¹ X L⁻ᵀ)_½``, ``Cref = L Lᵀ``.

    ``(·)_½`` is the lower triangle with half the diagonal.

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
        SPD matrices.

    See Also
    --------
    log_map_logchol : Its inverse.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import exp_map_logchol
    >>> exp_map_logchol(np.diag([2.0 * np.log(3.0), 0.0]), np.eye(2)).round(12).tolist()
    [[9.0, 0.0], [0.0, 1.0]]
    """
    return map_of(X, Cref, "exp_logchol")


@hermitian("doubled")
def innerproduct_logchol(X, Y, Cref):
    """Log-Cholesky inner product ``⟨Dφ[X], Dφ[Y]⟩`` of tangent vectors at Cref,
    ``φ(C) = ⌊L⌋ + log D(L)``, ``C = L Lᵀ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        First tangent vectors: symmetric matrices.
    Y : ndarray, shape (..., n, n) | None
        Second ones; None is X, which gives squared norms.
    Cref : ndarray, shape (..., n, n)
        The foot point.

    Returns
    -------
    G : float or ndarray, shape (...,)
        The inner products.

    See Also
    --------
    transport_logchol : The transport that keeps it.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct_logchol
    >>> innerproduct_logchol(np.eye(2), None, np.eye(2))
    0.5
    """
    first = map_of(X, Cref, "to_logchol")
    second = first if Y is None else map_of(Y, Cref, "to_logchol")
    products = np.einsum("...ij,...ij->...", first, second)
    return float(products) if products.ndim == 0 else products


@hermitian("matrix")
def transport_logchol(X, A, B):
    """Log-Cholesky parallel transport ``Dφ(B)⁻¹[Dφ(A)[X]]`` of tangent matrices from A to B,
    ``φ(C) = ⌊L⌋ + log D(L)``, ``C = L Lᵀ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at A.
    A, B : ndarray, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at B.

    See Also
    --------
    innerproduct_logchol : What it keeps.

    References
    ----------
    .. [1] Z. Lin. Riemannian geometry of symmetric positive definite matrices via Cholesky
           decomposition. SIAM J. Matrix Anal. Appl., 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport_logchol
    >>> transport_logchol(np.eye(2), np.eye(2), 4 * np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    w, b, lead = at(map_of(X, A, "to_logchol"), B)
    return unstack(_core.map_of(b, w, "from_logchol"), lead)[()]
