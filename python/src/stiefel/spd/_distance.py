"""Distances between SPD matrices."""

import numbers

import numpy as np

from .. import _core
from .._arrays import as_real, as_square, common, leading, single_or_full, stack, unstack
from ._calls import choose, distance_of
from ._cholesky import distance_chol, distance_logchol
from ._function import powm
from ._hermitian import embed, hermitian
from ._thompson import distance_thompson


def _plain(A, B, metric):
    """A distance without eigenvalues by the core; None where NumPy must compute it, or say what is
    wrong."""
    check = as_real if metric == "euclid" else as_square
    a, b = common(check(A, "A"), check(B, "B"))
    # Stacks that would have to be spread out first are cheaper for NumPy.
    fits = a.shape == b.shape or (a.shape[-2:] == b.shape[-2:] and 2 in (a.ndim, b.ndim))
    if fits and a.size and b.size:
        d = _core.plain_distance(stack(a), stack(b), metric)
        return d if d is None else unstack(d, max(a.shape, b.shape, key=len)[:-2])
    return None


@hermitian("length")
def distance_riemann(A, B, squared=False):
    r"""Affine-invariant Riemannian distance.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : float or ndarray, shape (...,)
        :math:`\left(\sum_i \log^2 \lambda_i(A^{-1}B)\right)^{1/2}`.

    References
    ----------
    .. [1] M. Moakher. A differential geometric approach to the geometric mean of symmetric
    positive-definite matrices.
       SIAM J. Matrix Anal. Appl., 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_riemann
    >>> round(float(distance_riemann(np.eye(2), np.diag([np.e, 1.0]))), 12)
    1.0
    """
    return distance_of(A, B, "riemann", squared)


@hermitian("length")
def distance_logeuclid(A, B, squared=False):
    """Log-Euclidean distance ``‖log A − log B‖_F``.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_logeuclid
    >>> round(float(distance_logeuclid(np.eye(2), np.diag([np.e, 1.0]))), 12)
    1.0
    """
    return distance_of(A, B, "logeuclid", squared)


@hermitian("length")
def distance_wasserstein(A, B, squared=False):
    """Bures–Wasserstein distance ``(tr A + tr B − 2 tr (B^{1/2} A B^{1/2})^{1/2})^{1/2}``, without
    the cancellation of that formula.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_wasserstein
    >>> round(float(distance_wasserstein(np.eye(1), np.array([[9.0]]))), 12)
    2.0
    """
    return distance_of(A, B, "wasserstein", squared)


@hermitian("length")
def distance_euclid(A, B, squared=False):
    """Euclidean distance ``‖A − B‖_F``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, m)
        Matrices of any shape; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The distances.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_euclid
    >>> float(distance_euclid(np.zeros((2, 2)), np.diag([3.0, 4.0])))
    5.0
    """
    d = _plain(A, B, "euclid")
    if d is not None:
        return d**2 if squared else d
    a, b, _ = _finite_pair(A, B, as_real)
    difference = a - b
    squares = np.einsum("...ij,...ij->...", difference, difference)
    return squares if squared else np.sqrt(squares)


def _finite_pair(A, B, check=as_square):
    """Two stacks as they are, checked."""
    a, b = common(check(A, "A"), check(B, "B"))
    for name, x in (("A", a), ("B", b)):
        if not np.isfinite(x).all():
            where = np.argwhere(~np.isfinite(x))[0].tolist()
            raise ValueError(f"{name} contains NaN or infinity, first at index {where}.")
    if a.shape[-2:] != b.shape[-2:]:
        raise ValueError(
            f"A and B must have equal matrix dimensions, found {a.shape[-2:]} and {b.shape[-2:]}."
        )
    return a, b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2])


@hermitian("length")
def distance_harmonic(A, B, squared=False):
    """Harmonic distance ``‖A⁻¹ − B⁻¹‖_F``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        Invertible matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The distances.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_harmonic
    >>> float(distance_harmonic(np.array([[1.0]]), np.array([[0.25]])))
    3.0
    """
    d = _plain(A, B, "harmonic")
    if d is not None:
        return d**2 if squared else d
    a, b, _ = _finite_pair(A, B)
    return distance_euclid(np.linalg.inv(a), np.linalg.inv(b), squared=squared)


