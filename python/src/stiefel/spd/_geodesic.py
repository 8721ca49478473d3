"""Geodesics between SPD matrices."""

import numpy as np

from .. import _core
from .._arrays import as_real, as_square, common, pair, stack, unstack
from ._calls import as_alpha, choose
from ._cholesky import geodesic_chol, geodesic_logchol
from ._function import expm, logm
from ._hermitian import hermitian
from ._thompson import geodesic_thompson
from ._wasserstein import geodesic_wasserstein


def _alpha(alpha, lead):
    """A number, or one per matrix with two axes appended."""
    alpha = as_alpha(alpha, lead)
    return alpha if isinstance(alpha, float) else alpha[..., np.newaxis, np.newaxis]


@hermitian("matrix")
def geodesic_riemann(A, B, alpha=0.5):
    """Affine-invariant geodesic ``A^{1/2} (A^{-1/2} B A^{-1/2})^α A^{1/2}``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    alpha : float or ndarray, shape (...,), default=0.5
        Position: A at 0, B at 1, their geometric mean at 0.5.

    Returns
    -------
    C : ndarray, shape (..., n, n)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_riemann
    >>> geodesic_riemann(np.array([[1.0]]), np.array([[16.0]]), 0.25).round(12).tolist()
    [[2.0]]
    """
    a, b, lead = pair(as_square(A, "A"), as_square(B, "B"))
    alpha = _alpha(alpha, lead)
    if isinstance(alpha, float):
        return unstack(_core.geodesic(a, b, alpha), lead)[()]
    tangent = unstack(_core.log_map(a, b), lead) * alpha.astype(a.dtype)
    return unstack(
        _core.exp_map(a, np.ascontiguousarray(tangent).reshape((-1, *a.shape[1:]))), lead
    )


@hermitian("matrix")
def geodesic_logeuclid(A, B, alpha=0.5):
    """Log-Euclidean geodesic ``exp((1−α) log A + α log B)``.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_logeuclid
    >>> geodesic_logeuclid(np.array([[1.0]]), np.array([[16.0]]), 0.5).round(12).tolist()
    [[4.0]]
    """
    a, b = common(as_square(A, "A"), as_square(B, "B"))
    alpha = _alpha(alpha, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    return expm(((1 - alpha) * logm(a) + alpha * logm(b)).astype(a.dtype, copy=False))


@hermitian("matrix")
def geodesic_euclid(A, B, alpha=0.5):
    """Euclidean geodesic ``(1−α) A + α B``.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, m)
        Matrices of any shape; leading dimensions are broadcast.
    alpha : float or ndarray, shape (...,), default=0.5
        Position: A at 0, B at 1.

    Returns
    -------
    C : ndarray, shape (..., n, m)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic_euclid
    >>> geodesic_euclid(np.array([[1.0]]), np.array([[16.0]]), 0.2).tolist()
    [[4.0]]
    """
    a, b = common(as_real(A, "A"), as_real(B, "B"))
    alpha = _alpha(alpha, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    if isinstance(alpha, float) and a.shape == b.shape and a.size:
        return _core.blend(stack(a), stack(b), alpha).reshape(a.shape)
    return ((1 - alpha) * a + alpha * b).astype(a.dtype, copy=False)


_GEODESICS = {
    "chol": geodesic_chol,
    "euclid": geodesic_euclid,
    "logchol": geodesic_logchol,
    "logeuclid": geodesic_logeuclid,
    "riemann": geodesic_riemann,
    "thompson": geodesic_thompson,
    "wasserstein": geodesic_wasserstein,
}


def geodesic(A, B, alpha, metric="riemann"):
    """Geodesic between SPD matrices under a metric.

    Parameters
    ----------
    A, B : ndarray, shape (..., n, n)
        SPD matrices; leading dimensions are broadcast.
    alpha : float or ndarray, shape (...,)
        Position: A at 0, B at 1.
    metric : str | callable, default="riemann"
        "chol", "euclid", "logchol", "logeuclid", "riemann", "thompson", "wasserstein", or a
        function of ``(A, B, alpha)``.

    Returns
    -------
    C : ndarray, shape (..., n, n)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import geodesic
    >>> geodesic(np.array([[1.0]]), np.array([[16.0]]), 0.5, metric="euclid").tolist()
    [[8.5]]
    """
    return choose(metric, _GEODESICS)(A, B, alpha)
