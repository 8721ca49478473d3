"""Functions on stacks of points of the Stiefel manifold St(n, k): matrices ``(..., n, k)`` with
orthonormal columns.

Examples
--------
>>> import numpy as np
>>> from stiefel import manifold
>>> W = manifold.random_points(8, 3, size=2, random_state=0)
>>> bool(np.allclose(np.swapaxes(W, 1, 2) @ W, np.eye(3)))
True
"""

from sklearn.utils import check_random_state

from . import _core
from ._arrays import as_real, as_weights, pair, stack, unstack

__all__ = [
    "barycenter",
    "orthonormal_factor",
    "orthonormality_defect",
    "principal_angles",
    "project",
    "random_points",
    "retract",
]


def project(W, Z):
    """Project ambient matrices to the tangent space at W: ``Z − W sym(WᵀZ)``.

    Parameters
    ----------
    W : ndarray, shape (..., n, k)
        Points.
    Z : ndarray, shape (..., n, k)
        Matrices; leading dimensions are broadcast.

    Returns
    -------
    D : ndarray, shape (..., n, k)
        Tangent vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.manifold import project
    >>> project(np.array([[1.0], [0.0]]), np.array([[5.0], [2.0]])).tolist()
    [[0.0], [2.0]]
    """
    w, z, lead = pair(as_real(W, "W"), as_real(Z, "Z"), ("W", "Z"))
    return unstack(_core.project(w, z), lead)[()]


def retract(W, D, method="qr"):
    """Move from W along a tangent vector and return to the manifold.

    Parameters
    ----------
    W : ndarray, shape (..., n, k)
        Points.
    D : ndarray, shape (..., n, k)
        Tangent vectors; leading dimensions are broadcast.
    method : {"qr", "polar"}, default="qr"
        The orthonormal factor of ``W + D`` (positive diagonal of R), or its polar factor.

    Returns
    -------
    W_new : ndarray, shape (..., n, k)
        Points; ``retract(W, 0)`` is W.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.manifold import retract
    >>> retract(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])).round(3).tolist()
    [[0.707], [0.707]]
    """
    if method not in ("qr", "polar"):
        raise ValueError(f"method must be 'qr' or 'polar', got {method!r}.")
    w, d, lead = pair(as_real(W, "W"), as_real(D, "D"), ("W", "D"))
    return unstack(_core.retract(w, d, method), lead)[()]


def principal_angles(V, W):
    """Principal angles between the column spaces of points, ascending, in radians; small angles are
    exact.

    Parameters
    ----------
    V, W : ndarray, shape (..., n, k)
        Points; leading dimensions are broadcast.

    Returns
    -------
    angles : ndarray, shape (..., k)
        The angles.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.manifold import principal_angles
    >>> principal_angles(np.eye(3)[:, :1], np.eye(3)[:, 1:2]).round(3).tolist()
    [1.571]
    """
    v, w, lead = pair(as_real(V, "V"), as_real(W, "W"), ("V", "W"))
    return _core.principal_angles(v, w).reshape((*lead, -1))


def orthonormal_factor(A):
    """The factor Q of ``A = QR`` with positive diagonal of R.

    Parameters
    ----------
    A : ndarray, shape (..., n, k)
        Matrices of full column rank.

    Returns
    -------
    Q : ndarray, shape (..., n, k)
        Points.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.manifold import orthonormal_factor
    >>> orthonormal_factor(np.array([[3.0], [4.0]])).round(12).tolist()
    [[0.6], [0.8]]
    """
    a = as_real(A, "A")
    return _core.orthonormal_factor(stack(a)).reshape(a.shape)


def barycenter(W, sample_weight=None):
    """The average ``qf(W_1 + Σ_j w_j P_{W_1}(W_j))`` of points.

    Parameters
    ----------
    W : ndarray, shape (m, n, k)
        Points.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (n, k)
        A point.

    Examples
    --------
    >>> from stiefel.manifold import barycenter, orthonormality_defect, random_points
    >>> mean = barycenter(random_points(6, 2, size=3, random_state=0))
    >>> mean.shape, bool(orthonormality_defect(mean) < 1e-14)
    ((6, 2), True)
    """
    w = as_real(W, "W", ndim=3)
    if w.ndim != 3:
        raise ValueError(f"W must be a stack of three dimensions, found shape {w.shape}.")
    weights = as_weights(sample_weight, len(w))
    if weights is not None:
        total = sum(weights)
        if not total > 0:
            raise ValueError(f"the sum of the weights is {total}, expected positive and finite")
        weights = [x / total for x in weights]
    return _core.barycenter(stack(w), weights)[0]


def orthonormality_defect(W):
    """``max|WᵀW − I|`` of every matrix: how far it is from the manifold.

    Parameters
    ----------
    W : ndarray, shape (..., n, k)
        Matrices.

    Returns
    -------
    defect : float or ndarray, shape (...,)
        The largest entry.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.manifold import orthonormality_defect
    >>> float(orthonormality_defect(2 * np.eye(3)[:, :2]))
    3.0
    """
    w = as_real(W, "W")
    return unstack(_core.orthonormality_defect(stack(w)), w.shape[:-2])


def random_points(n, k, size=None, random_state=None):
    """Uniform points of St(n, k): the orthonormal factors of Gaussian matrices.

    Parameters
    ----------
    n, k : int
        Rows and columns, ``k <= n``.
    size : None | int, default=None
        How many; None gives one matrix without a leading axis.
    random_state : None | int | RandomState, default=None
        Where the numbers come from.

    Returns
    -------
    W : ndarray, shape (n, k) or (size, n, k)
        Points.

    Examples
    --------
    >>> from stiefel.manifold import random_points
    >>> random_points(5, 2, size=10, random_state=0).shape
    (10, 5, 2)
    """
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n = {n}, got {k}.")
    gaussian = check_random_state(random_state).standard_normal((1 if size is None else size, n, k))
    points = orthonormal_factor(gaussian)
    return points[0] if size is None else points