@hermitian("divergence")
def distance_kullback(A, B, squared=False):
    """Kullback–Leibler divergence ``(tr(B⁻¹A) − n + log det B − log det A)/2`` of centred
    Gaussians.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared divergence.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The divergences.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_kullback
    >>> float(distance_kullback(np.eye(3), np.eye(3)))
    0.0
    """
    return distance_of(A, B, "kullback", squared)


def distance_kullback_right(A, B, squared=False):
    """Kullback–Leibler divergence with the arguments exchanged; see :func:`distance_kullback`.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared divergence.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The divergences.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_kullback, distance_kullback_right
    >>> a, b = np.diag([2.0, 1.0]), np.diag([1.0, 3.0])
    >>> bool(np.isclose(distance_kullback_right(a, b), distance_kullback(b, a)))
    True
    """
    return distance_kullback(B, A, squared=squared)


@hermitian("divergence")
def distance_kullback_sym(A, B, squared=False):
    """Symmetrised Kullback–Leibler divergence; see :func:`distance_kullback`.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    squared : bool, default=False
        Return the squared divergence.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The divergences.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_kullback, distance_kullback_sym
    >>> a, b = np.diag([2.0, 1.0]), np.diag([1.0, 3.0])
    >>> both = distance_kullback(a, b) + distance_kullback(b, a)
    >>> bool(np.isclose(distance_kullback_sym(a, b), both))
    True
    """
    return distance_of(A, B, "kullback_sym", squared)


@hermitian("length")
def distance_logdet(A, B, squared=False):
    """Log-det distance ``(log det((A + B)/2) − log det(AB)/2)^{1/2}``.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_logdet
    >>> float(distance_logdet(np.eye(3), np.eye(3)))
    0.0
    """
    d = _plain(A, B, "logdet")
    if d is not None:
        return d**2 if squared else d
    a, b, _ = _finite_pair(A, B)
    # Each determinant on its own: the product of two matrices squares their condition.
    middle = np.linalg.slogdet((a + b) / 2)[1]
    d2 = np.maximum(middle - 0.5 * (np.linalg.slogdet(a)[1] + np.linalg.slogdet(b)[1]), 0)
    return d2 if squared else np.sqrt(d2)


def distance_poweuclid(A, B, p, squared=False):
    """Power-Euclidean distance ``‖A^p − B^p‖_F/|p|``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    p : float
        Exponent; 1 is the Euclidean, 0 the log-Euclidean, −1 the harmonic distance.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : float or ndarray, shape (...,)
        The distances.

    See Also
    --------
    mean_poweuclid : The mean that belongs to it.

    References
    ----------
    .. [1] I.L. Dryden, X. Pennec, J.M. Peyrat. Power Euclidean metrics for covariance matrices with
    application to diffusion tensor imaging.
       arXiv:1009.3045, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_poweuclid
    >>> round(float(distance_poweuclid(np.array([[1.0]]), np.array([[9.0]]), 0.5)), 12)
    4.0
    """
    if not isinstance(p, numbers.Real):
        raise ValueError(f"Exponent p must be a scalar (Got {type(p)})")
    named = {1: distance_euclid, 0: distance_logeuclid, -1: distance_harmonic}
    if p in named:
        return named[p](A, B, squared=squared)
    d = distance_euclid(powm(A, p), powm(B, p)) / abs(p)
    return d**2 if squared else d


