"""Tangent spaces of SPD(n): vectors, inner products, transport."""

import numpy as np

from .. import _core
from .._arrays import as_real, as_square, at, common, leading, stack, unstack
from ._calls import choose
from ._cholesky import innerproduct_logchol, transport_logchol
from ._function import ddexpm, ddlogm, invsqrtm, logm, sqrtm
from ._hermitian import hermitian
from ._map import exp_map, exp_map_riemann, log_map


def upper(X):
    """Upper triangles as vectors, row by row, off-diagonals times √2: an isometry of symmetric
    matrices, and of Hermitian ones.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric or Hermitian matrices.

    Returns
    -------
    T : ndarray, shape (..., n * (n + 1) / 2)
        The vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import upper
    >>> upper(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3).tolist()
    [1.0, 2.828, 3.0]
    """
    if np.iscomplexobj(X):
        z = np.asarray(X)
        return upper(z.real) + 1j * upper(z.imag)
    x = as_square(X, "X")
    t = _core.upper(stack(x))
    return t.reshape((*x.shape[:-2], t.shape[-1]))


def unupper(T):
    """The symmetric matrices of vectors, or the Hermitian ones of complex vectors; the inverse of
    :func:`upper`.

    Parameters
    ----------
    T : ndarray, shape (..., n * (n + 1) / 2)
        Vectors.

    Returns
    -------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import unupper, upper
    >>> unupper(upper(np.array([[1.0, 2.0], [2.0, 3.0]]))).round(12).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    if np.iscomplexobj(T):
        z = np.asarray(T)
        imaginary = unupper(z.imag)
        # Below the diagonal stand the conjugates.
        return unupper(z.real) + 1j * (np.triu(imaginary) - np.tril(imaginary, -1))
    t = as_real(T, "T", ndim=1)
    x = _core.unupper(np.ascontiguousarray(t).reshape((-1, 1, t.shape[-1])))
    return x.reshape((*t.shape[:-1], *x.shape[-2:]))


def tangent_space(X, Cref, *, metric="riemann"):
    """Tangent vectors of SPD matrices at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        SPD matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logchol", "logeuclid", "riemann", "wasserstein" or a function of ``(X, Cref)``.

    Returns
    -------
    T : ndarray, shape (..., n * (n + 1) / 2)
        ``upper(log(Cref^{-1/2} X Cref^{-1/2}))`` for "riemann".

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import tangent_space
    >>> tangent_space(np.diag([np.e, 1.0]), np.eye(2)).round(12).tolist()
    [1.0, 0.0, 0.0]
    """
    if metric != "riemann" or np.iscomplexobj(X) or np.iscomplexobj(Cref):
        return upper(log_map(X, Cref, metric=metric))
    x, c, lead = at(X, Cref)
    t = _core.tangent_space(c, x)
    return t.reshape((*lead, t.shape[-1]))


def untangent_space(T, Cref, *, metric="riemann"):
    """SPD matrices of tangent vectors at Cref; the inverse of :func:`tangent_space`.

    Parameters
    ----------
    T : ndarray, shape (..., n * (n + 1) / 2)
        Tangent vectors.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logchol", "logeuclid", "riemann", "wasserstein" or a function of ``(X, Cref)``.

    Returns
    -------
    X : ndarray, shape (..., n, n)
        SPD matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import untangent_space
    >>> untangent_space(np.zeros(3), 3 * np.eye(2)).round(12).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    if metric != "riemann" or np.iscomplexobj(T) or np.iscomplexobj(Cref):
        return exp_map(unupper(T), Cref, metric=metric)
    t, c = common(as_real(T, "T", ndim=1), as_square(Cref, "Cref"))
    n = c.shape[-1]
    if c.ndim != 2 or t.size == 0 or t.shape[-1] != n * (n + 1) // 2:
        return exp_map_riemann(unupper(t), c)
    x = _core.untangent_space(stack(c), np.ascontiguousarray(t).reshape((-1, 1, t.shape[-1])))
    return x.reshape((*t.shape[:-1], *c.shape))


