"""Functions of the eigenvalues, ``f(C) = V f(Λ) Vᵀ``, and of the entries."""

import numpy as np

from .. import _core
from .._arrays import as_square, at, stack, unstack
from ._hermitian import hermitian


def _spectral(C, name, parameter=0.0):
    array = as_square(C, "C")
    return _core.spectral(stack(array), name, parameter).reshape(array.shape)


@hermitian("matrix")
def logm(C):
    """Logarithm of SPD matrices.

    Parameters
    ----------
    C : ndarray, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        ``V log(Λ) Vᵀ``, exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import logm
    >>> logm(np.diag([1.0, np.e])).round(12).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    return _spectral(C, "log")


@hermitian("matrix")
def expm(C):
    """Exponential of symmetric matrices.

    Parameters
    ----------
    C : ndarray, shape (..., n, n)
        Symmetric matrices.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        ``V exp(Λ) Vᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import expm
    >>> expm(np.zeros((2, 2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _spectral(C, "exp")


@hermitian("matrix")
def sqrtm(C):
    """Square root of SPD matrices.

    Parameters
    ----------
    C : ndarray, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        ``V Λ^{1/2} Vᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import sqrtm
    >>> sqrtm(np.diag([4.0, 9.0])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _spectral(C, "sqrt")


@hermitian("matrix")
def invsqrtm(C):
    """Inverse square root of SPD matrices.

    Parameters
    ----------
    C : ndarray, shape (..., n, n)
        SPD matrices.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        ``V Λ^{-1/2} Vᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import invsqrtm
    >>> invsqrtm(np.diag([4.0, 16.0])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return _spectral(C, "invsqrt")


@hermitian("matrix")
def powm(C, alpha):
    """Power of SPD matrices.

    Parameters
    ----------
    C : ndarray, shape (..., n, n)
        SPD matrices.
    alpha : float
        The exponent.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        ``V Λ^α Vᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import powm
    >>> powm(np.diag([2.0, 3.0]), 2).round(12).tolist()
    [[4.0, 0.0], [0.0, 9.0]]
    """
    return _spectral(C, "power", float(alpha))


def _derivative(X, Cref, name):
    x, c, lead = at(X, Cref)
    return unstack(_core.differential(c, x, name), lead)[()]


@hermitian("matrix")
def ddexpm(X, Cref):
    """Directional derivative of the matrix exponential at Cref, exact for repeated eigenvalues.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Directions: symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The points: symmetric matrices, one for all or one for each.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        The derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import ddexpm
    >>> ddexpm(np.eye(2), np.zeros((2, 2))).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _derivative(X, Cref, "exp")


@hermitian("matrix")
def ddlogm(X, Cref):
    """Directional derivative of the matrix logarithm at Cref, exact for repeated eigenvalues.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Directions: symmetric matrices.
    Cref : ndarray, shape (..., n, n)
        The points: SPD matrices, one for all or one for each.

    Returns
    -------
    D : ndarray, shape (..., n, n)
        The derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import ddlogm
    >>> ddlogm(np.eye(2), 2 * np.eye(2)).round(12).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    return _derivative(X, Cref, "log")


def nearest_sym_pos_def(X, reg=1e-6):
    """The nearest SPD matrices in the Frobenius norm: ``V max(Λ, 0) Vᵀ`` of the symmetric part.

    Parameters
    ----------
    X : ndarray, shape (..., n, n)
        Square matrices.
    reg : float, default=1e-6
        If the smallest eigenvalue is then less than ``reg`` times the largest, ``reg`` is added to
        all eigenvalues.

    Returns
    -------
    P : ndarray, shape (..., n, n)
        SPD matrices.

    See Also
    --------
    is_sym_pos_def : Whether it is needed.

    References
    ----------
    .. [1] N.J. Higham. Computing a nearest symmetric positive semidefinite matrix. Linear Algebra
           and its Applications, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import nearest_sym_pos_def
    >>> nearest_sym_pos_def(np.diag([2.0, -1.0]), reg=0.5).tolist()
    [[2.5, 0.0], [0.0, 0.5]]
    """
    x = as_square(X, "X")
    return _core.nearest_spd(stack(x), float(reg)).reshape(x.shape)


def ctranspose(X):
    """Conjugate transposes ``Xᴴ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    X_new : ndarray, shape (..., m, n)
        The conjugate transposes.

    See Also
    --------
    is_hermitian : Whether they are the matrices themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import ctranspose
    >>> ctranspose(np.array([[1.0, 2j]])).shape
    (2, 1)
    """
    return np.conj(np.swapaxes(X, -2, -1))
