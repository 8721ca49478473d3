"""Kernels of SPD matrices: inner products in a tangent space."""

import numpy as np

from .._arrays import as_real
from ._calls import choose
from ._function import logm
from ._mean import mean_riemann
from ._tangent import tangent_space, upper


def _gram(X, Y, Cref, reg, vectors):
    """``K_ij = ⟨x_i, y_j⟩`` of the vectors of both stacks; within one stack ``reg`` is added to the
    diagonal."""
    x = np.asarray(X)
    y = x if Y is None else np.asarray(Y)
    if x.ndim != 3 or y.ndim != 3 or x.shape[1:] != y.shape[1:]:
        raise ValueError(
            f"X and Y must be stacks of matrices of one size, found shapes {x.shape} and {y.shape}."
        )
    if Cref is not None and np.shape(Cref) != x.shape[1:]:
        raise ValueError(
            f"Dimension of Cref must match dimension of matrices in X. Expected {x.shape[1:]}, got {np.shape(Cref)}."
        )
    left = vectors(x)
    right = left if y is x else vectors(y)
    k = (
        (left.conj() @ right.T).real
        if np.iscomplexobj(left) or np.iscomplexobj(right)
        else left @ right.T
    )
    if Y is None:
        k[np.diag_indices_from(k)] += reg
    return k


def kernel_euclid(X, Y=None, *, Cref=None, reg=1e-10):
    """Euclidean kernel ``tr((X_i − Cref)ᵀ (Y_j − Cref))`` of matrices of any shape.

    Parameters
    ----------
    X : ndarray, shape (m, n, k)
        First matrices.
    Y : None | ndarray, shape (l, n, k), default=None
        Second matrices; None is X.
    Cref : None | ndarray, shape (n, k), default=None
        The foot point; None for zero.
    reg : float, default=1e-10
        Added to the diagonal if Y is None, so that rounding leaves no negative eigenvalue.

    Returns
    -------
    K : ndarray, shape (m, m) or (m, l)
        The kernel matrix.

    See Also
    --------
    kernel_riemann : The affine-invariant kernel.

    References
    ----------
    .. [1] A. Barachant, S. Bonnet, M. Congedo, C. Jutten. Classification of covariance matrices
           using a Riemannian-based kernel for BCI applications.
       Neurocomputing, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import kernel_euclid
    >>> kernel_euclid(np.stack([np.eye(2), 2 * np.eye(2)]), reg=0).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """

    def vectors(x):
        if not np.iscomplexobj(x):
            x = as_real(x, "X")
        return (x if Cref is None else x - np.asarray(Cref)).reshape((len(x), -1))

    return _gram(X, Y, Cref, reg, vectors)


def kernel_logeuclid(X, Y=None, *, Cref=None, reg=1e-10):
    """Log-Euclidean kernel ``tr((log X_i − log Cref)(log Y_j − log Cref))``.

    Parameters
    ----------
    X : ndarray, shape (m, n, n)
        First SPD matrices.
    Y : None | ndarray, shape (l, n, n), default=None
        Second ones; None is X.
    Cref : None | ndarray, shape (n, n), default=None
        The foot point; None for the identity.
    reg : float, default=1e-10
        Added to the diagonal if Y is None, so that rounding leaves no negative eigenvalue.

    Returns
    -------
    K : ndarray, shape (m, m) or (m, l)
        The kernel matrix.

    See Also
    --------
    kernel_riemann : The same seen from another foot point.

    References
    ----------
    .. [1] A. Barachant, S. Bonnet, M. Congedo, C. Jutten. Classification of covariance matrices
           using a Riemannian-based kernel for BCI applications.
       Neurocomputing, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import kernel_logeuclid
    >>> kernel_logeuclid(np.stack([np.diag([np.e, 1.0]), np.eye(2)]), reg=0).round(12).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    foot = 0.0 if Cref is None else logm(np.asarray(Cref))
    return _gram(X, Y, Cref, reg, lambda x: upper(logm(x) - foot))


def kernel_riemann(X, Y=None, *, Cref=None, reg=1e-10):
    """Affine-invariant kernel
    ``tr(log(Cref^{-1/2} X_i Cref^{-1/2}) log(Cref^{-1/2} Y_j Cref^{-1/2}))``.

    Parameters
    ----------
    X : ndarray, shape (m, n, n)
        First SPD matrices.
    Y : None | ndarray, shape (l, n, n), default=None
        Second ones; None is X.
    Cref : None | ndarray, shape (n, n), default=None
        The foot point; None for the Fréchet mean of X.
    reg : float, default=1e-10
        Added to the diagonal if Y is None, so that rounding leaves no negative eigenvalue.

    Returns
    -------
    K : ndarray, shape (m, m) or (m, l)
        The kernel matrix.

    See Also
    --------
    tangent_space : The vectors whose inner products these are.

    References
    ----------
    .. [1] A. Barachant, S. Bonnet, M. Congedo, C. Jutten. Classification of covariance matrices
           using a Riemannian-based kernel for BCI applications.
       Neurocomputing, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import kernel_riemann
    >>> kernel_riemann(np.stack([np.diag([np.e, 1.0]), np.eye(2)]), Cref=np.eye(2), reg=0).round(12).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    foot = mean_riemann(X) if Cref is None else np.asarray(Cref)
    return _gram(X, Y, Cref, reg, lambda x: tangent_space(x, foot))


_KERNELS = {"euclid": kernel_euclid, "logeuclid": kernel_logeuclid, "riemann": kernel_riemann}


def kernel(X, Y=None, *, Cref=None, metric="riemann", reg=1e-10):
    """Kernel matrix of SPD matrices under a metric.

    Parameters
    ----------
    X : ndarray, shape (m, n, n)
        First matrices.
    Y : None | ndarray, shape (l, n, n), default=None
        Second ones; None is X.
    Cref : None | ndarray, shape (n, n), default=None
        The foot point; None for that of the metric.
    metric : str | callable, default="riemann"
        "euclid", "logeuclid", "riemann", or a function of ``(X, Y, Cref=..., reg=...)``.
    reg : float, default=1e-10
        Added to the diagonal if Y is None.

    Returns
    -------
    K : ndarray, shape (m, m) or (m, l)
        The kernel matrix.

    See Also
    --------
    kernel_euclid : The Euclidean kernel.
    kernel_logeuclid : The log-Euclidean kernel.
    kernel_riemann : The affine-invariant kernel.

    References
    ----------
    .. [1] A. Barachant, S. Bonnet, M. Congedo, C. Jutten. Classification of covariance matrices
           using a Riemannian-based kernel for BCI applications.
       Neurocomputing, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import kernel
    >>> kernel(np.stack([np.eye(2)] * 3)).shape
    (3, 3)
    """
    return choose(metric, _KERNELS)(X, Y, Cref=Cref, reg=reg)