@hermitian("matrix")
def whiten(X, Cref):
    """``Cref^{-1/2} X Cref^{-1/2}``: moves Cref to the identity.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        SPD reference; one for all, or one for each.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        The whitened matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import whiten
    >>> whiten(np.diag([4.0, 9.0]), np.diag([4.0, 9.0])).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    x, c, lead = at(X, Cref)
    return unstack(_core.recentre(c, x), lead)[()]


@hermitian("doubled")
def innerproduct_riemann(X, Y, Cref):
    """Affine-invariant inner product ``tr(Cref⁻¹ X Cref⁻¹ Y)`` of symmetric matrices in the tangent
    space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        First matrices.
    Y : ndarray, shape (..., n, n) | None
        Second matrices; None is X, which gives squared norms.
    Cref : ndarray, shape (n, n)
        The foot point.

    Returns
    -------
    G : float or ndarray, shape (...,)
        The inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct_riemann
    >>> round(innerproduct_riemann(np.eye(2), np.eye(2), 2 * np.eye(2)), 12)
    0.5
    """
    if Y is None:
        x, c, lead = at(X, Cref)
        products = unstack(_core.inner_product(c, x), lead)
    else:
        x, y = common(as_square(X, "X"), as_square(Y, "Y"))
        both = leading(x, y, ("X", "Y"))
        x, y = (np.broadcast_to(a, (*both, *a.shape[-2:])) for a in (x, y))
        x, c, lead = at(x, Cref)
        products = unstack(_core.inner_product(c, x, at(y, Cref)[0]), lead)
    return float(products) if lead == () else products


@hermitian("doubled")
def innerproduct_euclid(X, Y, *args):
    """Euclidean inner product ``tr(XᵀY)`` of matrices of any shape.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        First matrices.
    Y : ndarray, shape (..., n, m) | None
        Second matrices; None is X, which gives squared norms.
    *args : object
        Not read: the foot point, for callers that choose a metric by name.

    Returns
    -------
    G : float or ndarray, shape (...,)
        The inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct_euclid
    >>> innerproduct_euclid(np.eye(2), 3 * np.eye(2))
    6.0
    """
    first = as_real(X, "X")
    second = first if Y is None else as_real(Y, "Y")
    products = np.einsum("...ij,...ij->...", first, second)
    return float(products) if products.ndim == 0 else products


def innerproduct_logeuclid(X, Y, Cref):
    """Log-Euclidean inner product ``tr(D log(Cref)[X] D log(Cref)[Y])`` of tangent vectors at Cref.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct_logeuclid
    >>> round(innerproduct_logeuclid(np.eye(2), None, 2 * np.eye(2)), 12)
    0.5
    """
    return innerproduct_euclid(ddlogm(X, Cref), None if Y is None else ddlogm(Y, Cref))


#: Inner products by the name of their metric.
_INNER_PRODUCTS = {
    "euclid": innerproduct_euclid,
    "logchol": innerproduct_logchol,
    "logeuclid": innerproduct_logeuclid,
    "riemann": innerproduct_riemann,
}


def innerproduct(X, Y, Cref, metric="riemann"):
    """Inner product of tangent vectors at Cref under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        First tangent vectors: symmetric matrices.
    Y : ndarray, shape (..., n, n) | None
        Second ones; None is X, which gives squared norms.
    Cref : ndarray, shape (..., n, n)
        The foot point.
    metric : str | callable, default="riemann"
        "euclid", "logchol", "logeuclid", "riemann", or a function of ``(X, Y, Cref)``.

    Returns
    -------
    G : float or ndarray, shape (...,)
        The inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import innerproduct
    >>> innerproduct(np.eye(2), None, np.eye(2), metric="euclid")
    2.0
    """
    return choose(metric, _INNER_PRODUCTS)(X, Y, Cref)


def norm(X, Cref, metric="riemann"):
    """Norm of matrices in the tangent space at Cref.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    Cref : ndarray, shape (n, n)
        The foot point.
    metric : str | callable, default="riemann"
        One of the names of :func:`innerproduct`.

    Returns
    -------
    norms : float or ndarray, shape (...,)
        The norms.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import norm
    >>> round(float(norm(4 * np.eye(4), 2 * np.eye(4))), 12)
    4.0
    """
    return np.sqrt(innerproduct(X, None, Cref, metric=metric))


@hermitian("matrix")
def transport_riemann(X, A, B):
    """Parallel transport ``E X Eᵀ``, ``E = (B A⁻¹)^{1/2}``, of tangent matrices from A to B along
    the geodesic.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at A.
    A, B : ndarray, shape (n, n)
        SPD matrices.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at B.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport_riemann
    >>> transport_riemann(np.eye(2), np.eye(2), 4 * np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    root, inverse_root = sqrtm(A), invsqrtm(A)
    e = root @ sqrtm(whiten(B, A)) @ inverse_root
    x, e = common(as_square(X, "X"), e)
    if e.ndim == 2 and e.shape == x.shape[-2:]:
        moved = _core.sandwich(stack(e), stack(x))
        if moved is not None:
            return moved.reshape(x.shape)
    return e @ x @ np.swapaxes(e, -1, -2)


def transport_euclid(X, A=None, B=None):
    """Euclidean parallel transport: tangent vectors stay as they are.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices.
    A, B : object, default=None
        Not read: from where and to where, for callers that choose a metric by name.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        X.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport_euclid
    >>> transport_euclid(np.eye(1)).tolist()
    [[1.0]]
    """
    return X


def transport_logeuclid(X, A, B):
    """Log-Euclidean parallel transport ``D exp(log B)[D log(A)[X]]`` of tangent vectors from A to
    B.

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

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport_logeuclid
    >>> transport_logeuclid(np.eye(2), np.eye(2), 4 * np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    return ddexpm(ddlogm(X, A), logm(B))


#: Parallel transport by the name of its metric.
_TRANSPORTS = {
    "euclid": transport_euclid,
    "logchol": transport_logchol,
    "logeuclid": transport_logeuclid,
    "riemann": transport_riemann,
}


def transport(X, A, B, metric="riemann"):
    """Parallel transport of tangent vectors from A to B under a metric.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at A.
    A, B : ndarray, shape (..., n, n)
        SPD matrices.
    metric : str | callable, default="riemann"
        "euclid", "logchol", "logeuclid", "riemann", or a function of ``(X, A, B)``.

    Returns
    -------
    X_new : ndarray, shape (..., n, n)
        Symmetric matrices in the tangent space at B.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import transport
    >>> transport(np.eye(2), np.eye(2), 4 * np.eye(2)).round(12).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    return choose(metric, _TRANSPORTS)(X, A, B)