def distance_mahalanobis(X, cov, mean=None, squared=False):
    """Mahalanobis distance ``((x − μ)ᴴ C⁻¹ (x − μ))^{1/2}`` of vectors to a Gaussian.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Vectors, one in each column.
    cov : ndarray, shape (..., n, n)
        SPD or Hermitian positive definite covariances C; leading dimensions are broadcast.
    mean : None | ndarray, shape (..., n, 1), default=None
        Means μ; None for zero.
    squared : bool, default=False
        Return the squared distance.

    Returns
    -------
    d : ndarray, shape (..., m)
        The distances.

    See Also
    --------
    whiten : The same scaling of matrices.

    References
    ----------
    .. [1] P.C. Mahalanobis. On the generalised distance in statistics. Proceedings of the National
    Institute of Sciences of India, 1936.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance_mahalanobis
    >>> distance_mahalanobis(np.array([[2.0, -6.0]]), np.array([[4.0]])).tolist()
    [1.0, 3.0]
    """
    x, c = np.asarray(X), np.asarray(cov)
    if mean is not None:
        x = x - np.asarray(mean)
    every = 1
    if np.iscomplexobj(x) or np.iscomplexobj(c):
        # A complex vector becomes two real ones of the same length.
        x, c, every = embed(x), embed(c), 2
    x, c = common(as_real(x, "X"), as_square(c, "cov"))
    lead = leading(x, c, ("X", "cov"))
    d = _core.mahalanobis(single_or_full(c, lead), single_or_full(x, lead))[
        ..., 0, ::every
    ].reshape((*lead, x.shape[-1] // every))
    return d**2 if squared else d


_DISTANCES = {
    "chol": distance_chol,
    "euclid": distance_euclid,
    "harmonic": distance_harmonic,
    "kullback": distance_kullback,
    "kullback_right": distance_kullback_right,
    "kullback_sym": distance_kullback_sym,
    "logchol": distance_logchol,
    "logdet": distance_logdet,
    "logeuclid": distance_logeuclid,
    "riemann": distance_riemann,
    "thompson": distance_thompson,
    "wasserstein": distance_wasserstein,
}
#: Distances of which the core has all pairs.
_PAIRWISE = (
    "chol",
    "euclid",
    "kullback",
    "kullback_sym",
    "logchol",
    "logeuclid",
    "riemann",
    "thompson",
    "wasserstein",
)


def distance(A, B, metric="riemann", squared=False):
    """Distance of a stack to a matrix, or of two stacks of one shape.

    Parameters
    ----------
    A : ndarray, shape (n, n) or (m, n, n)
        First matrices.
    B : ndarray, shape (n, n), or that of A
        Second matrix or matrices.
    metric : str | callable, default="riemann"
        "chol", "euclid", "harmonic", "kullback", "kullback_right", "kullback_sym", "logchol",
        "logdet", "logeuclid", "riemann", "thompson", "wasserstein", or a function of ``(A, B,
        squared=...)``.
    squared : bool, default=False
        Return squared distances.

    Returns
    -------
    d : float or ndarray, shape (m,) or (m, 1)
        The distances; ``(m, 1)`` if A is a stack and B a matrix, as in pyRiemann.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import distance
    >>> distance(np.stack([np.eye(2)] * 3), np.eye(2), metric="logeuclid").shape
    (3, 1)
    """
    measure = choose(metric, _DISTANCES)
    a, b = np.asarray(A), np.asarray(B)
    if a.shape == b.shape:
        return measure(a, b, squared=squared)
    if a.ndim == 3 and b.ndim == 2:
        return measure(a, b, squared=squared)[..., np.newaxis]
    raise ValueError(f"Inputs have incompatible dimensions: {a.shape} and {b.shape}.")


def pairwise_distance(X, Y=None, metric="riemann", squared=False):
    """All distances between two stacks, or within one.

    Parameters
    ----------
    X : ndarray, shape (m, n, n)
        First matrices.
    Y : ndarray, shape (k, n, n), default=None
        Second matrices; None is X.
    metric : str, default="riemann"
        One of the names of :func:`distance`.
    squared : bool, default=False
        Return squared distances.

    Returns
    -------
    d : ndarray, shape (m, m) or (m, k)
        The distances.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import pairwise_distance
    >>> X = np.stack([np.eye(2), np.diag([np.e, 1.0])])
    >>> pairwise_distance(X).round(12).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    x = np.asarray(X)
    y = None if Y is None else np.asarray(Y)
    for name, array in (("X", x), ("Y", y)):
        if array is not None and array.ndim != 3:
            raise ValueError(
                f"{name} must be a stack of three dimensions, found shape {array.shape}."
            )
    if metric == "kullback_right":
        return pairwise_distance(x if y is None else y, x, metric="kullback", squared=squared).T
    if metric in _PAIRWISE and not any(map(np.iscomplexobj, (x, y))):
        x, y = as_square(x, "X"), None if y is None else as_square(y, "Y")
        if y is None:
            d = _core.mutual_distance(stack(x), metric)[0]
        else:
            x, y = common(x, y)
            d = _core.pairwise_distance(stack(x), stack(y), metric)[0]
        return d**2 if squared else d
    measure = choose(metric, _DISTANCES)
    return measure(x[:, np.newaxis], (x if y is None else y)[np.newaxis], squared=squared)
