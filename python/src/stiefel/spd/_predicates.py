"""Questions about matrices, each answered by one bool for a whole stack. Two numbers count as equal
if NumPy's ``isclose`` says so."""

import numpy as np


def _eigenvalues(x):
    """Real parts of the eigenvalues of any square matrices; those of Hermitian ones by the better
    way."""
    return np.linalg.eigvalsh(x) if is_hermitian(x) else np.linalg.eigvals(x).real


def is_square(X):
    """Whether matrices are square.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym : Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_square
    >>> is_square(np.ones((5, 2, 2)))
    True
    """
    x = np.asarray(X)
    return bool(x.ndim >= 2 and x.shape[-2] == x.shape[-1])


def is_sym(X):
    """Whether matrices are symmetric, ``X = Xᵀ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_hermitian : The same of complex matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_sym
    >>> is_sym(np.array([[1.0, 2.0], [2.0, 3.0]]))
    True
    """
    x = np.asarray(X)
    return is_square(x) and bool(np.isclose(x, np.swapaxes(x, -2, -1)).all())


def is_skew_sym(X):
    """Whether matrices are skew-symmetric, ``X = −Xᵀ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym : Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_skew_sym
    >>> is_skew_sym(np.array([[0.0, 2.0], [-2.0, 0.0]]))
    True
    """
    x = np.asarray(X)
    return is_square(x) and bool(np.isclose(x, -np.swapaxes(x, -2, -1)).all())


def is_real(X):
    """Whether all numbers are real: of a real type, or with imaginary parts near zero.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_real_type : Whether the type is real.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_real
    >>> is_real(np.ones((2, 2), dtype=complex))
    True
    """
    x = np.asarray(X)
    return is_real_type(x) or bool(np.isclose(x.imag, 0).all())


def is_real_type(X):
    """Whether the type of an array is real.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_real : Whether the numbers are real.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_real_type
    >>> is_real_type(np.ones((2, 2), dtype=complex))
    False
    """
    return bool(np.isrealobj(X))


def is_hermitian(X):
    """Whether matrices are Hermitian, ``X = Xᴴ``.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_herm_pos_def : Hermitian and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_hermitian
    >>> is_hermitian(np.array([[1.0, 1j], [-1j, 2.0]]))
    True
    """
    x = np.asarray(X)
    if is_real_type(x):
        return is_sym(x)
    return is_sym(x.real) and is_skew_sym(x.imag)


def is_pos_def(X, tol=0.0, fast_mode=False):
    """Whether the eigenvalues of matrices have positive real parts.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.
    tol : float, default=0.0
        What the smallest eigenvalue must exceed.
    fast_mode : bool, default=False
        Use a Cholesky factorisation, which reads the lower triangle only; ``tol`` is then not used.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_def : Symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_pos_def
    >>> is_pos_def(np.eye(3))
    True
    """
    x = np.asarray(X)
    if not is_square(x):
        return False
    if fast_mode:
        try:
            np.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            return False
        return True
    return bool((_eigenvalues(x) > tol).all())


def is_pos_semi_def(X):
    """Whether the eigenvalues of matrices have no negative real parts.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_def : Symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_pos_semi_def
    >>> is_pos_semi_def(np.diag([1.0, 0.0]))
    True
    """
    x = np.asarray(X)
    return is_square(x) and bool((_eigenvalues(x) >= 0.0).all())


def is_sym_pos_def(X, tol=0.0):
    """Whether matrices are symmetric and positive definite.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.
    tol : float, default=0.0
        What the smallest eigenvalue must exceed.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_semi_def : Symmetric and positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_sym_pos_def
    >>> is_sym_pos_def(np.eye(3))
    True
    """
    return is_sym(X) and is_pos_def(X, tol=tol)


def is_sym_pos_semi_def(X):
    """Whether matrices are symmetric and positive semi-definite.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_def : Symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_sym_pos_semi_def
    >>> is_sym_pos_semi_def(np.diag([1.0, 0.0]))
    True
    """
    return is_sym(X) and is_pos_semi_def(X)


def is_herm_pos_def(X, tol=0.0):
    """Whether matrices are Hermitian and positive definite.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.
    tol : float, default=0.0
        What the smallest eigenvalue must exceed.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_def : Symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_herm_pos_def
    >>> is_herm_pos_def(np.array([[2.0, 1j], [-1j, 2.0]]))
    True
    """
    return is_hermitian(X) and is_pos_def(X, tol=tol)


def is_herm_pos_semi_def(X):
    """Whether matrices are Hermitian and positive semi-definite.

    Parameters
    ----------
    X : ndarray, shape (..., n, m)
        Matrices.

    Returns
    -------
    ret : bool
        Whether this is true of all matrices.

    See Also
    --------
    is_sym_pos_def : Symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import is_herm_pos_semi_def
    >>> is_herm_pos_semi_def(np.diag([1.0 + 0j, 0.0]))
    True
    """
    return is_hermitian(X) and is_pos_semi_def(X)
